"""Where a repository is, as git itself says; for those that libgit2 cannot open."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from itza_git.errors import GitError, NotARepository
from itza_git.git.environment import GIT_MISSING, scrubbed

OWNED = re.compile(r"repository (?:path |at |\()'(.*?)/?' ?(?:is not owned by|is owned by|\Z|\n)")
"""How libgit2 and git (from 2.35.2 on, and its first wording) say that a repository is another user's."""

UNKNOWN = re.compile(
    r"unknown repository extensions? found:\s*(?P<extension>\S+)"
    r"|(?i:expected git repo version|unknown .*(?:hash|object format|ref storage))"
)
"""How git says that it is older than a repository's format."""


@dataclass(frozen=True, slots=True)
class Location:
    """A repository's folders, absolute (worktree is None for a bare one), and the bytes of its object ids."""

    git_dir: Path
    common_dir: Path
    worktree: Path | None
    id_length: int = 20


def ask_git(folder: Path, variables: Mapping[str, str]) -> Location:
    """The repository that git finds from a folder, where variables (GIT_DIR and the like) count.

    Raises `NotARepository`, and `GitError` that says why git does not open it.
    """
    named = variables.get("GIT_DIR")
    if named and (owned := _foreign(folder / named, variables)):
        raise owned
    command = ("rev-parse", "--is-bare-repository", "--show-object-format", "--absolute-git-dir")
    done = _git(folder, variables, *command)
    if done.returncode:
        raise refusal(folder / (named or ""), os.fsdecode(done.stderr))
    # The path comes last: it may hold newlines.
    bare, object_format, found = os.fsdecode(done.stdout).removesuffix("\n").split("\n", 2)
    git_dir = Path(found).resolve()
    worktree = _worktree(folder, variables, git_dir, is_bare=bare == "true")
    return Location(git_dir, common_dir(git_dir), worktree, 32 if object_format == "sha256" else 20)


def common_dir(git_dir: Path) -> Path:
    """The folder that a linked worktree's `commondir` file names; git_dir itself without one."""
    named = _named_by(git_dir / "commondir")
    return git_dir if named is None else named


def nothing(folder: Path) -> NotARepository:
    """The error for a folder without a repository."""
    for above in (folder, *folder.parents):
        named = gitfile(above / ".git")
        if named is not None and not named.exists():
            what = f"the repository of {above} is not where its .git file says: {named}"
            if "modules" in named.parts:
                return NotARepository(what, "in the repository around it: git submodule update --init")
            return NotARepository(what, f"in the main worktree: git worktree repair {shlex.quote(str(above))}")
    return NotARepository(f"not a git repository: {folder}", "run it inside a git repository, or git init")


def gitfile(path: Path) -> Path | None:
    """The git directory that a `.git` file names (worktrees, submodules); None when path is no such file."""
    try:
        content = path.read_bytes() if path.is_file() else b""
    except OSError:
        return None
    if not content.startswith(b"gitdir: "):
        return None
    return path.parent / os.fsdecode(content.removeprefix(b"gitdir: ").rstrip(b"\r\n"))


def foreign(said: str) -> GitError | None:
    """The error for a repository of another user, when that is what libgit2 or git said."""
    owned = OWNED.search(said)
    if owned is None:
        return None
    place = owned[1] or "/"
    return GitError(
        f"the repository at {place} belongs to another user",
        f"git config --global --add safe.directory {shlex.quote(place)}",
    )


def _foreign(git_dir: Path, variables: Mapping[str, str]) -> GitError | None:
    """The error for a git directory of another user: git does not look at the owner of one that GIT_DIR names."""
    if not git_dir.is_dir():
        return None
    free = {name: value for name, value in variables.items() if name.startswith("GIT_CONFIG")}
    # safe.directory names the working tree, where there is one.
    place = git_dir.resolve().parent if git_dir.name == ".git" else git_dir
    return foreign(os.fsdecode(_git(place, free, "rev-parse").stderr))


def too_old(path: Path, said: str) -> GitError | None:
    """The error for a repository that is newer than git, when that is what git said."""
    unknown = UNKNOWN.search(said)
    if unknown is None:
        return None
    what = f"uses git's extension {unknown['extension']}" if unknown["extension"] else "has a newer format"
    return GitError(
        f"the repository at {path} {what}, which the installed git is too old for", "a newer git; git --version"
    )


def refusal(path: Path, said: str) -> GitError:
    """Our error for what git said about the repository at path, in one line."""
    if found := foreign(said) or too_old(path, said):
        return found
    if "not a git repository" in said:
        return nothing(path)
    return GitError(f"the repository at {path} cannot be opened: {first_line(said)}", "git status")


def first_line(said: str) -> str:
    """What of git's complaint fits one line: its first fatal line."""
    lines = said.strip().split("\n")
    return next((line for line in lines if line.startswith("fatal: ")), lines[0]).removeprefix("fatal: ")


def _git(folder: Path, variables: Mapping[str, str], *args: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *args], cwd=folder, env=scrubbed() | dict(variables), capture_output=True, check=False
        )
    except (OSError, ValueError) as e:
        raise GitError(f"cannot run git, which alone can open {folder}: {e}", GIT_MISSING) from e


def _worktree(folder: Path, variables: Mapping[str, str], git_dir: Path, is_bare: bool) -> Path | None:
    top = _git(folder, variables, "rev-parse", "--show-toplevel")
    if not top.returncode:
        return Path(os.fsdecode(top.stdout.removesuffix(b"\n"))).resolve()
    if is_bare:
        return None
    # Inside of its own folder git says only that this is no working tree.
    linked = _named_by(git_dir / "gitdir")
    if linked is not None:
        return linked.parent
    configured = _git(git_dir, variables, "config", "--get", "core.worktree").stdout.removesuffix(b"\n")
    if configured:
        return (git_dir / os.fsdecode(configured)).resolve()
    return git_dir.parent if git_dir.name == ".git" else None


def _named_by(file: Path) -> Path | None:
    """The path that a file of a linked worktree's git directory holds, absolute or from that directory."""
    try:
        named = file.read_bytes().rstrip(b"\r\n")
    except FileNotFoundError:
        return None
    except OSError as e:
        raise GitError(f"{file} cannot be read: {e.strerror}") from e
    return (file.parent / os.fsdecode(named)).resolve()
