"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree. A word is looked up together with its other forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    passages, files = len(corpus), len(corpus.view)
    length, file_length = corpus.lengths, corpus.file_lengths
    mean, file_mean = _mean(length), _mean(file_length)
    score, share, begins, written = np.zeros((4, passages), np.float32)
    file_score = np.zeros(files, np.float32)
    total = 0.0
    known = forms or {}
    places = _Places(corpus, (form for term in terms for form in (term, *known.get(term, ()))))
    for term, weight in terms.items():
        at, count, marks = places.of(term, known.get(term, ()))
        in_file = np.bincount(corpus.entry[at], count, files).astype(float)
        held = np.flatnonzero(in_file > 0)
        worth = weight * idf_of(passages, len(at))
        total += worth
        score[at] += worth * _saturated(count, length[at] / mean)
        file_worth = weight * idf_of(files, len(held))
        file_score[held] += file_worth * _saturated(in_file[held], file_length[held] / file_mean)
        share[at] += worth
        begins[at[marks & BEGINNING > 0]] += worth
        written[at[marks & WRITTEN > 0]] += worth
    whole = np.float32(max(total, 1e-9))
    return Lexical(score, file_score, share / whole, begins / whole, written / whole)


class _Places:
    """Where words stand, looked up in every field of every pack at once."""

    def __init__(self, corpus: Corpus, words: Iterable[str]) -> None:
        self._corpus = corpus
        # Of each passage, for one word after the other; the last one is for the rows of other trees.
        self._found: NDArray[np.float32] = np.zeros(len(corpus) + 1, np.float32)
        self._marks: NDArray[np.uint8] = np.zeros(len(corpus) + 1, np.uint8)
        once = list(dict.fromkeys(words))
        keys = asked_keys(once)
        order = np.argsort(keys)  # in order, they are found faster
        keys, ordered = keys[order], [once[n] for n in order.tolist()]
        # Of each word: what an occurrence weighs, a pack's first row, and its rows that hold it, with counts and marks.
        self._in_text: dict[str, list[tuple[float, int, NDArray[Any], NDArray[np.uint8]]]] = {w: [] for w in ordered}
        for field, weight in (("body", 1.0), ("symbol", SYMBOL_WEIGHT)):
            for offset, postings in corpus.field(field):
                for number, row, count in postings.found(keys):
                    self._in_text[ordered[number]].append((weight, offset, row, count))
        self._in_path = {ordered[number]: (entry, count) for number, entry, count in corpus.view.path_terms.found(keys)}

    def of(self, word: str, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.uint8]]:
        """The passages that hold a word or one of its other forms, ascending, its weighed occurrences and its marks."""
        corpus, found, marks = self._corpus, self._found, self._marks
        wanted = [(word, 1.0), *((form, FORM_WEIGHT) for form in forms)]
        self._add_texts(wanted)
        again, first = corpus.repeated
        found[again], marks[again] = found[first], marks[first]
        for form, factor in wanted:
            if form in self._in_path:
                entry, count = self._in_path[form]
                passages = corpus.passages_of_entry[entry]
                weight = np.repeat(np.float32(factor * PATH_WEIGHT) * count, passages)
                found[ranges(corpus.first_passage[entry], passages)] += weight
        at = np.flatnonzero(found[:-1] > 0)
        counted, marked = found[at], marks[at]
        found[at], marks[at] = 0, 0
        return at, counted, marked

    def _add_texts(self, wanted: Sequence[tuple[str, float]]) -> None:
        """Count what stands in bodies and symbols; of a row that has several passages, for the first alone."""
        some = [(factor, *place) for form, factor in wanted for place in self._in_text[form]]
        if some:
            size = [len(row) for *_, row, _ in some]
            offset = np.repeat([offset for _, _, offset, _, _ in some], size)
            weight = np.repeat(np.array([factor * weight for factor, weight, *_ in some], np.float32), size)
            row = np.concatenate([row for *_, row, _ in some]) + offset
            count = np.concatenate([count for *_, count in some])
            passage = self._corpus.first_of_row[row]
            np.add.at(self._found, passage, weight * (count & MOST_OCCURRENCES))
            np.bitwise_or.at(self._marks, passage, count & (BEGINNING | WRITTEN))


def _mean(length: NDArray[np.floating]) -> float:
    return max(float(length.mean()), 1.0) if len(length) else 1.0


def idf_of(total: int, holding: int) -> float:
    """How much a term tells that so many of all passages hold."""
    return float(np.log(1 + (total - holding + 0.5) / (holding + 0.5)))


def _saturated(count: NDArray[np.floating], length: NDArray[np.floating]) -> NDArray[np.floating]:
    """What counts are worth: ever less for each further one, and less in a long text. length: against the mean."""
    return (K1 + 1) * count / (count + K1 * (1 - B + B * length))
