"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree. A word is looked up together with its other forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
# An occurrence is one number, sorted faster than several: which word, in which passage, what it counts, its marks.
# So far are these moved up, the marks down.
_WORD, _PASSAGE, _COUNT, _MARKS = 44, 12, 2, 6
_MOST_PASSAGES, _MOST_COUNTED = (1 << _WORD - _PASSAGE) - 1, (1 << _PASSAGE - _COUNT) - 1
K1 = 1.2
B = 0.6


@dataclass(frozen=True, slots=True)
class Lexical:
    """score: BM25F of each passage, 0 for one without any word; file_score: the same of each entry taken as one text.

    worth: idf of each word; occurrences: where they stand, ascending.
    """

    score: NDArray[np.float32]
    file_score: NDArray[np.float32]
    worth: list[float]
    occurrences: NDArray[np.int64]

    def parts(self, marks: Sequence[int], passages: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """For each mark of `postings` the part of the question's idf, 0..1, that each of some passages has with it."""
        index = np.full(len(self.score), -1, np.int32)
        index[passages] = np.arange(len(passages))
        at = index[self.occurrences >> _PASSAGE & _MOST_PASSAGES]
        here = np.flatnonzero(at >= 0)
        return [self._part(mark, at[here], self.occurrences[here], len(passages)) for mark in marks]

    def _part(self, mark: int, at: NDArray[np.int32], occurrences: NDArray[np.int64], size: int) -> NDArray[np.float32]:
        marked = np.flatnonzero(occurrences & mark >> _MARKS)
        marked = marked[_are_first(occurrences[marked] >> _PASSAGE)]
        found = np.zeros(size, np.float32)
        np.add.at(found, at[marked], np.array(self.worth, np.float32)[occurrences[marked] >> _WORD])
        return found / np.float32(max(reduce(add, self.worth, 0.0), 1e-9))


def lexical(corpus: Corpus, terms: Mapping[str, float], forms: Mapping[str, Sequence[str]] | None = None) -> Lexical:
    """The lexical evidence of every passage for weighted terms. forms: other forms of some of them."""
    occurrences = _occurrences(corpus, _wanted(terms, forms or {}))
    places = _places(occurrences, len(terms))
    worth = _worth(terms, len(corpus), places.bounds)
    return Lexical(_score(corpus, worth, places), _file_score(corpus, terms, places), worth, occurrences)


def bm25f(
    corpus: Corpus, terms: Mapping[str, float], forms: Mapping[str, Sequence[str]] | None = None
) -> NDArray[np.float32]:
    """The score of `lexical` alone, for less time."""
    places = _places(_occurrences(corpus, _wanted(terms, forms or {})), len(terms))
    return _score(corpus, _worth(terms, len(corpus), places.bounds), places)


def _wanted(terms: Iterable[str], forms: Mapping[str, Sequence[str]]) -> list[list[tuple[str, int]]]:
    """Of each term its forms, and what an occurrence of each counts."""
    return [[(term, WHOLE), *((form, OTHER) for form in forms.get(term, ()))] for term in terms]


def _score(corpus: Corpus, worth: Sequence[float], places: _Places) -> NDArray[np.float32]:
    """BM25F of each passage."""
    score, at = np.zeros(len(corpus), np.float32), places.passage
    # Word by word, as the places are: so the sums do not depend on where a word stands.
    idf = np.repeat(np.array(worth, np.float32), np.diff(places.bounds))
    count = places.count.astype(np.float32) / WHOLE
    np.add.at(score, at, idf * _saturated(count, corpus.lengths[at] / _mean(corpus.lengths)))
    return score


@dataclass(frozen=True, slots=True)
class _Places:
    """Where words stand: word by word the passages that hold it or another form of it, ascending.

    bounds: where each word begins, and the end; count: weighed occurrences, in parts of WHOLE.
    """

    bounds: NDArray[np.int64]
    passage: NDArray[np.int64]
    count: NDArray[np.int64]


def _places(occurrences: NDArray[np.int64], words: int) -> _Places:
    new = _are_first(occurrences >> _PASSAGE)
    first, again = np.flatnonzero(new), np.flatnonzero(~new)
    place = occurrences[first]
    count = place >> _COUNT & _MOST_COUNTED
    # So many others of the first ones are before each that comes again.
    np.add.at(count, again - np.arange(1, len(again) + 1), occurrences[again] >> _COUNT & _MOST_COUNTED)
    bounds = place.searchsorted(np.arange(words + 1) << _WORD)
    return _Places(bounds, place >> _PASSAGE & _MOST_PASSAGES, count)


def _occurrences(corpus: Corpus, wanted: Sequence[Sequence[tuple[str, int]]]) -> NDArray[np.int64]:
    """wanted: of each word its forms, and what an occurrence of each counts. All are looked up at once."""
    asked = [(n << _WORD, form, factor) for n, forms in enumerate(wanted) for form, factor in forms]
    keys = asked_keys(form for _, form, _ in asked)
    order = np.argsort(keys)  # in order, they are found faster
    keys, base = keys[order], np.array([base for base, *_ in asked], np.int64)[order]
    factor = np.array([factor for *_, factor in asked], np.int64)[order]
    found = np.concatenate([_in_texts(corpus, keys, base, factor), _in_paths(corpus, keys, base, factor)])
    found.sort()
    return found[found.searchsorted(0) :]  # without those in rows of other trees


def _in_texts(
    corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The occurrences in bodies and symbols; below 0 those in rows of other trees."""
    some = [
        (number, weight, offset, row, count)
        for field, weight in (("body", 1), ("symbol", SYMBOL_WEIGHT))
        for offset, postings in corpus.field(field)
        for number, row, count in postings.found(keys)
    ]
    numbers, weights, offsets, rows, counts = zip(*some, strict=True) if some else ((),) * 5
    size, number = list(map(len, rows)), np.array(numbers, np.int64)
    weight = np.repeat(factor[number] * np.array(weights, np.int64) << _COUNT, size)
    count = _joined(counts, np.uint8)
    found = np.repeat(base[number], size) + weight * (count & MOST_OCCURRENCES) + (count >> _MARKS)
    rows_here = _joined(rows, np.uint16) + np.repeat(np.array(offsets, np.int64), size)
    first, several, further = corpus.passages_at(rows_here)
    return np.concatenate([found + (first << _PASSAGE), found[several] + (further << _PASSAGE)])


def _in_paths(
    corpus: Corpus, keys: NDArray[np.uint64], base: NDArray[np.int64], factor: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same of paths."""
    some = list(corpus.view.path_terms.found(keys))
    numbers, entries, counts = zip(*some, strict=True) if some else ((),) * 3
    entry, size, number = _joined(entries, np.uint32), list(map(len, entries)), np.array(numbers, np.int64)
    passages = corpus.passages_of_entry[entry]
    weight = np.repeat(factor[number] * PATH_WEIGHT << _COUNT, size) * _joined(counts, np.uint8)
    passage = ranges(corpus.first_passage[entry], passages)
    return np.asarray(np.repeat(np.repeat(base[number], size) + weight, passages) + (passage << _PASSAGE))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The parts as one, of that kind where there are none."""
    return np.concatenate([np.empty(0, kind), *parts])


def _file_score(corpus: Corpus, terms: Mapping[str, float], places: _Places) -> NDArray[np.float32]:
    """BM25F of each entry taken as one text."""
    score, entry = np.zeros(len(corpus.view), np.float32), corpus.entry[places.passage]
    new = _are_first(entry)
    new[places.bounds[places.bounds < len(new)]] = True
    first = np.flatnonzero(new)
    bounds, entry = first.searchsorted(places.bounds), entry[first]
    worth = np.repeat(_worth(terms, len(corpus.view), bounds), np.diff(bounds))
    count = np.add.reduceat(places.count, first) / WHOLE
    each = worth * _saturated(count, corpus.file_lengths[entry] / _mean(corpus.file_lengths))
    for here in map(slice, bounds.tolist(), bounds[1:].tolist()):
        score[entry[here]] += each[here]
    return score


def _worth(terms: Mapping[str, float], total: int, bounds: NDArray[np.int64]) -> list[float]:
    """What each term is worth, weight times idf. bounds: where those of all that hold each begin, and the end."""
    return [weight * idf_of(total, n) for weight, n in zip(terms.values(), np.diff(bounds).tolist(), strict=True)]


def _are_first(ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which numbers are not the one before."""
    new = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return new


def greatest(score: NDArray[np.floating]) -> float:
    """The greatest of scores, above 0, to divide by."""
    return max(float(score.max(initial=0)), 1e-6)


def _mean(length: NDArray[np.floating]) -> float:
    return max(float(length.mean()), 1.0) if len(length) else 1.0


def idf_of(total: int, holding: int) -> float:
    """How much a term tells that so many of all passages hold."""
    return float(np.log(1 + (total - holding + 0.5) / (holding + 0.5)))


def _saturated(count: NDArray[np.floating], length: NDArray[np.floating]) -> NDArray[np.floating]:
    """What counts are worth: ever less for each further one, and less in a long text. length: against the mean."""
    return (K1 + 1) * count / (count + K1 * (1 - B + B * length))
