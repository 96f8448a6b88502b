"""What is known of each candidate passage, as numbers: the columns that the ranking weighs.

Every column is in 0..1 or close to it, so that weights can be compared. `COLUMNS` says what each one is; `search -v`
prints those that moved a passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.search.dense import Dense
from itza_git.search.lexical import Lexical
from itza_git.search.question import Question
from itza_git.search.roles import ROLES, role_of
from itza_git.words import words

# Longest first.
_ENDINGS = (
    "ations", "ation", "ating", "ators", "ator", "ings", "ions", "ing", "ion", "ers", "ies", "ed", "er", "es", "or",
    "ly", "s", "e", "y",
)  # fmt: skip
_SHORTEST_STEM = 4

# `mod tests` of Rust, `listpackTest` of C, `test_x` beside the code.
_TEST_SYMBOL = re.compile(r"(?:^|[.:, ])tests?(?:[._ ]|$)|[a-z]Test(?:,|$)")

COLUMNS: dict[str, str] = {
    "lexical": "BM25 of the passage, against the best one",
    "dense": "similarity of passage, path and file to the question; 1 for the best, 0 for the middle of the pool",
    "file_lexical": "BM25 of the best passage of its file",
    "file_bm25": "BM25 of its file taken as one text, against the best file",
    "file_sum": "share of the pool's evidence that lies in its file, against the file with most",
    "path": "part of the question's words, by their rarity, that the path holds",
    "name": "part of the file name's words that the question has",
    "name_asked": "part of the question's words that the file name has",
    "symbol": "part of the words of what it defines that the question has",
    "defines": "it defines what the question names",
    "mentions": "how many passages of the tree hold the file's name, logarithmic: what is central is spoken of",
    "head": "it is the beginning of its file",
    "kind_type": "it defines a type",
    "kind_function": "it defines a function or method",
    "defines_asked": "the same, and the question asks where it is defined",
    "unmatched": "it holds none of the question's words, in no field, and others do",
    "asked": "its role is what the question asks for: tests, examples, docs",
    "told_not_shown": "it is documentation or an example, and the question asks how something works inside",
    **{f"role_{role}": f"the file is of the role {role}, and the question does not ask for that" for role in ROLES[1:]},
}


def features(
    corpus: Corpus, question: Question, lexical: Lexical, dense: Dense, pool: NDArray[np.int64]
) -> NDArray[np.float32]:
    """One row a passage of the pool, one column each of COLUMNS."""
    entry = corpus.entry[pool]
    chunks = corpus.chunks(pool)
    paths = corpus.view.paths
    stems = frozenset(map(stem, question.content_words))
    names = {e: _name(paths[e]) for e in set(entry.tolist())}
    by_file: Callable[[Callable[[int], float]], NDArray[np.float64]] = partial(_by_file, entry)
    lexical_part = _against_best(lexical.score)[pool]
    dense_part = _spread(dense.score[pool])
    defines = _defines(question, [chunk.symbol for chunk in chunks])
    columns: dict[str, NDArray[np.floating]] = {
        "lexical": lexical_part,
        "dense": dense_part,
        "file_lexical": _against_best(corpus.best_of_entry(lexical.score))[entry],
        "file_bm25": _against_best(lexical.file_score)[entry],
        "file_sum": _sums(entry, lexical_part + dense_part),
        "path": lexical.path_share[pool],
        "name": by_file(lambda e: _known_part(names[e], stems)),
        "name_asked": by_file(lambda e: len(stems.intersection(map(stem, names[e]))) / max(len(stems), 1)),
        "symbol": np.array([_best_symbol(chunk.symbol, stems) for chunk in chunks]),
        "defines": defines,
        "defines_asked": defines * question.asks_definition,
        "unmatched": (lexical.share[pool] == 0).astype(float) * bool(lexical.share.any()),
        "mentions": by_file(lambda e: np.log2(1 + corpus.holding("".join(names[e]))) / 12),
        "head": (pool == corpus.first_passage[entry]).astype(float),
        "kind_type": np.array([chunk.kind == "type" for chunk in chunks], float),
        "kind_function": np.array([chunk.kind in ("function", "method") for chunk in chunks], float),
    }
    columns |= _roles(corpus, question, entry, [chunk.symbol for chunk in chunks])
    return np.column_stack([columns[name] for name in COLUMNS]).astype(np.float32)


def _by_file(entry: NDArray[np.int64], value: Callable[[int], float]) -> NDArray[np.float64]:
    """A value of each passage's file, computed once a file."""
    known = {e: value(e) for e in set(entry.tolist())}
    return np.array([known[e] for e in entry.tolist()])


def _against_best(score: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(score / max(float(score.max(initial=0)), 1e-6))


def _spread(score: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores with the best at 1 and the middle one at 0, never below -1: what is far off is just far off."""
    top, middle = float(score.max()), float(np.median(score))
    return np.asarray(np.maximum((score - middle) / max(top - middle, 1e-6), -1.0))


def _sums(entry: NDArray[np.int64], evidence: NDArray[np.floating]) -> NDArray[np.float64]:
    total = np.bincount(entry, weights=np.maximum(evidence, 0)).astype(np.float64)
    return np.asarray(total / max(float(total.max()), 1e-6))[entry]


def _name(path: bytes) -> list[str]:
    """The words of a file's name; of its folder where the name says nothing (`index.ts`, `__init__.py`, `mod.rs`)."""
    folder, _, name = path.decode("utf-8", "replace").rpartition("/")
    stem = name.partition(".")[0]
    if stem.strip("_") in ("index", "init", "mod", "main", "lib"):
        stem = folder.rpartition("/")[2] or stem
    return words(stem)


def _known_part(found: list[str], stems: frozenset[str]) -> float:
    """The part of the words whose stem is among stems."""
    return sum(stem(word) in stems for word in found) / len(found) if found else 0.0


def _best_symbol(symbol: str, stems: frozenset[str]) -> float:
    """Of the names that a passage defines, the best known one; of a qualified name the last part counts."""
    return max(_known_part(words(name.rpartition(".")[2]), stems) for name in symbol.split(", "))


@lru_cache(1 << 14)
def stem(word: str) -> str:
    """The word without a common English ending, at least four letters: `routing`, `routes` and `router` are `rout`.

    For names only. In the text itself stemming costs more than it gives: what is written there is written exactly.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _defines(question: Question, symbols: Iterable[str]) -> NDArray[np.float64]:
    """1 where a passage defines what the question names, to the letter; 0.5 where it is spelled in another way."""
    named = {name.removesuffix("()") for name in question.names}
    if not named and question.defined_name:
        named = {question.defined_name}
    elif not named and len(question.content_words) <= 2:
        named = {"".join(question.content_words)}
    joined = {"".join(words(name)) for name in named} - {""}
    return np.array([_defined_part(symbol, named, joined) if joined else 0.0 for symbol in symbols])


def _defined_part(symbol: str, named: set[str], joined: set[str]) -> float:
    """How well one of the names in a symbol is one of those named; of a qualified name the last part will do."""
    forms = [form for name in symbol.split(", ") for form in (name, name.rpartition(".")[2])]
    if not named.isdisjoint(forms):
        return 1.0
    return 0.5 if any("".join(words(form)) in joined for form in forms) else 0.0


def _roles(
    corpus: Corpus, question: Question, entry: NDArray[np.int64], symbols: Sequence[str]
) -> dict[str, NDArray[np.floating]]:
    """The role columns. Tests are also found inside a source file, by what they are called."""
    roles = {e: role_of(corpus.view.paths[e], corpus.language(e)) for e in set(entry.tolist())}
    found = [
        "tests" if roles[e] == "code" and _TEST_SYMBOL.search(symbol) else roles[e]
        for e, symbol in zip(entry.tolist(), symbols, strict=True)
    ]
    asked = {role for role in ROLES if question.is_about(role)}
    telling = question.asks_mechanism and not asked
    columns: dict[str, NDArray[np.floating]] = {
        "asked": np.array([role in asked for role in found], float),
        "told_not_shown": np.array([telling and role in ("docs", "examples", "translations") for role in found], float),
    }
    for role in ROLES[1:]:
        columns[f"role_{role}"] = np.array([one == role and one not in asked for one in found], float)
    return columns
