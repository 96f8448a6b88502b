"""How much of many trees the store holds, each told from the one before: a branch costs what it differs by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from itza_git.chunking.languages import language_of
from itza_git.errors import UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.policy import UNREADABLE, Policy
from itza_git.indexing.views import judges_anew, reasons_of
from itza_git.records import Change, Commit, Coverage, Entry, Skipped
from itza_git.store import Space
from itza_git.store.pack import key_of, keys_array


def coverages(
    repository: Repository, space: Space, policy_of: Callable[[Commit], Policy], commits: Iterable[Commit]
) -> dict[bytes, Coverage | UnreadableObject]:
    """The coverage of each commit, or why its tree cannot be read, by its id."""
    teller = _Teller(repository, space, policy_of)
    known: dict[bytes, Coverage | UnreadableObject] = {}
    found = {}
    # Commits of about one time resemble each other most.
    for commit in sorted(commits, key=lambda commit: commit.time):
        if commit.tree not in known:
            try:
                known[commit.tree] = teller.tell(commit)
            except UnreadableObject as e:
                known[commit.tree] = e
        found[commit.id] = known[commit.tree]
    return found


class _Teller:
    """One tree after the other; _skipped and _keys are of the last one, _stored is what the store says of a key."""

    def __init__(self, repository: Repository, space: Space, policy_of: Callable[[Commit], Policy]) -> None:
        self._repository = repository
        self._space = space
        self._policy_of = policy_of
        self._policy: Policy | None = None
        self._tree = b""
        self._skipped: dict[bytes, str] = {}
        self._keys: dict[bytes, bytes] = {}
        self._stored: dict[bytes, str | None] = {}
        self._readable: dict[bytes, bool] = {}

    def tell(self, commit: Commit) -> Coverage:
        """The coverage of a commit."""
        self._move(commit)
        self._look_up()
        skipped = dict(self._skipped)
        missing = []
        for path, key in self._keys.items():
            stored = self._stored[key]
            if stored is None:
                missing.append(path)
            elif stored:
                skipped[path] = stored
        if missing and not any(self._can_be_read(self._keys[path]) for path in missing):
            # No index run can help. One that can be read means that there is one to come, which will tell.
            skipped |= dict.fromkeys(missing, UNREADABLE)
            missing = []
        total = len(self._keys) + len(self._skipped) - len(skipped)
        return Coverage(total - len(missing), total, tuple(Skipped(path, skipped[path]) for path in sorted(skipped)))

    def _move(self, commit: Commit) -> None:
        policy = self._policy_of(commit)
        changes = self._changes(commit) if policy == self._policy else None
        self._policy = None  # should the tree be unreadable, the next one is judged from scratch
        if changes is None:
            self._skipped.clear()
            self._keys.clear()
            self._judge(commit, policy, self._repository.tree(commit.tree))
        else:
            for change in changes:
                self._skipped.pop(change.path, None)
                self._keys.pop(change.path, None)
            self._judge(commit, policy, [change.new for change in changes if change.new])
        self._tree, self._policy = commit.tree, policy

    def _changes(self, commit: Commit) -> list[Change] | None:
        """How the tree differs from the last one; None when all of it has to be judged."""
        try:
            changes = self._repository.diff(self._tree, commit.tree)
        except UnreadableObject:
            return None
        return None if judges_anew(changes) else changes

    def _judge(self, commit: Commit, policy: Policy, entries: Sequence[Entry]) -> None:
        for entry, reason in zip(entries, reasons_of(self._repository, entries, commit, policy), strict=True):
            if reason:
                self._skipped[entry.path] = reason
            else:
                self._keys[entry.path] = key_of(entry.id, language_of(entry.path))

    def _look_up(self) -> None:
        keys = sorted(set(self._keys.values()) - self._stored.keys())
        packs, where = self._space.locate(keys_array(keys, self._repository.id_length))
        for key, pack, blob in zip(keys, where.pack.tolist(), where.blob.tolist(), strict=True):
            self._stored[key] = packs[pack].reason(blob) if pack >= 0 else None

    def _can_be_read(self, key: bytes) -> bool:
        if key not in self._readable:
            ((_, content),) = self._repository.read_many([key[: self._repository.id_length]])
            self._readable[key] = content is not None
        return self._readable[key]
