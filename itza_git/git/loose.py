"""Loose objects: one compressed file each. libgit2 (1.9) never ends on one that is cut short, so they are read here."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

# The kind and the size, before the first NUL.
_LONGEST_HEAD = 32
_DEEPEST = 5


class Loose:
    """The loose objects of a folder and of those that it borrows from."""

    def __init__(self, folder: Path) -> None:
        self.folders = list(dict.fromkeys(_with_lenders(folder, _DEEPEST)))
        self._paths = [os.path.join(one, "") for one in self.folders]

    def header(self, id: bytes) -> tuple[str, int] | None:
        """The kind and the size of an object; None when it is not loose. Raises `ValueError` when it is broken."""
        found = self._file(id)
        return _head(zlib.decompressobj().decompress(found, _LONGEST_HEAD))[:2] if found is not None else None

    def read(self, id: bytes) -> tuple[str, bytes] | None:
        """The kind and the content of an object, unverified; None and errors as for `header`."""
        found = self._file(id)
        if found is None:
            return None
        inflating = zlib.decompressobj()
        head = inflating.decompress(found, _LONGEST_HEAD)
        kind, size, start = _head(head)
        # No more than it says it has, and one byte to see that there is no more.
        left = max(size - len(head) + start, 0)
        content = head[start:] + inflating.decompress(inflating.unconsumed_tail, left + 1)
        if not inflating.eof or len(content) != size:
            raise ValueError("its file is cut short, or longer than it says")
        return kind, content

    def _file(self, id: bytes) -> bytes | None:
        name = id.hex()
        for folder in self._paths:  # as text, since most objects are asked for in vain here
            try:
                with open(f"{folder}{name[:2]}/{name[2:]}", "rb") as file:
                    return file.read()
            except OSError:
                continue
        return None


def _head(content: bytes) -> tuple[str, int, int]:
    """Kind, size, and where the content starts."""
    head, nul, _ = content[:_LONGEST_HEAD].partition(b"\0")
    kind, _, size = head.partition(b" ")
    if not nul or not size.isdigit():
        raise ValueError("its file has no head")
    return kind.decode("ascii", "replace"), int(size), len(head) + 1


def lenders(folder: Path) -> list[Path]:
    """The folders of objects that a folder of objects names as its alternates, whether or not they are there."""
    try:
        named = (folder / "info" / "alternates").read_bytes().splitlines()
    except OSError:
        return []
    return [folder / os.fsdecode(line) for line in named if line and not line.startswith(b"#")]


def _with_lenders(folder: Path, deep: int) -> Iterator[Path]:
    """A folder of objects, and those that it borrows from, as git follows them."""
    yield folder
    for lender in lenders(folder) if deep else ():
        yield from _with_lenders(lender, deep - 1)
