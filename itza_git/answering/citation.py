"""Citations as people and programs read them: `path:first-last@commit`, and `commit id "subject"`.

The form is exact: `parse(render(c)) == c` for every path and every lines. A path that would be read differently, that
a terminal would garble, or whose end could not be told in running text (one with spaces, say) is quoted as git quotes
it; see finding.py for how citations are found there.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from itza_git.errors import UsageError
from itza_git.paths import quote, unquote

WORKTREE = "worktree"
"""What stands in place of the commit when the content is not committed."""

ID = r"[0-9a-f]{4,64}"
COMMIT = rf"{ID}|{WORKTREE}"
LONGEST_SUBJECT = 120
LINES = r"[1-9][0-9]*"
_CITATION = re.compile(
    rf'(?P<path>"(?:[^"\\]|\\.)*"|[^":@\n][^:@\n]*):(?P<first>{LINES})(?:-(?P<last>{LINES}))?@(?P<commit>{COMMIT})'
)

# What somebody wrote who did not know the form by heart.
_NEARLY = re.compile(r"(?P<path>.+):(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?(?:@(?P<commit>.*))?")

SUBJECT = r'"(?:[^"\\\n]|\\.)*"'
COMMIT_CITATION = re.compile(rf"\bcommit (?P<id>{ID}) (?P<subject>{SUBJECT})")

# What a path may consist of to stand in running text as it is; any other is quoted.
PATH_START = r"[\w.]"
PATH_CHARACTER = r"[\w./+~#%^$-]"
_PLAIN = re.compile(rf"{PATH_START}{PATH_CHARACTER}*")


@dataclass(frozen=True, slots=True)
class Citation:
    """Lines of a file at a commit: 1-based, inclusive. commit is an object id, abbreviated or whole, or `worktree`."""

    path: bytes
    first: int
    last: int
    commit: str

    def __post_init__(self) -> None:
        if not self.path or not 1 <= self.first <= self.last or not re.fullmatch(COMMIT, self.commit):
            raise ValueError(f"not a citation: {self!r}")


@dataclass(frozen=True, slots=True)
class CommitCitation:
    """A commit by its object id, abbreviated or whole, and its subject as `short` has it."""

    commit: str
    subject: str

    def __post_init__(self) -> None:
        if not re.fullmatch(ID, self.commit):
            raise ValueError(f"not a citation: {self!r}")


def short(subject: str) -> str:
    """A subject as citations have it; the end of a very long one is left out, which `\u2026` shows."""
    return subject if len(subject) <= LONGEST_SUBJECT else subject[: LONGEST_SUBJECT - 1].rstrip() + "\u2026"


def render(citation: Citation | CommitCitation) -> str:
    """The citation in one line: `path:first-last@commit`, `path:line@commit` for one line; `commit id "subject"`."""
    if isinstance(citation, CommitCitation):
        subject = quote(citation.subject.encode("utf-8", "surrogateescape"))
        quoted = subject if subject.startswith('"') else f'"{subject}"'
        return f"commit {citation.commit} {quoted}"
    lines = f"{citation.first}" if citation.first == citation.last else f"{citation.first}-{citation.last}"
    return f"{_path(citation.path)}:{lines}@{citation.commit}"


def _path(path: bytes) -> str:
    text = quote(path)
    if text.startswith('"') or _PLAIN.fullmatch(text):
        return text
    # git would print it as it is, so nothing in it needs an escape.
    return f'"{text}"'


def commit_cited(found: re.Match[str]) -> CommitCitation:
    """The citation that `COMMIT_CITATION` found."""
    return CommitCitation(found["id"], unquote(found["subject"]).decode("utf-8", "surrogateescape"))


def parse_commit(text: str) -> CommitCitation | None:
    """The citation of a commit that text is, and nothing else; the subject is empty where text has none."""
    text = text.strip()
    found = COMMIT_CITATION.fullmatch(text)
    if found:
        return commit_cited(found)
    bare = re.fullmatch(rf"commit ({ID})", text)
    return CommitCitation(bare[1], "") if bare else None


def parse(text: str) -> Citation:
    """The citation of lines that text is, and nothing else. Raises `UsageError`."""
    found = _CITATION.fullmatch(text.strip())
    if found is None:
        raise _not_a_citation(text)
    first = int(found["first"])
    try:
        return Citation(unquote(found["path"]), first, int(found["last"] or first), found["commit"])
    except ValueError as error:
        raise _not_a_citation(text) from error


def _not_a_citation(text: str) -> UsageError:
    """What is wrong with a text that is no citation, and how to write it."""
    what, hint = f"not a citation: {text!r}", "write path:first-last@commit, as `git itza ask` prints it"
    found = _NEARLY.fullmatch(text.strip())
    if found is None:
        return UsageError(what, hint)
    first, last = found["first"], found["last"] or found["first"]
    if not int(first):
        return UsageError(f"{what}: the first line of a file is 1", hint)
    if len(last.lstrip("0")) < len(first.lstrip("0")) or (len(last) == len(first) and last < first):
        return UsageError(f"{what}: line {last} comes before line {first}", hint)
    if found["commit"] is None:
        return UsageError(f"{what}: it names no commit", f"git itza show {shlex.quote(text.strip() + '@HEAD')}")
    return UsageError(what, hint)
