"""Dense evidence: how near each passage's vector is to the question's. Exact, by brute force over the mapped packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    times = Product(question)
    own = _cosines(corpus, times)
    file = _means(corpus, own)
    path = np.zeros(len(corpus.view), np.float32)
    if corpus.view.path_vector is not None and corpus.view.path_scale is not None:
        path = times(corpus.view.path_vector) * corpus.view.path_scale
    score = (FILE_WEIGHT * file + PATH_WEIGHT * path)[corpus.entry]
    score += own
    return Dense(score, own, path, file)


def cosines(corpus: Corpus, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each passage to a vector of length 1."""
    return _cosines(corpus, Product(vector))


def _cosines(corpus: Corpus, times: Product) -> NDArray[np.float32]:
    found = times(*(pack.array("vector") for pack in corpus.packs))
    found *= np.concatenate([np.empty(0, np.float32), *(pack.array("scale") for pack in corpus.packs)])
    return found[corpus.row]


class Product:
    """Int8 rows times one vector; for a row the same to the last bit whatever rows stand beside it."""

    def __init__(self, vector: NDArray[np.float32]) -> None:
        high, high_unit = _whole(vector)
        low, low_unit = _whole(vector - high * high_unit)
        self._parts = np.column_stack([high, low])
        self._units = high_unit, low_unit
        shape = max(_BLOCK // len(vector), 1), len(vector)
        self._near, self._floats = np.empty(shape, np.int8), np.empty(shape, np.float32)

    def __call__(self, *arrays: NDArray[np.int8]) -> NDArray[np.float32]:
        """The product of each row of all the arrays."""
        found, end = np.empty((sum(map(len, arrays)), 2), np.float32), 0
        for block in self._blocks(arrays):
            near, floats = self._near[: len(block)], self._floats[: len(block)]
            # Where memory is slow, or others read it too, a mere copy waits less for it than one that converts.
            np.copyto(near, block)
            np.copyto(floats, near)
            np.matmul(floats, self._parts, out=found[end : end + len(block)])
            end += len(block)
        product = found[:, 0] * self._units[0]
        product += found[:, 1] * self._units[1]
        return product

    def _blocks(self, arrays: Iterable[NDArray[np.int8]]) -> Iterator[NDArray[np.int8]]:
        for rows in arrays:
            for start in range(0, len(rows), len(self._near)):
                yield rows[start : start + len(self._near)]


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
