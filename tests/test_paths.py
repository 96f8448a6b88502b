"""Quoting of paths: any bytes survive, and no name can play tricks with a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.paths import quote, unquote
from tests.repository import Repo


@given(st.binary())
def test_any_path_survives_quoting(path: bytes) -> None:
    assert unquote(quote(path)) == path


@given(st.text())
def test_a_text_path_survives_quoting(path: str) -> None:
    raw = path.encode("utf-8", "surrogatepass")
    assert unquote(quote(raw)) == raw


@given(st.binary())
def test_a_quoted_path_is_one_printable_line(path: bytes) -> None:
    assert all(character.isprintable() for character in quote(path))


@given(st.text())
def test_unquote_never_fails(text: str) -> None:
    unquote(text.encode("utf-8", "replace").decode())


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        (b"src/main.py", "src/main.py"),
        (b"with space.py", "with space.py"),
        ("café/日本.py".encode(), "café/日本.py"),
        (b"caf\xe9", r'"caf\351"'),
        ("a\té".encode(), r'"a\té"'),
        (b"new\nline", r'"new\nline"'),
        (b'say "hi"', r'"say \"hi\""'),
        (b"back\\slash", r'"back\\slash"'),
        (b"\x1b[31m", r'"\033[31m"'),
        ("a\u202ecba".encode(), r'"a\342\200\256cba"'),
        ("zero\u200bwidth".encode(), r'"zero\342\200\213width"'),
    ],
)
def test_the_forms(path: bytes, quoted: str) -> None:
    assert quote(path) == quoted
    assert unquote(quoted) == path


@pytest.mark.parametrize("name", [b"plain", b"a b", b'q"q', b"t\tt", b"n\nn", b"b\\b", b"\x01\x7f", "é".encode()])
def test_git_quotes_the_same(repo: Repo, name: bytes) -> None:
    repo.write(name, "x")
    repo.commit()
    assert repo.git("-c", "core.quotePath=false", "ls-tree", "--name-only", "HEAD") == quote(name)
