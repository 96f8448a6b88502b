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


def at(text: str, path: Sequence[str]) -> Any:  # noqa: ANN401 - any TOML value
    """The value at a path of keys; None where there is none."""
    return _at(parse(text), path)


def put(text: str, path: Sequence[str], value: dict[str, str | list[str]]) -> str:
    """The text with a table of strings and lists of strings at a path; a new one comes last.

    In one that is there only these keys are set: what a user has added stays. A text without a last newline has none
    afterwards, by which `remove` knows it.
    """
    before = parse(text)
    there = _at(before, path)
    if isinstance(there, dict):
        found = _updated(text, path, value, there) if there | value != there else text
        _proved(found, _with(before, path, there | value))
        return found
    newline = _newline(text)
    table = newline.join([f"[{'.'.join(path)}]", *(_assigned(key, one) for key, one in value.items())])
    ended = text.endswith("\n") or not text
    found = f"{text}{newline if text.strip() else ''}{table}{newline}" if ended else f"{text}{2 * newline}{table}"
    _proved(found, _with(before, path, value))
    return found


def _assigned(key: str, value: str | list[str]) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _updated(text: str, path: Sequence[str], value: dict[str, str | list[str]], there: dict[str, Any]) -> str:
    """The text with those keys of a table that is there that are not as in value."""
    lines = _lines(text)
    start = next((n for n in _headers(lines, path) if _named(lines[n]) == list(path)), None)
    if start is None:
        raise ValueError("its layout is unusual, and an edit could harm it")
    for key, one in reversed(value.items()):
        if there.get(key) == one:
            continue
        end = _end_of_table(lines, start)
        first = next((n for n in range(start + 1, end) if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[n])), None)
        first, last = (start + 1, start + 1) if first is None else (first, first + 1)
        while last < end and not _is_whole(lines[first:last]):  # a list on several lines
            last += 1
        lines[first:last] = [_assigned(key, one) + _newline(text)]
    found = "".join(lines)
    return found if text.endswith("\n") else found.removesuffix(_newline(text))


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and the tables below it; comments before the next table stay."""
    before = parse(text)
    if _at(before, path) is None:
        return text
    lines = _lines(text)
    ours = _headers(lines, path)
    kept: list[str] = []
    at = 0
    for start in ours:
        between = lines[at:start]
        kept += between if at == 0 or any(line.strip() for line in between) else []
        at = _last_key(lines, start, _end_of_table(lines, start))
    if kept and not kept[-1].strip() and (at >= len(lines) or not lines[at].strip()):
        kept.pop()  # the blank line that came with it
    found = "".join(kept + lines[at:])
    if not text.endswith("\n") and at >= len(lines):
        found = found.removesuffix("\n").removesuffix("\r")
    _proved(found, _without(before, path))
    return found


def _lines(text: str) -> list[str]:
    """The lines, each with its end; not `splitlines`, which knows more ends of lines than TOML does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _headers(lines: Sequence[str], path: Sequence[str]) -> list[int]:
    """The lines that are headers of the table at a path or below it: not what looks so within a string."""
    likely = [n for n, line in enumerate(lines) if _named(line)[: len(path)] == list(path)]
    return [n for n in likely if _is_whole(lines[:n])]


def _named(line: str) -> list[str]:
    """The keys of the header that a line looks like; none for any other line."""
    header = _HEADER.fullmatch(line.rstrip("\r\n"))
    return _keys(header["name"]) if header else []


def _end_of_table(lines: Sequence[str], start: int) -> int:
    """The line after a table's last one."""
    ends = (n for n in range(start + 1, len(lines)) if _ANY_HEADER.match(lines[n]) and _is_whole(lines[start:n]))
    return next(ends, len(lines))


def _is_whole(lines: Sequence[str]) -> bool:
    """Whether lines end where a statement does, and not within a string or a list."""
    try:
        parse("".join(lines))
    except tomllib.TOMLDecodeError:
        return False
    return True


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
