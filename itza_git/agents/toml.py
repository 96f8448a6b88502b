"""Editing TOML by splicing whole tables into its text; `tomllib` proves that nothing else changed.

Not tomlkit: with a table it removes the comments that stand before the next one. Every error is a `ValueError`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

_HEADER = re.compile(r"[ \t]*\[(?!\[)[ \t]*(?P<name>[^\]\n]+?)[ \t]*\][ \t]*(?:#[^\n]*)?")
_ANY_HEADER = re.compile(r"[ \t]*\[")


def parse(text: str) -> dict[str, Any]:
    """The tables that text holds."""
    return tomllib.loads(text.replace("\r\n", "\n"))


def put(text: str, path: Sequence[str], value: dict[str, str | list[str]]) -> str:
    """The text with a table of strings and lists of strings at a path; a new one comes last."""
    before = parse(text)
    there = _at(before, path)
    if isinstance(there, dict) and there | value == there:  # what a user has added to our entry stays
        return text
    cleared = remove(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {json.dumps(one)}" for key, one in value.items())]
    gap = "" if not cleared.strip() else newline if cleared.endswith("\n") else 2 * newline
    found = cleared + gap + newline.join(lines) + newline
    _proved(found, _with(_without(before, path), path, value))
    return found


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and the tables below it; comments before the next table stay."""
    before = parse(text)
    if _at(before, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    at = 0
    while at < len(lines):
        header = _HEADER.fullmatch(lines[at].rstrip("\r\n"))
        if header is None or _keys(header["name"])[: len(path)] != list(path):
            kept.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and not _ANY_HEADER.match(lines[end]):
            end += 1
        at = _last_key(lines, at, end)
        while kept and not kept[-1].strip() and (at >= len(lines) or not lines[at].strip()):
            kept.pop()
    found = "".join(kept)
    _proved(found, _without(before, path))
    return found


def _last_key(lines: Sequence[str], start: int, end: int) -> int:
    """The line after the last one of a table that says something: what follows is about the next table."""
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _keys(name: str) -> list[str]:
    try:
        found = tomllib.loads(f"[{name}]")
    except tomllib.TOMLDecodeError:
        return []
    keys = []
    while found:
        key, found = next(iter(found.items()))
        keys.append(key)
    return keys


def _at(value: Any, path: Sequence[str]) -> Any:  # noqa: ANN401 - any TOML value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _without(value: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The tables without the one at a path, and without what is left empty by that."""
    key, rest = path[0], path[1:]
    if key not in value:
        return value
    left = _without(value[key], rest) if rest and isinstance(value[key], dict) else {}
    return {name: one for name, one in value.items() if name != key} | ({key: left} if left else {})


def _with(value: dict[str, Any], path: Sequence[str], new: Any) -> dict[str, Any]:  # noqa: ANN401 - any TOML value
    inner = _with(value.get(path[0], {}), path[1:], new) if len(path) > 1 else new
    return value | {path[0]: inner}


def _proved(text: str, wanted: dict[str, Any]) -> None:
    """Raise unless text says just what is wanted: an unusual layout is left to the user."""
    try:
        found = parse(text)
    except tomllib.TOMLDecodeError:
        found = None
    if found is None or _pruned(found) != _pruned(wanted):
        raise ValueError("its layout is unusual, and an edit could harm it")


def _pruned(value: Any) -> Any:  # noqa: ANN401 - any TOML value
    """The same without empty tables: `[a]` alone says nothing."""
    if not isinstance(value, dict):
        return value
    return {key: one for key, inner in value.items() if (one := _pruned(inner)) != {}}
