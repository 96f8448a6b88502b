"""A search of one tree: what is found, as hits with their text and citation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from itza_git import citing
from itza_git.embedding import Embedder
from itza_git.git import Repository
from itza_git.indexing.policy import UNREADABLE
from itza_git.records import Coverage, Skipped
from itza_git.results import SearchResult
from itza_git.search.corpus import Corpus
from itza_git.search.question import Question
from itza_git.search.retrieval import search
from itza_git.trees import Asked

# Passages of a kind are chosen from so many: all that are ranked in full.
KINDS_AMONG = 300


def find(
    repository: Repository,
    tree: Asked,
    embedder: Embedder,
    recipe: str,
    query: str,
    limit: int,
    kinds: Sequence[str] = (),
    context: tuple[int, int] = (0, 0),
    nearest: bool = False,
    messages: Callable[[], Corpus | None] = lambda: None,
) -> SearchResult:
    """The best passages of a tree, at most limit; recipe is the name of the space that they are in.

    nearest: those that are nearest, too, when nothing of the query is there. messages: as for `retrieval.search`.
    """
    question = Question(query)
    among = KINDS_AMONG if kinds else limit
    found = search(tree.corpus, question, embedder, among, tree.wanted, nearest=nearest, messages=messages)
    if kinds:
        found = replace(found, passages=[one for one in found.passages if one.kind in kinds][:limit])
    hits = tuple(citing.hits(repository, found.passages, tree.commit, tree.changed, context))
    return SearchResult(
        query,
        tree.rev,
        tree.commit.id.hex(),
        recipe,
        _without(tree.corpus.coverage, {one.path for one in found.passages} - {hit.passage.path for hit in hits}),
        hits,
        found,
        tree.changed,
        question.literal((hit.text for hit in hits), tree.rev, tree.is_worktree),
    )


def _without(coverage: Coverage, lost: Collection[bytes]) -> Coverage:
    """The coverage without files that are indexed, and whose objects git no longer gives."""
    skipped = tuple(Skipped(path, UNREADABLE) for path in sorted(lost))
    return replace(coverage, skipped=coverage.skipped + skipped) if lost else coverage
