"""The search itself: a question against a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding import Embedder
from itza_git.records import Passage
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.dense import Dense, cosines, dense
from itza_git.search.forms import forms
from itza_git.search.joining import DEPTH, joined
from itza_git.search.languages import ENGLISH, is_unspaced
from itza_git.search.lexical import lexical
from itza_git.search.question import Question
from itza_git.search.ranking import Evidence, Ranked, rank
from itza_git.search.told import told

# The gate: how near the nearest of the best passages is, what part of the question's words one of them holds, and how
# many words it has, for a long question says much of which any code holds little. Chosen on the questions in words of
# benchmarks/answers; benchmarks/gate.py measures how well it parts a repository's questions from those about others.
# With another embedding model cosines are higher, and the gate stays open until it is measured there too.
ENOUGH = 0.95
COVERAGE_COUNTS = 0.75
WORD_COUNTS = 0.07
MOST_COUNTED = 8
# Where nothing of the question stands anywhere, only passages as near as this are results.
NEAR = 0.34
# A word that stands there in another form counts so much of one that stands there as it is asked.
OTHER_FORM = 0.8
# And one that stands there in another word.
SYNONYM = 0.5
# What a lacking word of another language weighs against one that is there: its translation can be wrong, and what
# neither the tree nor the table knows tells mostly of the table. A name needs no translation, and weighs in full.
TRANSLATED = 0.6
UNTRANSLATED = 0.4


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and what the question asks that none of the best holds.

    coverage: the part of the question's words, other forms, translations and synonyms included, that one of the best
    five passages holds, 0..1. cosine: similarity of the nearest of them. unknown: content words that no passage of the
    tree holds, in any of these; lacking: words that the best five lack. strength: how much speaks for an answer.
    """

    passages: list[Passage]
    coverage: float
    cosine: float
    unknown: list[str]
    strength: float
    lacking: list[str]

    @property
    def weak(self) -> bool:
        """Whether the best passages hold so little of the question that no answer can rest on them."""
        return self.strength < ENOUGH


def search(
    corpus: Corpus,
    question: Question,
    embedder: Embedder,
    limit: int,
    wanted: Filter | None = None,
    evidence: Evidence = Evidence.ALL,
    nearest: bool = False,
    messages: Callable[[], Corpus | None] = lambda: None,
) -> Found:
    """The best passages of a tree for a question; none when nothing of it is here, unless the nearest are wanted.

    evidence: less than all only to measure what a part is worth. messages gives those of the commits that led to the
    tree, for a question in words: key words stand in the code.
    """
    wanted = wanted or Filter()
    question = Question(question.text, corpus.holding)
    commits = messages() if question.is_sentence else None
    vector = embedder.embed_question(question.content)
    words_found, nearness = lexical(corpus, question.terms, question.forms), dense(corpus, vector)
    tells = told(commits, question, cosines(commits, vector)) if commits else None
    looked_at = max(int(DEPTH * limit), 5)
    ranked = rank(corpus, question, words_found, nearness, corpus.allowed(wanted), looked_at, tells, evidence)
    passages = joined((corpus.passage(r.passage, r.score, r.parts) for r in ranked), limit)
    found = _judged(corpus, passages, ranked[:5], question, nearness)
    nothing = len(found.unknown) == len(question.asked) and found.cosine < NEAR
    return replace(found, passages=[]) if nothing and not nearest else found


def _judged(
    corpus: Corpus,
    passages: list[Passage],
    best: list[Ranked],
    question: Question,
    nearness: Dense,
) -> Found:
    numbers = np.array([r.passage for r in best], np.int64)
    cosine = float(nearness.own[numbers].max(initial=0.0))
    said = {word: _said(question, word, english) for word, english in question.asked.items()}
    held = _held(corpus, list(said.values()), numbers)
    lacking = [word for at, word in enumerate(said) if not held[at].any()]
    known = set(corpus.known([one for word in lacking for one in said[word]]))
    unknown = [word for word in lacking if known.isdisjoint(said[word])]
    weight = np.array([_weight(question, word, lacking, unknown) for word in said])
    coverage = float((weight @ held).max(initial=0.0) / weight.sum()) if len(weight) else 0.0
    strength = 0.0
    if question.says_something:
        strength = cosine + COVERAGE_COUNTS * coverage + WORD_COUNTS * min(_size(question), MOST_COUNTED)
    return Found(passages, coverage, cosine, unknown, strength, lacking)


def _weight(question: Question, word: str, lacking: Sequence[str], unknown: Sequence[str]) -> float:
    """How much a word counts beside the others of its question."""
    if word not in lacking or question.language == ENGLISH or word in question.proper:
        return 1.0
    return UNTRANSLATED if word in unknown and question.asked[word] == [word] else TRANSLATED


def _said(question: Question, word: str, english: Sequence[str]) -> dict[str, float]:
    """What says a word, and how much that counts: itself or any of its English words, other forms, synonyms."""
    ones = dict.fromkeys([word, *english], 1.0)
    others = dict.fromkeys(question.synonyms.get(word, ()), SYNONYM)
    return others | {other: OTHER_FORM for one in ones for other in forms(one)} | ones


def _held(corpus: Corpus, said: Sequence[Mapping[str, float]], passages: NDArray[np.int64]) -> NDArray[np.floating]:
    """How much of each word each passage holds, (words, passages), 0..1. said: what says each word."""
    if not said:
        return np.zeros((0, len(passages)))
    counts = np.array([count for ones in said for count in ones.values()])
    holds = corpus.holds([one for ones in said for one in ones], passages) * counts[:, None]
    return np.asarray(np.maximum.reduceat(holds, np.cumsum([0, *map(len, said[:-1])]), axis=0))


def _size(question: Question) -> float:
    """How many words it has; a script without spaces comes in pairs of letters, some two a word."""
    return sum(0.5 if is_unspaced(word) else 1.0 for word in question.asked)
