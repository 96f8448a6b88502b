"""Results as short text for a model's context: citation, symbol, numbered lines; what is cut or lacking is said.

A budget is the most characters of a whole answer, its notes included.

Every line of a repository stands behind its number, so none can pass for a line of ours. Tabs are kept: who edits a
file needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
# Room for what is said of passages that are cut or left out, and for that there are more lines.
NOTE_CHARACTERS = 100
MORE_CHARACTERS = 32
# So much of a line is shown where nothing fits.
LEAST_LINE = 20


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
        return f"{self.citation}  {_cut(symbol, LONGEST_SYMBOL)}".rstrip()


def fitted(budget: int, head: str, body: Callable[[int], str], *notes: str) -> str:
    """Head, body and notes in budget characters. body makes its text of the characters that the others leave."""
    after = "\n".join(note for note in notes if note)
    frame = joined(head, after)
    return within(joined(head, body(max(budget - len(frame) - 4, 0)), after).split("\n"), budget)


def passages(pieces: Sequence[Piece], query: str, budget: int, more: bool = False) -> str:
    """The pieces, the best first, in budget characters; says how many did not fit, and which are cut.

    more: there are more than these.
    """
    wanted = frozenset(Question(query).content_words)
    blocks: list[str] = []
    left = budget - NOTE_CHARACTERS
    for at, piece in enumerate(pieces):
        if blocks and left < LEAST_CHARACTERS:
            break
        share = int(left / (len(pieces) - at) * SHARE)
        for_next = LEAST_CHARACTERS if at + 1 < len(pieces) and left >= 2 * LEAST_CHARACTERS else 0
        room = min(left - for_next, max(share, LEAST_CHARACTERS)) - len(piece.head) - 1
        blocks.append("\n".join([piece.head, *numbered(piece.first, piece.lines, wanted, room)]))
        left -= len(blocks[-1]) + 2
    told = []
    if any(line == CUT or len(line) > LONGEST_LINE for block in blocks for line in block.split("\n")):
        told.append(f"{CUT} is left out: read_citation shows it")
    if len(blocks) < len(pieces):
        told.append(f"{count(len(pieces) - len(blocks), 'more passage')} did not fit: raise budget")
    elif more:
        told.append("more passages: raise limit")
    return "\n\n".join([*blocks, *([f"({'; '.join(told)})"] if told else [])])


def numbered(first: int, lines: Sequence[str], wanted: frozenset[str], room: int) -> list[str]:
    """The lines behind their numbers; when they take more than room, the first and those with the wanted words.

    At least a part of one line, however small the room.
    """
    lines = _without_blank_end(lines)
    shown = [f"{first + at}\t{_short(line)}" for at, line in enumerate(lines)]
    if _size(shown) <= room:
        return shown
    size = max(int(room / _size(shown) * len(shown)) - 1, 1)
    while _size(found := _window(shown, snippet(lines, wanted, size))) > room and size > 1:
        size -= max(size // 8, 1)
    if _size(found) <= room:
        return found
    best = snippet(lines, wanted, 1).start
    return [*([CUT] if best else []), _cut(shown[best], max(room - 6, LEAST_LINE)), *([CUT] if len(lines) > 1 else [])]


def _window(shown: Sequence[str], window: range) -> list[str]:
    """The first line and those of the window, with marks where some are left out."""
    head = [] if window.start == 0 else [shown[0]] if window.start == 1 else [shown[0], CUT]
    return [*head, *shown[window.start : window.stop], *([CUT] if window.stop < len(shown) else [])]


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _without_blank_end(lines: Sequence[str]) -> Sequence[str]:
    end = len(lines)
    while end > 1 and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _short(line: str) -> str:
    return _cut(visible(line.rstrip()), LONGEST_LINE)


def _cut(line: str, length: int) -> str:
    return line if len(line) <= length else line[:length] + CUT


def within(lines: Sequence[str], budget: int) -> str:
    """The lines that fit the budget, at least a part of one; says how many did not."""
    if _size(lines) - 1 <= budget:
        return "\n".join(lines)
    left = budget - MORE_CHARACTERS
    fitting = 0
    while fitting < len(lines) and len(lines[fitting]) + 1 <= left:
        left -= len(lines[fitting]) + 1
        fitting += 1
    kept = lines[:fitting] or [_cut(lines[0], max(left - 2, LEAST_LINE))]
    return "\n".join([*kept, f"({count(max(len(lines) - len(kept), 1), 'more line')}: raise budget)"])


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


def count(number: int, noun: str) -> str:
    """A number of things: "1 file", "2 files"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
