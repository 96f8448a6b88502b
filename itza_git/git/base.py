"""What both backends of `Repository` share: everything but how objects, HEAD and branches are read.

What only git itself says right (configuration, attributes, abbreviations, `git status`) is asked of its command line.
"""

from __future__ import annotations

import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from itza_git.errors import GitError, NotLocal, UnbornHead, UnknownRevision, UnreadableObject
from itza_git.git import attributes, history, revisions, working_tree
from itza_git.git.environment import CommandLine
from itza_git.git.location import Location, first_line, too_old
from itza_git.git.loose import lenders
from itza_git.git.trees import Trees
from itza_git.paths import quote
from itza_git.records import Ancestors, Attributes, Blamed, Branch, Change, Commit, CommitMessage, Entry, Head

# A commit's first line, and the end of its committer's, which names the time.
_TREE = re.compile(rb"tree ([0-9a-f]+)\n")
_TIME = re.compile(rb"^committer [^\n]*? (\d{1,12}) [+-]\d+$", re.MULTILINE)

ALTERNATES = Path("objects", "info", "alternates")


class BaseRepository(ABC):
    """A `Repository` (see protocol.py) without its objects, HEAD and branches.

    variables are what `git -c` passed on: they count for configuration, as they do for git. The configuration is
    read once.
    """

    def __init__(self, location: Location, variables: Mapping[str, str]) -> None:
        self._location = location
        self._git = CommandLine(location.git_dir, variables)
        self._trees = Trees(self._tree_content, location.id_length)
        self._settings: dict[str, list[str]] | None = None
        self._committed_settings: dict[bytes, dict[str, list[str]] | None] = {}
        self._abbreviations: dict[bytes, str] = {}
        self._working_files: dict[bytes, working_tree.WorkingFile] = {}

    # What a backend adds

    @abstractmethod
    def head(self) -> Head:
        """See protocol.py."""

    @abstractmethod
    def branches(self) -> list[Branch]:
        """See protocol.py."""

    @abstractmethod
    def _named(self, revision: str) -> Commit | None:
        """The commit of a plain revision, None when git itself has to say what it means."""

    @abstractmethod
    def _content(self, what: str, id: bytes, kind: str) -> bytes:
        """The content of an object of a kind ("blob", "tree", "commit"); what names it in an error.

        Raises `UnreadableObject`.
        """

    @abstractmethod
    def _header(self, id: bytes) -> tuple[str, int]:
        """Kind and size of an object. Raises `UnreadableObject`."""

    # What is asked of git, or made of the above

    @property
    def git_dir(self) -> Path:
        return self._location.git_dir

    @property
    def common_dir(self) -> Path:
        return self._location.common_dir

    @property
    def worktree(self) -> Path | None:
        return self._location.worktree

    @property
    def id_length(self) -> int:
        return self._location.id_length

    def resolve(self, revision: str) -> Commit:
        if found := self._named(revision):
            return found
        try:
            return self._commit(revisions.resolve(self._git, revision))
        except UnknownRevision:
            if re.match(r"(?:HEAD|@)(?![\w./-])", revision) and self.head().commit is None:
                raise self._unborn() from None
            raise

    def tree(self, tree: bytes) -> list[Entry]:
        return self._trees.walk(tree)

    def diff(self, old: bytes, new: bytes) -> list[Change]:
        return self._trees.diff(old, new)

    def size(self, blob: bytes) -> int:
        if blob in self._working_files:
            return self._working_files[blob].size
        kind, size = self._header(blob)
        if kind != "blob":
            raise UnreadableObject(f"object {blob.hex()} is not a blob")
        return size

    def read(self, blob: bytes) -> bytes:
        if blob in self._working_files:
            return self._working_files[blob].read()
        return self._content(f"blob {blob.hex()}", blob, "blob")

    def read_many(self, blobs: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
        for blob in blobs:
            try:
                content = self.read(blob)
            except UnreadableObject:
                yield blob, None
            else:
                yield blob, content

    def attributes(self, commit: bytes, paths: Sequence[bytes]) -> dict[bytes, Attributes]:
        root = self._commit(commit).tree
        sources = attributes.sources(self._trees, root, paths)
        texts = [content for _, content in self.read_many(source.id for source in sources)]
        contents = list(zip(sources, texts, strict=True))
        return attributes.read(self._git, self.common_dir, contents, paths, self.id_length)

    def config(self, key: str) -> list[str]:
        if self._settings is None:
            self._settings = self._read_settings()
        section, _, rest = key.partition(".")
        subsection, dot, name = rest.rpartition(".")
        # git lists section and name in lower case; a subsection keeps its case.
        return self._settings.get(f"{section.lower()}.{subsection}{dot}{name.lower()}", [])

    def committed_config(self, tree: bytes, name: bytes) -> dict[str, list[str]] | None:
        found = self._trees.find(tree, name, ())
        if not found:
            return {}
        blob = found[0].id
        if blob not in self._committed_settings:
            done = self._git.run("config", f"--blob={blob.hex()}", "--list", "--null", "--no-includes")
            self._committed_settings[blob] = None if done.returncode else _parsed_settings(done.stdout)
        return self._committed_settings[blob]

    def abbreviate(self, commit: bytes) -> str:
        # git's automatic length follows the number of packed objects and core.abbrev: only git surely says the same.
        if commit not in self._abbreviations:
            done = self._git.run("rev-parse", "--short", commit.hex())
            self._abbreviations[commit] = done.stdout.decode().strip() or commit.hex()
        return self._abbreviations[commit]

    def is_dirty(self) -> bool:
        return self.worktree is not None and bool(working_tree.status(self._git, self.worktree, "normal"))

    def uncommitted(self, largest: int) -> list[Change]:
        if self.worktree is None:
            raise GitError(f"{self.git_dir} has no working tree", "ask a revision: --rev HEAD")
        commit = self.head().commit
        head = {entry.path: entry for entry in self.tree(commit.tree)} if commit else {}
        rows = working_tree.status(self._git, self.worktree, "all")
        changes, files = working_tree.uncommitted(rows, self.worktree, head, self.id_length, largest)
        self._working_files = {file.id: file for file in files if not self._holds(file.id)}
        return changes

    def worktree_heads(self) -> list[Commit]:
        done = self._git.run("worktree", "list", "--porcelain")
        ids = [line.partition(b" ")[2] for line in done.stdout.split(b"\n") if line.startswith(b"HEAD ")]
        return self._readable_commits(ids)

    def reflog_commits(self, most: int, seconds: int) -> list[Commit]:
        limits = f"--max-count={most}", f"--max-age={int(time.time()) - seconds}"
        done = [self._git.run("rev-list", "--walk-reflogs", "--all", limit) for limit in limits]
        return self._readable_commits(id for one in done for id in one.stdout.split())

    def messages(self, commits: Iterable[bytes]) -> Iterator[CommitMessage | None]:
        for commit in commits:
            try:
                content = self._content(f"commit {commit.hex()}", commit, "commit")
            except UnreadableObject:
                yield None
            else:
                yield history.parse_commit(commit, content)

    def changed_paths(self, commits: Sequence[bytes], most: int) -> dict[bytes, list[bytes]]:
        ends = {bytes.fromhex(one) for one in history.shallow(self.common_dir)}
        return history.changed_paths(self._git, commits, most, ends)

    def ancestors(self, commits: Collection[bytes], most: int, without: bytes | None = None) -> Ancestors:
        return history.ancestors(self._git, commits, most, without)

    @property
    def horizon(self) -> str:
        ends = history.shallow(self.common_dir)
        return blake2b("".join(sorted(ends)).encode(), digest_size=8).hexdigest() if ends else ""

    def is_ancestor(self, commit: bytes, of: bytes) -> bool:
        return history.is_ancestor(self._git, commit, of)

    def merge_base(self, one: bytes, other: bytes) -> bytes | None:
        return history.merge_base(self._git, one, other)

    def blame(
        self,
        commit: bytes,
        path: bytes,
        ranges: Sequence[tuple[int, int]],
        ignored: Collection[bytes] = (),
        seconds: float = 60.0,
    ) -> list[Blamed]:
        named = self.config("blame.ignoreRevsFile")
        blame = history.Blame(self._git, self.common_dir, self.worktree, named)
        return blame.of(commit, path, ranges, ignored, seconds)

    # Helpers

    @cached_property
    def _is_partial(self) -> bool:
        """Whether this is a partial clone: git marks the packs that came without all that they name."""
        return any((self.common_dir / "objects" / "pack").glob("*.promisor"))

    def _absent(self, what: str) -> UnreadableObject:
        """The error for an object that is not there."""
        if self._is_partial:
            return NotLocal(f"{what} is not local: this is a partial clone", "git fetch --refetch --no-filter")
        if lost := self._lost_lender():
            why = f"it was borrowed from {lost}, which is not there"
            return UnreadableObject(f"{what} cannot be read: {why}", f"{self.common_dir / ALTERNATES} names it")
        return UnreadableObject(f"{what} cannot be read: it is missing", "git fsck")

    def _lost_lender(self) -> str:
        """The first folder that objects are borrowed from and that is gone; "" without one."""
        return next((os.path.normpath(one) for one in lenders(self.common_dir / "objects") if not one.is_dir()), "")

    def _holds(self, id: bytes) -> bool:
        try:
            return bool(self._header(id))
        except UnreadableObject:
            return False

    def _readable_commits(self, ids: Iterable[bytes]) -> list[Commit]:
        """The commits of hex ids, each once; those that cannot be read (or are all zeros: unborn) are left out."""
        found = []
        for id in dict.fromkeys(ids):
            try:
                found.append(self._commit(bytes.fromhex(id.decode())))
            except UnreadableObject:
                continue
        return found

    def _unborn(self) -> UnbornHead:
        others = self.branches()
        if others:
            return UnbornHead(f"the branch of HEAD has no commit yet: {self._place()}", f"--rev {others[0].name}")
        return UnbornHead(f"{self._place()} has no commit yet", "git commit")

    def _place(self) -> Path:
        return self.worktree or self.git_dir

    def _commit(self, commit: bytes) -> Commit:
        """The commit with an id. Raises `UnreadableObject`."""
        # Taken apart here: libgit2 refuses commits that git reads, such as one whose author has no address.
        text = self._content(f"commit {commit.hex()}", commit, "commit")
        tree, time = _TREE.match(text), _TIME.search(text)
        if tree is None or len(tree[1]) != 2 * self.id_length:
            raise UnreadableObject(f"commit {commit.hex()} is malformed", "git fsck")
        return Commit(commit, bytes.fromhex(tree[1].decode()), int(time[1]) if time else 0)

    def _tree_content(self, tree: bytes, path: bytes) -> bytes:
        place = f" at {quote(path)}" if path else ""
        return self._content(f"tree {tree.hex()}{place}", tree, "tree")

    def _read_settings(self) -> dict[str, list[str]]:
        done = self._git.run("config", "--list", "--null", "--includes")
        said = os.fsdecode(done.stderr)
        # Of a repository that is too new for it git only warns, and leaves its configuration out.
        if refusal := too_old(self.git_dir, said):
            raise refusal
        if done.returncode:
            raise GitError(f"the configuration cannot be read: {first_line(said)}", "git config --list")
        return _parsed_settings(done.stdout)


def _parsed_settings(listed: bytes) -> dict[str, list[str]]:
    settings: dict[str, list[str]] = {}
    for item in os.fsdecode(listed).split("\0")[:-1]:
        key, equals, value = item.partition("\n")
        # `[itza] history` without a value means true.
        settings.setdefault(key, []).append(value if equals else "true")
    return settings
