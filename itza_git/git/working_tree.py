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
# core.fsmonitor may name a program, or start a daemon. Nothing of a submodule is searched, and a broken one ends it.
_STATUS = ("-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")


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
    return object_id("blob", data, length)


def object_id(kind: str, data: bytes, length: int) -> bytes:
    """The id that git gives an object of a kind, for ids of that many bytes."""
    hashed = sha1(usedforsecurity=False) if length == 20 else sha256()
    hashed.update(b"%s %d\0" % (kind.encode(), len(data)))
    hashed.update(data)
    return hashed.digest()


def status(git: CommandLine, worktree: Path, untracked: str) -> list[tuple[bytes, bytes]]:
    """(code, path) of each line of `git status`; it takes no lock and refreshes no index."""
    done = git.run(f"--work-tree={worktree}", *_STATUS, f"--untracked-files={untracked}", folder=worktree)
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().split("\n")[0]
        raise GitError(f"git status failed in {worktree}: {said}", "git status")
    return [(row[:2], row[3:]) for row in done.stdout.split(b"\0") if row]


def uncommitted(
    rows: Iterable[tuple[bytes, bytes]], worktree: Path, head: Mapping[bytes, Entry], id_length: int, largest: int
) -> tuple[list[Change], list[WorkingFile]]:
    """The changes from HEAD's entries that the lines of a status make, and the files behind them.

    A file of more than largest bytes is not read: its id then only stands for its path and size.
    """
    changes, files = [], []
    codes: dict[bytes, set[bytes]] = {}
    for code, path in rows:
        codes.setdefault(path, set()).add(code)
    for named, given in sorted(codes.items()):
        path = named.removesuffix(b"/")  # so git names a repository that it does not track
        old = head.get(path)
        # What was taken out of the index and is not untracked is gone, or ignored and therefore none of our business.
        found = None if given == {b"D "} else _entry(path, worktree, old, largest, id_length)
        if isinstance(found, WorkingFile):
            files.append(found)
            found = Entry(path, _EXECUTABLE if os.access(found.place, os.X_OK) else _FILE, found.id)
        elif named != path:
            found = Entry(path, GITLINK, bytes(id_length))
        if found != old:
            changes.append(Change(path, old, found))
    return changes, files


def _entry(path: bytes, worktree: Path, old: Entry | None, largest: int, id_length: int) -> WorkingFile | Entry | None:
    """What is at a path: a file, the entry of what is none and stays unread, or None where there is nothing."""
    place = worktree / os.fsdecode(path)
    try:
        mode = place.lstat().st_mode
    except OSError:
        return None
    if _lies_behind_link(path, worktree):
        return None
    if stat.S_ISLNK(mode):
        return Entry(path, SYMLINK, old.id if old else bytes(id_length))
    if stat.S_ISDIR(mode):  # a submodule, or a folder that took the place of a file
        return old if old and old.mode == GITLINK else None
    return _file(path, place, old, largest, id_length) if stat.S_ISREG(mode) else None


def _lies_behind_link(path: bytes, worktree: Path) -> bool:
    """Whether a folder above a path is a link, which leads git knows where."""
    folder = worktree
    for part in os.fsdecode(path).split("/")[:-1]:
        folder /= part
        if folder.is_symlink():
            return True
    return False


def _file(path: bytes, place: Path, old: Entry | None, largest: int, id_length: int) -> WorkingFile | None:
    try:
        size = place.lstat().st_size
        if size > largest:
            return WorkingFile(place, blob_id(b"%s %d" % (path, size), id_length), size)
        data = _content(place)
    except OSError:
        return None
    if old and b"\r\n" in data and blob_id(data.replace(b"\r\n", b"\n"), id_length) == old.id:
        return WorkingFile(place, old.id, len(data))  # as committed, with the line ends of this machine
    return WorkingFile(place, blob_id(data, id_length), len(data))


def _content(place: Path) -> bytes:
    """The bytes of a regular file; a link that took its place since is not followed."""
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        return file.read()
