"""Finding the repository that the user means, and saying plainly why one cannot be opened."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryOpenFlag

from itza_git.errors import GitError, NotARepository


@dataclass(frozen=True, slots=True)
class Opened:
    """An open repository and its three folders, absolute; worktree is None for a bare one."""

    repository: pygit2.Repository
    git_dir: Path
    common_dir: Path
    worktree: Path | None


def discover(folder: Path) -> Opened:
    """The repository of folder: there, or in the nearest folder above."""
    start = _existing(folder)
    ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "")
    across = _switch("GIT_DISCOVERY_ACROSS_FILESYSTEM") is True
    try:
        found = pygit2.discover_repository(os.fspath(start), across, ceilings)
    except (pygit2.GitError, KeyError, ValueError, OSError) as e:
        raise _refusal(start, e) from e
    if found is None:
        raise _nothing(start)
    # Searched again rather than opened where it was found: only so does libgit2 know the working tree of a
    # separate git directory.
    repository = _open(start, RepositoryOpenFlag.CROSS_FS if across else RepositoryOpenFlag.DEFAULT)
    return _opened(repository, _workdir(repository))


def from_environment() -> Opened:
    """The repository that git would use here: GIT_DIR and GIT_WORK_TREE count."""
    worktree = Path(os.environ["GIT_WORK_TREE"]).resolve() if os.environ.get("GIT_WORK_TREE") else None
    if not os.environ.get("GIT_DIR"):
        opened = discover(Path())
        return replace(opened, worktree=worktree or opened.worktree)
    # Not libgit2's FROM_ENV: it takes a relative GIT_WORK_TREE from elsewhere than git does.
    flags = RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT
    repository = _open(_gitfile(Path(os.environ["GIT_DIR"]).absolute()), flags)
    opened = _opened(repository, worktree or _implied_worktree(repository))
    shared = os.environ.get("GIT_COMMON_DIR")
    if shared and Path(shared).resolve() != opened.common_dir:
        raise GitError(f"GIT_COMMON_DIR={shared} is not supported", "unset GIT_COMMON_DIR")
    return opened


def _implied_worktree(repository: pygit2.Repository) -> Path | None:
    """The working tree when only GIT_DIR is given: what core.worktree says, else the current folder."""
    if repository.is_bare or _switch("GIT_IMPLICIT_WORK_TREE") is False:
        return None
    return _workdir(repository) if "core.worktree" in repository.config else Path.cwd()


def _switch(variable: str) -> bool | None:
    """A boolean environment variable, None when it is not set to one."""
    value = os.environ.get(variable, "").lower()
    return True if value in ("1", "true", "yes", "on") else False if value in ("0", "false", "no", "off") else None


def _existing(folder: Path) -> Path:
    try:
        start = folder.resolve(strict=True)
    except (OSError, RuntimeError) as e:
        raise NotARepository(f"no such folder: {folder}", "run it inside a git repository, or git init") from e
    return start if start.is_dir() else start.parent


def _open(path: Path, flags: RepositoryOpenFlag) -> pygit2.Repository:
    try:
        return pygit2.Repository(os.fspath(path), flags)
    except (pygit2.GitError, KeyError, ValueError, OSError) as e:
        raise _refusal(path, e) from e


def _gitfile(path: Path) -> Path:
    """The git directory that a `.git` file names (worktrees, submodules); path itself when it is none."""
    try:
        content = path.read_bytes() if path.is_file() else b""
    except OSError:
        return path
    if not content.startswith(b"gitdir: "):
        return path
    return path.parent / os.fsdecode(content.removeprefix(b"gitdir: ").rstrip(b"\r\n"))


def _workdir(repository: pygit2.Repository) -> Path | None:
    return None if repository.workdir is None else Path(repository.workdir).resolve()


def _opened(repository: pygit2.Repository, worktree: Path | None) -> Opened:
    git_dir = Path(repository.path or "").resolve()
    return Opened(repository, git_dir, _common_dir(git_dir), worktree)


def _common_dir(git_dir: Path) -> Path:
    """The folder that a linked worktree's `commondir` file names; git_dir itself without one."""
    try:
        named = (git_dir / "commondir").read_bytes().rstrip(b"\r\n")
    except FileNotFoundError:
        return git_dir
    except OSError as e:
        raise GitError(f"{git_dir / 'commondir'} cannot be read: {e.strerror}") from e
    return (git_dir / os.fsdecode(named)).resolve()


def _nothing(folder: Path) -> NotARepository:
    return NotARepository(f"not a git repository: {folder}", "run it inside a git repository, or git init")


def _refusal(path: Path, cause: Exception) -> GitError:
    """Our error for what libgit2 said on opening path."""
    said = str(cause)
    owned = re.search(r"repository path '(.*)' is not owned by current user", said)
    if owned:
        place = owned[1].rstrip("/") or "/"
        hint = f"git config --global --add safe.directory {shlex.quote(place)}"
        return GitError(f"the repository at {place} belongs to another user", hint)
    if "object format" in said or "objectformat" in said:
        return GitError(f"{path} is a SHA-256 repository, which is not supported yet")
    if "refstorage" in said:
        return GitError(f"{path} keeps its refs as a reftable, which is not supported yet")
    extension = re.search(r"unsupported extension name (?:extensions\.)?(\S+)", said)
    if extension:
        return GitError(f"{path} uses git's extension {extension[1]!r}, which is not supported yet")
    if "not found" in said:
        return _nothing(path)
    return GitError(f"the repository at {path} cannot be opened: {said}", "git status")
