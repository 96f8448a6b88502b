"""The repositories that a user searches along: `itza.repo` in the user's git configuration, one value a repository.

Only paths are kept, as `git maintenance register` keeps them; each repository keeps its own index.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
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
    return named(map(_read, user_config.values(KEY)))


def _read(value: str) -> Path | Entry:
    """A value: a path, or `NAME=path`, which no path begins with that is absolute or starts at home."""
    found = re.fullmatch(r"([^=/\\~]+)=(.+)", value, re.DOTALL)
    path = Path(os.path.abspath(os.path.expanduser(found[2] if found else value)))
    return Entry(_printable(found[1]), path) if found else path


def named(given: Iterable[Path | Entry]) -> tuple[Entry, ...]:
    """Entries as they are, and paths with names: of two that end alike the later one is called after its parent too."""
    found: dict[str, Path] = {}
    for one in given:
        path = one.path if isinstance(one, Entry) else one
        if path not in found.values():
            found[_free(one.name if isinstance(one, Entry) else _name(path), path, found)] = path
    return tuple(Entry(name, path) for name, path in found.items())


def _name(path: Path) -> str:
    return _printable(path.name.removesuffix(".git") or path.parent.name or "root")


def _printable(name: str) -> str:
    """A name that can stand in a citation, in JSON and on a terminal."""
    return "".join(one if one.isprintable() and one not in '/\\"' else "_" for one in name)


def _free(name: str, path: Path, taken: Collection[str]) -> str:
    if name in taken:
        name = f"{_printable(path.parent.name)}-{name}"
    number, unique = 2, name
    while unique in taken:
        number, unique = number + 1, f"{name}-{number}"
    return unique


def add(path: Path) -> Entry:
    """Register the repository that path lies in; once is enough. Raises `NotARepository`, `GitError`."""
    if not os.path.exists(path):  # of any text: Path.exists raises for a name that is too long
        raise UsageError(f"no such folder: {path}", "git itza repos add PATH")
    try:
        place = place_of(open_repository(path))
    except NotARepository as e:
        # The hint for somebody who stands in that folder is none here.
        raise NotARepository(str(e), f"git -C {shlex.quote(os.fspath(path))} init") from e
    known = entries()
    if place not in {entry.path for entry in known}:
        entry = named([*known, place])[-1]
        # Where the name is not plain from the path it is written down: it must not change when another one goes.
        value = os.fspath(place) if entry.name == place.name else f"{entry.name}={place}"
        user_config.add(KEY, value)
        return entry
    return next(entry for entry in known if entry.path == place)


def remove(which: str) -> Entry:
    """Forget a repository, by its name or path; its index stays. Raises `UsageError`, `GitError`."""
    entry = find(which, entries())
    for value in user_config.values(KEY):
        read = _read(value)
        if (read.path if isinstance(read, Entry) else read) == entry.path:
            user_config.remove(KEY, value)
    return entry


def find(which: str, known: Sequence[Entry]) -> Entry:
    """The entry of a name, or of a path. Raises `UsageError`."""
    if not which:  # an unset variable of a script; as a path it would be the current folder
        raise UsageError("the name of a repository is empty", _known(known))
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
    """The repository that a path `NAME//path` is in, and the path there; None when it begins with no such name.

    git has no path with two slashes in a row, so none of the current repository is taken for one.
    """
    name, parted, rest = path.partition(b"//")
    if not (parted and rest):
        return None
    return next(((entry, rest) for entry in entries() if os.fsencode(entry.name) == name), None)


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
