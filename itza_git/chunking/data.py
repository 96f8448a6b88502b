"""Configuration and data by top-level key or table: JSON, YAML, TOML and ini.

A line decides by its beginning alone, so a file that no parser accepts is chunked all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from itza_git.chunking.lines import CEILING, TARGET, is_blank, split_at_blanks, split_lines
from itza_git.records import Chunk

MOST_NAMES = 8
LONGEST_NAME = 80

Key = Callable[[bytes], bytes | None]

_YAML = re.compile(rb"(?:- +)?[\"']?([^\s#\"'&*!|>%@`{\[\]},-][^:#\"']{0,100}?)[\"']?:(?:\s|$)")
_TABLE = re.compile(rb"\[{1,2}([^\[\]]{1,200})\]")
_JSON = re.compile(rb"\"((?:[^\"\\]|\\.){1,200})\"\s*:")


def chunk_yaml(data: bytes) -> list[Chunk]:
    """Chunks of a YAML file; a top-level key begins a block."""
    return _chunk(data, lambda line: _group(_YAML.match(line)))


def chunk_toml(data: bytes) -> list[Chunk]:
    """Chunks of a TOML or ini file; a table or section begins a block."""
    return _chunk(data, lambda line: _group(_TABLE.match(line)))


def chunk_json(data: bytes) -> list[Chunk]:
    """Chunks of a JSON file; a key at the outermost indentation in use begins a block."""
    margin = _outer_margin(split_lines(data))

    def key(line: bytes) -> bytes | None:
        if not line.startswith(margin) or line[len(margin) : len(margin) + 1] in (b" ", b"\t"):
            return None
        return _group(_JSON.match(line, len(margin)))

    return _chunk(data, key)


def _group(found: re.Match[bytes] | None) -> bytes | None:
    return found[1] if found else None


def _outer_margin(lines: list[bytes]) -> bytes:
    """The white space before the first key."""
    for line in lines[:50]:
        bare = line.lstrip(b" \t")
        if bare.startswith(b'"'):
            return line[: len(line) - len(bare)]
    return b""


def _chunk(data: bytes, key_of: Key) -> list[Chunk]:
    lines = split_lines(data)
    if all(map(is_blank, lines)):
        return []
    chunks: list[Chunk] = []
    for first, last, names in _merge(_blocks(lines, key_of)):
        symbol = ", ".join(dict.fromkeys(names[:MOST_NAMES]))
        chunks += (Chunk(start, end, "data", symbol) for start, end in split_at_blanks(lines, first, last))
    return chunks


def _blocks(lines: list[bytes], key_of: Key) -> list[tuple[int, int, list[str]]]:
    """First line, last line and name of each top-level entry, with the comments directly above it."""
    starts: list[tuple[int, list[str]]] = []
    text = False
    for number, line in enumerate(lines, 1):
        key = key_of(line)
        if key is not None:
            above = _comment_start(lines, number, starts[-1][0] if starts else 0)
            starts.append((above if text else 1, [key.decode("utf-8", "replace").strip()[:LONGEST_NAME]]))
        text = text or not is_blank(line)
    if not starts or any(not is_blank(line) for line in lines[: starts[0][0] - 1]):
        starts.insert(0, (1, []))
    starts[0] = (1, starts[0][1])
    ends = [first - 1 for first, _ in starts[1:]] + [len(lines)]
    return [(first, last, names) for (first, names), last in zip(starts, ends, strict=True) if last >= first]


def _comment_start(lines: list[bytes], number: int, floor: int) -> int:
    """The line that the comments directly above a line begin at, below floor."""
    while number - 1 > floor and lines[number - 2][:1] in (b"#", b";"):
        number -= 1
    return number


def _merge(blocks: list[tuple[int, int, list[str]]]) -> list[tuple[int, int, list[str]]]:
    """Neighbours together while they fit into TARGET lines."""
    merged: list[tuple[int, int, list[str]]] = []
    for first, last, names in blocks:
        if merged and last - merged[-1][0] < TARGET:
            merged[-1] = (merged[-1][0], last, merged[-1][2] + names)
        elif merged and last - first < 2 and last - merged[-1][0] < CEILING:
            # A closing bracket.
            merged[-1] = (merged[-1][0], last, merged[-1][2] + names)
        else:
            merged.append((first, last, names))
    return merged
