"""The one table from language to chunker. What is not in it is chunked as plain text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from itza_git.chunking import data as data_files
from itza_git.chunking import notebook, plain, prose, syntax
from itza_git.chunking.tables import TABLES
from itza_git.records import Chunk

Chunker = Callable[[bytes], list[Chunk]]

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
