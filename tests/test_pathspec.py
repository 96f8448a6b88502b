"""Pathspecs, with git as the judge."""

from __future__ import annotations

import os
import subprocess

import pytest

from itza_git.errors import UsageError
from itza_git.pathspec import matcher
from tests.repository import Repo

PATHS = [
    b"README.md",
    b"a.py",
    b"a[b].c",
    b"b.c",
    b"docs",
    b"docs.d/deep/x.py",
    b"docs.d/guide.md",
    b"lib/x.py/inner.txt",
    b"s*r/star.py",
    b"sp ace/a b.py",
    b"src/A.PY",
    b"src/a.py",
    b"src/deep/er/x.c",
    b"src/deep/x.c",
    b"src/x.c",
    b"srcs/x.c",
    b"\xe9t\xc3\xa9/caf\xc3\xa9.py",
    b"new\nline.py",
]

AS_GIT = [
    "a.py", "src", "src/", "src/a.py", "docs", "docs/", "docs.d", "docs.d/", "*.py", "*.PY", "src/*.c", "src/*",
    "s?c", "s?c/a.py", "sr*", "*/x.c", "src*x.c", "[ab].*", "[!a].c", "[^a].c", "a[b].c", "a\\[b\\].c", "s\\*r/star.py",
    "s\\*r", "s*r", "sp ace", "sp ace/a b.py", "*.p", ".", "./src", ":/src", ":(top)src", ":/", "nothing", "src/a.p",
    "SRC", "*", "?????", "src/deep", "lib/*.py", "*line.py", "*caf*", "*.{py,c}", "+(a)", "(a|b).c", "a.py$",
]  # fmt: skip

ANY_FOLDERS = [
    "**/x.c",
    "src/**/x.c",
    "**/src/x.c",
    "**/*.py",
    "src/**",
    "**",
    "src/**/**/x.c",
    "**/deep/**/x.c",
    "a**",
]


@pytest.fixture
def listed(repo: Repo) -> Repo:
    for path in PATHS:
        repo.write(path, "x")
    repo.git("add", "--all")
    return repo


def ls_files(repo: Repo, *patterns: str) -> set[bytes]:
    command = ["git", "ls-files", "-z", "--", *patterns]
    listing = subprocess.run(command, cwd=repo.path, env=repo.environment(), capture_output=True, check=True).stdout
    return set(listing.split(b"\0")[:-1])


def matched(*patterns: str) -> set[bytes]:
    return set(filter(matcher(patterns), PATHS))


def test_plain_patterns_match_what_git_matches(listed: Repo) -> None:
    assert {p: matched(p) for p in AS_GIT} == {p: ls_files(listed, p) for p in AS_GIT}


def test_two_stars_stand_for_any_number_of_folders_none_included(listed: Repo) -> None:
    """Git says so with `:(glob)` only; without it a `*` crosses folders, and we give both."""
    both = {p: ls_files(listed, p) | ls_files(listed, f":(glob){p}") for p in ANY_FOLDERS}
    assert {p: matched(p) for p in ANY_FOLDERS} == both


def test_several_patterns_match_what_any_of_them_matches(listed: Repo) -> None:
    assert matched("docs.d", "*.c") == ls_files(listed, "docs.d", "*.c")
    assert matched() == set()


def test_a_pattern_of_bytes_that_are_no_text_matches(listed: Repo) -> None:
    pattern = os.fsdecode(b"\xe9t*")
    assert matched(pattern) == ls_files(listed, pattern) == {b"\xe9t\xc3\xa9/caf\xc3\xa9.py"}


def test_a_leading_slash_means_the_top_of_the_repository() -> None:
    assert matched("/src") == matched("src")


@pytest.mark.parametrize("pattern", [":(icase)SRC", ":!src", ":^src", ":(glob)src/*.c", ":(attr:x)src"])
def test_magic_is_refused_rather_than_misread(pattern: str) -> None:
    with pytest.raises(UsageError, match="pathspec magic"):
        matcher([pattern])
