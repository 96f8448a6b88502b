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

    def take(self, chosen: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Rows, their times and where each chosen text starts, as EmbeddingBag wants them."""
        length = self.start[chosen + 1] - self.start[chosen]
        ends = np.cumsum(length)
        position = np.arange(length.sum()) + np.repeat(self.start[chosen] - (ends - length), length)
        return tuple(map(torch.from_numpy, (self.row[position], self.times[position], ends - length)))


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


class Model:
    """One vector a word; a weight a word for questions, another for code."""

    def __init__(self, frequency: NDArray[np.float32]) -> None:
        # A rare word says more than a frequent one.
        weight = torch.from_numpy(np.log(1 - np.log(frequency)))
        self.vectors = torch.randn(len(frequency), DIMENSION) / math.sqrt(DIMENSION)
        self.question = weight.clone()
        self.text = weight.clone()
        self.scale = torch.tensor(math.log(14.0))
        self.parameters = [self.vectors, self.question, self.text, self.scale]
        for parameter in self.parameters:
            parameter.requires_grad_()

    def embed(self, taken: tuple[torch.Tensor, ...], weight: torch.Tensor) -> torch.Tensor:
        """Normalised vectors of the texts taken."""
        row, times, start = taken
        summed = torch.nn.functional.embedding_bag(
            row, self.vectors, start, mode="sum", per_sample_weights=times * weight.exp()[row]
        )
        return torch.nn.functional.normalize(summed)

    def loss(self, docs: tuple[torch.Tensor, ...], codes: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """InfoNCE, from comments to code and from code to comments."""
        near = (
            self.embed(docs, self.question) @ self.embed(codes, self.text).T * self.scale.clamp(max=math.log(100)).exp()
        )
        own = torch.arange(len(near))
        return (torch.nn.functional.cross_entropy(near, own) + torch.nn.functional.cross_entropy(near.T, own)) / 2


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
    docs, codes, nameless = (
        texts([pair.doc for pair in pairs], row),
        texts([pair.code for pair in pairs], row),
        texts([pair.nameless_code for pair in pairs], row),
    )
    both = _joined(codes, nameless)
    frequency = np.bincount(codes.row, minlength=len(row)).astype(np.float32) + 1
    model = Model(frequency / (frequency.max() + 1))
    optimiser = torch.optim.Adam(model.parameters, lr=RATE)
    package = [pair.package for pair in pairs]
    for epoch in range(EPOCHS):
        losses = []
        for chosen in batches(package, chance):
            shown = chosen + len(pairs) * (chance.random(len(chosen)) < NAMELESS)
            optimiser.zero_grad()
            loss = model.loss(docs.take(chosen), both.take(shown))
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, scale {model.scale.exp().item():.1f}", flush=True)
    return model


def _joined(first: Texts, second: Texts) -> Texts:
    return Texts(
        np.concatenate([first.start, first.start[-1] + second.start[1:]]),
        np.concatenate([first.row, second.row]),
        np.concatenate([first.times, second.times]),
    )


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
        vectors=model.vectors.detach().numpy(),
        text_weight=model.text.detach().exp().numpy(),
        question_weight=model.question.detach().exp().numpy(),
    )
    print(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
