"""Any text, by blocks between blank lines: what every other chunker falls back to."""

from __future__ import annotations

from itza_git.chunking.lines import as_chunks, is_blank, split_at_blanks, split_lines
from itza_git.records import Chunk


def chunk(data: bytes, kind: str = "text") -> list[Chunk]:
    """Runs of about 30 lines and at most 40, cut where a block begins; blank data gives none."""
    lines = split_lines(data)
    if all(map(is_blank, lines)):
        return []
    return as_chunks(split_at_blanks(lines, 1, len(lines)), kind)
