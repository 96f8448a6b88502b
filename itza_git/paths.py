"""Paths as people and citations see them: git's quoting, so that any bytes survive being printed and read back."""

from __future__ import annotations

import os
import re

ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
BYTES = {letter: byte for byte, letter in ESCAPES.items()}
ESCAPE = re.compile(r'\\(?:([0-3][0-7]{2})|([abtnvfr"\\]))')


def quote(path: bytes) -> str:
    r"""The path as git prints it with core.quotePath=false: itself, or C-style in quotes (`"a\tb\303\251"`).

    Beyond git's rule, characters that do not print (bidirectional overrides, zero-width and private ones, line
    separators) are escaped too: a file name must not be able to rewrite a terminal's line or look like another.
    """
    text = path.decode("utf-8", "surrogateescape")
    if text.isprintable() and '"' not in text and "\\" not in text:  # nearly all are, and an answer has many
        return text
    pieces = [_piece(character) for character in text]
    quoted = "".join(pieces)
    return quoted if all(len(piece) == 1 for piece in pieces) else f'"{quoted}"'


def place(path: str) -> str:
    """A path of the file system as it can be written anywhere: itself, or quoted when it is not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return quote(os.fsencode(path))
    return path


def unquote(text: str) -> bytes:
    """The path that quote made text of; text that is not quoted means itself."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text.encode("utf-8", "surrogateescape")
    path = bytearray()
    at, end = 1, len(text) - 1
    while at < end:
        escape = ESCAPE.match(text, at, end)
        if escape is None:
            path += text[at].encode("utf-8", "surrogateescape")
            at += 1
        else:
            path.append(int(escape[1], 8) if escape[1] else BYTES[escape[2]])
            at = escape.end()
    return bytes(path)


def _piece(character: str) -> str:
    """The character, or its escape, which is always longer."""
    if ord(character) in ESCAPES:
        return "\\" + ESCAPES[ord(character)]
    if character == " " or character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
