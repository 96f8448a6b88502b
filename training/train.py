"""Pairs -> the word model, by contrast: a comment must be nearer to its own code than to the other codes of its batch.

    python -m training.train PAIRS.jsonl.gz MODEL.npz [--start WEIGHTS] [--runs N]

Needs torch (`pip install 'itza-git[train]'`). The start is random, or an earlier weights file of ours:
nothing of another model goes in. Runs from one start stay near enough to each other to be averaged, start and
all, and the mean is better than each of them on packages that none has seen (Wortsman et al. 2022, "model soups").
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from itza_git.embedding.builtin import Table
from itza_git.words import words
from training.examples import Examples
from training.pairs import Pair, read
from training.texts import Words

ROWS = 32_000
DIMENSION = 256
EPOCHS = 1
RATE = 4e-3
# Steps until the rate is full; from there it falls to nothing by the last step.
WARM_UP = 20
FEWEST_PACKAGES = 2
LONGEST_WORD = 24
SCALE = 14.0


def model_words(pairs: Sequence[Pair]) -> list[str]:
    """The words that the model knows: those in most pairs, of at least FEWEST_PACKAGES packages."""
    in_pairs: Counter[str] = Counter()
    in_packages: Counter[str] = Counter()
    last: dict[str, str] = {}
    for pair in pairs:
        found = set(words(pair.doc)) | set(words(pair.code))
        in_pairs.update(found)
        fresh = [word for word in found if last.get(word) != pair.package]
        in_packages.update(fresh)
        last.update(dict.fromkeys(fresh, pair.package))
    known = (word for word in in_pairs if in_packages[word] >= FEWEST_PACKAGES and len(word) <= LONGEST_WORD)
    return sorted(known, key=lambda word: (-in_pairs[word], word))[:ROWS]


class Sums:
    """The weighted sums of texts over the rows that they use, and the way back of a gradient.

    Only a few thousand of the rows occur in a batch, so gradients and steps are kept to those. The way back is written
    out, as a second sum with texts and rows exchanged: twenty times as fast as the automatic one.
    """

    def __init__(self, found: Words, size: int) -> None:
        used, column, uses = np.unique(found.row, return_inverse=True, return_counts=True)
        by_row = np.argsort(column, kind="stable")
        start = np.searchsorted(found.text, np.arange(size))
        self.rows = torch.from_numpy(used)
        self._there = tuple(map(torch.from_numpy, (column, start, found.times)))
        self._back = tuple(map(torch.from_numpy, (found.text[by_row], np.cumsum(uses) - uses, found.times[by_row])))

    def of(self, vectors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """The sums, shape (texts, dimension); weights are logarithms."""
        self._vectors, self._weights = vectors[self.rows], weights[self.rows].exp()[:, None]
        return _sum(self._there, self._vectors * self._weights)

    def gradients(self, of_sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What a gradient of the sums means for the vectors and the weights of `rows`."""
        gradient = _sum(self._back, of_sums) * self._weights
        return gradient, (gradient * self._vectors).sum(1)


def _sum(bags: tuple[torch.Tensor, ...], addends: torch.Tensor) -> torch.Tensor:
    index, start, times = bags
    return torch.nn.functional.embedding_bag(index, addends, start, mode="sum", per_sample_weights=times)


class Model:
    """One vector a word; the logarithm of a weight a word for questions, another for code."""

    def __init__(self, vectors: torch.Tensor, question: torch.Tensor, text: torch.Tensor, rate: float) -> None:
        self.vectors, self.question, self.text = vectors, question, text
        self.scale = torch.tensor(math.log(SCALE), requires_grad=True)
        self._rate = rate
        self._optimisers = [
            torch.optim.SparseAdam([self.vectors, self.question, self.text], lr=rate),
            torch.optim.Adam([self.scale], lr=rate),
        ]

    @classmethod
    def random(cls, rows: int, rate: float) -> Model:
        """A model that knows nothing; all weights are 1."""
        return cls(torch.randn(rows, DIMENSION) / math.sqrt(DIMENSION), torch.zeros(rows), torch.zeros(rows), rate)

    @classmethod
    def of(cls, table: Table, rate: float) -> Model:
        """The model of a weights file, brought to vectors of a mean length of 1."""
        question, text = table.question_scale.astype(np.float64), table.text_scale.astype(np.float64)
        vectors: NDArray[np.float64] = table.vectors.astype(np.float64) * np.sqrt(question * text)[:, None]
        vectors = vectors / np.linalg.norm(vectors, axis=1).mean()
        apart = torch.from_numpy(np.log(question / text) / 2).float()
        return cls(torch.from_numpy(vectors).float(), apart, -apart, rate)

    def mixed(self, others: Sequence[Model]) -> None:
        """Becomes the mean of itself and others; of weights the geometric one."""
        for mine, theirs in (
            (self.vectors, [other.vectors for other in others]),
            (self.question, [other.question for other in others]),
            (self.text, [other.text for other in others]),
        ):
            mine.copy_(torch.stack([mine, *theirs]).mean(0))

    def learn(self, docs: Sums, codes: Sums, share: float) -> float:
        """One step, at a share of the full rate; the loss before it."""
        asked = docs.of(self.vectors, self.question).requires_grad_()
        found = codes.of(self.vectors, self.text).requires_grad_()
        self.scale.grad = None
        loss = _contrast(asked, found, self.scale)
        torch.autograd.backward(loss)
        assert asked.grad is not None and found.grad is not None
        of_docs, of_questions = docs.gradients(asked.grad)
        of_codes, of_texts = codes.gradients(found.grad)
        rows = torch.cat([docs.rows, codes.rows])
        self.vectors.grad = _sparse(rows, torch.cat([of_docs, of_codes]), self.vectors)
        self.question.grad = _sparse(docs.rows, of_questions, self.question)
        self.text.grad = _sparse(codes.rows, of_texts, self.text)
        for optimiser in self._optimisers:
            optimiser.param_groups[0]["lr"] = self._rate * share
            optimiser.step()
        return float(loss.item())


def _contrast(asked: torch.Tensor, found: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """InfoNCE, from comments to code and from code to comments."""
    normalize, cross_entropy = torch.nn.functional.normalize, torch.nn.functional.cross_entropy
    near = normalize(asked) @ normalize(found).T * scale.clamp(max=math.log(100)).exp()
    own = torch.arange(len(near))
    return (cross_entropy(near, own) + cross_entropy(near.T, own)) / 2


def _sparse(rows: torch.Tensor, values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return torch.sparse_coo_tensor(rows[None], values, like.shape, check_invariants=False)


def train(model: Model, examples: Examples, epochs: int) -> None:
    """Passes over all pairs, `epochs` times."""
    plan: list[tuple[int, NDArray[np.int64]]] = [(n, batch) for n in range(epochs) for batch in examples.batches()]
    losses: list[float] = []
    for step, (epoch, chosen) in enumerate(plan):
        docs, codes = (Sums(found, len(chosen)) for found in examples.draw(chosen))
        share = min(1.0, (step + 1) / WARM_UP) * (1 - step / len(plan))
        losses.append(model.learn(docs, codes, share))
        if step + 1 == len(plan) or plan[step + 1][0] != epoch:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, scale {model.scale.exp().item():.1f}", flush=True)
            losses.clear()


def main() -> None:
    """Trains on all pairs but those held apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--start", type=Path, help="a weights file to go on from, with its words")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--runs", type=int, default=2, help="trainings from one start, to be averaged with it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    torch.manual_seed(options.seed)
    pairs = [pair for pair in read(options.pairs) if not pair.is_held_apart]
    table = Table.load(options.start) if options.start else None
    names = list(table.row) if table else model_words(pairs)
    print(f"{len(pairs):,} pairs, {len(names):,} words, {time.monotonic() - began:.0f} s", flush=True)
    row = {word: number for number, word in enumerate(names)}
    examples = Examples(pairs, row, np.random.default_rng(options.seed))
    if table:
        runs = [Model.of(table, options.rate) for _ in range(options.runs)]
        for run in runs:
            train(run, examples, options.epochs)
        model = Model.of(table, options.rate)
        model.mixed(runs)
    else:
        model = Model.random(len(names), options.rate)
        train(model, examples, options.epochs)
    np.savez(
        options.model,
        words=np.array(names),
        vectors=model.vectors.numpy(),
        text_weight=model.text.exp().numpy(),
        question_weight=model.question.exp().numpy(),
    )
    print(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
