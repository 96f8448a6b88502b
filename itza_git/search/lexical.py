"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree. A word is looked up together with its other forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.store.postings import Postings
from itza_git.words import term_key

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

    share: the part of the question's idf that a passage holds in any field, 0..1.
    """

    score: NDArray[np.float32]
    file_score: NDArray[np.float32]
    share: NDArray[np.float32]


def lexical(corpus: Corpus, terms: Mapping[str, float], forms: Mapping[str, Sequence[str]] | None = None) -> Lexical:
    """The lexical evidence of every passage for weighted terms. forms: other forms of some of them."""
    passages, files = len(corpus), len(corpus.view)
    length = corpus.lengths
    norm, file_norm = _norm(length), _norm(np.bincount(corpus.entry, weights=length, minlength=files))
    score, share = np.zeros((2, passages), np.float32)
    file_score = np.zeros(files, np.float32)
    total = 0.0
    known = forms or {}
    places = _Places(corpus, (form for term in terms for form in (term, *known.get(term, ()))))
    for term, weight in terms.items():
        count = places.count(term, known.get(term, ()))
        at = np.flatnonzero(count)
        in_file = np.bincount(corpus.entry[at], weights=count[at], minlength=files)
        held = np.flatnonzero(in_file)
        worth = weight * idf_of(passages, len(at))
        total += worth
        score[at] += worth * _saturated(count[at], norm[at])
        file_score[held] += weight * idf_of(files, len(held)) * _saturated(in_file[held], file_norm[held])
        share[at] += worth
    return Lexical(score, file_score, share / np.float32(max(total, 1e-9)))


class _Places:
    """Where words stand, looked up in every field of every pack at once."""

    def __init__(self, corpus: Corpus, words: Iterable[str]) -> None:
        self._corpus = corpus
        known = list(dict.fromkeys(words))
        keys = np.array([term_key(word) for word in known], np.uint64)
        # Of each word: what an occurrence weighs, the passages of a pack's rows, and where its postings are.
        self._in_text: dict[str, list[tuple[float, NDArray[np.int64], Postings, int]]] = {word: [] for word in known}
        for field, weight in (("body", 1.0), ("symbol", SYMBOL_WEIGHT)):
            for offset, postings in corpus.field(field):
                place = postings.places(keys)
                for number in np.flatnonzero(place >= 0).tolist():
                    at = (weight, corpus.first_of_row[offset:], postings, int(place[number]))
                    self._in_text[known[number]].append(at)
        self._in_path = dict(zip(known, corpus.view.path_terms.places(keys).tolist(), strict=True))

    def count(self, word: str, forms: Sequence[str]) -> NDArray[np.float32]:
        """The weighed occurrences of a word and its other forms in each passage."""
        corpus = self._corpus
        wanted = [(word, 1.0), *((form, FORM_WEIGHT) for form in forms)]
        found = np.zeros(len(corpus) + 1, np.float32)  # the last one is for the rows of other trees
        for form, factor in wanted:
            for weight, passage, postings, place in self._in_text[form]:
                row, count = postings.at(place)
                found[passage[row]] += np.float32(factor * weight) * count
        found = found[:-1]
        again, first = corpus.repeated
        found[again] = found[first]
        paths = [(factor, place) for form, factor in wanted if (place := self._in_path[form]) >= 0]
        if paths:
            per_entry: NDArray[np.float32] = np.zeros(len(corpus.view), np.float32)
            for factor, place in paths:
                entry, count = corpus.view.path_terms.at(place)
                per_entry[entry] += np.float32(factor * PATH_WEIGHT) * count
            found += np.repeat(per_entry, corpus.passages_of_entry)
        return found


def _norm(length: NDArray[Any]) -> NDArray[np.float32]:
    """What BM25 adds to a count, so that long texts need more occurrences."""
    mean = max(float(length.mean()), 1.0) if len(length) else 1.0
    return np.asarray(K1 * (1 - B + B * length / mean), np.float32)


def idf_of(total: int, holding: int) -> float:
    """How much a term tells that so many of all passages hold."""
    return float(np.log(1 + (total - holding + 0.5) / (holding + 0.5)))


def _saturated(count: NDArray[Any], norm: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray((K1 + 1) * count / (count + norm))
