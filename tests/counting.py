"""An embedder for tests: it counts what it is asked, and its vectors depend on the text alone."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itza_git.config import Settings
from itza_git.embedding import Identity
from itza_git.git import open_repository
from itza_git.indexing import Policy, Refreshed, Refresher, Watch
from itza_git.store import Recipe, Space
from itza_git.words import Bags, words

DIMENSION = 16


class Counting:
    """Vectors are sums of one pseudo-random vector a word; `texts` are all texts of files that were embedded."""

    def __init__(self, model: str = "counting", is_local: bool = False) -> None:
        self.identity = Identity("test", model, "0", DIMENSION)
        self.is_local = is_local
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        self.texts += texts
        return np.array([self.embed_question(text) for text in texts], np.float32).reshape(-1, DIMENSION)

    def embed_question(self, question: str) -> NDArray[np.float32]:
        total = np.zeros(DIMENSION, np.float32)
        for word in words(question):
            total += np.frombuffer(blake2b(word.encode(), digest_size=DIMENSION).digest(), np.int8)
        length = float(np.linalg.norm(total))
        return total / np.float32(length) if length else total


class Index:
    """The store of a repository, filled with a counting embedder."""

    def __init__(self, folder: Path, settings: Settings | None = None, embedder: Counting | None = None) -> None:
        self.embedder = embedder or Counting()
        self.repository = open_repository(folder)
        self.policy = Policy.of(settings or Settings(), self.repository.common_dir)
        self.space = Space(self.repository.common_dir, Recipe(self.embedder.identity), self.repository.id_length)

    def refresh(self, rev: str = "HEAD") -> Refreshed:
        """Index a revision."""
        commit = self.repository.resolve(rev)
        return Refresher(self.repository, self.space, self.policy, self.embedder).commit(commit, Watch())

    def embedded(self, rev: str = "HEAD") -> int:
        """How many texts indexing a revision embeds now."""
        before = len(self.embedder.texts)
        self.refresh(rev)
        return len(self.embedder.texts) - before
