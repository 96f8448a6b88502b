"""A repository with hooks installed, and waiting for the worker without sleeping longer than needed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from itza_git.git import open_repository
from itza_git.hooks.install import install
from itza_git.hooks.journal import Journal, Pass, journal_of
from itza_git.hooks.scripts import EVENTS
from itza_git.hooks.worker import QUIET_SECONDS
from tests.repository import Repo

PATIENCE = 20.0
# Of a file's clock.
COARSEST_SECONDS = 0.01


def until(condition: Callable[[], bool], what: str = "the worker") -> None:
    """Return as soon as condition holds; fail the test when it does not come to."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


def most_passes(began: float) -> int:
    """How many passes the events since a moment of `time.monotonic` cost at most, when now is after the last move.

    A pass begins a quiet after the mark that it is for, so few begin before the last move, and one after it sees all.
    """
    return 1 + int((time.monotonic() - began) / (QUIET_SECONDS - COARSEST_SECONDS))


def install_in(path: Path, version: tuple[int, int] | None = None) -> None:
    """Install hooks in the repository at path, as this git (or one of a version) takes them."""
    install(open_repository(path), version=version)


class Hooked:
    """What the hooks of a repository did."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.common_dir = Path(repo.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
        self.root = self.common_dir / "itza"

    @property
    def journal(self) -> Journal:
        return journal_of(self.common_dir)[0]

    def passes(self) -> list[str]:
        """The log's lines about passes, oldest first."""
        try:
            return [line for line in (self.root / "log").read_text().splitlines() if " indexed " in line]
        except FileNotFoundError:
            return []

    def waiting(self) -> bool:
        """Whether an event was not served yet."""
        return bool(journal_of(self.common_dir)[1].marks())

    def settle(self, repo: Repo | None = None) -> Pass:
        """Wait until the HEAD of a worktree (the main one's) is indexed and nothing waits; its last pass.

        An event that comes even later finds this very HEAD indexed, so the number of passes stays what it is.
        """
        repo = repo or self.repo
        worktree = os.path.relpath(repo.git("rev-parse", "--absolute-git-dir"), self.common_dir)
        head = (repo.git("rev-parse", "--symbolic-full-name", "HEAD"), repo.git("rev-parse", "HEAD"))

        def done() -> bool:
            last = self.journal.passes().get(worktree)
            return last is not None and (last.ref, last.commit) == head and not self.waiting()

        until(done, f"{worktree} at {head}")
        return self.journal.passes()[worktree]

    def settled_passes(self) -> int:
        """How many passes it took until the HEAD was indexed."""
        self.settle()
        return len(self.passes())


def program_path() -> str:
    """A PATH on which `git itza` is this one."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def hook_files(folder: Path) -> dict[str, bytes]:
    """The hooks of our events that lie in a folder."""
    return {event: (folder / event).read_bytes() for event in EVENTS if (folder / event).exists()}
