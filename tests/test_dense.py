"""Products of int8 rows and a question's vector: near enough to exact, and the same wherever a row lies."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.search.dense import Product


@pytest.mark.parametrize("dimension", [8, 256, 1024, 4096])
def test_products_are_exactly_those_of_the_rounded_question(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    rows = random.integers(-127, 128, (700, dimension)).astype(np.int8)
    question = random.normal(size=dimension).astype(np.float32)
    unit = np.abs(question).max() / np.float32(127)
    exact = rows.astype(np.int64) @ np.rint(question / unit).astype(np.int64)
    assert np.array_equal(Product(question)(rows), exact.astype(np.float32) * unit)


@pytest.mark.parametrize("dimension", [256, 1024, 4096])
def test_rounding_a_question_moves_a_cosine_no_more_than_rounding_the_rows_did(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    rows, question = random.normal(size=(700, dimension)), random.normal(size=dimension)
    rows, question = rows / np.linalg.norm(rows, axis=1)[:, None], question / np.linalg.norm(question)
    scale = np.abs(rows).max(axis=1) / 127
    stored = np.rint(rows / scale[:, None]).astype(np.int8)
    of_rounded_rows = stored @ question * scale
    found = Product(question.astype(np.float32))(stored) * scale
    moved = np.abs(of_rounded_rows - rows @ question).std()
    assert np.abs(found - of_rounded_rows).std() < 1.2 * moved


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
