"""Documents are chunked by their headings, data by its top-level keys."""

from __future__ import annotations

import pytest

from itza_git.chunking import chunk
from itza_git.chunking.prose import LONGEST_FENCE


def spans(source: str, language: str = "markdown") -> list[tuple[int, int, str]]:
    found = chunk(source.encode(), language)
    assert {c.kind for c in found} <= {"section"}
    return [(c.first, c.last, c.symbol) for c in found]


def words(lines: int) -> str:
    return "some words\n" * lines


def test_a_section_is_a_chunk_and_its_symbol_the_breadcrumb() -> None:
    source = f"# Tool\n{words(6)}## Usage\n{words(6)}### Hooks\n{words(6)}## License\n{words(6)}"
    assert spans(source) == [
        (1, 7, "Tool"),
        (8, 14, "Tool > Usage"),
        (15, 21, "Tool > Usage > Hooks"),
        (22, 28, "Tool > License"),
    ]


def test_what_stands_before_the_first_heading_has_no_name() -> None:
    assert spans(f"{words(8)}\n# One\n{words(8)}") == [(1, 9, ""), (10, 18, "One")]


def test_underlined_headings_count_and_rules_and_lists_do_not() -> None:
    source = f"Tool\n====\n{words(5)}\nUsage\n-----\n{words(5)}\n---\n\n- item\n---\n{words(3)}"
    assert [symbol for _, _, symbol in spans(source)] == ["Tool", "Tool > Usage"]


def test_headings_inside_fences_are_code() -> None:
    fences = f"```sh\n# not a heading\n~~~\n# nor this\n```\n{words(5)}~~~~ text\n# no\n~~~\n# no\n~~~~\n"
    source = f"# One\n{words(5)}{fences}# Two\n{words(5)}"
    assert [symbol for _, _, symbol in spans(source)] == ["One", "Two"]


def test_an_unclosed_fence_does_not_hold_the_rest_together() -> None:
    assert max(last - first for first, last, _ in spans("# A\n```\n" + words(300))) < 41


@pytest.mark.parametrize("fence", ["```", "~~~"])
@pytest.mark.parametrize("before", [0, 20, 35, 50])
def test_a_fence_is_never_split(fence: str, before: int) -> None:
    code = "x = 1\n\n" * 40
    source = f"# One\n{words(before)}\n{fence}py\n{code}{fence}\n\n{words(60)}"
    first, last = before + 3, before + 3 + 81
    assert any(start <= first and end >= last for start, end, _ in spans(source))


def test_a_fence_beyond_measure_is_split_all_the_same() -> None:
    source = "# One\n```\n" + "x = 1\n" * (3 * LONGEST_FENCE) + "```\n"
    assert max(last - first for first, last, _ in spans(source)) <= LONGEST_FENCE


def test_long_sections_are_cut_at_paragraphs() -> None:
    source = "# One\n\n" + (words(11) + "\n") * 10
    found = spans(source)
    assert [first for first, _, _ in found] == [1, 27, 51, 75, 99]
    assert {symbol for _, _, symbol in found} == {"One"}


def test_front_matter_is_no_heading() -> None:
    source = f"---\ntitle: a\n# comment\nlayout: b\n---\n\n# One\n{words(6)}"
    assert spans(source) == [(1, 6, ""), (7, 13, "One")]


def test_a_tiny_section_joins_the_sub_section_that_follows() -> None:
    assert spans(f"# Tool\n\n## Usage\n{words(8)}## More\n{words(8)}") == [(1, 11, "Tool"), (12, 20, "Tool > More")]


def test_titles_lose_their_markup_and_closing_marks() -> None:
    source = f"# [The `tool`](http://x) ##\n{words(6)}# C#\n{words(6)}#hashtag\n"
    assert [symbol for _, _, symbol in spans(source)] == ["The tool", "C#"]


def test_restructured_text_takes_its_levels_from_the_order_of_its_lines() -> None:
    source = (
        f"====\nTool\n====\n\n{words(6)}\nUsage\n=====\n{words(6)}\nHooks\n~~~~~\n{words(6)}\nEnd\n=====\n{words(6)}"
    )
    assert [symbol for _, _, symbol in spans(source, "rst")] == [
        "Tool",
        "Tool > Usage",
        "Tool > Usage > Hooks",
        "Tool > End",
    ]
    assert spans(source, "rst")[0][0] == 1


def test_a_table_in_restructured_text_is_no_heading() -> None:
    source = f"Tool\n====\n\n{words(4)}\n=====  =====\na      b\n=====  =====\n1      2\n=====  =====\n"
    assert {symbol for _, _, symbol in spans(source, "rst")} == {"Tool"}


def test_asciidoc_has_both_kinds_of_titles_and_blocks_that_hold_none() -> None:
    usage = f"== Usage\n{words(6)}----\n== no\n----\n{words(2)}=== Hooks\n{words(6)}"
    source = f"git-x(1)\n========\n{words(6)}\nNAME\n----\n{words(6)}\n{usage}"
    assert [symbol for _, _, symbol in spans(source, "asciidoc")] == [
        "git-x(1)",
        "git-x(1) > NAME",
        "git-x(1) > Usage",
        "git-x(1) > Usage > Hooks",
    ]


def test_crlf_does_not_hide_headings() -> None:
    source = f"# One\n{words(6)}## Two\n{words(6)}".replace("\n", "\r\n")
    assert [symbol for _, _, symbol in spans(source)] == ["One", "One > Two"]


@pytest.mark.parametrize(
    ("language", "source", "symbols"),
    [
        ("json", '{\n  "name": "x",\n  "scripts": {\n    "test": "y"\n  }\n}\n', ["name, scripts"]),
        ("yaml", "# top\nname: x\non:\n  push:\n    a: 1\njobs: {}\n", ["name, on, jobs"]),
        ("toml", '[project]\nname = "x"\n\n[tool.ruff]\na = 1\n[[extra]]\n', ["project, tool.ruff, extra"]),
        ("ini", "; top\n[core]\n\ta = 1\n", ["core"]),
        ("json", "[1,\n2]\n", [""]),
    ],
)
def test_data_is_named_by_its_keys(language: str, source: str, symbols: list[str]) -> None:
    found = chunk(source.encode(), language)
    assert [c.symbol for c in found] == symbols
    assert {c.kind for c in found} == {"data"}


def test_a_long_entry_is_a_chunk_of_its_own_with_the_comment_above_it() -> None:
    jobs = "".join(f"  step{n}: x\n" for n in range(30))
    found = chunk(f"name: x\non: push\n# All of them.\njobs:\n{jobs}".encode(), "yaml")
    assert [(c.first, c.last, c.symbol) for c in found] == [(1, 2, "name, on"), (3, 34, "jobs")]
