"""What the working tree holds beyond HEAD: changed, deleted and untracked (not ignored) files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1, sha256
from pathlib import Path

from itza_git.errors import GitError, UnreadableObject
from itza_git.git.environment import CommandLine
from itza_git.records import GITLINK, SYMLINK, Change, Entry

_FILE, _EXECUTABLE = 0o100644, 0o100755
# core.fsmonitor may name a program, or start a daemon.
_STATUS = ("-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--no-renames")


@dataclass(frozen=True, slots=True)
class WorkingFile:
    """A file of the working tree under the id that its content had when it was listed. size is in bytes."""

    place: Path
    id: bytes
    size: int

    def read(self) -> bytes:
        """The content. Raises `UnreadableObject` when the file is no longer what was listed."""
        try:
            data = _content(self.place)
        except OSError as e:
            raise UnreadableObject(f"{self.place} cannot be read: {e.strerror}") from e
        if blob_id(data, len(self.id)) != self.id:
            raise UnreadableObject(f"{self.place} has just changed", "ask again")
        return data


def blob_id(data: bytes, length: int) -> bytes:
    """The id that git gives a blob, for ids of that many bytes."""
    hashed = sha1(usedforsecurity=False) if length == 20 else sha256()
    hashed.update(b"blob %d\0" % len(data))
    hashed.update(data)
    return hashed.digest()


def status(git: CommandLine, worktree: Path, untracked: str) -> list[bytes]:
    """The paths that `git status` names; it takes no lock and refreshes no index."""
    done = git.run(f"--work-tree={worktree}", *_STATUS, f"--untracked-files={untracked}", folder=worktree)
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().split("\n")[0]
        raise GitError(f"git status failed in {worktree}: {said}", "git status")
    return [row[3:] for row in done.stdout.split(b"\0") if row]


def uncommitted(
    paths: Iterable[bytes], worktree: Path, head: Mapping[bytes, Entry], id_length: int, largest: int
) -> tuple[list[Change], list[WorkingFile]]:
    """The changes from HEAD's entries that the named paths make, and the files behind them.

    A file of more than largest bytes is not read: its id then only stands for its path and size.
    """
    changes, files = [], []
    for path in sorted(set(paths)):
        old = head.get(path)
        place = worktree / os.fsdecode(path)
        found = _entry(path, place, id_length, largest)
        if isinstance(found, WorkingFile):
            files.append(found)
            mode = _EXECUTABLE if os.access(place, os.X_OK) else _FILE
            new: Entry | None = Entry(path, mode, found.id)
        elif found is None:
            new = None
        else:
            new = Entry(path, found, old.id if old else bytes(id_length))
        if new != old:
            changes.append(Change(path, old, new))
    return changes, files


def _entry(path: bytes, place: Path, id_length: int, largest: int) -> WorkingFile | int | None:
    """The file at a path, the mode of what is no file and stays unread, or None where there is nothing."""
    try:
        found = place.lstat()
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return SYMLINK
    if stat.S_ISDIR(found.st_mode):
        return GITLINK  # a repository of its own; git names a folder for nothing else
    if not stat.S_ISREG(found.st_mode):
        return None
    if found.st_size > largest:
        return WorkingFile(place, blob_id(b"%s %d" % (path, found.st_size), id_length), found.st_size)
    try:
        data = _content(place)
    except OSError:
        return None
    return WorkingFile(place, blob_id(data, id_length), len(data))


def _content(place: Path) -> bytes:
    """The bytes of a regular file; a link that took its place since is not followed."""
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        return file.read()
