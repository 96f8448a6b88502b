"""Source code by its definitions, read from the syntax tree.

A definition is a chunk, with the comment and the decorators above it. Small neighbours share one, long bodies are
cut where a statement begins. Whatever cannot be parsed is chunked as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from tree_sitter import Node

from itza_git.chunking import plain
from itza_git.chunking.grammars import parse
from itza_git.chunking.lines import CEILING, TARGET, is_blank, join_blank, split_lines
from itza_git.chunking.outline import Unit, outline, rows
from itza_git.chunking.tables import TABLES
from itza_git.records import Chunk

# A definition of this many lines or fewer may share a chunk with its neighbour.
SMALL = 10
# The most lines of a chunk that definitions share.
SHARED = 25
# Imports, constants or comments of more lines than this do not join a definition next to them.
ASIDE = 5
# A chunk of fewer lines says little alone.
FEWEST = 4
# So many definitions of one chunk are named.
MOST_NAMES = 8
# Statements nested deeper are not looked at for a place to cut.
DEEPEST_CUT = 40

_CLOSERS = (b"}", b")", b"]", b"end", b"#endif", b"fi", b"done", b"*/", b";", b"</", b'"""', b"'''")


def chunk(data: bytes, language: str) -> list[Chunk]:
    """The chunks of source code; plain ones where there is no grammar or no tree worth the name."""
    lines = split_lines(data)
    if all(map(is_blank, lines)):
        return []
    if language == "c" and any(word in data for word in _CPP_WORDS) and _CPP.search(data):
        language = "cpp"
    tree = parse(_as_functions(data) if language == "bash" else data, language)
    units = outline(tree.root_node, TABLES[language], data) if tree else []
    # A root that is an ERROR may hold most definitions all the same (json.hpp does); without any it is no program.
    if not units or (tree and tree.root_node.type == "ERROR" and not any(unit.names for unit in units)):
        return plain.chunk(data)
    _tile(units, lines)
    parts = [part for unit in _solid(units, lines) for part in _split(unit, lines)]
    return [_as_chunk(group) for group in _merge_tiny(_merge(parts))]


# A `.h` file counts as C by its name; these are the beginnings of lines that tell C++.
_CPP = re.compile(
    rb"^[ \t]*(?:namespace\b|template[ \t]*<|class [A-Za-z_]|(?:public|private|protected):)", re.MULTILINE
)
_CPP_WORDS = (b"namespace", b"template", b"class ", b"public:", b"private:", b"protected:")
_BATS_TEST = re.compile(rb"^@test[ \t][^\n]*\{[ \t]*$", re.MULTILINE)


def _as_functions(data: bytes) -> bytes:
    """Bats tests as shell functions, byte for byte in the same place, for a grammar that does not know them."""
    return _BATS_TEST.sub(lambda found: b"t()".ljust(len(found[0]) - 1) + b"{", data) if b"@test" in data else data


def _tile(units: list[Unit], lines: list[bytes]) -> None:
    """Gives every line that is in no unit to a neighbour, so that the units tile the file."""
    units[0].first = 1
    for previous, unit in pairwise(units):
        border = previous.last + 1
        while border < unit.first and _closes(lines[border - 1]):
            border += 1
        previous.last, unit.first = border - 1, border
    units[-1].last = len(lines)


def _solid(units: list[Unit], lines: list[bytes]) -> list[Unit]:
    """The units without those that hold only blank lines (a NUL or a form feed, to the grammar an error)."""
    solid: list[Unit] = []
    first = 1
    for unit in units:
        if not all(map(is_blank, lines[unit.first - 1 : unit.last])):
            unit.first = first
            solid.append(unit)
        elif solid:
            solid[-1].last = unit.last
        else:
            continue
        first = unit.last + 1
    return solid


def _closes(line: bytes) -> bool:
    """Whether a line ends what is above it rather than begins what is below."""
    return is_blank(line) or line.lstrip().startswith(_CLOSERS)


def _split(unit: Unit, lines: list[bytes]) -> list[Unit]:
    """The unit, cut at the borders of its statements into parts of at most CEILING lines."""
    if unit.last - unit.first < CEILING:
        return [unit]
    borders = _borders(unit.nodes)
    parts = []
    first = unit.first
    while unit.last - first >= CEILING:
        after = _next_border(borders, lines, first, unit.last)
        kind = "comment" if after <= unit.commented + 1 else unit.kind
        parts.append(Unit(first, after - 1, kind, unit.scope, unit.names))
        first = after
    parts.append(Unit(first, unit.last, unit.kind, unit.scope, unit.names))
    return _without_blank(parts, lines)


def _without_blank(parts: list[Unit], lines: list[bytes]) -> list[Unit]:
    """The parts, with each that holds only blank lines joined to its neighbour."""
    runs = join_blank(lines, [(part.first, part.last) for part in parts])
    kind_at = {part.last: part.kind for part in parts}
    unit = parts[0]
    return [Unit(first, last, kind_at[last], unit.scope, unit.names) for first, last in runs]


def _borders(nodes: Iterable[Node]) -> dict[int, int]:
    """Lines that a statement begins at, with how deep it is nested; a comment stays with what follows it."""
    borders: dict[int, int] = {}
    waiting = [(node, 0) for node in nodes]
    while waiting:
        parent, depth = waiting.pop()
        previous_last, after_comment = 0, False
        for node in parent.named_children:
            first, last = rows(node)
            if first > previous_last and not (after_comment and first == previous_last + 1):
                borders[first] = min(depth, borders.get(first, depth))
            after_comment = "comment" in node.type
            previous_last = last
            if last - first >= SMALL and depth < DEEPEST_CUT:
                waiting.append((node, depth + 1))
    return borders


def _next_border(borders: dict[int, int], lines: list[bytes], first: int, last: int) -> int:
    """The best line to begin the next part at, between SMALL and CEILING lines after first."""
    remaining = last - first + 1
    target = TARGET if remaining > 2 * TARGET else remaining // 2

    def cost(line: int) -> int:
        # One level deeper is worth three lines off the target, a paragraph's beginning six; else it is a last resort.
        after_blank = is_blank(lines[line - 2]) and not is_blank(lines[line - 1])
        return abs(line - first - target) + 3 * min(borders.get(line, 12), 12) - 6 * after_blank

    return min(range(first + SMALL, min(first + CEILING, last) + 1), key=cost)


def _lines_of(group: list[Unit]) -> int:
    return group[-1].last - group[0].first + 1


def _merge(units: list[Unit]) -> list[list[Unit]]:
    """Small neighbours of one scope, together in groups of about SHARED lines."""
    groups: list[list[Unit]] = []
    for unit in units:
        if groups and _may_join(groups[-1], unit):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _may_join(group: list[Unit], unit: Unit) -> bool:
    scope = group[0].scope
    if unit.scope[: len(scope)] != scope:
        return False
    size, added = _lines_of(group), max(unit.extent, unit.last - unit.first + 1)
    named = any(member.names for member in group)
    if not named and not unit.names:
        return size + added <= TARGET
    if not unit.names and group[-1].extent:
        # What follows the head of a type: its docstring and its fields.
        return size + added <= TARGET
    small = SMALL if named == bool(unit.names) or scope else ASIDE
    return size + added <= SHARED and min(size, added) <= small


def _merge_tiny(groups: list[list[Unit]]) -> list[list[Unit]]:
    """A group of a few lines goes to the shorter of its neighbours if that has room."""
    merged: list[list[Unit]] = []
    for group in groups:
        fits = bool(merged) and _lines_of(merged[-1]) + _lines_of(group) <= CEILING
        if fits and (_lines_of(group) < FEWEST or _lines_of(merged[-1]) < FEWEST):
            merged[-1] = merged[-1] + group
        else:
            merged.append(group)
    return merged


def _as_chunk(group: list[Unit]) -> Chunk:
    named = [unit for unit in group if unit.names]
    names = list(dict.fromkeys(name for unit in named for name in unit.names))
    # A part of a type that names nothing itself belongs to the type.
    symbol = ", ".join(names[:MOST_NAMES]) or ".".join(group[0].scope)
    # The comment of a definition that begins below counts where nothing else has a name.
    own = [unit for unit in named if unit.kind != "comment"] or named or group
    leading = max(own, key=lambda unit: max(unit.extent, unit.last - unit.first + 1))
    return Chunk(group[0].first, group[-1].last, leading.kind, symbol)
