"""What the program asks of git, however it is answered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from itza_git.records import Ancestors, Attributes, Blamed, Branch, Change, Commit, CommitMessage, Entry, Head


class Repository(Protocol):
    """A repository, opened for reading. Nothing here ever writes to it or runs its code.

    Every method that takes an id raises `UnreadableObject` when the object is absent or broken.
    """

    @property
    def git_dir(self) -> Path:
        """This worktree's git directory, absolute."""

    @property
    def common_dir(self) -> Path:
        """The git directory that all worktrees share, absolute. The index lives in its `itza` folder."""

    @property
    def worktree(self) -> Path | None:
        """The top of the working tree, None for a bare repository."""

    @property
    def id_length(self) -> int:
        """Bytes of an object id."""

    def head(self) -> Head:
        """Where HEAD stands, detached and unborn included."""

    def resolve(self, revision: str) -> Commit:
        """The commit that revision names: branch, tag (peeled), `HEAD~2`, `stash@{0}`, a short id, `HEAD@{yesterday}`.

        Raises `UnknownRevision` when there is none, when a short id is ambiguous (naming the candidates), or when the
        object is not a commit; `UnbornHead` when revision is HEAD and there is no commit yet.
        """

    def branches(self) -> list[Branch]:
        """All local branches, by name; those that do not point to a readable commit are left out."""

    def tree(self, tree: bytes) -> list[Entry]:
        """All entries of a root tree that are not trees themselves (blobs, symlinks, gitlinks), in git's order."""

    def diff(self, old: bytes, new: bytes) -> list[Change]:
        """The paths that differ between two root trees (no rename detection), in git's order."""

    def size(self, blob: bytes) -> int:
        """The size of a blob in bytes, from its header: the content is not read."""

    def read(self, blob: bytes) -> bytes:
        """The content of a blob."""

    def read_many(self, blobs: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
        """(id, content) of each blob in the order asked; content is None for one that cannot be read."""

    def attributes(self, commit: bytes, paths: Sequence[bytes]) -> dict[bytes, Attributes]:
        """What the commit's .gitattributes and info/attributes say of paths, in one go; paths without any are absent.

        Working tree, index, and the user's and the system's own attribute files do not count.
        """

    def config(self, key: str) -> list[str]:
        """All values of a configuration key, lowest precedence first and `git -c` last; empty when it is not set.

        A key without a value reads "true". The configuration is read once per open repository.
        """

    def committed_config(self, tree: bytes, name: bytes) -> dict[str, list[str]] | None:
        """The keys (lower case) and values of a file in git's configuration syntax at the top of a tree.

        Empty when there is no such file, None when it cannot be parsed; includes in it are not followed.
        """

    def abbreviate(self, commit: bytes) -> str:
        """The shortest unambiguous hex form that git itself would print (`core.abbrev` honoured)."""

    def uncommitted(self, largest: int) -> list[Change]:
        """How the working tree differs from HEAD's tree: changed, deleted and untracked (not ignored) files, by path.

        From then on `read` and `size` also know the blobs that it names, though git does not hold them. A file of more
        than largest bytes is not read: its id stands for its path and size. Raises `GitError` in a bare repository.
        """

    def worktree_heads(self) -> list[Commit]:
        """The commits that the HEADs of all worktrees name, this one's and the main one's included."""

    def reflog_commits(self, most: int, seconds: int) -> list[Commit]:
        """The commits of the newest reflog entries of all refs: at most so many, and all that were made since then."""

    def is_dirty(self) -> bool:
        """Whether tracked files differ from HEAD or untracked, not ignored ones exist; git's index is not written."""

    # History: evidence that may be lacking (a shallow clone, a pruned commit), so nothing here raises for that.

    def messages(self, commits: Iterable[bytes]) -> Iterator[CommitMessage | None]:
        """Each commit with its message, in the order asked; None for one that cannot be read."""

    def changed_paths(self, commits: Sequence[bytes], most: int) -> dict[bytes, list[bytes]]:
        """The paths that each commit changed against its parent: none when they are more than most, or it is a merge.

        Commits are left out whose changes cannot be told: a tree cannot be read, or a shallow clone lacks the parent.
        """

    def ancestors(self, commits: Collection[bytes], most: int, without: bytes | None = None) -> Ancestors:
        """Commits and all their ancestors, newest first, at most so many; none that without reaches."""

    @property
    def horizon(self) -> str:
        """A name for where the history that is here ends, empty when it is whole: a fetch can deepen a shallow one."""

    def is_ancestor(self, commit: bytes, of: bytes) -> bool:
        """Whether a commit is another one, or an ancestor of it."""

    def merge_base(self, one: bytes, other: bytes) -> bytes | None:
        """The best common ancestor of two commits; None when they have none."""

    def blame(
        self,
        commit: bytes,
        path: bytes,
        ranges: Sequence[tuple[int, int]],
        ignored: Collection[bytes] = (),
        seconds: float = 60.0,
    ) -> list[Blamed]:
        """Which commits last touched ranges of lines of a file, white space apart, as far as that is found in time.

        Commits in ignored are passed over, as for `git blame --ignore-rev`. So is what the oldest commits of a shallow
        clone seem to have written: nobody can tell who did.
        """
