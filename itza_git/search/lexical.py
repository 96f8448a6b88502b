"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.words import term_key

# An occurrence in a symbol or in the path counts as so many in the body.
SYMBOL_WEIGHT = 3.0
PATH_WEIGHT = 2.0
K1 = 1.2
B = 0.6


@dataclass(frozen=True, slots=True)
class Lexical:
    """score: BM25F of each passage; file_score: the same of each entry taken as one text.

    idf of each term, and its weighed occurrences, each (passages,). The shares are parts of the question's idf, 0..1:
    that a passage holds in any field, and in its path; file_share, (entries,), that a file holds.
    """

    score: NDArray[np.float32]
    file_score: NDArray[np.float32]
    idf: dict[str, float]
    occurrences: dict[str, NDArray[np.float32]]
    share: NDArray[np.float32]
    path_share: NDArray[np.float32]
    file_share: NDArray[np.float32]


def lexical(corpus: Corpus, terms: Mapping[str, float]) -> Lexical:
    """The lexical evidence of every passage for weighted terms."""
    passages, files = len(corpus), len(corpus.view)
    length = _lengths(corpus)
    norm, file_norm = _norm(length), _norm(np.bincount(corpus.entry, weights=length, minlength=files))
    score, file_score = np.zeros(passages, np.float32), np.zeros(files, np.float32)
    shares, file_share = np.zeros((2, passages), np.float32), np.zeros(files, np.float32)
    found: dict[str, NDArray[np.float32]] = {}
    idf: dict[str, float] = {}
    total = 0.0
    for term, weight in terms.items():
        body, symbol, path = _occurrences(corpus, term)
        found[term] = count = body + SYMBOL_WEIGHT * symbol + PATH_WEIGHT * path
        in_file = np.bincount(corpus.entry, weights=count, minlength=files)
        idf[term] = idf_of(passages, int(np.count_nonzero(count)))
        total += weight * idf[term]
        score += weight * idf[term] * _saturated(count, norm)
        file_score += weight * idf_of(files, int(np.count_nonzero(in_file))) * _saturated(in_file, file_norm)
        file_share += weight * idf[term] * (in_file > 0)
        for share, occurrences in zip(shares, (count, path), strict=True):
            share += weight * idf[term] * (occurrences > 0)
    any_field, path_field = shares / max(total, 1e-9)
    file_share /= max(total, 1e-9)
    return Lexical(score, file_score, idf, found, any_field, path_field, file_share)


def _norm(length: NDArray[Any]) -> NDArray[np.floating]:
    """What BM25 adds to a count, so that long texts need more occurrences."""
    mean = max(float(length.mean()), 1.0) if len(length) else 1.0
    return np.asarray(K1 * (1 - B + B * length / mean))


def idf_of(total: int, holding: int) -> float:
    """How much a term tells that so many of all passages hold."""
    return float(np.log(1 + (total - holding + 0.5) / (holding + 0.5)))


def _saturated(count: NDArray[Any], norm: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray((K1 + 1) * count / (count + norm))


def _lengths(corpus: Corpus) -> NDArray[np.float32]:
    per_row: NDArray[np.float32] = np.zeros(corpus.rows, np.float32)
    for offset, postings in corpus.field("body"):
        per_row[offset : offset + len(postings.length)] = postings.length
    return np.asarray(per_row[corpus.row])


def _occurrences(corpus: Corpus, term: str) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    key = term_key(term)
    fields = []
    for field in ("body", "symbol"):
        per_row = np.zeros(corpus.rows, np.float32)
        for offset, postings in corpus.field(field):
            row, count = postings.lookup(key)
            per_row[offset + row.astype(np.int64)] = count
        fields.append(per_row[corpus.row])
    per_entry = np.zeros(len(corpus.view), np.float32)
    row, count = corpus.view.path_terms.lookup(key)
    per_entry[row] = count
    return fields[0], fields[1], per_entry[corpus.entry]
