"""The records of an overview: frozen, complete enough to be rendered as they are."""

from __future__ import annotations

from dataclasses import dataclass

from itza_git.records import Coverage, Passage


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """A language: kind is code, prose or data; share is that of all lines, 0..1."""

    name: str
    kind: str
    files: int
    lines: int
    share: float


@dataclass(frozen=True, slots=True)
class Area:
    """A folder (b"" for the files at the top): role as in search.roles, names: what others use most of it."""

    path: bytes
    role: str
    files: int
    lines: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of the tree, and what is there.

    what: the kind of entrance, or what the file is for. name: the command, or the title of a document. names: what
    others use of it most; users: how many files do.
    """

    passage: Passage
    citation: str
    commit: str
    what: str = ""
    name: str = ""
    names: tuple[str, ...] = ()
    users: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """What is in a tree, in each list the first things first; see `search --json` for the head."""

    rev: str
    commit: str
    recipe: str
    coverage: Coverage
    files: int
    lines: int
    languages: tuple[LanguageShare, ...]
    areas: tuple[Area, ...]
    entry_points: tuple[Spot, ...]
    central: tuple[Spot, ...]
    docs: tuple[Spot, ...]
    tests: tuple[Area, ...]
    build: tuple[Spot, ...]
