"""Settings: flags win over `ITZA_*` in the environment, over the repository's git config, over the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from itza_git.errors import ConfigError, UsageError
from itza_git.git import Repository
from itza_git.pathspec import matcher

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
_CHOICES = {"embedder": ("builtin", "ollama", "openai"), "server": ("ollama", "openai")}


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


def with_committed(settings: Settings, committed: Mapping[str, Sequence[str]] | None) -> tuple[Settings, list[str]]:
    """Settings with what a committed `.itzaconfig` may set and the user did not; and what in it does not count.

    A clone ships that file: it says what is indexed, and never a host, a command or a model. committed is None when it
    cannot be parsed. A fault in it is told and passed over: it must not stop everybody who asks that tree.
    """
    file = COMMITTED_FILE.decode()
    if committed is None:
        return settings, [f"{file} is not in git's configuration syntax and does not count"]
    notes = []
    allowed = {_key(name).lower(): name for name in COMMITTED}
    for key, values in committed.items():
        name = allowed.get(key)
        if name is None:
            notes.append(f"{file}: {key} does not count there; include, exclude and maxFileSize do")
            continue
        try:
            parsed: Any = _parse(_key(name), name, list(values))
        except ConfigError as e:
            notes.append(f"{file}: {e}")
            continue
        if name not in settings.given:
            settings = replace(settings, **{name: parsed})
    return settings, notes


def _key(name: str) -> str:
    return "itza." + re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _parse(key: str, name: str, values: list[str]) -> Any:  # noqa: ANN401 - the type is that of the field
    value = values[-1].strip()
    if name in ("include", "exclude"):
        return _patterns(key, values)
    if name in ("allow_remote", "history"):
        return _boolean(key, value)
    if name == "max_file_size":
        return _size(key, value)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ConfigError(f"{key}: {value!r} is not one of {', '.join(_CHOICES[name])}", _fix(key))
    return value


def _patterns(key: str, values: list[str]) -> tuple[str, ...]:
    patterns = tuple(value for value in values if value)
    try:
        matcher(patterns)
    except UsageError as e:
        raise ConfigError(f"{key}: {e}", _fix(key)) from e
    return patterns


def _boolean(key: str, value: str) -> bool:
    if value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ConfigError(f"{key}: {value!r} is neither true nor false", _fix(key))


def _size(key: str, value: str) -> int:
    found = re.fullmatch(r"([0-9]{1,18})([kmg]?)", value.lower())
    if not found:
        raise ConfigError(f"{key}: {value!r} is not a size such as 500k or 2m", _fix(key))
    return int(found[1]) * _UNITS[found[2]]


def _fix(key: str) -> str:
    # Not --unset: the value may be the user's own, or one of several, and then it changes nothing.
    return f"git config --show-origin --get-all {key}" if key.startswith("itza.") else f"unset {key}"
