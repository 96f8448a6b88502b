"""Laws of tree walks, on trees made in memory."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.errors import UnreadableObject
from itza_git.git.trees import TREE, Trees
from itza_git.records import Change, Entry

MODES = {0: 0o100644, 1: 0o100755, 2: 0o120000, 3: 0o160000}

names = st.sampled_from([b"a", b"a.b", b"a-", b"a0", b"b", b"\xff", b" "])
contents = st.tuples(st.sampled_from(sorted(MODES)), st.binary(min_size=1, max_size=1))
folders = st.recursive(contents, lambda inner: st.dictionaries(names, inner, min_size=1, max_size=4), max_leaves=12)
roots = st.dictionaries(names, folders, max_size=5)


class Objects:
    """Tree objects by id; ids are as long as asked, like SHA-1 and SHA-256."""

    def __init__(self, id_length: int) -> None:
        self.id_length = id_length
        self.trees: dict[bytes, bytes] = {}

    def id(self, content: bytes) -> bytes:
        return hashlib.sha256(content).digest()[: self.id_length]

    def add(self, folder: dict[bytes, object]) -> bytes:
        rows = []
        for name, inner in folder.items():
            if isinstance(inner, dict):
                rows.append((name + b"/", b"40000 %s\0%s" % (name, self.add(inner))))
            else:
                assert isinstance(inner, tuple)
                rows.append((name, b"%o %s\0%s" % (MODES[inner[0]], name, self.id(inner[1]))))
        content = b"".join(row for _, row in sorted(rows))
        self.trees[self.id(content)] = content
        return self.id(content)

    def load(self, tree: bytes, path: bytes) -> bytes:
        return self.trees[tree]


def flat(objects: Objects, folder: dict[bytes, object], prefix: bytes = b"") -> dict[bytes, Entry]:
    found: dict[bytes, Entry] = {}
    for name, inner in folder.items():
        if isinstance(inner, dict):
            found |= flat(objects, inner, prefix + name + b"/")
        else:
            assert isinstance(inner, tuple)
            found[prefix + name] = Entry(prefix + name, MODES[inner[0]], objects.id(inner[1]))
    return dict(sorted(found.items()))


@given(roots, roots, st.sampled_from([20, 32]))
def test_a_walk_lists_all_and_a_difference_what_two_walks_differ_in(
    old: dict[bytes, object], new: dict[bytes, object], id_length: int
) -> None:
    objects = Objects(id_length)
    trees = Trees(objects.load, id_length)
    before, after = flat(objects, old), flat(objects, new)
    assert trees.walk(objects.add(old)) == list(before.values())
    assert trees.walk(objects.add(new)) == list(after.values())
    differing = [path for path in sorted(before | after) if before.get(path) != after.get(path)]
    expected = [Change(path, before.get(path), after.get(path)) for path in differing]
    assert trees.diff(objects.add(old), objects.add(new)) == expected


def test_equal_subtrees_are_not_opened() -> None:
    objects = Objects(20)
    same: dict[bytes, object] = {b"x": (0, b"1")}
    old, new = objects.add({b"same": same, b"f": (0, b"1")}), objects.add({b"same": same, b"f": (0, b"2")})
    del objects.trees[objects.add(same)]
    assert [change.path for change in Trees(objects.load, 20).diff(old, new)] == [b"f"]


def test_a_very_deep_tree_is_no_recursion() -> None:
    objects = Objects(20)
    tree = objects.add({b"f": (0, b"1")})
    other = objects.add({b"f": (0, b"2")})
    for _ in range(3000):
        below = [b"40000 d\0" + id for id in (tree, other)]
        objects.trees |= {objects.id(content): content for content in below}
        tree, other = (objects.id(content) for content in below)
    trees = Trees(objects.load, 20)
    assert [entry.path for entry in trees.walk(tree)] == [b"d/" * 3000 + b"f"]
    assert [change.path for change in trees.diff(tree, other)] == [b"d/" * 3000 + b"f"]


def test_modes_of_old_trees_read_as_today() -> None:
    content = b"".join(b"%s %s\0%s" % (mode, mode, b"i" * 20) for mode in (b"100600", b"100664", b"100775", b"140000"))
    modes = [entry.mode for entry in Trees(lambda tree, path: content, 20).walk(b"t" * 20)]
    assert modes == [0o100644, 0o100644, 0o100755, 0o160000]
    assert TREE not in modes


@pytest.mark.parametrize("content", [b"rubbish", b"100644 a\0short", b"100644 a\0" + b"i" * 21, b"1 \0" + b"i" * 20])
def test_a_malformed_tree_is_an_error(content: bytes) -> None:
    with pytest.raises(UnreadableObject, match="malformed"):
        Trees(lambda tree, path: content, 20).walk(b"t" * 20)
