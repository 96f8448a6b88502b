"""Ollama's own protocol over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import httpx

from itza_git.models.protocol import Message, Usage


class Ollama:
    """A server at a base URL, as `ollama_url` gives it. Raises `ConfigError` for a host that is not this machine."""

    def __init__(
        self,
        base_url: str,
        *,
        allow_remote: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        raise NotImplementedError

    def version(self) -> str:
        """The server's version; the probe whether it is there. Raises `ServerUnreachable`."""
        raise NotImplementedError

    def digest(self, model: str) -> str:
        """The digest of the model's weights. Raises `ModelMissing`."""
        raise NotImplementedError

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises `BadResponse` when the server refuses any of them."""
        raise NotImplementedError

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        """The answer in pieces, then one Usage as the last item."""
        raise NotImplementedError
