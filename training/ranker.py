"""Learn the ranking's weights from questions with known answers.

    python -m training.ranker QUERIES DIR [DIR ...] [--write]

QUERIES and DIR are as for benchmarks/retrieval/run.py; with several folders (whole trees, code folders only) the
weights serve both. Prints NDCG@10 cross-validated by repository: the weights that score a repository never saw it. With
--write the weights of all repositories together go to itza_git/search/weights.json.

Method: for each question a softmax over its pool; the loss is minus the logarithm of the share that passages of the
right files get (ListNet's top-one form, Cao et al. 2007), with a little L2. What the benchmark cannot teach is set by
hand (`FIXED`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.run import K, load, ndcg
from itza_git import Itza
from itza_git.records import Passage
from itza_git.search.corpus import Corpus
from itza_git.search.dense import dense
from itza_git.search.features import COLUMNS, features
from itza_git.search.lexical import lexical
from itza_git.search.question import Question
from itza_git.search.ranking import fused, saturated

WEIGHTS = Path(__file__).parents[1] / "itza_git" / "search" / "weights.json"
# Every answer of the benchmark is code, so it would teach that documents, examples and tests never answer; and it has
# too little vendored code to learn from.
FIXED = {
    "defines_asked": 4.0,
    "unmatched": -3.0,
    "asked": 1.5,
    "role_tests": -3.3,
    "role_examples": -3.5,
    "role_docs": -3.0,
    "told_not_shown": -1.5,
    "role_translations": -4.0,
    "role_vendored": -2.0,
    "role_data": -2.0,
}
FOLDS = 6
STEPS, RATE, L2 = 300, 0.05, 0.3


@dataclass(frozen=True, slots=True)
class Example:
    """A question's pool: features, (n, columns); whether each passage is right; the passages with their files."""

    features: NDArray[np.float32]
    right: NDArray[np.bool_]
    entry: NDArray[np.int64]
    passages: list[Passage]
    query: dict[str, Any]


def examples(queries: Path, folder: Path) -> list[Example]:
    """The pools of all questions over the repositories of a folder."""
    found = []
    for name, asked in load(queries, []).items():
        with Itza.open(folder / name) as itza:
            corpus = itza.corpus()
            everything = np.ones(len(corpus.view), bool)
            for query in asked:
                question = Question(query["query"])
                words = lexical(corpus, question.terms)
                near = dense(corpus, itza.embedder.embed_question(question.content))
                pool = fused(corpus, [words.score, near.score], everything)
                found.append(_example(corpus, query, pool, features(corpus, question, words, near, pool)))
    return found


def _example(corpus: Corpus, query: dict[str, Any], pool: NDArray[np.int64], table: NDArray[np.float32]) -> Example:
    passages = [corpus.passage(number, 0.0, {}) for number in pool.tolist()]
    right = np.array([ndcg([passage], query["targets"]) > 0 for passage in passages])
    return Example(table, right, corpus.entry[pool], passages, query)


def fit(given: Sequence[Example]) -> NDArray[np.float64]:
    """The weights that give the right passages the greatest share, by Adam over all examples at once."""
    given = [example for example in given if example.right.any()]
    table = np.concatenate([example.features for example in given]).astype(np.float64)
    right = np.concatenate([example.right for example in given])
    sizes = [len(example.right) for example in given]
    start = np.cumsum([0, *sizes[:-1]])
    of = np.repeat(np.arange(len(given)), sizes)
    learned = np.array([name not in FIXED for name in COLUMNS])
    weights = np.array([FIXED.get(name, 0.0) for name in COLUMNS])
    mean, square = np.zeros(len(weights)), np.zeros(len(weights))
    for step in range(1, STEPS + 1):
        score = table @ weights
        share = np.exp(score - np.maximum.reduceat(score, start)[of])
        right_share = share * right
        pull = share / np.add.reduceat(share, start)[of] - right_share / np.add.reduceat(right_share, start)[of]
        gradient = (table.T @ pull + L2 * weights) / len(given) * learned
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def scores(given: Sequence[Example], weights: NDArray[np.float64]) -> list[float]:
    """NDCG@10 of each example under weights."""
    result = []
    for example in given:
        order = saturated(example.entry, (example.features @ weights).astype(np.float32), K)
        result.append(ndcg([example.passages[at] for at, _ in order], example.query["targets"]))
    return result


def cross_validated(given: Sequence[Example]) -> float:
    """Mean NDCG@10 when each repository is scored by weights learned without it."""
    repositories = sorted({example.query["repo"] for example in given})
    np.random.default_rng(0).shuffle(repositories)
    result: list[float] = []
    for fold in range(FOLDS):
        held = set(repositories[fold::FOLDS])
        weights = fit([example for example in given if example.query["repo"] not in held])
        result += scores([example for example in given if example.query["repo"] in held], weights)
    return float(np.mean(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dirs", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="write the weights of all repositories together")
    arguments = parser.parse_args()
    together: list[Example] = []
    for folder in arguments.dirs:
        given = examples(arguments.queries, folder)
        print(f"{folder}: {len(given)} questions, NDCG@10 {cross_validated(given):.4f} cross-validated by repository")
        together += given
    weights = fit(together)
    rounded = {name: round(float(weight), 2) for name, weight in zip(COLUMNS, weights, strict=True)}
    print(json.dumps(rounded, indent=1))
    if arguments.write:
        WEIGHTS.write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
