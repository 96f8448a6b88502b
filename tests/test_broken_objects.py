"""Objects whose files are cut short are told of at once; what is whole elsewhere is read from there."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from itza_git.git.loose import Loose
from tests.command import Run, itza
from tests.repository import Repo

SOURCE = "def alpha_function():\n    pass\n" + "".join(f"# {number}\n" for number in range(5_000))


def loose(repo: Repo, revision: str) -> Path:
    name = repo.git("rev-parse", revision).strip()
    return repo.path / ".git" / "objects" / name[:2] / name[2:]


@pytest.mark.parametrize("revision", ["HEAD:a.py", "HEAD^{tree}", "HEAD"])
@pytest.mark.parametrize("size", [2, 1000])
def test_an_object_that_is_cut_short_ends_no_command_in_a_hang(repo: Repo, revision: str, size: int) -> None:
    repo.write("a.py", SOURCE)
    repo.commit()
    assert itza(repo, "index").code == 0
    file = loose(repo, revision)
    whole = file.read_bytes()
    file.chmod(0o600)
    file.write_bytes(whole[: min(size, len(whole) - 1)])
    for command in (
        ["search", "alpha"],
        ["show", "a.py:1-2@HEAD"],
        ["status"],
        ["index"],
        ["fsck"],
        ["show", "a.py:1-2@main"],
    ):
        done = itza(repo, *command, prefix=("timeout", "60"))
        assert done.code in (0, 1, 2), (command, done.err)
        assert "def alpha_function" not in done.out or revision != "HEAD:a.py"


def test_an_object_that_is_whole_in_a_pack_is_read_from_there(repo: Repo, run: Run) -> None:
    repo.write("a.py", SOURCE)
    repo.commit()
    file = loose(repo, "HEAD:a.py")
    short = file.read_bytes()[:1000]
    repo.git("gc", "-q")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(short)
    assert "def alpha_function" in run(repo, "show", "a.py:1-2@HEAD").out


def test_borrowed_loose_objects_are_read(repo: Repo, run: Run, tmp_path: Path) -> None:
    repo.write("a.py", SOURCE)
    repo.commit()
    repo.git("clone", "-q", "--shared", ".", str(tmp_path / "borrower"))
    assert "def alpha_function" in run(tmp_path / "borrower", "search", "alpha").out


def test_a_file_whose_object_was_lost_since_it_was_indexed_is_named(repo: Repo, run: Run) -> None:
    repo.write("a.py", SOURCE)
    repo.write("b.py", "def beta_function():\n    pass\n")
    repo.commit()
    assert run(repo, "index").code == 0
    loose(repo, "HEAD:a.py").unlink()
    done = run(repo, "search", "alpha function")
    assert "a.py is not searched, because its object cannot be read" in done.err
    assert "alpha_function" not in done.out


@pytest.mark.parametrize("size", [0, 1, 20, 31, 32, 33, 1_000, 100_000])
def test_a_loose_object_is_read_whole_whatever_its_size(tmp_path: Path, size: int) -> None:
    id = put(tmp_path, b"blob %d\0" % size + b"x" * size)
    assert Loose(tmp_path).read(id) == ("blob", b"x" * size)
    assert Loose(tmp_path).header(id) == ("blob", size)


@pytest.mark.parametrize("data", [b"blob 10\0" + b"x" * 10_000_000, b"blob 10\0x", b"blob ten\0x", b"no head", b""])
def test_a_loose_object_that_is_not_what_it_says_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ValueError, match="its file"):
        Loose(tmp_path).read(put(tmp_path, data))


def put(folder: Path, data: bytes) -> bytes:
    id = bytes(range(20))
    (folder / id.hex()[:2]).mkdir()
    (folder / id.hex()[:2] / id.hex()[2:]).write_bytes(zlib.compress(data))
    return id
