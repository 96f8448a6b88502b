"""Which rows hold a term, and how often: the inverted index of one lexical field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.store.container import Container
from itza_git.words import Bags, Counts

# A count is the low bits of a byte. The high ones mark where in its row a term stands, among other places: in the first
# lines, in what is written for people.
MOST_OCCURRENCES = 63
BEGINNING, WRITTEN = 64, 128
_OCCURRENCES, _MARKS = np.uint8(MOST_OCCURRENCES), np.uint8(BEGINNING | WRITTEN)

NO_PARTS: Mapping[int, Bags] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Postings:
    """One field. length: terms a row; term: ascending keys; start: (terms + 1); row, marked count: one a posting."""

    length: NDArray[np.uint32]
    term: NDArray[np.uint64]
    start: NDArray[np.uint32]
    row: NDArray[Any]
    count: NDArray[np.uint8]

    def lookup(self, key: int) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The rows that hold the term of that key, ascending, and how often each does."""
        at = int(self.term.searchsorted(np.uint64(key)))
        if at == len(self.term) or self.term[at] != key:
            return self.row[:0], self.count[:0]
        return self.at(at)

    def of_row(self, row: int) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """The keys of the terms that a row holds, ascending, and how often each; a pass over all postings."""
        at = np.flatnonzero(self.row == row)
        return self.term[np.searchsorted(self.start, at, side="right") - 1], self.count[at] & _OCCURRENCES

    def places(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Which term each key is; -1 for one that no row holds."""
        if not len(self.term):
            return np.full(len(keys), -1)
        at = np.minimum(self.term.searchsorted(keys), len(self.term) - 1)
        return np.where(self.term[at] == keys, at, -1)

    def at(self, place: int) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The rows that hold a term of `places`, ascending, and how often each does."""
        first, last = int(self.start[place]), int(self.start[place + 1])
        return self.row[first:last], self.count[first:last] & _OCCURRENCES

    def found(self, keys: NDArray[np.uint64]) -> Iterator[tuple[int, NDArray[Any], NDArray[np.uint8]]]:
        """The number of each key that any row holds, with those rows and their marked counts; fast for many keys."""
        if not len(self.term):
            return
        place = np.minimum(self.term.searchsorted(keys), len(self.term) - 1)
        numbers = (self.term[place] == keys).nonzero()[0]
        place = place[numbers]
        for number, first, last in zip(
            numbers.tolist(), self.start[place].tolist(), self.start[place + 1].tolist(), strict=True
        ):
            yield number, self.row[first:last], self.count[first:last]

    def held(self, keys: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of a few rows hold each key, (keys, rows)."""
        some = list(self.found(keys))
        number, end = np.array([n for n, *_ in some], np.int64), np.cumsum([len(row) for _, row, _ in some])
        row_of_all = np.concatenate([self.row[:0], *(row for _, row, _ in some)])
        held = np.zeros((len(keys), len(rows)), bool)
        for at, row in enumerate(rows.tolist()):
            held[number[end.searchsorted(np.flatnonzero(row_of_all == row), side="right")], at] = True
        return held

    def sections(self, field: str) -> dict[str, NDArray[Any]]:
        """The arrays by their names in a container."""
        return {f"{field}.{name}": getattr(self, name) for name in self.__slots__}

    @classmethod
    def read(cls, container: Container, field: str) -> Postings:
        """The field of a container."""
        return cls(*(container.array(f"{field}.{name}") for name in cls.__slots__))

    def expanded(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]]:
        """Term key, row and marked count of every posting."""
        return np.repeat(self.term, np.diff(self.start)), self.row.astype(np.int64), self.count


def empty(rows: int) -> Postings:
    """The postings of so many texts without a term."""
    nothing = np.empty(0, np.uint32)
    start = np.zeros(1, np.uint32)
    return Postings(np.zeros(rows, np.uint32), np.empty(0, np.uint64), start, nothing, np.empty(0, np.uint8))


def from_bags(bags: Bags, row_type: type[np.unsignedinteger[Any]], parts: Mapping[int, Bags] = NO_PARTS) -> Postings:
    """The postings of texts: words and compounds of each. parts: a part of each text, by the mark of what stands there.

    The parts are counted with the vocabulary of the whole.
    """
    row = np.concatenate([bags.words.text, bags.compounds.text]).astype(np.int64)
    term = np.concatenate([bags.words.term, bags.compounds.term])
    count = np.concatenate([bags.words.count, bags.compounds.count])
    words = _marks(bags.words, {mark: part.words for mark, part in parts.items()})
    mark = np.concatenate([words, _marks(bags.compounds, {mark: part.compounds for mark, part in parts.items()})])
    return from_triples(bags.vocabulary.keys[term], row, count, mark, bags.size, row_type)


def _marks(counts: Counts, parts: Mapping[int, Counts]) -> NDArray[np.uint8]:
    """The marks of each count: of the parts that have the same term in the same text."""
    found = np.zeros(len(counts.text), np.uint8)
    place = _place(counts)
    for mark, part in parts.items():
        found[np.searchsorted(place, _place(part))] |= np.uint8(mark)
    return found


def _place(counts: Counts) -> NDArray[np.int64]:
    """A number for the text and the term of each count, ascending as they do."""
    return np.asarray((counts.text.astype(np.int64) << 32) | counts.term)


def from_triples(
    key: NDArray[np.uint64],
    row: NDArray[np.int64],
    count: NDArray[Any],
    mark: NDArray[np.uint8],
    rows: int,
    row_type: type[np.unsignedinteger[Any]],
) -> Postings:
    """Postings in any order; a (key, row) that comes twice is summed: a word that is also a compound."""
    order = np.lexsort((row, key))
    key, row, count, mark = key[order], row[order], count[order].astype(np.int64), mark[order]
    new = np.ones(len(key), bool)
    new[1:] = (key[1:] != key[:-1]) | (row[1:] != row[:-1])
    first = np.flatnonzero(new)
    if len(first):
        count, mark = np.add.reduceat(count, first), np.bitwise_or.reduceat(mark, first)
    key, row = key[first], row[first]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, np.int64)
    return Postings(
        np.bincount(row, weights=count, minlength=rows).astype(np.uint32),
        key[start],
        np.append(start, len(key)).astype(np.uint32),
        row.astype(row_type),
        np.minimum(count, MOST_OCCURRENCES).astype(np.uint8) | mark,
    )


def join(
    parts: Sequence[tuple[Postings, NDArray[np.int64]]], rows: int, row_type: type[np.unsignedinteger[Any]]
) -> Postings:
    """One index of several; each comes with the new row of each of its rows, -1 for those to drop."""
    keys, new_rows, counts = [], [], []
    length = np.zeros(rows, np.uint32)
    for postings, new_row in parts:
        # Not summed up from the counts: those stop at MOST_OCCURRENCES.
        length[new_row[new_row >= 0]] = postings.length[new_row >= 0]
        key, row, count = postings.expanded()
        row = new_row[row]
        keep = row >= 0
        keys.append(key[keep])
        new_rows.append(row[keep])
        counts.append(count[keep])
    count = np.concatenate(counts)
    key, row = np.concatenate(keys), np.concatenate(new_rows)
    joined = from_triples(key, row, count & _OCCURRENCES, count & _MARKS, rows, row_type)
    return replace(joined, length=length)
