"""Texts as the model sees them: rows of words with how often each occurs, flat, to be gathered a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding.builtin import pieces
from itza_git.words import Vocabulary


@dataclass(frozen=True, slots=True)
class Words:
    """Words of numbered texts, three arrays of one length: the text's number, the model's row, log2(1 + how often)."""

    text: NDArray[np.int64]
    row: NDArray[np.int64]
    times: NDArray[np.float32]

    def where(self, keep: NDArray[np.bool_]) -> Words:
        """Those of the words that keep says."""
        return Words(self.text[keep], self.row[keep], self.times[keep])

    @classmethod
    def together(cls, parts: Sequence[Words]) -> Words:
        """Several sets of words of the same texts as one, ordered by text."""
        text = np.concatenate([part.text for part in parts])
        order = np.argsort(text, kind="stable")
        row = np.concatenate([part.row for part in parts])[order]
        return cls(text[order], row, np.concatenate([part.times for part in parts])[order])


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one kind: text i has row[start[i]:start[i + 1]], and times is log2(1 + how often) of each."""

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    times: NDArray[np.float32]

    @classmethod
    def read(cls, raw: Sequence[str], row: Mapping[str, int]) -> Texts:
        """Raw texts as rows of the model whose words are the keys of row."""
        vocabulary = Vocabulary()
        counts = vocabulary.count(raw).words
        found = [pieces(term, row) for term in vocabulary.terms]
        lengths = np.array([len(rows) for rows in found], np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        flat = np.fromiter((number for rows in found for number in rows), np.int32, int(lengths.sum()))
        length = lengths[counts.term]
        rows = flat[_runs(starts[counts.term], length)]
        times = np.repeat(np.log2(1 + counts.count.astype(np.float32)), length)
        of_text = np.bincount(counts.text, length, len(raw)).astype(np.int64)
        return cls(np.concatenate([[0], np.cumsum(of_text)]), rows, times)

    def words(self, chosen: NDArray[np.int64], wanted: NDArray[np.bool_]) -> Words:
        """The words of the chosen texts, those of them that are wanted; numbered as in chosen."""
        numbers = np.flatnonzero(wanted)
        first, last = self.start[chosen[numbers]], self.start[chosen[numbers] + 1]
        position = _runs(first, last - first)
        return Words(np.repeat(numbers, last - first), self.row[position].astype(np.int64), self.times[position])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows each text has."""
        return np.diff(self.start)


def _runs(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """start[0], start[0] + 1, ... for length[0] numbers, then the same from start[1], and so on."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    runs: NDArray[np.int64] = np.arange(total) + np.repeat(start - (ends - length), length)
    return runs
