"""Dropping what nothing reaches any more: blobs of no kept tree, views of no kept tree, spaces that nobody can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.chunking.languages import language_of
from itza_git.errors import UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.history import BARE, WITH_PATHS
from itza_git.records import GITLINK, SYMLINK, Commit, Entry
from itza_git.store import Space, lineages, prune, summaries
from itza_git.store.pack import key_of, keys_array

# Reflog entries that count as recent; git itself forgets them after 90 days.
MOST_REFLOG_ENTRIES = 500
# What is younger than so many seconds stays, however much came after it: another process may just be asking it, as
# git's own gc thinks of objects that are younger than two weeks.
YOUNG = 600
# Beyond so many commits nobody's messages are indexed.
MOST_REACHED = 10_000_000


@dataclass(frozen=True, slots=True)
class Collected:
    """What was dropped: blobs, views, spaces and commit messages, and the bytes that it freed."""

    blobs: int
    views: int
    spaces: int
    freed: int
    messages: int = 0


def kept_commits(repository: Repository) -> list[Commit]:
    """The commits whose trees stay answerable: of branches, of every worktree's HEAD, of recent reflog entries."""
    found = [branch.commit for branch in repository.branches()]
    found += repository.worktree_heads()
    found += repository.reflog_commits(MOST_REFLOG_ENTRIES, YOUNG)
    head = repository.head().commit
    return [*found, head] if head else found


def collect(repository: Repository, space: Space, waiting: Callable[[], None]) -> Collected:
    """Drop what no kept commit reaches. waiting is called when another writer is waited for.

    Raises `StoreError`, `StoreBusy`.
    """
    if not space.root.exists():
        return Collected(0, 0, 0, 0)
    before = space.size()
    with space.writer(waiting=waiting):
        kept = kept_commits(repository)
        trees = {commit.tree for commit in kept}
        blobs = prune.drop_all_but(space, _keys(repository, trees))
        views = prune.drop_views(space, {tree.hex() for tree in trees})
        spaces = prune.drop_unreadable_spaces(space)
        prune.drop_set_aside(space)
        summaries.drop_all_but(space.root, {entry.id for tree in trees for entry in _entries(repository, tree)})
        lineages.drop_all_but(space.history, {commit.id.hex() for commit in kept})
        messages = prune.drop_all_but(space.history, _messages(repository, space.history, kept))
    return Collected(blobs, views, spaces, max(before - space.size(), 0), messages)


def _messages(repository: Repository, history: Space, kept: Iterable[Commit]) -> NDArray[np.bytes_]:
    """The key of every commit that a kept one reaches, without paths where the store has it with them.

    None are looked for when the store holds no message.
    """
    ids = [commit.id for commit in kept]
    reached = repository.ancestors(ids, MOST_REACHED).ids if history.packs() else []
    with_paths = [key_of(id, WITH_PATHS) for id in reached]
    lacking = history.locate(keys_array(with_paths, repository.id_length))[1].missing.tolist()
    bare = [key_of(id, BARE) for id, lacks in zip(reached, lacking, strict=True) if lacks]
    return keys_array(sorted([*with_paths, *bare]), repository.id_length)


def _keys(repository: Repository, trees: Iterable[bytes]) -> NDArray[np.bytes_]:
    """Every key that a file of the trees may have; paths that are skipped add keys that the store does not hold."""
    keys: set[bytes] = set()
    for tree in trees:
        entries = _entries(repository, tree)
        keys.update(key_of(e.id, language_of(e.path)) for e in entries if e.mode not in (SYMLINK, GITLINK))
    return keys_array(sorted(keys), repository.id_length)


def _entries(repository: Repository, tree: bytes) -> Sequence[Entry]:
    """The entries of a tree; none when it cannot be read: a reflog may name what a prune took."""
    try:
        return repository.tree(tree)
    except UnreadableObject:
        return []
