"""Which embedder the settings ask for."""

from __future__ import annotations

from collections.abc import Callable

from itza_git.config import Settings
from itza_git.embedding.protocol import Embedder


def _builtin(settings: Settings) -> Embedder:
    from itza_git.embedding.builtin import Builtin

    return Builtin()


def _remote(settings: Settings) -> Embedder:
    from itza_git.embedding.remote import Remote
    from itza_git.models.choice import SERVERS

    return Remote(SERVERS[settings.embedder](settings), settings.embed_model, embedder=settings.embedder)


EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {"builtin": _builtin, "ollama": _remote, "openai": _remote}


def embedder_for(settings: Settings) -> Embedder:
    """The embedder of `itza.embedder`. Raises `ConfigError` for a host that may not be used."""
    return EMBEDDERS[settings.embedder](settings)
