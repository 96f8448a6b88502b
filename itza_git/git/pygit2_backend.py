"""The repository as pygit2 reads it; git's command line where libgit2 knows less than git does.

Every exception of pygit2 is mapped to ours here. Nothing is written to the repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import FileMode, ObjectType

from itza_git.errors import GitError, UnbornHead, UnreadableObject
from itza_git.git import attributes, opening, revisions
from itza_git.git.environment import CommandLine, configured
from itza_git.git.protocol import Repository
from itza_git.records import Attributes, Branch, Change, Commit, Entry, Head

# What libgit2 raises for an object that is absent, broken, or of another kind.
FOREIGN_ERRORS = (pygit2.GitError, KeyError, ValueError, TypeError, OSError)

# Revisions that libgit2 surely reads as git does: a name or an id, then any number of ~N and ^N. The others
# (`@{...}`, `:/text`, `^{...}`) go to git itself, because libgit2 searches and dates in its own way.
PLAIN_REVISION = re.compile(r"(?!-)[\w./+-]+(?:[~^]\d*)*")


def open_repository(path: Path | None = None) -> Repository:
    """The repository that path lies in; without path, the one that git would use here.

    Without path GIT_DIR, GIT_WORK_TREE, GIT_COMMON_DIR and what `git -c` passed on count, as for git itself. With
    path they do not: a hook's environment must not decide about another repository.
    """
    if path is not None:
        return Pygit2Repository(opening.discover(path), {})
    opened = opening.from_environment() if os.environ.get("GIT_DIR") else opening.discover(Path())
    return Pygit2Repository(opened, configured())


class Pygit2Repository:
    """A `Repository` (see protocol.py) on an open pygit2 repository.

    variables are what `git -c` passed on: they count for configuration, as they do for git. The configuration is
    read once.
    """

    def __init__(self, opened: opening.Opened, variables: Mapping[str, str]) -> None:
        self._repository = opened.repository
        self._odb = opened.repository.odb
        self._git_dir = opened.git_dir
        self._common_dir = opened.common_dir
        self._worktree = opened.worktree
        self._git = CommandLine(opened.git_dir, variables)
        self._settings: dict[str, list[str]] | None = None
        self._abbreviations: dict[bytes, str] = {}

    @property
    def git_dir(self) -> Path:
        return self._git_dir

    @property
    def common_dir(self) -> Path:
        return self._common_dir

    @property
    def worktree(self) -> Path | None:
        return self._worktree

    @property
    def id_length(self) -> int:
        return 20  # libgit2 opens SHA-1 repositories only.

    def head(self) -> Head:
        try:
            named = self._repository.lookup_reference("HEAD").target
            ref = named if isinstance(named, str) else None
            if self._repository.head_is_unborn:
                return Head(ref, None)
            target = self._repository.head.target
        except FOREIGN_ERRORS as e:
            raise GitError(f"HEAD of {self._place()} cannot be read: {e}", "git fsck") from e
        return Head(ref, self._commit(target))

    def resolve(self, revision: str) -> Commit:
        if PLAIN_REVISION.fullmatch(revision):
            try:
                return _record(self._repository.revparse_single(revision).peel(pygit2.Commit))
            except FOREIGN_ERRORS:
                pass  # git says why, or knows better: a short id may be ambiguous and yet name only one commit
        if re.match(r"(?:HEAD|@)(?![\w./-])", revision) and self.head().commit is None:
            raise UnbornHead(f"{self._place()} has no commit yet", "git commit")
        return self._commit(revisions.resolve(self._git, revision))

    def branches(self) -> list[Branch]:
        found = []
        for raw in sorted(self._repository.raw_listall_branches()):
            try:
                commit = _record(self._repository.lookup_branch(raw).peel(pygit2.Commit))
            except FOREIGN_ERRORS:
                continue
            found.append(Branch(os.fsdecode(raw), commit))
        return found

    def tree(self, tree: bytes) -> list[Entry]:
        found: list[Entry] = []
        pending: list[tuple[bytes, Iterator[pygit2.Object]]] = [(b"", iter(self._subtree(tree, b"")))]
        while pending:
            prefix, entries = pending[-1]
            for entry in entries:
                path, mode = prefix + _name(entry), int(entry.filemode)
                if mode == FileMode.TREE:
                    pending.append((path + b"/", iter(self._subtree(entry.id, path))))
                    break
                found.append(Entry(path, mode, entry.id.raw))
            else:
                pending.pop()
        return found

    def diff(self, old: bytes, new: bytes) -> list[Change]:
        # Only subtrees whose ids differ are opened: the cost follows the change, not the repository.
        found: list[Change] = []
        pending = self._sides(b"", self._subtree(old, b""), self._subtree(new, b""))
        while pending:
            before, after = pending.pop()
            if before is not None and after is not None and before.id == after.id and before.mode == after.mode:
                continue
            sides = [entry for entry in (before, after) if entry is not None]
            if sides[0].mode == FileMode.TREE:
                trees = [None if side is None else self._subtree(side.id, side.path) for side in (before, after)]
                pending += self._sides(sides[0].path, *trees)
            else:
                found.append(Change(sides[0].path, before, after))
        return found

    def children(self, tree: bytes, path: bytes) -> list[Entry]:
        """The entries of one tree, trees included; path is where the tree stands."""
        return list(_entries(path, self._subtree(tree, path)).values())

    def size(self, blob: bytes) -> int:
        try:
            kind, size = self._odb.read_header(pygit2.Oid(raw=blob))
        except FOREIGN_ERRORS as e:
            raise _unreadable(f"blob {blob.hex()}", e) from e
        if kind != ObjectType.BLOB:
            raise UnreadableObject(f"object {blob.hex()} is not a blob")
        return int(size)

    def read(self, blob: bytes) -> bytes:
        try:
            kind, content = self._odb.read(pygit2.Oid(raw=blob))
        except FOREIGN_ERRORS as e:
            raise _unreadable(f"blob {blob.hex()}", e) from e
        if kind != ObjectType.BLOB:
            raise UnreadableObject(f"object {blob.hex()} is not a blob")
        return content

    def read_many(self, blobs: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
        for blob in blobs:
            try:
                content = self.read(blob)
            except UnreadableObject:
                yield blob, None
            else:
                yield blob, content

    def attributes(self, commit: bytes, paths: Sequence[bytes]) -> dict[bytes, Attributes]:
        return attributes.read(self, self._git, self._commit(commit).tree, paths)

    def config(self, key: str) -> list[str]:
        if self._settings is None:
            self._settings = self._read_settings()
        section, _, rest = key.partition(".")
        subsection, dot, name = rest.rpartition(".")
        # git lists section and name in lower case; a subsection keeps its case.
        return self._settings.get(f"{section.lower()}.{subsection}{dot}{name.lower()}", [])

    def abbreviate(self, commit: bytes) -> str:
        # git's automatic length follows the number of packed objects and core.abbrev: only git surely says the same.
        if commit not in self._abbreviations:
            done = self._git.run("rev-parse", "--short", commit.hex())
            self._abbreviations[commit] = done.stdout.decode().strip() or commit.hex()
        return self._abbreviations[commit]

    def is_dirty(self) -> bool:
        if self._worktree is None:
            return False
        # core.fsmonitor may name a program, or start a daemon.
        options = ("-c", "core.fsmonitor=false", f"--work-tree={self._worktree}")
        command = ("status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames")
        done = self._git.run(*options, *command, folder=self._worktree)
        if done.returncode:
            raise GitError(f"git status failed in {self._worktree}: {_first_line(done.stderr)}", "git status")
        return bool(done.stdout)

    def _place(self) -> Path:
        return self._worktree or self._git_dir

    def _commit(self, commit: bytes | str | pygit2.Oid) -> Commit:
        oid = pygit2.Oid(raw=commit) if isinstance(commit, bytes) else commit
        try:
            return _record(self._repository[oid].peel(pygit2.Commit))
        except FOREIGN_ERRORS as e:
            raise _unreadable(f"commit {oid}", e) from e

    def _subtree(self, tree: bytes | pygit2.Oid, path: bytes) -> pygit2.Tree:
        oid = tree if isinstance(tree, pygit2.Oid) else pygit2.Oid(raw=tree)
        try:
            found = self._repository[oid]
        except FOREIGN_ERRORS as e:
            raise _unreadable(f"tree {oid}{_at(path)}", e) from e
        if not isinstance(found, pygit2.Tree):
            raise UnreadableObject(f"object {oid}{_at(path)} is not a tree", "git fsck")
        return found

    def _sides(
        self, folder: bytes, old: pygit2.Tree | None, new: pygit2.Tree | None
    ) -> list[tuple[Entry | None, Entry | None]]:
        """The entries of two trees side by side, in git's order from the end (they go on a stack).

        A folder and a file of one name are different things, and stand at different places in git's order.
        """
        before, after = _entries(folder, old), _entries(folder, new)
        return [(before.get(key), after.get(key)) for key in sorted(before.keys() | after.keys(), reverse=True)]

    def _read_settings(self) -> dict[str, list[str]]:
        done = self._git.run("config", "--list", "--null", "--includes")
        if done.returncode:
            raise GitError(f"the configuration cannot be read: {_first_line(done.stderr)}", "git config --list")
        settings: dict[str, list[str]] = {}
        for item in os.fsdecode(done.stdout).split("\0")[:-1]:
            key, equals, value = item.partition("\n")
            # `[itza] history` without a value means true.
            settings.setdefault(key, []).append(value if equals else "true")
        return settings


def _record(commit: pygit2.Commit) -> Commit:
    return Commit(commit.id.raw, commit.tree_id.raw, commit.commit_time)


def _entries(folder: bytes, tree: pygit2.Tree | None) -> dict[bytes, Entry]:
    """The entries of one tree by the key that git sorts by; folder is the tree's own path."""
    found: dict[bytes, Entry] = {}
    for entry in tree or ():
        name, mode = _name(entry), int(entry.filemode)
        path = folder + b"/" + name if folder else name
        found[name + b"/" if mode == FileMode.TREE else name] = Entry(path, mode, entry.id.raw)
    return found


def _name(entry: pygit2.Object) -> bytes:
    name = entry.raw_name
    assert name is not None, "an entry of a tree has a name"
    return name


def _at(path: bytes) -> str:
    return f" at {os.fsdecode(path)!r}" if path else ""


def _unreadable(what: str, cause: Exception) -> UnreadableObject:
    said = "it is missing" if isinstance(cause, KeyError) else str(cause)
    return UnreadableObject(f"{what} cannot be read: {said}", "git fsck")


def _first_line(stderr: bytes) -> str:
    return os.fsdecode(stderr).strip().split("\n")[0]
