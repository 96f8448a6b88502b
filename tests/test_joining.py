"""Passages that follow one another are one hit."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from itza_git.records import Passage
from itza_git.search.joining import LEAST_SHARE, MOST_LINES, joined


def passage(first: int, last: int, path: bytes = b"a.py", symbol: str = "f") -> Passage:
    return Passage(path, b"1" * 20, "python", first, last, "function", symbol, 1.0)


def spans(passages: list[Passage]) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in passages]


def test_one_that_follows_a_better_one_widens_it_and_takes_no_place() -> None:
    found = joined([passage(10, 20, symbol="best"), passage(50, 60), passage(21, 30), passage(1, 9)], 2)
    assert spans(found) == [(1, 30), (50, 60)]
    assert found[0].symbol == "best"


def test_a_comment_joined_with_its_declaration_is_of_the_kind_of_that() -> None:
    comment = replace(passage(1, 30), kind="comment")
    assert joined([comment, passage(31, 40)], 2)[0].kind == "function"
    assert joined([passage(31, 40), comment], 2)[0].kind == "function"
    assert joined([comment, passage(31, 40, symbol="g")], 2)[0].kind == "comment"


def test_one_that_does_not_touch_stays_apart() -> None:
    assert spans(joined([passage(10, 20), passage(22, 30)], 5)) == [(10, 20), (22, 30)]
    assert len(joined([passage(10, 20), passage(21, 30, b"b.py")], 5)) == 2
    other = replace(passage(21, 30), blob=b"2" * 20)
    assert len(joined([passage(10, 20), other], 5)) == 2
    assert len(joined([passage(10, 20), replace(passage(21, 30), score=LEAST_SHARE / 2)], 5)) == 2


def test_a_joined_passage_stays_about_a_screen() -> None:
    found = joined([passage(1, 40), passage(41, 80), passage(81, 90)], 5)
    assert spans(found) == [(1, 40), (41, 90)]
    assert all(one.last - one.first < MOST_LINES for one in found)


@given(st.lists(st.integers(0, 30), unique=True), st.integers(1, 12))
def test_no_line_is_shown_twice_and_none_that_was_not_found(numbers: list[int], limit: int) -> None:
    given = [passage(10 * n + 1, 10 * n + 10) for n in numbers]
    found = joined(given, limit)
    shown = [line for one in found for line in range(one.first, one.last + 1)]
    assert len(found) <= limit
    assert len(set(shown)) == len(shown)
    assert set(shown) <= {line for one in given for line in range(one.first, one.last + 1)}
    assert numbers == [] or found[0].first <= given[0].first <= found[0].last
