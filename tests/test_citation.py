"""The law of citations: what is rendered is read back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.answering.citation import Citation, parse, render
from itza_git.errors import UsageError

COMMITS = st.one_of(st.just("worktree"), st.text("0123456789abcdef", min_size=4, max_size=64))
PATHS = st.one_of(
    st.binary(min_size=1),
    st.text(min_size=1).map(lambda text: text.encode("utf-8", "surrogatepass")),
    # The pieces that citations themselves are made of.
    st.lists(st.sampled_from(["a", ":1", ":1-2", "@abcd", '"', "\\", " ", "\n", "@worktree"]), min_size=1).map(
        lambda parts: "".join(parts).encode()
    ),
)


@st.composite
def citations(draw: st.DrawFn) -> Citation:
    first = draw(st.integers(1, 10**9))
    return Citation(draw(PATHS), first, first + draw(st.integers(0, 10**6)), draw(COMMITS))


@given(citations())
def test_parse_is_the_inverse_of_render(citation: Citation) -> None:
    text = render(citation)
    assert parse(text) == citation
    assert "\n" not in text
    assert text.isprintable()


@given(st.text())
def test_any_text_is_a_citation_or_a_named_error(text: str) -> None:
    try:
        citation = parse(text)
    except UsageError as error:
        assert error.hint
    else:
        assert parse(render(citation)) == citation


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        (Citation(b"a/b.py", 10, 42, "1a2b3c4"), "a/b.py:10-42@1a2b3c4"),
        (Citation(b"a/b.py", 10, 10, "1a2b3c4"), "a/b.py:10@1a2b3c4"),
        (Citation(b"a b.py", 1, 2, "worktree"), '"a b.py":1-2@worktree'),
        (Citation("a/\u00e9.md".encode(), 1, 1, "1a2b3c4"), "a/\u00e9.md:1@1a2b3c4"),
        (Citation(b"\xff.c", 1, 1, "1a2b3c4"), '"\\377.c":1@1a2b3c4'),
        (Citation(b"a:1@dead", 3, 3, "1a2b3c4"), '"a:1@dead":3@1a2b3c4'),
        (Citation(b" a ", 3, 3, "1a2b3c4"), '" a ":3@1a2b3c4'),
        (Citation(b'say "hi"', 3, 3, "1a2b3c4"), '"say \\"hi\\"":3@1a2b3c4'),
    ],
)
def test_how_citations_look(citation: Citation, text: str) -> None:
    assert render(citation) == text
    assert parse(text) == citation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.py",
        "a.py:1",
        "a.py@1a2b3c4",
        "a.py:0@1a2b3c4",
        "a.py:01@1a2b3c4",
        "a.py:9-3@1a2b3c4",
        "a.py:1-@1a2b3c4",
        "a.py:1@HEAD",
        "a.py:1@abc",
        "a.py:1@1A2B3C4",
        ":1@1a2b3c4",
        '"":1@1a2b3c4',
        "a.py:\u0661@1a2b3c4",
        "a.py:1@1a2b3c4\nb.py:1@1a2b3c4",
    ],
)
def test_what_is_no_citation(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_a_citation_of_impossible_lines_cannot_be_made() -> None:
    for first, last in ((0, 1), (2, 1), (-1, 1)):
        with pytest.raises(ValueError):
            Citation(b"a", first, last, "1a2b3c4")
