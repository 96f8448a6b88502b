"""What a streamed chat is made of: lines of JSON or events, and pieces of text that may hold a model's thinking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from itza_git import jsontext
from itza_git.errors import BadResponse
from itza_git.models.protocol import Usage

_OPEN, _CLOSE = "<think>", "</think>"


def json_lines(blocks: Iterable[bytes]) -> Iterator[dict[str, object]]:
    """The objects of newline-delimited JSON that arrives in blocks cut anywhere. Raises `BadResponse`.

    Split by hand: httpx's iter_lines also breaks at U+0085 and its like, which may stand unescaped in a JSON string.
    """
    yield from map(_object, _lines(blocks))


def events(blocks: Iterable[bytes]) -> Iterator[dict[str, object] | None]:
    """The objects of server-sent events that arrive in blocks cut anywhere; None for `[DONE]`. Raises `BadResponse`.

    An error may also come in a field of its own, or as bare JSON.
    """
    for line in _lines(blocks):
        field, _, value = line.partition(b":")
        value = value.strip()
        if line.startswith((b"{", b"<")):
            yield _object(line)
        elif field == b"data" and value == b"[DONE]":
            yield None
        elif field == b"data":
            yield _object(value)
        elif field == b"error":
            yield {"error": _object(value)}


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that are not blank."""
    held = b""
    for block in blocks:
        *lines, held = (held + block).split(b"\n")
        yield from filter(bytes.strip, lines)
    if held.strip():
        yield held


def _object(line: bytes) -> dict[str, object]:
    try:
        found = jsontext.parse(line)
    except ValueError as error:
        raise _not_an_object(line) from error
    if not isinstance(found, dict):
        raise _not_an_object(line)
    return found


def _not_an_object(line: bytes) -> BadResponse:
    return BadResponse(
        f"the model server sent a line that is not an object: {shorten(line.decode('utf-8', 'replace'))}"
    )


def shorten(text: str, limit: int = 200) -> str:
    """Text from a server as part of a message: one line, printable, not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def without_thinking(pieces: Iterable[str | Usage]) -> Iterator[str | Usage]:
    """The pieces without a leading `<think>...</think>`, which some models leak although told not to think.

    Only at the start: an answer about `<think>` tags keeps them.
    """
    held, started = "", False
    for piece in pieces:
        if isinstance(piece, Usage):
            if held and not held.startswith(_OPEN):
                yield held
            yield piece
            return
        if started:
            if piece:
                yield piece
            continue
        held = (held + piece).lstrip()
        if held.startswith(_OPEN) and _CLOSE in held:
            held = held.partition(_CLOSE)[2].lstrip()
        started = bool(held) and not held.startswith(_OPEN) and not _OPEN.startswith(held)
        if started:
            yield held
            held = ""
