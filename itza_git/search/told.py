"""What commits tell of files: who changed a file said in the message what it is about, in words for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus, ranges
from itza_git.search.dense import spread
from itza_git.search.lexical import bm25f, greatest
from itza_git.search.question import Question
from itza_git.store.postings import MOST_OCCURRENCES, Postings
from itza_git.words import asked_keys, path_term

# So many commits that speak most of the question count for a file.
MOST_COMMITS = 5


@dataclass(frozen=True, slots=True)
class Told:
    """A corpus of messages, and how much each of them speaks of a question."""

    messages: Corpus
    score: NDArray[np.float64]

    def of(self, paths: Sequence[bytes]) -> NDArray[np.float64]:
        """How much the messages of the commits that changed each file speak of the question, 1 for the file with most.

        A commit counts less the more files it changed.
        """
        file, worth = self._commits(paths)
        order = np.lexsort((-worth, file))
        file, worth = file[order], worth[order]
        among = np.arange(len(file)) - file.searchsorted(file) < MOST_COMMITS
        total = np.bincount(file[among], worth[among], len(paths)).astype(float)
        return total / greatest(total)

    def _commits(self, paths: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The number of each file once for every commit that changed it, and what that commit is worth for it."""
        keys = asked_keys(map(path_term, paths))
        found = [_found(postings, keys, offset) for offset, postings in self.messages.field("symbol")]
        file, row, files_changed = (np.concatenate(parts) for parts in zip(*found, strict=True))
        passage, _, _ = self.messages.passages_at(row)
        here = passage >= 0
        return file[here], self.score[passage[here]] / np.log2(1 + files_changed[here])


def _found(
    postings: Postings, keys: NDArray[np.uint64], offset: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Where keys are: the number of the key, the row, the count. offset: of the first row."""
    place = postings.places(keys)
    number = np.flatnonzero(place >= 0)
    first, end = (postings.start[place[number] + more].astype(np.int64) for more in (0, 1))
    at = ranges(first, end - first)
    row, count = postings.row[at].astype(np.int64) + offset, postings.count[at] & np.uint8(MOST_OCCURRENCES)
    return np.repeat(number, end - first), row, count


def told(messages: Corpus, question: Question, near: NDArray[np.float32]) -> Told:
    """How much each message of a corpus, which has some, speaks of what a question asks. near: their cosines to it."""
    words = bm25f(messages, question.terms)  # messages are prose: other forms of a word find no more in them
    return Told(messages, np.asarray(words / greatest(words) + np.maximum(spread(near), 0), float))
