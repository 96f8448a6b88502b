"""A question to the model in a process of its own: who cancels it kills it, and the model server sees the line drop.

The process is `git itza ask --json`, so an agent gets what a person gets.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from itza_git.errors import ItzaError
from itza_git.git.environment import for_child

_POLL_SECONDS = 0.1
_ANSWERED = (0, 1)


def ask(folder: Path, question: str, options: Sequence[str], check: Callable[[], None]) -> dict[str, Any]:
    """The object of `ask --json` in a folder. check is called now and again, and what it raises stops the process.

    Raises `ItzaError` with what the command said.
    """
    command = [sys.executable, "-P", "-m", "itza_git.cli", "ask", "--json", *options, "--", question]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=for_child(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = _finished(process, check)
        except BaseException:
            process.kill()
            raise
    if process.returncode not in _ANSWERED:
        raise _failure(err.decode("utf-8", "replace"))
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def _finished(process: subprocess.Popen[bytes], check: Callable[[], None]) -> tuple[bytes, bytes]:
    while True:
        try:
            return process.communicate(timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            check()


def _failure(said: str) -> ItzaError:
    """The error that the command told."""
    lines = {key: rest for key, _, rest in (line.partition(": ") for line in said.splitlines())}
    return ItzaError(lines.get("error") or "git itza ask failed", lines.get("hint", ""))
