"""The trainer of the ranking: its gradient is that of the loss it names, and it learns what tells right from wrong."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.search.features import COLUMNS
from training.ranker import Example, Loss, fit

USEFUL, USELESS = (list(COLUMNS).index(name) for name in ("lexical", "mentions"))


def example(seed: int, is_sentence: bool, knows_lines: bool = True) -> Example:
    """A pool of twelve passages in four files; of the one right file one passage is right, or all are."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((12, len(COLUMNS))).astype(np.float32)
    entry = np.repeat(np.arange(4), 3)[random.permutation(12)]
    right_file = entry == 2
    right = np.zeros(12, bool)
    right[np.flatnonzero(right_file)[0]] = True
    table[right, USEFUL] += 3
    return Example(table, entry, right_file, right if knows_lines else right_file, [], {}, is_sentence)


@pytest.mark.parametrize("knows_lines", [True, False])
def test_the_gradient_is_that_of_the_loss(knows_lines: bool) -> None:
    """Against the loss written out: minus the logarithm of the right file's share, and of the right passage's in it."""
    given = [example(seed, bool(seed % 2), knows_lines) for seed in range(4)]
    loss = Loss(given)
    weights = np.random.default_rng(9).normal(0, 0.2, 2 * len(COLUMNS))

    def written_out(weights: np.ndarray) -> float:
        total = 0.0
        for one in given:
            for_all, more = np.split(weights, 2)
            score = one.features.astype(float) @ (for_all + more * one.is_sentence)
            best = np.array([score[one.entry == file].max() for file in range(4)])
            part = -np.log(np.exp(best[2]) / np.exp(best).sum())
            inside = np.exp(score[one.right_file])
            if knows_lines:
                part -= np.log(np.exp(score[one.right]).sum() / inside.sum())
            total += part * (2.0 if one.is_sentence else 1.0)
        return total / 6.0

    found = loss.gradient(weights)
    for column in (USEFUL, USELESS, len(COLUMNS) + USEFUL):
        step = np.zeros_like(weights)
        step[column] = 1e-5
        expected = (written_out(weights + step) - written_out(weights - step)) / 2e-5
        assert found[column] == pytest.approx(expected, abs=2e-3)


def test_what_tells_right_from_wrong_gets_the_weight_for_each_kind() -> None:
    learned = fit([example(seed, bool(seed % 2)) for seed in range(40)])
    assert learned.shape == (len(COLUMNS), 2)
    assert (learned[USEFUL] > 1).all()
    assert (np.abs(learned[USELESS]) < learned[USEFUL] / 3).all()
