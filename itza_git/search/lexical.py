"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree. A word is looked up together with its other forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus, ranges
from itza_git.store.postings import MOST_OCCURRENCES
from itza_git.words import asked_keys

# An occurrence in a symbol or in the path counts as so many in the body.
SYMBOL_WEIGHT = 3
PATH_WEIGHT = 2
# An occurrence of a word counts as so many of another form of it: all counts are whole numbers, their sums exact.
WHOLE, OTHER = 4, 1
# How far the parts of a number are moved that says of an occurrence which word, in which passage, what it counts.
_WORD, _PASSAGE, _MARKS = 44, 12, 6
_LOW, _MOST_PASSAGES = (1 << _PASSAGE) - 1, (1 << _WORD - _PASSAGE) - 1
K1 = 1.2
B = 0.6


@dataclass(frozen=True, slots=True)
class _Places:
    """Where words stand: word by word the passages that hold it or another form of it, ascending.

    word: its number; count: weighed occurrences, in parts of WHOLE; marks: those of `postings`, moved by _MARKS.
    """

    word: NDArray[np.int64]
    passage: NDArray[np.int64]
    count: NDArray[np.int64]
    marks: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lexical:
    """score: BM25F of each passage, 0 for one without any word; file_score: the same of each entry taken as one text.

    places: where the words stand; idf: of the word of each place; total: of all words.
    """

    score: NDArray[np.float32]
    file_score: NDArray[np.float32]
    places: _Places
    idf: NDArray[np.float32]
    total: float

    def part(self, mark: int, passages: NDArray[np.int64]) -> NDArray[np.float32]:
        """The part of the question's idf, 0..1, that each of some passages holds where a mark of `postings` stands."""
        number = np.full(len(self.score), -1, np.int32)
        number[passages] = np.arange(len(passages))
        at = number[self.places.passage]
        there = np.flatnonzero((at >= 0) & (self.places.marks & (mark >> _MARKS) != 0))
        found = np.zeros(len(passages), np.float32)
        np.add.at(found, at[there], self.idf[there])
        return found / np.float32(max(self.total, 1e-9))


def lexical(corpus: Corpus, terms: Mapping[str, float], forms: Mapping[str, Sequence[str]] | None = None) -> Lexical:
    """The lexical evidence of every passage for weighted terms. forms: other forms of some of them."""
    known = forms or {}
    places = _places(corpus, [[(term, WHOLE), *((form, OTHER) for form in known.get(term, ()))] for term in terms])
    bounds = np.searchsorted(places.word, np.arange(len(terms) + 1))
    worth, at = _worth(terms, len(corpus), np.diff(bounds)), places.passage
    score = np.zeros(len(corpus), np.float32)
    # Word by word, as the places are: so the sums do not depend on where a word stands.
    idf = np.array(worth, np.float32)[places.word]
    count = places.count.astype(np.float32) / WHOLE
    np.add.at(score, at, idf * _saturated(count, corpus.lengths[at] / _mean(corpus.lengths)))
    return Lexical(score, _file_score(corpus, terms, places), places, idf, reduce(add, worth, 0.0))


def _places(corpus: Corpus, wanted: Sequence[Sequence[tuple[str, int]]]) -> _Places:
    """wanted: of each word its forms, and what an occurrence of each counts. All are looked up at once."""
    asked = [(n << _WORD, form, factor) for n, forms in enumerate(wanted) for form, factor in forms]
    keys = asked_keys(form for _, form, _ in asked)
    order = np.argsort(keys)  # in order, they are found faster
    keys, base = keys[order], np.array([base for base, *_ in asked], np.int64)[order]
    factor = np.array([factor for *_, factor in asked], np.int64)[order]
    # One number holds a place, what stands there, and its marks: so they are sorted faster than by their order.
    found = np.concatenate([_in_texts(corpus, keys, base, factor), _in_paths(corpus, keys, base, factor)])
    found.sort()
    first = _firsts(found >> _PASSAGE)
    count = np.add.reduceat((found & _LOW) >> 2, first)
    marks = np.bitwise_or.reduceat(found & 3, first)
    place = found[first]
    return _Places(place >> _WORD, (place >> _PASSAGE) & _MOST_PASSAGES, count, marks)


def _in_texts(
    corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The place of every occurrence in a body or symbol, what it counts, its marks."""
    some = [
        (number, weight, offset, row, count)
        for field, weight in (("body", 1), ("symbol", SYMBOL_WEIGHT))
        for offset, postings in corpus.field(field)
        for number, row, count in postings.found(keys)
    ]
    numbers, weights, offsets, rows, counts = zip(*some, strict=True) if some else ((),) * 5
    size, number = list(map(len, rows)), np.array(numbers, np.int64)
    weight = np.repeat(factor[number] * np.array(weights, np.int64) << 2, size)
    at, passage = corpus.passages_at(_joined(rows, np.uint16) + np.repeat(np.array(offsets, np.int64), size))
    count = _joined(counts, np.uint8)
    found = np.repeat(base[number], size) + weight * (count & MOST_OCCURRENCES) + (count >> _MARKS)
    return np.asarray(found[at] + (passage << _PASSAGE))


def _in_paths(
    corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same of paths."""
    some = list(corpus.view.path_terms.found(keys))
    numbers, entries, counts = zip(*some, strict=True) if some else ((),) * 3
    entry, size, number = _joined(entries, np.uint32), list(map(len, entries)), np.array(numbers, np.int64)
    passages = corpus.passages_of_entry[entry]
    weight = np.repeat(factor[number] * PATH_WEIGHT << 2, size) * _joined(counts, np.uint8)
    passage = ranges(corpus.first_passage[entry], passages)
    return np.asarray(np.repeat(np.repeat(base[number], size) + weight, passages) + (passage << _PASSAGE))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The parts as one, of that kind where there are none."""
    return np.concatenate([np.empty(0, kind), *parts])


def _file_score(corpus: Corpus, terms: Mapping[str, float], places: _Places) -> NDArray[np.float32]:
    """BM25F of each entry taken as one text."""
    score, entry = np.zeros(len(corpus.view), np.float32), corpus.entry[places.passage]
    first = _firsts((places.word << _WORD) + entry)
    word, entry = places.word[first], entry[first]
    bounds = np.searchsorted(word, np.arange(len(terms) + 1))
    worth = np.array(_worth(terms, len(corpus.view), np.diff(bounds)))[word]
    count = np.add.reduceat(places.count, first) / WHOLE
    each = worth * _saturated(count, corpus.file_lengths[entry] / _mean(corpus.file_lengths))
    for here in map(slice, bounds.tolist(), bounds[1:].tolist()):
        score[entry[here]] += each[here]
    return score


def _worth(terms: Mapping[str, float], total: int, holding: NDArray[np.int64]) -> list[float]:
    """What each term is worth, weight times idf. holding: how many of all have it."""
    return [weight * idf_of(total, n) for weight, n in zip(terms.values(), holding.tolist(), strict=True)]


def _firsts(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each number that is not negative comes for the first time."""
    return np.flatnonzero(np.diff(ascending, prepend=-1))


def _mean(length: NDArray[np.floating]) -> float:
    return max(float(length.mean()), 1.0) if len(length) else 1.0


def idf_of(total: int, holding: int) -> float:
    """How much a term tells that so many of all passages hold."""
    return float(np.log(1 + (total - holding + 0.5) / (holding + 0.5)))


def _saturated(count: NDArray[np.floating], length: NDArray[np.floating]) -> NDArray[np.floating]:
    """What counts are worth: ever less for each further one, and less in a long text. length: against the mean."""
    return (K1 + 1) * count / (count + K1 * (1 - B + B * length))
