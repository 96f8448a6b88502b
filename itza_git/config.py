"""Settings: flags win over `ITZA_*` in the environment, over the repository's git config, over the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from itza_git.errors import ConfigError
from itza_git.git import Repository

MEGABYTE = 1024 * 1024
_UNITS = {"": 1, "k": 1024, "m": MEGABYTE, "g": 1024 * MEGABYTE}
_TRUE, _FALSE = {"true", "yes", "on", "1", ""}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with their defaults. max_file_size is in bytes; hosts are as the user wrote them.

    given are the names of those that the user set, and that a committed file therefore does not change.
    """

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
    given: frozenset[str] = frozenset()


NAMES = tuple(name for name in Settings.__slots__ if name != "given")
# The file in a tree that sets these for everyone who asks that tree.
COMMITTED_FILE = b".itzaconfig"
COMMITTED = ("include", "exclude", "max_file_size")
_CHOICES = {"embedder": ("builtin", "ollama"), "server": ("ollama",)}


def load(repository: Repository, environment: Mapping[str, str]) -> Settings:
    """The settings that hold for a repository. Raises `ConfigError` naming the key and the value."""
    settings = Settings(ollama_host=environment.get("OLLAMA_HOST", ""))
    for name in NAMES:
        key = _key(name)
        values = repository.config(key)
        variable = "ITZA_" + name.upper()
        if variable in environment:
            key, values = variable, [environment[variable]]
        if values:
            settings = replace(settings, given=settings.given | {name}, **{name: _parse(key, name, values)})
    return settings


def with_committed(settings: Settings, committed: Mapping[str, Sequence[str]]) -> tuple[Settings, list[str]]:
    """Settings with what a committed `.itzaconfig` may set and the user did not, and the keys in it that do not count.

    A clone ships that file: it says what is indexed, and never a host, a command or a model.
    """
    ignored = []
    allowed = {_key(name).lower(): name for name in COMMITTED}
    for key, values in committed.items():
        name = allowed.get(key)
        try:
            parsed: Any = _parse(key, name, list(values)) if name else None
        except ConfigError:
            name = None
        if name is None:
            ignored.append(key)
        elif name not in settings.given:
            settings = replace(settings, **{name: parsed})
    return settings, ignored


def _key(name: str) -> str:
    return "itza." + re.sub(r"_(\w)", lambda found: found[1].upper(), name)


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
    # Not --unset: the value may be the user's own, or one of several, and then it changes nothing.
    return f"git config --show-origin --get-all {key}" if key.startswith("itza.") else f"unset {key}"
