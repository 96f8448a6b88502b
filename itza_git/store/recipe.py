"""What a chunk is and what its vector means: the one thing that must be equal for two vectors to be compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from itza_git import chunking, words
from itza_git.embedding import Identity
from itza_git.store.container import FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Recipe:
    """Versions of format, tokenizer and chunkers, and the embedder's identity."""

    embedder: Identity
    format: int = FORMAT_VERSION
    words: int = words.VERSION
    chunking: int = chunking.VERSION

    @property
    def name(self) -> str:
        """The name of its folder: 16 hex digits."""
        return digest(asdict(self), 8)

    def describe(self) -> dict[str, Any]:
        """The same for people: what `recipe.json` holds."""
        return asdict(self)


def digest(value: Any, size: int) -> str:  # noqa: ANN401 - any JSON value
    """BLAKE2b of a JSON value's canonical text, in hex."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=size).hexdigest()
