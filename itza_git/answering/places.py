"""Places that a model writes by itself, `path:lines`, `path:lines@commit`, `commit id`: which passages they mean.

Lines and commits are the tool's to print, so these go whatever they say; a path or a commit that a passage has stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from itza_git.answering.prompt import Block
from itza_git.paths import quote

# An id, or any other revision: `show` would take it for a citation too.
_COMMIT = r"@\w[\w/~^{}-]*(?:\.[\w/~^{}-]+)*"
_PLACE = re.compile(
    rf"""(?P<space>[ \t]*)(?P<open>[(\[<]\s*)?
    (?P<tick>`*)
    (?P<path>"(?:[^"\\\n]|\\.)*"|(?<![\w./:])[^\s`"'()\[\]<>:@]+)
    (?P<lines>:(?P<first>\d+)(?:[-\u2013](?P<last>\d+))?)
    (?P<commit>{_COMMIT})?
    (?P=tick)
    (?P<close>\s*[)\]>])?""",
    re.VERBOSE,
)
# What only a citation has, in whatever it stands.
_BARE = re.compile(rf":\d+(?:[-\u2013]\d+)?{_COMMIT}")
# With the subject behind it, it would be a citation of a commit.
_COMMIT_NAMED = re.compile(
    r"""(?P<name>\bcommit\s+`?(?P<id>[0-9a-f]{7,64}\b|HEAD\b[~^\d]*)`?)(?:\s*["\u201c][^"\u201d\n]*["\u201d])?"""
)
_FILE = re.compile(r"[^/]+(?:/[^/]+)*/[^/]*\.\w{1,8}")


def take_out(text: str, blocks: Sequence[Block], found: Callable[[str, int | None], None]) -> str:
    """The text without the lines of places. found is told each place, and the index of the passage that has it.

    A place in a file that no passage is of goes whole. What is no file, such as a host with its port, stays.
    """

    def replaced(place: re.Match[str]) -> str:
        path = place["path"].strip('"')
        known = [index for index, block in enumerate(blocks) if not block.is_commit and _is_path(path, block)]
        if not (known or place["commit"] or _FILE.fullmatch(path)):
            return place[0]
        first = _number(place["first"])
        last = _number(place["last"] or place["first"])
        within = (index for index in known if blocks[index].first <= first <= last <= blocks[index].last)
        found(place[0].strip(), next(within, None))
        if not known or (place["open"] and place["close"]):
            return ""
        return (
            f"{place['space']}{place['open'] or ''}{place['tick']}{place['path']}{place['tick']}{place['close'] or ''}"
        )

    def commit(named: re.Match[str]) -> str:
        id = named["id"]
        known = (index for index, block in enumerate(blocks) if block.is_commit and _is_commit(id, block))
        index = next(known, None)
        if index is None and any(id in block.text for block in blocks):
            return named[0]
        found(named[0].strip(), index)
        return "" if index is None else named["name"]

    text = _COMMIT_NAMED.sub(commit, _PLACE.sub(replaced, text))

    def bare(lines: re.Match[str]) -> str:
        found(lines[0], None)
        return ""

    return _BARE.sub(bare, text)


def _is_path(path: str, block: Block) -> bool:
    """Whether the text means the block's path: all of it, or its end from a folder on."""
    whole = quote(block.passage.path).strip('"')
    return f"/{whole}".endswith(f"/{path.removeprefix('./')}")


def _is_commit(id: str, block: Block) -> bool:
    return block.passage.blob.hex().startswith(id)


def _number(digits: str) -> int:
    # Python refuses to read a number of thousands of digits.
    return int(digits[:18])
