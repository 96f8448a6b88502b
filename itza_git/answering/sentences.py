"""A stream of text into finished sentences, and when it only repeats itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARK = r"\[\d{1,4}(?:\s?[,;\u2013-]\s?\d{1,4}){0,9}\]"
"""A model's mark: `[1]`, `[1, 3]`, `[1-3]`."""

# A sentence this long has lost its way.
LONGEST = 2000

_FENCE = re.compile(r"(`{3,}|~{3,})")
_STOP = re.compile("\n|[.!?]+[\"')*_\\]\u201d\u2019]*|[\u3002\uff01\uff1f]+")
# Marks behind the stop on its line, and marks that have the next line for themselves.
_MARKS = re.compile(rf"(?:[ \t]*{MARK})*(?:\s*\n\s*{MARK}(?:[ \t]*{MARK})*(?=[ \t]*(?:\n|\Z)))?")
_HALF_A_MARK = re.compile(r"\s*\[[\d,;\s\u2013-]*")
_NO_STOP = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|incl|p\.\s?ej|aprox)|^(?:[-*]\s*)?\d{1,3})\.$", re.IGNORECASE
)
_REPEATED = re.compile(r"(.{3,80}?)\1{5,}.{0,79}\Z", re.DOTALL)
_RUN_OF_MARKS = re.compile(rf"(\s?{MARK})(?:\s?{MARK}){{7,}}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A finished sentence, line or block of code; starts_line when a line began with it."""

    text: str
    starts_line: bool


class Sentences:
    """Sentences of a text that arrives in pieces, cut anywhere. `looping` turns true when it repeats itself."""

    def __init__(self) -> None:
        self.looping = False
        self._held = ""
        self._starts_line = True
        self._spoiled = False

    @property
    def unfinished(self) -> str:
        """What no sentence was made of yet."""
        return self._held.strip()

    def feed(self, piece: str) -> Iterator[Sentence]:
        """The sentences that are finished now: what follows them has begun."""
        if self.looping:
            return
        self._held += piece
        yield from self._finished(last=False)
        self._watch()

    def finish(self, cut: bool = False) -> Iterator[Sentence]:
        """The rest; without an unfinished last sentence when the text was cut."""
        yield from self._finished(last=True)
        if self.unfinished and not cut and not self._spoiled:
            yield self._take(len(self._held))

    def _finished(self, last: bool) -> Iterator[Sentence]:
        while True:
            blank = len(self._held) - len(self._held.lstrip())
            self._starts_line = self._starts_line or "\n" in self._held[:blank]
            self._held = self._held[blank:]
            end = self._end_of_code(last) if _FENCE.match(self._held) else self._end(last)
            if end is None:
                return
            yield self._take(end)

    def _take(self, end: int) -> Sentence:
        sentence = Sentence(self._held[:end].strip(), self._starts_line)
        self._held, self._starts_line = self._held[end:], False
        return sentence

    def _end(self, last: bool) -> int | None:
        """Where the first sentence of the held text ends, its marks included; None when that is not known yet."""
        text = self._held
        for stop in _STOP.finditer(text):
            newline = stop[0] == "\n"
            if not newline and (_in_code(text, stop.start()) or _NO_STOP.search(text[: stop.end()])):
                continue
            end = _after_marks(text, stop.start() if newline else stop.end())
            rest = text[end:]
            if not last and _undecided(rest):
                return None
            # `foo.bar` goes on; scripts without spaces do not need one.
            if not rest or rest[0].isspace() or stop[0][0] > "\u3000":
                return end
        return None

    def _end_of_code(self, last: bool) -> int | None:
        fence = _FENCE.match(self._held)
        assert fence is not None
        closing = re.compile(rf"\n[ \t]*{fence[0]}[ \t]*(?=\n|\Z)").search(self._held)
        if closing is None:
            return None
        end = _after_marks(self._held, closing.end())
        return end if last or not _undecided(self._held[end:]) else None

    def _watch(self) -> None:
        """Notice a text without end: the same marks or words again and again."""
        marks = _RUN_OF_MARKS.search(self._held)
        if marks:
            self._held = self._held[: marks.end(1)]
            self.looping = True
            return
        repeated = _REPEATED.search(self._held[-600:])
        # Rows of zeros, of dashes or of table cells are not a loop.
        if len(self._held) > LONGEST or (repeated and len(set(re.sub(r"\W", "", repeated[1]))) > 2):
            self.looping = self._spoiled = True


def _after_marks(text: str, start: int) -> int:
    found = _MARKS.match(text, start)
    return found.end() if found else start


def _undecided(rest: str) -> bool:
    """Whether what follows a sentence may still become a mark that belongs to it."""
    return not rest.strip() or bool(_HALF_A_MARK.fullmatch(rest))


def _in_code(text: str, position: int) -> bool:
    """Whether the position is within backticks; those do not reach over lines."""
    return text.count("`", text.rfind("\n", 0, position) + 1, position) % 2 == 1
