"""From a path and lines to the passages there, and to those that are like them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence

from itza_git import citing
from itza_git.errors import UnreadableObject, UsageError
from itza_git.git import Repository
from itza_git.paths import quote
from itza_git.results import Similar
from itza_git.search.similar import alike, around
from itza_git.trees import Asked


def similar(repository: Repository, tree: Asked, recipe: str, place: tuple[bytes, int, int], limit: int) -> Similar:
    """The passages of a tree like those at a place: a path, and its first and last line.

    Raises `UsageError` for a path that the tree lacks or that is not searched, and for lines that it does not have.
    """
    path, first, last = place
    if not 1 <= first <= last:
        raise UsageError(f"{quote(path)} has no lines {first}-{last}", _hint(path, 1))
    corpus = tree.corpus
    entry = _entry(tree, path, first)
    ends = corpus.chunk(int(corpus.passages_of(entry)[-1])).last
    chosen = around(corpus, entry, first, last)
    if last > ends or not len(chosen):
        raise UsageError(f"{quote(path)} has {ends} lines at {tree.name}, not {last}", _hint(path, ends))
    found = alike(corpus, entry, chosen, limit, tree.wanted)
    hits = citing.hits(repository, [found.of, *found.passages], tree.commit, tree.changed)
    if not hits or hits[0].passage is not found.of:
        raise UnreadableObject(f"the object of {quote(path)} cannot be read", "git fsck")
    rest = tuple(hits[1:])
    return Similar(hits[0], tree.rev, tree.commit.id.hex(), recipe, corpus.coverage, rest, tree.changed)


def _entry(tree: Asked, path: bytes, line: int) -> int:
    """The entry of a path that has passages."""
    corpus = tree.corpus
    try:
        entry = corpus.view.paths.index(path)
    except ValueError:
        near = _nearest(path, corpus.view.paths)
        hint = _hint(near, line) if near else "git ls-files shows the paths"
        raise UsageError(f"{quote(path)} is not in {tree.name}", hint) from None
    if corpus.passages_of_entry[entry]:
        return entry
    why = next((one.reason for one in corpus.coverage.skipped if one.path == path), None)
    if why is None:
        raise UsageError(f"{quote(path)} is not indexed yet", "git itza index")
    raise UsageError(f"{quote(path)} is not searched: {why}", "git itza index -v lists what is skipped, and why")


def _nearest(path: bytes, paths: Sequence[bytes]) -> bytes | None:
    """The path that was probably meant: of the same name, the one nearest; else the one that is spelled most alike."""
    meant = os.fsdecode(path)
    named = [one for one in paths if one.rpartition(b"/")[2] == path.rpartition(b"/")[2]]
    known = {os.fsdecode(one): one for one in named or paths}
    near = difflib.get_close_matches(meant, known, 1, 0.0 if named else 0.6)
    return known[near[0]] if near else None


def _hint(path: bytes, line: int) -> str:
    return f"git itza similar {quote(path)}:{line}"
