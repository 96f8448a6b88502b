"""The records of a verification: what became of the citations in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from itza_git.answering.citation import Citation, CommitCitation
from itza_git.answering.finding import Found

Status = Literal["same", "moved", "changed", "gone", "uncommitted"]
STATUSES: tuple[Status, ...] = ("same", "moved", "changed", "gone", "uncommitted")

UNKNOWN_COMMIT = "unknown commit"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a citation's lines.

    reason says more, in words. now cites the new place of lines that `moved`, and what stands in the place of those
    that `changed`, or a commit by its real subject; before and after are the lines of both, for a diff.
    """

    status: Status
    reason: str = ""
    now: Citation | CommitCitation | None = None
    before: tuple[bytes, ...] = ()
    after: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A citation in a text, the line (1-based) that it stands on, and its verdict."""

    found: Found
    line: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Verification:
    """All citations of a text, checked against a commit (full hex id)."""

    commit: str
    checked: tuple[Checked, ...]

    @property
    def holds(self) -> bool:
        """Whether every citation is the same."""
        return all(one.verdict.status == "same" for one in self.checked)


def fixed(text: str, verification: Verification) -> str:
    """The text with what `moved` cited at its new place; every other character is as it was."""
    pieces, free = [], 0
    for one in verification.checked:
        if one.verdict.status == "moved" and one.verdict.now:
            pieces += [text[free : one.found.start], one.found.written(one.verdict.now)]
            free = one.found.end
    return "".join(pieces) + text[free:]
