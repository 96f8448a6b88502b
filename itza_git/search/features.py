"""What is known of each candidate passage, as numbers: the columns that the ranking weighs.

Every column is in 0..1 or close to it, so that weights can be compared. `COLUMNS` says what each one is; `search -v`
prints those that moved a passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.search.defining import defined_part, names_of
from itza_git.search.dense import Dense, spread
from itza_git.search.forms import stem
from itza_git.search.lexical import Lexical, greatest, idf_of
from itza_git.search.question import Question
from itza_git.search.reasons import asks_reason, giving_reasons
from itza_git.search.roles import ROLES
from itza_git.search.told import Told
from itza_git.store.postings import BEGINNING, WRITTEN
from itza_git.words import words

T = TypeVar("T")

# `mod tests` of Rust, `listpackTest` of C, `test_x` beside the code.
_TEST_SYMBOL = re.compile(r"(?:^|[.:, ])tests?(?:[._ ]|$)|[a-z]Test(?:,|$)")

# So many passages with most evidence show what the others should be like.
BEST = 3
# Data whose comments hold this part of a question, one over it, is explained by them.
EXPLAINED = 2.0

COLUMNS: dict[str, str] = {
    "lexical": "BM25 of the passage, against the best one",
    "dense": "similarity of the passage to the question; 1 for the best, 0 for the middle of the pool",
    "file_dense": "mean similarity of its file's passages to the question; likewise",
    "file_lexical": "BM25 of the best passage of its file",
    "file_bm25": "BM25 of its file taken as one text, against the best file",
    "file_sum": "share of the pool's evidence that lies in its file, against the file with most",
    "begins": "part of the question's idf that its first lines hold",
    "written": "part of the question's idf that its comments hold, or all of it where it is prose",
    "like_best": "similarity to the three passages with most evidence",
    "told": "how much messages of commits that changed its file speak of the question, against the file with most",
    "reasons": "BM25 of words that give reasons, where the question asks for one",
    "name": "how well the file's name and the question's words cover each other",
    "symbol": "how well the name of what it defines and the question's words cover each other",
    "named": "part of the words of the first name that it defines that the question has",
    "defines": "it defines what the question names, and begins here",
    "mentions": "how many passages of the tree hold the file's name, logarithmic: what is central is spoken of",
    "head": "it is the beginning of its file",
    "continued": "it goes on with a definition that an earlier passage of the pool begins",
    "section": "it is a section of a text",
    "defines_asked": "the same, in code, and the question asks where it is defined",
    "unmatched": "it holds none of the question's words, in no field, and others do",
    "usage": "it is documentation, an example or configuration, and the question asks what the asker can do",
    "asked": "its role is what the question asks for: tests, examples, docs",
    "told_not_shown": "it is documentation or an example, and the question asks how something works inside",
    **{f"role_{role}": f"the file is of the role {role}, and the question does not ask for that" for role in ROLES[1:]},
}


def features(
    corpus: Corpus,
    question: Question,
    lexical: Lexical,
    dense: Dense,
    pool: NDArray[np.int64],
    told: Told | None = None,
) -> NDArray[np.float32]:
    """One row a passage of the pool, one column each of COLUMNS. told: what commits tell, where they are asked."""
    entry = corpus.entry[pool]
    named = corpus.named(pool)
    symbols = [symbol for _, symbol in named]
    rarity = _rarity(corpus, question)
    files, file = np.unique(entry, return_inverse=True)
    paths = [corpus.view.paths[e] for e in files.tolist()]
    names = list(map(_name, paths))
    mentions = np.log2(1 + np.array(corpus.holding_each(["".join(name) for name in names]))) / 12
    # Most symbols have no word of the question: for it they are all as good as none.
    asked = frozenset(rarity)
    by_symbol: Callable[[Callable[[str], float]], NDArray[np.float64]] = partial(
        _each, ["" if asked.isdisjoint(_stems_of(symbol)) else symbol for symbol in symbols]
    )
    lexical_part = lexical.score[pool] / greatest(lexical.score)
    evidence = lexical_part + spread(dense.score[pool])
    begins, written = lexical.parts((BEGINNING, WRITTEN), pool)
    comment, section = (np.array([one == kind for one, _ in named], float) for kind in ("comment", "section"))
    continued = _continued(pool, entry, symbols, [kind for kind, _ in named])
    defines = _defines(question, symbols) * (1 - continued) * (1 - comment)
    columns: dict[str, NDArray[np.floating]] = {
        "lexical": lexical_part,
        "dense": spread(dense.own[pool]),
        "file_dense": spread(dense.file[entry]),
        "file_lexical": (corpus.best_of_entries(lexical.score, files) / greatest(lexical.score))[file],
        "file_bm25": lexical.file_score[entry] / greatest(lexical.file_score),
        "file_sum": _sums(entry, evidence),
        "begins": begins,
        "written": written,
        "like_best": _like_best(corpus, pool, evidence),
        "told": (told.of(paths) if told else np.zeros(len(paths)))[file],
        "reasons": giving_reasons(corpus)[pool] if asks_reason(question.text) else np.zeros(len(pool)),
        "name": np.array([_cover(name, rarity) for name in names])[file],
        "symbol": by_symbol(lambda symbol: max(_cover(name, rarity) for name in _last_parts(symbol))),
        "named": by_symbol(lambda symbol: _known_part(_last_parts(symbol)[0], rarity)),
        "defines": defines,
        "defines_asked": defines * (1 - section) * question.asks_definition,
        "unmatched": (lexical.score[pool] == 0).astype(float) * bool(lexical.score.any()),
        "mentions": mentions[file],
        "head": (pool == corpus.first_passage[entry]).astype(float),
        "continued": continued,
        "section": section,
    }
    columns |= _roles(corpus, question, entry, symbols)
    if question.is_sentence:
        # A configuration file that explains itself is read for that, as a document is.
        columns["role_data"] *= 1 - np.minimum(EXPLAINED * written, 1)
    return np.column_stack([columns[name] for name in COLUMNS]).astype(np.float32)


def _each(keys: Sequence[T], value: Callable[[T], float]) -> NDArray[np.float64]:
    """The value of each key, computed once for equal ones."""
    known = {key: value(key) for key in set(keys)}
    return np.array([known[key] for key in keys])


def _sums(entry: NDArray[np.int64], evidence: NDArray[np.floating]) -> NDArray[np.float64]:
    total = np.bincount(entry, weights=np.maximum(evidence, 0)).astype(np.float64)
    return np.asarray(total / max(float(total.max()), 1e-6))[entry]


def _like_best(corpus: Corpus, pool: NDArray[np.int64], evidence: NDArray[np.floating]) -> NDArray[np.floating]:
    """The mean cosine of each passage to the BEST: what answers stands with its like."""
    vectors = corpus.vectors(pool)
    best = np.argsort(-evidence, kind="stable")[:BEST]
    return np.asarray((vectors @ vectors[best].T).mean(axis=1))


def _rarity(corpus: Corpus, question: Question) -> dict[str, float]:
    """Of each content word's stem the part of the question's idf that it has."""
    asked = question.content_words
    found: dict[str, float] = {}
    for word, holding in zip(asked, corpus.holding_each(asked), strict=True):
        found[stem(word)] = max(found.get(stem(word), 0.0), idf_of(len(corpus), holding))
    total = max(sum(found.values()), 1e-9)
    return {word: idf / total for word, idf in found.items()}


@lru_cache(1 << 14)
def _name(path: bytes) -> tuple[str, ...]:
    """The words of a file's name; of its folder where the name says nothing (`index.ts`, `__init__.py`, `mod.rs`)."""
    folder, _, name = path.decode("utf-8", "replace").rpartition("/")
    first = name.partition(".")[0]
    if first.strip("_") in ("index", "init", "mod", "main", "lib"):
        first = folder.rpartition("/")[2] or first
    return tuple(words(first))


@lru_cache(1 << 14)
def _last_parts(symbol: str) -> list[tuple[str, ...]]:
    """The words of each name in a symbol; of a qualified name the last part counts."""
    return [tuple(words(name.rpartition(".")[2])) for name in symbol.split(", ")]


@lru_cache(1 << 14)
def _stems(name: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, name))


@lru_cache(1 << 14)
def _stems_of(symbol: str) -> frozenset[str]:
    """The stems of all its names."""
    return frozenset[str]().union(*map(_stems, _last_parts(symbol)))


def _cover(name: tuple[str, ...], rarity: Mapping[str, float]) -> float:
    """The harmonic mean of the part of a name's words that is asked for and the part of the question that it is."""
    stems = _stems(name)
    if stems.isdisjoint(rarity):
        return 0.0
    known = [rarity[word] for word in stems if word in rarity]
    part, asked = len(known) / len(stems), sum(known)
    return 2 * part * asked / max(part + asked, 1e-9)


def _known_part(name: tuple[str, ...], rarity: Mapping[str, float]) -> float:
    """The part of a name's words that is asked for."""
    return 0.0 if _stems(name).isdisjoint(rarity) else sum(stem(word) in rarity for word in name) / len(name)


def _continued(
    pool: NDArray[np.int64], entry: NDArray[np.int64], symbols: Sequence[str], kinds: Sequence[str]
) -> NDArray[np.float64]:
    """1 where an earlier passage of the file begins what this one goes on with.

    A type may go on far below, behind what is nested in it; of a function the parts follow one another, and another one
    of the same name is a definition of its own. The comment above a declaration begins nothing.
    """
    continued = np.zeros(len(pool))
    last_of: dict[tuple[int, str], int] = {}
    order = np.argsort(pool)
    for at, passage, file in zip(order.tolist(), pool[order].tolist(), entry[order].tolist(), strict=True):
        name = file, symbols[at]
        if not symbols[at] or kinds[at] == "comment":
            continue
        before = last_of.get(name)
        continued[at] = before is not None and (before == passage - 1 or kinds[at] not in ("function", "method"))
        last_of[name] = passage
    return continued


def _defines(question: Question, symbols: Sequence[str]) -> NDArray[np.float64]:
    """How well each symbol is what the question names; see `defined_part`."""
    names = names_of(question)
    return _each(symbols, lambda symbol: defined_part(symbol, names)) if names.joined else np.zeros(len(symbols))


@lru_cache(1 << 14)
def _is_test(symbol: str) -> bool:
    return bool(_TEST_SYMBOL.search(symbol))


def _roles(
    corpus: Corpus, question: Question, entry: NDArray[np.int64], symbols: Sequence[str]
) -> dict[str, NDArray[np.floating]]:
    """The role columns. Tests are also found inside a source file, by what they are called."""
    roles = map(corpus.role, entry.tolist())
    names = [
        "tests" if role == "code" and _is_test(symbol) else role for role, symbol in zip(roles, symbols, strict=True)
    ]
    asked = {role for role in ROLES if question.is_about(role)}
    if "docs" in asked:
        asked.add("design")
    telling = question.asks_mechanism and not asked
    told = {"docs", "examples", "translations"} if telling else set()
    used = {"docs", "examples", "data"} if question.asks_usage else set()
    found = np.array([ROLES.index(name) for name in names])
    columns: dict[str, NDArray[np.floating]] = {
        "asked": np.array([role in asked for role in ROLES], float)[found],
        "usage": np.array([role in used for role in ROLES], float)[found],
        "told_not_shown": np.array([role in told for role in ROLES], float)[found],
    }
    for number, role in enumerate(ROLES[1:], 1):
        columns[f"role_{role}"] = ((found == number) & (role not in asked)).astype(float)
    return columns
