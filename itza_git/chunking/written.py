"""What of a text is written for people: comments and docstrings; all of it where it is prose.

Told by the marks of comments alone, so that it costs little and needs no grammar. A `//` in a string counts too.
"""

from __future__ import annotations

import re
from functools import cache

from itza_git.chunking.languages import is_prose

# The first lines of a chunk: its name, and its comment or its signature.
BEGINNING_LINES = 5

_LINES = r"(?:^|(?<=\s))#(?![!\[])[^\n]*"
_DOCSTRINGS = r'""".*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*\*(?:[ \t][^\n]*)?$"
_DASHES = r"--[^\n]*|\{-.*?(?:-\}|\Z)|/\*.*?(?:\*/|\Z)"
_MARKS = {
    _LINES: "awk bash cmake coffeescript crystal dockerfile fish gettext graphql ini just make meson nim nix perl"
    " powershell r ruby tcl toml yaml",
    f"{_LINES}|{_DOCSTRINGS}": "python bazel elixir julia mojo gdscript",
    f"{_LINES}|{_SLASHES}": "php hack terraform",
    _DASHES: "ada elm haskell lua purescript sql",
    r"<!--.*?(?:-->|\Z)": "html xml",
    r"\(\*.*?(?:\*\)|\Z)": "ocaml sml",
    r";[^\n]*": "assembly clojure lisp",
    r"%[^\n]*": "erlang prolog",
}


@cache
def _comments(language: str) -> re.Pattern[str]:
    mark = next((mark for mark, languages in _MARKS.items() if language in languages.split()), _SLASHES)
    return re.compile(mark, re.MULTILINE | re.DOTALL)


def beginning(text: str) -> str:
    """The first lines of a text."""
    return "\n".join(text.split("\n", BEGINNING_LINES)[:BEGINNING_LINES])


def written(text: str, language: str) -> str:
    """What is written for people in a text of a language: whole words of it, in order."""
    return text if is_prose(language) else "\n".join(_comments(language).findall(text))
