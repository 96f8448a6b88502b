"""What of a text is written for people, and where it begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.chunking.languages import _CANONICAL
from itza_git.chunking.written import BEGINNING_LINES, beginning, written
from itza_git.words import Vocabulary, words


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        (
            "python",
            'def f():\n    """Tells why.\n\n    At length.\n    """\n    x = 1  # aside\n',
            "tells why at length aside",
        ),
        ("python", "x = '''half of a string\nthat goes on", "half of a string that goes on"),
        ("ruby", '# Tells why.\nputs "#{name} is #"\n', "tells why"),
        ("bash", "#!/bin/sh\necho $# ${x#y} # aside\n", "aside"),
        ("c", "/* Tells\n * why. */\nint f(int x) { return *x; } // aside\n", "tells why aside"),
        ("c", " * the end of a comment\n */\nint *p = *q;\n", "the end of a comment"),
        ("rust", "/// Tells why.\n#[inline]\nfn f() {}\n", "tells why"),
        ("java", "/** Tells why, to\n", "tells why to"),
        ("php", "<?php\n# one\n// two\n/* three */ f();\n", "one two three"),
        ("haskell", "-- | Tells why.\nf x = x {- aside -}\n", "tells why aside"),
        ("lua", "x = 1 -- aside\n", "aside"),
        ("html", "<p>text</p> <!-- aside\n goes on -->", "aside goes on"),
        ("markdown", "# Title\n\nAll of it.\n", "title all of it"),
        ("text", "All of it.\n", "all of it"),
        ("zig", "// only\nconst x = 1;\n", "only"),
        ("json", '{"a": 1}', ""),
    ],
)
def test_comments_and_docstrings_are_written_for_people_and_all_of_prose(language: str, text: str, said: str) -> None:
    assert " ".join(words(written(text, language))) == said


def test_the_beginning_is_the_first_lines() -> None:
    lines = [f"line{number}" for number in range(BEGINNING_LINES + 2)]
    assert beginning("\n".join(lines)).split("\n") == lines[:BEGINNING_LINES]
    assert beginning("one") == "one"


@given(st.sampled_from(sorted(set(_CANONICAL.values()))), st.text("ab1_ \n\t#/*-{}\"'<!>%;()[]\\", max_size=60))
def test_the_parts_hold_only_whole_words_of_the_text(language: str, text: str) -> None:
    vocabulary = Vocabulary()
    whole, *parts = (vocabulary.count([part]).words for part in (text, beginning(text), written(text, language)))
    for part in parts:
        assert set(part.term.tolist()) <= set(whole.term.tolist())
