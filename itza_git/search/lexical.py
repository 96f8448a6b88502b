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
from itza_git.store.postings import BEGINNING, MOST_OCCURRENCES, WRITTEN
from itza_git.words import asked_keys

# An occurrence in a symbol or in the path counts as so many in the body.
SYMBOL_WEIGHT = 3.0
PATH_WEIGHT = 2.0
# An occurrence of another form of a word counts as so many of the word itself.
FORM_WEIGHT = 0.25
_MARKS = np.uint8(BEGINNING | WRITTEN)
K1 = 1.2
B = 0.6


@dataclass(frozen=True, slots=True)
class Lexical:
    """score: BM25F of each passage; file_score: the same of each entry taken as one text.

    share: the part of the question's idf that a passage holds in any field, 0..1; begins, written: that it holds in its
    first lines, in what is written for people.
    """

    score: NDArray[np.float32]
    file_score: NDArray[np.float32]
    share: NDArray[np.float32]
    begins: NDArray[np.float32]
    written: NDArray[np.float32]


def lexical(corpus: Corpus, terms: Mapping[str, float], forms: Mapping[str, Sequence[str]] | None = None) -> Lexical:
    """The lexical evidence of every passage for weighted terms. forms: other forms of some of them."""
    known = forms or {}
    places = _places(corpus, [[(term, 1.0), *((form, FORM_WEIGHT) for form in known.get(term, ()))] for term in terms])
    worth, at = _worth(terms, len(corpus), places.word), places.passage
    found = np.zeros((4, len(corpus)), np.float32)
    score, share, begins, written = found
    # Word by word, as the places are: so the sums do not depend on where a word stands.
    each = np.array(worth, np.float32)[places.word]
    np.add.at(score, at, each * _saturated(places.count, corpus.lengths[at] / _mean(corpus.lengths)))
    np.add.at(share, at, each)
    for marked, mark in ((begins, BEGINNING), (written, WRITTEN)):
        there = np.flatnonzero(places.marks & mark)
        np.add.at(marked, at[there], each[there])
    found[1:] /= np.float32(max(reduce(add, worth, 0.0), 1e-9))
    return Lexical(score, _file_score(corpus, terms, places), share, begins, written)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where words stand: word by word the passages that hold it or another form of it, ascending.

    word: its number; count: weighed occurrences; marks: those of `postings`.
    """

    word: NDArray[np.int64]
    passage: NDArray[np.int64]
    count: NDArray[np.float32]
    marks: NDArray[np.uint8]


def _places(corpus: Corpus, wanted: Sequence[Sequence[tuple[str, float]]]) -> _Places:
    """wanted: of each word its forms, and what an occurrence of each counts. All are looked up at once."""
    asked = [(n * len(corpus), form, factor) for n, forms in enumerate(wanted) for form, factor in forms]
    keys = asked_keys(form for _, form, _ in asked)
    order = np.argsort(keys)  # in order, they are found faster
    keys, base = keys[order], np.array([base for base, *_ in asked], np.int64)[order]
    factor = np.array([factor for *_, factor in asked], np.float32)[order]
    found = [_in_texts(corpus, keys, base, factor), _in_paths(corpus, keys, base, factor)]
    place, count, marks = (np.concatenate([part[at] for part in found]) for at in range(3))
    order = np.argsort(place)
    place = place[order]
    first = _firsts(place)
    word, passage = np.divmod(place[first], max(len(corpus), 1))
    # All counts are multiples of a quarter, and small: their sums are exact, in whatever order.
    return _Places(word, passage, np.add.reduceat(count[order], first), np.bitwise_or.reduceat(marks[order], first))


_Found = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.uint8]]


def _in_texts(corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.float32]) -> _Found:
    """The place of every occurrence in a body or symbol (passage and base of the key), what it counts, its marks."""
    some = [
        (number, weight, offset, row, count)
        for field, weight in (("body", 1.0), ("symbol", SYMBOL_WEIGHT))
        for offset, postings in corpus.field(field)
        for number, row, count in postings.found(keys)
    ]
    numbers, weights, offsets, rows, counts = zip(*some, strict=True) if some else ((),) * 5
    size, number = list(map(len, rows)), np.array(numbers, np.int64)
    weight = np.repeat(factor[number] * np.array(weights, np.float32), size)
    at, passage = corpus.passages_at(_joined(rows, np.uint16) + np.repeat(np.array(offsets, np.int64), size))
    count = _joined(counts, np.uint8)[at]
    return np.repeat(base[number], size)[at] + passage, weight[at] * (count & MOST_OCCURRENCES), count & _MARKS


def _in_paths(corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.float32]) -> _Found:
    """The same of paths."""
    some = list(corpus.view.path_terms.found(keys))
    numbers, entries, counts = zip(*some, strict=True) if some else ((),) * 3
    entry, size, number = _joined(entries, np.uint32), list(map(len, entries)), np.array(numbers, np.int64)
    passages = corpus.passages_of_entry[entry]
    passage = ranges(corpus.first_passage[entry], passages)
    weight = np.repeat(factor[number] * np.float32(PATH_WEIGHT), size) * _joined(counts, np.uint8)
    place = np.repeat(np.repeat(base[number], size), passages) + passage
    return place, np.repeat(weight, passages), np.zeros(len(passage), np.uint8)


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The parts as one, of that kind where there are none."""
    return np.concatenate([np.empty(0, kind), *parts])


def _file_score(corpus: Corpus, terms: Mapping[str, float], places: _Places) -> NDArray[np.float32]:
    """BM25F of each entry taken as one text."""
    score, files = np.zeros(len(corpus.view), np.float32), len(corpus.view)
    place = places.word * files + corpus.entry[places.passage]
    first = _firsts(place)
    word, entry = np.divmod(place[first], max(files, 1))
    count = np.add.reduceat(places.count, first, dtype=float)
    worth = np.array(_worth(terms, files, word))[word]
    each = worth * _saturated(count, corpus.file_lengths[entry] / _mean(corpus.file_lengths))
    bounds = np.searchsorted(word, np.arange(len(terms) + 1)).tolist()
    for here in map(slice, bounds, bounds[1:]):
        score[entry[here]] += each[here]
    return score


def _worth(terms: Mapping[str, float], total: int, word: NDArray[np.int64]) -> list[float]:
    """What each term is worth, weight times idf. word: of each place where one of them stands its number."""
    holding = np.bincount(word, minlength=len(terms)).tolist()
    return [weight * idf_of(total, n) for weight, n in zip(terms.values(), holding, strict=True)]


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
