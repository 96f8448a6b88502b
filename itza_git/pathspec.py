"""Git's pathspecs: `docs`, `docs/`, `*.py`, `src/**/x.c`; a `*` crosses folders, as in `git ls-files`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence

from itza_git.errors import UsageError

# Where `**/` stands for any number of folders, none included: what it means in git's `:(glob)` and in .gitignore.
_FOLDERS = re.compile(r"(?:^|(?<=/))(?:\*\*/)+")
_ESCAPED = re.compile(r"\\(.)|\[\^", re.DOTALL)


def matcher(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """Whether any pattern matches a path: as a whole, or (without wildcards) as a folder above it.

    Raises `UsageError` for a pattern with magic such as `:(icase)`; `:/` and `:(top)` are what every pattern means.
    """
    compiled = [re.compile(_regex(pattern).encode("utf-8", "surrogateescape"), re.DOTALL) for pattern in patterns]
    return lambda path: any(regex.fullmatch(path) for regex in compiled)


def _regex(pattern: str) -> str:
    """A regular expression over the whole path: the pattern taken literally (git tries that first), or its globs."""
    plain = _without_magic(pattern)
    literal = re.escape(plain.rstrip("/"))
    if not literal:
        return ".*"
    below = "/.*" if plain.endswith("/") else "(?:/.*)?"
    globs = "(?:.*/)?".join(map(_globs, _FOLDERS.split(plain)))
    return f"{literal}{below}|{globs}"


def _without_magic(pattern: str) -> str:
    plain = re.sub(r"^(?::/|:\(top\))?(?:\./|/)*", "", pattern)
    if plain.startswith((":(", ":!", ":^")):
        raise UsageError(f"pathspec magic is not supported: {pattern}", "write a plain pathspec such as 'src/*.py'")
    return "" if plain == "." else plain


def _globs(pattern: str) -> str:
    """Git's wildcards as fnmatch writes them: `\\*` is a literal star, `[^a]` is `[!a]`."""
    rewritten = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] else "[!", pattern)
    return fnmatch.translate(rewritten).removesuffix(r"\Z").removesuffix(r"\z")
