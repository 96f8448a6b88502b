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

# int8 rows are multiplied as float32, so many numbers at a time: they stay in the cache, and are too few for linear
# algebra to start threads, which on a busy machine wait for one another.
_BLOCK = 1 << 17
# Whole numbers up to 2 ** 24 are exact in float32. So is, in whatever order it is added up, the product of an int8 row
# with whole numbers whose absolute values add up to this: a row has the same cosine to the last bit in whatever
# block of whatever pack it lies.
_EXACT = 1 << 17


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
        path = products(corpus.view.path_vector, question) * corpus.view.path_scale
    score = own + (FILE_WEIGHT * file + PATH_WEIGHT * path)[corpus.entry]
    return Dense(score.astype(np.float32), own, path, file)


def cosines(corpus: Corpus, question: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row of the packs."""
    parts = [products(pack.array("vector"), question) * pack.array("scale") for pack in corpus.packs]
    return np.concatenate([np.empty(0, np.float32), *parts])


def products(vectors: NDArray[np.int8], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row times a vector; for a row the same to the last bit whatever rows stand beside it."""
    high, high_unit = _whole(question)
    low, low_unit = _whole(question - high * high_unit)
    parts = np.column_stack([high, low])
    result = np.empty(len(vectors), np.float32)
    step = max(_BLOCK // len(question), 1)
    floats = np.empty((step, len(question)), np.float32)
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        some = floats[: len(block)]
        np.copyto(some, block)
        of_high, of_low = (some @ parts).T
        result[start : start + step] = of_high * high_unit + of_low * low_unit
    return result


def _whole(values: NDArray[np.float32]) -> tuple[NDArray[np.float32], np.float32]:
    """Values as whole numbers, as great as may be for exact products, and what 1 stands for."""
    # What rounding adds to their sum is less than their number.
    unit = np.abs(values).sum() / np.float32(_EXACT - len(values)) or np.float32(1)
    return np.rint(values / unit), unit


def _means(corpus: Corpus, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the values of each entry's passages; 0 for an entry without any."""
    count = corpus.passages_of_entry
    total = np.bincount(corpus.entry, weights=values, minlength=len(corpus.view))
    return (total / np.maximum(count, 1)).astype(np.float32)
