"""`git itza status` names all that is not well, and what to do about it."""

from __future__ import annotations

import json
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from tests.command import Run
from tests.repository import Repo

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def project(repo: Repo, run: Run) -> Repo:
    repo.write("a.py", "def alpha():\n    pass\n")
    repo.commit()
    run(repo, "index")
    return repo


def troubles(repo: Repo, run: Run) -> list[str]:
    """The lines about troubles; the same in text and JSON."""
    done = run(repo, "status")
    assert done.code == 0
    found = [line.removeprefix("trouble   ") for line in done.out.splitlines() if line.startswith("trouble ")]
    assert run(repo, "status", "--json").json["troubles"] == found
    return found


def space(repo: Repo) -> Path:
    (found,) = (repo.path / ".git" / "itza").glob("spaces/*")
    return found


def test_where_all_is_well_nothing_is_said(project: Repo, run: Run) -> None:
    assert troubles(project, run) == []


def test_before_anything_is_indexed_nothing_is_wrong(repo: Repo, run: Run) -> None:
    repo.commit()
    assert troubles(repo, run) == []


def test_what_was_set_aside_is_named_until_gc(project: Repo, run: Run) -> None:
    path = next((space(project) / "packs").iterdir())
    path.write_bytes(path.read_bytes()[:50])
    run(project, "search", "alpha")
    assert troubles(project, run) == ["1 damaged file set aside: git itza fsck, and gc deletes them"]
    run(project, "gc")
    assert troubles(project, run) == []


def test_a_space_of_another_version_is_named_until_gc(project: Repo, run: Run) -> None:
    recipe = json.loads((space(project) / "recipe.json").read_text())
    old = space(project).with_name("0" * 16)
    old.mkdir()
    (old / "recipe.json").write_text(json.dumps(recipe | {"chunking": 0}))
    assert troubles(project, run) == ["1 space of another version of git-itza: git itza gc"]
    run(project, "gc")
    assert troubles(project, run) == []


def test_a_space_of_another_model_is_none(project: Repo, run: Run) -> None:
    recipe = json.loads((space(project) / "recipe.json").read_text())
    other = space(project).with_name("0" * 16)
    other.mkdir()
    recipe["embedder"] |= {"model": "another"}
    (other / "recipe.json").write_text(json.dumps(recipe))
    assert troubles(project, run) == []


def test_little_room_is_named(project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9, 7_000_000))
    assert troubles(project, run) == ["the disk of the index has 7 MB left"]


def test_a_store_that_cannot_be_written_is_named(project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    root = project.path / ".git" / "itza"
    assert troubles(project, run) == [f"the index cannot be written: make {root} writable for you"]


def test_reports_of_faults_are_named(project: Repo, run: Run) -> None:
    folder = project.path / ".git" / "itza" / "faults"
    folder.mkdir()
    (folder / "git-itza-fault-1.txt").touch()
    assert troubles(project, run) == [f"1 fault of git-itza reported in {folder}"]
