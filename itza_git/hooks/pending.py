"""Which worktrees wait to be indexed, and the lock that makes one process serve them all.

Under `itza/` in the common dir: `pending/main` and `pending/worktree-NAME` are empty files, made by an event and
deleted just before HEAD is read; `worker.lock` is flock'ed by the one that serves. No path is stored.

No event is lost: it first marks, then tries the lock. When that fails, the holder has yet to look at the marks once
more, after letting go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAIN = "."
_FOLDER, _LOCK = "pending", "worker.lock"
_MAIN_FILE, _LINKED_PREFIX, _LINKED_FOLDER = "main", "worktree-", "worktrees/"


class Pending:
    """The marks in a store's folder. A worktree is named by its git dir relative to the common dir: `.`, `worktrees/x`.

    Reading creates nothing.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = root / _FOLDER

    def mark(self, worktree: str) -> None:
        """Ask for a worktree's HEAD to be indexed."""
        self.root.mkdir(mode=0o700, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(self._folder / _file_of(worktree), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.utime(handle)
        finally:
            os.close(handle)

    def take(self, worktree: str) -> None:
        """Delete a mark. Done before HEAD is read: whatever moves HEAD afterwards marks again."""
        (self._folder / _file_of(worktree)).unlink(missing_ok=True)

    def marks(self) -> dict[str, int]:
        """The worktrees that wait, with the time of the last event of each (nanoseconds of the file's clock)."""
        found = {}
        try:
            for entry in os.scandir(self._folder):
                if worktree := _worktree_of(entry.name):
                    found[worktree] = entry.stat().st_mtime_ns
        except FileNotFoundError:  # no event yet, or the store was just deleted
            return found
        return found

    @contextmanager
    def serving(self) -> Iterator[bool]:
        """Whether this process is now the one that serves; it is until the context ends or the process dies."""
        handle = os.open(self.root / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield _try_lock(handle)
        finally:
            os.close(handle)


def _try_lock(handle: int) -> bool:
    import fcntl  # only who serves needs it; the marks can be read on a system without it

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _file_of(worktree: str) -> str:
    return _MAIN_FILE if worktree == MAIN else _LINKED_PREFIX + worktree.removeprefix(_LINKED_FOLDER)


def _worktree_of(file: str) -> str | None:
    if file == _MAIN_FILE:
        return MAIN
    return _LINKED_FOLDER + file.removeprefix(_LINKED_PREFIX) if file.startswith(_LINKED_PREFIX) else None
