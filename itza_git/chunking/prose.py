"""Documents by their headings: a chunk is a section, its symbol the breadcrumb `Usage > Hooks`.

Each syntax has one function that lists the headings and the lines that must stay together; one splitter serves all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from itza_git.chunking.lines import CEILING, TARGET, is_blank, split_lines
from itza_git.records import Chunk

# A section of fewer lines (a heading and a sentence) shares its chunk with the sub-section that follows.
TINY = 5
LONGEST_TITLE = 100
# A fence of more lines is no example that is read as a whole; it is cut like any text.
LONGEST_FENCE = 200
_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: the 1-based line its section begins at, how deep it is (1 is the outermost), and its text."""

    line: int
    level: int
    title: str


@dataclass(slots=True)
class Structure:
    """The headings of a document, and the 1-based lines that nothing may be cut before."""

    headings: list[Heading] = field(default_factory=list)
    inner: set[int] = field(default_factory=set)


def chunk_markdown(data: bytes) -> list[Chunk]:
    """The sections of a Markdown document; fences are never split."""
    return _chunk(data, _markdown)


def chunk_rst(data: bytes) -> list[Chunk]:
    """The sections of a reStructuredText document."""
    return _chunk(data, _rst)


def chunk_asciidoc(data: bytes) -> list[Chunk]:
    """The sections of an AsciiDoc document; delimited blocks are never split."""
    return _chunk(data, _asciidoc)


def _title(line: bytes) -> str:
    return " ".join(line.decode("utf-8", "replace").split())[:LONGEST_TITLE].strip()


_ATX = re.compile(rb" {0,3}(#{1,6})(?=[ \t\r]|$)")
_SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(rb"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})([^`]*)$")
_NOT_A_TITLE = re.compile(rb"[ \t]*(?:[-*+>|<#]|\d+[.)][ \t])|[ \t]{4}|\t")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_MARKS = re.compile(r"<[^>]+>|[`*]+|\{#[^}]*\}")


def _markdown(lines: list[bytes]) -> Structure:
    found = Structure()
    start = _front_matter(lines, found)
    fence = b""
    for number, line in enumerate(lines[start:], start + 1):
        marker = _FENCE.match(line)
        if fence:
            found.inner.add(number)
            if marker and marker[1].startswith(fence) and not marker[2].strip():
                fence = b""
        elif marker:
            fence = marker[1]
        elif heading := _ATX.match(line):
            found.headings.append(
                Heading(number, len(heading[1]), _markdown_title(_unclosed(line[heading.end() :], b"#")))
            )
        elif number > start + 1 and (underline := _SETEXT.match(line)):
            _add_setext(found, lines[number - 2], number, underline[1])
    if fence:
        # A fence that nobody closed would hold the rest of the file together.
        found.inner = {number for number in found.inner if number <= start}
    return found


def _unclosed(title: bytes, mark: bytes) -> bytes:
    """`Usage ##` is Usage, but `C#` stays."""
    title = title.strip()
    bare = title.rstrip(mark)
    return bare if bare[-1:] in (b"", b" ", b"\t") else title


def _front_matter(lines: list[bytes], found: Structure) -> int:
    """The number of lines that `---` ... `---` takes at the top; they stay together."""
    if not lines or lines[0].rstrip() not in (b"---", b"+++"):
        return 0
    for number, line in enumerate(lines[1:100], 2):
        if line.rstrip() == lines[0].rstrip():
            found.inner.update(range(2, number + 1))
            return number
    return 0


def _add_setext(found: Structure, text: bytes, number: int, underline: bytes) -> None:
    if is_blank(text) or _NOT_A_TITLE.match(text) or number - 1 in found.inner:
        return
    if found.headings and found.headings[-1].line >= number - 1:
        return
    found.inner.add(number)
    found.headings.append(Heading(number - 1, 1 if underline[:1] == b"=" else 2, _markdown_title(text)))


def _markdown_title(line: bytes) -> str:
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _title(line))).split())


_RST_LINE = re.compile(rb"([!-/:-@[-`{-~])\1{2,}[ \t\r]*$")


def _rst(lines: list[bytes]) -> Structure:
    found = Structure()
    # Levels are in the order in which the styles of lines occur; an overlined title is a style of its own.
    styles: dict[tuple[bytes, bool], int] = {}
    number = 1
    while number < len(lines):
        title, underline = lines[number - 1].rstrip(), lines[number].rstrip()
        if not _is_rst_title(title, underline):
            number += 1
            continue
        over = number > 1 and lines[number - 2].rstrip() == underline
        level = styles.setdefault((underline[:1], over), len(styles) + 1)
        found.headings.append(Heading(number - over, level, _title(title)))
        found.inner.update((number, number + 1) if over else (number + 1,))
        number += 2
    return found


def _is_rst_title(title: bytes, underline: bytes) -> bool:
    if not _RST_LINE.match(underline) or is_blank(title) or _RST_LINE.match(title):
        return False
    # Docutils wants the line at least as long as the title; authors are off by a few.
    return len(underline) + 3 >= len(title.decode("utf-8", "replace").strip()) and title[:3] != b".. "


_ASCIIDOC = re.compile(rb"(={1,6}|#{1,6})[ \t]+(?=\S)")
_DELIMITER = re.compile(rb"(-{4,}|={4,}|\.{4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3,}|\|===|--)[ \t\r]*(?:\w*)$")
_UNDERLINES = b"=-~^+"


def _asciidoc(lines: list[bytes]) -> Structure:
    found = Structure()
    delimiter = b""
    last_of = {line.rstrip(): number for number, line in enumerate(lines, 1)}
    for number, line in enumerate(lines, 1):
        marker = _DELIMITER.match(line)
        if delimiter:
            found.inner.add(number)
            if marker and marker[1] == delimiter:
                delimiter = b""
        elif number > 1 and _is_asciidoc_title(lines[number - 2], line):
            level = _UNDERLINES.index(line[:1]) + 1
            found.headings.append(Heading(number - 1, level, _title(lines[number - 2])))
            found.inner.add(number)
        elif marker and last_of[line.rstrip()] > number:
            delimiter = marker[1]
        elif heading := _ASCIIDOC.match(line):
            found.headings.append(Heading(number, len(heading[1]), _title(_unclosed(line[heading.end() :], b"="))))
    return found


def _is_asciidoc_title(title: bytes, underline: bytes) -> bool:
    """The old style, which git's manual is written in: a line below the title, at most two off its length."""
    title, underline = title.rstrip(), underline.rstrip()
    if len(underline) < 3 or underline[:1] not in _UNDERLINES or underline.strip(underline[:1]):
        return False
    length = len(title.decode("utf-8", "replace"))
    return abs(length - len(underline)) <= 2 and title[:1].isalnum()


def _chunk(data: bytes, structure_of: Callable[[list[bytes]], Structure]) -> list[Chunk]:
    lines = split_lines(data)
    if all(map(is_blank, lines)):
        return []
    structure = structure_of(lines)
    sections = _merge_tiny(_sections(structure.headings, lines), lines)
    return [
        Chunk(first, last, "section", symbol)
        for start, end, symbol in sections
        for first, last in _split(start, end, lines, structure.inner)
    ]


def _sections(headings: list[Heading], lines: list[bytes]) -> list[tuple[int, int, str]]:
    """First line, last line and breadcrumb of each section; what stands before the first heading has none."""
    path: list[Heading] = []
    starts: list[tuple[int, str]] = [(1, "")]
    for heading in headings:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        starts.append((heading.line, _SEPARATOR.join(part.title for part in path if part.title)))
    ends = [line - 1 for line, _ in starts[1:]] + [len(lines)]
    sections = [(first, last, name) for (first, name), last in zip(starts, ends, strict=True) if last >= first]
    if len(sections) > 1 and all(map(is_blank, lines[: sections[0][1]])):
        sections[1] = (1, *sections[1][1:])
        del sections[0]
    return sections


def _merge_tiny(sections: list[tuple[int, int, str]], lines: list[bytes]) -> list[tuple[int, int, str]]:
    """Sections of a few lines, together with the sub-section that follows, under the name of the outer one."""
    merged: list[tuple[int, int, str]] = []
    for first, last, name in sections:
        if merged:
            before, end, outer = merged[-1]
            inside = not outer or name.startswith(outer + _SEPARATOR)
            if inside and end - before < TINY and last - before < TARGET:
                merged[-1] = (before, last, outer or name)
                continue
        merged.append((first, last, name))
    return merged


def _split(first: int, last: int, lines: list[bytes], inner: set[int]) -> list[tuple[int, int]]:
    """A section, cut before paragraphs into parts of about TARGET lines.

    Where no paragraph begins in reach (a table, a long list) any line serves, but never one that must stay inside;
    a part is therefore longer than CEILING only where a fence or a run of blank lines is.
    """
    parts = []
    while last - first >= CEILING:
        after = _next_start(first, last, lines, inner)
        if after > last:
            break
        parts.append((first, after - 1))
        first = after
    return [*parts, (first, last)]


def _next_start(first: int, last: int, lines: list[bytes], inner: set[int]) -> int:
    remaining = last - first + 1
    target = TARGET if remaining > 2 * TARGET else remaining // 2
    allowed = [
        line
        for line in range(first + CEILING // 4, min(first + CEILING, last) + 1)
        if line not in inner and not is_blank(lines[line - 1])
    ]
    if allowed:
        return min(allowed, key=lambda line: abs(line - first - target) - 15 * is_blank(lines[line - 2]))
    beyond = range(first + CEILING, min(first + LONGEST_FENCE, last + 1))
    whole = next((line for line in beyond if line not in inner and not is_blank(lines[line - 1])), 0)
    if whole or last - first < LONGEST_FENCE:
        return whole or last + 1
    text = (line for line in range(first + TARGET, last + 1) if not is_blank(lines[line - 1]))
    return next(text, last + 1)
