"""What a model wrote, sentence by sentence, with citations that the tool has checked.

A small model's own `[n]` is right in one answer of eight, so it is one witness: it is kept when the passage holds what
the sentence names and no other passage is clearly closer. Otherwise the tool chooses, or the sentence stays unverified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from itza_git.answering.answer import Cited, Rejected, Statement
from itza_git.answering.evidence import Claim, Evidence, Vectors
from itza_git.answering.examples import NAMES
from itza_git.answering.places import take_out
from itza_git.answering.prompt import Block
from itza_git.answering.sentences import MARK, Sentence, Sentences
from itza_git.words import identifiers

# After so many sentences that were there before, nothing new comes.
MOST_REPEATS = 2

# `No_SE:`, `**NO_SE**:`, `NO SE:`; but `No se usa...` is how a Spanish answer may begin.
_NO_SE = re.compile(r"^\W*(?:(?i:no_se)\b|NO SE(?=\s*:))[`*]*[\s:*.-]*")
_NEXT_TURN = re.compile(r"^\W*(?:Passages|Question):")
_CODE_OR_MARK = re.compile(rf"(?P<code>(?P<ticks>`+).*?(?P=ticks))|\s*(?P<mark>{MARK})", re.DOTALL)
_SUBSCRIBED = re.compile(r"[\w.)\]]+\Z")


class Attributor:
    """Checks a model's text while it comes in.

    said_no_se and missing tell of a `NO_SE:` and what it named.
    """

    def __init__(
        self, blocks: Sequence[Block], question: str = "", shown: int | None = None, vectors: Vectors | None = None
    ) -> None:
        """shown: so many of the blocks the model has seen, and can mean by their number; all without it.

        vectors: one witness more on which passage a sentence is about.
        """
        self.said_no_se = False
        self.missing: str | None = None
        self._over = False
        self._evidence = Evidence(blocks, vectors)
        self._shown = len(blocks) if shown is None else shown
        self._sentences = Sentences()
        self._asked = {name.casefold() for name in identifiers(question)}
        self._rejected: dict[Rejected, None] = {}
        self._numbers: dict[tuple[bytes, bytes, int, int], int] = {}
        self._seen: set[str] = set()
        self._repeats = 0

    @property
    def done(self) -> bool:
        """Whether reading on is useless: the text repeats itself, or goes on to invent the next question."""
        return self._over or self._sentences.looping

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """What was taken out so far, each once, in order."""
        return tuple(self._rejected)

    def reject(self, text: str, reason: str) -> None:
        """Note something that the answer does not carry."""
        if text:
            self._rejected.setdefault(Rejected(text, reason))

    def feed(self, piece: str) -> list[Statement]:
        """The statements that are finished and checked now."""
        return list(self._statements(self._sentences.feed(piece)))

    def finish(self, cut: bool = False) -> list[Statement]:
        """The last statements; without an unfinished sentence when the text was cut."""
        found = list(self._statements(self._sentences.finish(cut or self._repeats > 0)))
        if not self._over:
            reason = "the answer repeats itself" if self._sentences.looping else "the answer is cut here"
            self.reject(_printable(self._sentences.unfinished), reason)
        return found

    def _statements(self, sentences: Iterable[Sentence]) -> Iterator[Statement]:
        for sentence in sentences:
            if self._over:
                return
            text = _printable(sentence.text)
            if _NEXT_TURN.match(text):
                self._over = True
                return
            body, marks = self._split(text)
            statement = self._check(self._after_no_se(body, bool(marks)), marks, sentence.starts_line)
            if statement is not None:
                yield statement

    def _after_no_se(self, body: str, marked: bool) -> str:
        """What is left of the text as a statement; notes what a `NO_SE:` says is missing.

        Small models write `NO_SE:` and then the answer. Only what they cite themselves is taken for one.
        """
        found = _NO_SE.match(body)
        if found:
            self.said_no_se = True
            body = body[found.end() :]
            if not self._copied(body):
                self.missing = self.missing or body.rstrip(". `" if body.count("`") % 2 else ". ") or None
        if not self.said_no_se or marked:
            return body
        if not found:
            self.reject(body, "written after NO_SE, without a citation")
        return ""

    def _check(self, text: str, marks: list[int], starts_line: bool) -> Statement | None:
        if not text.strip(" .") or self._is_repeated(text):
            return None
        if self._copied(text):
            self.reject(text, "copied from the examples of the prompt")
            return None
        citations = self._cite(Claim(text), marks)
        if self.said_no_se and not any(cited.by == "model" for cited in citations):
            self.reject(text, "written after NO_SE, and no passage shows it")
            return None
        if text.rstrip(". ") == self.missing:
            self.missing = None
        return Statement(text, citations, starts_line)

    def _is_repeated(self, text: str) -> bool:
        key = " ".join(text.casefold().split())
        if key not in self._seen:
            self._seen.add(key)
            return False
        self._repeats += 1
        self._over = self._over or self._repeats >= MOST_REPEATS
        self.reject(text, "repeated")
        return True

    def _copied(self, text: str) -> bool:
        """Whether the text has an invented name of the prompt's examples, which is in no passage and not asked for."""
        names = NAMES.intersection(name.casefold() for name in identifiers(text)) - self._asked
        passages = range(len(self._evidence.blocks))
        return any(not any(self._evidence.holds(index, name) for index in passages) for name in names)

    def _cite(self, claim: Claim, given: list[int]) -> tuple[Cited, ...]:
        """The citations of a sentence; none when a name of it is nowhere, or nothing is close to it."""
        evidence = self._evidence
        unknown = evidence.unknown(claim)
        if unknown:
            self.reject(", ".join(unknown), "named in the answer, and no passage holds it")
            return ()
        chosen = self._kept(claim, given) or evidence.best(claim)
        for index in given:
            if index not in chosen:
                self.reject(f"[{index + 1}]", f"passage {index + 1} does not show: {claim.text}")
        return tuple(self._cited(claim, index, "model" if index in given else "tool") for index in chosen)

    def _kept(self, claim: Claim, given: list[int]) -> list[int]:
        """The model's own numbers that pass; none when together they lack something that the sentence names."""
        evidence = self._evidence
        closest = max((evidence.closeness(claim, index) for index in range(len(evidence.blocks))), default=0.0)
        kept = [
            index
            for index in given
            if evidence.supports(claim, index) and evidence.closeness(claim, index) >= evidence.clearly_below * closest
        ]
        held = all(any(evidence.holds(index, name) for index in kept) for name in claim.names)
        return kept if held else []

    def _cited(self, claim: Claim, index: int, by: Literal["model", "tool"]) -> Cited:
        passage = self._evidence.blocks[index].passage
        first, last = self._evidence.lines(claim, index)
        n = self._numbers.setdefault((passage.path, passage.blob, first, last), len(self._numbers) + 1)
        return Cited(n, passage.path, passage.blob, first, last, by, round(self._evidence.overlap(claim, index), 3))

    def _split(self, text: str) -> tuple[str, list[int]]:
        """The text without marks, and the passages that they name, by index, each once."""
        marks: list[int] = []

        def take(found: re.Match[str]) -> str:
            if found["code"] or self._is_subscript(text, found):
                return found[0]
            marks.extend(self._indexes(found["mark"]))
            return ""

        def witness(place: str, index: int | None) -> None:
            if index is None:
                self.reject(place, "no passage has these lines")
            else:
                marks.append(index)

        before = ""
        # What is taken out may leave a new one behind: `[[1]2]`.
        while before != text:
            before = text
            text = take_out(_CODE_OR_MARK.sub(take, text), self._evidence.blocks, witness)
        body = text.strip()
        if not body.startswith("```"):
            body = " ".join(body.split())
        return body, list(dict.fromkeys(marks))

    def _is_subscript(self, text: str, found: re.Match[str]) -> bool:
        """Whether it is code that a passage has, `argv[1]`, and no mark."""
        before = _SUBSCRIBED.search(text, 0, found.start())
        if before is None or found.start() != found.start("mark"):
            return False
        return any(before[0] + found["mark"] in block.text for block in self._evidence.blocks)

    def _indexes(self, mark: str) -> Iterator[int]:
        for part in re.split("[,;]", mark.strip("[]")):
            numbers = [int(number) for number in re.split("[\u2013-]", part)]
            first, last = numbers[0], numbers[-1]
            if 1 <= first <= last <= self._shown:
                yield from range(first - 1, last)
            else:
                self.reject(f"[{part.strip()}]", "no such passage")


def _printable(text: str) -> str:
    """The text without what could steer a terminal."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")
