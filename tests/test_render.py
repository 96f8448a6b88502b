"""Text for people: nothing from a repository steers the terminal, and the lines that matter are shown."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git import render, render_json
from itza_git.answering.answer import Answer, Cited, Statement
from itza_git.answering.citation import Citation
from itza_git.records import Coverage, Passage, Skipped
from itza_git.render import Style, clean, snippet
from itza_git.results import AskResult, BranchStatus, Hit, IndexReport, SearchResult, Shown, Status
from itza_git.search.retrieval import Found

PLAIN = Style()
COMMIT = "1a2b3c4" + "0" * 33


def result(*hits: Hit, query: str = "retry limit", coverage: Coverage | None = None) -> SearchResult:
    coverage = coverage or Coverage(2, 2)
    return SearchResult(query, "HEAD", COMMIT, "recipe", coverage, hits, Found([], 0.0, 0.0, [], 0.0, []))


def hit(text: str, symbol: str = "retry_limit", first: int = 9, path: bytes = b"src/net.py") -> Hit:
    last = first + text.count("\n")
    passage = Passage(path, b"\1" * 20, "python", first, last, "function", symbol, 0.5, {"path": 0.25})
    return Hit(passage, text, f"{path.decode()}:{first}-{last}@1a2b3c4", COMMIT)


# Cleaning


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"),
        ("\x1b]0;title\x07", "<U+001B>]0;title<U+0007>"),
        ("\x9b31m", "<U+009B>31m"),
        ("over\rwritten", "over<U+000D>written"),
        ("two\nlines", "two<U+000A>lines"),
        ("back\b\b\x7f", "back<U+0008><U+0008><U+007F>"),
        ("a\0b", "a<U+0000>b"),
        ("if \u202e} \u2066admin\u2069", "if <U+202E>} <U+2066>admin<U+2069>"),
        ("soft\u00adhyphen, zero\u200bwidth, \ufeffmark", "soft<U+00AD>hyphen, zero<U+200B>width, <U+FEFF>mark"),
        ("line\u2028separator", "line<U+2028>separator"),
        ("tag \U000e0041\U000e007f", "tag <U+E0041><U+E007F>"),
        ("a\tb", "a   b"),
        ("\tx", "    x"),
        ("señor 日本語 → ✓ é", "señor 日本語 → ✓ é"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_what_it_is(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Lu", "Nd"]), max_size=20))
def test_no_control_character_survives(text: str) -> None:
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200b-\u200f]", clean(text))


def test_lines_are_cleaned_one_by_one() -> None:
    assert render.clean_lines("a\x1bb\nc\rd\n") == "a<U+001B>b\nc<U+000D>d\n"


def test_hostile_paths_symbols_lines_and_answers_are_cleaned_everywhere() -> None:
    evil = "\x1b]0;x\x07\u202e"
    coverage = Coverage(1, 1, (Skipped(evil.encode(), "binary"),))
    branch = BranchStatus(f"b{evil}", COMMIT, coverage, True)
    state = Status(branch, (branch,), "builtin/x", "r", "m", Path("/r"), 1, 1, (f"damaged {evil}",))
    report = IndexReport(f"rev{evil}", COMMIT, coverage, 1, 0, 1, 1, ())
    asked = AskResult(result(), Answer("no_se", missing=evil))
    shown = [
        render.hits(result(hit(f"line {evil}\n{evil}", symbol=f"s{evil}")), PLAIN, verbose=True),
        render.status(state, PLAIN, 1000.0, verbose=True),
        render.report(report, PLAIN),
        render.no_se(asked),
        render.shown(Shown(Citation(b"x", 1, 1, "abcd"), COMMIT, (evil,)), PLAIN),
    ]
    for text in shown:
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text


# The lines that matter

LINES = [f"filler {n}" for n in range(20)]


def test_the_snippet_holds_most_of_the_wanted_words() -> None:
    lines = [*LINES[:10], "retry here", "nothing", "limit there", *LINES[:10]]
    assert set(snippet(lines, frozenset({"retry", "limit"}))) >= {10, 12}
    assert len(snippet(lines, frozenset({"retry", "limit"}))) == render.SNIPPET_LINES


def test_each_word_counts_once_and_the_first_of_equals_wins() -> None:
    lines = ["retry limit", *LINES[:10], "retry retry retry retry"]
    assert snippet(lines, frozenset({"retry", "limit"})).start == 0
    assert snippet(LINES, frozenset({"absent"})) == range(0, 6)


def test_words_inside_identifiers_count() -> None:
    lines = [*LINES[:10], "retryLimit = 3"]
    assert 10 in snippet(lines, frozenset({"limit"}))


def test_a_snippet_neither_begins_nor_ends_with_blank_lines() -> None:
    assert snippet(["", " ", "retry", "", ""], frozenset({"retry"})) == range(2, 3)


@given(st.lists(st.sampled_from(["", "  ", "retry", "limit x", "other"]), min_size=1, max_size=30))
def test_a_snippet_lies_within_the_passage(lines: list[str]) -> None:
    found = snippet(lines, frozenset({"retry", "limit"}))
    assert 1 <= len(found) <= render.SNIPPET_LINES
    assert 0 <= found.start < found.stop <= len(lines)


# Text


def test_hits_as_text() -> None:
    text = "def retry_limit(times):\n    # at most five\n\n    return min(times, 5)"
    shown = render.hits(result(hit(text), hit("x = 1", symbol="", first=100)), PLAIN)
    assert shown == "\n".join(
        [
            "src/net.py:9-12@1a2b3c4  retry_limit",
            "   9  def retry_limit(times):",
            "  10      # at most five",
            "  11",
            "  12      return min(times, 5)",
            "",
            "src/net.py:100-100@1a2b3c4",
            "  100  x = 1",
        ]
    )


def test_hits_in_colour_pick_out_the_words_of_the_question() -> None:
    shown = render.hits(result(hit("retryLimit = other")), Style(colour=True))
    assert "\x1b[33mretryLimit\x1b[0m = other" in shown
    assert shown.startswith("\x1b[32msrc/net.py:9-9@1a2b3c4\x1b[0m  \x1b[1mretry_limit\x1b[0m\n")


def test_more_is_told_on_request() -> None:
    assert "  score=0.5 path=0.25" in render.hits(result(hit("x")), PLAIN, verbose=True)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("text", ["x" * 500, "日本語の行" * 100, "\t\t" + "word " * 100, "e\u0301" * 300, "\x1b" * 300])
def test_no_line_is_wider_than_the_terminal(width: int, text: str) -> None:
    shown = render.hits(result(hit(text, symbol="名前" * 100)), Style(width=width))
    assert all(columns(line) <= width for line in shown.splitlines())
    assert shown.splitlines()[1].endswith("…")


def columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(bool(unicodedata.combining(one)) for one in text)


def test_a_line_that_just_fits_is_not_cut() -> None:
    shown = render.hits(result(hit("y" * 74, symbol="")), Style(width=79))
    assert shown.splitlines()[1] == "  9  " + "y" * 74


def test_a_heading_never_breaks_and_its_citation_is_never_cut() -> None:
    cited = hit("x", symbol="retry_limit_of_each_request", path=b"src/network/client.py")
    for width in range(40, 80):
        head = render.hits(result(cited), Style(width=width)).split("\n")[0]
        assert head.startswith(cited.citation)
        assert len(head) <= width
        assert ("  retry_" in head) == (width >= len(cited.citation) + 2 + render.LEAST_SYMBOL)


def test_a_very_narrow_terminal_still_shows_something() -> None:
    assert "retry" in render.hits(result(hit("retry = 1" * 9)), Style(width=10))


def test_a_report_as_text() -> None:
    skipped = (Skipped(b"a", "binary"), Skipped(b"b", "empty"), Skipped(b"c", "binary"))
    report = IndexReport("main", COMMIT, Coverage(5, 6, skipped), 3, 2, 9, 1, ())
    assert render.report(report, PLAIN).splitlines() == [
        "main at 1a2b3c400000: 5 of 6 files indexed, 3 files skipped",
        "  5 blobs looked at: 3 new, 2 reused",
        "  skipped: 2 binary, 1 empty",
        "  found by words alone, because it could not be embedded: 1 chunk",
    ]


def test_a_status_as_text() -> None:
    main = BranchStatus("main", COMMIT, Coverage(1, 2, (Skipped(b"x", "binary"),)), True)
    other = BranchStatus("old", "f" * 40, Coverage(0, 1), False, "f" * 40, 880.0)
    moved = BranchStatus("moved", "f" * 40, Coverage(0, 1), False, "e" * 40, 1000.0 - 3 * 86400)
    state = Status(main, (main, other, moved), "builtin/m", "0123", "qwen", Path("/r/.git/itza"), 123_456, 2, ())
    assert render.status(state, PLAIN, 1000.0).splitlines()[:9] == [
        "store     /r/.git/itza  (0.1 MB, 2 packs)",
        "embedder  builtin/m  (recipe 0123)",
        "answers   qwen",
        "HEAD      main 1a2b3c400000  1/2 files  stale: git itza index",
        "skipped   1 binary",
        "branches",
        "  * main 1a2b3c400000  1/2 files",
        "    old ffffffffffff  0/1 files  indexed 2 min ago",
        "    moved ffffffffffff  0/1 files  indexed at eeeeeeeeeeee 3 d ago",
    ]
    unborn = Status(None, (), "builtin/m", "0123", "qwen", Path("/r"), 10, 0, ())
    assert "HEAD      no commit yet" in render.status(unborn, PLAIN, 1000.0)


def test_shown_lines_carry_their_numbers_and_no_carriage_return() -> None:
    lines = Shown(Citation(b"x.py", 9, 11, "abcd"), COMMIT, ("def f():\r", "", "    pass\r"))
    assert render.shown(lines, PLAIN).splitlines() == [" 9  def f():", "10", "11      pass"]


def test_statements_and_sources_as_text() -> None:
    cited = Cited(1, b"a.py", b"\1" * 20, 1, 2, "tool")
    assert render.statement(Statement("It retries.", (cited,))) == "It retries [1]."
    assert render.statement(Statement("It sings.")) == "It sings. (unverified)"
    assert render.sources([(cited, "a.py:1-2@1a2b3c4")], PLAIN) == "[1] a.py:1-2@1a2b3c4"


# JSON


def test_json_keeps_what_text_cleans() -> None:
    found = render_json.search_json(result(hit("a\x1bb\r\nc")), dirty=False)
    assert found["hits"][0]["text"] == "a\x1bb\r\nc"


def test_a_path_of_bytes_is_quoted_beside_its_bytes() -> None:
    coverage = Coverage(0, 0, (Skipped(b"caf\xe9", "binary"), Skipped("café".encode(), "empty")))
    assert render_json.coverage_json(coverage)["skipped"] == [
        {"path": '"caf\\351"', "path_bytes": "Y2Fm6Q==", "reason": "binary"},
        {"path": "café", "reason": "empty"},
    ]


def test_a_citation_in_json_has_the_keys_of_the_contract() -> None:
    cited = Cited(1, b"a.py", b"\1" * 20, 1, 2, "tool")
    asked = AskResult(result(), Answer("answered", (Statement("It retries.", (cited,)),)))
    (found,) = render_json.ask_json(asked, [(cited, "a.py:1-2@1a2b3c4")], dirty=True)["citations"]
    assert list(found) == [
        "n", "path", "start_line", "end_line", "commit", "blob", "citation", "verified", "by", "url",
    ]  # fmt: skip
    assert (found["commit"], found["verified"], found["by"], found["url"]) == (COMMIT, True, "tool", None)
