"""Batches to learn from: what may be asked, and what should be found, drawn anew at every step.

A search is asked with a few key words as often as with a sentence, and what it finds has a path. So of each pair

- the question is the comment, often with some of its words left out, sometimes only the declared name;
- the code is without its own name, always when the name is the question and sometimes otherwise;
- the words of the path stand beside the code half of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from training.pairs import Pair
from training.texts import Texts, Words

BATCH = 1_536
# Pairs of one package that are neighbours in a batch: the hard part is to tell a package's own functions apart.
GROUP = 128
# How often the code is without its name, the question is the name, and the path is there.
NAMELESS = 0.35
BY_NAME = 0.15
WITH_PATH = 0.5
# How often a question keeps only some of its words, and how many it loses then; how many others lose, a part of them.
KEY_WORDS, OF_KEY_WORDS = 0.35, 0.6
SHORTENED, OF_SHORTENED = 0.4, 0.15
OF_NAMES = 0.3
OF_CODE = 0.075
# Folders of a path that say something about a file, and its name.
PATH_PARTS = 4

_INSTALLED = re.compile(r"^(?:\./)?(?:usr/(?:share|lib|src)/)?")


def path_words(path: str) -> str:
    """What a path inside a package says: its last folders and the file's name without its extension."""
    parts = [part for part in _INSTALLED.sub("", path).split("/") if part]
    if parts:
        parts[-1] = parts[-1].rpartition(".")[0] or parts[-1]
    return " ".join(parts[-PATH_PARTS:])


class Examples:
    """Pairs as rows of a model."""

    def __init__(self, pairs: Sequence[Pair], row: Mapping[str, int], chance: np.random.Generator) -> None:
        self._chance = chance
        self._documented = np.array([bool(pair.doc) for pair in pairs])
        self._docs = Texts.read([pair.doc or pair.name for pair in pairs], row)
        self._names = Texts.read([pair.name for pair in pairs], row)
        self._codes = Texts.read([pair.code for pair in pairs], row)
        # Without a comment the code is mined without its name.
        self._nameless = Texts.read([pair.nameless_code if pair.doc else "" for pair in pairs], row)
        self._paths = Texts.read([path_words(pair.path) for pair in pairs], row)
        _, self._package = np.unique([pair.package for pair in pairs], return_inverse=True)

    def batches(self) -> Iterator[NDArray[np.int64]]:
        """The numbers of all pairs, in batches that consist of groups of one package each."""
        order = self._chance.permutation(len(self._package))
        order = order[np.argsort(self._package[order], kind="stable")]
        borders = np.flatnonzero(np.diff(self._package[order])) + 1
        groups = [part[at : at + GROUP] for part in np.split(order, borders) for at in range(0, len(part), GROUP)]
        mixed = np.concatenate([groups[number] for number in self._chance.permutation(len(groups))])
        yield from (mixed[at : at + BATCH] for at in range(0, len(mixed) - BATCH // 2, BATCH))

    def draw(self, chosen: NDArray[np.int64]) -> tuple[Words, Words]:
        """A question and a code of each chosen pair."""
        documented = self._documented[chosen]
        named = documented & self._often(chosen, BY_NAME) & (self._names.lengths[chosen] > 1)
        asked = Words.together([self._docs.words(chosen, ~named), self._names.words(chosen, named)])
        nameless = documented & (named | self._often(chosen, NAMELESS))
        found = Words.together(
            [
                self._codes.words(chosen, ~nameless),
                self._nameless.words(chosen, nameless),
                self._paths.words(chosen, self._often(chosen, WITH_PATH)),
            ]
        )
        kept = self._chance.random(len(found.row)) >= OF_CODE
        return self._shortened(asked, len(chosen), ~documented | named), found.where(kept)

    def _often(self, chosen: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
        return self._chance.random(len(chosen)) < share

    def _shortened(self, asked: Words, size: int, by_name: NDArray[np.bool_]) -> Words:
        """The questions without some of their words; one that would lose all keeps all."""
        kind = self._chance.random(size)
        lost = np.select([kind < KEY_WORDS, kind < KEY_WORDS + SHORTENED], [OF_KEY_WORDS, OF_SHORTENED], 0.0)
        lost[by_name] *= OF_NAMES
        kept = self._chance.random(len(asked.row)) >= lost[asked.text]
        kept |= np.bincount(asked.text[kept], minlength=size)[asked.text] == 0
        return asked.where(kept)
