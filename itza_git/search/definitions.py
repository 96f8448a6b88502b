"""What each file of a tree defines, all at once: chunk by chunk it takes ten times as long."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from itza_git.search.corpus import Corpus

# Where a file may add to types that it does not declare (`impl From<A> for String`, `extension String`), what declares.
_DECLARING = {
    "rust": re.compile(rb"\b(?:fn|struct|enum|union|trait|type|mod|const|static|macro_rules!)\s+(?:mut\s+|r#)?(\w+)"),
    "swift": re.compile(rb"\b(?:func|class|struct|enum|actor|protocol|typealias|macro|let|var)\s+`?(\w+)"),
}


class Definition(NamedTuple):
    """A name that a file defines, as qualified as its chunk has it (`Store.open`), and the kind of that chunk."""

    kind: str
    symbol: str

    @property
    def name(self) -> str:
        """The name without what qualifies it."""
        return _parted(self.symbol)[1]

    @property
    def within(self) -> str:
        """What qualifies the name, by its own last part: `Store` of `a.Store.open`; empty for a name by itself."""
        return _parted(_parted(self.symbol)[0])[1]


def definitions(corpus: Corpus) -> dict[int, list[Definition]]:
    """The definitions of each entry that has any, from its first line to its last."""
    of_row: dict[int, list[Definition]] = {}
    for offset, pack in zip(corpus.row_offset.tolist(), corpus.packs, strict=False):
        start, text = pack.array("symbol_start").astype(np.int64), pack.array("symbol_text").tobytes()
        is_here = corpus.copies[offset : offset + pack.rows] > 0
        rows = np.flatnonzero(is_here & (start[1:] > start[:-1]))
        kinds = pack.array("kind")[rows].tolist()
        for row, first, end, kind in zip(
            rows.tolist(), start[rows].tolist(), start[rows + 1].tolist(), kinds, strict=True
        ):
            names = text[first:end].decode("utf-8", "replace").split(", ")
            of_row[offset + row] = [Definition(pack.kinds[kind], name) for name in names]
    found: dict[int, list[Definition]] = defaultdict(list)
    for entry, row in zip(corpus.entry.tolist(), corpus.row.tolist(), strict=True):
        if row in of_row:
            found[entry] += of_row[row]
    return found


def declared(
    defined: Mapping[int, list[Definition]], language: Mapping[int, str], read: Callable[[int], bytes]
) -> dict[int, list[Definition]]:
    """The definitions without the names that a file adds to and does not declare. read gives an entry's bytes."""
    found = dict(defined)
    for entry, name in language.items():
        if name in _DECLARING and entry in defined:
            own = {one.decode("utf-8", "replace") for one in _DECLARING[name].findall(read(entry))}
            found[entry] = [one for one in defined[entry] if one.name in own]
    return found


def _parted(symbol: str) -> tuple[str, str]:
    """What stands before the last name of a qualified one, and that name."""
    before, border, name = symbol.replace("::", ".").rpartition(".")
    return (before, name) if border else ("", symbol)
