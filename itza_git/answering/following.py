"""Where lines of one version of a file are in another. Pure: lists of lines in, places out."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

# Lines that no unique line anchors are compared one with another only up to so many pairs.
MOST_PAIRS = 250_000
# A run of lines with fewer letters and digits (`}`, `return None`) says nothing about where it came from.
DISTINCTIVE = 16
# From this share of common lines on a file counts as another version of one, as for git.
ALIKE = 0.5

Lines = list[bytes]


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of lines: `same` place, `moved`, `changed` or `gone`; first and last are where, 1-based, inclusive.

    For `changed` they are what stands there instead. For `gone` they are 0.
    """

    status: Literal["same", "moved", "changed", "gone"]
    first: int = 0
    last: int = 0


class Versions:
    """Two versions of a file, compared once for all the lines that are followed from old to new."""

    def __init__(self, old: Lines, new: Lines) -> None:
        self.old = old
        self.new = new

    @cached_property
    def _place(self) -> list[int | None]:
        return matching(self.old, self.new)

    @cached_property
    def _spaceless(self) -> Versions:
        return Versions([spaceless(line) for line in self.old], [spaceless(line) for line in self.new])

    @cached_property
    def are_alike(self) -> bool:
        """Whether they are two versions of one file rather than two files."""
        return similarity(census(self.old), census(self.new)) >= ALIKE

    def follow(self, first: int, last: int) -> Followed:
        """Where the lines first to last of old are in new."""
        if self.new[first - 1 : last] == self.old[first - 1 : last]:
            return Followed("same", first, last)
        begin = self._unbroken(first, last) or self._unique(first, last)
        if begin:
            return Followed("moved", begin, begin + last - first)
        # Lines that were indented anew, or end in another way, have changed there.
        begin = self._spaceless._unbroken(first, last)
        if begin:
            return Followed("changed", begin, begin + last - first)
        return self._instead(first, last)

    def _unbroken(self, first: int, last: int) -> int | None:
        """The line of new at which the lines stand, when all of them were kept and nothing was put in between."""
        begin = self._place[first - 1]
        if begin is None or self._place[first - 1 : last] != list(range(begin, begin + last - first + 1)):
            return None
        return begin + 1

    def _unique(self, first: int, last: int) -> int | None:
        """The only line of new at which the lines stand, when their text is found once on both sides."""
        block = self.old[first - 1 : last]
        if not is_distinctive(block) or len(occurrences(self.old, block)) != 1:
            return None
        found = occurrences(self.new, block)
        return found[0] if len(found) == 1 else None

    def _instead(self, first: int, last: int) -> Followed:
        """What stands between the lines around them."""
        place = self._place
        low = next((at + 1 for at in reversed(place[: first - 1]) if at is not None), 0)
        high = next((at for at in place[last:] if at is not None), len(self.new))
        begin, end = place[first - 1], place[last - 1]
        low = low if begin is None else begin
        high = high if end is None else end + 1
        return Followed("changed", low + 1, high) if low < high else Followed("gone")


def spaceless(line: bytes) -> bytes:
    """The line without its white space."""
    return b"".join(line.split())


def occurrences(where: Lines, block: Lines) -> list[int]:
    """The lines (1-based) at which block begins."""
    size = len(block)
    starts = range(len(where) - size + 1)
    return [at + 1 for at in starts if where[at] == block[0] and where[at : at + size] == block]


def is_distinctive(block: Lines) -> bool:
    """Whether lines say enough to be recognised elsewhere."""
    return sum(_is_word(byte) for line in block for byte in line) >= DISTINCTIVE


def _is_word(byte: int) -> bool:
    return byte >= 128 or chr(byte).isalnum()


def similarity(old: Counter[bytes], new: Counter[bytes]) -> float:
    """The share of lines that two files have in common, 0..1; see `census`."""
    smaller, larger = sorted((old.total(), new.total()))
    # Without half the lines they cannot have half in common.
    return (old & new).total() / larger if 2 * smaller >= larger > 0 else 0.0


def census(of: Lines) -> Counter[bytes]:
    """How often each line occurs that is not blank, however indented."""
    return Counter(stripped for line in of if (stripped := line.strip()))


def matching(old: Lines, new: Lines) -> list[int | None]:
    """For each line of old its place in new (0-based), rising; None for one that is not there.

    Patience diff (Bram Cohen): lines that occur once on both sides hold the rest in place, so that a brace or a blank
    line is matched within its own surroundings. It costs n log n where difflib's worst case is far above n squared.
    """
    place: list[int | None] = [None] * len(old)
    pending = [(0, len(old), 0, len(new))]
    while pending:
        low, high, low_new, high_new = _trim(old, new, place, *pending.pop())
        if low == high or low_new == high_new:
            continue
        anchors = _anchors(old, new, low, high, low_new, high_new)
        if not anchors:
            _compare(old, new, place, low, high, low_new, high_new)
            continue
        for at, at_new in anchors:
            pending.append((low, at, low_new, at_new))
            place[at] = at_new
            low, low_new = at + 1, at_new + 1
        pending.append((low, high, low_new, high_new))
    return place


def _trim(
    old: Lines, new: Lines, place: list[int | None], low: int, high: int, low_new: int, high_new: int
) -> tuple[int, int, int, int]:
    """Match what both begin and end with; what is left."""
    while low < high and low_new < high_new and old[low] == new[low_new]:
        place[low] = low_new
        low, low_new = low + 1, low_new + 1
    while low < high and low_new < high_new and old[high - 1] == new[high_new - 1]:
        high, high_new = high - 1, high_new - 1
        place[high] = high_new
    return low, high, low_new, high_new


def _anchors(old: Lines, new: Lines, low: int, high: int, low_new: int, high_new: int) -> list[tuple[int, int]]:
    """The longest rising run of lines that occur once on both sides."""
    there = _once(new, low_new, high_new)
    pairs = [(at, there[line]) for line, at in _once(old, low, high).items() if line in there]
    ends: list[int] = []
    tops: list[int] = []
    previous: list[int] = []
    for index, (_, at_new) in enumerate(pairs):
        pile = bisect_left(ends, at_new)
        previous.append(tops[pile - 1] if pile else -1)
        ends[pile : pile + 1] = [at_new]
        tops[pile : pile + 1] = [index]
    chain = []
    index = tops[-1] if tops else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _once(where: Lines, low: int, high: int) -> dict[bytes, int]:
    """The lines that occur once, with their places, in order."""
    counts = Counter(where[low:high])
    return {where[at]: at for at in range(low, high) if counts[where[at]] == 1}


def _compare(old: Lines, new: Lines, place: list[int | None], low: int, high: int, low_new: int, high_new: int) -> None:
    if (high - low) * (high_new - low_new) > MOST_PAIRS:
        return
    matcher = SequenceMatcher(None, old[low:high], new[low_new:high_new], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            place[low + block.a + step] = low_new + block.b + step
