"""The one border to file locks: one writer at a time, and the lock dies with its process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from itza_git.errors import StoreBusy
from itza_git.store.container import cannot_write

_POLL_SECONDS = 0.05


@contextmanager
def writer(folder: Path, wait: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the folder's writer lock. Waits up to wait seconds for another writer (calling waiting once), then raises
    `StoreBusy`. Readers take no lock."""
    path = folder / "lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as e:
        raise cannot_write(path, e) from e
    try:
        try:
            _acquire(handle, path, wait, waiting)
        except OSError as e:  # a file system without locks
            raise cannot_write(path, e) from e
        yield
    finally:
        os.close(handle)  # closing is what releases it, also when the process is killed


def _acquire(handle: int, path: Path, wait: float, waiting: Callable[[], None]) -> None:
    deadline = time.monotonic() + wait
    told = False
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            raise StoreBusy(f"another process is writing the index ({path})", "try again when it is done")
        if not told:
            waiting()
            told = True
        time.sleep(_POLL_SECONDS)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
