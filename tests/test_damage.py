"""Files of the index cut, flipped and overwritten at every place: an answer is what a fresh index gives, or none."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

import numpy as np
import pytest

from itza_git import Itza
from itza_git.store import space
from tests.command import Run
from tests.repository import Repo

QUESTIONS = ("alpha", "how is the beta computed?")
Answers = list[object]


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr("itza_git.indexing.refresh.LOCAL_BATCH_BYTES", 1)
    monkeypatch.setattr(space, "MOST_PACKS", 2)
    for name in ("alpha", "beta", "gamma", "delta"):
        repo.write(
            f"src/{name}.py", f"def {name}(x):\n    return x\n\n\nclass {name.title()}:\n    size = {len(name)}\n"
        )
    repo.write("notes.md", "# Notes\n\nalpha beta\n\n## More\n\ngamma\n")
    repo.write("none.bin", b"\0")
    repo.commit()
    return repo


def answers(repo: Repo) -> Answers:
    """All that a user learns of a repository, but for how its index lies on the disk."""
    with Itza.open(repo.path, {}) as itza:
        told: Answers = []
        for question in QUESTIONS:
            found = itza.search(question)
            told += [(hit.citation, hit.text, hit.passage) for hit in found.hits]
            told += [found.coverage, found.found.weak, found.found.unknown, found.literal]
        return told


def sections(path: Path) -> dict[str, tuple[int, int]]:
    """Where the sections of a container begin and end, and its header and trailer."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    found = {"head": (0, 16), "header": (16, 16 + length), "trailer": (len(data) - 16, len(data))}
    for name, (dtype, shape, offset, _) in json.loads(data[16 : 16 + length])["sections"].items():
        found[name] = (offset, offset + prod(shape) * np.dtype(dtype).itemsize)
    return {name: (first, last) for name, (first, last) in found.items() if last > first}


def flipped(data: bytes, first: int, last: int, chance: random.Random) -> Iterator[bytes]:
    """One bit at the beginning or at the end, and one somewhere."""
    for at in {chance.choice([first, last - 1]), chance.randrange(first, last)}:
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def cut(data: bytes, first: int, last: int, chance: random.Random) -> Iterator[bytes]:
    yield data[:first]
    yield data[: chance.randrange(first, last)]


def overwritten(data: bytes, first: int, last: int, chance: random.Random) -> Iterator[bytes]:
    """Zeros, as a lost page has them, and noise."""
    for junk in (b"\0" * (last - first), chance.randbytes(last - first)):
        if junk != data[first:last]:
            yield data[:first] + junk + data[last:]


Damage = Callable[[bytes, int, int, random.Random], Iterator[bytes]]


@pytest.mark.parametrize("how", [flipped, cut, overwritten], ids=lambda how: how.__name__)
@pytest.mark.parametrize("folder", ["packs", "views"])
def test_damage_at_any_place_changes_no_answer_and_heals(project: Repo, folder: str, how: Damage) -> None:
    fresh = answers(project)
    chance = random.Random(1)
    damaged = 0
    path = max((project.path / ".git" / "itza").glob(f"spaces/*/{folder}/*"), key=lambda path: path.stat().st_size)
    data = path.read_bytes()
    for name, (first, last) in sections(path).items():
        for changed in how(data, first, last, chance):
            replace(path, changed)
            assert answers(project) == fresh, f"{how.__name__} in {name}"
            with Itza.open(project.path, {}) as itza:
                checked = itza.fsck(repair=True)  # what no question needed is still there, and found
                assert {fault.path for fault in checked.faults} <= {path}
                assert itza.fsck().faults == ()
            damaged += 1
            replace(path, data)
    assert damaged >= 18


def replace(path: Path, data: bytes) -> None:
    """Put data there as another file: the old one may still be mapped."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


INVALID = b'{"refs/heads/main": {"commit": "\\u001b[2J", "tree": "00", "time": NaN}}'


@pytest.mark.parametrize("name", ["heads.json", "recipe.json"])
@pytest.mark.parametrize(
    "junk", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000, b'{"refs/heads/main": {}}', INVALID]
)
def test_a_note_that_is_damaged_changes_no_answer(project: Repo, name: str, junk: bytes) -> None:
    fresh = answers(project)
    (path,) = (project.path / ".git" / "itza").glob(f"spaces/*/{name}")
    path.write_bytes(junk)
    assert answers(project) == fresh
    with Itza.open(project.path, {}) as itza:
        assert itza.status().fresh
        itza.fsck(repair=True)
        assert itza.fsck().faults == ()


@pytest.mark.parametrize("kind", ["packs", "views"])
def test_what_is_no_file_where_one_should_be_is_set_aside(project: Repo, tmp_path: Path, kind: str) -> None:
    fresh = answers(project)
    makers: list[Callable[[Path], object]] = [
        Path.mkdir,
        lambda path: path.symlink_to(tmp_path / "nowhere"),
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("/dev/zero"),
        os.mkfifo,
        Path.mkdir,
        lambda path: path.symlink_to(tmp_path),
    ]
    for make in makers:
        path = next((project.path / ".git" / "itza").glob(f"spaces/*/{kind}/*.itza"))
        path.unlink()
        make(path)
        assert answers(project) == fresh
        assert path.is_file() and not path.is_symlink(), make


@pytest.mark.parametrize("place", ["itza", "itza/spaces", "itza/spaces/*/packs"])
@pytest.mark.parametrize("what", ["file", "link"])
def test_what_is_no_folder_where_one_should_be_is_named(project: Repo, run: Run, place: str, what: str) -> None:
    answers(project)
    (path,) = (project.path / ".git").glob(place)
    shutil.rmtree(path)
    path.write_text("mine") if what == "file" else path.symlink_to("nowhere")
    for args in (["search", "alpha"], ["index"]):
        done = run(project, *args)
        assert done.code == 2, (args, done)
        assert done.error[0].startswith(("error: cannot write the index: ", "error: cannot read the index: "))
        assert done.error[1] == f"hint: git itza fsck --repair renames {path}, which is none of the index"
    assert f"{path.relative_to(project.path / '.git')}: it is no folder" in run(project, "fsck").out
    assert run(project, "fsck", "--repair").code == 1
    assert os.path.lexists(f"{path}.damaged")
    assert run(project, "search", "alpha").code == 0


@pytest.mark.parametrize("lost", ["packs", "views", "packs/*", "views/*", "heads.json", "recipe.json", "", "../.."])
def test_whatever_is_deleted_is_made_again(project: Repo, lost: str) -> None:
    fresh = answers(project)
    (folder,) = (project.path / ".git" / "itza").glob("spaces/*")
    victims = [folder] if not lost else [folder.parents[1]] if lost == "../.." else sorted(folder.glob(lost))
    for path in victims:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert answers(project) == fresh


def in_place(folder: Path) -> None:
    for path in folder.rglob("*.itza"):
        with open(path, "r+b") as file:
            file.write(b"\0" * path.stat().st_size)


def shorter(folder: Path) -> None:
    for path in folder.rglob("*.itza"):
        path.write_bytes(b"short")


@pytest.mark.parametrize("harm", [in_place, shorter, shutil.rmtree])
def test_an_open_index_notices_that_its_files_are_no_longer_what_they_were(
    project: Repo, harm: Callable[[Path], None]
) -> None:
    project.write("src/alpha.py", "def alpha(x):\n    return x\n")
    project.commit("alpha returns what it was given, because it may be nothing")
    with Itza.open(project.path, {}) as itza:

        def told(question: str) -> Answers:
            found = itza.search(question, reasons=True)
            return [(hit.citation, hit.text) for hit in found.hits] + [found.past]

        asked = ("why does alpha return x?", "size of beta", "how is gamma made?")
        before = [told(question) for question in asked]
        assert all(len(found) > 2 for found in before)
        for _ in asked:  # what was made anew after the first harm is harmed too
            itza.trees.forget()
            itza.search("delta", reasons=True)
            harm(project.path / ".git" / "itza")
            assert [told(question) for question in asked] == before
        assert itza.fsck().faults == ()
