"""The laws that every chunker keeps, for any bytes whatever."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itza_git.chunking import VERSION, chunk, grammars
from itza_git.chunking.chunkers import CHUNKERS
from itza_git.chunking.lines import CEILING, is_blank, some_lines, split_lines
from itza_git.records import KINDS, Chunk
from tests.snippets import SNIPPETS

LANGUAGES = sorted({*CHUNKERS, "text", "dockerfile", ""} - {"notebook"})
TOKENS = [
    *(b"\n", b"\n\n", b"\r\n", b"\r", b"\f", b"\x0b", "\u2028".encode(), b"\0", b"\xff\xfe", b"    ", b"\t"),
    *(b"def f(x):", b"class A {", b"}", b"(", b")", b"[", b"<", b'"', b"'", b"`", b"```", b"~~~", b"/*", b"*/", b"#"),
    *(b"# Title", b"=====", b"-----", b"----", b"---", b"fn main() {", b"end", b"do", b"module M", b"@test 'x' {"),
    *(b"key: 1", b'"k": {', b"[table]", b"<<EOF", b"#if X", b"#endif", b"public:", b"=> {", b"where", b"x = 1;"),
]


def check_tiling(data: bytes, chunks: list[Chunk]) -> None:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if all(map(is_blank, lines)):
        assert chunks == []
        return
    assert chunks[0].first == 1
    assert chunks[-1].last == len(lines)
    for before, after in pairwise(chunks):
        assert after.first == before.last + 1
    for found in chunks:
        assert found.first <= found.last
        assert found.kind in KINDS
        assert "\n" not in found.symbol
        assert not all(map(is_blank, lines[found.first - 1 : found.last]))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Real code, damaged in a few places."""
    data = bytearray(draw(st.sampled_from(sorted(SNIPPETS.values()))))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        width = draw(st.sampled_from([0, 0, 1, 5, 60]))
        data[at : at + width] = draw(st.sampled_from([*TOKENS, b""]))
    return bytes(data)


FILES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(TOKENS), max_size=150).map(b"".join),
    st.lists(st.sampled_from(TOKENS), max_size=150).map(b"\n".join),
    mutated(),
)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=50, deadline=None)
@given(data=FILES)
def test_chunks_tile_the_lines_of_any_file(language: str, data: bytes) -> None:
    check_tiling(data, chunk(data, language))


@settings(max_examples=150, deadline=None)
@given(data=FILES)
def test_chunks_of_a_notebook_are_disjoint_ascending_and_in_range(data: bytes) -> None:
    last = 0
    for found in chunk(data, "notebook"):
        assert last < found.first <= found.last
        last = found.last
    assert last <= data.count(b"\n") + 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_chunks_of_real_files_in_the_wrong_language_still_tile_them(language: str) -> None:
    for data in SNIPPETS.values():
        check_tiling(data * 5, chunk(data * 5, language))


@pytest.mark.parametrize("language", [*LANGUAGES, "notebook"])
@pytest.mark.parametrize("data", [b"", b"\n", b"  \n\n\t\r\n", b"\xef\xbb\xbf\n"])
def test_a_blank_file_has_no_chunks(language: str, data: bytes) -> None:
    assert chunk(data, language) == []


def test_only_a_newline_byte_ends_a_line() -> None:
    data = "a = 1\rb = 2\x0cc = 3\x0bd = 4\u2028e = 5\nf = 6\n".encode()
    for language in ("python", "text", "markdown", "yaml"):
        assert [(found.first, found.last) for found in chunk(data, language)] == [(1, 2)]


def test_a_newline_at_the_end_is_not_another_line() -> None:
    assert chunk(b"def f(): pass", "python") == chunk(b"def f(): pass\n", "python") == [Chunk(1, 1, "function", "f")]


def test_chunks_are_at_most_the_ceiling_long_but_for_blank_lines() -> None:
    data = b"".join(b"x%d = [%d]\n" % (i, i) for i in range(1000))
    for language in LANGUAGES:
        assert max(found.last - found.first + 1 for found in chunk(data, language)) <= CEILING


def test_plain_text_is_cut_where_a_block_begins() -> None:
    data = b"\n".join([b"head", *[b"  word"] * 20, b""] * 4)
    assert [found.first for found in chunk(data, "text")] == [1, 23, 45, 67]


@pytest.mark.parametrize("language", sorted(grammars._WHEELS))
def test_nesting_of_any_depth_is_survived(language: str) -> None:
    for opening in (b"(", b"[", b"{\n", b"if x { \n", b"a<"):
        data = opening * 3000
        check_tiling(data, chunk(data, language))


class NeverAsked:
    """Stands for a parser that must not come to parse."""

    def parse(self, *_args: object, **_options: object) -> None:
        pytest.fail("it was parsed")


def test_a_huge_line_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "parser", lambda language: NeverAsked())
    data = b"var a=1;" * 400_000
    assert chunk(data, "javascript") == [Chunk(1, 1, "text")]
    check_tiling(b"a<" * 200_000, chunk(b"a<" * 200_000, "java"))
    check_tiling(b"a<\n" * 200_000, chunk(b"a<\n" * 200_000, "java"))


def test_a_parse_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "PARSE_SECONDS", 0.0)
    data = b"def f():\n    pass\n\n" * 500
    chunks = chunk(data, "python")
    assert {found.kind for found in chunks} == {"text"}
    check_tiling(data, chunks)
    monkeypatch.undo()
    assert {found.kind for found in chunk(data, "python")} == {"function"}


@pytest.mark.parametrize("wheel", [("no_such_module", "language"), ("json", "language"), ("zlib", "crc32")])
def test_a_grammar_that_cannot_be_loaded_means_plain_chunks(
    monkeypatch: pytest.MonkeyPatch, wheel: tuple[str, str]
) -> None:
    monkeypatch.setitem(grammars._WHEELS, "python", wheel)
    grammars.parser.cache_clear()
    try:
        assert chunk(b"def f(): pass\n", "python") == [Chunk(1, 1, "text")]
    finally:
        grammars.parser.cache_clear()


def test_chunks_do_not_depend_on_what_was_chunked_before() -> None:
    order = sorted(SNIPPETS)
    first = {name: chunk(SNIPPETS[name], name) for name in order}
    random.Random(7).shuffle(order)
    assert {name: chunk(SNIPPETS[name], name) for name in order} == first


def test_the_version_is_a_positive_number() -> None:
    assert VERSION >= 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("data", [b"x = 1\n\n\0\n\n\0\0\n", b"\0\n\n\f\n\nx = 1\n", b"\xef\xbb\xbf\n\n\0\nx = 1\n\n\f"])
def test_characters_that_nobody_sees_are_no_chunk(language: str, data: bytes) -> None:
    check_tiling(data, chunk(data, language))
    assert len(chunk(data, language)) == 1


def test_a_parse_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"a<b,c>(\n" * 4900  # without a bound: 200 MB, and five times as much for a larger file
    before = grammars._memory()
    monkeypatch.setattr(grammars, "PARSE_MEMORY", 8 << 20)
    assert grammars.parse(data, "lua") is None
    if before:
        assert grammars._memory() - before < 64 << 20
    check_tiling(data, chunk(data, "lua"))
    monkeypatch.undo()
    assert grammars.parse(b"a = 1\n", "lua") is not None


@given(st.text("a\n\r", max_size=20), st.integers(1, 30), st.integers(0, 30))
def test_some_lines_are_those_of_all_lines(text: str, first: int, last: int) -> None:
    assert some_lines(text.encode(), first, last) == split_lines(text.encode())[first - 1 : last]
