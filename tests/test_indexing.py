"""From a tree to the store: what is indexed, what is skipped and why, and how little is done twice."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itza_git.config import Settings
from itza_git.embedding.builtin import Builtin
from itza_git.errors import StoreError
from itza_git.git import open_repository
from itza_git.indexing import Policy, Refreshed, Refresher, Watch, pool, refresh
from itza_git.indexing.blobs import Task, examine
from itza_git.records import GITLINK, SYMLINK
from itza_git.search.corpus import Corpus
from itza_git.store import Recipe, Space
from tests.counting import Counting, Index
from tests.repository import Repo

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
CODE = "def answer():\n    return 42\n"


def skipped(index: Index, rev: str = "HEAD") -> dict[str, str]:
    """The skipped paths of a revision with their reasons, once it is indexed."""
    coverage = Corpus(index.space, index.refresh(rev).view).coverage
    assert coverage.indexed == coverage.total
    return {os.fsdecode(one.path): one.reason for one in coverage.skipped}


# Incremental is the same as from scratch

PATHS = [b"a.py", b"b.py", b"d", b"d/a.py", b"d/e/b.go", b"d/.gitattributes", b".gitattributes", b"go.sum", b"x\xff.c"]
CONTENTS = [
    b"",
    b"def f(): pass\n",
    b"x = 1\n",
    b"\0binary",
    b"*.py linguist-generated\n",
    b"a.py -linguist-generated binary\n",
    b"b.* linguist-vendored\n",
    LFS,
]
State = dict[bytes, tuple[int, bytes]]


def states() -> st.SearchStrategy[list[State]]:
    entry = st.tuples(st.sampled_from([0o100644, 0o100644, 0o100755, SYMLINK, GITLINK]), st.sampled_from(CONTENTS))
    return st.lists(st.dictionaries(st.sampled_from(PATHS), entry, max_size=7), min_size=2, max_size=4)


def import_history(repo: Repo, history: list[State]) -> None:
    """One commit a state, by git fast-import; tags t0, t1, ..."""
    stream = b""
    for number, state in enumerate(history):
        stream += b"commit refs/heads/main\ncommitter A <a@b.c> 1700000000 +0000\ndata 0\ndeleteall\n"
        for path, (mode, content) in state.items():
            if path == b"d" and any(other.startswith(b"d/") for other in state):
                continue
            stream += b"M %o " % mode
            quoted = b'"' + path.replace(b"\xff", b"\\377") + b'"'
            if mode == GITLINK:
                stream += b"1" * 40 + b" " + quoted + b"\n"
            else:
                stream += b"inline " + quoted + b"\ndata %d\n%s\n" % (len(content), content)
        stream += b"reset refs/tags/t%d\nfrom refs/heads/main\n" % number
    repo.git("fast-import", "--quiet", "--force", stdin=stream)


@given(states(), st.booleans())
@settings(max_examples=15)
def test_a_view_made_step_by_step_equals_one_made_from_scratch(history: list[State], is_local: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo(Path(folder))
        import_history(repo, history)
        stepwise = Index(repo.path, embedder=Counting("stepwise", is_local))
        for number in range(len(history)):
            found = stepwise.refresh(f"t{number}").view
            fresh = Index(repo.path, embedder=Counting(f"fresh {number}", is_local)).refresh(f"t{number}").view
            assert (found.paths, found.languages, found.reasons) == (fresh.paths, fresh.languages, fresh.reasons)
            for name in ("id", "language", "reason", "path_vector", "path_scale"):
                assert np.array_equal(getattr(found, name), getattr(fresh, name))
            for name in ("length", "term", "start", "row", "count"):
                assert np.array_equal(getattr(found.path_terms, name), getattr(fresh.path_terms, name))


@given(states())
@settings(max_examples=5)
def test_the_paths_of_a_view_are_those_that_git_lists(history: list[State]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo(Path(folder))
        import_history(repo, history)
        index = Index(repo.path)
        for number in range(len(history)):
            listed = repo.git("ls-tree", "-r", "-z", "--name-only", f"t{number}").split("\0")[:-1]
            assert index.refresh(f"t{number}").view.paths == [os.fsencode(path) for path in listed]


# Nothing is embedded twice


@pytest.fixture
def indexed(repo: Repo) -> Index:
    repo.write("a.py", CODE)
    repo.write("docs/b.md", "# Title\n\ntext\n")
    repo.commit()
    index = Index(repo.path)
    assert index.embedded() == 2
    return index


def test_indexing_again_embeds_nothing(indexed: Index, repo: Repo) -> None:
    assert indexed.embedded() == 0
    assert Index(repo.path).embedded() == 0


def test_a_rename_and_a_copy_embed_nothing(indexed: Index, repo: Repo) -> None:
    repo.git("mv", "a.py", "elsewhere.py")
    repo.write("copy.py", CODE)
    repo.commit()
    assert indexed.embedded() == 0


def test_a_rename_to_another_language_is_read_in_that_language(indexed: Index, repo: Repo) -> None:
    repo.git("mv", "a.py", "a.txt")
    repo.commit()
    assert indexed.embedded() == 1


def test_an_edit_embeds_the_edited_file_alone(indexed: Index, repo: Repo) -> None:
    repo.write("a.py", "def question(): ...\n")
    repo.commit()
    assert indexed.embedded() == 1
    assert "question" in indexed.embedder.texts[-1]


def test_a_change_of_mode_embeds_nothing(indexed: Index, repo: Repo) -> None:
    repo.git("update-index", "--chmod=+x", "a.py")
    repo.git("commit", "--quiet", "--message", "x")
    assert repo.git("ls-files", "--stage", "a.py").startswith("100755")
    assert indexed.embedded() == 0


def test_switching_between_known_branches_embeds_nothing(indexed: Index, repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.write("a.py", "other = 1\n")
    repo.git("rm", "-q", "docs/b.md")
    repo.commit()
    assert indexed.embedded() == 1
    for branch in ("main", "other", "main"):
        repo.git("checkout", "--quiet", branch)
        assert indexed.embedded() == 0
    assert indexed.embedded("other") == 0


def test_the_same_content_at_many_paths_is_embedded_once(repo: Repo) -> None:
    for number in range(5):
        repo.write(f"{number}.py", CODE)
    repo.commit()
    index = Index(repo.path)
    refreshed = index.refresh()
    assert len(index.embedder.texts) == 1
    assert (refreshed.outcome.blobs, refreshed.reused) == (1, 0)
    assert (index.refresh().outcome.blobs, index.refresh().reused) == (0, 1)


def test_other_settings_of_what_is_searched_embed_nothing_that_is_known(indexed: Index, repo: Repo) -> None:
    for changed in (Settings(exclude=("docs",)), Settings(include=("*.py",)), Settings(max_file_size=5)):
        other = Index(repo.path, changed)
        assert other.policy.name != indexed.policy.name
        assert other.embedded() == 0
    assert skipped(Index(repo.path, Settings(exclude=("docs",)))) == {"docs/b.md": "excluded"}
    assert skipped(Index(repo.path, Settings(include=("*.py",)))) == {"docs/b.md": "excluded"}
    assert skipped(Index(repo.path, Settings(max_file_size=20))) == {"a.py": "too large"}
    assert skipped(Index(repo.path)) == {}


# Skipped, each for its reason


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("a.bin", b"text\0more", "binary"),
        ("late.txt", b"x" * 7999 + b"\0", "binary"),
        ("utf16.txt", "\ufeffhi\n".encode("utf-16-le"), "binary"),
        ("big.txt", b"line\n" * 300_000, "too large"),
        ("model.py", LFS, "LFS pointer"),
        ("app.js", b"var a=1;" * 4000, "minified"),
        ("package-lock.json", b"{}", "generated"),
        ("deep/er/Cargo.lock", b"x = 1\n", "generated"),
        ("lib/jquery.min.js", b"x\n", "generated"),
        ("out.js.map", b"{}", "generated"),
        ("logo.svg", b"<svg/>\n", "generated"),
        ("empty.py", b"", "empty"),
        ("blank.py", b"  \n\n\t\r\n", "empty"),
    ],
)
def test_a_file_is_skipped_for_its_reason(repo: Repo, path: str, content: bytes, reason: str) -> None:
    repo.write(path, content)
    repo.write("kept.py", CODE)
    repo.commit()
    index = Index(repo.path)
    assert skipped(index) == {path: reason}
    assert len(index.embedder.texts) == 1
    assert Index(repo.path).embedded() == 0, "and it is not tried again"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("nul.txt", b"x" * 8000 + b"\0"),
        ("latin.py", "# caf\xe9\nx = 1\n".encode("latin-1")),
        ("one-line.txt", b"word " * 3000),
        ("mylock.json", b"{}"),
        ("version.txt", b"version https://git-lfs.github.com/spec/v1\n" + b"not a pointer\n" * 100),
        ("just.txt", b"line\n" * (1024 * 1024 // 5)),
    ],
)
def test_a_file_that_only_looks_like_it_is_indexed(repo: Repo, path: str, content: bytes) -> None:
    repo.write(path, content)
    repo.commit()
    assert skipped(Index(repo.path)) == {}


def test_links_and_submodules_are_skipped_unread(repo: Repo) -> None:
    (repo.path / "link").symlink_to("/etc/hostname")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("add", "link")
    repo.git("commit", "--quiet", "--message", "x")
    index = Index(repo.path)
    assert skipped(index) == {"link": "symlink", "sub": "submodule"}
    assert index.embedder.texts == []


def test_attributes_decide_and_the_list_of_generated_names_gives_way(repo: Repo) -> None:
    repo.write(
        ".gitattributes",
        "gen.py linguist-generated\nven/** linguist-vendored\n*.dat binary\ngo.sum -linguist-generated\n",
    )
    for path in ("gen.py", "ven/x.py", "x.dat", "go.sum", "kept.py"):
        repo.write(path, f"name = '{path}'\n")
    repo.commit()
    assert skipped(Index(repo.path)) == {"gen.py": "generated", "ven/x.py": "vendored", "x.dat": "binary"}


def test_the_attributes_of_the_repository_itself_count_at_once(indexed: Index, repo: Repo) -> None:
    info = repo.path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("docs/* linguist-generated\n")
    assert skipped(Index(repo.path)) == {"docs/b.md": "generated"}
    (info / "attributes").unlink()
    assert skipped(Index(repo.path)) == {}


def test_changed_attributes_judge_every_file_anew(indexed: Index, repo: Repo) -> None:
    repo.write("docs/.gitattributes", "b.md linguist-generated\n")
    repo.commit()
    assert skipped(indexed) == {"docs/b.md": "generated"}
    repo.git("rm", "-q", "docs/.gitattributes")
    repo.commit()
    assert skipped(indexed) == {}


def test_a_large_blob_is_never_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with repo.write("large.dat").open("wb") as file:
        file.truncate(30_000_000)
    repo.write("a.py", CODE)
    repo.commit()
    index = Index(repo.path)
    read: list[bytes] = []
    real = index.repository.read

    def recording(blob: bytes) -> bytes:
        read.append(blob)
        return real(blob)

    monkeypatch.setattr(index.repository, "read", recording)
    assert skipped(index) == {"large.dat": "too large"}
    assert read == [bytes.fromhex(repo.git("rev-parse", "HEAD:a.py"))]


# Objects that git cannot give


def object_file(repo: Repo, path: str) -> Path:
    name = repo.git("rev-parse", f"HEAD:{path}")
    return repo.path / ".git" / "objects" / name[:2] / name[2:]


def damage(file: Path, how: str) -> None:
    file.chmod(0o644)
    if how == "deleted":
        file.unlink()
    elif how == "emptied":
        file.write_bytes(b"")
    else:
        data = file.read_bytes()
        file.write_bytes(data[:-12] + bytes(12))


@pytest.mark.parametrize("how", ["deleted", "emptied", "torn"])
def test_an_object_that_cannot_be_read_is_named_and_the_rest_indexed(repo: Repo, how: str) -> None:
    repo.write("lost.py", "def lost():\n    pass\n" * 20)
    repo.write("kept.py", CODE)
    repo.commit()
    file = object_file(repo, "lost.py")
    whole = file.read_bytes()
    damage(file, how)
    index = Index(repo.path)
    assert skipped(index) == {"lost.py": "unreadable"}
    assert len(index.embedder.texts) == 1
    file.write_bytes(whole)
    assert skipped(Index(repo.path)) == {}


@pytest.mark.parametrize("how", ["deleted", "torn"])
def test_an_object_lost_after_its_view_was_recorded_is_named_too(repo: Repo, how: str) -> None:
    repo.write("lost.py", "def lost():\n    pass\n" * 20)
    repo.write("kept.py", CODE)
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    for path in index.space.packs_folder.iterdir():
        path.unlink()
    damage(object_file(repo, "lost.py"), how)
    again = Index(repo.path)
    assert skipped(again) == {"lost.py": "unreadable"}
    assert len(again.embedder.texts) == 1


# What is taken of a blob


def test_a_script_tells_its_language_in_its_first_line() -> None:
    assert examine(b"#!/usr/bin/env python3\nx = 1\n", Task(b"\1" * 20, "text")).language == "python"
    assert examine(b"#!/usr/bin/env python3\nx = 1\n", Task(b"\1" * 20, "go")).language == "go"


def test_other_encodings_are_indexed_and_reported(repo: Repo) -> None:
    repo.write("latin.py", "# caf\xe9\nvalue = 1\n".encode("latin-1"))
    repo.write("utf8.py", "# café\n")
    repo.commit()
    index = Index(repo.path)
    assert index.refresh().outcome.lossy == (bytes.fromhex(repo.git("rev-parse", "HEAD:latin.py")),)


def test_a_byte_order_mark_moves_no_line(repo: Repo) -> None:
    repo.write("bom.py", b"\xef\xbb\xbfdef first():\n    pass\n")
    repo.commit()
    index = Index(repo.path)
    corpus = Corpus(index.space, index.refresh().view)
    assert (corpus.chunk(0).first, corpus.chunk(0).last, corpus.chunk(0).symbol) == (1, 2, "first")


def test_a_text_is_capped_when_its_lines_are_long(repo: Repo) -> None:
    repo.write("long.txt", "word " * 3900)
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    assert [len(text) for text in index.embedder.texts] == [16_001]


def test_no_empty_text_is_ever_embedded(repo: Repo) -> None:
    for number, content in enumerate(["", "\n", " \t\n", "\f\n", "\ufeff\n", "x\n"]):
        repo.write(f"{number}.py", content)
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    assert [text.strip() for text in index.embedder.texts] == ["x"]


# Progress, patience


def test_progress_goes_from_nothing_to_all(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "REMOTE_BATCH_BYTES", 1)
    for number in range(3):
        repo.write(f"{number}.py", f"x = {number}\n")
    repo.commit()
    told: list[tuple[int, int]] = []
    run(Index(repo.path), Watch(lambda done, total: told.append((done, total))))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_impatience_keeps_what_is_done_and_the_next_run_does_the_rest(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "REMOTE_BATCH_BYTES", 1)
    for number in range(5):
        repo.write(f"{number}.py", f"x = {number}\n")
    repo.commit()
    index = Index(repo.path)
    first = run(index, Watch(patience=1e-9))
    coverage = Corpus(index.space, first.view).coverage
    assert (coverage.indexed, coverage.total) == (1, 5)
    assert index.embedded() == 4


def run(index: Index, watch: Watch) -> Refreshed:
    commit = index.repository.resolve("HEAD")
    return Refresher(index.repository, index.space, index.policy, index.embedder).commit(commit, watch)


# Several processes


@pytest.fixture
def parallel(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(refresh, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(refresh, "LOCAL_BATCH_BYTES", 100)
    monkeypatch.setattr(pool, "MOST_WORKERS", 2)
    for number in range(6):
        repo.write(f"f{number}.py", f"def function_{number}():\n    return 'some value {number}'\n" * 2)
    repo.write("latin.py", b"# caf\xe9 \xff\n")
    repo.commit()
    return repo


def builtin(repo: Repo, folder: Path) -> tuple[Space, Refreshed]:
    """HEAD indexed with the embedded model into a store elsewhere."""
    repository, embedder = open_repository(repo.path), Builtin()
    folder.mkdir()
    space = Space(folder, Recipe(embedder.identity), 20)
    refresher = Refresher(repository, space, Policy.of(Settings(), repository.common_dir), embedder)
    return space, refresher.commit(repository.resolve("HEAD"), Watch())


def rows_of(space: Space, refreshed: Refreshed) -> list[tuple[object, ...]]:
    """Every passage with all that the store holds of it, in the tree's order."""
    corpus = Corpus(space, refreshed.view)
    vectors, scales = (np.concatenate([pack.array(name) for pack in corpus.packs]) for name in ("vector", "scale"))
    lengths = np.concatenate([postings.length for _, postings in corpus.field("body")])
    numbered = enumerate(corpus.row.tolist())
    return [(corpus.chunk(n), vectors[row].tobytes(), float(scales[row]), int(lengths[row])) for n, row in numbered]


def test_worker_processes_give_the_same_store(parallel: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = builtin(parallel, tmp_path / "many")
    assert len(many[0].packs()) > 1
    monkeypatch.setattr(refresh, "PARALLEL_BYTES", 1 << 30)
    one = builtin(parallel, tmp_path / "one")
    assert rows_of(*many) == rows_of(*one)
    for name in ("blobs", "chunks", "not_embedded", "lossy", "unreadable"):
        assert getattr(many[1].outcome, name) == getattr(one[1].outcome, name)
    assert len(one[1].outcome.lossy) == 1


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('first line\\nout of memory')", "indexing stopped: out of memory"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "indexing stopped: a worker process died"),
        ("input(); print('Segmentation fault')", "indexing stopped: a worker process said 'Segmentation fault'"),
    ],
)
def test_a_worker_that_dies_is_one_error(
    parallel: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    real = subprocess.Popen

    def start(_command: list[str], **options: object) -> subprocess.Popen[str]:
        return real([sys.executable, "-c", program], **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(pool.subprocess, "Popen", start)  # type: ignore[attr-defined]
    with pytest.raises(StoreError) as raised:
        builtin(parallel, tmp_path / "store")
    assert str(raised.value) == message
    assert raised.value.hint == "run it again: git itza index"


def test_an_error_of_a_worker_is_the_error_that_is_told(parallel: Repo, tmp_path: Path) -> None:
    repository = open_repository(parallel.path)
    batch = [Task(bytes.fromhex(parallel.git("rev-parse", "HEAD:f0.py")), "python")]
    with pytest.raises(StoreError, match=r"^cannot write the index: .*No such file or directory"):
        list(pool.index_in_processes(repository.git_dir, tmp_path / "nowhere", [batch]))


def test_workers_of_a_linked_worktree_read_the_same_repository(parallel: Repo, tmp_path: Path) -> None:
    parallel.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Repo.__new__(Repo)
    linked.path = tmp_path / "linked"
    space, refreshed = builtin(linked, tmp_path / "store")
    assert refreshed.outcome.blobs == 7
    assert len(space.packs()) > 1
