"""Lexical evidence: BM25 over the fields body, symbol and path (Robertson and Zaragoza's BM25F: fields are weighed
before saturation), with the statistics of the asked tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """score: BM25F of each passage. For each term that the tree holds: idf, and its weighed occurrences, each
    (passages,); path_share and symbol_share: the part of the question's idf that path and symbol hold, 0..1."""

    score: NDArray[np.float32]
    idf: dict[str, float]
    occurrences: dict[str, NDArray[np.float32]]
    path_share: NDArray[np.float32]
    symbol_share: NDArray[np.float32]


def lexical(corpus: Corpus, terms: Mapping[str, float]) -> Lexical:
    """The lexical evidence of every passage for weighted terms."""
    passages = len(corpus)
    length = _lengths(corpus)
    norm = K1 * (1 - B + B * length / max(float(length.mean()), 1.0)) if passages else length
    score = np.zeros(passages, np.float32)
    shares = np.zeros((2, passages), np.float32)
    found: dict[str, NDArray[np.float32]] = {}
    idf: dict[str, float] = {}
    total = 0.0
    for term, weight in terms.items():
        body, symbol, path = _occurrences(corpus, term)
        count = body + SYMBOL_WEIGHT * symbol + PATH_WEIGHT * path
        df = int(np.count_nonzero(count))
        idf[term] = float(np.log(1 + (passages - df + 0.5) / (df + 0.5)))
        total += weight * idf[term]
        found[term] = count
        if df:
            score += weight * idf[term] * (K1 + 1) * count / (count + norm)
            shares[0] += weight * idf[term] * (path > 0)
            shares[1] += weight * idf[term] * (symbol > 0)
    shares /= max(total, 1e-9)
    return Lexical(score, idf, found, shares[0], shares[1])


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
