"""Which embedder the settings ask for."""

from __future__ import annotations

from collections.abc import Callable

from itza_git.config import Settings
from itza_git.embedding.protocol import Embedder


def _builtin(settings: Settings) -> Embedder:
    from itza_git.embedding.builtin import Builtin

    return Builtin()


def _ollama(settings: Settings) -> Embedder:
    # Only here, because httpx takes a tenth of a second to import.
    from itza_git.embedding.remote import Remote
    from itza_git.models.host import ollama_url
    from itza_git.models.ollama import Ollama

    server = Ollama(ollama_url(settings.ollama_host), allow_remote=settings.allow_remote)
    return Remote(server, settings.embed_model)


EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {"builtin": _builtin, "ollama": _ollama}


def embedder_for(settings: Settings) -> Embedder:
    """The embedder of `itza.embedder`. Raises `ConfigError` for a host that may not be used."""
    return EMBEDDERS[settings.embedder](settings)
