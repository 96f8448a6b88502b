"""Several repositories asked as one: one ranking over all of them, each citation pinned to a commit of its own.

    with Several.open() as several:
        for hit in several.search("where are retries limited?").hits:
            print(hit.citation)      # NAME//path:first-last@commit

Each repository keeps its own index. One that cannot be searched is named with the reason, and the others are searched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from itza_git import citing, registry
from itza_git.answering.citation import Citation, render
from itza_git.api import ANSWER_PASSAGES, UNWATCHED, Itza
from itza_git.closing import Closing
from itza_git.errors import Damaged, GitError, ItzaError, StoreError, UsageError
from itza_git.indexing import Watch
from itza_git.records import Coverage, Passage
from itza_git.results import AskResult, Hit, Searched, SearchResult
from itza_git.search.corpus import Corpus
from itza_git.search.union import Union, prefixed, split
from itza_git.trees import wanted_of

if TYPE_CHECKING:
    from itza_git.answering.answer import Cited, Statement
    from itza_git.answering.links import Links, Pages
    from itza_git.answering.verdicts import Checked, Verification

# Settings that decide which space of vectors is searched: of several repositories those of the first one count.
_EMBEDDING = ("embedder", "embed_model", "ollama_host", "openai_base", "allow_remote")


# Why a citation is gone that names no registered repository, where there is none to check it in.
NO_REPOSITORY = "it names no registered repository, and there is none here"


class Several(Closing):
    """Open repositories by name. Close it, or use it as a context manager."""

    def __init__(self, members: dict[str, Itza], failed: Sequence[Searched] = ()) -> None:
        self.members = members
        self._failed = tuple(failed)

    @classmethod
    def open(cls, names: Sequence[str] = (), here: Path | None = None) -> Several:
        """The registered repositories of these names; all, and the one that here lies in, without any.

        here defaults to the current folder. Raises `UsageError` for an unknown name, or when there is nothing to open.
        """
        known = registry.entries()
        entries = [registry.find(name, known) for name in names] if names else _with_here(known, here)
        members: dict[str, Itza] = {}
        failed = []
        for entry in entries:
            try:
                first = next(iter(members.values()), None)
                shared = {name: getattr(first.settings, name) for name in _EMBEDDING} if first else {}
                members[entry.name] = Itza.open(registry.there(entry), **shared)
            except ItzaError as e:
                failed.append(_unsearched(entry.name, entry.path, e))
        if not members:
            told = failed[0].error if failed else "no repository is registered"
            raise UsageError(told or "", "git itza repos" if failed else "git itza repos add PATH")
        return cls(members, failed)

    def close(self) -> None:
        """Close every repository."""
        for itza in self.members.values():
            itza.close()

    @cached_property
    def first(self) -> Itza:
        """The repository whose settings count for all: which embedder, which model."""
        return next(iter(self.members.values()))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        context: tuple[int, int] = (0, 0),
        nearest: bool = False,
        watch: Watch = UNWATCHED,
    ) -> SearchResult:
        """The best passages at the HEADs of all the repositories, with statistics of all of them.

        paths are pathspecs from the top of each; nearest is as for `Itza.search`. Raises `UsageError`.
        """
        if not query.strip():
            raise UsageError("the question is empty", 'git itza ask --all-repos "how does X work?"')
        wanted = wanted_of(paths, languages)
        try:
            searched, corpora = self._corpora(watch)
            union = Union(corpora)
            if wanted and not union.allowed(wanted).any():
                raise UsageError("no file of these repositories is let through by --path and --lang")
            from itza_git.search.question import Question
            from itza_git.search.retrieval import search

            found = search(union, Question(query), self.first.embedder, limit, wanted, nearest=nearest)
        except (Damaged, IndexError, KeyError, ValueError, OverflowError):
            # Damage in the middle of a file shows only when it is used; see `Itza`.
            if not [itza for itza in self.members.values() if self._mended(itza)]:
                raise
            again = partial(self.search, query, limit=limit, paths=paths, languages=languages)
            return again(context=context, nearest=nearest, watch=watch)
        commits = {one.name: one.commit for one in searched}
        hits = [hit for passage in found.passages for hit in self._hit(passage, commits, context)]
        return SearchResult(
            query,
            "HEAD",
            "",
            self.first.space.recipe.name,
            _summed(one.coverage for one in searched),
            tuple(hits),
            found,
            repositories=(*searched, *self._failed),
        )

    def ask(
        self,
        question: str,
        *,
        limit: int | None = None,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        model: str | None = None,
        use_model: bool = True,
        force: bool = False,
        watch: Watch = UNWATCHED,
        statement: Callable[[Statement], None] = lambda statement: None,
    ) -> AskResult:
        """An answer from all of them; see `Itza.ask`.

        What each of them is as a whole is told by its README, then its central files, in turn.
        """
        from itza_git.search.whole import asks_whole

        if asks_whole(question) and not languages:
            result = self._introduced(question, limit or ANSWER_PASSAGES, paths, watch)
        else:
            found = partial(self.search, question, limit=limit or ANSWER_PASSAGES, paths=paths, languages=languages)
            result = found(nearest=force, watch=watch)
        return self.first.answer_from(result, model=model, use_model=use_model, force=force, statement=statement)

    def _introduced(self, question: str, limit: int, paths: Sequence[str], watch: Watch) -> SearchResult:
        """The first passages of each repository about itself, at least one of each, the first ones first."""
        from itza_git.search.retrieval import Found

        searched, told = [], []
        for name, itza in self.members.items():
            place = registry.place_of(itza.repository)
            try:
                result = itza.ask(question, paths=paths, use_model=False, watch=watch).result
            except ItzaError as e:
                searched.append(_unsearched(name, place, e))
                continue
            searched.append(Searched(name, place, result.commit, result.coverage))
            told.append([self._named(name, hit) for hit in result.hits])
        in_turn = [hit for row in zip_longest(*told) for hit in row if hit is not None]
        hits = in_turn[: max(limit, sum(map(bool, told)))]
        return SearchResult(
            question,
            "HEAD",
            "",
            self.first.space.recipe.name,
            _summed(one.coverage for one in searched),
            tuple(hits),
            Found([hit.passage for hit in hits], 1.0, 0.0, [], 1.0, []),
            repositories=(*searched, *self._failed),
        )

    def _named(self, name: str, hit: Hit) -> Hit:
        """A hit of one of the repositories as it is among all: its path begins with the name."""
        passage = replace(hit.passage, path=prefixed(name, hit.passage.path))
        at = bytes.fromhex(hit.commit)
        citation = citing.cite(self.members[name].repository, passage.path, passage.first, passage.last, at)
        return replace(hit, passage=passage, citation=citation, repository=name)

    def citations(self, asked: AskResult) -> list[tuple[Cited, str]]:
        """The citations of an answer, each with its rendered form."""
        return [(one, self._cite(one.path, one.first, one.last, asked.result)) for one in asked.answer.citations]

    def is_dirty(self) -> bool:
        """Whether a working tree differs from what was searched."""
        return any(itza.is_dirty() for itza in self.members.values())

    @property
    def links(self) -> Pages:
        """The web pages of all the remotes."""
        return _Pages({name: itza.links for name, itza in self.members.items()})

    def place(self, hit: Hit) -> Path:
        """Where the file of a hit lies, whether it is there or not."""
        name, path = split(hit.passage.path)
        return registry.place_of(self.members[name].repository) / os.fsdecode(path)

    def _cite(self, path: bytes, first: int, last: int, result: SearchResult) -> str:
        name, _ = split(path)
        commit = next(one.commit for one in result.repositories if one.name == name)
        return citing.cite(self.members[name].repository, path, first, last, bytes.fromhex(commit))

    def _corpora(self, watch: Watch) -> tuple[list[Searched], list[tuple[str, Corpus]]]:
        searched, corpora, failed = [], [], []
        for name, itza in self.members.items():
            place = registry.place_of(itza.repository)
            try:
                commit = itza.resolve()
                corpus, _ = itza.trees.corpus("HEAD", None, False, commit, watch)
            except (GitError, StoreError) as e:
                failed.append(_unsearched(name, place, e))
                continue
            corpora.append((name, corpus))
            searched.append(Searched(name, place, commit.id.hex(), corpus.coverage))
        if not corpora:
            raise UsageError(f"none of these repositories can be searched: {failed[0].error}", "git itza repos")
        return searched + failed, corpora

    def _hit(self, passage: Passage, commits: dict[str, str], context: tuple[int, int]) -> list[Hit]:
        """The hit of a passage; none when its lines cannot be read."""
        name, path = split(passage.path)
        itza = self.members[name]
        commit = itza.repository.resolve(commits[name])
        return [
            self._named(name, hit)
            for hit in citing.hits(itza.repository, [replace(passage, path=path)], commit, frozenset(), context)
        ]

    def _mended(self, itza: Itza) -> bool:
        itza.trees.forget()
        return bool(itza.space.check())


def verified_elsewhere(verification: Verification) -> Verification:
    """The verification, where citations that this repository knows nothing of are checked in the one they name.

    Such a citation begins with the name of a registered repository; it is checked against the HEAD there.
    """
    return replace(verification, checked=tuple(map(_elsewhere, verification.checked)))


def verified_outside(texts: Sequence[str]) -> list[Verification] | None:
    """The verification of texts where the current folder is in no repository, each citation in the one it names.

    None when no citation names a registered repository.
    """
    from itza_git.answering.verification import unchecked

    found = unchecked(texts, NO_REPOSITORY)
    cited = [one.found.citation for verification in found for one in verification.checked]
    if not any(isinstance(one, Citation) and registry.holding(one.path) for one in cited):
        return None
    return list(map(verified_elsewhere, found))


def _elsewhere(one: Checked) -> Checked:
    citation = one.found.citation
    if not isinstance(citation, Citation):  # of a commit, which names no repository
        return one
    named = registry.holding(citation.path) if one.verdict.status == "gone" else None
    if named is None:
        return one
    entry, path = named
    try:
        with Itza.open(registry.there(entry)) as itza:
            verdict = itza.verify(render(replace(citation, path=path))).checked[0].verdict
    except GitError as e:
        return replace(one, verdict=replace(one.verdict, reason=str(e)))
    if isinstance(verdict.now, Citation):
        verdict = replace(verdict, now=replace(verdict.now, path=prefixed(entry.name, verdict.now.path)))
    return replace(one, verdict=verdict)


@dataclass(frozen=True, slots=True)
class _Pages:
    """The web pages of several repositories, by their names."""

    links: Mapping[str, Links | None]

    def url(self, path: bytes, first: int, last: int, commit: str) -> str | None:
        """The page that shows lines at a commit; path begins with the repository's name."""
        name, rest = split(path)
        links = self.links[name]
        return links.url(rest, first, last, commit) if links else None

    def commit_url(self, commit: str) -> str | None:
        """None: of several repositories no commit is cited."""
        return None


def _with_here(known: Sequence[registry.Entry], here: Path | None) -> list[registry.Entry]:
    """The registered repositories, the one of the current folder first, whether registered or not."""
    try:
        place = registry.place_of(Itza.open(here).repository)
    except GitError:
        return list(known)
    # The registered keep their names: citations in texts use them.
    named = registry.named([*known, place])
    return sorted(named, key=lambda entry: entry.path != place)


def _unsearched(name: str, path: Path, error: ItzaError) -> Searched:
    return Searched(name, path, "", Coverage(0, 0), str(error))


def _summed(coverages: Iterable[Coverage]) -> Coverage:
    """How much of all the trees is searched; what is skipped is told by each repository itself."""
    known = list(coverages)
    return Coverage(sum(one.indexed for one in known), sum(one.total for one in known))
