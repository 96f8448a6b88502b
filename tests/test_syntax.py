"""Source code is chunked by its definitions."""

from __future__ import annotations

import warnings

import pytest

from itza_git.chunking import chunk
from itza_git.chunking.grammars import parse, parser
from itza_git.chunking.outline import outline
from itza_git.chunking.tables import TABLES
from itza_git.records import Chunk
from tests.snippets import NAMES, SNIPPETS


def body(lines: int, indent: str = "    ") -> str:
    return "".join(f"{indent}x{number} = {number}\n" for number in range(lines))


def spans(source: str, language: str = "python") -> list[tuple[int, int, str, str]]:
    return [(c.first, c.last, c.kind, c.symbol) for c in chunk(source.encode(), language)]


@pytest.mark.parametrize("language", sorted(TABLES))
def test_every_language_has_a_grammar_that_loads_without_a_warning(language: str) -> None:
    parser.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parser(language) is not None
    assert language in SNIPPETS


@pytest.mark.parametrize("language", sorted(SNIPPETS))
def test_definitions_are_found_under_their_qualified_names(language: str) -> None:
    source = SNIPPETS[language]
    tree = parse(source, language)
    assert tree is not None
    units = outline(tree.root_node, TABLES[language], source)
    assert [name for unit in units for name in unit.names] == NAMES[language]


@pytest.mark.parametrize("language", sorted(SNIPPETS))
def test_the_comment_above_a_definition_is_in_its_chunk(language: str) -> None:
    lines = SNIPPETS[language].decode().splitlines()
    comments = [n for n, line in enumerate(lines, 1) if "Keeps rows." in line or "Opens it." in line]
    for number in comments:
        found = next(c for c in chunk(SNIPPETS[language], language) if c.first <= number <= c.last)
        assert found.symbol


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("python", [(9, 12, "function", "retry"), (15, 15, "type", "Store"), (20, 22, "method", "Store.open")]),
        ("go", [(8, 11, "type", "Store"), (18, 21, "method", "Store.Open"), (25, 25, "function", "New")]),
        ("rust", [(4, 8, "type", "Store"), (11, 16, "method", "Store.open"), (26, 26, "module", "inner")]),
        ("java", [(5, 7, "type", "Store"), (12, 16, "method", "Store.open"), (28, 28, "type", "Point")]),
        ("javascript", [(4, 7, "function", "load"), (9, 11, "function", "save"), (15, 16, "method", "Store.handle")]),
        ("c", [(7, 9, "type", "option"), (17, 23, "function", "find"), (34, 37, "function", "posix_only")]),
        ("elixir", [(1, 1, "module", "A.Store"), (7, 13, "function", "A.Store.open")]),
    ],
)
def test_a_definition_has_its_lines_and_kind(language: str, expected: list[tuple[int, int, str, str]]) -> None:
    source = SNIPPETS[language]
    tree = parse(source, language)
    assert tree is not None
    units = outline(tree.root_node, TABLES[language], source)
    found = [(unit.first, unit.last, unit.kind, unit.names[0]) for unit in units if unit.names]
    assert [span for span in expected if span not in found] == []


def test_imports_a_class_head_and_methods_of_some_length_are_chunks_of_their_own() -> None:
    source = (
        '"""Doc."""\nimport a\nimport b\nimport c\nimport d\nimport e\n\n\n'
        '@final\nclass Store:\n    """Keeps rows."""\n\n    limit = 3\n\n'
        f"    def open(self):\n{body(20, '        ')}\n    @cached\n    def close(self):\n{body(18, '        ')}"
    )
    assert spans(source) == [
        (1, 8, "module", ""),
        (9, 14, "type", "Store"),
        (15, 36, "method", "Store.open"),
        (37, 56, "method", "Store.close"),
    ]


def test_small_neighbours_share_a_chunk_that_names_them_all() -> None:
    source = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(8))
    assert spans(source) == [
        (1, 24, "function", "f0, f1, f2, f3, f4, f5"),
        (25, 31 + 1, "function", "f6, f7"),
    ]


def test_definitions_of_different_types_do_not_share_a_chunk() -> None:
    long = body(20, "        ")
    source = f"class A:\n    def f(self):\n{long}\n    def g(self):\n        pass\n\nclass B:\n    def h(self):\n{long}"
    assert [symbol for _, _, _, symbol in spans(source)] == ["A, A.f, A.g", "B, B.h"]


def test_a_long_body_is_cut_where_a_statement_begins_and_keeps_its_name() -> None:
    statements = "".join(f"    call_{n}(\n        1,\n        2,\n    )\n" for n in range(30))
    found = spans(f"def long():\n{statements}")
    assert len(found) >= 4
    assert {(kind, symbol) for _, _, kind, symbol in found} == {("function", "long")}
    # Statements have four lines and the first begins on line 2.
    assert all(first % 4 == 2 for first, _, _, _ in found[1:])
    assert all(last - first + 1 <= 40 for first, last, _, _ in found)


def test_a_long_method_within_a_long_type_keeps_its_qualified_name() -> None:
    source = "class A {\n  void f() {\n" + "    g();\n" * 100 + "  }\n}\n"
    found = spans(source, "java")
    assert {symbol for _, _, _, symbol in found[1:]} == {"A.f"}
    assert found[-1][1] == 104


def test_a_comment_of_a_statement_is_not_cut_off_it() -> None:
    statements = "".join(f"    # about {n}\n    call({n})\n" for n in range(40))
    for first, _, _, _ in spans(f"def long():\n{statements}")[1:]:
        assert first % 2 == 0


def test_fields_of_a_long_type_keep_the_name_of_the_type() -> None:
    source = "class A {\n" + "".join(f"  int field{n} = {n};\n" for n in range(70)) + "}\n"
    assert {(kind, symbol) for _, _, kind, symbol in spans(source, "java")} == {("type", "A")}


def test_a_long_constant_is_found_by_its_name() -> None:
    rows = "".join(f"    {n}: 'a',\n" for n in range(10))
    assert spans(f"TABLE = {{\n{rows}}}\n") == [(1, 12, "module", "TABLE")]


def test_a_javadoc_comment_may_stand_off_by_a_blank_line() -> None:
    source = "/**\n * Runs.\n */\n\napp.run = function run() {\n" + "  go();\n" * 12 + "};\n"
    assert spans(source, "javascript") == [(1, 18, "function", "app.run")]


def test_a_licence_at_the_top_does_not_belong_to_the_first_definition() -> None:
    source = "# Licence\n" * 12 + "\ndef f():\n" + body(20)
    assert [(first, symbol) for first, _, _, symbol in spans(source)] == [(1, ""), (14, "f")]


def test_a_function_that_is_called_on_the_spot_shows_its_definitions() -> None:
    inner = "".join(f"  function f{n}() {{\n" + "    go();\n" * 12 + "  }\n" for n in range(4))
    source = f"(function () {{\n  'use strict';\n{inner}}})();\n"
    assert [symbol for _, _, _, symbol in spans(source, "javascript")] == ["f0", "f1", "f2", "f3"]


def test_bats_tests_are_named_by_their_string() -> None:
    source = (
        'load helper\n\n@test "adds two" {\n'
        + "  run add\n" * 12
        + '}\n\n@test "fails" {\n'
        + "  run add\n" * 12
        + "}\n"
    )
    assert [symbol for _, _, _, symbol in spans(source, "bash")][-2:] == ['test "adds two"', 'test "fails"']


def test_a_header_of_cpp_is_read_as_cpp_and_one_of_c_as_c() -> None:
    cpp = b"#pragma once\nnamespace ns {\nclass Store {\n public:\n  void open() {}\n};\n}\n"
    assert chunk(cpp, "c")[0].symbol == "ns, ns.Store, ns.Store.open"
    documented = b"/* Opens it. */\nint store_open(const char *path);\nint undocumented(void);\n"
    assert chunk(documented, "c") == [Chunk(1, 3, "function", "store_open")]


def test_a_syntax_error_costs_no_definition_around_it() -> None:
    source = "def f():\n" + body(20) + "\n\ndef g(:\n    pass ]]\n\n\ndef h():\n" + body(20)
    names = {name for _, _, _, symbol in spans(source) for name in symbol.split(", ")}
    assert {"f", "h"} <= names


def test_text_that_is_no_program_is_chunked_as_text() -> None:
    assert {kind for _, _, kind, _ in spans("}}} ((( ]]] \n" * 60, "java")} <= {"text", "module"}


def test_many_clauses_of_one_function_name_it_once() -> None:
    source = "".join(f"def f({n}), do: {n}\n" for n in range(12))
    assert spans(source, "elixir") == [(1, 12, "function", "f")]
