"""What a question names, and which passages define it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import NOWHERE, Corpus
from itza_git.search.question import Question
from itza_git.words import asked_keys, words

# A name is looked for in the symbols of so many passages that have its word there, and so many that define it are kept.
MOST_LOOKED_AT = 2_000
MOST_DEFINING = 30
# So few words are a name by themselves.
WORDS_OF_A_NAME = 2


class Names(NamedTuple):
    """What a question names: as it is written, and without what joins its words and without capitals."""

    exact: frozenset[str]
    joined: frozenset[str]


def names_of(question: Question) -> Names:
    """The names in a question: what looks like code, what is asked to be defined, or all of it where it is short."""
    named = {name.removesuffix("()") for name in question.names}
    if not named and question.defined_name:
        named = {question.defined_name}
    elif not named and len(question.content_words) <= WORDS_OF_A_NAME:
        named = {"".join(map(question.as_written, question.content_words))}
    return Names(frozenset(named), frozenset(map(_joined, named)) - {""})


@lru_cache(1 << 14)
def _joined(name: str) -> str:
    """The words of a name written together: whatever joins them there, `open_store` and `OpenStore` are equal."""
    return "".join(words(name))


def defined_part(symbol: str, names: Names) -> float:
    """How well one of the names in a symbol is one of those named; of a qualified name the last part will do.

    1 to the letter, 0.5 where it is spelled in another way.
    """
    forms = [form for name in symbol.split(", ") for form in (name, name.rpartition(".")[2])]
    if not names.exact.isdisjoint(forms):
        return 1.0
    return 0.5 if any(_joined(form) in names.joined for form in forms) else 0.0


def defining(corpus: Corpus, question: Question, score: NDArray[np.float32]) -> NDArray[np.int64]:
    """The passages that begin a definition of what a question names, as far as its score is among the highest.

    Where a name is on everybody's lips, those that use it can have more evidence than the one that defines it.
    """
    names = names_of(question)
    if not names.joined:
        return np.empty(0, np.int64)
    looked_at = _with_symbols(corpus, sorted(names.joined))
    if len(looked_at) > MOST_LOOKED_AT:
        looked_at = np.sort(looked_at[np.argsort(-score[looked_at], kind="stable")[:MOST_LOOKED_AT]])
    found: dict[tuple[int, str], tuple[float, int]] = {}
    named = corpus.named(looked_at) if len(looked_at) else []
    for passage, entry, (kind, symbol) in zip(looked_at.tolist(), corpus.entry[looked_at].tolist(), named, strict=True):
        part = defined_part(symbol, names) if kind != "comment" else 0.0
        if part:
            found.setdefault((entry, symbol), (part, passage))
    best = sorted(found.values(), key=lambda one: (-one[0], -score[one[1]]))[:MOST_DEFINING]
    return np.array([passage for _, passage in best], np.int64)


def _with_symbols(corpus: Corpus, terms: Sequence[str]) -> NDArray[np.int64]:
    """The passages whose symbol has one of the terms, ascending."""
    keys = asked_keys(terms)
    rows = [row + offset for offset, postings in corpus.field("symbol") for _, row, _ in postings.found(keys)]
    first, _, more = corpus.passages_at(np.concatenate([np.empty(0, np.int64), *rows]))
    return np.unique(np.concatenate([first[first != NOWHERE], more]))
