"""The embedder that needs nothing: a static word model whose weights are in the package, computed by numpy alone.

A text's vector is the sum over its words of log2(1 + times) x the word's weight x the word's vector, brought to length
1. Questions have word weights of their own. A word that the model lacks falls apart into pieces that it has.
`training/` makes the weights.

The weights file is one 64-byte header (`HEADER`) and four arrays, little-endian, one after the other:

    vectors         int8     (rows, dimension)
    text scale      float32  (rows,)   what a row is multiplied by in a text: int8 step x weight of the word
    question scale  float32  (rows,)   the same in a question
    words           UTF-8, by row, separated by newlines

The digest is BLAKE2b-256 over the header with a digest of zeros, and the arrays.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding.protocol import Identity
from itza_git.errors import ModelError
from itza_git.words import VERSION, Bags, Vocabulary, words

MODEL = "itza-static-3"
WEIGHTS = Path(__file__).with_name("weights") / f"{MODEL}.bin"

# magic, version of words.py that the weights were trained with, rows, dimension, digest
HEADER = struct.Struct("<8sIII32s12x")
MAGIC = b"ITZASTAT"

# A shorter piece of a word says nothing about it; names in abbreviations that matter are words of the model.
SHORTEST_PIECE = 3
LONGEST_PIECE = 24

# The weights of a text's words are multiples of 1 / _UNIT: sums of such are exact in float64, in whatever order they
# are added up. So a text has the same vector to the last bit on every machine.
_UNIT = 2.0**32


@dataclass(frozen=True, slots=True)
class Header:
    """The head of a weights file; see `HEADER`."""

    words_version: int
    rows: int
    dimension: int
    digest: bytes

    @classmethod
    def read(cls, path: Path) -> Header:
        """The header of the file at path; raises `ModelError` when it is not a weights file for this program."""
        try:
            with path.open("rb") as file:
                magic, *fields = HEADER.unpack(file.read(HEADER.size))
        except (OSError, struct.error) as e:
            raise _unreadable(path) from e
        header = cls(*fields)
        if magic != MAGIC or header.words_version != VERSION:
            raise _unreadable(path)
        return header


def _unreadable(path: Path) -> ModelError:
    return ModelError(f"the embedded model's weights cannot be read: {path}", "pip install --force-reinstall itza-git")


@dataclass(frozen=True, slots=True)
class Table:
    """The word model in memory; the arrays are views of the mapped file."""

    row: Mapping[str, int]
    vectors: NDArray[np.int8]
    text_scale: NDArray[np.float32]
    question_scale: NDArray[np.float32]

    @classmethod
    def load(cls, path: Path) -> Table:
        """The model of a weights file; raises `ModelError`."""
        header = Header.read(path)
        body = np.asarray(np.memmap(path, np.uint8, "r", HEADER.size))
        ends = np.cumsum([header.rows * header.dimension, header.rows * 4, header.rows * 4])
        vectors, text_scale, question_scale, names = np.split(body, ends)
        listed = names.tobytes().decode().split("\n")
        if len(listed) != header.rows:
            raise _unreadable(path)
        return cls(
            dict(zip(listed, range(header.rows), strict=True)),
            vectors.view(np.int8).reshape(header.rows, header.dimension),
            text_scale.view(np.float32),
            question_scale.view(np.float32),
        )


def pieces(word: str, row: Mapping[str, int]) -> list[int]:
    """The rows that stand for word: its own, or else those of the longest pieces from left to right."""
    whole = row.get(word)
    if whole is not None:
        return [whole]
    found = []
    start = 0
    while start <= len(word) - SHORTEST_PIECE:
        for end in range(min(len(word), start + LONGEST_PIECE), start + SHORTEST_PIECE - 1, -1):
            piece = row.get(word[start:end])
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            start += 1
    return found


def _distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers, ascending. `np.unique` does the same, after importing numpy.ma for 15 ms."""
    ordered = np.sort(numbers)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=-1))]


class _Rows:
    """The rows that stand for each term of one vocabulary, looked up when a term is first met."""

    def __init__(self, row: Mapping[str, int], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._row = row
        self._start = np.empty(0, np.int64)
        self._length = np.empty(0, np.int64)  # -1: not looked up
        self._growing = array("q")
        self._flat = np.empty(0, np.int64)

    def expand(self, term: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of all terms, one after the other, and how many each term has."""
        self._look_up(term)
        length = self._length[term]
        ends = np.cumsum(length)
        total = int(ends[-1]) if len(ends) else 0
        position = np.arange(total) + np.repeat(self._start[term] - (ends - length), length)
        return self._flat[position], length

    def _look_up(self, term: NDArray[np.int32]) -> None:
        missing = max(len(self.vocabulary) - len(self._length), 0)
        if missing:
            room = np.full(missing + len(self._length), -1, np.int64)
            self._length = np.concatenate([self._length, room])
            self._start = np.concatenate([self._start, room])
        fresh = _distinct(term[self._length[term] < 0]).tolist()
        for number in fresh:
            found = pieces(self.vocabulary.terms[number], self._row)
            self._start[number] = len(self._growing)
            self._length[number] = len(found)
            self._growing.extend(found)
        if fresh:
            self._flat = np.array(self._growing, np.int64)


class Builtin:
    """The embedded model. Reads the weights when the first vector is asked for, and only the header before that."""

    is_local = True

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._weights = weights
        self._rows: _Rows | None = None

    @cached_property
    def identity(self) -> Identity:
        """What the vectors depend on: the digest in the weights file's header. Raises `ModelError`."""
        header = Header.read(self._weights)
        return Identity("builtin", MODEL, header.digest.hex(), header.dimension)

    @cached_property
    def _table(self) -> Table:
        return Table.load(self._weights)

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        """Vectors of texts, shape (len(texts), dimension), from bags alone; zeros where no word is known."""
        if self._rows is None or self._rows.vocabulary is not bags.vocabulary:
            self._rows = _Rows(self._table.row, bags.vocabulary)
        row, length = self._rows.expand(bags.words.term)
        weight = np.repeat(np.log2(1 + bags.words.count.astype(np.float64)), length) * self._table.text_scale[row]
        weight = np.rint(weight * _UNIT) / _UNIT
        borders = np.searchsorted(np.repeat(bags.words.text, length), np.arange(bags.size + 1)).tolist()
        vectors = np.zeros((bags.size, self.identity.dimension), np.float32)
        for text, (first, end) in enumerate(pairwise(borders)):
            vectors[text] = weight[first:end] @ self._table.vectors[row[first:end]].astype(np.float64)
        return _normalised(vectors)

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, shape (dimension,); zeros when nothing in it is known."""
        table = self._table
        vector = np.zeros(self.identity.dimension, np.float32)
        for word, times in Counter(words(question)).items():
            for row in pieces(word, table.row):
                vector += np.log2(1 + np.float32(times)) * table.question_scale[row] * table.vectors[row]
        return _normalised(vector)


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each vector (along the last axis) brought to length 1, in place; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
