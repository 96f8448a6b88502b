"""Views: the entries of a tree, read back as they were written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.errors import Damaged
from itza_git.records import Skipped
from itza_git.store import View
from itza_git.store.pack import key_of
from itza_git.store.postings import from_bags
from itza_git.words import Vocabulary, term_key

LANGUAGES = ["go", "python", "text"]
REASONS = ["", "binary", "excluded"]


def view(rows: list[tuple[bytes, bytes, int, int]], id_length: int = 20, vectors: bool = False) -> View:
    """The view of rows of (path, id, language number, reason number)."""
    ids = b"".join(id_ for _, id_, _, _ in rows)
    return View(
        [path for path, _, _, _ in rows],
        np.frombuffer(ids, np.uint8).reshape(len(rows), id_length),
        np.array([language for _, _, language, _ in rows], np.uint8),
        LANGUAGES,
        np.array([reason for _, _, _, reason in rows], np.uint8),
        REASONS,
        from_bags(Vocabulary().count([path.decode("utf-8", "replace") for path, _, _, _ in rows]), np.uint32),
        np.ones((len(rows), 4), np.int8) if vectors else None,
        np.ones(len(rows), np.float32) if vectors else None,
    )


def rows(id_length: int) -> st.SearchStrategy[list[tuple[bytes, bytes, int, int]]]:
    paths = st.binary(min_size=1, max_size=6).filter(lambda path: b"\0" not in path)
    ids = st.binary(max_size=2).map(lambda start: start.ljust(id_length, b"\0"))
    row = st.tuples(paths, ids, st.integers(0, 2), st.integers(0, 2))
    return st.lists(row, max_size=6, unique_by=lambda r: r[0])


def read_back(written: View) -> View:
    with tempfile.TemporaryDirectory() as folder:
        written.write(Path(folder) / "view.itza")
        return View.read(Path(folder) / "view.itza")


@given(st.sampled_from([20, 32]).flatmap(lambda n: st.tuples(st.just(n), rows(n))), st.booleans())
def test_a_view_reads_back_as_it_was_written(drawn: tuple[int, list[tuple[bytes, bytes, int, int]]], own: bool) -> None:
    id_length, held = drawn
    written = view(held, id_length, own)
    found = read_back(written)
    assert (found.paths, found.languages, found.reasons) == (written.paths, LANGUAGES, REASONS)
    assert found.id.tolist() == written.id.tolist()
    assert found.language.tolist() == written.language.tolist()
    assert found.reason.tolist() == written.reason.tolist()
    for name in ("length", "term", "start", "row", "count"):
        assert getattr(found.path_terms, name).tolist() == getattr(written.path_terms, name).tolist()
    assert (found.path_vector is not None) is own
    assert len(found) == len(held)


@given(rows(20))
def test_the_keys_are_those_of_the_entries_that_are_searched(held: list[tuple[bytes, bytes, int, int]]) -> None:
    found = read_back(view(held))
    expected = b"".join(key_of(id_, LANGUAGES[language]) for _, id_, language, reason in held if not reason)
    assert found.keys.tobytes() == expected
    assert found.skipped() == [Skipped(path, REASONS[reason]) for path, _, _, reason in held if reason]


def test_paths_are_found_by_their_words() -> None:
    found = read_back(view([(b"src/retryLimit.go", b"\1" * 20, 0, 0), (b"docs/limit.md", b"\2" * 20, 2, 0)]))
    assert found.path_terms.lookup(term_key("limit"))[0].tolist() == [0, 1]
    assert found.path_terms.lookup(term_key("retrylimit"))[0].tolist() == [0]
    assert found.path_terms.lookup(term_key("absent"))[0].tolist() == []


def test_entries_can_be_taken_out_for_a_reason() -> None:
    whole = view([(b"a", b"\1" * 20, 0, 0), (b"b", b"\2" * 20, 0, 1), (b"c", b"\1" * 20, 0, 0)])
    less = whole.without([b"\1" * 20], "unreadable")
    assert less.skipped() == [Skipped(b"a", "unreadable"), Skipped(b"b", "binary"), Skipped(b"c", "unreadable")]
    assert not whole.reason[0]


def test_a_view_cut_anywhere_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "view.itza"
    view([(b"a.go", b"\1" * 20, 0, 0)]).write(path)
    data = path.read_bytes()
    for at in range(0, len(data), len(data) // 50):
        path.write_bytes(data[:at])
        with pytest.raises(Damaged):
            View.read(path)
