"""The file under every pack and view: read back as written, or named as damaged."""

from __future__ import annotations

import errno
import os
import struct
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from itza_git.errors import Damaged, StoreError
from itza_git.store import container
from itza_git.store.container import FORMAT_VERSION, Container

SECTIONS: dict[str, NDArray[Any]] = {
    "numbers": np.arange(1000, dtype=np.uint32),
    "none": np.empty((0, 3), np.int8),
    "table": np.arange(12, dtype=np.int8).reshape(4, 3),
    "keys": np.array([b"a\0", b"\0\0", b"zz"], "S2"),
}
META = {"languages": ["python", "日本"], "reasons": [""]}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "file.itza"
    container.write(path, "pack", META, SECTIONS)
    return path


def sections() -> st.SearchStrategy[dict[str, NDArray[Any]]]:
    values = st.one_of(
        st.lists(st.integers(0, 2**32 - 1)).map(lambda v: np.array(v, np.uint32)),
        st.lists(st.integers(-128, 127)).map(lambda v: np.array(v, np.int8).reshape(-1, 1)),
        st.lists(st.binary(min_size=3, max_size=3)).map(lambda v: np.array(v, "S3")),
    )
    return st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=5)


@given(sections(), st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=30)), max_size=3))
def test_what_is_written_is_read_back(values: dict[str, NDArray[Any]], meta: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.itza"
        container.write(path, "view", meta, values)
        file = Container(path, "view")
        assert file.meta == meta
        for name, value in values.items():
            found = file.array(name)
            assert (found.dtype, found.shape) == (value.dtype, value.shape)
            assert found.tobytes() == value.tobytes()
        file.verified()


def test_sections_begin_at_multiples_of_64(written: Path) -> None:
    data = written.read_bytes()
    at = data.index(SECTIONS["numbers"].tobytes())
    assert at % 64 == 0
    assert len(data) % 64 == 16  # sections, and then the trailer


def test_the_trailer_is_as_documented(written: Path) -> None:
    data = written.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    assert data[:12] == b"ITZAGIT\n" + struct.pack("<I", FORMAT_VERSION)
    assert data[-16:] == struct.pack("<QI", len(data), crc32(data[: 16 + length])) + b"END\n"


def test_a_file_cut_anywhere_is_damaged(written: Path) -> None:
    data = written.read_bytes()
    for at in [0, 1, 15, 16, len(data) - 1, *range(0, len(data), len(data) // 50)]:
        written.write_bytes(data[:at])
        with pytest.raises(Damaged, match=r"file\.itza is damaged"):
            Container(written, "pack")


def test_a_file_that_grew_is_damaged(written: Path) -> None:
    written.write_bytes(written.read_bytes() + b"\0" * 64)
    with pytest.raises(Damaged):
        Container(written, "pack")


def test_a_flipped_bit_in_header_or_trailer_is_damage(written: Path) -> None:
    data = written.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    for at in [*range(16 + length), *range(len(data) - 16, len(data))]:
        for bit in (0, 7):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            written.write_bytes(flipped)
            with pytest.raises(Damaged):
                Container(written, "pack")


def test_verifying_finds_a_flipped_bit_in_every_section(written: Path) -> None:
    data = written.read_bytes()
    for name in ("numbers", "table", "keys"):
        at = data.index(SECTIONS[name].tobytes())
        for offset in (0, SECTIONS[name].nbytes - 1):
            flipped = bytearray(data)
            flipped[at + offset] ^= 1
            written.write_bytes(flipped)
            with pytest.raises(Damaged, match=f"section {name} does not match"):
                Container(written, "pack").verified()


def test_a_newer_format_is_no_damage_and_says_what_to_do(written: Path) -> None:
    written.write_bytes(newer(written.read_bytes()))
    with pytest.raises(StoreError, match="written by a newer git-itza") as raised:
        Container(written, "pack")
    assert not isinstance(raised.value, Damaged)
    assert "upgrade" in raised.value.hint


def newer(data: bytes) -> bytes:
    """The same file in the next format."""
    (length,) = struct.unpack_from("<I", data, 12)
    head = data[:8] + struct.pack("<I", FORMAT_VERSION + 1) + data[12 : 16 + length]
    return head + data[16 + length : -8] + struct.pack("<I", crc32(head)) + data[-4:]


def test_another_kind_or_a_lacking_section_is_damage(written: Path) -> None:
    with pytest.raises(Damaged, match="it is a pack, not a view"):
        Container(written, "view")
    with pytest.raises(Damaged, match="it has no section key"):
        Container(written, "pack").array("key")


def test_arrays_cannot_be_written_to(written: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        Container(written, "pack").array("numbers")[0] = 1


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_other(
    written: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    before = written.read_bytes()
    monkeypatch.setattr(os, call, full_disk)
    with pytest.raises(StoreError, match="No space left on device") as raised:
        container.write(written, "pack", META, {"numbers": np.zeros(5, np.int8)})
    assert str(written) in str(raised.value)
    assert "free some space" in raised.value.hint
    assert written.read_bytes() == before
    assert os.listdir(written.parent) == [written.name]


def full_disk(*_args: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_interrupted_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        container.write(tmp_path / "x.itza", "pack", META, SECTIONS)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("closed", "asked", "named"),
    [
        ("", "views", "views"),
        ("", "views/file.itza", "views"),
        ("views", "views/file.itza", "views"),
        ("history", "history/packs", "history"),
        ("history", "history/packs/file.itza", "history"),
        (".", "history/packs", "."),
    ],
)
def test_the_hint_of_a_refused_read_names_the_folder_that_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: str, asked: str, named: str
) -> None:
    for folder in ("views", "history/packs"):
        (tmp_path / folder).mkdir(parents=True)
    refused = tmp_path / closed if closed else None
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != refused)
    error = container.cannot_read(tmp_path / asked, PermissionError(errno.EACCES, "Permission denied"))
    assert error.hint == f"make {tmp_path / named} readable for you"
    assert str(error) == f"cannot read the index: {tmp_path / asked}: Permission denied"
