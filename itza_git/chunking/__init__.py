"""Files into chunks: `chunk` picks the chunker of a language, `languages` says which language a path is in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from itza_git.chunking import data as data_files
from itza_git.chunking import notebook, plain, prose, syntax
from itza_git.chunking.tables import TABLES
from itza_git.records import Chunk

# Rises with every change of where chunks begin or what they are called: stored chunks of another version are not used.
VERSION = 1

Chunker = Callable[[bytes], list[Chunk]]

# The one table: what is not in it is chunked as plain text.
CHUNKERS: dict[str, Chunker] = {
    **{language: partial(syntax.chunk, language=language) for language in TABLES},
    "markdown": prose.chunk_markdown,
    "rst": prose.chunk_rst,
    "asciidoc": prose.chunk_asciidoc,
    "notebook": notebook.chunk,
    "json": data_files.chunk_json,
    "yaml": data_files.chunk_yaml,
    "toml": data_files.chunk_toml,
    "ini": data_files.chunk_toml,
    **{language: partial(plain.chunk, kind="data") for language in ("xml", "csv", "gettext", "diff")},
}


def chunk(data: bytes, language: str) -> list[Chunk]:
    """The chunks of a file's bytes, in order; they tile its lines exactly. Blank data gives none. Never raises.

    A notebook is the one exception: its chunks cover the sources of its cells and nothing else.
    """
    return CHUNKERS.get(language, plain.chunk)(data)
