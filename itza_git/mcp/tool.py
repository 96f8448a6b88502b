"""What a tool is, and what all of them share: arguments, the repository and revision that is asked, its index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from itza_git.answering.citation import WORKTREE, Citation
from itza_git.api import Itza
from itza_git.indexing import Watch
from itza_git.mcp import texts
from itza_git.mcp.arguments import Parameter
from itza_git.mcp.indexing import Indexing
from itza_git.mcp.places import Place
from itza_git.ranges import range_of
from itza_git.records import Commit, Coverage
from itza_git.render import visible

# Answer from what the store holds; the thread of `Indexing` is who writes.
PEEK = Watch(patience=0)
# Uncommitted files are known to nobody else, so they are indexed on the spot, up to these seconds.
EDITED = Watch(patience=2.0, wait=0.5)


class Call(Protocol):
    """The call that a tool answers."""

    @property
    def roots(self) -> Sequence[Path]:
        """The folders that the client works in; empty when it does not say."""

    def tell(self, done: int, total: int, what: str) -> None:
        """Tell the client how far the work is; ends the call when the client has cancelled it."""


Answering = Callable[..., str]
"""Takes the call, the places and the checked arguments; the text of the answer. Raises `ItzaError`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. told is all that a model knows of it."""

    name: str
    title: str
    told: str
    parameters: tuple[Parameter, ...]
    answer: Answering


REPO = Parameter("repo", "string", "Name or path of another repository; see list_indexed_repos.")
REPO_OR_ALL = Parameter("repo", "string", "Name or path of another repository, or 'all'.")
REV = Parameter("rev", "string", f"Branch, tag or commit; default HEAD. '{WORKTREE}' adds uncommitted edits.")
BUDGET = Parameter("budget", "integer", "Most characters, 300 at least.", default=6000, least=300, most=100_000)
PATHS = Parameter("path", "strings", "Only these folders or globs: src, *.py.")
LANGUAGES = Parameter("language", "strings", "Only these: python, go.")


@dataclass(frozen=True, slots=True)
class Ready:
    """A revision that may be asked: its commit, and the run that indexes it, None when all is there."""

    commit: Commit
    indexing: Indexing | None

    def knows_nothing(self, itza: Itza) -> bool:
        """Whether indexing has just begun, so that nothing can be found by it."""
        return self.indexing is not None and self.indexing.goes_on and not itza.space.packs()

    def beginning(self) -> str:
        """The line about a tree of which nothing is indexed."""
        run = self.indexing
        of = f"0 of {run.total} files" if run and run.total else "nothing"
        return (
            f"{of} indexed so far, indexing goes on; found by the query's words alone: ask again for a better ranking"
        )

    def missing(self, covered: Coverage) -> str:
        """The line about what is not indexed; empty when all is."""
        run = self.indexing
        error = run.error if run else None
        told = f"{error} ({error.hint})" if error and error.hint else str(error or "")
        return texts.coverage(covered, run is not None and run.goes_on, told)


def ready(call: Call, place: Place, itza: Itza, rev: str, seconds: float, in_part: bool = True) -> Ready:
    """See that the store holds a revision: index it behind the call, and wait a while for that.

    Not in_part: do not wait for what cannot be whole by then. Of a range both ends; what is told is of the newer one.
    """
    asked = range_of(rev)
    if asked:
        ready(call, place, itza, asked.old, seconds, in_part)
        rev = asked.new
    commit = itza.resolve(rev)
    if itza.holds(rev):
        if not itza.trees.remembers(commit):
            place.index(rev, commit.id.hex())  # commit messages: evidence for later calls, for which none waits
        return Ready(commit, None)
    run = place.index(rev, commit.id.hex())
    run.wait(seconds, lambda done, total: call.tell(done, total, f"indexing {place.name}"), in_part)
    return Ready(commit, run)


def where_at(place: Place, commit: str, rev: str) -> str:
    """Which repository at which commit an answer is about."""
    at = "HEAD and uncommitted edits" if rev == WORKTREE else visible(rev)
    return f"{place.name} at {commit[:10]}" + ("" if commit.startswith(rev) else f" ({at})")


def cited(itza: Itza, text: str) -> Citation:
    """The citation that a model means, who may leave the commit out."""
    text = text.strip()
    return itza.citation(text if "@" in text else f"{text}@HEAD")
