"""What the public API returns: frozen records, complete enough to be rendered as they are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from itza_git.records import Coverage, Passage

if TYPE_CHECKING:  # only named here; importing them would import answering and search
    from itza_git.answering.answer import Answer
    from itza_git.answering.citation import Citation
    from itza_git.search.retrieval import Found
    from itza_git.survey import Overview


# Of two passages that have so much of their text in common one is called a copy.
COPY = 0.9


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its text and its citation. commit is the full hex id, or `worktree` for uncommitted content.

    repository is the name of the one that it is in when several were searched; its path then begins with that name.
    before and after are the lines around it that were asked for.
    """

    passage: Passage
    text: str
    citation: str
    commit: str
    repository: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit that tells of what is asked: by its message, because blame of lines names it, or as one of a range.

    commit is the full hex id, time when it was written (unix seconds), text the rest of its message without trailers.
    lines are the citations of lines that it was the last to touch. share: the part of the question's words that the
    message holds, by their rarity.
    """

    commit: str
    citation: str
    subject: str
    time: int
    text: str
    by: Literal["blame", "message", "range"]
    score: float
    share: float = 0.0
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """The commits that tell of what is asked, best first, and how many of the messages there are were searched."""

    commits: tuple[CommitHit, ...]
    searched: int
    total: int


@dataclass(frozen=True, slots=True)
class Searched:
    """One of several repositories that were searched: its HEAD (full hex), or in error why it was not searched."""

    name: str
    path: Path
    commit: str
    coverage: Coverage
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Ranked hits for a query at one commit.

    rev is as the caller wrote it, commit the full hex id that it resolved to. uncommitted are the paths that are cited
    as of the working tree. literal is the `git grep` that answers better, None when this is no question for it.
    repositories are those that were searched when it was not just one; commit is then empty, and each has its own.
    past: what commits tell of it, None where that was not asked. Of a range commit is the newer end and base the older
    one, and changed the number of files that differ; each hit has the commit of its side.
    """

    query: str
    rev: str
    commit: str
    recipe: str
    coverage: Coverage
    hits: tuple[Hit, ...]
    found: Found
    uncommitted: frozenset[bytes] = frozenset()
    literal: str | None = None
    repositories: tuple[Searched, ...] = ()
    past: Past | None = None
    base: str = ""
    changed: int = 0

    def commit_of(self, path: bytes, blob: bytes) -> str:
        """The commit (full hex) at which lines of a file are cited, or `worktree`."""
        if self.repositories:
            name = path.partition(b"//")[0]
            return next(one.commit for one in self.repositories if os.fsencode(one.name) == name)
        if path in self.uncommitted:
            return "worktree"
        if not self.base:
            return self.commit
        return next(hit.commit for hit in self.hits if (hit.passage.path, hit.passage.blob) == (path, blob))


@dataclass(frozen=True, slots=True)
class Similar:
    """What a place holds (of), and the passages most like it, best first.

    A hit's passage.parts say `cosine`, `terms` and `same`, see itza_git.search.similar.Alike.
    """

    of: Hit
    rev: str
    commit: str
    recipe: str
    coverage: Coverage
    hits: tuple[Hit, ...]
    uncommitted: frozenset[bytes] = frozenset()

    @staticmethod
    def is_copy(hit: Hit) -> bool:
        """Whether a hit has nearly all of its text in common with the passage."""
        return hit.passage.parts["same"] >= COPY


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer and the result that it rests on. note says in one line why no model was asked, None when one was.

    overview is of the tree, when the question was about all of it.
    """

    result: SearchResult
    answer: Answer
    note: str | None = None
    overview: Overview | None = None


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did. new and reused count distinct blobs; lossy are paths that are not UTF-8 throughout.

    notes say what in the tree's `.itzaconfig` does not count.
    """

    rev: str
    commit: str
    coverage: Coverage
    new: int
    reused: int
    chunks: int
    not_embedded: int
    lossy: tuple[bytes, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchStatus:
    """A branch, or HEAD when detached: its commit (full hex) and how much of it the store holds.

    indexed_commit and indexed_at (unix seconds) are of the last time it was indexed under this name.
    """

    name: str
    commit: str
    coverage: Coverage
    is_head: bool
    indexed_commit: str | None = None
    indexed_at: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index. size is in bytes; fresh: HEAD's tree is in the store whole.

    damaged are files that cannot be used; troubles is what else is not well, a line each with what to do.
    """

    head: BranchStatus | None
    branches: tuple[BranchStatus, ...]
    embedder: str
    recipe: str
    answer_model: str
    store: Path
    size: int
    packs: int
    damaged: tuple[str, ...]
    troubles: tuple[str, ...] = ()

    @property
    def fresh(self) -> bool:
        """Whether a question about HEAD needs no indexing."""
        return self.head is not None and self.head.coverage.indexed == self.head.coverage.total


FileStatus = Literal["added", "deleted", "changed"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed, and how many lines it has more and fewer; None for a binary or a very large one."""

    path: bytes
    status: FileStatus
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class ShownCommit:
    """A commit as a citation names it: its message (text), when it was written, and what it changed.

    files are those that differ from its first parent, at most so many as are shown; changed counts all of them.
    """

    commit: str
    citation: str
    subject: str
    time: int
    text: str
    files: tuple[ChangedFile, ...]
    changed: int
    merged: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a file at a commit, as a citation names them."""

    citation: Citation
    commit: str
    lines: tuple[str, ...]
