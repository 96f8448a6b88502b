"""Whether the interpreter that a hook is pinned to can start the worker."""

from __future__ import annotations

import os
import subprocess

from itza_git.git.environment import scrubbed

_LONGEST_START_SECONDS = 10.0


def problem_of(python: str) -> str:
    """Why this interpreter cannot start the worker in one line, "" when it can."""
    if not python:
        return "no interpreter is named"
    if not os.path.exists(python):
        return f"interpreter missing: {python}"
    if not os.access(python, os.X_OK):
        return f"interpreter not executable: {python}"
    command = [python, "-E", "-P", "-c", "import itza_git.hooks.worker"]
    try:
        done = subprocess.run(
            command, env=scrubbed(), cwd="/", capture_output=True, check=False, timeout=_LONGEST_START_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"interpreter cannot be started: {python}"
    return "" if done.returncode == 0 else f"interpreter lacks git-itza: {python}"
