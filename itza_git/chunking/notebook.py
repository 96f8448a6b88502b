"""Jupyter notebooks by cell, with the line numbers of the stored JSON file.

The one exception to the law that chunks tile a file: they cover the sources of cells and nothing else, because
outputs (images as base64) and metadata answer no question. A notebook that is stored on one line gives no chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from itza_git import jsontext
from itza_git.chunking.lines import is_blank, split_at_blanks, split_lines
from itza_git.records import Chunk

# A longer line is an image or other data, even in the source of a cell.
LONGEST_LINE = 2_000
MOST_NAMES = 8

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]')
# One line of a source array, or the whole source where it is one string.
_SOURCE_LINE = re.compile(rb'\s*(?:"(?:source|input)"\s*:\s*)?\[?\s*("[^"\\]*(?:\\.[^"\\]*)*")\s*\]?,?\s*$')
_DEFINES = re.compile(r"^(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)
_HEADING = re.compile(r"\A\s*#{1,6} +(.{1,100})")


def chunk(data: bytes) -> list[Chunk]:
    """A chunk for each cell's source, longer ones cut; a file that is no notebook by blank lines, without its data."""
    lines = split_lines(data)
    if not _is_notebook(data):
        return [Chunk(first, last, "text") for first, last in _short_runs(lines, lines, 1, len(lines))]
    view = list(lines)
    chunks: list[Chunk] = []
    for first, last in _cells(data):
        source = [_source_text(line) for line in lines[first - 1 : last]]
        if any(line is None for line in source) or (chunks and first <= chunks[-1].last):
            # The line holds more than the source: a notebook without line breaks.
            continue
        texts = [line or "" for line in source]
        view[first - 1 : last] = [text.rstrip("\n").encode("utf-8", "replace") for text in texts]
        symbol = _symbol("".join(texts))
        chunks += (Chunk(start, end, "cell", symbol) for start, end in _short_runs(view, lines, first, last))
    return chunks


def _is_notebook(data: bytes) -> bool:
    try:
        notebook = jsontext.parse(data.decode("utf-8-sig"))
    except ValueError:
        return False
    return isinstance(notebook, dict) and ("cells" in notebook or "worksheets" in notebook)


def _cells(data: bytes) -> Iterator[tuple[int, int]]:
    """The 1-based lines of each cell's source: from its first string to its last.

    A path of keys is kept while brackets open and close; `cells[].source` is the format of today, and
    `worksheets[].cells[].input` that of before 2015.
    """
    path: list[bytes] = []
    key = b""
    line, counted = 1, 0
    span: tuple[int, int] | None = None
    for token in _TOKEN.finditer(data):
        text = token[0]
        line += data.count(b"\n", counted, token.start())
        counted = token.start()
        if text in (b"{", b"["):
            path.append(key if text == b"[" or not path else b"")
            key = b""
        elif text in (b"}", b"]"):
            if span and _is_source(path):
                yield span
                span = None
            del path[-1:]
            key = b""
        elif text == b",":
            key = b""
        elif _is_key(data, token.end()):
            key = text
        elif _is_source(path):
            span = (span[0] if span else line, line)
        elif _is_source([*path, key]):
            yield line, line


def _is_key(data: bytes, end: int) -> bool:
    return data[end : end + 20].lstrip()[:1] == b":"


def _is_source(path: list[bytes]) -> bool:
    return path[-1] in (b'"source"', b'"input"') and path[-3:-1] == [b'"cells"', b""] if path else False


def _source_text(line: bytes) -> str | None:
    """What a line of a source array stands for; None for a line that holds anything else."""
    found = _SOURCE_LINE.match(line)
    return str(json.loads(found[1], strict=False)) if found else None


def _symbol(source: str) -> str:
    heading = _HEADING.match(source)
    return heading[1].strip() if heading else ", ".join(_DEFINES.findall(source)[:MOST_NAMES])


def _short_runs(view: list[bytes], lines: list[bytes], first: int, last: int) -> list[tuple[int, int]]:
    """The lines first..last without those that are data, cut where the view of them has a paragraph."""
    runs: list[tuple[int, int]] = []
    start = first
    for number in range(first, last + 2):
        if number <= last and len(lines[number - 1]) <= LONGEST_LINE:
            continue
        if not all(map(is_blank, view[start - 1 : number - 1])):
            runs += split_at_blanks(view, start, number - 1)
        start = number + 1
    return runs
