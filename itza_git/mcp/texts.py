"""Results as short text for a model's context: citation, symbol, numbered lines; what is cut or lacking is said.

Every line of a repository stands behind its number, so none can pass for a line of ours. Tabs are kept: who edits a
file needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itza_git.records import Coverage
from itza_git.render import snippet, visible
from itza_git.results import Hit
from itza_git.search.question import Question

# Less than this of a passage tells little: then fewer are shown. The best may take more than their equal share.
LEAST_CHARACTERS = 400
SHARE = 1.7
LONGEST_LINE = 300
LONGEST_SYMBOL = 100
CUT = "…"


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage to show; first is the number of its first line."""

    citation: str
    symbol: str
    first: int
    lines: tuple[str, ...]

    @classmethod
    def of(cls, hit: Hit, note: str = "") -> Piece:
        """The piece that a hit is; note is said of it."""
        told = f"{hit.passage.symbol}  ({note})".lstrip() if note else hit.passage.symbol
        return cls(hit.citation, told, hit.passage.first, tuple(hit.text.split("\n")))

    @property
    def head(self) -> str:
        """Its citation and symbol."""
        symbol = visible(self.symbol)
        return f"{self.citation}  {symbol if len(symbol) <= LONGEST_SYMBOL else symbol[:LONGEST_SYMBOL] + CUT}".rstrip()


def passages(pieces: Sequence[Piece], query: str, budget: int, more: bool = False) -> str:
    """The pieces, the best first, in about budget characters; says how many did not fit, and which are cut.

    more: there are more than these.
    """
    wanted = frozenset(Question(query).content_words)
    blocks: list[str] = []
    left = budget
    for at, piece in enumerate(pieces):
        if blocks and left < LEAST_CHARACTERS:
            break
        share = int(left / (len(pieces) - at) * SHARE)
        for_next = LEAST_CHARACTERS if at + 1 < len(pieces) and left >= 2 * LEAST_CHARACTERS else 0
        room = min(left - for_next, max(share, LEAST_CHARACTERS)) - len(piece.head)
        blocks.append("\n".join([piece.head, *numbered(piece.first, piece.lines, wanted, room)]))
        left -= len(blocks[-1]) + 2
    told = []
    if any(line == CUT for block in blocks for line in block.split("\n")):
        told.append(f"{CUT} is left out: read_citation shows it")
    if len(blocks) < len(pieces):
        told.append(f"{_count(len(pieces) - len(blocks), 'more passage')} did not fit: raise budget")
    elif more:
        told.append("more passages: raise limit")
    return "\n\n".join([*blocks, *([f"({'; '.join(told)})"] if told else [])])


def numbered(first: int, lines: Sequence[str], wanted: frozenset[str], room: int) -> list[str]:
    """The lines behind their numbers; when they take more than room, the first and those with the wanted words."""
    lines = _without_blank_end(lines)
    shown = [f"{first + at}\t{_short(line)}" for at, line in enumerate(lines)]
    if sum(map(len, shown)) + len(shown) <= room:
        return shown
    mean = sum(map(len, shown)) / len(shown) + 1
    size = max(int(room / mean) - 1, 1)
    window = snippet(lines, wanted, size)
    kept = shown[window.start : window.stop]
    while len(kept) > 1 and sum(map(len, kept)) + len(kept) > room:
        kept.pop()
    head = [] if window.start == 0 else [shown[0]] if window.start == 1 else [shown[0], CUT]
    return [*head, *kept, *([CUT] if window.start + len(kept) < len(lines) else [])]


def _without_blank_end(lines: Sequence[str]) -> Sequence[str]:
    end = len(lines)
    while end > 1 and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _short(line: str) -> str:
    line = visible(line.rstrip())
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + CUT


def within(lines: Sequence[str], budget: int) -> str:
    """The lines that fit the budget, at least one; says how many did not."""
    fitting, size = 0, 0
    while fitting < len(lines) and (size := size + len(lines[fitting]) + 1) <= budget:
        fitting += 1
    kept = list(lines[: max(fitting, 1)])
    left = len(lines) - len(kept)
    return "\n".join([*kept, *([f"({_count(left, 'more line')}: raise budget)"] if left else [])])


def coverage(covered: Coverage, goes_on: bool, error: str) -> str:
    """What to know when not all is indexed; empty when all is."""
    if covered.indexed >= covered.total:
        return ""
    what = f"only {covered.indexed} of {covered.total} files indexed"
    if goes_on:
        return f"{what} so far, indexing goes on: ask again for the rest"
    return f"{what}: {error}" if error else what


def joined(*parts: str) -> str:
    """The parts that are not empty, a blank line between them."""
    return "\n\n".join(part for part in parts if part)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
