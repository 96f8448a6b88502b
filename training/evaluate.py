"""How well the packed model finds code by its comment, on packages that it was not trained on.

    python -m training.evaluate PAIRS.jsonl.gz [WEIGHTS]

Two figures a run: candidates of the same package (the task of a search in one repository), and of all packages mixed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding.builtin import WEIGHTS, Builtin
from itza_git.words import Vocabulary
from training.pairs import Pair, read

CANDIDATES = 1_000
FEWEST = 100


def ranks(model: Builtin, pairs: Sequence[Pair], nameless: bool) -> NDArray[np.int64]:
    """The rank, from 1, of each comment's own code among the codes of all pairs."""
    raw = [pair.nameless_code if nameless else pair.code for pair in pairs]
    codes = model.embed(raw, Vocabulary().count(raw))
    docs = np.stack([model.embed_question(pair.doc) for pair in pairs])
    near: NDArray[np.float32] = docs @ codes.T
    return np.array([np.count_nonzero(row >= row[own]) for own, row in enumerate(near)])


def described(found: NDArray[np.int64]) -> str:
    """Mean reciprocal rank and recall at 1."""
    return f"MRR {np.mean(1 / found):.3f}, recall@1 {np.mean(found == 1):.3f}"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("weights", type=Path, nargs="?", default=WEIGHTS)
    options = parser.parse_args()
    model = Builtin(options.weights)
    pairs = [pair for pair in read(options.pairs) if pair.is_held_apart and pair.doc]
    random.Random(1).shuffle(pairs)
    functions = [pair for pair in pairs if not pair.is_inline]
    evaluate("functions with their names", model, functions, nameless=False)
    evaluate("functions without their names", model, functions, nameless=True)
    evaluate(
        "lines around a comment inside a function", model, [pair for pair in pairs if pair.is_inline], nameless=False
    )


def evaluate(title: str, model: Builtin, pairs: Sequence[Pair], nameless: bool) -> None:
    """Prints the figures of one kind of pair."""
    packages: dict[str, list[Pair]] = {}
    for pair in pairs:
        packages.setdefault(pair.package, []).append(pair)
    large = [found[:CANDIDATES] for found in packages.values() if len(found) >= FEWEST]
    within = np.concatenate([ranks(model, found, nameless) for found in large])
    mixed = [ranks(model, pairs[at : at + CANDIDATES], nameless) for at in range(0, 5 * CANDIDATES, CANDIDATES)]
    print(f"{title}:")
    print(f"  within each of {len(large)} packages ({len(within):,} pairs): {described(within)}")
    print(f"  among {CANDIDATES:,} of all packages: {described(np.concatenate(mixed))}")


if __name__ == "__main__":
    main()
