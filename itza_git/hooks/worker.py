"""What a hook starts: `python -m itza_git.hooks.worker EVENT`. Marks the worktree, and serves all marks if nobody does.

git waits for nothing here: the hook starts this in the background. Until there is work nothing heavy is imported; of 50
events 49 end after some 20 ms. The one that serves waits for quiet, so that events that come together cost one pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from itza_git.hooks.journal import Journal, journal_of
from itza_git.hooks.pending import Pending

# So long without another event, and the user's command is taken to be over.
QUIET_SECONDS = 0.4
# A stream of events that never pauses is served nevertheless.
LONGEST_NOISE_SECONDS = 5.0
# How long the end of a rebase is waited for. One that stops for longer ends in an event of its own.
REBASE_SECONDS = 60.0
_POLL_SECONDS = 0.1
NICE = 10  # the kernel derives the priority of the disk from it too


def main(event: str) -> None:
    """Serve an event of the repository that git called us in."""
    if os.environ.get("ITZA_SKIP_HOOK") == "1":
        return
    _detach()
    found = _locate()
    if found is None:
        return
    common_dir, worktree = found
    journal, pending = journal_of(common_dir)
    try:
        pending.mark(worktree)
        Worker(common_dir, journal, pending).run()
    except Exception as e:  # noqa: BLE001 - nobody sees a traceback; status shows this
        _note_fault(journal, worktree, event, e)


def _detach() -> None:
    """A session of our own, no descriptor of the caller's, low priority: whoever waits for a pipe to close goes on."""
    os.closerange(3, 4096)
    with suppress(PermissionError):  # started as the leader of a group already
        os.setsid()
    os.nice(NICE)


def _locate() -> tuple[Path, str] | None:
    """The common dir and the name of the worktree; clears what ties our environment to one repository.

    None when this is no repository that can be served. git knows best which variables count, and it is asked once.
    """
    command = ["git", "rev-parse", "--local-env-vars", "--absolute-git-dir"]
    command += ["--path-format=absolute", "--git-common-dir"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        return None
    *names, git_dir, common_dir = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    for name in names:
        os.environ.pop(name, None)
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"
    os.environ["GIT_NO_LAZY_FETCH"] = "1"
    os.chdir("/")  # hold no folder, and look nothing up in a work tree
    common = Path(common_dir).resolve()
    worktree = os.path.relpath(Path(git_dir).resolve(), common)
    return None if worktree.startswith("..") else (common, worktree)


class Worker:
    """Serves the marks of one repository, one worktree after the other."""

    def __init__(
        self,
        common_dir: Path,
        journal: Journal,
        pending: Pending,
        index: Callable[[Path, str, Journal], None] | None = None,
    ) -> None:
        self._common_dir = common_dir
        self._journal = journal
        self._pending = pending
        self._index = index or _index

    def run(self) -> None:
        """Serve until no mark is left, or return at once when another process serves."""
        left: dict[str, int] = {}
        # Also after serving: who marked while we were about to leave found the lock taken and went away.
        while self._pending.marks() != left:
            with self._pending.serving() as mine:
                if not mine:
                    return
                left = self._serve()

    def _serve(self) -> dict[str, int]:
        """Index what is marked. Returns the marks that are left to the event which ends their rebase."""
        patience = time.monotonic() + REBASE_SECONDS
        while True:
            self._wait_for_quiet()
            marks = self._pending.marks()
            ready = [worktree for worktree in marks if not self._rebasing(worktree)]
            for worktree in ready:
                self._pending.take(worktree)
                if (self._common_dir / worktree).exists():  # a worktree may have been removed
                    self._index(self._common_dir, worktree, self._journal)
            if not marks or (not ready and time.monotonic() > patience):
                return marks
            if not ready:
                time.sleep(_POLL_SECONDS)

    def _rebasing(self, worktree: str) -> bool:
        git_dir = self._common_dir / worktree
        return (git_dir / "rebase-merge").exists() or (git_dir / "rebase-apply").exists()

    def _wait_for_quiet(self) -> None:
        deadline = time.monotonic() + LONGEST_NOISE_SECONDS
        while marks := self._pending.marks():
            age = time.time() - max(marks.values()) / 1e9
            # An age below zero is a clock that was set back, not an event of the future.
            if not 0 <= age < QUIET_SECONDS or time.monotonic() > deadline:
                return
            time.sleep(max(QUIET_SECONDS - age, 0.01))


def _index(common_dir: Path, worktree: str, journal: Journal) -> None:
    # Only here, because numpy and pygit2 take a quarter of a second to import.
    from itza_git.hooks.indexing import index_head

    index_head(common_dir, worktree, journal)


def _note_fault(journal: Journal, worktree: str, event: str, fault: Exception) -> None:
    from itza_git.hooks.journal import Failure

    message = f"the hook {event} failed: {fault!r}"
    try:
        journal.failed(Failure(worktree, message, "git itza index", time.time()))
    except OSError:  # a full or read-only disk: there is nowhere to say it
        return


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
