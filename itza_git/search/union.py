"""The trees of several repositories as one corpus, so that one ranking goes over all of them.

Every statistic counts the passages of all the trees, so scores can be compared; nothing in the ranking knows of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from itza_git.records import Passage
from itza_git.search.corpus import Corpus
from itza_git.store import View
from itza_git.store.postings import join

# No path in git holds it, so a path with a name before it is never taken for another path.
SEPARATOR = b"//"


class Union(Corpus):
    """Corpora by the names of their repositories; a passage's path is `NAME//path`."""

    def __init__(self, parts: Sequence[tuple[str, Corpus]]) -> None:
        self._names = [name for name, _ in parts]
        self._parts = [part for _, part in parts]
        self._first_entry = _starts([len(part.view) for part in self._parts])
        first_pack = _starts([len(part.packs) for part in self._parts])
        packs = [pack for part in self._parts for pack in part.packs]
        pack_of = [
            np.where(part._pack_of < 0, -1, part._pack_of + first)
            for part, first in zip(self._parts, first_pack, strict=True)
        ]
        blob_of = [part._blob_of for part in self._parts]
        views = [part.view for part in self._parts]
        self._assemble(_joined(views, self._first_entry), packs, np.concatenate(pack_of), np.concatenate(blob_of))

    def passage(self, number: int, score: float, parts: dict[str, float]) -> Passage:
        """The record of a passage, its repository's name before its path."""
        part = int(np.searchsorted(self._first_entry, self.entry[number], side="right")) - 1
        first_passage = sum(len(one) for one in self._parts[:part])
        found = self._parts[part].passage(number - first_passage, score, parts)
        return replace(found, path=prefixed(self._names[part], found.path))


def prefixed(name: str, path: bytes) -> bytes:
    """A path of a repository, told apart from those of others."""
    return os.fsencode(name) + SEPARATOR + path


def split(path: bytes) -> tuple[str, bytes]:
    """The name and the path that `prefixed` joined."""
    name, _, rest = path.partition(SEPARATOR)
    return os.fsdecode(name), rest


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes[:-1]]).astype(np.int64)


def _joined(views: Sequence[View], first_entry: NDArray[np.int64]) -> View:
    """One view of several; ids of different lengths are filled up with zeros, since nothing looks them up here."""
    languages = list(dict.fromkeys(name for view in views for name in view.languages))
    reasons = list(dict.fromkeys(["", *(reason for view in views for reason in view.reasons)]))
    width = max(view.id.shape[1] for view in views)
    rows = sum(map(len, views))
    vectors = [view.path_vector for view in views if view.path_vector is not None]
    scales = [view.path_scale for view in views if view.path_scale is not None]
    are_all = len(vectors) == len(views)
    return View(
        [path for view in views for path in view.paths],
        np.concatenate([np.pad(view.id, ((0, 0), (0, width - view.id.shape[1]))) for view in views]),
        _recoded([(view.language, view.languages) for view in views], languages),
        languages,
        _recoded([(view.reason, view.reasons) for view in views], reasons),
        reasons,
        join(
            [(view.path_terms, np.arange(len(view)) + first) for view, first in zip(views, first_entry, strict=True)],
            rows,
            np.uint32,
        ),
        np.concatenate(vectors) if are_all else None,
        np.concatenate(scales) if are_all else None,
    )


def _recoded(codes: Sequence[tuple[NDArray[np.uint8], Sequence[str]]], table: Sequence[str]) -> NDArray[np.uint8]:
    """Codes into tables of their own as codes into one table."""
    places = {name: at for at, name in enumerate(table)}
    parts = [np.array([places[name] for name in names], np.uint8)[code] for code, names in codes]
    return np.concatenate(parts)
