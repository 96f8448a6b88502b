"""The frozen data that flows through the program; see docs/architecture.md for the path it takes.

Object ids are bytes of any length (20 for SHA-1, 32 for SHA-256). Paths are bytes until they are printed. Lines are
1-based and inclusive, and only a newline byte ends one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

# Modes of tree entries that are not files.
SYMLINK = 0o120000
GITLINK = 0o160000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that a revision resolved to, with the id of its root tree."""

    id: bytes
    tree: bytes
    time: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD says: a branch (`refs/heads/main`; None when detached) and its commit (None when unborn)."""

    ref: str | None
    commit: Commit | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A local branch: its short name and the commit that it names."""

    name: str
    commit: Commit


@dataclass(frozen=True, slots=True)
class Entry:
    """A path of a tree and the object it names."""

    path: bytes
    mode: int
    id: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs between two trees; old or new is None where the path does not exist."""

    path: bytes
    old: Entry | None
    new: Entry | None


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A commit with its message, decoded. time is when its author wrote it, in unix seconds."""

    id: bytes
    tree: bytes
    parents: tuple[bytes, ...]
    time: int
    text: str

    @property
    def subject(self) -> str:
        """The first paragraph in one line, as git's own `%s`; empty when there is no message."""
        return " ".join(self.text.lstrip("\n").partition("\n\n")[0].split())

    @property
    def body(self) -> str:
        """What follows the first paragraph."""
        return self.text.lstrip("\n").partition("\n\n")[2].strip("\n")


class Ancestors(NamedTuple):
    """Commits, newest first, with their times in unix seconds. is_whole: git gave up at none that it could not read."""

    ids: list[bytes]
    times: list[int]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Blamed:
    """Lines first to last of a file, which a commit was the last to touch."""

    commit: bytes
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Attributes:
    """What .gitattributes say of a path, as far as it decides about indexing; None is unspecified."""

    generated: bool | None = None
    vendored: bool | None = None
    binary: bool | None = None
    lfs: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of lines that is found and shown as one.

    kind is one of KINDS. symbol is the qualified name (`Store.open`) or the breadcrumb of a section
    (`Usage > Hooks`); empty where there is none. A comment is the part of a definition that is above its declaration,
    where that is too long to stand in one chunk with it.
    """

    first: int
    last: int
    kind: str
    symbol: str = ""


KINDS = ("text", "function", "method", "type", "module", "section", "cell", "data", "comment")


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk at a path of a tree, and how well it answers a question.

    Of the kind `commit` it is a commit's message: path is empty, blob the commit's id, symbol its subject.
    score is in 0..1, comparable within one search only. parts are the score's components, for `-v`.
    """

    path: bytes
    blob: bytes
    language: str
    first: int
    last: int
    kind: str
    symbol: str
    score: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that is not searched, and why."""

    path: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a tree's indexable files the store holds."""

    indexed: int
    total: int
    skipped: tuple[Skipped, ...] = ()
