"""The citations in a text: Markdown, an issue, an answer, JSON.

A citation in a text is recognised by its end, `:first-last@commit`, which little else looks like; its path is what
stands to the left of that. One of a commit is `commit id "subject"`. In a JSON document only the strings
are read, unescaped. Elsewhere what is marked as an example is passed over: the lines between `<!-- itza: examples -->`
and `<!-- itza: end -->`, each a line of its own, and a line that ends in `<!-- itza: example -->`. Any other signs of
a comment will do as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from itza_git import jsontext
from itza_git.answering.citation import (
    COMMIT,
    COMMIT_CITATION,
    LINES,
    PATH_CHARACTER,
    PATH_START,
    Citation,
    CommitCitation,
    commit_cited,
    render,
)
from itza_git.paths import unquote

# Not within a longer word, a version (`@1234.5`), a host (`@cafe.example`) or a branch (`@dead-end`).
_END = re.compile(rf":(?P<first>{LINES})(?:-(?P<last>{LINES}))?@(?P<commit>{COMMIT})(?![\w@/]|[.:-]\w)")
# The same with a revision that may name another commit tomorrow.
_UNPINNED = re.compile(rf":{LINES}(?:-{LINES})?@(?P<revision>[A-Za-z_][\w./~^-]*)")
_MARK = re.compile(r"^[^\w\n]*itza: (?P<mark>examples|end)[^\w\n]*$|[^\w\n]itza: example[^\w\n]*$", re.MULTILINE)
_CHARACTER = re.compile(PATH_CHARACTER)
_BEGIN = re.compile(PATH_START)
_OPENERS = {")": "(", "]": "[", "}": "{"}
# Longer than any path that git can check out, each byte escaped.
_LONGEST_PATH = 4 * 4096

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
# In our own JSON these hold the repository's text, which says nothing about the repository.
_QUOTED_TEXT = ("text", "subject")


@dataclass(frozen=True, slots=True)
class Found:
    """A citation in a text and where it stands there: the characters start to end (exclusive).

    in_json says that the text is JSON, so that what takes its place is to be escaped as the citation was.
    """

    citation: Citation | CommitCitation
    start: int
    end: int
    in_json: bool = False

    def written(self, citation: Citation | CommitCitation) -> str:
        """Another citation as it is written in this one's place."""
        text = render(citation)
        return json.dumps(text)[1:-1] if self.in_json else text


def find_all(text: str) -> list[Found]:
    """Every citation in a text, in order."""
    documents = _json_documents(text)
    if not documents:
        examples = _examples(text)
        return [one for one in _in_prose(text) if not _is_within(one.start, examples)]
    ours = all(isinstance(document, dict) and "schema" in document for document in documents)
    return list(_in_json(text, ours))


def unpinned(text: str) -> list[tuple[int, int, str]]:
    """What would be a citation if it named a commit by its id: where it starts and ends, and its revision.

    That nothing but a revision stands there is for the caller to find out. Of JSON nothing is told.
    """
    if _json_documents(text):
        return []
    examples = _examples(text)
    found = []
    for end in _UNPINNED.finditer(text):
        revision = end["revision"].rstrip(".-/")
        start = _path_start(text, max(0, end.start() - _LONGEST_PATH), end.start())
        if start is not None and not re.fullmatch(COMMIT, revision) and not _is_within(start, examples):
            found.append((start, end.start("revision") + len(revision), revision))
    return found


def _examples(text: str) -> list[tuple[int, int]]:
    """The parts of a text that are marked as examples; an opening mark that nothing closes opens nothing."""
    found = []
    opened = -1
    for mark in _MARK.finditer(text):
        if mark["mark"] is None:
            found.append((text.rfind("\n", 0, mark.start() + 1) + 1, mark.end()))
        elif mark["mark"] == "examples":
            opened = mark.start() if opened < 0 else opened
        elif opened >= 0:
            found.append((opened, mark.end()))
            opened = -1
    return found


def _is_within(at: int, parts: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in parts)


def _json_documents(text: str) -> list[object]:
    """The JSON values that the text is, one or one a line; empty when it is something else."""
    if text.lstrip()[:1] not in ("{", "["):
        return []
    for documents in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            return [jsontext.parse(document) for document in documents]
        except (ValueError, RecursionError):
            continue
    return []


def _in_json(text: str, ours: bool) -> Iterator[Found]:
    key = ""
    for string in _STRING.finditer(text):
        if string[2]:
            key = string[1]
        elif ("@" in string[1] or "commit " in string[1]) and not (ours and key in _QUOTED_TEXT):
            yield from _in_string(string[1], string.start(1))


def _in_string(escaped: str, offset: int) -> Iterator[Found]:
    """The citations in a JSON string that begins at offset."""
    starts: list[int] = []
    characters: list[str] = []
    for unit in _UNIT.finditer(escaped):
        starts.append(offset + unit.start())
        characters.append(json.loads(f'"{unit[0]}"', strict=False) if unit[0].startswith("\\") else unit[0])
    starts.append(offset + len(escaped))
    for found in _in_prose("".join(characters)):
        yield Found(found.citation, starts[found.start], starts[found.end], True)


def _in_prose(text: str) -> list[Found]:
    commits = [Found(commit_cited(one), *one.span()) for one in COMMIT_CITATION.finditer(text)]
    # A subject may hold what looks like a citation of lines.
    lines = [one for one in _of_lines(text) if not any(c.start < one.end and one.start < c.end for c in commits)]
    return sorted([*commits, *lines], key=lambda one: one.start)


def _of_lines(text: str) -> list[Found]:
    found: list[Found] = []
    for end in _END.finditer(text):
        start = _path_start(text, max(0, end.start() - _LONGEST_PATH), end.start())
        if start is None:
            continue
        # A quoted path may hold what looks like a citation; its first quote may not be another's last one.
        before = next((at for at in range(len(found), 0, -1) if found[at - 1].start < start), 0)
        if before and found[before - 1].end > start:
            continue
        try:
            first = int(end["first"])
            path = unquote(text[start : end.start()])
            citation = Citation(path, first, int(end["last"] or first), end["commit"])
        except ValueError:
            continue
        found[before:] = [Found(citation, start, end.end())]
    return found


def _path_start(text: str, low: int, end: int) -> int | None:
    """Where the path that ends at end begins, not before low; None when no path stands there."""
    if text[low:end].endswith('"'):
        return _opening_quote(text, low, end - 1)
    start = _run_start(text, low, end)
    # A path of git never begins with a slash: this is a URL, or a place on somebody's disk.
    if text[start : start + 1] == "/":
        return None
    while start < end and not _BEGIN.match(text[start]):
        start += 1
    before = text[start - 1] if start > low else ""
    # Before the host of an address, after a backslash's letter, in a time of day.
    if start == end or before in ("@", "\\") or (before == ":" and text[start:end].isdigit()):
        return None
    return start


def _opening_quote(text: str, low: int, closing: int) -> int | None:
    at = closing
    while (at := text.rfind('"', low, at)) >= 0:
        slashes = at - len(text[low:at].rstrip("\\")) - low
        if slashes % 2 == 0:
            return None if "\n" in text[at:closing] else at
    return None


def _run_start(text: str, low: int, end: int) -> int:
    """Where the run of path characters begins that ends at end; brackets within it count (`app/[id]/a.ts`)."""
    at = end
    while at > low:
        if _CHARACTER.match(text[at - 1]):
            at -= 1
            continue
        opener = _opening_bracket(text, low, at - 1)
        if opener is None or not (opener > low and _CHARACTER.match(text[opener - 1])):
            break
        at = opener
    return at


def _opening_bracket(text: str, low: int, closing: int) -> int | None:
    """Where the bracket opens that closes at closing, when a word and nothing else is between them."""
    opener = _OPENERS.get(text[closing])
    at = closing
    while opener and at > low and _CHARACTER.match(text[at - 1]):
        at -= 1
    return at - 1 if opener and low < at < closing and text[at - 1] == opener else None
