"""The index folder: what is in it, how it heals, and what two processes do to each other."""

from __future__ import annotations

import json
import os
import signal
import stat
import struct
import subprocess
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest

from itza_git.api import Itza
from itza_git.errors import StoreBusy, StoreError
from itza_git.git.environment import scrubbed
from itza_git.indexing import blobs, refresh
from itza_git.records import Chunk
from itza_git.search.corpus import Corpus
from itza_git.store import Pack, Space, View, pack, space
from itza_git.store.container import TEMPORARY
from itza_git.store.postings import BEGINNING, WRITTEN
from itza_git.words import term_key
from tests.counting import Counting, Index
from tests.repository import Repo
from tests.test_container import newer

GOLDEN = Path(__file__).parent / "golden" / "store-2"


@pytest.fixture
def filled(repo: Repo) -> Index:
    """The index of three small files."""
    for name in ("alpha", "beta", "gamma"):
        repo.write(f"{name}.py", f"def {name}():\n    return 'zzmarker'\n")
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    return index


@pytest.fixture
def one_blob_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "REMOTE_BATCH_BYTES", 1)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pack_files(index: Index) -> list[Path]:
    return sorted(index.space.packs_folder.iterdir())


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)


# What is in it


def test_opening_and_reading_create_nothing(repo: Repo) -> None:
    repo.commit()
    index = Index(repo.path)
    assert index.space.packs() == []
    assert index.space.view(b"\1" * 20, "x") is None
    assert index.space.heads() == {}
    assert index.space.size() == 0
    assert not index.space.root.exists()


def test_only_the_owner_may_look_into_it(filled: Index) -> None:
    assert stat.S_IMODE(filled.space.root.stat().st_mode) == 0o700


def test_it_holds_no_source_text_and_no_absolute_path(filled: Index, repo: Repo) -> None:
    everything = b"".join(content(filled.space.root).values())
    assert b"alpha.py" in everything, "the paths of a tree are in its view"
    assert b"zzmarker" not in everything
    assert os.fsencode(repo.path) not in everything


def test_names_are_as_documented(filled: Index) -> None:
    recipe, tree = filled.space.recipe, filled.repository.resolve("HEAD").tree.hex()
    names = set(content(filled.space.root))
    (name,) = (n for n in names if "/packs/" in n)
    assert names == {
        "lock",
        f"spaces/{recipe.name}/recipe.json",
        f"spaces/{recipe.name}/views/{tree}-{filled.policy.name}.itza",
        name,
    }
    described = json.loads((filled.space.folder / "recipe.json").read_text())
    assert described == recipe.describe()


def test_two_models_of_one_dimension_share_nothing(filled: Index, repo: Repo) -> None:
    other = Index(repo.path, embedder=Counting("another"))
    assert other.space.folder != filled.space.folder
    assert other.embedded() == 3
    assert filled.embedded() == 0, "and the way back costs nothing"


def test_the_golden_store_of_format_2_stays_readable() -> None:
    """Written once, by the first version of that format; who cannot read it breaks every index there is."""
    (pack_path,), (view_path,) = GOLDEN.glob("spaces/*/packs/*"), GOLDEN.glob("spaces/*/views/*")
    opened, view = Pack(pack_path), View.read(view_path)
    opened.verify()
    assert view.paths == [b"bin.dat", b"caf\xc3\xa9.md", b"src/store.py"]
    numbers = opened.find(view.keys).tolist()
    assert sorted(numbers) == [0, 1, 2]
    assert [opened.reason(n) for n in numbers] == ["binary", "", ""]
    assert [opened.language(n) for n in numbers] == ["text", "markdown", "python"]
    first = int(opened.start[numbers[2]])
    assert opened.chunk(first) == Chunk(1, 3, "function", "open_store")
    assert opened.field("body").lookup(term_key("open"))[0].tolist() == [first]
    (of_word,) = (count for _, _, count in opened.field("body").found(np.array([term_key("reader")], np.uint64)))
    assert of_word.tolist() == [1 | BEGINNING | WRITTEN], "it stands in a comment in the third line"
    assert opened.field("symbol").lookup(term_key("openstore"))[0].tolist() == [first]
    assert view.path_terms.lookup(term_key("store"))[0].tolist() == [2]
    length = np.linalg.norm(opened.array("vector")[first] * opened.array("scale")[first])
    assert length == pytest.approx(1, abs=0.01)
    heads = json.loads(next(GOLDEN.glob("spaces/*/heads.json")).read_text())
    assert set(heads) == {"refs/heads/main"}


# Damage


def test_a_damaged_pack_is_set_aside_and_its_blobs_indexed_again(filled: Index, repo: Repo) -> None:
    (path,) = pack_files(filled)
    damage(path)
    again = Index(repo.path)
    assert again.space.packs() == []
    assert [error.path for error in again.space.damaged] == [path]
    assert again.embedded() == 3
    assert [error.path for error in again.space.set_aside] == [path]
    assert (again.space.folder / "damaged" / path.name).exists()
    assert len(again.space.packs()) == 1
    assert Index(repo.path).embedded() == 0


def test_a_damaged_pack_of_other_trees_is_set_aside_too(filled: Index, repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.git("rm", "-rfq", ".")
    repo.write("other.py", "x = 1\n")
    repo.commit()
    (path,) = pack_files(filled)
    filled.refresh()
    damage(path)
    again = Index(repo.path)
    assert again.embedded() == 0
    assert [error.path for error in again.space.set_aside] == [path]
    assert again.embedded("main") == 3


@pytest.mark.parametrize("folder", ["packs", "views"])
def test_checking_finds_damage_in_the_middle_and_sets_it_aside(filled: Index, repo: Repo, folder: str) -> None:
    path = next((filled.space.folder / folder).iterdir())
    assert filled.space.check() == []
    damage_section(path, "vector" if folder == "packs" else "id")
    again = Index(repo.path)
    assert [error.path for error in again.space.check()] == [path]
    assert not path.exists()
    assert again.embedded() == (3 if folder == "packs" else 0)


@pytest.mark.parametrize("section", ["kind", "body.row", "symbol.row"])
def test_damage_that_a_search_stumbles_over_is_named_and_heals(repo: Repo, section: str) -> None:
    repo.write("alpha.py", "def alpha():\n    return 1\n")
    repo.commit()
    path = built_in(repo, "packs")
    damage_section(path, section)
    with Itza.open(repo.path, {}) as itza:
        assert len(itza.search("alpha").hits) == 1
        (error,) = itza.space.set_aside
        assert f"section {section} does not match its checksum" in str(error)
        assert itza.space.packs()[0].path == path, "the same blobs give the same name"


@pytest.mark.parametrize(
    ("folder", "section"),
    [("packs", "start"), ("packs", "key"), ("views", "path_start"), ("views", "reason"), ("views", "path.start")],
)
def test_damage_of_what_everything_hangs_on_is_found_at_once(repo: Repo, folder: str, section: str) -> None:
    repo.write("alpha.py", "def alpha():\n    return 1\n")
    repo.commit()
    path = built_in(repo, folder)
    damage_section(path, section)
    with Itza.open(repo.path, {}) as itza:
        assert len(itza.search("alpha").hits) == 1
        assert [error.path for error in itza.space.set_aside] == [path]


def test_dropping_what_nothing_reaches_never_copies_damage(repo: Repo) -> None:
    repo.write("kept.py", "def kept():\n    return 1\n")
    repo.write("gone.py", "def gone():\n    return 2\n")
    repo.commit()
    path = built_in(repo, "packs")
    repo.git("rm", "-q", "gone.py")
    repo.git("commit", "--quiet", "--amend", "--message", "x")
    repo.git("reflog", "expire", "--expire=now", "--all")
    damage_section(path, "vector")
    with Itza.open(repo.path, {}) as itza:
        itza.collect()
        assert [error.path for error in itza.space.set_aside] == [path]
        assert [hit.passage.path for hit in itza.search("kept").hits] == [b"kept.py"]


def built_in(repo: Repo, folder: str) -> Path:
    """The one pack, or the one view, of an index that the embedded model made."""
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()
        return next((itza.space.folder / folder).iterdir())


@pytest.mark.usefixtures("one_blob_a_pack")
def test_a_merge_never_copies_damage(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "MOST_PACKS", 4)
    index = Index(repo.path)
    for number in range(4):
        repo.write(f"f{number}.py", f"value = {number}\n")
    repo.commit()
    index.refresh()
    damage_section(pack_files(index)[0], "vector")
    repo.write("one_more.py", "value = 5\n")
    repo.commit()
    again = Index(repo.path)
    again.refresh()
    assert len(again.space.set_aside) == 1
    for one in again.space.packs():
        one.verify()
    assert Index(repo.path).embedded() == 1


def damage_section(path: Path, section: str) -> None:
    """Flip the highest bit of the last element of a section."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<I", data, 12)
    dtype, shape, offset, _ = json.loads(data[16 : 16 + length])["sections"][section]
    data[offset + prod(shape) * np.dtype(dtype).itemsize - 1] ^= 0x80
    path.unlink()
    path.write_bytes(data)


@pytest.mark.parametrize("cut", [0, 1, 100])
def test_a_torn_pack_heals(filled: Index, repo: Repo, cut: int) -> None:
    (path,) = pack_files(filled)
    path.write_bytes(path.read_bytes()[:cut])
    assert Index(repo.path).embedded() == 3


def test_a_damaged_view_is_built_anew_and_nothing_embedded(filled: Index, repo: Repo) -> None:
    path = next((filled.space.folder / "views").iterdir())
    before = path.read_bytes()
    damage(path)
    again = Index(repo.path)
    assert again.embedded() == 0
    assert path.read_bytes() == before
    assert again.space.damaged == []


@pytest.mark.parametrize("folder", ["packs", "views"])
def test_a_newer_format_is_told_and_left_alone(filled: Index, repo: Repo, folder: str) -> None:
    path = next((filled.space.folder / folder).iterdir())
    path.write_bytes(newer(path.read_bytes()))
    before = content(filled.space.root)
    with pytest.raises(StoreError, match="written by a newer git-itza"):
        Index(repo.path).refresh()
    assert content(filled.space.root) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"refs/heads/main": 1}', '{"refs/heads/main": {"x": 1}}', "\xff"])
def test_a_lost_note_of_heads_is_no_error(filled: Index, text: str) -> None:
    (filled.space.folder / "heads.json").write_bytes(text.encode("latin-1"))
    assert filled.space.heads() == {}
    filled.space.record_head("refs/heads/main", b"\1" * 20, b"\2" * 20)
    assert filled.space.heads()["refs/heads/main"].commit == "01" * 20


def test_unfinished_writes_are_cleared_by_the_next_writer(filled: Index) -> None:
    folders = [filled.space.folder, filled.space.packs_folder, filled.space.folder / "views"]
    leftovers = [folder / f"{TEMPORARY}123-x" for folder in folders]
    for leftover in leftovers:
        leftover.write_bytes(b"half")
    assert len(filled.space.packs()) == 1, "a reader does not mind them"
    with filled.space.writer():
        assert [leftover for leftover in leftovers if leftover.exists()] == []


# Merging


@pytest.mark.usefixtures("one_blob_a_pack")
def test_merging_keeps_every_blob_and_deletes_the_small_packs(repo: Repo) -> None:
    index = Index(repo.path)
    for number in range(40):
        repo.write(f"f{number}.py", f"value = {number}\n\n")
    repo.commit()
    assert index.embedded() == 40
    packs = index.space.packs()
    assert len(packs) <= space.MOST_PACKS
    assert len(pack_files(index)) == len(packs)
    assert sum(p.rows for p in packs) == 40
    for one in packs:
        one.verify()
    assert Index(repo.path).embedded() == 0


@pytest.mark.usefixtures("one_blob_a_pack")
def test_packs_are_merged_only_as_far_as_one_can_hold_them(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "MOST_ROWS", 5)
    for number in range(30):
        repo.write(f"f{number}.py", f"value = {number}\n\n")
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    assert max(p.rows for p in index.space.packs()) == 5
    assert Index(repo.path).embedded() == 0


def test_a_geometric_row_is_left_as_it_is(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "MOST_PACKS", 1)
    index = Index(repo.path)
    for size in (8, 3, 1):
        for number in range(size):
            repo.write(f"{size}/{number}.py", f"x = {size * 10 + number}\n\n")
        repo.commit()
        index.refresh()
    assert sorted(p.rows for p in index.space.packs()) == [1, 3, 8]


def test_a_reader_that_meets_a_merge_looks_again(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is listed, then the merge deletes a pack of the list, then the reader opens what it listed."""
    (path,) = pack_files(filled)
    listings = iter([["pack-gone.itza"], ["pack-gone-too.itza", path.name]])
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: next(listings, None) or real(folder))
    assert [p.path for p in Space(filled.space.root.parent, filled.space.recipe, 20).packs()] == [path]


# Views and heads


def test_the_oldest_views_go_and_those_of_recorded_heads_stay(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "MOST_VIEWS", 3)
    commit = filled.repository.resolve("HEAD")
    view = filled.space.view(commit.tree, filled.policy.name)
    assert view is not None
    filled.space.record_head("refs/heads/main", commit.id, commit.tree)
    trees = [commit.tree, *(bytes([number]) * 20 for number in range(5))]
    for order, tree in enumerate(trees):
        filled.space.write_view(tree, filled.policy.name, view)
        age(filled.space.view_path(tree, filled.policy.name), order)
    kept = [tree for tree in trees if filled.space.view_path(tree, filled.policy.name).exists()]
    assert kept == [trees[0], *trees[-3:]]


def test_a_view_that_is_used_is_not_old(filled: Index) -> None:
    tree = filled.repository.resolve("HEAD").tree
    path = filled.space.view_path(tree, filled.policy.name)
    age(path, 0)
    filled.space.view(tree, filled.policy.name)
    assert path.stat().st_mtime > 1_600_000_100


def age(path: Path, order: int) -> None:
    os.utime(path, (1_600_000_000 + order, 1_600_000_000 + order))


def test_a_head_is_recorded_once_a_commit(filled: Index) -> None:
    filled.space.record_head("refs/heads/main", b"\1" * 20, b"\2" * 20)
    first = filled.space.heads()
    filled.space.record_head("refs/heads/main", b"\1" * 20, b"\2" * 20)
    assert filled.space.heads() == first
    filled.space.record_head("refs/heads/x", b"\3" * 20, b"\2" * 20)
    assert set(filled.space.heads()) == {"refs/heads/main", "refs/heads/x"}


def test_noting_a_head_never_fails_a_search(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "SHORT_WAIT", 0.0)
    with filled.space.writer():
        filled.space.record_head("refs/heads/main", b"\1" * 20, b"\2" * 20)
    assert filled.space.heads() == {}


# Several processes


def test_a_second_writer_waits_and_then_says_so(filled: Index, repo: Repo) -> None:
    told: list[bool] = []
    with filled.space.writer(), pytest.raises(StoreBusy, match="another process is writing"):  # noqa: SIM117
        with Index(repo.path).space.writer(0.01, lambda: told.append(True)):
            raise AssertionError("two writers at once")
    assert told == [True]
    with filled.space.writer(0):
        pass


SCRIPT = """
import os, signal, sys
from pathlib import Path
from itza_git.indexing import Refresher, Watch, refresh
from tests.counting import Index

refresh.REMOTE_BATCH_BYTES = 1
index = Index(Path(sys.argv[1]))
def progress(done, total):
    if done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
refresher = Refresher(index.repository, index.space, index.policy, index.embedder)
refreshed = refresher.commit(index.repository.resolve("HEAD"), Watch(progress))
print(refreshed.outcome.blobs)
"""


def start(repo: Repo, die_after: int) -> subprocess.Popen[str]:
    """A process that indexes HEAD, one blob a pack, and kills itself once so many are done."""
    environment = scrubbed() | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", SCRIPT, str(repo.path), str(die_after)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def twelve(repo: Repo) -> Repo:
    for number in range(12):
        repo.write(f"f{number}.py", f"value = {number}\n")
    repo.commit()
    return repo


@pytest.mark.parametrize("die_after", [0, 1, 7])
def test_after_a_kill_only_the_rest_is_indexed(twelve: Repo, die_after: int) -> None:
    died = start(twelve, die_after)
    died.communicate()
    assert died.returncode == -signal.SIGKILL
    index = Index(twelve.path)
    assert index.embedded() == 12 - die_after
    assert Index(twelve.path).embedded() == 0
    for one in index.space.packs():
        one.verify()


def test_processes_that_index_at_once_share_the_work(twelve: Repo) -> None:
    running = [start(twelve, -1) for _ in range(3)]
    done = [int(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert sum(done) == 12, "every blob was indexed once"
    index = Index(twelve.path)
    assert index.embedded() == 0
    assert index.space.damaged == []


# Limits


def many_rows(index: Index) -> int:
    return sum(p.rows for p in index.space.packs())


def test_a_batch_of_more_rows_than_a_pack_holds_becomes_several(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MOST_ROWS", 4)
    for number in range(10):
        repo.write(f"f{number}", f"n{number}\n")
    repo.commit()
    index = Index(repo.path)
    assert index.embedded() == 10
    assert sorted(p.rows for p in index.space.packs()) == [2, 4, 4]
    assert many_rows(index) == 10


def test_a_blob_of_more_chunks_than_a_pack_holds_is_too_large(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MOST_ROWS", 4)
    repo.write("long.txt", "line\n" * 400)
    repo.write("short.txt", "line\n")
    repo.commit()
    index = Index(repo.path)
    assert index.embedded() == 1
    coverage = Corpus(index.space, index.refresh().view).coverage
    assert [(s.path, s.reason) for s in coverage.skipped] == [(b"long.txt", "too large")]


def test_the_limit_of_rows_is_what_two_bytes_hold() -> None:
    assert np.iinfo(np.uint16).max + 1 == pack.MOST_ROWS


def unwritable(monkeypatch: pytest.MonkeyPatch, name: str, error: OSError) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise error

    monkeypatch.setattr(os, name, fail)


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk_is_one_error_and_keeps_what_is_there(
    filled: Index, repo: Repo, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    repo.write("delta.py", "def delta(): ...\n")
    repo.commit()
    before = content(filled.space.root)
    with monkeypatch.context() as broken:
        unwritable(broken, call, OSError(28, "No space left on device"))
        with pytest.raises(StoreError, match="No space left on device"):
            filled.refresh()
    assert content(filled.space.root) == before
    assert Index(repo.path).embedded() == 1


def test_an_unfinished_view_of_another_process_is_no_view(repo: Repo) -> None:
    index = Index(repo.path)
    repo.write("a.py", "def a(): pass\n")
    repo.commit()
    index.refresh()
    views = index.space.folder / "views"
    whole = next(views.iterdir())
    (views / f"{TEMPORARY}1-{whole.name}").write_bytes(b"")
    assert index.space.view_files() == [whole]
    repo.write("b.py", "def b(): pass\n")
    repo.commit()
    assert len(index.refresh().view) == 2
