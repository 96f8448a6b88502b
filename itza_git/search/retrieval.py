"""The search itself: a question against a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itza_git.embedding import Embedder
from itza_git.records import Passage
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.dense import Dense, dense
from itza_git.search.forms import forms
from itza_git.search.joining import DEPTH, joined
from itza_git.search.languages import ENGLISH
from itza_git.search.lexical import idf_of, lexical
from itza_git.search.question import Question
from itza_git.search.ranking import Evidence, Ranked, rank

# benchmarks/gate.py measures how well these part questions about a repository from questions about others.
# With another embedding model cosines are higher, and the gate stays open until it is measured there too.
WEAK_COVERAGE = 0.5
WEAK_COSINE = 0.34
MOST_UNKNOWN = 0.5
# What a word of another language that is lacking weighs against one that is there: its translation can be wrong.
TRUST = 0.7


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and what the question asks that none of the best holds.

    coverage: the part of the question's idf that the best five passages hold together, 0..1. cosine: similarity of the
    nearest of them. unknown: content words that no passage of the tree holds, in any form, and unknown_share their
    part of the question's idf; lacking: words that the best five lack.
    """

    passages: list[Passage]
    coverage: float
    cosine: float
    unknown: list[str]
    unknown_share: float
    lacking: list[str]

    @property
    def weak(self) -> bool:
        """Whether the best passages hold so little of the question that no answer can rest on them."""
        strange = len(self.unknown) > 1 and self.unknown_share > MOST_UNKNOWN
        return strange or (self.coverage < WEAK_COVERAGE and self.cosine < WEAK_COSINE)


def search(
    corpus: Corpus,
    question: Question,
    embedder: Embedder,
    limit: int,
    wanted: Filter | None = None,
    evidence: Evidence = Evidence.ALL,
) -> Found:
    """The best passages of a tree for a question. evidence: less than all only to measure what a part is worth."""
    wanted = wanted or Filter()
    question = Question(question.text, corpus.holding)
    words_found = lexical(corpus, question.terms, question.forms)
    nearness = dense(corpus, embedder.embed_question(question.content))
    looked_at = max(int(DEPTH * limit), 5)
    ranked = rank(corpus, question, words_found, nearness, corpus.allowed(wanted), looked_at, evidence)
    passages = joined((corpus.passage(r.passage, r.score, r.parts) for r in ranked), limit)
    return _judged(corpus, passages, ranked[:5], question, nearness)


def _occurs(corpus: Corpus, word: str) -> bool:
    """Whether the tree holds a word in any of its common English forms."""
    return any(corpus.holding_each([word, *forms(word)])) or corpus.is_in_a_path(word)


def _judged(
    corpus: Corpus,
    passages: list[Passage],
    best: list[Ranked],
    question: Question,
    nearness: Dense,
) -> Found:
    numbers = np.array([r.passage for r in best], np.int64)
    # A word of another language is here when one of its English words is.
    said = {
        word: [form for form in dict.fromkeys([word, *english]) if form in question.terms]
        for word, english in question.asked.items()
    }
    every = list(dict.fromkeys(form for said_as in said.values() for form in said_as))
    rarity = {
        form: idf_of(len(corpus), holding) for form, holding in zip(every, corpus.holding_each(every), strict=True)
    }
    idf = {word: min(rarity[form] for form in said_as) for word, said_as in said.items()}
    total = sum(idf.values())
    lacking = [word for word, said_as in said.items() if not any(corpus.holds(form, numbers) for form in said_as)]
    unknown = [word for word in lacking if not any(_occurs(corpus, form) for form in said[word])]
    cosine = float(nearness.own[numbers].max(initial=0.0))
    if len(unknown) == len(idf) and cosine < WEAK_COSINE:
        passages = []  # nothing of the question is here, and nothing is near it
    if question.language != ENGLISH:
        # What neither the tree nor the table knows tells of the table, not of the tree.
        idf |= {word: 0.0 if word in unknown and said[word] == [word] else TRUST * idf[word] for word in lacking}
        total = sum(idf.values())
    if not total:
        return Found(passages, 0.0, cosine, unknown, 0.0, lacking)
    held = total - sum(idf[word] for word in lacking)
    return Found(passages, held / total, cosine, unknown, sum(idf[word] for word in unknown) / total, lacking)
