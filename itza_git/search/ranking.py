"""From two kinds of evidence to one order.

A fusion of the lexical and the dense order makes a pool; each passage of the pool is then scored by a weighted sum of
its features. The weights are a page of numbers in `weights.json`, learned by `training/ranker.py` (cross-validated by
repository), so that they can be read and argued with: of each feature one for key words and names, one for questions in
words. Key words stand in the code as they are typed; a question describes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.search.defining import defining
from itza_git.search.dense import Dense
from itza_git.search.features import COLUMNS, features
from itza_git.search.lexical import Lexical
from itza_git.search.question import Question
from itza_git.search.told import Told

# Passages that are looked at closely; of 612 questions of the benchmark 609 have a right one among them.
POOL = 300
FUSION_CONSTANT = 60.0
# What a second passage of a file loses for key words and for questions, in the unit of the weights, and each further
# one twice that, so that one file does not fill the page. A question wants the right lines of the right file.
REPEATED = (4.0, 1.25)


class Evidence(Enum):
    """What an order rests on. All but ALL are there to measure what each part is worth."""

    LEXICAL = "lexical"
    DENSE = "dense"
    FUSED = "fused"  # both orders by reciprocal rank, and no features
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage's number in the corpus, its score in 0..1 (1 for the best), and what moved it, feature by feature."""

    passage: int
    score: float
    parts: dict[str, float]


def rank(
    corpus: Corpus,
    question: Question,
    lexical: Lexical,
    dense: Dense,
    allowed: NDArray[np.bool_],
    limit: int,
    told: Told | None = None,
    evidence: Evidence = Evidence.ALL,
) -> list[Ranked]:
    """The best passages. allowed: entries that may be found; told: what commits tell of a question in words."""
    if evidence is not Evidence.ALL:
        lists = {Evidence.LEXICAL: [lexical.score], Evidence.DENSE: [dense.score]}
        best = fused(corpus, lists.get(evidence, [lexical.score, dense.score]), allowed)[:limit]
        return [Ranked(passage, 1 / (1 + at), {}) for at, passage in enumerate(best.tolist())]
    pool = candidates(corpus, question, lexical, dense, allowed)
    if not len(pool):
        return []
    parts = features(corpus, question, lexical, dense, pool, told) * weights()[:, int(question.is_sentence)]
    order = saturated(corpus.entry[pool], parts.sum(axis=1), REPEATED[question.is_sentence], limit)
    top = order[0][1]
    return [
        Ranked(int(pool[at]), float(np.exp(score - top)), moved)
        for (at, score), moved in zip(order, _explained(parts, order), strict=True)
    ]


def candidates(
    corpus: Corpus, question: Question, lexical: Lexical, dense: Dense, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The pool: what both orders have first, and what defines what the question names."""
    pool = fused(corpus, [lexical.score, dense.score], allowed)
    more = defining(corpus, question, lexical.score)
    more = more[allowed[corpus.entry[more]]]
    return np.concatenate([pool, more[~np.isin(more, pool)]]) if len(more) else pool


def fused(corpus: Corpus, scores: Sequence[NDArray[np.float32]], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The best of several scores, by reciprocal rank fusion of their orders (Cormack, Clarke and Büttcher 2009)."""
    best = [_best(score if allowed.all() else np.where(allowed[corpus.entry], score, 0), POOL) for score in scores]
    rank = np.concatenate([np.arange(1, len(one) + 1) for one in best])
    passages, at = np.unique(np.concatenate(best), return_inverse=True)
    return passages[_best(np.bincount(at, 1 / (FUSION_CONSTANT + rank)), POOL)]


def _best(score: NDArray[Any], most: int) -> NDArray[np.int64]:
    """The indexes of the greatest positive scores, in order; of equals the first comes first."""
    # Of as many slices the best have the least that is enough: so nearly all are passed by at the first look.
    slices = 4 * most
    tops = score[: len(score) // slices * slices].reshape(-1, slices).max(axis=0, initial=0)
    least = np.partition(tops, -most)[-most]
    some = np.flatnonzero(score >= least if least > 0 else score > 0)
    value = score[some]
    if len(some) > most:
        enough = value >= np.partition(value, -most)[-most]
        some, value = some[enough], value[enough]
    return some[np.argsort(-value, kind="stable")][:most]


@cache
def weights() -> NDArray[np.float32]:
    """The weights of each of COLUMNS, (columns, 2): for key words, for questions."""
    known = json.loads(Path(__file__).with_name("weights.json").read_text("utf-8"))
    return np.array([known[name] for name in COLUMNS], np.float32)


def _explained(parts: NDArray[np.float32], order: Sequence[tuple[int, float]]) -> list[dict[str, float]]:
    """Of each passage in order what moved it, rounded, by the names of the columns; and what it lost as one of many."""
    chosen = parts[[at for at, _ in order]].astype(float)
    lost = np.array([score for _, score in order]) - chosen.sum(axis=1, dtype=np.float32)
    rows = np.round(np.column_stack([chosen, lost]), 2).tolist()
    return [{name: part for name, part in zip((*COLUMNS, "repeated"), row, strict=True) if part} for row in rows]


def saturated(
    entry: NDArray[np.int64], score: NDArray[np.float32], repeated: float, limit: int
) -> list[tuple[int, float]]:
    """(index, adjusted score), best first: the second passage of a file loses repeated, each further one twice that."""
    order = np.lexsort((-score, entry))
    file = entry[order]
    better = np.arange(len(file)) - file.searchsorted(file)
    adjusted = score.astype(float)
    adjusted[order] -= repeated * np.minimum(better, 2)
    best = np.argsort(-adjusted, kind="stable")[:limit]
    return list(zip(best.tolist(), adjusted[best].tolist(), strict=True))
