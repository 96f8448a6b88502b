"""Which model server the settings ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from itza_git.models.protocol import ChatServer, EmbedServer


class Server(ChatServer, EmbedServer, Protocol):
    """A server that answers and embeds."""

    def close(self) -> None:
        """Close the connections."""


class Addresses(Protocol):
    """What of the settings says where servers are."""

    @property
    def ollama_host(self) -> str:
        """As OLLAMA_HOST has it."""

    @property
    def openai_base(self) -> str:
        """A base URL, with `/v1`."""

    @property
    def allow_remote(self) -> bool:
        """Whether a host other than this machine may be used."""


def _ollama(addresses: Addresses) -> Server:
    # Only here, because httpx takes a tenth of a second to import.
    from itza_git.models.host import ollama_url
    from itza_git.models.ollama import Ollama

    return Ollama(ollama_url(addresses.ollama_host), allow_remote=addresses.allow_remote)


def _openai(addresses: Addresses) -> Server:
    from itza_git.models.host import openai_url
    from itza_git.models.openai import OpenAI

    return OpenAI(openai_url(addresses.openai_base), allow_remote=addresses.allow_remote)


SERVERS: dict[str, Callable[[Addresses], Server]] = {"ollama": _ollama, "openai": _openai}
"""By the name that `itza.server` and `itza.embedder` have for it."""
