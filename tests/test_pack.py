"""Packs: chunks, terms and vectors of blobs, read back as they were written; and merged."""

from __future__ import annotations

import json
import struct
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itza_git.errors import Damaged
from itza_git.records import KINDS, Chunk
from itza_git.store.pack import FIELDS, Indexed, Pack, PackBuilder, key_of, keys_array, merge
from itza_git.store.postings import BEGINNING, MOST_OCCURRENCES, WRITTEN
from itza_git.words import Vocabulary, term_key, terms
from tests.counting import Counting

TERMS = ["alpha", "beta", "gamma", "delta", "nine"]


@dataclass(frozen=True)
class Blob:
    """A blob to pack: id, language, why it has no chunks, and (chunk, text) of each chunk."""

    id: bytes
    language: str
    reason: str
    chunks: tuple[tuple[Chunk, str], ...]

    @property
    def indexed(self) -> Indexed:
        return Indexed(key_of(self.id, self.language), self.language, [chunk for chunk, _ in self.chunks], self.reason)


def chunks() -> st.SearchStrategy[tuple[Chunk, str]]:
    texts = st.lists(st.sampled_from([*TERMS, "alphaBeta", "x1", "日本語"]), max_size=6).map(" ".join)
    symbols = st.sampled_from(["", "Store.open", "Usage > Hooks", "größe", "alpha"])
    lines = st.tuples(st.integers(1, 2**32 - 1), st.integers(1, 2**32 - 1))
    return st.builds(
        lambda span, kind, symbol, text: (Chunk(span[0], span[1], kind, symbol), text),
        lines,
        st.sampled_from(KINDS),
        symbols,
        texts,
    )


def blobs(id_length: int = 20) -> st.SearchStrategy[list[Blob]]:
    # Ids that end in zero bytes are what numpy's byte strings would pad with.
    ids = st.binary(min_size=1, max_size=2).map(lambda start: start.ljust(id_length, b"\0"))
    held = st.lists(chunks(), max_size=3).map(tuple)
    blob = st.builds(
        lambda id_, language, held, reason: Blob(id_, language, "" if held else reason, held),
        ids,
        st.sampled_from(["python", "go", "text"]),
        held,
        st.sampled_from(["binary", "empty"]),
    )
    return st.lists(blob, max_size=5, unique_by=lambda b: key_of(b.id, b.language))


def build(folder: Path, held: Sequence[Blob], id_length: int = 20) -> Pack:
    texts = [text for blob in held for _, text in blob.chunks]
    vocabulary = Vocabulary()
    bags = vocabulary.count(texts)
    symbols = vocabulary.count([chunk.symbol for blob in held for chunk, _ in blob.chunks])
    parts = {BEGINNING: vocabulary.count(list(map(first, texts))), WRITTEN: vocabulary.count(list(map(rest, texts)))}
    vectors = Counting().embed(texts, bags)
    name = PackBuilder(folder, id_length).write([b.indexed for b in held], bags, symbols, vectors, parts)
    return Pack(folder / f"{name}.itza")


def first(text: str) -> str:
    """The part of a text that is marked as its beginning."""
    return text.partition(" ")[0]


def rest(text: str) -> str:
    """The part of a text that is marked as written for people."""
    return text.partition(" ")[2]


def field_of(pack: Pack, name: str, row: int) -> dict[int, int]:
    """term key -> count of a row with its marks, read through the inverted index."""
    keys, rows, counts = pack.field(name).expanded()
    return {int(k): int(c) for k, r, c in zip(keys, rows, counts, strict=True) if r == row}


def counted(text: str) -> dict[int, int]:
    return {term_key(term): min(count, MOST_OCCURRENCES) for term, count in Counter(terms(text)).items()}


def marked(text: str) -> dict[int, int]:
    marks = Counter({term_key(term): BEGINNING for term in terms(first(text))})
    return marks | Counter({term_key(term): WRITTEN | marks[term_key(term)] for term in terms(rest(text))})


def assert_holds(pack: Pack, held: Sequence[Blob], id_length: int = 20) -> None:
    found = pack.find(keys_array([key_of(b.id, b.language) for b in held], id_length))
    assert sorted(found.tolist()) == list(range(len(held)))
    for blob, number in zip(held, found.tolist(), strict=True):
        assert (pack.reason(number), pack.language(number)) == (blob.reason, blob.language)
        rows = range(int(pack.start[number]), int(pack.start[number + 1]))
        assert [pack.chunk(row) for row in rows] == [chunk for chunk, _ in blob.chunks]
        for row, (chunk, text) in zip(rows, blob.chunks, strict=True):
            assert field_of(pack, "body", row) == {k: n | marked(text)[k] for k, n in counted(text).items()}
            assert field_of(pack, "symbol", row) == counted(chunk.symbol)
            assert int(pack.field("body").length[row]) == len(terms(text))
            vector = pack.array("vector")[row] * pack.array("scale")[row]
            assert np.allclose(vector, Counting().embed_question(text), atol=0.01)
    pack.verify()


@given(blobs())
@settings(max_examples=60)
def test_a_pack_reads_back_what_was_put_in(held: list[Blob]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_holds(build(Path(folder), held), held)


@given(blobs(32))
@settings(max_examples=20)
def test_ids_of_32_bytes_do_too(held: list[Blob]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_holds(build(Path(folder), held, 32), held, 32)


@given(blobs(), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=60)
def test_merged_packs_equal_one_that_was_built_at_once(held: list[Blob], cut: int, overlap: int) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        parts = [build(Path(one), held[: cut + overlap]), build(Path(one), held[cut:])]
        name = merge(Path(one), parts, [np.ones(len(p.key), bool) for p in parts])
        merged, whole = Pack(Path(one) / f"{name}.itza"), build(Path(other), held)
        assert merged.path.name == whole.path.name
        assert_holds(merged, held)
        for section in ("key", "start", "lines", "vector", "scale", "symbol_start", "symbol_text"):
            assert merged.array(section).tobytes() == whole.array(section).tobytes()
        for field in FIELDS:
            for part in ("length", "term", "start", "row", "count"):
                assert (getattr(merged.field(field), part) == getattr(whole.field(field), part)).all()


@given(blobs(), st.data())
@settings(max_examples=30)
def test_a_merge_keeps_what_it_is_told_to_keep(held: list[Blob], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pack = build(Path(folder), held)
        ordered = sorted(held, key=lambda blob: key_of(blob.id, blob.language))
        keep = data.draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held)))
        name = merge(Path(folder), [pack], [np.array(keep, bool)])
        assert_holds(Pack(Path(folder) / f"{name}.itza"), [b for b, kept in zip(ordered, keep, strict=True) if kept])


def test_a_key_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    pack = build(tmp_path, [Blob(b"\x01" * 20, "go", "empty", ())])
    absent = [key_of(b"\0" * 20, "go"), key_of(b"\x01" * 20, "python"), key_of(b"\xff" * 20, "go")]
    assert pack.find(keys_array(absent, 20)).tolist() == [-1, -1, -1]
    assert build(tmp_path, []).find(keys_array(absent, 20)).tolist() == [-1, -1, -1]


def test_the_same_blob_in_two_languages_is_two_keys(tmp_path: Path) -> None:
    held = [Blob(b"\x01" * 20, language, "", ((Chunk(1, 2, "text", language), "alpha"),)) for language in ("c", "cpp")]
    assert_holds(build(tmp_path, held), held)


def test_more_occurrences_than_a_byte_holds_stop_at_the_most(tmp_path: Path) -> None:
    text = "alpha " * 300 + "beta " * 63 + "gamma " * 64
    held = [Blob(b"\x01" * 20, "text", "", ((Chunk(1, 1, "text"), text),))]
    pack = build(tmp_path, held)
    assert_holds(pack, held)
    assert set(field_of(pack, "body", 0)) == {term_key("alpha"), term_key("beta"), term_key("gamma")}
    assert {count & MOST_OCCURRENCES for count in field_of(pack, "body", 0).values()} == {63}
    assert int(pack.field("body").length[0]) == 427


def test_a_chunk_without_a_vector_has_the_scale_zero(tmp_path: Path) -> None:
    pack = build(tmp_path, [Blob(b"\x01" * 20, "text", "", ((Chunk(1, 1, "text"), "..."),))])
    assert pack.array("scale").tolist() == [0.0]
    assert not pack.array("vector").any()


@pytest.mark.parametrize("section", ["key", "lines", "vector", "body.term", "body.count", "symbol_text"])
def test_verifying_a_pack_reads_every_section(tmp_path: Path, section: str) -> None:
    pack = build(tmp_path, [Blob(b"\x01" * 20, "text", "", ((Chunk(1, 9, "text", "name"), "alpha beta"),))])
    data = bytearray(pack.path.read_bytes())
    (length,) = struct.unpack_from("<I", data, 12)
    data[json.loads(data[16 : 16 + length])["sections"][section][2]] ^= 1
    pack.path.write_bytes(data)
    with pytest.raises(Damaged, match=section):
        Pack(pack.path).verify()
