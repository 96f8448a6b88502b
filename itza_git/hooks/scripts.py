"""The hook scripts as bytes: read, pinned to an interpreter, put into a file that others own, and taken out again.

Pure but for reading the shipped scripts. The law: `take_out(put_in(content, block)) == content`.
"""

from __future__ import annotations

import re
import shlex
from importlib import resources
from pathlib import Path

EVENTS = ("post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch")

SHEBANG = b"#!/bin/sh\n"
BEGIN = b"# >>> git-itza >>>"
END = b"# <<< git-itza <<<"
# Stands on the begin line of a file that was not there before, so that uninstalling deletes it.
MADE = b" [file made by git-itza]"

CHAINED = "itza-chained"
"""The folder, beside the hooks, of hooks that are no shell scripts. They keep their names: some read them from $0."""

_BLOCK = re.compile(rb"^" + re.escape(BEGIN) + rb"[^\n]*\n.*?^" + re.escape(END) + rb"\r?(?:\n|\Z)", re.M | re.S)
_PIN = re.compile(rb"^([ \t]*itza_python=)(.*?)\r?$", re.M)
# An interpreter that understands the block; what may follow is its arguments.
_SHELL = re.compile(
    rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?(?:sh|bash|dash|ash|ksh|mksh|zsh)(?:[ \t][^\r\n]*)?(?:\n|\Z)"
)
_BINARY_LOOKAHEAD = 8000


def shipped(event: str) -> bytes:
    """The script of an event as it is shipped, its interpreter not yet pinned."""
    inside = resources.files("itza_git.hooks") / "shipped" / event
    # In an editable install the scripts lie where they are edited.
    source = inside if inside.is_file() else Path(__file__).parents[2] / "hooks" / event
    return source.read_bytes()


def block(event: str, python: str, *, made: bool = False, chained: bool = False) -> bytes:
    """The lines between the markers, markers included, pinned to an interpreter.

    made: the file exists for this block alone. chained: go on with the hook that was moved to the CHAINED folder.
    """
    found = _BLOCK.search(shipped(event))
    assert found is not None
    pinned = _PIN.sub(lambda line: line[1] + shlex.quote(python).encode("utf-8", "surrogateescape"), found[0])
    if made:
        pinned = pinned.replace(BEGIN, BEGIN + MADE, 1)
    if chained:
        pinned = pinned.removesuffix(END + b"\n") + _CHAIN % {b"event": event.encode()} + END + b"\n"
    return pinned


# What ends the file is its exit status: that of the chained hook, 0 without one that can run.
_CHAIN = b"""if [ -x "${0%%/*}/itza-chained/%(event)s" ]; then
	exec "${0%%/*}/itza-chained/%(event)s" "$@"
fi
"""


def command(event: str, python: str) -> str:
    """The same as one shell command, to which git appends `"$@"`: the value of `hook.<name>.command`."""
    lines = block(event, python).decode("utf-8", "surrogateescape").splitlines()[1:-1]
    return "itza_hook() {\n" + "\n".join(lines) + "\n}; itza_hook"


def put_in(content: bytes, ours: bytes) -> bytes:
    """content with the block right after its shebang: what follows may end in `exit 0` or `exec`."""
    first, newline, rest = content.partition(b"\n") if content.startswith(b"#!") else (b"", b"", content)
    if first and not newline:
        # The missing newline is remembered by the block having none either.
        return first + b"\n" + ours.removesuffix(b"\n")
    return first + newline + ours + rest


def take_out(content: bytes) -> bytes:
    """content without the block; as it was before the block was put in."""
    found = _BLOCK.search(content)
    if found is None:
        return content
    before = content[: found.start()]
    if not found[0].endswith(b"\n"):
        before = before.removesuffix(b"\n")
    return before + content[found.end() :]


def find_block(content: bytes) -> bytes | None:
    """The block in a hook file, None when there is none."""
    found = _BLOCK.search(content)
    return found[0] if found else None


def is_torn(content: bytes) -> bool:
    """Whether a marker stands there without its other half."""
    rest = take_out(content)
    return bool(re.search(rb"^(?:" + re.escape(BEGIN) + rb"|" + re.escape(END) + rb")", rest, re.M))


def pin_of(ours: bytes) -> str:
    """The interpreter that a block starts, "" when it has none."""
    found = _PIN.search(ours)
    words = shlex.split(found[2].decode("utf-8", "surrogateescape")) if found else []
    return words[0] if words else ""


def is_shell(content: bytes) -> bool:
    """Whether a block of shell can be put into this file. git runs a text without a shebang with sh.

    A shebang that ends in CR is none: the kernel looks for an interpreter of that name.
    """
    if content.startswith(b"#!"):
        # `"exec" "python3" "$0" "$@"`: a program of another language that sh only starts.
        second = content.split(b"\n", 2)[1:2]
        return _SHELL.match(content) is not None and not (second and b"exec" in second[0] and b"$0" in second[0])
    return b"\0" not in content[:_BINARY_LOOKAHEAD]
