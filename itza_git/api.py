"""What a program may call: open a repository, search it, ask it.

    from itza_git import Itza

    with Itza.open("path/to/repository") as itza:
        for hit in itza.search("how are retries limited?").hits:
            print(hit.citation, hit.passage.symbol)

Nothing here prints or exits. The environment is read once, in `Itza.open`. Every failure is an `ItzaError`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itza_git import config
from itza_git.closing import Closing
from itza_git.config import Settings
from itza_git.embedding import Embedder
from itza_git.embedding.choice import embedder_for
from itza_git.errors import UsageError
from itza_git.git import Repository, open_repository
from itza_git.healing import heals, rebuild
from itza_git.indexing import Policy, Watch
from itza_git.paths import unquote
from itza_git.ranges import range_of
from itza_git.records import Commit
from itza_git.results import AskResult, IndexReport, SearchResult, Shown, ShownCommit, Similar, Status
from itza_git.search.corpus import Corpus
from itza_git.store import Recipe, Space
from itza_git.trees import Asked, Trees, policy_at, resolve, settings_at, wanted_of

# What only some calls need is imported there: a command starts in the time that its imports take.
if TYPE_CHECKING:
    from itza_git.answering.answer import Cited, Statement
    from itza_git.answering.citation import Citation, CommitCitation
    from itza_git.answering.links import Links
    from itza_git.answering.verdicts import Verification
    from itza_git.indexing.fsck import Checked
    from itza_git.indexing.garbage import Collected
    from itza_git.survey import Overview

# An answer is made from few passages; these are what they are chosen from.
ANSWER_PASSAGES = 12

UNWATCHED = Watch()


class Itza(Closing):
    """A repository that can be asked. Close it, or use it as a context manager."""

    def __init__(self, repository: Repository, settings: Settings) -> None:
        self.repository = repository
        self.settings = settings
        self._embedder: Embedder | None = None
        self._space: Space | None = None
        self._trees: Trees | None = None

    @classmethod
    def open(
        cls, path: str | Path | None = None, environment: Mapping[str, str] | None = None, **settings: Any
    ) -> Itza:
        """The repository that path lies in (the current folder's, as git finds it, without one).

        settings are fields of `Settings` that win over environment and git config. Raises `NotARepository`,
        `ConfigError`.
        """
        repository = open_repository(Path(path) if path is not None else None)
        loaded = config.load(repository, os.environ if environment is None else environment)
        return cls(repository, replace(loaded, given=loaded.given | set(settings), **settings))

    def close(self) -> None:
        """Let go of the index files and of the model server."""
        self._trees = None
        self._space = None
        self._embedder = None

    @property
    def embedder(self) -> Embedder:
        """The embedder that the settings ask for."""
        if self._embedder is None:
            self._embedder = embedder_for(self.settings)
        return self._embedder

    @property
    def space(self) -> Space:
        """The part of the store that this embedder's vectors live in."""
        if self._space is None:
            recipe = Recipe(self.embedder.identity)
            self._space = Space(self.repository.common_dir, recipe, self.repository.id_length)
        return self._space

    @property
    def trees(self) -> Trees:
        """The trees that can be searched; whole ones stay open."""
        if self._trees is None:
            self._trees = Trees(self.repository, self.settings, self.space, self.embedder)
        return self._trees

    # Asking

    @heals
    def refresh(
        self,
        rev: str = "HEAD",
        *,
        branch: str | None = None,
        watch: Watch = UNWATCHED,
    ) -> IndexReport:
        """Index what the store lacks of a revision, and say what was done."""
        commit = self.resolve(rev, branch)
        refreshed = self.trees.refresh(rev, branch, commit, watch)
        from itza_git.status import report

        return report(
            branch or rev, commit, refreshed, self.space, settings_at(self.repository, self.settings, commit)[1]
        )

    def holds(self, rev: str = "HEAD") -> bool:
        """Whether a question about a revision needs no indexing, as far as a look at the store's records tells."""
        commit = self.resolve(rev)
        return self.space.records_view(commit.tree, self._policy(commit).name)

    @heals
    def search(
        self,
        query: str,
        *,
        rev: str = "HEAD",
        branch: str | None = None,
        worktree: bool = False,
        limit: int = 10,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        context: tuple[int, int] = (0, 0),
        kinds: Sequence[str] = (),
        reasons: bool = False,
        history: bool = True,
        nearest: bool = False,
        watch: Watch = UNWATCHED,
    ) -> SearchResult:
        """The best passages of a revision for a query; indexes first what the store lacks of it.

        rev may be a range, `A..B` or `A...B`: passages of both sides tell of the change then, each with its own commit.
        branch names a local branch; worktree puts the uncommitted and untracked content of the working tree on top of
        HEAD. paths are pathspecs, languages names and kinds of `KINDS`, each empty for all; kinds choose among the
        best passages. context is how many lines before and after each passage come with it. reasons adds the commits
        that tell the reason, when the query asks for one; without history, commits are no evidence, and none are added.
        nearest gives passages also when nothing of the query is there. Raises `UsageError` for an empty query or an
        unknown language, `UnknownRevision`, `StoreError`, `ModelError`.
        """
        if not query.strip():
            raise UsageError("the question is empty", 'git itza ask "how does X work?"')
        history = history and self.settings.history
        asked = range_of(rev) if branch is None else None
        if asked is not None:
            from itza_git.changes import Changes

            wanted = wanted_of(paths, languages)
            changes = Changes(self.repository, self.trees, self.embedder, self.space.recipe.name)
            return changes.search(query, rev, asked, limit, wanted, context, kinds, reasons and history, watch)
        tree = self.trees.asked(rev, branch, worktree, paths, languages, watch)
        from itza_git.searching import find

        messages = partial(self.trees.told, tree.commit, watch) if history else lambda: None
        recipe = self.space.recipe.name
        result = find(self.repository, tree, self.embedder, recipe, query, limit, kinds, context, nearest, messages)
        if not (reasons and history):
            return result
        from itza_git.past import with_past

        return with_past(self.repository, self.trees, self.embedder, tree.commit, result)

    @heals
    def similar(
        self,
        path: str,
        first: int,
        last: int | None = None,
        *,
        rev: str = "HEAD",
        branch: str | None = None,
        worktree: bool = False,
        limit: int = 10,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        watch: Watch = UNWATCHED,
    ) -> Similar:
        """The passages of a revision most like the definition around a line, or like lines first..last of a path.

        path is from the top of the repository, as git prints it; the rest is as for `search`. Raises `UsageError` for
        a path that is not there or not searched, and for lines that it does not have.
        """
        tree = self.trees.asked(rev, branch, worktree, paths, languages, watch)
        from itza_git.likeness import similar

        return similar(self.repository, tree, self.space.recipe.name, (unquote(path), first, last or first), limit)

    def overview(
        self, rev: str = "HEAD", *, branch: str | None = None, paths: Sequence[str] = (), watch: Watch = UNWATCHED
    ) -> Overview:
        """What is in a revision: languages, areas, entry points, central files, documents, tests, build files.

        Without a model, from paths, the index, and the names in the code. Raises what `search` raises.
        """
        return self._survey(rev, branch, False, paths, watch)[1]

    @heals
    def _survey(
        self, rev: str, branch: str | None, worktree: bool, paths: Sequence[str], watch: Watch
    ) -> tuple[Asked, Overview]:
        from itza_git.overview import overview

        tree = self.trees.asked(rev, branch, worktree, paths, (), watch)
        return tree, overview(self.repository, tree, self.space.recipe.name)

    def ask(
        self,
        question: str,
        *,
        rev: str = "HEAD",
        branch: str | None = None,
        worktree: bool = False,
        limit: int | None = None,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        model: str | None = None,
        use_model: bool = True,
        force: bool = False,
        history: bool = True,
        watch: Watch = UNWATCHED,
        statement: Callable[[Statement], None] = lambda statement: None,
    ) -> AskResult:
        """An answer whose citations were checked; without a reachable model, the passages that it would rest on.

        statement is told each checked sentence as soon as it stands. force asks the model even when retrieval says
        that nothing here answers; without history, commits are no evidence. Raises what `search` raises.
        """
        from itza_git.registry import called
        from itza_git.search.whole import asks_whole

        is_range = branch is None and range_of(rev) is not None
        if asks_whole(question, called(self.repository)) and not languages and not is_range:
            from itza_git.asking import answer_whole
            from itza_git.whole import ask_whole

            tree, found = self._survey(rev, branch, worktree, paths, watch)
            asked = partial(ask_whole, self.repository, tree, found, question, self.space)
            return answer_whole(self.settings, asked, model if use_model else "", watch.summarising, statement)
        result = self.search(
            question,
            rev=rev,
            branch=branch,
            worktree=worktree,
            limit=limit or ANSWER_PASSAGES,
            paths=paths,
            languages=languages,
            reasons=True,
            history=history,
            nearest=force,
            watch=watch,
        )
        return self.answer_from(result, model=model, use_model=use_model, force=force, statement=statement)

    def answer_from(
        self,
        result: SearchResult,
        *,
        model: str | None = None,
        use_model: bool = True,
        force: bool = False,
        statement: Callable[[Statement], None] = lambda statement: None,
    ) -> AskResult:
        """The answer that passages which were found already bear out; see `ask`."""
        from itza_git.asking import answer_from

        return answer_from(self.settings, result, model if use_model else "", force, statement)

    @heals
    def remember(self, rev: str = "HEAD", *, branch: str | None = None, watch: Watch = UNWATCHED) -> tuple[int, int]:
        """Index the messages of a revision's newest commits, unless `itza.history` is off.

        Returns how many are indexed, of how many there are. Raises `StoreError`, `ModelError`.
        """
        if not self.settings.history:
            return 0, 0
        messages = self.trees.messages(self.resolve(rev, branch).id, watch)
        return messages.held, len(messages.view)

    def corpus(self, rev: str = "HEAD") -> Corpus:
        """The passages of a revision as arrays, indexed whole: for programs that rank for themselves."""
        return self.trees.corpus(rev, None, False, self.resolve(rev), UNWATCHED)[0]

    # Looking

    def citation(self, text: str) -> Citation:
        """The citation that text is, with any revision behind its `@`, or copied together with its symbol.

        Raises `UsageError`, `UnknownRevision`.
        """
        from itza_git import citing

        return citing.understood(self.repository, text)

    def show(self, citation: Citation, here: bytes = b"") -> Shown:
        """The cited lines at the cited commit. Raises `UsageError` when the commit has no such file or lines.

        A path that is not there is tried from the folder here too, which is a path from the top.
        """
        from itza_git import citing
        from itza_git.answering.citation import WORKTREE

        if citation.commit == WORKTREE:
            head = self.resolve()
            return citing.show_uncommitted(self.repository, citation, head, self._policy(head).max_file_size, here)
        return citing.show(self.repository, citation, here)

    def show_commit(self, citation: CommitCitation) -> ShownCommit:
        """The cited commit and what it changed. Raises `UnknownRevision`, `UsageError` for one with another subject."""
        from itza_git.showing import show_commit

        return show_commit(self.repository, citation)

    def verify(self, text: str, rev: str = "HEAD") -> Verification:
        """Every citation in a text, and whether it holds at a revision. Raises `UnknownRevision`, `UnbornHead`."""
        return self.verify_all([text], rev)[0]

    def verify_all(self, texts: Sequence[str], rev: str = "HEAD") -> list[Verification]:
        """The same for several texts; what they cite is read once for all."""
        from itza_git.answering.verification import verify_all

        return verify_all(self.repository, texts, self.resolve(rev))

    @property
    def links(self) -> Links | None:
        """The web pages of the remote; None when its host is not known."""
        from itza_git.answering.links import links_of

        return links_of(self.repository)

    @heals
    def status(self) -> Status:
        """What the store holds of HEAD and of each local branch."""
        from itza_git.status import status

        return status(self.repository, self.space, self.settings, self.embedder, self._policy)

    @heals
    def collect(self, *, watch: Watch = UNWATCHED) -> Collected:
        """Drop what no branch, worktree HEAD or recent reflog entry reaches. Raises `StoreError`."""
        from itza_git.indexing.garbage import collect

        return collect(self.repository, self.space, watch.waiting)

    def fsck(self, repair: bool = False, *, watch: Watch = UNWATCHED) -> Checked:
        """Whether the index is whole. With repair, what is wrong is set aside, and HEAD and the branches that were
        indexed are indexed again.

        Raises `StoreError`, and with repair `ModelError`.
        """
        from itza_git.indexing.fsck import fsck, put_right

        if not repair:
            return fsck(self.repository)
        checked = put_right(self.repository, watch.waiting)
        if checked.faults:
            self._trees = self._space = None
            rebuild(self.repository, self.space, partial(self.refresh, watch=watch), watch.waiting)
        return checked

    def is_dirty(self, rev: str = "HEAD", branch: str | None = None) -> bool:
        """Whether the working tree differs from what was asked; only ever true of HEAD."""
        return rev == "HEAD" and branch is None and self.repository.is_dirty()

    def resolve(self, rev: str = "HEAD", branch: str | None = None) -> Commit:
        """The commit of a revision, or of a local branch. Raises `UnknownRevision`, `UnbornHead`."""
        return resolve(self.repository, rev, branch)

    def cite(self, path: bytes, first: int, last: int, commit: bytes | None) -> str:
        """The citation of lines at a commit, abbreviated as git would; None is the working tree."""
        from itza_git import citing

        return citing.cite(self.repository, path, first, last, commit)

    def citations(self, asked: AskResult) -> list[tuple[Cited, str]]:
        """The citations of an answer, each with its rendered form."""
        from itza_git import citing

        return [(one, citing.cited(self.repository, one, asked.result)) for one in asked.answer.citations]

    def _policy(self, commit: Commit) -> Policy:
        return policy_at(self.repository, self.settings, commit)
