"""The repositories that a client may mean: its roots or the working folder, and those that the user has registered."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from itza_git import registry
from itza_git.api import Itza
from itza_git.errors import GitError, NotARepository, UsageError
from itza_git.git import open_repository
from itza_git.mcp.indexing import Indexing
from itza_git.registry import Entry

# Open repositories that wait for the next call; calls in parallel open more.
MOST_IDLE = 2


class Place:
    """One repository. Every call has an `Itza` of its own, so calls in parallel share nothing that changes."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self._lock = threading.Lock()
        self._idle: list[Itza] = []
        self._identity: tuple[int, int] | None = None
        self._indexing: dict[str, Indexing] = {}

    @contextmanager
    def itza(self) -> Iterator[Itza]:
        """The repository, open for one call. Raises `NotARepository` when it is gone, `GitError`, `ConfigError`."""
        identity = self._check()
        with self._lock:
            if identity != self._identity:  # another repository stands where the old one stood
                self._idle.clear()
                self._identity = identity
            opened = self._idle.pop() if self._idle else None
        try:
            opened = opened or Itza.open(self.path)
            yield opened
        except Exception as e:
            # Whatever it was that failed: that the repository is no more explains it best.
            if not self.is_there():
                raise self.gone() from e
            raise
        # Not after an error, for what it holds may be what is wrong.
        with self._lock:
            if identity == self._identity and len(self._idle) < MOST_IDLE:
                self._idle.append(opened)

    def index(self, rev: str, commit: str) -> Indexing:
        """The run that indexes a commit; a new one unless one is under way."""
        with self._lock:
            self._indexing = {name: run for name, run in self._indexing.items() if run.is_alive()}
            if commit not in self._indexing:
                self._indexing[commit] = Indexing(self.path, rev)
                self._indexing[commit].start()
            return self._indexing[commit]

    def gone(self) -> NotARepository:
        """The error for a repository that is no longer there."""
        return NotARepository(f"the repository {self.name} is gone: {self.path}", "list_indexed_repos shows the others")

    def is_there(self) -> bool:
        """Whether the repository still stands at its path."""
        with suppress(NotARepository):
            self._check()
            return True
        return False

    def _check(self) -> tuple[int, int]:
        """What tells this repository from another one at the same path. Raises `NotARepository`."""
        git = self.path / ".git"
        try:
            found = os.stat(git if git.exists() else self.path / "HEAD")
        except OSError as e:
            raise self.gone() from e
        return found.st_dev, found.st_ino


class Places:
    """All of them. here is the working folder of the server."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self._lock = threading.Lock()
        self._open: dict[Path, Place] = {}
        self._last: dict[Path, Path] = {}

    def known(self, roots: Sequence[Path]) -> tuple[Entry, ...]:
        """What can be named: the repositories of the roots (of the working folder without any), then the registered."""
        local = self.local(roots)
        # The registered keep their names: citations and users use them.
        named = registry.named([*registry.entries(), *local])
        return tuple(sorted(named, key=lambda one: one.path not in local))

    def local(self, roots: Sequence[Path]) -> list[Path]:
        """The repositories that the client works in; where its roots lie in none, that of the working folder."""
        found = list(dict.fromkeys(path for folder in roots for path in self._repository_of(folder)))
        return found or self._repository_of(self.here)

    def _repository_of(self, folder: Path) -> list[Path]:
        try:
            self._last[folder] = registry.place_of(open_repository(folder))
        except GitError:
            # One that was deleted while it was open stays known, so that a call can say so.
            return [self._last[folder]] if folder in self._last else []
        return [self._last[folder]]

    def find(self, which: str | None, roots: Sequence[Path]) -> Place:
        """The repository of a name or path; the one that the client works in without. Raises `UsageError`."""
        if which:
            entry = registry.find(which, self.known(roots))
            return self._place(entry.name, entry.path)
        candidates = self.local(roots) or [entry.path for entry in registry.entries()]
        if not candidates:
            raise UsageError(
                f"no git repository at {self.here}", "start the server in one, or: git itza repos add PATH"
            )
        if len(candidates) > 1:
            names = ", ".join(entry.name for entry in self.known(roots) if entry.path in candidates)
            raise UsageError(f"several repositories are open: {names}", "say which one with repo")
        opened = self._open.get(candidates[0])
        return opened or next(place for place in self.all(roots) if place.path == candidates[0])

    def all(self, roots: Sequence[Path]) -> list[Place]:
        """Every repository that can be named."""
        return [self._place(entry.name, entry.path) for entry in self.known(roots)]

    def _place(self, name: str, path: Path) -> Place:
        with self._lock:
            return self._open.setdefault(path, Place(name, path))
