"""Learn the ranking's weights from questions with known answers.

    python -m training.ranker QUERIES=DIR [QUERIES=DIR ...] [--write]

QUERIES and DIR are as for benchmarks/retrieval/run.py. Prints the scores of each set cross-validated by repository: the
weights that score a repository never saw it. With --write the weights of all repositories together go to
itza_git/search/weights.json.

Key words and questions in words have weights of their own, learned together: those of questions are those of key words
and a difference, and both are drawn to zero, so that what a kind has little of is borrowed from the other.

Method: for each question two softmaxes. Over the files of its pool, each by its best passage, where the right files
share the target (ListNet's top-one form, Cao et al. 2007); and, where the right lines are known, over the passages of
each right file, where those that hold them share it. What the examples cannot teach is set by hand (`FIXED`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.run import load
from benchmarks.retrieval.scores import MEASURES, K, first_hit, score
from itza_git import Itza
from itza_git.api import UNWATCHED
from itza_git.records import Passage
from itza_git.search.corpus import Corpus
from itza_git.search.dense import cosines, dense
from itza_git.search.features import COLUMNS, features
from itza_git.search.lexical import lexical
from itza_git.search.question import Question
from itza_git.search.ranking import REPEATED, candidates, saturated
from itza_git.search.told import told

WEIGHTS = Path(__file__).parents[1] / "itza_git" / "search" / "weights.json"
# For key words. Every answer of that benchmark is code, so it would teach that documents, examples and tests never
# answer. What questions need instead is learned.
FIXED = {
    "role_tests": -3.3,
    "role_examples": -3.5,
    "role_docs": -3.0,
    "role_design": -3.0,
    "role_news": -3.0,
    "told_not_shown": -1.5,
    "role_data": -2.0,
}
# Only questions in words have them.
FIXED |= dict.fromkeys(("told", "reasons"), 0.0)
# For both: there is too little to learn them from.
FIXED_FOR_ALL = {
    "asked": 1.5,
    "defines_asked": 8.0,
    "unmatched": -3.0,
    "role_translations": -4.0,
    "role_vendored": -2.0,
}
FOLDS = 6
# So many steps, each shorter than the one before, end at the least loss: more of them change no weight by .01.
STEPS, RATE = 1000, 0.1
# How strongly the weights are drawn to zero; less those by which questions differ.
L2, L2_OF_DIFFERENCE = 1.5, 1.0
# There are fewer questions in words than key words, and theirs is the harder task.
QUESTION_WEIGHT = 2.0


@dataclass(frozen=True)
class Example:
    """A question's pool: features, (n, columns); the file of each passage; whether its file and it itself are right."""

    features: NDArray[np.float32]
    entry: NDArray[np.int64]
    right_file: NDArray[np.bool_]
    right: NDArray[np.bool_]
    passages: list[Passage]
    query: dict[str, Any]
    is_sentence: bool

    @cached_property
    def file(self) -> NDArray[np.int64]:
        """The files of the pool numbered from 0, of each passage."""
        return np.unique(self.entry, return_inverse=True)[1]


def examples(queries: Path, folder: Path) -> list[Example]:
    """The pools of all questions over the repositories of a folder."""
    found = []
    for name, asked in load(queries, []).items():
        with Itza.open(folder / name) as itza:
            itza.refresh()
            corpus = itza.corpus()
            messages = itza.trees.messages(itza.resolve().id, UNWATCHED)
            everything = np.ones(len(corpus.view), bool)
            for query in asked:
                question = Question(query["query"], corpus.holding)
                words = lexical(corpus, question.terms, question.forms)
                vector = itza.embedder.embed_question(question.content)
                near = dense(corpus, vector)
                pool = candidates(corpus, question, words, near, everything)
                tells = told(messages, question, cosines(messages, vector)) if question.is_sentence else None
                table = features(corpus, question, words, near, pool, tells)
                found.append(_example(corpus, query, pool, table, question.is_sentence))
    return found


def _example(
    corpus: Corpus, query: dict[str, Any], pool: NDArray[np.int64], table: NDArray[np.float32], is_sentence: bool
) -> Example:
    passages = [corpus.passage(number, 0.0, {}) for number in pool.tolist()]
    targets = query["targets"]
    right = np.array([any(first_hit([one], target) is not None for target in targets) for one in passages])
    paths = {target["path"] for target in targets}
    right_file = np.array([one.path.decode("utf-8", "replace") in paths for one in passages])
    return Example(table, corpus.entry[pool], right_file, right, passages, query, is_sentence)


class Loss:
    """The loss over examples and its gradient, in all columns twice: for all, and once more for questions."""

    def __init__(self, given: Sequence[Example]) -> None:
        given = [example for example in given if example.right_file.any()]
        self.table = np.concatenate([_doubled(example) for example in given])
        of = np.repeat(np.arange(len(given)), [len(example.entry) for example in given])
        weight = np.array([QUESTION_WEIGHT if example.is_sentence else 1.0 for example in given])
        self.total = weight.sum()
        files = np.cumsum([0, *(int(example.file.max()) + 1 for example in given)])
        file = np.concatenate([example.file + first for example, first in zip(given, files, strict=False)])
        right = np.concatenate([example.right for example in given])
        # Groups of passages are made adjacent once: `reduceat` sums them.
        self.order = np.argsort(file, kind="stable")
        self.file = file[self.order]
        self.first = np.flatnonzero(np.diff(self.file, prepend=-1))
        self.question = of[self.order][self.first]
        is_right = np.zeros(files[-1])
        np.maximum.at(is_right, file, np.concatenate([example.right_file for example in given]).astype(float))
        self.starts = files[:-1]
        self.target = is_right / np.add.reduceat(is_right, self.starts)[self.question]
        self.weight = weight[self.question]
        has_right = np.zeros(files[-1], bool)
        np.logical_or.at(has_right, file, right)
        has_wrong = np.zeros(files[-1], bool)
        np.logical_or.at(has_wrong, file, ~right)
        is_split = (is_right > 0) & has_right & has_wrong
        self.inside = np.flatnonzero(is_split[file])[np.argsort(file[is_split[file]], kind="stable")]
        groups = file[self.inside]
        self.inside_first = np.flatnonzero(np.diff(groups, prepend=-1))
        self.inside_of = np.cumsum(np.diff(groups, prepend=-1) != 0) - 1
        self.inside_right = right[self.inside].astype(float)
        self.inside_weight = (self.weight * self.target)[groups]

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The gradient of the mean loss."""
        score = self.table @ weights.astype(np.float32)
        pull = np.zeros(len(score))
        best = self._best_of_files(score)
        share = _softmax(score[best], self.starts, self.question)
        pull[best] = self.weight * (share - self.target)
        if len(self.inside):
            share = _softmax(score[self.inside], self.inside_first, self.inside_of)
            right = share * self.inside_right
            right /= np.maximum(np.add.reduceat(right, self.inside_first), 1e-9)[self.inside_of]
            pull[self.inside] += self.inside_weight * (share - right)
        return np.asarray(self.table.T @ pull.astype(np.float32) / self.total, np.float64)

    def _best_of_files(self, score: NDArray[np.float32]) -> NDArray[np.int64]:
        """The index of the best passage of each file."""
        ordered = score[self.order]
        best = np.maximum.reduceat(ordered, self.first)
        attained = np.flatnonzero(ordered == best[self.file])
        return self.order[attained[np.flatnonzero(np.diff(self.file[attained], prepend=-1))]]


def _doubled(example: Example) -> NDArray[np.float32]:
    return np.concatenate([example.features, example.features * np.float32(example.is_sentence)], axis=1)


def _softmax(score: NDArray[np.floating], first: NDArray[np.int64], of: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of each score in its group. first: where each group begins; of: the group of each score."""
    share = np.exp(score.astype(np.float64) - np.maximum.reduceat(score, first)[of])
    return np.asarray(share / np.add.reduceat(share, first)[of])


def fit(given: Sequence[Example]) -> NDArray[np.float64]:
    """The weights, (columns, 2), for key words and for questions: Adam over all examples at once."""
    loss = Loss(given)
    by_hand = FIXED | FIXED_FOR_ALL
    weights = np.array([*(by_hand.get(name, 0.0) for name in COLUMNS), *(0.0 for _ in COLUMNS)])
    learned = np.array([*(name not in by_hand for name in COLUMNS), *(name not in FIXED_FOR_ALL for name in COLUMNS)])
    drawn = np.repeat([L2, L2_OF_DIFFERENCE], len(COLUMNS)) / loss.total
    mean, square = np.zeros(len(weights)), np.zeros(len(weights))
    for step in range(1, STEPS + 1):
        gradient = (loss.gradient(weights) + drawn * weights) * learned
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = RATE * (1 - (step - 1) / STEPS)
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    for_all, more = np.split(weights, 2)
    return np.column_stack([for_all, for_all + more])


def scores(example: Example, weights: NDArray[np.float64]) -> dict[str, float]:
    """The measures of an example under weights."""
    kind = int(example.is_sentence)
    order = saturated(example.entry, (example.features @ weights[:, kind]).astype(np.float32), REPEATED[kind], K)
    return score([example.passages[at] for at, _ in order], example.query["targets"])


def cross_validated(given: Sequence[Example]) -> list[dict[str, float]]:
    """The measures of each example by weights that were learned without its repository."""
    repositories = sorted({example.query["repo"] for example in given})
    np.random.default_rng(0).shuffle(repositories)
    result: list[dict[str, float]] = [{}] * len(given)
    for fold in range(FOLDS):
        held = set(repositories[fold::FOLDS])
        weights = fit([example for example in given if example.query["repo"] not in held])
        for at, example in enumerate(given):
            if example.query["repo"] in held:
                result[at] = scores(example, weights)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", metavar="QUERIES=DIR", nargs="+")
    parser.add_argument("--write", action="store_true", help="write the weights of all repositories together")
    arguments = parser.parse_args()
    together: list[Example] = []
    of: list[str] = []
    for name in arguments.sets:
        queries, _, folder = name.partition("=")
        given = examples(Path(queries), Path(folder))
        together += given
        of += [f"{name}, {('key words', 'questions')[example.is_sentence]}" for example in given]
    found = cross_validated(together)
    for name in sorted(set(of)):
        ones = [one for one, its in zip(found, of, strict=True) if its == name]
        means = (f"{measure} {np.mean([one[measure] for one in ones]):.4f}" for measure in MEASURES)
        print(f"{name} ({len(ones)}):", *means)
    weights = fit(together)
    rounded = {name: [round(float(w), 2) for w in both] for name, both in zip(COLUMNS, weights, strict=True)}
    text = "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(both)}" for name, both in rounded.items()) + "\n}\n"
    print(text)
    if arguments.write:
        WEIGHTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
