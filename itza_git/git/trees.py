"""Tree objects: their entries, and how two of them differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator

from itza_git.errors import UnreadableObject
from itza_git.records import GITLINK, SYMLINK, Change, Entry

TREE = 0o040000
FILE = 0o100644
EXECUTABLE = 0o100755

# A few kilobytes of tree objects can stand for a billion paths. git itself stops at 2048 folders (core.maxTreeDepth).
MOST_ENTRIES = 2_000_000
LONGEST_PATH = 1 << 16
DEEPEST = 4096

Load = Callable[[bytes, bytes], bytes]
"""The content of the tree object with an id; the second argument is its path, for the error."""


class Trees:
    """Walks trees by their raw bytes: no object per entry is made, and paths stay bytes."""

    def __init__(self, load: Load, id_length: int) -> None:
        self._load = load
        self._entry = re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % id_length, re.DOTALL)
        self._overhead = id_length + 2

    def walk(self, tree: bytes) -> list[Entry]:
        """All entries below a root tree that are not trees, in git's order."""
        found: list[Entry] = []
        pending: list[Iterator[Entry]] = [iter(self._children(tree, b""))]
        while pending:
            for entry in pending[-1]:
                if entry.mode == TREE:
                    _bound(tree, len(found), len(pending), entry.path)
                    pending.append(iter(self._children(entry.id, entry.path)))
                    break
                found.append(entry)
            else:
                pending.pop()
        _bound(tree, len(found), 0, b"")
        return found

    def find(self, tree: bytes, name: bytes, folders: Container[bytes]) -> list[Entry]:
        """The files called name in the root tree itself and in those of its folders, ordered by path.

        A folder is reached only when the folders above it are in folders too.
        """
        found: list[Entry] = []
        pending = [(b"", tree)]
        while pending:
            folder, id = pending.pop()
            prefix = folder + b"/" if folder else b""
            for mode, entry, child in self._raw(id, folder):
                if mode == b"40000":
                    if prefix + entry in folders:
                        pending.append((prefix + entry, child))
                elif entry == name and _mode(mode) in (FILE, EXECUTABLE):
                    found.append(Entry(prefix + entry, _mode(mode), child))
        return sorted(found, key=lambda entry: entry.path)

    def diff(self, old: bytes, new: bytes) -> list[Change]:
        """The paths that differ between two root trees, in git's order.

        Only subtrees whose ids differ are opened: the cost follows the change, not the repository.
        """
        found: list[Change] = []
        pending = self._differences(b"", old, new) if old != new else []
        while pending:
            before, after = pending.pop()
            entry = before or after
            assert entry is not None, "a difference has a side"
            if entry.mode == TREE:
                _bound(new, len(found), entry.path.count(b"/"), entry.path)
                sides = [None if side is None else side.id for side in (before, after)]
                pending += self._differences(entry.path, *sides)
            else:
                found.append(Change(entry.path, before, after))
        return found

    def _children(self, tree: bytes, path: bytes) -> list[Entry]:
        """The entries of the tree that stands at path, trees included."""
        prefix = path + b"/" if path else b""
        return [Entry(prefix + name, _mode(mode), id) for mode, name, id in self._raw(tree, path)]

    def _differences(
        self, path: bytes, old: bytes | None, new: bytes | None
    ) -> list[tuple[Entry | None, Entry | None]]:
        """Entries of two trees that differ, side by side, last first (they go on a stack).

        A folder and a file of one name are two things, at different places of git's order, which sorts a folder as
        if its name ended with a slash.
        """
        before = set() if old is None else set(self._raw(old, path))
        after = set() if new is None else set(self._raw(new, path))
        prefix = path + b"/" if path else b""
        pairs: dict[bytes, list[Entry | None]] = {}
        for side, rows in enumerate((before - after, after - before)):
            for mode, name, id in rows:
                entry = Entry(prefix + name, _mode(mode), id)
                key = name + b"/" if entry.mode == TREE else name
                pairs.setdefault(key, [None, None])[side] = entry
        return [(pairs[key][0], pairs[key][1]) for key in sorted(pairs, reverse=True)]

    def _raw(self, tree: bytes, path: bytes) -> list[tuple[bytes, bytes, bytes]]:
        """(mode, name, id) of each entry as stored."""
        content = self._load(tree, path)
        rows: list[tuple[bytes, bytes, bytes]] = self._entry.findall(content)
        if sum(len(mode) + len(name) for mode, name, _ in rows) + self._overhead * len(rows) != len(content):
            raise UnreadableObject(f"tree {tree.hex()} is malformed", "git fsck")
        return rows


def _bound(tree: bytes, entries: int, depth: int, path: bytes) -> None:
    """Raises `UnreadableObject` for a tree that is too much: made to be so, or nothing that this tool can serve."""
    too_much = ""
    if entries > MOST_ENTRIES:
        too_much = f"it holds more than {MOST_ENTRIES} files"
    elif depth > DEEPEST or len(path) > LONGEST_PATH:
        too_much = "its folders nest too deep"
    if too_much:
        raise UnreadableObject(f"tree {tree.hex()} cannot be searched: {too_much}", "git ls-tree -r HEAD | wc -l")


def _mode(octal: bytes) -> int:
    """The mode as git reads it today: old trees hold others, such as 100664."""
    mode = int(octal, 8)
    kind = mode & 0o170000
    if kind == 0o100000:
        return EXECUTABLE if mode & 0o100 else FILE
    return kind if kind in (TREE, SYMLINK) else GITLINK
