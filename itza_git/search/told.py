"""What commits tell of files: who changed a file said in the message what it is about, in words for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding import Embedder
from itza_git.search.corpus import Corpus
from itza_git.search.dense import cosines, spread
from itza_git.search.lexical import greatest, lexical
from itza_git.search.question import Question
from itza_git.store.postings import MOST_OCCURRENCES
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
        some = [
            (number, offset, row, count)
            for offset, postings in self.messages.field("symbol")
            for number, row, count in postings.found(keys)
        ]
        numbers, offsets, rows, counts = zip(*some, strict=True) if some else ((),) * 4
        size = list(map(len, rows))
        file = np.repeat(np.array(numbers, np.int64), size)
        row = np.concatenate([np.empty(0, np.int64), *rows]) + np.repeat(np.array(offsets, np.int64), size)
        files_changed = np.concatenate([np.empty(0, np.uint8), *counts]) & MOST_OCCURRENCES
        passage, _, _ = self.messages.passages_at(row)
        here = passage >= 0
        worth = self.score[passage[here]] / np.log2(1 + files_changed[here])
        return file[here], worth


def told(messages: Corpus, text: str, embedder: Embedder) -> Told | None:
    """How much each message of a corpus speaks of what a question asks; None without any message."""
    if not len(messages):
        return None
    question = Question(text, messages.holding)
    words = lexical(messages, question.terms, question.forms).score
    near = cosines(messages, embedder.embed_question(question.content))
    return Told(messages, np.asarray(words / greatest(words) + np.maximum(spread(near), 0), float))
