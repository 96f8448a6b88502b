"""Pairs -> the word model, by contrast: a comment must be nearer to its own code than to the other codes of its batch.

    python -m training.train PAIRS.jsonl.gz MODEL.npz

Needs torch (`pip install 'itza-git[train]'`). Takes a few minutes on two cores. The start is random: nothing of another
model goes in.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from itza_git.embedding.builtin import pieces
from itza_git.words import Vocabulary, words
from training.pairs import Pair, read

ROWS = 32_000
DIMENSION = 256
BATCH = 1_536
# Pairs of one package that are neighbours in a batch: the hard part is to tell a package's own functions apart.
GROUP = 512
EPOCHS = 3
RATE = 2e-3
NAMELESS = 0.35
FEWEST_PACKAGES = 2
LONGEST_WORD = 24


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as rows of the model: text i has row[start[i]:start[i + 1]], and times is log2(1 + how often) of each."""

    start: NDArray[np.int64]
    row: NDArray[np.int64]
    times: NDArray[np.float32]


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


def texts(raw: Sequence[str], row: Mapping[str, int]) -> Texts:
    """Raw texts as rows of the model."""
    vocabulary = Vocabulary()
    counts = vocabulary.count(raw).words
    met = np.unique(counts.term)
    found = dict(zip(met.tolist(), (pieces(vocabulary.terms[term], row) for term in met.tolist()), strict=True))
    lists = [found[term] for term in counts.term.tolist()]
    length = np.array([len(rows) for rows in lists], np.int64)
    of_text = np.bincount(counts.text, length, len(raw)).astype(np.int64)
    flat = np.fromiter((number for rows in lists for number in rows), np.int64, int(length.sum()))
    times = np.repeat(np.log2(1 + counts.count.astype(np.float32)), length)
    return Texts(np.concatenate([[0], np.cumsum(of_text)]), flat, times)


class Sums:
    """The weighted sums of chosen texts over the rows that they use, and the way back of a gradient.

    Only a few thousand of the rows occur in a batch, so gradients and steps are kept to those. The way back is written
    out, as a second sum with texts and rows exchanged: twenty times as fast as the automatic one.
    """

    def __init__(self, texts: Texts, chosen: NDArray[np.int64]) -> None:
        length = texts.start[chosen + 1] - texts.start[chosen]
        ends = np.cumsum(length)
        position = np.arange(length.sum()) + np.repeat(texts.start[chosen] - (ends - length), length)
        used, column, uses = np.unique(texts.row[position], return_inverse=True, return_counts=True)
        by_row = np.argsort(column, kind="stable")
        text = np.repeat(np.arange(len(chosen)), length)
        times = texts.times[position]
        self.rows = torch.from_numpy(used)
        self._there = tuple(map(torch.from_numpy, (column, ends - length, times)))
        self._back = tuple(map(torch.from_numpy, (text[by_row], np.cumsum(uses) - uses, times[by_row])))

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

    def __init__(self, rows: int) -> None:
        self.vectors = torch.randn(rows, DIMENSION) / math.sqrt(DIMENSION)
        self.question = torch.zeros(rows)
        self.text = torch.zeros(rows)
        self.scale = torch.tensor(math.log(14.0), requires_grad=True)
        self._optimisers = [
            torch.optim.SparseAdam([self.vectors, self.question, self.text], lr=RATE),
            torch.optim.Adam([self.scale], lr=RATE),
        ]

    def learn(self, docs: Sums, codes: Sums) -> float:
        """One step; the loss before it."""
        asked = docs.of(self.vectors, self.question).requires_grad_()
        found = codes.of(self.vectors, self.text).requires_grad_()
        self.scale.grad = None
        loss = _contrast(asked, found, self.scale)
        loss.backward()
        of_docs, of_questions = docs.gradients(asked.grad)
        of_codes, of_texts = codes.gradients(found.grad)
        rows = torch.cat([docs.rows, codes.rows])
        self.vectors.grad = _sparse(rows, torch.cat([of_docs, of_codes]), self.vectors)
        self.question.grad = _sparse(docs.rows, of_questions, self.question)
        self.text.grad = _sparse(codes.rows, of_texts, self.text)
        for optimiser in self._optimisers:
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


def batches(package: Sequence[str], chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """The numbers of all pairs, in batches that consist of groups of one package each."""
    order = chance.permutation(len(package))
    order = order[np.argsort(np.array(package)[order], kind="stable")]
    borders = np.flatnonzero(np.array(package)[order][1:] != np.array(package)[order][:-1]) + 1
    groups = [part[at : at + GROUP] for part in np.split(order, borders) for at in range(0, len(part), GROUP)]
    mixed = np.concatenate([groups[number] for number in chance.permutation(len(groups))])
    yield from (mixed[at : at + BATCH] for at in range(0, len(mixed) - BATCH // 2, BATCH))


def train(pairs: Sequence[Pair], row: Mapping[str, int], seed: int) -> Model:
    """The model after EPOCHS passes over pairs."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    docs = texts([pair.doc for pair in pairs], row)
    codes = texts([text for pair in pairs for text in (pair.code, pair.nameless_code)], row)
    model = Model(len(row))
    package = [pair.package for pair in pairs]
    for epoch in range(EPOCHS):
        losses = []
        for chosen in batches(package, chance):
            shown = 2 * chosen + (chance.random(len(chosen)) < NAMELESS)
            losses.append(model.learn(Sums(docs, chosen), Sums(codes, shown)))
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, scale {model.scale.exp().item():.1f}", flush=True)
    return model


def main() -> None:
    """Trains on all pairs but those held apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    pairs = [pair for pair in read(options.pairs) if not pair.is_held_apart]
    names = model_words(pairs)
    print(f"{len(pairs):,} pairs, {len(names):,} words, {time.monotonic() - began:.0f} s", flush=True)
    model = train(pairs, {word: number for number, word in enumerate(names)}, options.seed)
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
