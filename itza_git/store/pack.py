"""Packs: for a set of blobs their chunks, terms and vectors. Immutable; docs/format.md has the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from itza_git.errors import Damaged
from itza_git.records import KINDS, Chunk
from itza_git.store import container, postings
from itza_git.store.container import Container
from itza_git.store.postings import Postings
from itza_git.words import Bags

FIELDS = ("body", "symbol")
# A row is two bytes, so that a posting is three.
MOST_ROWS = 1 << 16


def key_of(blob: bytes, language: str) -> bytes:
    """The key of a blob's chunks: a path is no part of it, so a rename or a copy embeds nothing."""
    return blob + crc32(language.encode()).to_bytes(4, "big")


def keys_array(keys: Sequence[bytes], id_length: int) -> NDArray[np.bytes_]:
    """Keys as an array. All have one length, so numpy's padding with zeros never makes two of them equal."""
    return np.array(keys, dtype=f"S{id_length + 4}")


@dataclass(frozen=True, slots=True)
class Indexed:
    """What chunking found in one blob: its chunks, or the reason why it has none."""

    key: bytes
    language: str
    chunks: Sequence[Chunk]
    reason: str = ""


class PackBuilder:
    """Gathers blobs and writes them as one pack."""

    def __init__(self, folder: Path, id_length: int) -> None:
        self._folder = folder
        self._id_length = id_length

    def write(
        self,
        blobs: Sequence[Indexed],
        bags: Bags,
        symbols: Bags,
        vectors: NDArray[np.float32],
        parts: Mapping[int, Bags] = postings.NO_PARTS,
    ) -> str:
        """Write the pack and return its name. bags, symbols and vectors have one row a chunk, in the order of blobs.

        parts: of each chunk what stands at its beginning, what is written for people, by the marks of `postings`.
        """
        starts = np.cumsum([0] + [len(blob.chunks) for blob in blobs])
        order = sorted(range(len(blobs)), key=lambda b: blobs[b].key)
        old_rows = [row for b in order for row in range(starts[b], starts[b + 1])]
        new_row = np.empty(len(old_rows), np.int64)
        new_row[old_rows] = np.arange(len(old_rows))
        ordered = [blobs[b] for b in order]
        quantised, scale = quantise(vectors[old_rows])
        sections = _table(ordered, self._id_length) | {"vector": quantised, "scale": scale}
        for field, counted, marked in (("body", bags, parts), ("symbol", symbols, postings.NO_PARTS)):
            unordered = postings.from_bags(counted, np.uint32, marked)
            sections |= postings.join([(unordered, new_row)], len(old_rows), np.uint16).sections(field)
        return _write(self._folder, sections, _meta(ordered))


def _meta(blobs: Sequence[Indexed]) -> dict[str, list[str]]:
    return {
        "languages": sorted({blob.language for blob in blobs}),
        "reasons": ["", *sorted({blob.reason for blob in blobs} - {""})],
        "kinds": list(KINDS),
    }


def _table(blobs: Sequence[Indexed], id_length: int) -> dict[str, NDArray[Any]]:
    """The sections that say which blobs and which chunks there are."""
    meta = _meta(blobs)
    chunks = [chunk for blob in blobs for chunk in blob.chunks]
    symbols = [chunk.symbol.encode("utf-8", "replace") for chunk in chunks]
    return {
        "key": keys_array([blob.key for blob in blobs], id_length),
        "language": np.array([meta["languages"].index(blob.language) for blob in blobs], np.uint8),
        "reason": np.array([meta["reasons"].index(blob.reason) for blob in blobs], np.uint8),
        "start": np.cumsum([0] + [len(blob.chunks) for blob in blobs]).astype(np.uint32),
        "lines": np.array([(chunk.first, chunk.last) for chunk in chunks], np.uint32).reshape(-1, 2),
        "kind": np.array([KINDS.index(chunk.kind) for chunk in chunks], np.uint8),
        "symbol_start": np.cumsum([0] + [len(symbol) for symbol in symbols]).astype(np.uint32),
        "symbol_text": np.frombuffer(b"".join(symbols), np.uint8),
    }


def _write(folder: Path, sections: dict[str, NDArray[Any]], meta: dict[str, Any]) -> str:
    name = name_of(sections["key"])
    container.write(folder / f"{name}.itza", "pack", meta, sections)
    return name


def name_of(key: NDArray[np.bytes_]) -> str:
    """The name of the pack that holds these keys."""
    return "pack-" + blake2b(key.tobytes(), digest_size=16).hexdigest()


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as int8 with one scale each: int8 per row loses nothing measurable in ranking."""
    top = np.abs(vectors).max(axis=1, initial=0.0)
    scale = (top / 127).astype(np.float32)
    safe = np.where(scale > 0, scale, 1)
    return np.rint(vectors / safe[:, None]).astype(np.int8), scale


class Pack:
    """An open pack; its arrays are views of the mapped file."""

    def __init__(self, path: Path) -> None:
        self._container = Container(path, "pack")
        self.path = path
        self.key: NDArray[np.bytes_] = self._container.array("key")
        self.start: NDArray[np.uint32] = self._container.array("start")
        self.reasons = self._table("reasons")
        self.languages = self._table("languages")
        self.kinds = self._table("kinds")

    @property
    def is_current(self) -> bool:
        """Whether its file is still what was opened."""
        return self._container.is_current

    def _table(self, name: str) -> list[str]:
        found = self._container.meta.get(name)
        if not isinstance(found, list) or not all(isinstance(value, str) for value in found):
            raise Damaged(self.path, f"it has no table of {name}")
        return found

    @property
    def rows(self) -> int:
        """How many chunks it holds."""
        return int(self.start[-1])

    def array(self, name: str) -> NDArray[Any]:
        """A section by its name in docs/format.md."""
        return self._container.array(name)

    def field(self, name: str) -> Postings:
        """The inverted index of one of FIELDS."""
        return Postings.read(self._container, name)

    def find(self, keys: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The blob number of each key, -1 where the pack does not hold it."""
        if not len(self.key):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, at, -1)

    def reason(self, blob: int) -> str:
        """Why the blob has no chunks; empty when it was indexed."""
        return self.reasons[int(self.array("reason")[blob])]

    def language(self, blob: int) -> str:
        """The language that was found."""
        return self.languages[int(self.array("language")[blob])]

    def chunk(self, row: int) -> Chunk:
        """The chunk of a row."""
        first, last = self.array("lines")[row].tolist()
        low, high = self.array("symbol_start")[row : row + 2].tolist()
        symbol = str(self.array("symbol_text")[low:high].data, "utf-8", "replace")
        return Chunk(first, last, self.kinds[int(self.array("kind")[row])], symbol)

    def chunks(self, rows: NDArray[np.int64]) -> list[Chunk]:
        """The chunks of rows."""
        lines = self.array("lines")[rows].tolist()
        return [
            Chunk(first, last, kind, symbol)
            for (first, last), (kind, symbol) in zip(lines, self.named(rows), strict=True)
        ]

    def named(self, rows: NDArray[np.int64]) -> list[tuple[str, str]]:
        """The kind and the symbol of rows."""
        start, text = self.array("symbol_start"), self.array("symbol_text").data
        found = zip(self.array("kind")[rows].tolist(), start[rows].tolist(), start[rows + 1].tolist(), strict=True)
        return [(self.kinds[kind], str(text[low:high], "utf-8", "replace")) for kind, low, high in found]

    def verify(self) -> None:
        """Read all of it; raises `Damaged` when a section is not what was written."""
        self._container.verified()


def merge(folder: Path, packs: Sequence[Pack], keep: Sequence[NDArray[np.bool_]]) -> str:
    """Write one pack of the kept blobs of several and return its name. Together they have at most MOST_ROWS rows.

    Raises `Damaged` for a pack that is not what was written: a copy would get a checksum that hides it.
    """
    for pack in packs:
        pack.verify()
    source = np.concatenate([np.full(int(k.sum()), p) for p, k in enumerate(keep)])
    blob = np.concatenate([np.flatnonzero(k) for k in keep])
    key = np.concatenate([pack.key[k] for pack, k in zip(packs, keep, strict=True)])
    key, once = np.unique(key, return_index=True)
    source, blob = source[once], blob[once]
    sizes = np.zeros(len(key), np.int64)
    for p, pack in enumerate(packs):
        sizes[source == p] = np.diff(pack.start.astype(np.int64))[blob[source == p]]
    start = np.concatenate([[0], np.cumsum(sizes)])
    new_rows = [_new_rows(pack, blob[source == p], start[:-1][source == p]) for p, pack in enumerate(packs)]
    total = int(start[-1])
    languages = sorted({language for pack in packs for language in pack.languages})
    reasons = ["", *sorted({reason for pack in packs for reason in pack.reasons} - {""})]
    sections: dict[str, NDArray[Any]] = {"key": key, "start": start.astype(np.uint32)}
    for name, table in (("language", languages), ("reason", reasons)):
        sections[name] = np.zeros(len(key), np.uint8)
        for p, pack in enumerate(packs):
            own = pack.languages if name == "language" else pack.reasons
            renumbered = np.array([table.index(value) for value in own], np.uint8)
            sections[name][source == p] = renumbered[pack.array(name)[blob[source == p]]]
    for name in ("lines", "kind", "vector", "scale"):
        sections[name] = _gather(packs, new_rows, name, total)
    sections |= _gather_symbols(packs, new_rows, total)
    for field in FIELDS:
        parts = [(pack.field(field), rows) for pack, rows in zip(packs, new_rows, strict=True)]
        sections |= postings.join(parts, total, np.uint16).sections(field)
    return _write(folder, sections, {"languages": languages, "reasons": reasons, "kinds": list(KINDS)})


def _new_rows(pack: Pack, blobs: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row of a pack its row after the merge, -1 for those of blobs that are not taken."""
    result = np.full(pack.rows, -1, np.int64)
    for blob, start in zip(blobs, starts, strict=True):
        first, last = int(pack.start[blob]), int(pack.start[blob + 1])
        result[first:last] = np.arange(start, start + last - first)
    return result


def _gather(packs: Sequence[Pack], new_rows: Sequence[NDArray[np.int64]], name: str, total: int) -> NDArray[Any]:
    shape = packs[0].array(name).shape[1:]
    result = np.zeros((total, *shape), packs[0].array(name).dtype)
    for pack, rows in zip(packs, new_rows, strict=True):
        result[rows[rows >= 0]] = pack.array(name)[rows >= 0]
    return result


def _gather_symbols(
    packs: Sequence[Pack], new_rows: Sequence[NDArray[np.int64]], total: int
) -> dict[str, NDArray[Any]]:
    texts = [b""] * total
    for pack, rows in zip(packs, new_rows, strict=True):
        start, text = pack.array("symbol_start"), pack.array("symbol_text").tobytes()
        for row in np.flatnonzero(rows >= 0):
            texts[rows[row]] = text[start[row] : start[row + 1]]
    return {
        "symbol_start": np.cumsum([0] + [len(text) for text in texts]).astype(np.uint32),
        "symbol_text": np.frombuffer(b"".join(texts), np.uint8),
    }
