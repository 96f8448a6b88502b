"""How the automatic refresh does, for `git itza hooks status` and `git itza status`."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from itza_git.clock import ago
from itza_git.git import Repository
from itza_git.hooks.journal import Failure, Pass, journal_of
from itza_git.hooks.state import HooksState, state_of


@dataclass(frozen=True, slots=True)
class Health:
    """The hooks, what waits to be indexed (worktrees by git dir relative to the common dir), and how the last run went.

    last_pass is the latest of any worktree; last_error is None when a pass succeeded since.
    """

    hooks: HooksState
    waiting: tuple[str, ...]
    last_pass: Pass | None
    last_error: Failure | None


def health(repository: Repository, *, version: tuple[int, int] | None = None) -> Health:
    """How the automatic refresh of a repository does. Reads only."""
    journal, pending = journal_of(repository.common_dir)
    passes = journal.passes().values()
    last = max(passes, key=lambda one: one.time, default=None)
    return Health(state_of(repository, version=version), tuple(sorted(pending.marks())), last, journal.last_error())


def summary(found: Health) -> list[str]:
    """Health in one line, and one more for an error: what `git itza status` shows of it."""
    hooks = found.hooks
    lines = [f"hooks     {_state(hooks)}{_last(found)}"]
    if found.last_error is not None:
        lines.append(f"          last refresh failed, {_ago(found.last_error.time)}: {found.last_error.message}")
    return lines


def _state(hooks: HooksState) -> str:
    if hooks.live:
        return f"live ({hooks.mechanism})"
    if not hooks.installed and hooks.refusal:
        return f"not installed, and cannot be: {hooks.refusal}"
    if not hooks.installed:
        return "not installed: git itza hooks install"
    broken = next(one for one in hooks.events if one.state != "live")
    return f"{broken.state}: {broken.event}: {broken.detail or 'git itza hooks install'}"


def _last(found: Health) -> str:
    return f", last refresh {_ago(found.last_pass.time)}" if found.last_pass and found.hooks.installed else ""


def _ago(moment: float) -> str:
    return ago(time.time() - moment)


def health_json(found: Health) -> dict[str, Any]:
    """The object that `git itza hooks status --json` prints, but for its schema."""
    hooks = found.hooks
    return {
        "live": hooks.live,
        "mechanism": hooks.mechanism,
        "refusal": hooks.refusal or None,
        "events": [
            {
                "event": one.event,
                "state": one.state,
                "detail": one.detail or None,
                "path": str(one.path) if one.path else None,
            }
            for one in hooks.events
        ],
        "waiting": list(found.waiting),
        "last_pass": asdict(found.last_pass) if found.last_pass else None,
        "last_error": asdict(found.last_error) if found.last_error else None,
    }
