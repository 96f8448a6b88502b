"""Products of int8 rows and a question's vector: near enough to exact, and the same wherever a row lies."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.search.dense import Product


@pytest.mark.parametrize("dimension", [8, 256, 1024, 4096])
def test_products_are_as_good_as_those_of_floats(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    rows = random.integers(-127, 128, (700, dimension)).astype(np.int8)
    question = random.normal(size=dimension).astype(np.float32)
    exact = rows.astype(np.float64) @ question.astype(np.float64)
    assert np.abs(Product(question)(rows) - exact).max() < 1e-4 * np.abs(exact).max()


@pytest.mark.parametrize("together", [1, 2, 3, 7, 511, 513])
def test_a_row_has_the_same_product_whatever_rows_stand_beside_it(together: int) -> None:
    random = np.random.default_rng(together)
    rows = random.integers(-127, 128, (1100, 256)).astype(np.int8)
    question = random.normal(size=256).astype(np.float32)
    times = Product(question)
    parts = [times(rows[at : at + together]) for at in range(0, len(rows), together)]
    assert np.concatenate(parts).tobytes() == times(rows).tobytes()


def test_a_vector_of_zeros_and_no_rows_at_all() -> None:
    times = Product(np.zeros(256, np.float32))
    assert not times(np.ones((3, 256), np.int8)).any()
    assert times(np.empty((0, 256), np.int8)).shape == (0,)


def test_the_greatest_numbers_there_are_stay_exact() -> None:
    rows = np.full((2, 256), -128, np.int8)
    assert Product(np.ones(256, np.float32))(rows).tolist() == pytest.approx([-(128 * 256)] * 2, rel=1e-6)
