"""Git's plain pathspecs: `docs`, `docs/`, `*.py`, `src/**/x.c`; a `*` crosses folders, as in `git ls-files`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence


def matcher(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """Whether any pattern matches a path: as a whole, or as a folder above it."""
    compiled = [re.compile(_regex(pattern).encode("utf-8", "surrogateescape"), re.DOTALL) for pattern in patterns]
    return lambda path: any(regex.fullmatch(path) for regex in compiled)


def _regex(pattern: str) -> str:
    """A regular expression over the whole path. `:/` and `:(top)` are what a pattern means here anyway."""
    for prefix in (":/", ":(top)", ":(glob)", "./", "/"):
        pattern = pattern.removeprefix(prefix)
    pattern = pattern.rstrip("/") or "*"
    # fnmatch has no `**`; since `*` crosses folders, `a/**/b` must also match `a/b`.
    parts = [fnmatch.translate(part).removesuffix(r"\Z").removesuffix(r"\z") for part in pattern.split("/**/")]
    return f"(?:{'/(?:.*/)?'.join(parts)})(?:/.*)?"
