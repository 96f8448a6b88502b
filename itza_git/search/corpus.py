"""One tree's passages as flat arrays: a view, resolved against the packs that hold its blobs.

A *row* is a chunk in the store, a *passage* is a row at a path. A blob at two paths has its rows once and its passages
twice. All statistics count passages, so they are those of this tree and of nothing else that the store holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from itza_git.pathspec import matcher
from itza_git.records import Chunk, Coverage, Passage, Skipped
from itza_git.search.roles import role_of
from itza_git.store import Space, View
from itza_git.store.pack import Pack
from itza_git.store.postings import Postings
from itza_git.words import asked_keys

T = TypeVar("T")

# Terms whose number of passages is kept for the next question.
MOST_REMEMBERED = 1 << 14
# The passage of a row that this tree does not have: whatever is added to it, it stays below 0.
NOWHERE = -(1 << 50)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which passages may be found: pathspecs and language names, each empty for all; and only these files, if given."""

    paths: Sequence[str] = ()
    languages: Sequence[str] = ()
    only: frozenset[bytes] | None = None

    def __bool__(self) -> bool:
        return bool(self.paths or self.languages or self.only is not None)


class Corpus:
    """The passages of a tree.

    row: row of each passage over all packs; entry: entry of the view of each passage; both ascending by entry.
    """

    def __init__(self, space: Space, view: View) -> None:
        packs, located = space.locate(view.keys)
        pack_of, blob_of = np.full(len(view), -1, np.int64), np.full(len(view), -1, np.int64)
        pack_of[view.indexable] = located.pack
        blob_of[view.indexable] = located.blob
        self._assemble(view, packs, pack_of, blob_of)

    def _assemble(
        self, view: View, packs: Sequence[Pack], pack_of: NDArray[np.int64], blob_of: NDArray[np.int64]
    ) -> None:
        """pack_of, blob_of: pack, and place in it, of each entry's blob; -1 where there is none."""
        self.view = view
        self.packs = packs
        self._pack_of = pack_of
        self._blob_of = blob_of
        self._fields: dict[str, list[tuple[int, Postings]]] = {}
        self._holding: dict[str, int] = {}
        self._roles: dict[int, str] = {}
        self.row_offset = np.concatenate([[0], np.cumsum([pack.rows for pack in self.packs])]).astype(np.int64)
        first, count = self._ranges()
        self.entry = np.repeat(np.arange(len(view)), count)
        self.row = ranges(first, count)
        self.first_passage = np.cumsum(count) - count
        self.passages_of_entry = count

    def __len__(self) -> int:
        return len(self.row)

    @property
    def is_whole(self) -> bool:
        """Whether the store holds every file that is to be searched."""
        return bool((self._pack_of[self.view.indexable] >= 0).all())

    @property
    def is_current(self) -> bool:
        """Whether the files that it is mapped from are still what was opened; costs a look at each."""
        return self.view.is_current and all(pack.is_current for pack in self.packs)

    @property
    def held(self) -> int:
        """How many entries the store holds."""
        return int((self._pack_of >= 0).sum())

    @property
    def rows(self) -> int:
        """How many rows the packs hold, those of other trees included."""
        return int(self.row_offset[-1])

    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First row and number of rows of each entry."""
        first = np.zeros(len(self.view), np.int64)
        count = np.zeros(len(self.view), np.int64)
        for number, pack in enumerate(self.packs):
            here = self._pack_of == number
            blob = self._blob_of[here]
            start = pack.start.astype(np.int64)
            first[here] = self.row_offset[number] + start[blob]
            count[here] = start[blob + 1] - start[blob]
        return first, count

    def field(self, name: str) -> list[tuple[int, Postings]]:
        """A lexical field of each pack, with the row that the pack's row 0 has here."""
        if name not in self._fields:
            self._fields[name] = [(int(self.row_offset[n]), pack.field(name)) for n, pack in enumerate(self.packs)]
        return self._fields[name]

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """How many terms each passage has."""
        per_row: NDArray[np.float32] = np.zeros(self.rows, np.float32)
        for offset, postings in self.field("body"):
            per_row[offset : offset + len(postings.length)] = postings.length
        return np.asarray(per_row[self.row])

    @cached_property
    def scales(self) -> NDArray[np.float32]:
        """The scale of the vector of each row."""
        return np.concatenate([np.empty(0, np.float32), *(pack.array("scale") for pack in self.packs)])

    @cached_property
    def file_lengths(self) -> NDArray[np.float64]:
        """How many terms each entry has."""
        return np.asarray(np.bincount(self.entry, self.lengths, len(self.view)), float)

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """How many passages of this tree each row stands for; 0 for rows of other trees."""
        return np.bincount(self.row, minlength=self.rows)

    @cached_property
    def _first_of_row(self) -> NDArray[np.int64]:
        """The first passage of each row; NOWHERE for rows of other trees."""
        first = np.full(self.rows, NOWHERE)
        first[self.row[::-1]] = np.arange(len(self))[::-1]
        return first

    @cached_property
    def _again(self) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """Which rows have several passages, as a blob at several paths has; those but the first, by row; their rows."""
        more = np.flatnonzero(self._first_of_row[self.row] != np.arange(len(self)))
        more = more[np.argsort(self.row[more], kind="stable")]
        return self.copies > 1, more, self.row[more]

    def passages_at(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The first passage of each row, NOWHERE in other trees; the further ones, behind the indexes of their rows."""
        are_several, more, row_of_more = self._again
        several = np.flatnonzero(are_several[rows])
        start = row_of_more.searchsorted(rows[several])
        count = self.copies[rows[several]] - 1
        return self._first_of_row[rows], np.repeat(several, count), more[ranges(start, count)]

    def holding(self, term: str) -> int:
        """How many passages of the tree hold a term in their text."""
        return self.holding_each([term])[0]

    def holding_each(self, terms: Sequence[str]) -> list[int]:
        """`holding` of each of several terms."""
        # Other threads may ask the same corpus: what is remembered is whole, and never taken from under one that reads.
        known = self._holding
        fresh = [term for term in dict.fromkeys(terms) if term not in known]
        if fresh:
            known = dict(known) if len(known) <= MOST_REMEMBERED else {}
            fresh = [term for term in dict.fromkeys(terms) if term not in known]
            known.update(zip(fresh, self._count(fresh), strict=True))
            self._holding = known
        return [known[term] for term in terms]

    def _count(self, terms: Sequence[str]) -> list[int]:
        """In how many passages each of the terms is."""
        counts = [0] * len(terms)
        keys = asked_keys(terms)
        for offset, postings in self.field("body"):
            for number, row, _ in postings.found(keys):
                counts[number] += int(self.copies[offset + row.astype(np.int64)].sum())
        return counts

    def holds(self, terms: Sequence[str], passages: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of each term, which of a few passages have it in their text or their path, (terms, passages)."""
        keys = asked_keys(terms)
        held = self.view.path_terms.held(keys, self.entry[passages])
        for pack, at, rows in self._by_pack(passages):
            held[:, at] |= pack.field("body").held(keys, rows)
        return held

    def known(self, terms: Sequence[str]) -> list[str]:
        """Those of the terms that any passage has in its text or its path."""
        in_path = self.view.path_terms.places(asked_keys(terms)) >= 0
        holding = self.holding_each(terms)
        return [term for term, is_there, times in zip(terms, in_path, holding, strict=True) if is_there or times]

    def allowed(self, wanted: Filter) -> NDArray[np.bool_]:
        """Which entries a filter lets through."""
        mask = np.ones(len(self.view), bool)
        if wanted.paths:
            matches: Callable[[bytes], bool] = matcher(wanted.paths)
            mask &= np.fromiter(map(matches, self.view.paths), bool, len(self.view))
        if wanted.languages:
            mask &= np.fromiter((self.language(e) in wanted.languages for e in range(len(self.view))), bool, len(mask))
        if wanted.only is not None:
            mask &= np.fromiter((path in wanted.only for path in self.view.paths), bool, len(mask))
        return mask

    def language(self, entry: int) -> str:
        """The language of an entry: as found in its content, or else as its path says."""
        pack = int(self._pack_of[entry])
        if pack < 0:
            return self.view.languages[int(self.view.language[entry])]
        return self.packs[pack].language(int(self._blob_of[entry]))

    def role(self, entry: int) -> str:
        """The role of an entry: one of ROLES."""
        found = self._roles.get(entry)
        if found is None:
            found = self._roles[entry] = role_of(self.view.paths[entry], self.language(entry))
        return found

    def place(self, passage: int) -> tuple[Pack, int]:
        """The pack that holds a passage, and its row there."""
        row = int(self.row[passage])
        number = int(self.row_offset.searchsorted(row, side="right")) - 1
        return self.packs[number], row - int(self.row_offset[number])

    def chunk(self, passage: int) -> Chunk:
        """The chunk of a passage."""
        pack, row = self.place(passage)
        return pack.chunk(row)

    def passages_of(self, entry: int) -> NDArray[np.int64]:
        """The passages of an entry, from its first line to its last."""
        first = int(self.first_passage[entry])
        return np.arange(first, first + int(self.passages_of_entry[entry]))

    def chunks(self, passages: NDArray[np.int64]) -> list[Chunk]:
        """The chunks of passages."""
        return self._read(passages, Pack.chunks)

    def named(self, passages: NDArray[np.int64]) -> list[tuple[str, str]]:
        """The kind and the symbol of passages."""
        return self._read(passages, Pack.named)

    def _read(self, passages: NDArray[np.int64], read: Callable[[Pack, NDArray[np.int64]], list[T]]) -> list[T]:
        """What is read of the rows of passages."""
        found: dict[int, T] = {}
        for pack, at, rows in self._by_pack(passages):
            found.update(zip(at.tolist(), read(pack, rows), strict=True))
        return [found[at] for at in range(len(passages))]

    def vectors(self, passages: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of passages."""
        found = np.empty((len(passages), self.packs[0].array("vector").shape[1]), np.float32)
        for pack, at, rows in self._by_pack(passages):
            found[at] = pack.array("vector").take(rows, axis=0) * pack.array("scale")[rows, None]
        return found

    def _by_pack(self, passages: NDArray[np.int64]) -> Iterator[tuple[Pack, NDArray[np.int64], NDArray[np.int64]]]:
        """Each pack that holds any of the passages, which of them it holds, and their rows there."""
        rows = self.row[passages]
        number = np.searchsorted(self.row_offset, rows, side="right") - 1
        for one in np.flatnonzero(np.bincount(number)).tolist():
            at = np.flatnonzero(number == one)
            yield self.packs[one], at, rows[at] - self.row_offset[one]

    def best_of_entries(self, values: NDArray[np.float32], entries: NDArray[np.int64]) -> NDArray[np.float32]:
        """The greatest of the values of each one's passages; of entries that have some."""
        count = self.passages_of_entry[entries]
        passages = ranges(self.first_passage[entries], count)
        return np.maximum.reduceat(values[passages], np.cumsum(count) - count)

    def passage(self, number: int, score: float, parts: dict[str, float]) -> Passage:
        """The record of a passage."""
        chunk = self.chunk(number)
        entry = int(self.entry[number])
        return Passage(
            self.view.paths[entry],
            self.view.id[entry].tobytes(),
            self.language(entry),
            chunk.first,
            chunk.last,
            chunk.kind,
            chunk.symbol,
            round(score, 4),
            parts,
        )

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the tree is searched, and what is not, in the tree's order."""
        skipped = {s.path: s for s in self.view.skipped()}
        for number, pack in enumerate(self.packs):
            entries = np.flatnonzero(self._pack_of == number)
            reasons = pack.array("reason")[self._blob_of[entries]]
            for at in np.flatnonzero(reasons).tolist():
                path = self.view.paths[int(entries[at])]
                skipped[path] = Skipped(path, pack.reasons[int(reasons[at])])
        indexed = int((self._pack_of >= 0).sum()) - (len(skipped) - len(self.view) + len(self.view.indexable))
        total = len(self.view) - len(skipped)
        return Coverage(indexed, total, tuple(skipped[path] for path in self.view.paths if path in skipped))


def ranges(first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """So many numbers from each first one on, one range after the other."""
    ends = np.cumsum(count)
    return np.asarray(np.arange(int(count.sum())) + np.repeat(first - (ends - count), count))
