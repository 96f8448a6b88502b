"""From texts to vectors."""

from itza_git.embedding.protocol import Embedder, Identity

__all__ = ["Embedder", "Identity"]
