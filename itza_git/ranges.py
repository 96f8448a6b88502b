"""`A..B` and `A...B`: what a person writes who asks about a change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from itza_git.errors import UsageError

# What stands in braces belongs to one revision: `HEAD@{1..2}` is none that git knows, `v1^{/fix ..}` is a search.
_RANGE = re.compile(r"((?:[^{}]|\{[^{}]*\})*?)(?<!\.)(\.{2,3})(?!\.)((?:[^{}.]|\{[^{}]*\}|\.(?!\.))*)")


@dataclass(frozen=True, slots=True)
class Range:
    """The two revisions of a range, as they were written; an empty side is HEAD.

    since_base: `A...B`, the change since the two last had a commit in common.
    """

    old: str
    new: str
    since_base: bool


def range_of(rev: str) -> Range | None:
    """The range that a revision is; None for one that names a commit, as far as it names anything."""
    # `:/text` looks for a text, which may hold anything.
    found = None if rev.startswith(":") else _RANGE.fullmatch(rev)
    if found is None:
        return None
    return Range(found[1] or "HEAD", found[3] or "HEAD", len(found[2]) == 3)


def refuse_range(rev: str) -> None:
    """Raise `UsageError` for a range, where one revision is asked for."""
    found = range_of(rev)
    if found:
        raise UsageError(f"{rev} is a range, and one revision is asked for here", f"give one of the two: {found.new}")
