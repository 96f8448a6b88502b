"""`git itza gc`: what is dropped, what stays answerable without embedding anything, and what an accident loses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.errors import StoreError
from itza_git.indexing import garbage
from itza_git.indexing.garbage import Collected
from itza_git.store import Space, space
from tests.asking import asking, embedded
from tests.command import Run
from tests.counting import Counting
from tests.repository import Repo, existing


@pytest.fixture
def grown(repo: Repo) -> Repo:
    """`main` with shared.py and own.py, `side` with side.py beside shared.py, and `gone` with gone.py."""
    repo.write("shared.py", "def shared():\n    return 0\n")
    repo.commit()
    for branch in ("side", "gone"):
        repo.git("switch", "--quiet", "--create", branch, "main")
        repo.write(f"{branch}.py", f"def {branch}():\n    return 1\n")
        repo.commit()
    repo.git("switch", "--quiet", "main")
    repo.write("own.py", "def own():\n    return 2\n")
    repo.commit()
    return repo


@pytest.fixture
def asked(grown: Repo) -> Iterator[Itza]:
    with asking(grown) as opened:
        ask_all(opened, "gone", "main", "side")  # one pack holds what stays and what goes
        assert embedded(opened) == 4
        yield opened


def ask_all(itza: Itza, *branches: str) -> int:
    """Ask each branch; how many texts that embeds."""
    before = embedded(itza)
    for branch in branches:
        assert itza.search("shared", branch=branch).hits
    return embedded(itza) - before


def again(place: Repo | Path, *branches: str) -> int:
    """How many texts another process embeds when it asks each branch."""
    with asking(place) as itza:
        return ask_all(itza, *branches)


def forget(repo: Repo, branch: str = "gone") -> None:
    """Delete a branch, and let no reflog remember it."""
    repo.git("branch", "--quiet", "--delete", "--force", branch)
    repo.git("reflog", "expire", "--expire=all", "--all")


# What may not be read


@pytest.mark.parametrize(
    "place", ["packs", "views", "damaged", "history/packs", "history/lineages", "", "../../summaries"]
)
def test_a_folder_that_may_not_be_listed_is_no_empty_one(
    asked: Itza, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    folder = (asked.space.folder / place).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    listed = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path == folder or folder in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(StoreError) as refusal:
        asked.collect()
    assert str(refusal.value).startswith(f"cannot read the index: {folder}")
    assert str(refusal.value).endswith(": Permission denied")
    assert refusal.value.hint


def test_the_space_of_another_embedder_that_may_not_be_read_is_not_dropped(
    asked: Itza, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = asked.space.folder.with_name("0123456789abcdef")
    other.mkdir()
    (other / "recipe.json").write_text("{}")
    read = Path.read_text

    def refused(path: Path, *args: str) -> str:
        if path.parent == other:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *args)

    monkeypatch.setattr(Path, "read_text", refused)
    assert asked.collect().spaces == 0
    assert other.exists()


# What goes, what stays


def test_what_a_branch_reaches_stays(grown: Repo, asked: Itza) -> None:
    assert asked.collect() == Collected(0, 0, 0, 0)
    assert again(grown, "main", "side", "gone") == 0


def test_what_only_a_reflog_reaches_stays_until_it_expires(grown: Repo, asked: Itza) -> None:
    grown.git("branch", "--quiet", "--delete", "--force", "gone")
    assert asked.collect().blobs == 0, "HEAD was there"
    grown.git("reflog", "expire", "--expire=all", "--all")
    done = asked.collect()
    assert (done.blobs, done.views) == (1, 1)
    assert done.freed > 0
    assert asked.collect() == Collected(0, 0, 0, 0)
    assert again(grown, "main", "side") == 0
    for pack in asked.space.packs():
        pack.verify()


def test_what_was_committed_a_moment_ago_stays_however_much_came_after(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for number in range(6):
        repo.write("a.py", f"a = {number}\n")
        repo.git("add", ".")
        # Not by `repo.commit`, whose commits are years old.
        subprocess.run(["git", *who, "commit", "--quiet", "-m", f"{number}"], cwd=repo.path, check=True)
        with asking(repo) as itza:
            itza.refresh()
    repo.git("reset", "--hard", "--quiet", "HEAD~5")
    monkeypatch.setattr(garbage, "MOST_REFLOG_ENTRIES", 1)
    with asking(repo) as itza:
        assert itza.collect().blobs == 0
    monkeypatch.setattr(garbage, "YOUNG", -60)
    with asking(repo) as itza:
        assert itza.collect().blobs > 0


def test_a_rewound_commit_and_a_stash_stay(grown: Repo, asked: Itza) -> None:
    lost = grown.git("rev-parse", "HEAD")
    grown.write("shared.py", "def stashed():\n    return 3\n")
    grown.git("stash")
    asked.search("stashed", rev="stash@{0}")
    grown.git("reset", "--quiet", "--hard", "HEAD~1")
    before = embedded(asked)
    assert asked.collect().blobs == 0
    with asking(grown, asked.embedder) as itza:  # type: ignore[arg-type]
        itza.search("own", rev=lost)
        itza.search("stashed", rev="stash@{0}")
    assert embedded(asked) == before


def test_uncommitted_content_goes_and_comes_back(grown: Repo, asked: Itza) -> None:
    grown.write("draft.py", "def draft():\n    return 4\n")
    asked.search("draft", worktree=True)
    assert asked.collect().blobs == 1
    assert [hit.passage.symbol for hit in asked.search("draft", worktree=True, limit=1).hits] == ["draft"]


def test_a_rename_keeps_the_language_that_is_reached(grown: Repo, asked: Itza) -> None:
    grown.git("mv", "own.py", "own.rb")
    grown.commit()
    ask_all(asked, "main")
    grown.git("reflog", "expire", "--expire=all", "--all")
    assert asked.collect().blobs == 1
    assert again(grown, "main", "side", "gone") == 0


def test_a_detached_head_stays(grown: Repo, asked: Itza) -> None:
    grown.git("checkout", "--quiet", "--detach", "gone")
    forget(grown)
    assert asked.collect().blobs == 0


@pytest.mark.parametrize("run_from", ["main", "linked"])
def test_the_heads_of_all_worktrees_stay_wherever_it_is_run(
    grown: Repo, asked: Itza, tmp_path: Path, run_from: str
) -> None:
    linked = tmp_path / "linked"
    grown.git("worktree", "add", "--quiet", "--detach", str(linked), "gone")
    grown.git("checkout", "--quiet", "--detach", "main")
    for branch in ("gone", "main"):
        forget(grown, branch)
    with asking(linked if run_from == "linked" else grown.path) as itza:
        assert itza.collect().blobs == 0
    for place in (grown.path, linked):
        with asking(place) as itza:
            assert itza.search("shared").hits
            assert embedded(itza) == 0
    grown.git("worktree", "remove", str(linked))
    assert asked.collect().blobs == 1


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("lost", ["gone", "gone^{tree}"])
def test_a_reflog_that_names_what_was_pruned_stops_nothing(grown: Repo, lost: str) -> None:
    name = grown.git("rev-parse", lost)
    grown.git("branch", "--quiet", "--delete", "--force", "gone")
    (grown.path / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with asking(grown) as itza:
        assert itza.collect().blobs == 1
    assert again(grown, "main", "side") == 0


def test_the_detached_head_of_a_bare_repository_stays(grown: Repo, tmp_path: Path) -> None:
    grown.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = existing(tmp_path / "bare.git")
    bare.git("update-ref", "--no-deref", "HEAD", "gone")
    bare.git("branch", "--delete", "--force", "gone")
    with asking(bare) as itza:
        assert itza.search("gone").hits
        assert itza.collect().blobs == 0


# Spaces


def test_another_model_stays_and_another_chunker_goes(grown: Repo, asked: Itza) -> None:
    other = Counting("other")
    with asking(grown, other) as itza:
        ask_all(itza, "main")
    old = Space(asked.space.root.parent, replace(asked.space.recipe, chunking=0), 20)
    with old.writer():
        pass
    assert asked.collect().spaces == 1
    assert not old.folder.exists()
    with asking(grown, other) as itza:
        assert ask_all(itza, "main") == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_space_that_does_not_say_what_it_is_goes_unless_it_is_ours(grown: Repo, asked: Itza, text: str) -> None:
    foreign = asked.space.folder.parent / "0123456789abcdef"
    foreign.mkdir()
    for folder in (foreign, asked.space.folder):
        (folder / "recipe.json").write_text(text)
    assert asked.collect().spaces == 1
    assert again(grown, "main", "side", "gone") == 0


# Accidents


@pytest.mark.parametrize("survivors", [0, 1])
def test_a_collection_that_is_killed_loses_nothing(
    grown: Repo, asked: Itza, monkeypatch: pytest.MonkeyPatch, survivors: int
) -> None:
    """Killed when the new pack is written and before it deletes the first, the second file."""
    forget(grown)
    real, left = Path.unlink, survivors

    def unlink(path: Path, missing_ok: bool = False) -> None:
        nonlocal left
        if path.suffix == ".itza":
            if not left:
                raise KeyboardInterrupt
            left -= 1
        real(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            asked.collect()
    assert again(grown, "main", "side") == 0
    with asking(grown) as itza:
        itza.collect()
        keys = [key for pack in itza.space.packs() for key in pack.key.tolist()]
        assert len(keys) == len(set(keys)) == 3
    assert again(grown, "main", "side") == 0


HOLD = """
import sys
from pathlib import Path
from itza_git.store import lock
with lock.writer(Path(sys.argv[1]), 0.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(asked: Itza) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes the store until its standard input is closed."""
    command = [sys.executable, "-c", HOLD, str(asked.space.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.kill()


def test_another_writer_is_waited_for_and_told(
    grown: Repo, held: subprocess.Popen[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(grown)
    monkeypatch.setattr("time.sleep", lambda seconds: held.communicate())  # whoever waits lets the other one end
    done = run(grown, "gc")
    assert (done.code, done.error) == (0, ["another process is indexing this repository; waiting for it"])


def test_a_writer_that_never_ends_is_one_error(
    grown: Repo, asked: Itza, held: subprocess.Popen[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(range(0, 100_000_000, 3600))
    monkeypatch.setattr("time.monotonic", lambda: float(next(hours)))
    done = run(grown, "gc")
    assert done.code == 2
    assert done.error[-2].startswith("error: another process is writing the index")
    assert again(grown, "main", "side", "gone") == 0


# Little and nothing


def test_without_a_store_nothing_is_made(grown: Repo, run: Run) -> None:
    done = run(grown, "gc")
    assert (done.code, done.out) == (0, "dropped 0 blobs, 0 views, 0 spaces: 0.0 kB freed\n")
    assert not (grown.path / ".git" / "itza").exists()


def test_without_a_commit(repo: Repo, run: Run) -> None:
    assert run(repo, "gc", "--json").json == {
        "schema": 1,
        "blobs": 0,
        "views": 0,
        "spaces": 0,
        "freed": 0,
        "messages": 0,
    }


def test_an_empty_store(repo: Repo) -> None:
    repo.commit()
    with asking(repo) as itza:
        itza.search("x")
        assert itza.collect() == Collected(0, 0, 0, 0)


def test_when_nothing_is_reached_any_more_the_store_is_empty(grown: Repo, asked: Itza) -> None:
    grown.git("checkout", "--quiet", "--orphan", "new")
    for branch in ("main", "side", "gone"):
        grown.git("update-ref", "-d", f"refs/heads/{branch}")
    grown.git("reflog", "expire", "--expire=all", "--all")
    done = asked.collect()
    assert (done.blobs, done.views) == (4, 3)
    assert asked.space.packs() == []


def test_the_command_says_what_it_dropped(grown: Repo, run: Run) -> None:
    for branch in ("main", "side", "gone"):
        assert run(grown, "search", "shared", "--branch", branch).code == 0
    forget(grown)
    done = run(grown, "gc")
    assert done.code == 0
    assert done.out.startswith("dropped 1 blob, 1 view, 0 spaces: ")
    assert json.loads(run(grown, "gc", "--json").out)["blobs"] == 0


# Many packs


def test_packs_stay_few_and_a_collection_keeps_to_the_limit_of_rows(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("itza_git.indexing.refresh.REMOTE_BATCH_BYTES", 1)
    monkeypatch.setattr("itza_git.store.prune.MOST_ROWS", 5)
    monkeypatch.setattr(space, "MOST_ROWS", 5)
    for number in range(40):
        repo.write(f"f{number}.py", f"def f{number}():\n    return {number}\n")
    repo.commit()
    with asking(repo) as itza:
        itza.search("x")
        assert len(itza.space.packs()) <= space.MOST_PACKS
        rows = sorted(pack.rows for pack in itza.space.packs())
        assert sum(rows) == 40
        for number in range(0, 40, 2):
            (repo.path / f"f{number}.py").unlink()
        repo.commit()
        repo.git("reflog", "expire", "--expire=all", "--all")
        assert itza.collect().blobs == 20
        after = [pack.rows for pack in itza.space.packs()]
        assert (sum(after), max(after)) == (20, 5)
    with asking(repo) as itza:
        assert len({hit.passage.path for hit in itza.search("return", limit=100).hits}) == 20
        assert embedded(itza) == 0
