"""What a file imports, as files of its tree: read from its import lines, resolved by the ends of paths.

No language's rules are followed to the letter. A name of parts (`a.b.C`, `crate::a::b`, `./a/b.js`, `a/b.h`) means the
file whose path ends in those parts, or in all but the last ones, which are then names within that file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

# Imports stand at the beginning; further down they are rare, and reading costs.
HEAD = 8 << 10
# More names on a line are names within one file.
MOST_NAMES = 12
# What could be more files than these is none of them.
MOST_FILES = 4

_LINE = re.compile(
    rb"^[ \t]*(?:\#[ \t]*(?:include|import)|from|import|(?:pub(?:\([\w:]+\))?[ \t]+)?(?:use|mod)|using|alias|require"
    rb"|require_relative|autoload|source|extern)\b([^\n]{0,300})",
    re.MULTILINE,
)
_CALL = re.compile(rb"\b(?:require|import|from)[ \t]*\(?[ \t]*([\"'][^\"'\n]{1,200}[\"'])")
_NAME = re.compile(rb"[\"'<](?P<path>[^\"'<>\s]{1,200})[\"'>]|(?P<name>[\w$.]+(?:(?:::|\\|/)[\w$.]+)*)")
# `use a::{b, c}`
_GROUP = re.compile(rb"::\{([^}\n]*)")
_BORDER = re.compile(r"::|\\|/|\.")
_PATH_BORDER = re.compile(r"::|\\|/")
# Files that stand for their folder.
_FOLDER_FILES = frozenset({"index", "__init__", "mod", "lib", "main", "init"})
# Parts that only say where to begin.
_HERE = frozenset({"", ".", "..", "crate", "self", "super", "@", "~", "$"})


class Imports:
    """Resolves the imports between files. They are spoken of by their numbers in paths."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        self._parts = [_parts(path) for path in paths]
        self._by_last: dict[str, list[int]] = defaultdict(list)
        self._known: dict[tuple[str, bool, tuple[str, ...]], list[int]] = {}
        for number, parts in enumerate(self._parts):
            self._by_last[parts[-1]].append(number)
            if parts[-1] in _FOLDER_FILES and len(parts) > 1:
                self._by_last[parts[-2]].append(number)

    def of(self, number: int, text: bytes) -> set[int]:
        """The files that a file of this text imports; never itself."""
        folder = self._parts[number][:-1]
        found: set[int] = set()
        for name, is_path in _names(text[:HEAD]):
            key = (name, is_path, folder)
            if key not in self._known:
                self._known[key] = self._resolved(name, is_path, folder)
            found.update(self._known[key])
        found.discard(number)
        return found

    def _resolved(self, name: str, is_path: bool, folder: tuple[str, ...]) -> list[int]:
        parts = tuple(part for part in (_PATH_BORDER if is_path else _BORDER).split(name) if part not in _HERE)
        if is_path and parts:
            parts = (*parts[:-1], parts[-1].partition(".")[0])
        for end in range(len(parts), 0, -1):
            known = [one for one in self._by_last.get(parts[end - 1], ()) if self._ends(one, parts[:end])]
            if end == 1 and not is_path and not name.startswith((".", "crate", "self", "super")):
                # One plain word is a file only beside the importer; elsewhere it is a package of others.
                known = [one for one in known if self._folder(one) == folder]
            if known:
                # The nearest: with most folders in common, and then the fewest others.
                near = [(_shared(self._folder(one), folder), -len(self._folder(one))) for one in known]
                nearest = [one for one, distance in zip(known, near, strict=True) if distance == max(near)]
                return nearest if len(nearest) <= MOST_FILES else []
        return []

    def _ends(self, number: int, parts: tuple[str, ...]) -> bool:
        whole = self._parts[number]
        if whole[-1] in _FOLDER_FILES and whole[-1] != parts[-1]:
            whole = whole[:-1]
        return whole[-len(parts) :] == parts

    def _folder(self, number: int) -> tuple[str, ...]:
        """The folder that a file is imported from: for one that stands for its folder that above."""
        whole = self._parts[number]
        return whole[:-2] if whole[-1] in _FOLDER_FILES else whole[:-1]


def _names(text: bytes) -> Iterator[tuple[str, bool]]:
    """What import lines name, and whether it is a path in quotes; else it is a name of parts."""
    for pattern in (_LINE, _CALL):
        for line in pattern.finditer(text):
            rest = line[1]
            group = _GROUP.search(rest)
            if group:
                base = rest[: group.start()].strip()
                names = (b"%s::%s" % (base, one.strip().split(b" ")[0]) for one in group[1].split(b",")[:MOST_NAMES])
                yield from ((name.decode("utf-8", "replace"), False) for name in names)
                continue
            for found in list(_NAME.finditer(rest))[:MOST_NAMES]:
                yield (found["path"] or found["name"]).decode("utf-8", "replace"), found["path"] is not None


def _parts(path: bytes) -> tuple[str, ...]:
    """The folders of a path, and its name without endings."""
    *folders, name = path.decode("utf-8", "replace").split("/")
    return (*folders, name.partition(".")[0] or name)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many folders two paths share from the top."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
