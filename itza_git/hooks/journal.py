"""What the worker leaves for people: a bounded log, the last pass of each worktree, and the last error.

All three lie in `itza/` of the common dir: `log` (and `log.1`, the one before), `passes.json`, `last-error`.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from itza_git import jsontext
from itza_git.hooks.pending import Pending

LONGEST_LOG = 64 * 1024
_LOG, _PASSES, _ERROR = "log", "passes.json", "last-error"


@dataclass(frozen=True, slots=True)
class Pass:
    """One indexing pass. ref is a full name, or HEAD when detached; commit is full hex; time in unix seconds."""

    worktree: str
    ref: str
    commit: str
    indexed: int
    total: int
    new: int
    reused: int
    milliseconds: int
    time: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the last pass failed; time in unix seconds."""

    worktree: str
    message: str
    hint: str
    time: float


class Journal:
    """The records in a store's folder. Only the process that serves `Pending` writes them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def passed(self, done: Pass) -> None:
        """Record a pass; it clears the last error."""
        self._log(
            f"{done.worktree} {done.ref} {done.commit[:12]} indexed {done.indexed}/{done.total} files, "
            f"{done.new} new, {done.reused} reused, {done.milliseconds} ms"
        )
        known = self.passes() | {done.worktree: done}
        alive = {name: asdict(one) for name, one in known.items() if (self.root.parent / name).exists()}
        self._replace(_PASSES, json.dumps(alive, indent=1, sort_keys=True) + "\n")
        (self.root / _ERROR).unlink(missing_ok=True)

    def failed(self, failure: Failure) -> None:
        """Record why a pass failed."""
        # No absolute path is stored: the folder may be moved, and its name is nobody's business.
        message = " ".join(failure.message.split()).replace(os.fspath(self.root.parent), ".git")
        self._log(f"{failure.worktree} failed: {message}")
        self._replace(_ERROR, json.dumps(asdict(replace(failure, message=message))) + "\n")

    def passes(self) -> dict[str, Pass]:
        """The last pass of each worktree."""
        try:
            raw = jsontext.parse((self.root / _PASSES).read_text("utf-8"))
            return {worktree: jsontext.record(Pass, one) for worktree, one in raw.items()}
        except (OSError, ValueError, AttributeError):
            return {}  # a lost record costs one look at a HEAD that is indexed already

    def last_error(self) -> Failure | None:
        """The last failure, None when a pass succeeded since."""
        try:
            return jsontext.record(Failure, jsontext.parse((self.root / _ERROR).read_text("utf-8")))
        except (OSError, ValueError):
            return None

    def _log(self, line: str) -> None:
        path = self.root / _LOG
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if path.exists() and path.stat().st_size > LONGEST_LOG:
            os.replace(path, path.with_name(_LOG + ".1"))
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{stamp} {line}\n")

    def _replace(self, name: str, text: str) -> None:
        temporary = self.root / f".tmp-{os.getpid()}-{name}"
        temporary.write_text(text, "utf-8", errors="backslashreplace")
        os.replace(temporary, self.root / name)


def journal_of(common_dir: Path) -> tuple[Journal, Pending]:
    """The records and the marks of a repository."""
    root = common_dir / "itza"
    return Journal(root), Pending(root)
