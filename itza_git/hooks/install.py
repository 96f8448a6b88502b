"""Installing and uninstalling: in git's configuration where git knows hooks there, else in hook files; never both."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from itza_git.errors import GitError
from itza_git.git import Repository
from itza_git.hooks import configuration, files
from itza_git.hooks.interpreter import problem_of
from itza_git.hooks.place import CONFIG_HOOKS, OLDEST, Place, git_version, place_of
from itza_git.hooks.record import Record
from itza_git.hooks.scripts import EVENTS


def install(repository: Repository, *, version: tuple[int, int] | None = None, python: str = "") -> None:
    """Make git start the worker after each event; once more, it repairs what others or an upgrade broke.

    version is git's (found out by default), python the interpreter that is pinned (the running one). Raises `GitError`
    when the hooks would have to be written to where they are not only this repository's; then nothing is written.
    """
    python = python or os.path.abspath(sys.executable)
    if problem := problem_of(python):
        raise GitError(f"this git-itza cannot be started by a hook: {problem}", "install it: pipx install git-itza")
    version = version or git_version(repository)
    if version < OLDEST:
        raise GitError(f"git {version[0]}.{version[1]} is too old for hooks of git itza", "git 2.31 or later")
    if version >= CONFIG_HOOKS:
        _take_out_files(repository)
        configuration.put_in(repository, python)
    else:
        _put_in_files(place_of(repository), python)
        configuration.take_out(repository)
    Record(repository.common_dir).write()


def uninstall(repository: Repository) -> list[str]:
    """Take everything out again, wherever it was put; what was done, one line each."""
    done = [f"removed {event} from git's configuration" for event in configuration.take_out(repository)]
    done += _take_out_files(repository)
    Record(repository.common_dir).remove()
    return done


def _put_in_files(place: Place, python: str) -> None:
    if place.refusal or place.folder is None:
        raise GitError(place.refusal, place.hint)
    hooks = [files.holder(place.folder, event) for event in EVENTS]
    for hook in hooks:  # all before the first write: all or nothing
        files.check(hook)
    files.make_folder(place.folder)
    for hook in hooks:
        files.put_in(hook, python)


def _is_inside(folder: Path, repository: Repository) -> bool:
    return repository.worktree is not None and folder.resolve().is_relative_to(repository.worktree.resolve())


def _take_out_files(repository: Repository) -> list[str]:
    place = place_of(repository)
    folders = {place.default}
    # Also where it would be refused now: our blocks may have been put there, or committed, before it was.
    if place.folder is not None and (not place.refusal or _is_inside(place.folder, repository)):
        folders.add(place.folder)
    done = []
    for folder in sorted(folders):
        for event in EVENTS:
            for name in (event, f"{event}.legacy", f"{event}.old"):
                hook = files.read(folder / name, event)
                if not hook.path.is_symlink() and (what := files.take_out(hook)):
                    done.append(what)
    return done
