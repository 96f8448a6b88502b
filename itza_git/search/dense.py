"""Dense evidence: how near each passage's vector is to the question's. Exact, by brute force over the mapped packs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import simsimd
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus

# The vector of a passage is that of its chunk, of its path and of its file's middle, mixed here and not in the store:
# so a rename embeds nothing.
PATH_WEIGHT = 0.5
FILE_WEIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Dense:
    """score: the mix of all three, by which passages are ordered. own: cosine of each passage's own vector.

    path and file, (entries,): cosine of the path's vector (0 without path vectors), mean cosine of a file's passages.
    """

    score: NDArray[np.float32]
    own: NDArray[np.float32]
    path: NDArray[np.float32]
    file: NDArray[np.float32]


def dense(corpus: Corpus, question: NDArray[np.float32]) -> Dense:
    """The similarity of every passage to a question's vector of length 1."""
    times = Product(question)
    own = _cosines(corpus, times)
    file = _means(corpus, own)
    path = np.zeros(len(corpus.view), np.float32)
    if corpus.view.path_vector is not None and corpus.view.path_scale is not None:
        path = times(corpus.view.path_vector) * corpus.view.path_scale
    score = (FILE_WEIGHT * file + PATH_WEIGHT * path)[corpus.entry]
    score += own
    return Dense(score, own, path, file)


def spread(score: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores with the best at 1 and the middle one at 0, never below -1: what is far off is just far off."""
    top, middle = float(score.max()), float(np.median(score))
    return np.asarray(np.maximum((score - middle) / max(top - middle, 1e-6), -1.0))


def cosines(corpus: Corpus, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each passage to a vector of length 1."""
    return _cosines(corpus, Product(vector))


def _cosines(corpus: Corpus, times: Product) -> NDArray[np.float32]:
    return (times(*(pack.array("vector") for pack in corpus.packs)) * corpus.scales)[corpus.row]


class Product:
    """Int8 rows times one vector, rounded to int8 as they are.

    Products of whole numbers are exact, so that a row has the same one to the last bit whatever rows stand beside it,
    in whatever pack, on whatever machine.
    """

    def __init__(self, vector: NDArray[np.float32]) -> None:
        self._unit = np.float32(np.abs(vector).max(initial=0) / 127 or 1.0)
        self._numbers = np.rint(vector / self._unit).astype(np.int8)[None]

    def __call__(self, *blocks: NDArray[np.int8]) -> NDArray[np.float32]:
        """The products of the rows of all blocks."""
        # Not into an array of ours (`out`): simsimd 6.5 then drops a reference to None that it never took.
        parts = [simsimd.cdist(rows, self._numbers, metric="dot", out_dtype="float32") for rows in blocks if len(rows)]
        found = np.concatenate([np.empty((0, 1), np.float32), *map(np.asarray, parts)])
        return np.asarray(found[:, 0] * self._unit)


def _means(corpus: Corpus, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the values of each entry's passages; 0 for an entry without any."""
    count, mean = corpus.passages_of_entry, np.zeros(len(corpus.view), np.float32)
    some = np.flatnonzero(count)
    mean[some] = np.add.reduceat(values, corpus.first_passage[some], dtype=float) / count[some]
    return mean
