"""Which language a file is in."""

from __future__ import annotations

import pytest

from itza_git.chunking.chunkers import CHUNKERS
from itza_git.chunking.languages import canonical, is_code, is_prose, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        (b"a/b.py", "python"),
        (b"web/App.TSX", "tsx"),
        (b"include/x.h", "c"),
        (b"include/x.hpp", "cpp"),
        (b"Makefile", "make"),
        (b"docker/Dockerfile.dev", "dockerfile"),
        (b"CMakeLists.txt", "cmake"),
        (b".bashrc", "bash"),
        (b"doc/git.1", "man"),
        (b"LGPL-2.1", "text"),
        (b"Cargo.lock", "toml"),
        (b"README", "text"),
        (b"README.md", "markdown"),
        (b"n.ipynb", "notebook"),
        (b"caf\xe9.rb", "ruby"),
        (b"strange.zzz", "text"),
        (b"", "text"),
    ],
)
def test_a_name_tells_the_language(path: bytes, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/bin/sh\n", "bash"),
        (b"#!/usr/bin/env python3.11\n", "python"),
        (b"#! /usr/bin/env -S DEBUG=1 node --harmony\n", "javascript"),
        (b"#!/usr/local/bin/perl5 -w\n", "perl"),
        (b"#!/opt/unheard-of\n", "text"),
        (b"#!\n", "text"),
        (b"\xff\xfe", "text"),
    ],
)
def test_a_file_without_extension_is_told_by_its_shebang(head: bytes, language: str) -> None:
    assert language_of(b"bin/run", head) == language


def test_an_extension_outweighs_the_shebang() -> None:
    assert language_of(b"run.rb", b"#!/bin/sh\n") == "ruby"


def test_a_shebang_outweighs_a_name_that_is_only_a_habit() -> None:
    assert language_of(b"install", b"#!/bin/sh\n") == "bash"


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("py", "python"),
        ("Python", "python"),
        ("js", "javascript"),
        ("ts", "typescript"),
        ("C++", "cpp"),
        ("c#", "csharp"),
        ("sh", "bash"),
        ("shell", "bash"),
        ("md", "markdown"),
        (".rs", "rust"),
        ("golang", "go"),
        ("klingon", None),
        ("", None),
    ],
)
def test_people_may_call_a_language_by_other_names(name: str, language: str | None) -> None:
    assert canonical(name) == language


def test_every_language_with_a_chunker_has_a_name_that_people_can_type() -> None:
    assert {name for name in CHUNKERS if canonical(name) != name} == set()


def test_code_prose_and_data_are_told_apart() -> None:
    assert is_code("python") and is_code("dockerfile") and is_code("sql")
    assert not any(map(is_code, ("markdown", "json", "text", "notebook", "html", "")))
    assert is_prose("rst") and is_prose("text")
    assert not any(map(is_prose, ("python", "yaml", "")))
