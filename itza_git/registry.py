"""The repositories that a user searches along: `itza.repo` in the user's git configuration, one value a path.

Only paths are kept, as `git maintenance register` keeps them; each repository keeps its own index.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from itza_git.errors import GitError, NotARepository, UsageError
from itza_git.git import Repository, open_repository, user_config

KEY = "itza.repo"


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered repository. name tells it apart in citations: the last part of its path, made unique."""

    name: str
    path: Path


def entries() -> tuple[Entry, ...]:
    """What is registered, in the order in which it was. Raises `GitError`."""
    return named([Path(os.path.abspath(path)) for path in user_config.paths(KEY)])


def named(paths: Sequence[Path]) -> tuple[Entry, ...]:
    """Paths with names that tell them apart: of two that end alike the later one is called after its parent too."""
    found: dict[str, Path] = {}
    for path in dict.fromkeys(paths):
        name = path.name.removesuffix(".git") or path.parent.name or "root"
        if name in found:
            name = f"{path.parent.name}-{name}"
        number, unique = 2, name
        while unique in found:
            number, unique = number + 1, f"{name}-{number}"
        found[unique] = path
    return tuple(Entry(name, path) for name, path in found.items())


def add(path: Path) -> Entry:
    """Register the repository that path lies in; once is enough. Raises `NotARepository`, `GitError`."""
    if not path.exists():
        raise UsageError(f"no such folder: {path}", "git itza repos add PATH")
    try:
        place = place_of(open_repository(path))
    except NotARepository as e:
        # The hint for somebody who stands in that folder is none here.
        raise NotARepository(str(e), f"git -C {shlex.quote(os.fspath(path))} init") from e
    if place not in {entry.path for entry in entries()}:
        user_config.add(KEY, os.fspath(place))
    return next(entry for entry in entries() if entry.path == place)


def remove(which: str) -> Entry:
    """Forget a repository, by its name or path; its index stays. Raises `UsageError`, `GitError`."""
    entry = find(which, entries())
    for written in user_config.written(KEY):
        if Path(os.path.abspath(os.path.expanduser(written))) == entry.path:
            user_config.remove(KEY, written)
    return entry


def find(which: str, known: Sequence[Entry]) -> Entry:
    """The entry of a name, or of a path. Raises `UsageError`."""
    for entry in known:
        if which == entry.name:
            return entry
    places = {Path(os.path.abspath(which))}
    with suppress(GitError):  # what is gone can still be named by its path
        places.add(place_of(open_repository(Path(which))))
    for entry in known:
        if entry.path in places:
            return entry
    raise UsageError(f"no registered repository is named {which}", _known(known))


def holding(path: bytes) -> tuple[Entry, bytes] | None:
    """The repository whose name a path begins with, and the path in it; None without one."""
    name, _, rest = path.partition(b"/")
    return next(((entry, rest) for entry in entries() if rest and os.fsencode(entry.name) == name), None)


def _known(known: Sequence[Entry]) -> str:
    if not known:
        return "git itza repos add PATH"
    return f"known are {', '.join(entry.name for entry in known)}: git itza repos"


def there(entry: Entry) -> Path:
    """The path of a repository that is still there. Raises `NotARepository`.

    git would look for one in the folders above.
    """
    if not entry.path.exists():
        raise NotARepository(f"{entry.path} is gone", forget_hint(entry))
    return entry.path


def forget_hint(entry: Entry) -> str:
    """The command that forgets a repository."""
    return f"git itza repos remove {shlex.quote(entry.name)}"


def place_of(repository: Repository) -> Path:
    """What a repository is registered as: the top of its working tree, or the git directory of a bare one."""
    return repository.worktree or repository.git_dir


def called(repository: Repository) -> tuple[str, ...]:
    """What people call a repository: the name of its folder, whichever worktree is asked, and that of its remote."""
    place = repository.common_dir
    folder = place.parent.name if place.name == ".git" else place.name
    urls = repository.config("remote.origin.url")[:1]
    remotes = [url.replace("\\", "/").rstrip("/").rpartition("/")[2].rpartition(":")[2] for url in urls]
    return tuple(name.removesuffix(".git") for name in [folder, *remotes])
