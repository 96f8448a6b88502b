"""Passages that follow one another in a file, shown as one: what a reader would open at once takes one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from itza_git.records import Passage

# A joined passage has at most so many lines: about a screen.
MOST_LINES = 60
# It must be worth so much of the better one, or it would just happen to stand there.
LEAST_SHARE = 0.03
# Of so many times as many passages as are wanted, those that follow on a better one are joined to it.
DEPTH = 2.5


def joined(passages: Iterable[Passage], limit: int) -> list[Passage]:
    """At most limit passages, best first; one that touches a better one of its file widens that one instead.

    What it is called and scored is that of the better one; a comment that its declaration joins is of its kind.
    """
    kept: list[Passage] = []
    for passage in passages:
        at = next((n for n, one in enumerate(kept) if _touch(one, passage)), None)
        if at is not None:
            first, last = min(kept[at].first, passage.first), max(kept[at].last, passage.last)
            declares = kept[at].kind == "comment" and kept[at].symbol == passage.symbol
            kept[at] = replace(kept[at], first=first, last=last, kind=(passage if declares else kept[at]).kind)
        elif len(kept) < limit:
            kept.append(passage)
    return kept


def _touch(one: Passage, other: Passage) -> bool:
    if one.path != other.path or one.blob != other.blob:
        return False
    if other.score < LEAST_SHARE * one.score:
        return False
    lines = one.last - one.first + other.last - other.first + 2
    return lines <= MOST_LINES and (one.last + 1 == other.first or other.last + 1 == one.first)
