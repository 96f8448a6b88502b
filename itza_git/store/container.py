"""One file of named arrays: written whole or not at all, read through mmap, checked by checksums."""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from errno import EEXIST, EISDIR, ELOOP, ENOENT, ENOTDIR
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from itza_git import jsontext
from itza_git.errors import Damaged, StoreError

FORMAT_VERSION = 2
TEMPORARY = ".tmp-"

_MAGIC = b"ITZAGIT\n"
_END = b"END\n"
_HEAD = struct.Struct("<8sII")
_TRAILER = struct.Struct("<QI4s")
_ALIGN = 64
_DTYPE = re.compile(r"[<|][uif][1248]|\|S[1-9][0-9]{0,2}")


def write(path: Path, kind: str, meta: Mapping[str, Any], sections: Mapping[str, NDArray[Any]]) -> None:
    """Write a container under path: complete and on the disk when this returns, or not there at all.

    Raises `StoreError` when the disk is full or the folder cannot be written.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in sections.items()}
    header = _layout(kind, meta, arrays)
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    try:
        with open(temporary, "wb", opener=private) as file:
            file.write(_HEAD.pack(_MAGIC, FORMAT_VERSION, len(header)) + header)
            for array in arrays.values():
                file.write(b"\0" * (-file.tell() % _ALIGN))
                file.write(array.data if array.size else b"")
            file.write(b"\0" * (-file.tell() % _ALIGN))
            head_crc = crc32(_HEAD.pack(_MAGIC, FORMAT_VERSION, len(header)) + header)
            file.write(_TRAILER.pack(file.tell() + _TRAILER.size, head_crc, _END))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as e:
        raise cannot_write(path, e) from e
    finally:
        with suppress(OSError):  # after a success there is none; what cannot be deleted the next writer tries again
            temporary.unlink(missing_ok=True)


def delete(path: Path) -> None:
    """Delete a file that may be gone already. Raises `StoreError`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as e:
        raise cannot_write(path, e) from e


def private(path: str, flags: int) -> int:
    """An opener for files that only their owner may read."""
    return os.open(path, flags, 0o600)


def _at_once(path: str, flags: int) -> int:
    """An opener that does not wait for whoever writes to a pipe of that name."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def cannot_write(path: Path, error: OSError) -> StoreError:
    """The error for a failed write to path, with the hint that fits its cause."""
    hint = "free some space, then run the same command again: what was finished is kept"
    if isinstance(error, PermissionError) or (error.strerror or "").startswith("Read-only"):
        hint = f"the index lives in the git directory: make {path.parent} writable for you"
    if error.errno in (EEXIST, ENOTDIR, EISDIR):
        path = _in_the_way(path)
        hint = f"git itza fsck --repair renames {path}, which is none of the index"
    return StoreError(f"cannot write the index: {path}: {error.strerror}", hint)


def cannot_read(path: Path, error: OSError) -> StoreError:
    """The error for a failed read of path."""
    hint = f"make {_refusing(path)} readable for you"
    if error.errno in (ENOTDIR, EISDIR):
        path = _in_the_way(path)
        hint = f"git itza fsck --repair renames {path}, which is none of the index"
    elif not isinstance(error, PermissionError):
        path = _in_the_way(path)
        hint = f"delete {path}: the index is built anew from git"
    return StoreError(f"cannot read the index: {path}: {error.strerror}", hint)


def listed(folder: Path) -> list[Path]:
    """What a folder of the index holds, by name; nothing where there is none.

    Raises `StoreError` for one that may not be listed, which `Path.glob` takes for an empty one.
    """
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except PermissionError as e:  # nobody should look for a folder that may not even be there
        raise cannot_read(_refusing(folder), e) from e
    except OSError as e:
        raise cannot_read(folder, e) from e


def _refusing(path: Path) -> Path:
    """The folder that keeps path from being read: the topmost one that may not be entered, else path or its folder."""
    # Not `Path.is_dir`, which may fail below a folder that may not be entered.
    closed = (part for part in reversed(path.parents) if os.path.isdir(part) and not os.access(part, os.X_OK))
    return next(closed, path if os.path.isdir(path) else path.parent)


def _in_the_way(path: Path) -> Path:
    """The topmost thing on the way to a file of the index that is no folder; the file itself where all are."""
    above = (part for part in reversed(path.parents) if os.path.lexists(part) and not part.is_dir())
    return next(above, path)


def _layout(kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The header. Offsets depend on its own length, so it is laid out until that no longer changes."""
    length = 0
    while True:
        offset = _HEAD.size + length
        described = {}
        for name, array in arrays.items():
            offset += -offset % _ALIGN
            described[name] = [array.dtype.str, list(array.shape), offset, crc32(array.data if array.size else b"")]
            offset += array.nbytes
        header = json.dumps({"kind": kind, "meta": meta, "sections": described}, sort_keys=True).encode()
        if len(header) <= length:
            return header.ljust(length)
        length = len(header) + 16


def _sync_folder(folder: Path) -> None:
    """Make a rename durable. Windows cannot open a folder, and needs no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Container:
    """An open container. Raises `Damaged` when the file is not whole, `StoreError` when its version is newer.

    A section is checked when it is first asked for: what is not needed costs nothing, what is wrong serves nobody.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        with self._opened() as file:
            found = os.fstat(file.fileno())
            size = found.st_size
            self._identity = _identity(found)
            if not S_ISREG(found.st_mode):
                raise self._damaged("it is no file")
            if size < _HEAD.size + _TRAILER.size:
                raise self._damaged("it is too short")
            self._data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        header = self._checked_header(size)
        if header["kind"] != kind:
            raise self._damaged(f"it is a {header['kind']}, not a {kind}")
        self.meta: dict[str, Any] = header["meta"]
        self._arrays: dict[str, NDArray[Any]] = {}
        self._sections: dict[str, tuple[str, list[int], int, int]] = header["sections"]

    @property
    def is_current(self) -> bool:
        """Whether the file is the one that was opened, unchanged: what is mapped follows what is written in place."""
        try:
            return _identity(os.stat(self.path)) == self._identity
        except OSError:
            return False

    def touch(self) -> None:
        """Give the file the time of now, as far as that may be done."""
        if self.is_current:
            with suppress(OSError):  # a reader may lack the right
                os.utime(self.path)
                self._identity = _identity(os.stat(self.path))

    def _opened(self) -> BinaryIO:
        """The file. Raises FileNotFoundError only where there is nothing of that name."""
        try:
            return open(self.path, "rb", opener=_at_once)
        except IsADirectoryError as e:
            raise self._damaged("it is a folder") from e
        except OSError as e:
            if self.path.is_symlink() and e.errno in (ENOENT, ELOOP):
                raise self._damaged("it leads nowhere") from e
            raise

    def _checked_header(self, size: int) -> dict[str, Any]:
        magic, version, length = _HEAD.unpack_from(self._data, 0)
        if magic != _MAGIC:
            raise self._damaged("it does not start as an index file")
        whole, head_crc, end = _TRAILER.unpack_from(self._data, size - _TRAILER.size)
        if whole != size or end != _END or crc32(self._data[: _HEAD.size + length]) != head_crc:
            raise self._damaged("its trailer does not match")
        # Only now: a version that is damaged is not a newer one.
        if version > FORMAT_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer git-itza (format {version})",
                "upgrade itza-git, or delete that folder to build the index anew",
            )
        try:
            parsed: dict[str, Any] = jsontext.parse(bytes(self._data[_HEAD.size : _HEAD.size + length]))
            described = all(_is_described(section, size) for section in parsed["sections"].values())
            sane = described and isinstance(parsed["meta"], dict) and isinstance(parsed["kind"], str)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise self._damaged("its header describes no index file") from e
        if not sane:
            raise self._damaged("its header describes no index file")
        return parsed

    def _damaged(self, why: str) -> Damaged:
        return Damaged(self.path, why)

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def array(self, name: str) -> NDArray[Any]:
        """The section as a read-only array over the mapped file. Raises `Damaged` when its checksum does not match."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._read(name)
        return found

    def _read(self, name: str) -> NDArray[Any]:
        if name not in self._sections:
            raise self._damaged(f"it has no section {name}")
        dtype, shape, offset, checksum = self._sections[name]
        found = np.frombuffer(self._data, np.dtype(dtype), prod(shape), offset).reshape(shape)
        if crc32(found.data if found.size else b"") != checksum:
            raise self._damaged(f"section {name} does not match its checksum")
        return found

    def verified(self) -> Container:
        """Itself, once all of it was read again. Raises `Damaged` when the checksum of a section does not match."""
        for name in self._sections:
            self._read(name)
        return self


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _is_described(section: Any, size: int) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a section's description is one, of bytes that a file of size bytes has."""
    dtype, shape, offset, checksum = section
    numbers = [*shape, offset, checksum]
    if not all(type(number) is int and number >= 0 for number in numbers) or not _DTYPE.fullmatch(dtype):
        return False
    return bool(offset + prod(shape) * np.dtype(dtype).itemsize <= size)
