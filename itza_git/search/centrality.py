"""Which files of a tree the others rest on.

A file rests on another when it imports it, or when it holds names that the other defines and hardly any other does, to
the letter: the tags of ctags, without their tool. What is defined where comes from the index; the holding files are
read, about 0.2 ms each.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.search.definitions import Definition
from itza_git.search.imports import Imports

# A name that more files define is nobody's.
MOST_DEFINING = 3
# Of more files every second, third, ... is read and speaks for the others.
MOST_READ = 4000
# What an import counts against a rare and distinctive name.
IMPORT = 1.0
# `parse` is a name and a word; `parse_header`, `HTTPServer` and `Parser` are names.
WORD = 0.2
# Names of less weight together are chance, unless one of them is compound and of one file.
LEAST = 0.5
SHORTEST_NAME = 3
MOST_NAMES = 8

_COMPOUND = re.compile(rb"[a-z0-9][A-Z]|\w_\w")
_DISTINCTIVE = re.compile(rb"[a-z0-9][A-Z]|\w_\w|^[A-Z]\w{3}")
DEFINING = ("function", "method", "type")
"""The kinds of chunks that define what they are called."""
# Languages that name each other's things.
_FAMILY = {"cpp": "c", "objc": "c", "typescript": "javascript", "tsx": "javascript", "jsx": "javascript"} | {
    name: "jvm" for name in ("java", "kotlin", "scala", "groovy")
}
# Every byte that is no part of a name, as a space.
_SPACED = bytes(
    b if b >= 128 or b == ord("_") or (chr(b).isascii() and chr(b).isalnum()) else ord(" ") for b in range(256)
)


@dataclass(frozen=True, slots=True)
class Central:
    """(entries,): score, how much rests on each; users, how many files do; used, how many files it rests on.

    names: what of an entry the others use most.
    """

    score: NDArray[np.float64]
    users: NDArray[np.int64]
    used: NDArray[np.int64]
    names: dict[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name: where it is defined, each with what qualifies it there (`Store` of `Store.open`; b"" without)."""

    at: tuple[tuple[int, bytes], ...]
    weight: float

    def owners(self, held: set[bytes]) -> set[int]:
        """Who defines it, as far as a text that holds these words can mean it."""
        return {entry for entry, within in self.at if not within or within in held}


class _Use(NamedTuple):
    """What an entry has from others: the names that it could mean, who owns those that it holds, what it imports."""

    entry: int
    known: dict[bytes, _Name]
    owners: dict[bytes, set[int]]
    imported: set[int]


def central(
    corpus: Corpus,
    languages: Mapping[int, str],
    defined: Mapping[int, Sequence[Definition]],
    read: Callable[[bytes], bytes],
) -> Central:
    """How much entries rest on each other.

    languages: those entries, each with its language; defined: what entries define; read gives the bytes of a blob.
    """
    entries = list(languages)
    family = {entry: _FAMILY.get(language, language) for entry, language in languages.items()}
    names = _names(defined, family)
    imports = Imports([corpus.view.paths[entry] for entry in entries])
    uses = []
    step = 1 + len(entries) // MOST_READ
    for number in range(0, len(entries), step):
        entry = entries[number]
        text = read(corpus.view.id[entry].tobytes())
        known = names.get(family[entry], {})
        held = set(text.translate(_SPACED).split())
        owned = {name: known[name].owners(held) for name in known.keys() & held}
        # What it defines itself it does not have from another.
        used = {name: owners for name, owners in owned.items() if owners and entry not in owners}
        uses.append(_Use(entry, known, used, {entries[one] for one in imports.of(number, text)}))
    return _weighed(len(corpus.view), uses, step)


def _weighed(size: int, uses: Sequence[_Use], step: int) -> Central:
    """step: each of the uses speaks for so many."""
    # Languages that do not know each other's names may have one in common.
    holding = Counter((id(use.known), name) for use in uses for name in use.owners)
    score, users, used = np.zeros(size), np.zeros(size, np.int64), np.zeros(size, np.int64)
    most: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for use in uses:
        weights: dict[int, float] = defaultdict(float)
        certain = set(use.imported)
        for name, owners in use.owners.items():
            weight = use.known[name].weight
            rarity = math.log(1 + len(uses) / holding[id(use.known), name]) / math.log(1 + len(uses))
            for owner in owners:
                weights[owner] += weight / len(owners) * rarity
                most[owner][name.decode("utf-8", "replace")] += weight
            # Nobody holds a compound name by chance, however many do.
            certain |= owners if len(owners) == 1 and _COMPOUND.search(name) else set()
        for owner in weights.keys() | use.imported:
            # The tenth name of a file tells less than the first.
            weight = math.sqrt(weights.get(owner, 0.0)) + IMPORT * (owner in use.imported)
            if weight >= LEAST or owner in certain:
                score[owner] += weight
                users[owner] += step
                used[use.entry] += 1
    return Central(score, users, used, {owner: _best(names) for owner, names in most.items()})


def _best(names: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (-names[name], name))[:MOST_NAMES])


def _names(defined: Mapping[int, Sequence[Definition]], family: Mapping[int, str]) -> dict[str, dict[bytes, _Name]]:
    """What the entries define, by family of languages and name."""
    found: dict[tuple[str, bytes], set[tuple[int, bytes]]] = defaultdict(set)
    for entry in family:
        for one in defined.get(entry, ()):
            if one.kind in DEFINING and len(one.name) >= SHORTEST_NAME:
                found[family[entry], one.name.encode()].add((entry, one.within.encode()))
    names: dict[str, dict[bytes, _Name]] = defaultdict(dict)
    for (language, name), at in found.items():
        if len({entry for entry, _ in at}) <= MOST_DEFINING:
            names[language][name] = _Name(tuple(at), 1.0 if _DISTINCTIVE.search(name) else WORD)
    return names
