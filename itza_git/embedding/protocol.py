"""What an embedder is, whatever computes the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from itza_git.words import Bags


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes vectors comparable: two embedders of one identity give the same vector for the same text.

    digest names the weights (a hash of ours, or the model server's digest), never just the model's tag.
    """

    embedder: str
    model: str
    digest: str
    dimension: int
    document_prefix: str = ""
    query_prefix: str = ""


class Embedder(Protocol):
    """Turns texts into float32 vectors of length 1."""

    @property
    def identity(self) -> Identity:
        """What the vectors depend on. May ask the model server once; raises `ModelError`."""

    @property
    def is_local(self) -> bool:
        """Whether the embedder is cheap and in this process: it may run in many processes, and embeds paths too."""

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        """Vectors of texts, shape (len(texts), dimension). A text that cannot be embedded gets a row of zeros.

        bags are the same texts, already counted. Each embedder reads the one of the two that it needs.
        """

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, shape (dimension,); zeros when nothing in it is known."""
