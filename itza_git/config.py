"""Settings: flags win over `ITZA_*` in the environment, over the repository's git config, over the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from itza_git.errors import ConfigError
from itza_git.git import Repository

MEGABYTE = 1024 * 1024
_UNITS = {"": 1, "k": 1024, "m": MEGABYTE, "g": 1024 * MEGABYTE}
_TRUE, _FALSE = {"true", "yes", "on", "1", ""}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with their defaults. max_file_size is in bytes; hosts are as the user wrote them."""

    embedder: str = "builtin"
    embed_model: str = "nomic-embed-text"
    answer_model: str = "qwen2.5-coder:7b"
    server: str = "ollama"
    ollama_host: str = ""
    openai_base: str = "http://127.0.0.1:8080/v1"
    allow_remote: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_size: int = MEGABYTE
    history: bool = True


_CHOICES = {"embedder": ("builtin", "ollama"), "server": ("ollama",)}


def load(repository: Repository, environment: Mapping[str, str]) -> Settings:
    """The settings that hold for a repository. Raises `ConfigError` naming the key and the value."""
    settings = Settings(ollama_host=environment.get("OLLAMA_HOST", ""))
    for name in Settings.__slots__:
        key = "itza." + re.sub(r"_(\w)", lambda m: m[1].upper(), name)
        values = repository.config(key)
        variable = "ITZA_" + name.upper()
        if variable in environment:
            key, values = variable, [environment[variable]]
        if values:
            settings = replace(settings, **{name: _parse(key, name, values)})
    return settings


def _parse(key: str, name: str, values: list[str]) -> Any:  # noqa: ANN401 - the type is that of the field
    value = values[-1].strip()
    if name in ("include", "exclude"):
        return tuple(v for v in values if v)
    if name in ("allow_remote", "history"):
        return _boolean(key, value)
    if name == "max_file_size":
        return _size(key, value)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ConfigError(f"{key}: {value!r} is not one of {', '.join(_CHOICES[name])}", _fix(key))
    return value


def _boolean(key: str, value: str) -> bool:
    if value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ConfigError(f"{key}: {value!r} is neither true nor false", _fix(key))


def _size(key: str, value: str) -> int:
    found = re.fullmatch(r"(\d+)([kmg]?)", value.lower())
    if not found:
        raise ConfigError(f"{key}: {value!r} is not a size such as 500k or 2m", _fix(key))
    return int(found[1]) * _UNITS[found[2]]


def _fix(key: str) -> str:
    return f"git config --unset {key}" if key.startswith("itza.") else f"unset {key}"
