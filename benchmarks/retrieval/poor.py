"""What the ranking is worth when the vectors are worth nothing.

    python -m benchmarks.retrieval.poor QUERIES DIR

QUERIES and DIR are as for run.py. Each question is ranked as the product does it, by the lexical order alone, and by
everything with a question vector that is drawn at random or that is zero: what an embedding model does that was made
for other text. A fusion that trusts vectors blindly falls below the lexical order there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.run import Scored, load
from benchmarks.retrieval.scores import K, means, score, table
from itza_git import Itza
from itza_git.embedding import Embedder, Identity
from itza_git.search.question import Question
from itza_git.search.ranking import Evidence
from itza_git.search.retrieval import search
from itza_git.words import Bags

Draw = Callable[[str, int], NDArray[np.float32]]


class Poor:
    """An embedder with the vectors of another for texts, and others for questions."""

    def __init__(self, base: Embedder, draw: Draw) -> None:
        self._base = base
        self._draw = draw
        self.is_local = base.is_local

    @property
    def identity(self) -> Identity:
        return self._base.identity

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        return self._base.embed(texts, bags)

    def embed_question(self, question: str) -> NDArray[np.float32]:
        return self._draw(question, self.identity.dimension)


def at_random(question: str, dimension: int) -> NDArray[np.float32]:
    """A vector of length 1 in a direction that follows from the text and means nothing."""
    seed = int.from_bytes(blake2b(question.encode(), digest_size=8).digest())
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def zero(question: str, dimension: int) -> NDArray[np.float32]:
    """What an embedder gives that knows nothing of a text."""
    return np.zeros(dimension, np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dir", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Scored] = {name: [] for name in ("all", "lexical", "all, random vectors", "all, zero vectors")}
    for name, queries in load(arguments.queries, []).items():
        with Itza.open(arguments.dir / name) as itza:
            itza.refresh()
            ways: dict[str, tuple[Embedder, Evidence]] = {
                "all": (itza.embedder, Evidence.ALL),
                "lexical": (itza.embedder, Evidence.LEXICAL),
                "all, random vectors": (Poor(itza.embedder, at_random), Evidence.ALL),
                "all, zero vectors": (Poor(itza.embedder, zero), Evidence.ALL),
            }
            for query in queries:
                for way, (embedder, evidence) in ways.items():
                    passages = search(itza.corpus(), Question(query["query"]), embedder, K, evidence=evidence).passages
                    found[way].append((query, score(passages, query["targets"])))
    print(table("vectors", {way: means(ones, [])[""] for way, ones in found.items()}))


if __name__ == "__main__":
    main()
