"""Indexing behind the answers: a thread that makes the store hold a revision, while calls use what is there already."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from itza_git.api import Itza
from itza_git.errors import ItzaError
from itza_git.indexing import Watch

_POLL_SECONDS = 0.05
# What no machine indexes in less time than it takes to say so.
MOST_BLOBS_A_SECOND = 2000


class Indexing(threading.Thread):
    """One index run. done and total count blobs; error is why it ended before it was through."""

    def __init__(self, path: Path, rev: str) -> None:
        # A daemon: a client that leaves does not wait for it, and the store keeps every finished pack.
        super().__init__(name=f"indexing {path.name}", daemon=True)
        self.done = self.total = 0
        self.error: ItzaError | None = None
        self._path = path
        self._rev = rev
        self._through = threading.Event()

    def run(self) -> None:
        """Index; called by the thread."""
        try:
            with Itza.open(self._path) as itza:
                itza.refresh(self._rev, watch=Watch(self._advance))
                self._through.set()
                with suppress(ItzaError):  # evidence that may be lacking, for which nobody waits
                    itza.remember(self._rev)
        except ItzaError as e:
            self.error = e
        except Exception as e:  # noqa: BLE001 - nobody stands above a thread; the next answer tells it
            self.error = ItzaError(f"indexing failed: {e!r}", "git itza index")
        finally:
            self._through.set()

    @property
    def goes_on(self) -> bool:
        """Whether more of the tree may come into the store."""
        return self.is_alive() and not self._through.is_set()

    def _advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def wait(self, seconds: float, tell: Callable[[int, int], None], in_part: bool = True) -> bool:
        """Whether it ends within seconds. tell is called meanwhile with done and total; what it raises ends this.

        in_part: more of an index is worth waiting for too, not only the whole.
        """
        deadline = time.monotonic() + seconds
        while self.goes_on:
            left = deadline - time.monotonic()
            if left <= 0 or (not in_part and self.total - self.done > left * MOST_BLOBS_A_SECOND):
                return False
            tell(self.done, self.total)
            self._through.wait(min(left, _POLL_SECONDS))
        return True
