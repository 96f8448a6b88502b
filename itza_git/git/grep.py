"""`git grep` on a commit, for words: what can be said of a tree before anything of it is indexed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from itza_git.git.environment import CommandLine

# Lines of one file that are looked at: a few tell what it is about.
MOST_LINES = 50


@dataclass(frozen=True, slots=True)
class Match:
    """A word that stands on a line of a file, in lower case."""

    path: bytes
    line: int
    word: str


def grep(git_dir: Path, commit: bytes, words: Sequence[str]) -> list[Match]:
    """Where the words stand in a commit's text files, in any case, also inside of other words."""
    patterns = [option for word in words for option in ("-e", word)]
    options = ("-I", "-i", "-F", "-n", "-o", "-z", "--no-color", "--no-recurse-submodules", f"--max-count={MOST_LINES}")
    done = CommandLine(git_dir).run("grep", *options, *patterns, commit.hex())
    found = []
    for line in done.stdout.splitlines():
        # Exit status and odd lines do not matter: this is a stopgap, and the index comes.
        name, *rest = line.split(b"\0")
        if len(rest) == 2 and rest[0].isdigit():
            path = name.partition(b":")[2]
            found.append(Match(path, int(rest[0]), rest[1].decode("utf-8", "replace").lower()))
    return found
