"""What a model server offers to the rest of the program, whatever protocol it speaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from itza_git.errors import BadResponse


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How a chat ended: `stop`, `length` (cut by num_predict) or what else the server calls it.

    prompt_tokens is how many tokens of the prompt the server read; None when it does not say. A server that cuts a
    prompt to its window says so nowhere else.
    """

    reason: str
    prompt_tokens: int | None = None


class ChatServer(Protocol):
    """Answers chats, piece by piece."""

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        """The answer in pieces, then one Usage as the last item. Raises `ModelError`."""


class EmbedServer(Protocol):
    """Turns texts into vectors."""

    def digest(self, model: str) -> str:
        """What names the model's weights. Raises `ModelMissing`."""

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises `BadResponse` when the server refuses any of the texts."""


class PromptTooLong(BadResponse):
    """The prompt does not fit the model's window, and the server says so instead of cutting it."""
