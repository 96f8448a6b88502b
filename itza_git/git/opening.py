"""Finding the repository that the user means, and choosing what reads it.

libgit2 comes first, because it is faster; what it cannot open git itself opens, or says why not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryOpenFlag

from itza_git.errors import GitError, NotARepository
from itza_git.git import location
from itza_git.git.cli_backend import CliRepository
from itza_git.git.environment import configured
from itza_git.git.location import Location
from itza_git.git.protocol import Repository
from itza_git.git.pygit2_backend import Pygit2Repository

TYING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE")


def open_repository(path: Path | None = None, *, libgit2: bool = True) -> Repository:
    """The repository that path lies in; without path, the one that git would use here.

    Without path GIT_DIR, GIT_WORK_TREE, GIT_COMMON_DIR and what `git -c` passed on count, as for git itself. With
    path they do not: a hook's environment must not decide about another repository. libgit2=False has git's command
    line read what libgit2 could read too.
    """
    if path is not None:
        return _open(_existing(path), {}, {}, libgit2)
    tied = {name: os.environ[name] for name in TYING if os.environ.get(name)}
    opened = _open(_existing(Path()), tied, configured(), libgit2)
    shared = os.environ.get("GIT_COMMON_DIR")
    if shared and Path(shared).resolve() != opened.common_dir:
        raise GitError(f"GIT_COMMON_DIR={shared} is not supported", "unset GIT_COMMON_DIR")
    return opened


def _open(start: Path, tied: Mapping[str, str], settings: Mapping[str, str], libgit2: bool) -> Repository:
    """The repository of a folder. tied are variables that name it, settings what `git -c` passed on."""
    refused = None
    if libgit2:
        try:
            return Pygit2Repository(*_by_libgit2(start, tied), settings)
        except (pygit2.GitError, KeyError, ValueError, OSError) as e:
            # git may be of another opinion about the owner: it also knows safe.directory of `git -c`.
            refused = location.foreign(str(e))
    try:
        return CliRepository(location.ask_git(start, {**tied, **settings}), settings)
    except GitError as e:
        raise refused or e from e


def _by_libgit2(start: Path, tied: Mapping[str, str]) -> tuple[pygit2.Repository, Location]:
    """The open repository, in the folder or above it when no variable names it. Raises what pygit2 raises."""
    worktree = Path(tied["GIT_WORK_TREE"]).resolve() if "GIT_WORK_TREE" in tied else None
    if "GIT_DIR" in tied:
        named = Path(tied["GIT_DIR"]).absolute()
        # Not libgit2's FROM_ENV: it takes a relative GIT_WORK_TREE from elsewhere than git does.
        flags = RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT
        repository = pygit2.Repository(os.fspath(location.gitfile(named) or named), flags)
        worktree = worktree or _implied_worktree(repository)
    else:
        across = _switch("GIT_DISCOVERY_ACROSS_FILESYSTEM") is True
        ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "")
        if pygit2.discover_repository(os.fspath(start), across, ceilings) is None:
            raise location.nothing(start)
        # Searched again rather than opened where it was found: only so does libgit2 know the working tree of a
        # separate git directory.
        flags = RepositoryOpenFlag.CROSS_FS if across else RepositoryOpenFlag.DEFAULT
        repository = pygit2.Repository(os.fspath(start), flags)
        worktree = worktree or _workdir(repository)
    git_dir = Path(repository.path or "").resolve()
    return repository, Location(git_dir, location.common_dir(git_dir), worktree)


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


def _workdir(repository: pygit2.Repository) -> Path | None:
    return None if repository.workdir is None else Path(repository.workdir).resolve()
