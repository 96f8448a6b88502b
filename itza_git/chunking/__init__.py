"""Files into chunks: `chunk` picks the chunker of a language, `languages` says which language a path is in."""

from __future__ import annotations

from itza_git.records import Chunk

# Rises with every change of where chunks begin or what they are called: stored chunks of another version are not used.
VERSION = 2


def chunk(data: bytes, language: str) -> list[Chunk]:
    """The chunks of a file's bytes, in order; they tile its lines exactly. Blank data gives none. Never raises.

    A notebook is the one exception: its chunks cover the sources of its cells and nothing else.
    """
    # Only here: a search asks for VERSION, and would pay for the tables of twenty languages.
    from itza_git.chunking import plain
    from itza_git.chunking.chunkers import CHUNKERS

    return CHUNKERS.get(language, plain.chunk)(data)
