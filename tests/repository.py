"""A real repository for a test, made with git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

EPOCH = 1_700_000_000
"""The date of the first commit; each later one is a minute younger."""


class Repo:
    """A git repository in a folder; identity and dates are fixed, so that equal content gives equal ids."""

    def __init__(self, path: Path, *options: str) -> None:
        """Makes a repository at path; options go to `git init`."""
        self.path = path
        self.clock = EPOCH
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", *options)

    def write(self, path: str | bytes, content: str | bytes = "") -> Path:
        """Writes a file, and the folders above it; path is relative to the repository and may hold any bytes."""
        target = self.path / os.fsdecode(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def commit(self, message: str = "change") -> str:
        """Commits everything in the working tree (nothing new is fine too); the commit's full id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        self.clock += 60
        return self.git("rev-parse", "HEAD")

    def git(self, *args: str | bytes, stdin: bytes = b"") -> str:
        """What `git ARGS` in the repository prints, without the last newline; fails the test when git fails."""
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=self.environment(), input=stdin, capture_output=True, check=False
        )
        if done.returncode:
            raise AssertionError(f"git {args} ended with {done.returncode}: {os.fsdecode(done.stderr)}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def environment(self) -> dict[str, str]:
        """The environment of git's processes: the test's own, and who commits and when."""
        date = f"{self.clock} +0000"
        who = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": date}
        fixed = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
        return os.environ | fixed


def existing(path: Path) -> Repo:
    """The repository or worktree that is at a path already."""
    found = Repo.__new__(Repo)
    found.path, found.clock = path, EPOCH
    return found
