"""Dense evidence: how near each passage's vector is to the question's. Exact, by brute force over the mapped packs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus

# The vector of a passage is that of its chunk, of its path and of its file's middle, mixed here and not in the store:
# so a rename embeds nothing.
PATH_WEIGHT = 0.5
FILE_WEIGHT = 0.4

# int8 rows are multiplied as float32, a block at a time: a block of this many rows stays in the cache.
_BLOCK = 4096


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
    own = cosines(corpus, question)[corpus.row]
    file = _means(corpus, own)
    path = np.zeros(len(corpus.view), np.float32)
    if corpus.view.path_vector is not None and corpus.view.path_scale is not None:
        path = _dot(corpus.view.path_vector, question) * corpus.view.path_scale
    score = own + (FILE_WEIGHT * file + PATH_WEIGHT * path)[corpus.entry]
    return Dense(score.astype(np.float32), own, path, file)


def cosines(corpus: Corpus, question: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row of the packs."""
    parts = [_dot(pack.array("vector"), question) * pack.array("scale") for pack in corpus.packs]
    return np.concatenate([np.empty(0, np.float32), *parts])


def _dot(vectors: NDArray[np.int8], question: NDArray[np.float32]) -> NDArray[np.float32]:
    result = np.empty(len(vectors), np.float32)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK].astype(np.float32)
        # Not `@`: threads of linear algebra that wait for one another cost far more on a busy machine than they give.
        np.einsum("ij,j->i", block, question, out=result[start : start + _BLOCK])
    return result


def _means(corpus: Corpus, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the values of each entry's passages; 0 for an entry without any."""
    count = corpus.passages_of_entry
    total = np.bincount(corpus.entry, weights=values, minlength=len(corpus.view))
    return (total / np.maximum(count, 1)).astype(np.float32)
