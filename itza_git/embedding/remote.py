"""Vectors from a model server on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding.protocol import Identity
from itza_git.errors import BadResponse
from itza_git.models.protocol import EmbedServer
from itza_git.words import Bags

DEFAULT_MODEL = "nomic-embed-text"
BATCH = 32
# Ollama runs nomic-embed-text with 2048 tokens (ollama/ollama#3727), and code may have as few as 2 characters a token.
LONGEST_TEXT = 4000
SHORTEST_CUT = 250
# So many refused texts without one success between them are the server's fault, not the texts'. To go on would write
# a whole repository down as impossible to embed.
GIVE_UP_AFTER = 64

# (document, query) by the family of the model; servers add none by themselves. Sources: the models' own cards.
_PREFIXES = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed": ("", "Represent this sentence for searching relevant passages: "),
    "embeddinggemma": ("title: none | text: ", "task: search result | query: "),
}


def prefixes(model: str) -> tuple[str, str]:
    """What the model wants before a document and before a query; nothing for an unknown one."""
    name = model.rpartition("/")[2].lower()
    return next((both for family, both in _PREFIXES.items() if name.startswith(family)), ("", ""))


class Remote:
    """Embedder over a server. `failed` counts the texts that it could not embed, `calls` the requests for vectors."""

    is_local = False

    def __init__(self, server: EmbedServer, model: str = DEFAULT_MODEL, *, embedder: str = "ollama") -> None:
        self.failed = 0
        self.calls = 0
        self._server = server
        self._model = model
        self._embedder = embedder
        self._prefixes = prefixes(model)
        self._refused_in_a_row = 0

    @cached_property
    def identity(self) -> Identity:
        """The server's digest of the model, and the dimension of a first vector. Raises `ModelError`."""
        digest = self._server.digest(self._model)
        first = self._ask([self._prefixes[0] + "dimension"])[0]
        if first is None:
            raise BadResponse(f"the model {self._model} gives no usable vectors: is it an embedding model?")
        return Identity(self._embedder, self._model, digest, len(first), *self._prefixes)

    def embed(self, texts: Sequence[str], bags: Bags | None = None) -> NDArray[np.float32]:
        """Vectors of texts, shape (len(texts), dimension), each of length 1.

        A text that cannot be embedded gets a row of zeros and is counted in `failed`; an empty one gets zeros and is
        not sent. Raises `ModelError` when the server is gone, or refuses everything.
        """
        prefix = self._prefixes[0]
        vectors = np.zeros((len(texts), self.identity.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            for row, vector in zip(
                batch, self._batch([prefix + texts[row][:LONGEST_TEXT] for row in batch]), strict=True
            ):
                if vector is not None:
                    vectors[row] = vector
        return vectors

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, shape (dimension,); zeros for an empty one, or one that the server refuses."""
        if question.strip():
            vector = self._batch([self._prefixes[1] + question[:LONGEST_TEXT]])[0]
            if vector is not None:
                return vector
        return np.zeros(self.identity.dimension, np.float32)

    def _batch(self, texts: list[str]) -> list[NDArray[np.float32] | None]:
        """One vector a text; one bad text fails a whole request, so a refused batch is halved until it stands alone."""
        try:
            vectors = self._ask(texts)
        except BadResponse as error:
            if len(texts) == 1:
                return [self._shorter(texts[0], error)]
            middle = len(texts) // 2
            return self._batch(texts[:middle]) + self._batch(texts[middle:])
        # A batch sometimes spoils a vector that comes out well alone.
        return [
            vector if vector is not None else self._again(text) for text, vector in zip(texts, vectors, strict=True)
        ]

    def _again(self, text: str) -> NDArray[np.float32] | None:
        try:
            vector = self._ask([text])[0]
        except BadResponse as error:
            return self._shorter(text, error)
        if vector is None:
            self._count_failure(None)
        return vector

    def _shorter(self, text: str, error: BadResponse) -> NDArray[np.float32] | None:
        """The vector of the longest half, quarter... of a refused text that the server takes.

        `truncate` is not reliable (ollama/ollama#14186): a text with too many tokens is a 400, or an EOF of the runner.
        """
        while len(text) > SHORTEST_CUT:
            text = text[: len(text) // 2]
            try:
                vector = self._ask([text])[0]
            except BadResponse as again:
                error = again
                continue
            if vector is not None:
                return vector
        self._count_failure(error)
        return None

    def _count_failure(self, error: BadResponse | None) -> None:
        self.failed += 1
        self._refused_in_a_row += 1
        if self._refused_in_a_row >= GIVE_UP_AFTER:
            raise error or BadResponse(f"the model {self._model} gives no usable vectors any more", "ollama ps")

    def _ask(self, texts: list[str]) -> list[NDArray[np.float32] | None]:
        """One request: a vector of length 1 a text; None where the server's is not usable."""
        self.calls += 1
        rows = self._server.embed(self._model, texts)
        if len(rows) != len(texts):
            raise BadResponse(f"{len(rows)} vectors for {len(texts)} texts")
        vectors = [self._usable(row) for row in rows]
        if any(vector is not None for vector in vectors):
            self._refused_in_a_row = 0
        return vectors

    def _usable(self, row: list[float]) -> NDArray[np.float32] | None:
        try:
            vector = np.asarray(row, np.float64)
        except (TypeError, ValueError):
            return None
        known = self.__dict__.get("identity")
        if vector.ndim != 1 or not len(vector) or (known and len(vector) != known.dimension):
            return None
        norm = float(np.linalg.norm(vector))
        return (vector / norm).astype(np.float32) if np.isfinite(norm) and norm > 0 else None
