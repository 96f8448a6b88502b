"""The records of an answer: statements, what supports each of them, and what was taken out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Status = Literal["answered", "no_se", "unverified", "passages"]
Confidence = Literal["high", "low"]

_STOPS = ".!?\u3002\uff01\uff1f"


@dataclass(frozen=True, slots=True)
class Cited:
    """The lines that a statement rests on; they lie within a passage that the model was shown.

    Or it is a commit: path is then empty, and blob the commit's id.

    n is the number of the mark in the answer's text, the same for the same lines. by says whose choice it was: the
    model's own `[n]` that passed the checks, or the tool's. score is the share of the statement's words found there.
    """

    n: int
    path: bytes
    blob: bytes
    first: int
    last: int
    by: Literal["model", "tool"]
    score: float = 0.0

    @property
    def is_commit(self) -> bool:
        """Whether it is a commit's message, not lines of a file."""
        return not self.path


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of the answer, or one block of code, without the model's marks; without citations it is unverified.

    starts_line says that the model began a line with it: an item of a list, a block, a paragraph.
    """

    text: str
    citations: tuple[Cited, ...] = ()
    starts_line: bool = False

    @property
    def separator(self) -> str:
        """What stands between the statement before and this one."""
        return "\n" if self.starts_line else " "

    @property
    def verified(self) -> bool:
        """Whether a passage was found that holds what the sentence names."""
        return bool(self.citations)

    @property
    def marked(self) -> str:
        """The text with its marks, before the full stop: `Packs are immutable [1][2].`"""
        marks = "".join(f"[{cited.n}]" for cited in self.citations)
        if not marks:
            return self.text
        body = self.text.rstrip(_STOPS)
        if self.text.endswith("```") or not body:
            return f"{self.text}\n{marks}"
        return f"{body} {marks}{self.text[len(body) :]}"


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that the model wrote and the answer does not carry, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` ends with.

    status is `answered` when at least one statement is verified, `unverified` when none is, `no_se` when nothing here
    answers (no_se_by says who found so, missing what is missing), and `passages` when no model was asked. confidence is
    `high` when every statement is verified and nothing about the model's run was suspect.
    """

    status: Status
    statements: tuple[Statement, ...] = ()
    missing: str | None = None
    confidence: Confidence | None = None
    no_se_by: Literal["retrieval", "model"] | None = None
    rejected: tuple[Rejected, ...] = ()
    model: str | None = None

    @property
    def text(self) -> str | None:
        """The statements with their marks; None without any."""
        return join(self.statements) or None

    @property
    def citations(self) -> tuple[Cited, ...]:
        """Every mark of the text once, by its number."""
        found: dict[int, Cited] = {}
        for statement in self.statements:
            for cited in statement.citations:
                # The same lines may be the model's choice in one sentence and the tool's in another.
                known = found.setdefault(cited.n, cited)
                if cited.by == "model" and known.by == "tool":
                    found[cited.n] = replace(known, by="model")
        return tuple(found[n] for n in sorted(found))

    @property
    def fully_verified(self) -> bool:
        """Whether `--strict` may accept it: an answer of which every statement is verified."""
        return self.status == "answered" and all(statement.verified for statement in self.statements)


PASSAGES_ONLY = Answer("passages")
"""The answer when no model was asked: the passages speak for themselves."""


def join(statements: Iterable[Statement]) -> str:
    """The text of statements in order, with their marks."""
    text = ""
    for statement in statements:
        # A stream prints the same: a separator before every statement but the first.
        text += (statement.separator if text else "") + statement.marked
    return text


def conclude(statements: Sequence[Statement]) -> tuple[Status, Confidence]:
    """Status and confidence that statements by themselves deserve."""
    if not any(statement.verified for statement in statements):
        return "unverified", "low"
    return "answered", "high" if all(statement.verified for statement in statements) else "low"
