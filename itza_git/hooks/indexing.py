"""One indexing pass of one worktree's HEAD, bounded in time, with its outcome written down."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from itza_git.hooks.journal import Failure, Journal, Pass

LONGEST_PASS_SECONDS = 900.0
"""A model server that is slow or hangs must not keep a process, and the writer's lock, for ever."""


class OutOfTime(BaseException):
    """The pass took too long. Not an Exception: a TimeoutError would be retried as if a server had said it."""


def index_head(common_dir: Path, worktree: str, journal: Journal) -> None:
    """Index a worktree's HEAD, unless the last pass was about the very same; what happens is told to the journal."""
    git_dir = common_dir / worktree
    head = _head(git_dir)
    last = journal.passes().get(worktree)
    if head is None or (last is not None and (last.ref, last.commit) == head):
        return
    try:
        with at_most(LONGEST_PASS_SECONDS):
            done = _refresh(git_dir, worktree, head[0])
    except OutOfTime:
        message = f"indexing was stopped after {LONGEST_PASS_SECONDS:.0f} s; what was finished is kept"
        journal.failed(Failure(worktree, message, "git itza index", time.time()))
    except Exception as e:  # noqa: BLE001 - the worker has nobody to tell but the journal
        message = str(e) if hasattr(e, "hint") else repr(e)
        journal.failed(Failure(worktree, message, getattr(e, "hint", "") or "git itza index", time.time()))
    else:
        journal.passed(done)


def _refresh(git_dir: Path, worktree: str, ref: str) -> Pass:
    from itza_git.api import Itza

    started = time.monotonic()
    with Itza.open(git_dir) as itza:
        report = itza.refresh("HEAD")
        itza.remember("HEAD")
    took = round((time.monotonic() - started) * 1000)
    covered = report.coverage
    return Pass(
        worktree, ref, report.commit, covered.indexed, covered.total, report.new, report.reused, took, time.time()
    )


def _head(git_dir: Path) -> tuple[str, str] | None:
    """(ref, commit) of HEAD, None before the first commit. git is asked because it knows every kind of ref storage."""
    command = ["git", f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", "HEAD"]
    commit = subprocess.run(command, capture_output=True, check=False).stdout.decode().strip()
    command = ["git", f"--git-dir={git_dir}", "rev-parse", "--symbolic-full-name", "HEAD"]
    ref = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace").strip()
    return (ref, commit) if commit else None


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the main thread when the body takes longer."""

    def expired(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
