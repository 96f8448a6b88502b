"""Notebooks are chunked by cell, without their outputs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from itza_git.chunking import chunk
from itza_git.records import Chunk

IMAGE = "iVBORw0KGgo" * 20_000


def cell(source: list[str] | str, kind: str = "code") -> dict[str, Any]:
    outputs = [{"output_type": "display_data", "data": {"image/png": IMAGE, "text/plain": ["source\n", "[1]"]}}]
    extra = {"outputs": outputs, "execution_count": 1} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {"source": ["no cell\n"]}, **extra, "source": source}


def notebook(*cells: dict[str, Any], indent: int | None = 1, **more: Any) -> bytes:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, **more}, indent=indent).encode()


def texts(data: bytes, chunks: list[Chunk]) -> list[str]:
    lines = data.decode().split("\n")
    return ["\n".join(lines[c.first - 1 : c.last]) for c in chunks]


def test_a_cell_is_a_chunk_with_the_lines_of_the_stored_file() -> None:
    data = notebook(cell(["# Title\n", "words"], "markdown"), cell(["def load_cfg():\n", "    return 1\n", "x = 2"]))
    chunks = chunk(data, "notebook")
    assert [(c.kind, c.symbol) for c in chunks] == [("cell", "Title"), ("cell", "load_cfg")]
    assert [text.split("\n")[0].strip() for text in texts(data, chunks)] == ['"# Title\\n",', '"def load_cfg():\\n",']
    assert [text.split("\n")[-1].strip() for text in texts(data, chunks)] == ['"words"', '"x = 2"']


def test_outputs_and_metadata_are_in_no_chunk() -> None:
    data = notebook(cell(["a = 1\n", "b = 2"]), cell("c = 3"), cell([], "markdown"), cell(["\n"]))
    chunks = chunk(data, "notebook")
    stored = "".join(texts(data, chunks))
    assert len(chunks) == 2
    assert "iVBOR" not in stored and "no cell" not in stored and "[1]" not in stored
    assert "c = 3" in stored


def test_a_long_cell_is_cut_at_its_blank_lines() -> None:
    source = ["x = 1\n"] * 24 + ["\n"] + ["y = 1\n"] * 24
    data = notebook(cell(source))
    chunks = chunk(data, "notebook")
    assert len(chunks) == 2
    assert texts(data, chunks)[1].strip().startswith('"y = 1')


def test_an_image_within_the_source_is_left_out() -> None:
    data = notebook(cell(["before\n", f"![x](data:image/png;base64,{IMAGE})\n", "after"], "markdown"))
    assert [text.strip() for text in texts(data, chunk(data, "notebook"))] == ['"before\\n",', '"after"']


def test_a_notebook_on_one_line_has_no_chunks() -> None:
    assert chunk(notebook(cell(["a = 1\n", "b = 2"]), indent=None), "notebook") == []


def test_the_old_format_with_worksheets_is_read() -> None:
    sheet = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}], "nbformat": 3}
    data = json.dumps(sheet, indent=1).encode()
    assert len(chunk(data, "notebook")) == 1


def test_broken_json_is_plain_text_without_its_data() -> None:
    data = notebook(cell(["a = 1\n", "b = 2"]))[:-10]
    chunks = chunk(data, "notebook")
    assert {c.kind for c in chunks} == {"text"}
    stored = "".join(texts(data, chunks))
    assert "a = 1" in stored and "iVBOR" not in stored


TEXT = st.lists(st.text(alphabet='ab"\\\n {}[]:,é', max_size=12), max_size=6)


@settings(max_examples=100, deadline=None)
@given(sources=st.lists(TEXT, max_size=5), indent=st.sampled_from([1, 2, 4]), ascii_only=st.booleans())
def test_every_line_of_every_source_is_in_exactly_one_chunk(
    sources: list[list[str]], indent: int, ascii_only: bool
) -> None:
    cells = [cell([line.replace("\n", "") + "\n" for line in source]) for source in sources]
    data = json.dumps({"cells": cells}, indent=indent, ensure_ascii=ascii_only).encode()
    chunks = chunk(data, "notebook")
    lines = data.decode().split("\n")
    covered = [json.loads(lines[n - 1].strip().rstrip(",")) for c in chunks for n in range(c.first, c.last + 1)]
    expected = [line for one in cells if "".join(one["source"]).strip() for line in one["source"]]
    assert covered == expected
