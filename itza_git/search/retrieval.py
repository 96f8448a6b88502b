"""The search itself: a question against a tree."""

from __future__ import annotations

from dataclasses import dataclass

from itza_git.embedding import Embedder
from itza_git.records import Passage
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.dense import Dense, dense
from itza_git.search.lexical import Lexical, lexical
from itza_git.search.question import Question
from itza_git.search.ranking import Ranked, rank

# benchmarks/gate.py measures how well these part questions about a repository from questions about others.
WEAK_COVERAGE = 0.5
WEAK_COSINE = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and what the question asks that none of the best holds.

    coverage: the part of the question's idf that the best five passages hold together, 0..1. cosine: similarity of the
    nearest of them. unknown: content words that no passage of the tree holds; lacking: those not in the best five.
    """

    passages: list[Passage]
    coverage: float
    cosine: float
    unknown: list[str]
    lacking: list[str]

    @property
    def weak(self) -> bool:
        """Whether the best passages hold so little of the question that no answer can rest on them."""
        return self.coverage < WEAK_COVERAGE and self.cosine < WEAK_COSINE


def search(
    corpus: Corpus,
    question: Question,
    embedder: Embedder,
    limit: int,
    wanted: Filter | None = None,
) -> Found:
    """The best passages of a tree for a question."""
    wanted = wanted or Filter()
    words_found = lexical(corpus, question.terms)
    nearness = dense(corpus, embedder.embed_question(question.content))
    ranked = rank(corpus, question, words_found, nearness, corpus.allowed(wanted), max(limit, 5))
    passages = [corpus.passage(r.passage, r.score, r.parts) for r in ranked[:limit]]
    return _judged(passages, ranked[:5], question, words_found, nearness)


def _judged(
    passages: list[Passage], best: list[Ranked], question: Question, words_found: Lexical, nearness: Dense
) -> Found:
    numbers = [r.passage for r in best]
    held, total = 0.0, 0.0
    unknown, lacking = [], []
    for word in question.content_words:
        idf = words_found.idf[word]
        total += idf
        if words_found.occurrences[word][numbers].any():
            held += idf
        else:
            lacking.append(word)
            if not words_found.occurrences[word].any():
                unknown.append(word)
    cosine = float(nearness.own[numbers].max()) if numbers else 0.0
    return Found(passages, held / total if total else 0.0, cosine, unknown, lacking)
