"""What must be true of a pack or a view beside its checksums: every count, every range, every vector."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.errors import Damaged
from itza_git.records import KINDS
from itza_git.store.container import Container, cannot_read
from itza_git.store.pack import FIELDS, MOST_ROWS, name_of
from itza_git.store.postings import MOST_OCCURRENCES
from itza_git.store.view import PATH_FIELD

# Quantising moves the length of a vector by less than this.
LENGTH_TOLERANCE = 0.05
# Vectors that are multiplied out at once, to bound the memory.
_ROWS_AT_ONCE = 1 << 14


# Which kind of container lies in which folder of a space.
KINDS_OF_FILES = {"packs": "pack", "views": "view", "lineages": "lineage"}


class _Wrong(Exception):
    """A law that a file breaks, in words."""


def prove(path: Path, kind: str) -> Container:
    """The container, once it was read whole and all that it says holds together. Raises `Damaged`, `StoreError`."""
    file = Container(path, kind).verified()
    try:
        _PROOFS[kind](file)
    except _Wrong as e:
        raise Damaged(path, str(e)) from e
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Damaged(path, "its sections do not have the shapes that they should") from e
    return file


def is_whole(path: Path) -> bool:
    """Whether nothing is wrong with a file of a space, or it is not there. Raises `StoreError`."""
    try:
        prove(path, KINDS_OF_FILES[path.parent.name])
    except Damaged:
        return False
    except FileNotFoundError:
        return True
    except OSError as e:
        raise cannot_read(path, e) from e
    return True


def _law(holds: Any, told: str) -> None:  # noqa: ANN401 - numpy's booleans and ours
    if not holds:
        raise _Wrong(told)


def _pack(file: Container) -> None:
    key, start = file.array("key"), file.array("start").astype(np.int64)
    blobs, rows = len(key), int(start[-1])
    _law(file.path.stem == name_of(key), "its name is not that of what it holds")
    _law(bool((key[1:] > key[:-1]).all()), "its keys do not ascend")
    _offsets(start, blobs, rows, "start")
    _law(rows <= MOST_ROWS, "it holds too many chunks")
    _table(file, "language", "languages", blobs)
    _table(file, "reason", "reasons", blobs)
    _law(bool(((file.array("reason") != 0) == (np.diff(start) == 0)).all()), "a blob has chunks and a reason for none")
    _law(file.meta["kinds"] == list(KINDS), "it has other kinds of chunks")
    _table(file, "kind", "kinds", rows)
    _lines(file.array("lines").astype(np.int64), start)
    _texts(file, "symbol_start", "symbol_text", rows)
    _symbols(file)
    for field in FIELDS:
        _postings(file, field, rows)
    _vectors(file.array("vector"), file.array("scale"), rows)


def _view(file: Container) -> None:
    entries = len(file.array("id"))
    _texts(file, "path_start", "path_text", entries)
    start, text = file.array("path_start").tolist(), file.array("path_text").tobytes()
    paths = [text[a:b] for a, b in pairwise(start)]
    _law(all(paths) and len(set(paths)) == entries, "a path is empty or there twice")
    _law(file.array("id").ndim == 2, "its ids have no length")
    _table(file, "language", "languages", entries)
    _table(file, "reason", "reasons", entries)
    _postings(file, PATH_FIELD, entries)
    if "path_vector" in file or "path_scale" in file:
        _vectors(file.array("path_vector"), file.array("path_scale"), entries)


def _lineage(file: Container) -> None:
    ids = file.array("id")
    _law(ids.ndim == 2 and len(ids) > 0, "it holds no ids")
    _law(len(np.unique(ids, axis=0)) == len(ids), "a commit is there twice")
    _law(file.array("time").shape == (len(ids),), "not every commit has its time")
    _law(file.path.name.startswith(f"{ids[0].tobytes().hex()}-"), "its name is not that of its first commit")


_PROOFS: dict[str, Callable[[Container], None]] = {"pack": _pack, "view": _view, "lineage": _lineage}


def _table(file: Container, name: str, table: str, size: int) -> None:
    """Numbers that point into a table of meta, one for each of size."""
    values, words = file.array(name), file.meta[table]
    _law(all(isinstance(word, str) for word in words), f"{table} are no words")
    _law(len(values) == size, f"{name} has {len(values)} values for {size}")
    _law(table != "reasons" or words[:1] == [""], "the first reason is not that for being searched")
    _law(not size or int(values.max()) < len(words), f"{name} points out of its table")


def _offsets(start: NDArray[np.int64], parts: int, total: int, name: str) -> None:
    _law(len(start) == parts + 1 and start[0] == 0 and start[-1] == total, f"{name} does not count what there is")
    _law(bool((np.diff(start) >= 0).all()), f"{name} does not ascend")


def _texts(file: Container, starts: str, text: str, size: int) -> None:
    _offsets(file.array(starts).astype(np.int64), size, len(file.array(text)), starts)


def _symbols(file: Container) -> None:
    try:
        file.array("symbol_text").tobytes().decode()
    except UnicodeDecodeError as e:
        raise _Wrong("its symbols are no text") from e


def _lines(lines: NDArray[np.int64], start: NDArray[np.int64]) -> None:
    """The lines of chunks are there, and those of one blob ascend without meeting."""
    _law(lines.shape == (int(start[-1]), 2), "lines does not count what there is")
    first, last = lines[:, 0], lines[:, 1]
    _law(bool((first >= 1).all() and (last >= first).all()), "a chunk ends before it begins")
    inside = np.ones(max(len(lines) - 1, 0), bool)
    borders = start[1:-1]
    inside[borders[(borders > 0) & (borders < len(lines))] - 1] = False
    _law(bool((first[1:] > last[:-1])[inside].all()), "two chunks of a blob share lines")


def _postings(file: Container, field: str, rows: int) -> None:
    length, term, start, row, count = (file.array(f"{field}.{n}") for n in ("length", "term", "start", "row", "count"))
    start, row = start.astype(np.int64), row.astype(np.int64)
    _law(len(length) == rows, f"{field}.length does not count what there is")
    _law(bool((term[1:] > term[:-1]).all()), f"the terms of {field} do not ascend")
    _offsets(start, len(term), len(row), f"{field}.start")
    _law(bool((np.diff(start) > 0).all()), f"a term of {field} is nowhere")
    count = count & MOST_OCCURRENCES
    _law(len(count) == len(row) and bool((count > 0).all()), f"{field}.count does not count what there is")
    _law(not len(row) or int(row.max()) < rows, f"a posting of {field} is out of range")
    ascends = row[1:] > row[:-1]
    ascends[start[1:-1] - 1] = True
    _law(bool(ascends.all()), f"the postings of a term of {field} do not ascend")
    counted = np.bincount(row, weights=count, minlength=rows).astype(np.int64)
    capped = np.zeros(rows, bool)
    capped[row[count == MOST_OCCURRENCES]] = True
    right = np.where(capped, length >= counted, length == counted)
    _law(bool(right.all()), f"{field}.length is not the number of terms")


def _vectors(vector: NDArray[np.int8], scale: NDArray[np.float32], rows: int) -> None:
    """Each vector is of length 1, or zero where nothing could be embedded."""
    _law(vector.ndim == 2 and len(vector) == rows and scale.shape == (rows,), "not every chunk has its vector")
    _law(bool(np.isfinite(scale).all() and (scale >= 0).all()), "a vector is not finite")
    for at in range(0, rows, _ROWS_AT_ONCE):
        some, scales = vector[at : at + _ROWS_AT_ONCE].astype(np.float32), scale[at : at + _ROWS_AT_ONCE]
        length = np.linalg.norm(some, axis=1) * scales
        sane = (np.abs(length - 1) < LENGTH_TOLERANCE) | (scales == 0)
        _law(bool(sane.all()), "a vector does not have the length 1")
