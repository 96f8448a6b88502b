"""The user's own git configuration (`git config --global`): what is said there holds for all repositories."""

from __future__ import annotations

import os
import subprocess

from itza_git.errors import GitError
from itza_git.git.environment import scrubbed

_NO_SUCH_KEY, _NOTHING_TO_UNSET = 1, 5


def values(key: str) -> list[str]:
    """The values of a key, as the user wrote them. Raises `GitError`."""
    done = _git("--null", "--get-all", key)
    if done.returncode == _NO_SUCH_KEY:
        return []
    _check(done)
    return [os.fsdecode(value) for value in done.stdout.split(b"\0") if value]


def add(key: str, value: str) -> None:
    """Add one more value to a key. Raises `GitError`."""
    _check(_git("--add", key, value))


def remove(key: str, value: str) -> None:
    """Remove one value of a key, as it is written there; nothing when it is not there. Raises `GitError`."""
    done = _git("--fixed-value", "--unset-all", key, value)
    if done.returncode != _NOTHING_TO_UNSET:
        _check(done)


def _git(*args: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "config", "--global", *args],
            cwd=_folder(),
            env=scrubbed(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except (OSError, ValueError) as e:
        raise GitError(f"cannot run git: {e}", "git --version") from e


def _folder() -> str:
    """The working folder; the root where that was deleted under a server, since git does nothing in it then."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.abspath(os.sep)


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().partition("\n")[0]
        raise GitError(
            f"git's own configuration: {said or f'git config ended with {done.returncode}'}", "git config -l"
        )
