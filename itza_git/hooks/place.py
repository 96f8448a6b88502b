"""Where git looks for the hooks of a repository, and why some of these places are not ours to write to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from itza_git.errors import GitError
from itza_git.git import Repository
from itza_git.git.environment import CommandLine, configured

OLDEST = (2, 31)
"""The first git that says where its hooks are as an absolute path, which the worker relies on too."""

CONFIG_HOOKS = (2, 54)
"""From this version on git runs hooks that are named in its configuration."""

BY_HAND = 'add this line to its scripts yourself: git itza hook EVENT "$@"'


@dataclass(frozen=True, slots=True)
class Place:
    """The hooks folder that git uses (None when it uses none), and the default one that it would use.

    refusal says why nothing is to be written there, "" when it may be; hint is the way out.
    """

    folder: Path | None
    default: Path
    refusal: str = ""
    hint: str = ""


def command_line(repository: Repository) -> CommandLine:
    """git's command line on a repository, with what `git -c` set for it."""
    return CommandLine(repository.git_dir, configured())


def git_version(repository: Repository) -> tuple[int, int]:
    """(major, minor) of the git that is found first."""
    said = command_line(repository).run("version").stdout.decode("utf-8", "replace")
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None:
        raise GitError(f"git says no version: {said.strip()!r}", "git version")
    return int(found[1]), int(found[2])


def place_of(repository: Repository) -> Place:
    """Where git looks, and whether a hook may be written there."""
    default = repository.common_dir / "hooks"
    # A relative core.hooksPath counts from the top of the worktree, where git runs hooks, not from the current folder.
    top = repository.worktree or repository.git_dir
    done = command_line(repository).run("rev-parse", "--path-format=absolute", "--git-path", "hooks", folder=top)
    if done.returncode:
        return Place(
            None, default, "core.hooksPath is empty, so git runs no hooks here", "git config --unset core.hooksPath"
        )
    folder = Path(os.fsdecode(done.stdout.removesuffix(b"\n")))
    reason, hint = _refusal(repository, folder)
    return Place(folder, default, reason, hint)


def _refusal(repository: Repository, folder: Path) -> tuple[str, str]:
    real = folder.resolve()
    if real.is_relative_to(repository.common_dir.resolve()):
        return "", ""
    top = repository.worktree.resolve() if repository.worktree else None
    if top is None or not real.is_relative_to(top):
        return f"core.hooksPath names a folder outside of this repository: {folder}", BY_HAND
    if real == top or command_line(repository).run("ls-files", "-z", "--", str(real), folder=top).stdout:
        return f"the hooks in {folder} are tracked by this repository", BY_HAND
    return "", ""
