"""`git itza fsck`: whatever is wrong is named, and put right when that is asked for."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from itza_git import Itza
from itza_git.store import container, space
from itza_git.store.container import FORMAT_VERSION, Container
from tests.command import Run
from tests.repository import Repo

Sections = dict[str, NDArray[Any]]


@pytest.fixture
def project(repo: Repo) -> Repo:
    for name in ("alpha", "beta", "gamma"):
        repo.write(f"{name}.py", f"def {name}(x):\n    return x\n\n\nclass {name.title()}:\n    size = 1\n")
    repo.write("notes.md", "# Notes\n\nalpha beta\n")
    repo.write("none.bin", b"\0")
    repo.commit()
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()
    return repo


def file(repo: Repo, kind: str) -> Path:
    (found,) = (repo.path / ".git" / "itza").glob(f"spaces/*/{kind}s/*.itza")
    return found


def rewrite(path: Path, kind: str, change: Callable[[Sections], None]) -> None:
    """Write a container anew, with checksums that match, after change was made to its sections."""
    old = Container(path, kind)
    sections = {name: old.array(name).copy() for name in old._sections}
    change(sections)
    container.write(path, kind, old.meta, sections)


def test_a_whole_index_is_proven_and_ends_with_0(project: Repo, run: Run) -> None:
    done = run(project, "fsck")
    assert (done.code, done.err) == (0, "")
    assert done.out == "whole: 1 pack, 5 blobs, 4 chunks, 1 view in 1 space\n"
    told = run(project, "fsck", "--json").json
    assert told["schema"] == 1 and told["whole"] and not told["repaired"]
    assert (told["faults"], told["set_aside"]) == ([], [])
    assert (told["spaces"], told["packs"], told["views"], told["blobs"], told["chunks"]) == (1, 1, 1, 5, 4)


def test_without_an_index_there_is_nothing_wrong(repo: Repo, run: Run) -> None:
    assert run(repo, "fsck").code == 0
    assert run(repo, "fsck", "--repair").code == 0
    assert not (repo.path / ".git" / "itza").exists()


Value = int | float | bytes | tuple[int, int]


def to(name: str, value: Value, at: int | slice = 0) -> Callable[[Sections], None]:
    """Sets one value of a section."""

    def change(sections: Sections) -> None:
        sections[name][at] = value

    return change


def longer(name: str) -> Callable[[Sections], None]:
    """Adds one value to a section."""

    def change(sections: Sections) -> None:
        sections[name] = np.concatenate([sections[name], sections[name][-1:]])

    return change


def without(name: str) -> Callable[[Sections], None]:
    def change(sections: Sections) -> None:
        del sections[name]

    return change


# Files whose checksums are all right: only a fault of ours, or a hand that means ill, writes such.
LIES: list[tuple[str, Callable[[Sections], None], str]] = [
    ("pack", to("lines", 0), "a chunk ends before it begins"),
    ("pack", to("lines", (1, 9999)), "a chunk ends behind its blob"),
    ("pack", to("kind", 200), "kind points out of its table"),
    ("pack", to("language", 200), "language points out of its table"),
    ("pack", to("reason", 1, slice(None)), "a blob has chunks and a reason for none"),
    ("pack", to("start", 7, -1), "a blob has chunks and a reason for none"),
    ("pack", to("start", 3, 0), "start does not count what there is"),
    ("pack", to("scale", np.nan), "a vector is not finite"),
    ("pack", to("scale", np.inf), "a vector is not finite"),
    ("pack", to("scale", -1), "a vector is not finite"),
    ("pack", to("scale", 9), "a vector does not have the length 1"),
    ("pack", to("vector", 0), "a vector does not have the length 1"),
    ("pack", longer("vector"), "not every chunk has its vector"),
    ("pack", longer("kind"), "kind has 5 values for 4"),
    ("pack", to("body.row", 60_000), "a posting of body is out of range"),
    ("pack", to("body.count", 0), "body.count does not count what there is"),
    ("pack", to("body.count", 77), "body.length is not the number of terms"),
    ("pack", to("symbol.length", 99), "symbol.length is not the number of terms"),
    ("pack", to("body.term", 2**64 - 1), "the terms of body do not ascend"),
    ("pack", to("body.start", 2**31), "body.start does not count what there is"),
    ("pack", to("symbol_text", 0xFF), "its symbols are no text"),
    ("pack", to("symbol_start", 99, 1), "symbol_start does not ascend"),
    ("pack", to("key", b"\1" * 24), "its name is not that of what it holds"),
    ("pack", without("scale"), "it has no section scale"),
    ("view", to("id", 0), "it does not have the files of its tree"),
    ("view", to("path_text", ord("z")), "it does not have the files of its tree"),
    ("view", to("path_start", 200, 1), "path_start does not ascend"),
    ("view", to("reason", 50), "reason points out of its table"),
    ("view", to("path.row", 77), "a posting of path is out of range"),
    ("view", to("path_scale", np.nan), "a vector is not finite"),
    ("view", longer("language"), "language has 6 values for 5"),
]


@pytest.mark.parametrize(("kind", "change", "told"), LIES, ids=[f"{kind}-{told}" for kind, _, told in LIES])
def test_what_its_checksums_hide_is_found_and_repaired(
    project: Repo, kind: str, change: Callable[[Sections], None], told: str
) -> None:
    path = file(project, kind)
    before = path.read_bytes()
    rewrite(path, kind, change)
    with Itza.open(project.path, {}) as itza:
        (fault,) = itza.fsck().faults
        assert fault.path == path and told in fault.what
        repaired = itza.fsck(repair=True)
        assert repaired.repaired and repaired.faults == (fault,)
        assert path.read_bytes() == before
        assert itza.fsck().faults == ()


def test_a_fault_is_a_line_each_and_ends_with_1(project: Repo, run: Run) -> None:
    path = file(project, "pack")
    rewrite(path, "pack", to("scale", 9))
    told = f"wrong     {path.relative_to(project.path / '.git')}: a vector does not have the length 1\n"
    done = run(project, "fsck")
    assert (done.code, done.out) == (1, f"{told}whole but for these: 0 packs, 0 blobs, 0 chunks, 1 view in 1 space\n")
    assert done.error == ["hint: git itza fsck --repair"]
    repaired = run(project, "fsck", "--repair")
    assert (repaired.code, repaired.err) == (1, "")
    assert repaired.out.startswith(f"{told}repaired: ")
    assert run(project, "fsck").out.endswith("set aside before: 1 damaged file; git itza gc deletes them\n")
    assert run(project, "gc").code == 0
    assert run(project, "fsck", "--json").json["set_aside"] == []


def test_the_packs_of_history_are_checked_too(project: Repo, run: Run) -> None:
    run(project, "index")
    (path,) = (project.path / ".git" / "itza").glob("spaces/*/history/packs/*.itza")
    before = path.read_bytes()
    path.write_bytes(before[:-1])
    assert run(project, "fsck").out.startswith(f"wrong     {path.relative_to(project.path / '.git')}: ")
    assert run(project, "fsck", "--repair").code == 1
    assert run(project, "index").code == 0
    assert path.read_bytes() == before
    done = run(project, "fsck")
    assert (done.code, done.out.splitlines()[-1]) == (0, "set aside before: 1 damaged file; git itza gc deletes them")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("heads.json", "{", "it is no list of heads"),
        ("heads.json", '{"refs/heads/main": {"commit": 1}}', "it is no list of heads"),
        ("recipe.json", "{}", "it does not describe its folder"),
        ("recipe.json", "\udcff", "it does not describe its folder"),
    ],
)
def test_a_note_that_is_wrong_is_found_and_made_anew(project: Repo, run: Run, name: str, text: str, told: str) -> None:
    (path,) = (project.path / ".git" / "itza").glob(f"spaces/*/{name}")
    path.write_bytes(os.fsencode(text))
    done = run(project, "fsck", "--json")
    assert (done.code, [fault["what"] for fault in done.json["faults"]]) == (1, [told])
    run(project, "fsck", "--repair")
    assert run(project, "fsck").code == 0
    assert path.exists()


def test_a_head_with_the_tree_of_another_commit_is_found(project: Repo, run: Run) -> None:
    (path,) = (project.path / ".git" / "itza").glob("spaces/*/heads.json")
    heads = json.loads(path.read_text())
    heads["refs/heads/main"]["tree"] = "0" * 40
    path.write_text(json.dumps(heads))
    assert "the tree of" in run(project, "fsck").out


def test_what_git_has_pruned_is_nothing_wrong(project: Repo, run: Run) -> None:
    project.write("later.py", "later = 1\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--amend", "--message", "x")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    assert run(project, "fsck").code == 0


def test_others_may_not_look_into_the_index(project: Repo, run: Run) -> None:
    root = project.path / ".git" / "itza"
    modes = {path.stat().st_mode & 0o77 for path in [root, *root.rglob("*")]}
    assert modes == {0}
    root.chmod(0o755)
    done = run(project, "fsck")
    assert done.out.startswith("wrong     itza: others than its owner may look into it\n")
    run(project, "fsck", "--repair")
    assert run(project, "fsck").code == 0


def test_every_space_is_checked_and_repair_rebuilds_every_recorded_branch(
    project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "MOST_PACKS", 99)
    project.git("checkout", "--quiet", "--orphan", "other")
    project.write("other.py", "def other(): pass\n")
    project.commit()
    run(project, "index")
    root = project.path / ".git" / "itza" / "spaces"
    (folder,) = root.iterdir()
    second = root / "0123456789abcdef"
    (second / "packs").mkdir(parents=True)
    (second / "packs" / f"pack-{'0' * 32}.itza").write_bytes(b"ITZAGIT\n" + b"\0" * 100)
    for path in (folder / "packs").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    told = run(project, "fsck", "--json").json
    assert (told["spaces"], len(told["faults"])) == (2, 3)
    run(project, "fsck", "--repair")
    assert run(project, "fsck").code == 0
    with Itza.open(project.path, {}) as itza:
        branches = itza.status().branches
        assert [(one.name, one.coverage.indexed) for one in branches] == [("main", 4), ("other", 5)]
    assert list((second / "damaged").iterdir())


def test_a_file_of_a_newer_version_is_named(project: Repo, run: Run) -> None:
    from tests.test_container import newer

    path = file(project, "pack")
    path.write_bytes(newer(path.read_bytes()))
    done = run(project, "fsck")
    assert done.code == 1
    assert f"was written by a newer git-itza (format {FORMAT_VERSION + 1})" in done.out


def as_file(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.write_text("mine")


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("mine")


@pytest.mark.parametrize(
    ("place", "put", "told"),
    [
        (".git/itza", as_file, "it is no folder"),
        (".git/itza/spaces", as_file, "it is no folder"),
        (".git/itza/spaces/SPACE", as_file, "it is no folder"),
        (".git/itza/spaces/SPACE/packs", as_file, "it is no folder"),
        (".git/itza/spaces/SPACE/views", as_file, "it is no folder"),
        (".git/itza/spaces/SPACE/history", as_file, "it is no folder"),
        (".git/itza/spaces/SPACE/damaged", as_file, "it is no folder"),
        (".git/itza/lock", as_folder, "it is no file"),
        (".git/itza/spaces/SPACE/heads.json", as_folder, "it is no file"),
        (".git/itza/spaces/SPACE/recipe.json", as_folder, "it is no file"),
    ],
)
def test_what_stands_in_the_place_of_the_index_is_named_and_gets_another_name(
    project: Repo, run: Run, place: str, put: Callable[[Path], None], told: str
) -> None:
    (space,) = (project.path / ".git" / "itza" / "spaces").glob("*")
    path = project.path / place.replace("SPACE", space.name)
    put(path)
    name = path.relative_to(project.path / ".git")
    found = run(project, "fsck")
    assert (found.code, found.out.splitlines()[0]) == (1, f"wrong     {name}: {told}")
    repaired = run(project, "fsck", "--repair")
    assert (repaired.code, repaired.out.splitlines()[0]) == (1, f"wrong     {name}: {told}")
    aside = path.with_name(f"{path.name}.damaged")
    assert (aside / "mine" if aside.is_dir() else aside).read_text() == "mine"
    assert run(project, "fsck").code == 0
    assert run(project, "gc").code == 0
    assert "alpha.py" in run(project, "search", "alpha").out


def test_a_file_beside_the_spaces_is_in_nobodys_way(project: Repo, run: Run) -> None:
    stray = project.path / ".git" / "itza" / "spaces" / ".DS_Store"
    stray.write_bytes(b"\0")
    assert run(project, "fsck").out == "whole: 1 pack, 5 blobs, 4 chunks, 1 view in 1 space\n"
    assert run(project, "fsck", "--repair").code == 0
    assert run(project, "gc", "--json").json["spaces"] == 0
    assert stray.exists()


def test_a_folder_that_may_not_be_listed_is_no_empty_one(
    project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = file(project, "pack").parent
    listed = Path.iterdir

    def refused(folder: Path) -> Iterator[Path]:
        if folder == packs:
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refused)
    done = run(project, "fsck")
    assert done.code == 2
    assert done.error[0] == f"error: cannot read the index: {packs}: Permission denied"
    assert done.error[1].startswith("hint: ")
