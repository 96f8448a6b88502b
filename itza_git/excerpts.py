"""Hits cut to what a reader has room for, and as lines for other programs. Pure.

A hit that was cut cites just the lines that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from itza_git.answering.citation import parse, render
from itza_git.render import clean, snippet
from itza_git.results import Hit
from itza_git.search.question import Question
from itza_git.words import identifiers, split


def fitting(hits: Sequence[Hit], most: int, size: Callable[[Hit], int]) -> list[Hit]:
    """The first hits whose sizes, in characters, are at most `most` together.

    When not even the best one has room, it is cut after a whole line; there is always one line of it.
    """
    kept: list[Hit] = []
    left = most
    for hit in hits:
        left -= size(hit)
        if left < 0:
            break
        kept.append(hit)
    if not kept and hits:
        return [_cut(hits[0], most, size)]
    return kept


def _cut(hit: Hit, most: int, size: Callable[[Hit], int]) -> Hit:
    """The hit without its last lines."""
    lines = hit.text.split("\n")
    low, high = 1, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(shortened(hit, middle)) <= most else (low, middle - 1)
    return shortened(hit, low)


def shortened(hit: Hit, lines: int) -> Hit:
    """The hit with just its first lines."""
    if lines >= hit.passage.last - hit.passage.first + 1:
        return hit
    last = hit.passage.first + lines - 1
    citation = render(replace(parse(hit.citation), last=last))
    text = "\n".join(hit.text.split("\n")[:lines])
    return replace(hit, passage=replace(hit.passage, last=last), text=text, citation=citation, after=())


def vimgrep(hits: Iterable[Hit], query: str, shown: Callable[[Hit], str]) -> Iterator[str]:
    """`path:line:column:text` of the line of each hit that has most of the question; shown gives the path."""
    wanted = frozenset(Question(query).content_words)
    for hit in hits:
        lines = hit.text.split("\n")
        at = _best_line(lines, wanted)
        yield f"{shown(hit)}:{hit.passage.first + at}:{_column(lines[at], wanted)}:{clean(lines[at].rstrip())}"


def _best_line(lines: Sequence[str], wanted: frozenset[str]) -> int:
    return snippet(lines, wanted, 1).start


def _column(line: str, wanted: frozenset[str]) -> int:
    """The column, in bytes from 1, where the first of the wanted words stands; else where the text begins."""
    start = next((at for name in identifiers(line) if wanted & set(split(name)) and (at := line.find(name)) >= 0), None)
    if start is None:
        start = len(line) - len(line.lstrip())
    return len(line[:start].encode("utf-8", "replace")) + 1


def paths(hits: Iterable[Hit]) -> list[Hit]:
    """The best hit of each file, in order."""
    first: dict[bytes, Hit] = {}
    for hit in hits:
        first.setdefault(hit.passage.path, hit)
    return list(first.values())
