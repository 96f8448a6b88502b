"""Commits as evidence: who last touched the passages, and whose messages speak of what is asked.

An answer waits for this, so all of it is bounded. What is not found in time is lacking evidence, never a wrong one:
each commit here is the asked one or an ancestor of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from itza_git.answering.touching import Blames, Lines
from itza_git.embedding import Embedder
from itza_git.git import Repository
from itza_git.records import Commit, CommitMessage, Passage
from itza_git.search.corpus import Corpus
from itza_git.search.dense import dense
from itza_git.search.forms import stem
from itza_git.search.lexical import idf_of, lexical
from itza_git.search.question import Question
from itza_git.search.ranking import fused
from itza_git.trailers import said
from itza_git.words import Vocabulary, words

MOST_REASONS = 4
# So many of the nearest messages are looked at closely.
MOST_NEAREST = 12
# What it counts to have touched all of the best passage, beside similarities of 0..1 each.
TOUCH_WEIGHT = 0.5
# A commit that touched none of the passages must hold so much of the question.
LEAST_SHARE = 0.6
# One that did, so much, where the passages themselves hold little of it.
LEAST_SHARE_WEAK = 0.3
# With less than this part of the best one's score a commit tells nothing beside it.
FAR_BELOW = 0.5

By = Literal["blame", "message", "range"]


@dataclass(frozen=True, slots=True)
class Reason:
    """A commit that tells something of what is asked, and how much.

    lines are those that it was the last to touch; share is the part of the question's words that its message holds.
    """

    message: CommitMessage
    score: float
    by: By
    lines: tuple[Lines, ...] = ()
    share: float = 0.0


def reasons(
    repository: Repository,
    embedder: Embedder,
    commit: Commit,
    text: str,
    passages: Sequence[Passage],
    history: Callable[[], Corpus],
    weak: bool = False,
) -> list[Reason]:
    """The few best commits for a question and the passages found for it, best first.

    weak: the passages hold so little of the question that who touched them must speak of it too. history gives the
    messages that are indexed, which may take its time: git is busy with blame meanwhile.
    """
    with Blames(repository, commit, passages) as blames:
        corpus = history()
        question = Question(text, corpus.holding)
        told = list(repository.messages(_nearest(question, corpus, embedder)))
        touches = blames.touches()
    found = {touch.message.id: Reason(touch.message, touch.weight, "blame", touch.lines) for touch in touches}
    near = {one.id: Reason(one, 0.0, "message") for one in told if one is not None}
    likeness = Likeness(question, corpus, embedder)
    found = {id: one for id, one in found.items() if id in near or _tells(one.message, likeness)}
    return _best(list((near | found).values()), likeness, weak)


def _tells(message: CommitMessage, likeness: Likeness) -> bool:
    """Whether the message of a commit that only blame found may tell a reason.

    A bare subject about nothing that was asked ("Bump version") does not.
    """
    return bool(said(message.body).strip()) or likeness.is_spoken_of(message.subject)


def of_range(
    repository: Repository,
    embedder: Embedder,
    commits: Sequence[bytes],
    text: str,
    passages: Sequence[Passage],
    history: Callable[[], Corpus],
) -> list[Reason]:
    """The few of the commits of a range, newest first, that tell most of what is asked; passages are of the first."""
    if not commits:
        return []
    (newest,) = repository.messages(commits[:1])
    if newest is None:
        return []
    with Blames(repository, Commit(newest.id, newest.tree), passages) as blames:
        corpus = history()
        messages = [one for one in repository.messages(commits) if one is not None and one.subject]
        touches = {touch.message.id: touch for touch in blames.touches()}
    found = []
    likeness = Likeness(Question(text, corpus.holding), corpus, embedder)
    for message, (share, cosine) in zip(messages, likeness.of(messages), strict=True):
        touch = touches.get(message.id)
        score = share + cosine + (TOUCH_WEIGHT * touch.weight if touch else 0.0)
        found.append(Reason(message, round(score, 3), "range", touch.lines if touch else (), round(share, 3)))
    return sorted(found, key=lambda one: -one.score)[:MOST_REASONS]


def _nearest(question: Question, corpus: Corpus, embedder: Embedder) -> list[bytes]:
    """The commits whose messages are nearest to the question, best first."""
    scores = [
        lexical(corpus, question.terms, question.forms).score,
        dense(corpus, embedder.embed_question(question.content)).own,
    ]
    order = fused(corpus, scores, np.ones(len(corpus.view), bool))
    return [corpus.view.id[corpus.entry[at]].tobytes() for at in order[:MOST_NEAREST].tolist()]


def _best(candidates: Sequence[Reason], likeness: Likeness, weak: bool) -> list[Reason]:
    """The best few of the candidates, whose score is how much they touched."""
    candidates = [one for one in candidates if one.message.subject]
    least = LEAST_SHARE_WEAK if weak else 0.0
    scored = []
    for one, (share, cosine) in zip(candidates, likeness.of([c.message for c in candidates]), strict=True):
        if share >= (least if one.lines else LEAST_SHARE):
            score = share + cosine + TOUCH_WEIGHT * one.score
            scored.append((one.score, replace(one, score=round(score, 3), share=round(share, 3))))
    found = sorted((one for _, one in scored), key=lambda one: -one.score)[:MOST_REASONS]
    found = [one for one in found if one.score >= FAR_BELOW * found[0].score]
    touched, toucher = max(scored, key=lambda one: one[0], default=(0.0, None))
    if toucher and touched and toucher not in found:
        # Who wrote most of what is shown is asked about, whatever the message says.
        found = [*found[: MOST_REASONS - 1], toucher]
    return found


class Likeness:
    """How much of a question a commit message holds, and how near it is."""

    def __init__(self, question: Question, corpus: Corpus, embedder: Embedder) -> None:
        self._embedder = embedder
        self._question = question
        idf = {word: idf_of(len(corpus), corpus.holding(word)) for word in question.content_words}
        # Of a word in another language any of its translations will do.
        self._asked = [
            (frozenset(map(stem, [word, *english])), max(idf[one] for one in english))
            for word, english in question.asked.items()
        ]

    def of(self, messages: Sequence[CommitMessage]) -> list[tuple[float, float]]:
        """Of each message the share of the question's words that it holds, by their rarity, and the cosine, 0..1 each.

        The cosine is 0 where a server would have to be asked for it.
        """
        texts = [said(message.text) for message in messages]
        return list(zip(map(self._share, texts), self._cosines(texts), strict=True))

    def _share(self, text: str) -> float:
        held = set(map(stem, words(text)))
        total = sum(weight for _, weight in self._asked)
        return sum(weight for forms, weight in self._asked if not held.isdisjoint(forms)) / total if total else 0.0

    def is_spoken_of(self, text: str) -> bool:
        """Whether a text holds one of the question's rarer words."""
        held = set(map(stem, words(text)))
        least = sum(weight for _, weight in self._asked) / max(len(self._asked), 1)
        return any(weight >= least and not held.isdisjoint(forms) for forms, weight in self._asked)

    def _cosines(self, texts: Sequence[str]) -> list[float]:
        if not (self._embedder.is_local and texts):
            return [0.0] * len(texts)
        vectors = self._embedder.embed(texts, Vocabulary().count(texts))
        return [max(float(one), 0.0) for one in vectors @ self._embedder.embed_question(self._question.content)]
