"""From a question and its passages to the commits that tell the reason, as an answer cites them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from itza_git import citing
from itza_git.answering.citation import CommitCitation, render, short
from itza_git.answering.reasons import LEAST_SHARE, Reason, of_range, reasons
from itza_git.clock import day
from itza_git.embedding import Embedder
from itza_git.errors import Damaged, StoreError
from itza_git.git import Repository
from itza_git.indexing import Watch
from itza_git.records import Commit, Passage
from itza_git.results import CommitHit, Past, SearchResult
from itza_git.search.corpus import Corpus
from itza_git.search.reasons import asks_reason
from itza_git.trailers import said
from itza_git.trees import Trees

# A question waits so long for messages to be indexed, beside git's blame.
PATIENCE = 1.0
# The newest commits of a range, whose messages are compared with the question.
MOST_OF_RANGE = 500
# More of a message is a list of other messages.
MOST_LINES = 60


def with_past(
    repository: Repository, trees: Trees, embedder: Embedder, commit: Commit, result: SearchResult
) -> SearchResult:
    """The result with the commits that tell the reason, when it is asked for."""
    if not asks_reason(result.query):
        return result
    return replace(result, past=past(repository, trees, embedder, commit, result))


def past(repository: Repository, trees: Trees, embedder: Embedder, commit: Commit, result: SearchResult) -> Past:
    """The commits that tell the reason of what a search was about, at a commit."""
    passages = [hit.passage for hit in result.hits if hit.passage.path not in result.uncommitted]
    history = _History(trees, embedder, commit)
    find = partial(reasons, repository, embedder, commit, result.query, passages, history, result.found.weak)
    told = _told(repository, commit, find)
    corpus = history.corpus
    return Past(told, corpus.held, len(corpus.view)) if corpus is not None else Past(told, 0, 0)


def past_of_range(
    repository: Repository, trees: Trees, embedder: Embedder, old: Commit, new: Commit, result: SearchResult
) -> Past:
    """The commits between two that tell most of what a search was about."""
    commits = repository.ancestors([new.id], MOST_OF_RANGE, old.id).ids
    passages = [hit.passage for hit in result.hits if hit.commit == result.commit]
    history = _History(trees, embedder, new)
    find = partial(of_range, repository, embedder, commits, result.query, passages, history)
    return Past(_told(repository, new, find), len(commits), len(commits))


def _told(repository: Repository, commit: Commit, find: Callable[[], Sequence[Reason]]) -> tuple[CommitHit, ...]:
    """What is found; nothing where that part of the store cannot be read: the passages answer without it."""
    try:
        return tuple(_hit(repository, commit, one) for one in find())
    except Damaged:
        raise
    except StoreError:
        return ()


class _History:
    """The messages up to a commit, as a corpus, when they are asked for."""

    def __init__(self, trees: Trees, embedder: Embedder, commit: Commit) -> None:
        self._trees = trees
        self._commit = commit
        # A server would take its time for each message: the hooks and `git itza index` have more of it.
        self._watch = Watch(patience=PATIENCE if embedder.is_local else 0.0)
        self.corpus: Corpus | None = None

    def __call__(self) -> Corpus:
        self.corpus = self._trees.messages(self._commit.id, self._watch)
        return self.corpus


def _hit(repository: Repository, commit: Commit, reason: Reason) -> CommitHit:
    message = reason.message
    lines = said(message.body).split("\n")
    return CommitHit(
        message.id.hex(),
        cite_commit(repository, message.id, message.subject),
        message.subject,
        message.time,
        "\n".join(lines[:MOST_LINES]).strip("\n"),
        reason.by,
        reason.score,
        reason.share,
        tuple(citing.cite(repository, *place, commit.id) for place in reason.lines),
    )


def cite_commit(repository: Repository, commit: bytes, subject: str) -> str:
    """The citation of a commit, abbreviated as git would."""
    return render(CommitCitation(repository.abbreviate(commit), short(subject)))


def is_strong(result: SearchResult) -> bool:
    """Whether a commit's message holds so much of the question that it may answer where the passages do not."""
    return any(one.share >= LEAST_SHARE for one in result.past.commits) if result.past else False


def evidence(result: SearchResult) -> tuple[list[tuple[Passage, str]], dict[tuple[bytes, bytes], str]]:
    """What an answer may rest on, best first: passages and commits in turn. And what to call each commit."""
    passages = [(hit.passage, hit.text) for hit in result.hits]
    commits, names = [], {}
    for one in result.past.commits if result.past else ():
        id, lines = bytes.fromhex(one.commit), one.text.count("\n") + 1
        passage = Passage(b"", id, "commit", 1, lines, "commit", one.subject, one.score)
        commits.append((passage, one.text))
        abbreviated = one.citation.split(" ")[1]
        names[b"", id] = f"commit {abbreviated} {day(one.time)} {short(one.subject)}"
    if result.base:
        older, _, newer = result.rev.partition("..")
        for hit in result.hits:
            is_new = hit.commit == result.commit
            side = f"(after the change, at {newer.lstrip('.') or 'HEAD'})" if is_new else f"(before it, at {older})"
            names[hit.passage.path, hit.passage.blob] = side
    return _in_turn(passages, commits), names


def _in_turn(
    passages: Sequence[tuple[Passage, str]], commits: Sequence[tuple[Passage, str]]
) -> list[tuple[Passage, str]]:
    mixed = [one for pair in zip(passages, commits, strict=False) for one in pair]
    longer = passages if len(passages) > len(commits) else commits
    return mixed + list(longer[len(mixed) // 2 :])
