"""Linked worktrees: one store, an answer from each for itself, and nothing broken when one goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from itza_git import Itza
from tests.asking import asking, cites, embedded, places
from tests.command import Run
from tests.repository import Repo, existing


@pytest.fixture
def main(repo: Repo) -> Repo:
    for name in ("one", "two", "three"):
        repo.write(f"{name}.py", f"def {name}():\n    return '{name}'\n")
    repo.commit()
    return repo


def linked(main: Repo, path: Path, *options: str) -> Repo:
    """A new worktree of main's repository."""
    main.git("worktree", "add", "--quiet", *options, str(path))
    return existing(path)


def test_each_answers_from_its_own_branch_and_embeds_only_what_changed(main: Repo, tmp_path: Path) -> None:  # C33
    with asking(main) as itza:
        assert cites(main, itza.search("return")) == {"one", "two", "three"}
        assert embedded(itza) == 3
    work = linked(main, tmp_path / "w", "-b", "w")
    work.write("one.py", "def other():\n    return 'other'\n")
    work.commit()
    for _ in range(2):
        with asking(work) as itza:
            assert cites(work, itza.search("return")) == {"other", "two", "three"}
            assert embedded(itza) <= 1
            assert itza.space.root == main.path / ".git" / "itza"
        with asking(main) as itza:
            assert cites(main, itza.search("return")) == {"one", "two", "three"}
            assert embedded(itza) == 0
            assert cites(main, itza.search("return", branch="w"), "w") == {"other", "two", "three"}
            assert embedded(itza) == 0
    assert not list((main.path / ".git" / "worktrees").rglob("itza"))


def test_the_command_cites_the_commit_of_the_worktree_it_runs_in(main: Repo, tmp_path: Path, run: Run) -> None:
    work = linked(main, tmp_path / "w", "-b", "w")
    work.write("one.py", "def other():\n    return 'other'\n")
    work.commit()
    for place, symbol in ((work, "other"), (main, "one"), (work, "other")):
        done = run(place, "search", "return one other", "--path", "one.py")
        assert done.out.startswith(f"one.py:1-2@{place.git('rev-parse', '--short', 'HEAD')}  {symbol}")
    status = run(work, "status", "--json").json
    assert (status["head"]["name"], status["fresh"]) == ("w", True)
    assert [branch["current"] for branch in status["branches"]] == [False, True]


def test_each_detached_worktree_answers_for_its_own_commit(main: Repo, tmp_path: Path) -> None:
    first = linked(main, tmp_path / "first", "--detach")
    main.write("one.py", "def newer():\n    return 'newer'\n")
    main.commit()
    second = linked(main, tmp_path / "second", "--detach")
    for place, symbol in ((first, "one"), (second, "newer"), (main, "newer"), (first, "one")):
        with asking(place) as itza:
            assert symbol in cites(place, itza.search("return"))


def test_a_worktree_inside_the_repository_is_not_content(main: Repo, run: Run) -> None:  # C33
    work = linked(main, main.path / ".wt" / "x", "-b", "x")
    work.write("inner.py", "def inner():\n    return 'inner'\n")
    with asking(main) as itza:
        for worktree in (False, True):
            result = itza.search("return inner", worktree=worktree, limit=100)
            assert places(result) == {"one.py": "HEAD", "two.py": "HEAD", "three.py": "HEAD"}
    with asking(work) as itza:
        result = itza.search("return inner", worktree=True, limit=100)
        assert places(result) == {"one.py": "HEAD", "two.py": "HEAD", "three.py": "HEAD", "inner.py": "worktree"}


def test_the_uncommitted_content_of_one_is_not_that_of_another(main: Repo, tmp_path: Path) -> None:
    work = linked(main, tmp_path / "w", "-b", "w")
    work.write("one.py", "def draft():\n    return 'draft'\n")
    with asking(main) as itza:
        assert set(places(itza.search("return draft", worktree=True)).values()) == {"HEAD"}
    with asking(work) as itza:
        assert places(itza.search("draft", worktree=True))["one.py"] == "worktree"


@pytest.mark.parametrize("how", ["remove", "deleted", "moved"])
def test_a_worktree_that_goes_leaves_nothing_broken(main: Repo, tmp_path: Path, run: Run, how: str) -> None:  # C33
    work = linked(main, tmp_path / "w", "-b", "w")
    work.write("one.py", "def other():\n    return 'other'\n")
    work.commit()
    assert run(work, "index").code == 0
    if how == "remove":
        main.git("worktree", "remove", str(work.path))
    elif how == "moved":
        main.git("worktree", "move", str(work.path), str(tmp_path / "moved"))
        assert run(tmp_path / "moved", "search", "other").code == 0
    else:
        work.path.rename(tmp_path / "elsewhere")
    with asking(main) as itza:
        assert cites(main, itza.search("return")) == {"one", "two", "three"}
    for command in (["status"], ["gc"], ["index"], ["search", "return", "--branch", "w"]):
        done = run(main, *command)
        assert (done.code, done.err) == (0, "")
    main.git("worktree", "prune")
    assert run(main, "gc").out.startswith("dropped 0 blobs")
    assert "fresh" in run(main, "status").out


def test_what_is_cited_of_a_submodule_is_said_to_be_its_own(main: Repo, tmp_path: Path, run: Run) -> None:
    library = Repo(tmp_path / "library")
    library.write("lib.py", "def library():\n    return 'library'\n")
    library.commit()
    main.write("src/own.py", "own = 1\n")
    main.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "lib")
    main.commit()
    commit = library.git("rev-parse", "HEAD")[:12]
    at = main.git("rev-parse", "--short", "HEAD")
    for rev, place in (("HEAD", at), ("worktree", "the working tree")):
        done = run(main, "show", f"lib:1@{rev}")
        told = [f"error: lib is a submodule at {place}", f"hint: git -C lib ls-tree -r --name-only {commit}"]
        assert (done.code, done.error) == (2, told)
    assert main.git("-C", "lib", "ls-tree", "-r", "--name-only", commit) == "lib.py"
    hint = run(main.path / "src", "show", "../lib:1@HEAD").error[1]
    assert hint == f"hint: git -C ../lib ls-tree -r --name-only {commit}"
    assert run(main, "similar", "lib:1").error[0] == "error: lib is not searched: submodule"


def test_a_submodule_keeps_its_store_beside_its_objects(main: Repo, tmp_path: Path) -> None:
    library = Repo(tmp_path / "library")
    library.write("lib.py", "def library():\n    return 'library'\n")
    library.commit()
    main.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        "--name",
        "deep/lib",
        str(library.path),
        "lib",
    )
    main.commit()
    with Itza.open(main.path / "lib", {}) as itza:
        assert itza.refresh().coverage.indexed == 1
        assert itza.space.root == main.path / ".git" / "modules" / "deep" / "lib" / "itza"
        assert itza.space.root.is_dir()
    with asking(main) as itza:
        result = itza.search("return library", worktree=True)
        assert "library" not in cites(main, result)
        assert (b"lib", "submodule") in {(one.path, one.reason) for one in result.coverage.skipped}
    work = linked(main, tmp_path / "w", "-b", "w")
    work.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    with Itza.open(work.path / "lib", {}) as itza:
        assert itza.search("library").hits[0].passage.symbol == "library"
        assert itza.space.root.is_relative_to(main.path / ".git" / "worktrees" / "w")
