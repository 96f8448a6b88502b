"""The one tokenizer: lexical terms, model words, questions and training all come from here.

An identifier (`HTTPServer_v2`) falls apart at case, underscore and digit borders into *words* (`http`, `server`,
`v`, `2`). One of several words is also kept joined as a *compound* (`httpserverv2`), so that `http_server_v2`,
`HttpServerV2` and `httpserverv2` all meet. Words feed both search and the embedded model, compounds search alone.

Change anything here and `VERSION` must rise: the weights and every stored term depend on it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

VERSION = 1

# A run this long is a key, a hash or base64, not a name that anybody asks for.
LONGEST_IDENTIFIER = 80

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Scripts written without spaces between words (kana, Han, Hangul).
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"


def split(identifier: str) -> list[str]:
    """The lower-case words of one identifier, in order."""
    if identifier.isascii():
        return [part.lower() for part in _PART.findall(identifier)]
    return list(_split_wide(identifier))


@cache
def _wide() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compiled when the first such identifier comes: most repositories have none, and it takes 5 ms."""
    return re.compile(rf"[{_UNSPACED}]+|[^\W\d_{_UNSPACED}]+|\d+"), re.compile(f"[{_UNSPACED}]")


def _split_wide(identifier: str) -> Iterator[str]:
    part_of, unspaced = _wide()
    for part in part_of.findall(identifier):
        if part.isascii():
            yield from split(part)
        elif unspaced.match(part) and len(part) > 1:
            # Overlapping pairs, as is usual for text without spaces: no dictionary, and any two-letter word is found.
            yield from (part[i : i + 2] for i in range(len(part) - 1))
        else:
            yield part.casefold()


def identifiers(text: str) -> list[str]:
    """Every name in text: a run of letters, digits and underscores that starts with no digit; in order."""
    return [found for found in _IDENTIFIER.findall(text) if len(found) <= LONGEST_IDENTIFIER]


def words(text: str) -> list[str]:
    """The words of all identifiers in text, in order."""
    return [word for identifier in identifiers(text) for word in split(identifier)]


def terms(text: str) -> list[str]:
    """The words of text and the compounds of its identifiers: what a lexical search looks up."""
    found: list[str] = []
    for identifier in identifiers(text):
        parts = split(identifier)
        found += [*parts, "".join(parts)] if len(parts) > 1 else parts
    return found


def path_term(path: bytes) -> str:
    """The term that stands for a path as a whole, which is no word."""
    return "/" + path.decode("utf-8", "surrogateescape")


def term_key(term: str) -> int:
    """The 64-bit number under which the store keeps a term; it stores no text."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


# What is asked is looked up more than once; all terms of an index would only drive that out.
_key_of_asked = lru_cache(1 << 14)(term_key)


def asked_keys(terms: Iterable[str]) -> NDArray[np.uint64]:
    """The keys of terms of a question, in their order."""
    return np.array(list(map(_key_of_asked, terms)), np.uint64)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each term occurs in each text: three arrays of one length, ordered by text, each pair once.

    text: int32, index of the text; term: int32, number in the vocabulary; count: int32, at least 1.
    """

    text: NDArray[np.int32]
    term: NDArray[np.int32]
    count: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as bags of terms. `words` are what the embedded model reads; a search reads both."""

    vocabulary: Vocabulary
    size: int
    words: Counts
    compounds: Counts


class Vocabulary:
    """Numbers for the terms met so far, with a memo from identifier to its terms.

    Counting works on identifiers (C speed) and expands them to words in numpy: about 10 MB of source a second.
    """

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._number: dict[str, int] = {}
        self._memo = _Memo(self)
        self._keys = np.empty(0, np.uint64)

    def __len__(self) -> int:
        return len(self.terms)

    def number(self, term: str) -> int:
        """The number of term, a new one if it was not met before."""
        found = self._number.get(term)
        if found is None:
            found = self._number[term] = len(self.terms)
            self.terms.append(term)
        return found

    @property
    def keys(self) -> NDArray[np.uint64]:
        """`term_key` of each term, by number."""
        if len(self._keys) < len(self.terms):
            fresh = [term_key(term) for term in self.terms[len(self._keys) :]]
            self._keys = np.concatenate([self._keys, np.array(fresh, np.uint64)])
        return self._keys

    def count(self, texts: Sequence[str]) -> Bags:
        """The bags of texts, one a text."""
        numbers: list[int] = []
        counts: list[int] = []
        sizes: list[int] = []
        for text in texts:
            found = Counter(_IDENTIFIER.findall(text))
            numbers.extend(map(self._memo.__getitem__, found))
            counts.extend(found.values())
            sizes.append(len(found))
        text_of = np.repeat(np.arange(len(texts), dtype=np.int64), sizes)
        number = np.array(numbers, np.int64)
        count = np.array(counts, np.int64)
        return Bags(
            self,
            len(texts),
            self._expand(self._memo.words, text_of, number, count),
            self._expand(self._memo.compounds, text_of, number, count),
        )

    def _expand(
        self, lists: _Lists, text_of: NDArray[np.int64], number: NDArray[np.int64], count: NDArray[np.int64]
    ) -> Counts:
        """Counts by identifier -> counts by term; two identifiers of one text that share a term are summed."""
        starts, flat = lists.arrays()
        lengths = starts[number + 1] - starts[number]
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        within = np.arange(total) - np.repeat(ends - lengths, lengths)
        term = flat[np.repeat(starts[number], lengths) + within]
        pair = np.repeat(text_of, lengths) * max(len(self.terms), 1) + term
        order = np.argsort(pair, kind="stable")
        pair = pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        summed = np.add.reduceat(np.repeat(count, lengths)[order], first) if total else np.empty(0, np.int64)
        text, term = np.divmod(pair[first], max(len(self.terms), 1))
        return Counts(text.astype(np.int32), term.astype(np.int32), summed.astype(np.int32))


class _Lists:
    """A growing list of lists of numbers, flat."""

    def __init__(self) -> None:
        self._flat = array("q")
        self._ends = array("q", [0])

    def append(self, numbers: Iterable[int]) -> None:
        self._flat.extend(numbers)
        self._ends.append(len(self._flat))

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.array(self._ends, np.int64), np.array(self._flat, np.int64)


class _Memo(dict[str, int]):
    """Identifier -> its number; asking for an unknown one splits it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self.words = _Lists()
        self.compounds = _Lists()

    def __missing__(self, identifier: str) -> int:
        parts = split(identifier) if len(identifier) <= LONGEST_IDENTIFIER else []
        self.words.append(map(self._vocabulary.number, parts))
        self.compounds.append([self._vocabulary.number("".join(parts))] if len(parts) > 1 else [])
        self[identifier] = len(self)
        return self[identifier]
