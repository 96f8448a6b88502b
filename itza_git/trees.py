"""The trees of a repository that can be searched: which revision is which, what holds for it, its passages.

A tree never changes, so whole trees stay open for the next question, as long as their files in the index are
what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from itza_git import config
from itza_git.chunking.languages import canonical
from itza_git.config import Settings
from itza_git.embedding import Embedder
from itza_git.errors import Damaged, GitError, StoreError, UnknownRevision, UsageError
from itza_git.git import Repository
from itza_git.indexing import Policy, Refreshed, Refresher, Watch
from itza_git.indexing.history import History, is_remembered
from itza_git.ranges import refuse_range
from itza_git.records import Commit
from itza_git.search.corpus import Corpus, Filter
from itza_git.store import Space
from itza_git.store.space import SHORT_WAIT

MOST_OPEN = 4


class Asked(NamedTuple):
    """A tree as it was asked for: by which revision, what of it may be found, and the paths that are not committed."""

    rev: str
    commit: Commit
    corpus: Corpus
    wanted: Filter = Filter()
    changed: frozenset[bytes] = frozenset()
    is_worktree: bool = False

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "the working tree" if self.changed else self.rev


class Trees:
    """The revisions of one repository, by the settings that hold for each."""

    def __init__(self, repository: Repository, settings: Settings, space: Space, embedder: Embedder) -> None:
        self._repository = repository
        self._settings = settings
        self._space = space
        self._embedder = embedder
        self._open: dict[bytes, Corpus] = {}
        self._messages: dict[tuple[bytes, str], Corpus] = {}

    def forget(self) -> None:
        """Close what is open: its files were found damaged."""
        self._open.clear()
        self._messages.clear()

    def asked(
        self,
        rev: str,
        branch: str | None,
        worktree: bool,
        paths: Sequence[str],
        languages: Sequence[str],
        watch: Watch,
    ) -> Asked:
        """The tree that is asked, indexed first as far as the store lacks it.

        Raises `UsageError` when no file of it is let through by paths and languages.
        """
        wanted = wanted_of(paths, languages)
        commit = resolve(self._repository, rev, branch)
        corpus, changed = self.corpus(rev, branch, worktree, commit, watch)
        if wanted and not corpus.allowed(wanted).any():
            raise UsageError(f"no file of {branch or rev} matches {_described(wanted)}", "git ls-files shows the paths")
        return Asked(branch or rev, commit, corpus, wanted, changed, worktree)

    def corpus(
        self, rev: str, branch: str | None, worktree: bool, commit: Commit, watch: Watch
    ) -> tuple[Corpus, frozenset[bytes]]:
        """The passages of a tree, and the paths whose content is not committed."""
        if worktree:
            refreshed = self._refresher(commit).working_tree(commit, watch)
            return Corpus(self._space, refreshed.view), refreshed.changed
        found = self._open.pop(commit.tree, None)
        if found is None or not found.is_current:
            found = Corpus(self._space, self.refresh(rev, branch, commit, watch).view)
        if found.is_whole:
            self._open[commit.tree] = found
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]
        return found, frozenset()

    def messages(self, commit: bytes, watch: Watch) -> Corpus:
        """The messages of a commit and its newest ancestors, as a corpus whose blobs are commits.

        What the store lacks of them is indexed first, as far as watch's patience goes; who watches without an end gets
        what git did not tell at first looked for again.
        """
        key = commit, self._repository.horizon
        found = self._messages.get(key)
        if found is None or not found.is_current or watch.is_endless:
            history = History(self._repository, self._space.history, self._embedder, commit)
            history.index(watch)
            found = Corpus(self._space.history, history.view())
            if found.is_whole and history.is_whole:
                self._messages = {key: found}
        return found

    def told(self, commit: Commit, watch: Watch) -> Corpus | None:
        """The messages that a search has as evidence, indexed first as far as watch's patience goes.

        A server would take its time for each message: the hooks and `git itza index` have more of it. None where that
        part of the store cannot be read: the tree answers without it.
        """
        try:
            patience = watch.patience if self._embedder.is_local else 0
            return self.messages(commit.id, replace(watch, patience=patience, wait=SHORT_WAIT))
        except Damaged:
            raise
        except StoreError:
            return None

    def remembers(self, commit: Commit) -> bool:
        """Whether the store has the messages that led to a commit, or no search indexes any."""
        if not (self._settings.history and self._embedder.is_local):
            return True
        return is_remembered(self._repository, self._space.history, self._embedder, commit.id)

    def refresh(self, rev: str, branch: str | None, commit: Commit, watch: Watch) -> Refreshed:
        """Index what the store lacks of a commit, and remember which branch that was."""
        refreshed = self._refresher(commit).commit(commit, watch)
        ref = f"refs/heads/{branch}" if branch else self._repository.head().ref if rev == "HEAD" else None
        if ref and refreshed.complete:
            self._space.record_head(ref, commit.id, commit.tree)
        return refreshed

    def _refresher(self, commit: Commit) -> Refresher:
        policy = policy_at(self._repository, self._settings, commit)
        return Refresher(self._repository, self._space, policy, self._embedder)


def settings_at(repository: Repository, settings: Settings, commit: Commit) -> tuple[Settings, list[str]]:
    """The settings that hold for a tree, and the keys of its `.itzaconfig` that do not count."""
    return config.with_committed(settings, repository.committed_config(commit.tree, config.COMMITTED_FILE))


def policy_at(repository: Repository, settings: Settings, commit: Commit) -> Policy:
    """Which files of a commit are searched."""
    return Policy.of(settings_at(repository, settings, commit)[0], repository.common_dir)


def resolve(repository: Repository, rev: str = "HEAD", branch: str | None = None) -> Commit:
    """The commit of a revision, or of a local branch. Raises `UnknownRevision`, `UnbornHead`."""
    if branch is None:
        refuse_range(rev)
        return repository.resolve(rev)
    found = next((b.commit for b in repository.branches() if b.name == branch), None)
    if found is None:
        raise UnknownRevision(f"no local branch is named {branch}", _hint_for(repository, branch))
    return found


def _hint_for(repository: Repository, branch: str) -> str:
    """What to type instead of a branch that is not local."""
    try:
        repository.resolve(branch)
    except GitError:
        return "git branch --list"
    return f"--rev {branch}"


def wanted_of(paths: Sequence[str], languages: Sequence[str]) -> Filter:
    """The filter for pathspecs and language names. Raises `UsageError` for an unknown language."""
    return Filter(tuple(paths), tuple(_language(name) for name in languages))


def _language(name: str) -> str:
    found = canonical(name)
    if found is None:
        raise UsageError(f"no language is named {name}", "write a name or an extension: --lang python, --lang py")
    return found


def _described(wanted: Filter) -> str:
    return " ".join([*(f"--path {path}" for path in wanted.paths), *(f"--lang {name}" for name in wanted.languages)])
