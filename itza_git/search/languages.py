"""Questions in other languages than English: which one it is, and what its words are in English.

Code is written in English, many questions are not. `tables/` has one table a language, learned by
`training/translations.py` from the translation catalogs of permissively licensed packages, and the stop words of each.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from itza_git.search.forms import stem

ENGLISH = "en"
TABLES = Path(__file__).with_name("tables")

_ACCENTS = re.compile("[\u0300-\u036f]")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_PARTICLE = re.compile("[的了是吗呢].|.[的了是吗呢]|[\u3041-\u3096].")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
# Letters and signs that English has not, and the languages that have them.
_MARKS = {
    "es": re.compile("[¿¡ñáéíóú]", re.IGNORECASE),
    "pt": re.compile("[ãõçáéíóúâêô]", re.IGNORECASE),
    "fr": re.compile("[éèêàâçùûîïôœ]", re.IGNORECASE),
    "de": re.compile("[äöüß]", re.IGNORECASE),
    "it": re.compile("[àèéìòù]", re.IGNORECASE),
}
# Stop words of other languages that are words of English, or of code, tell nothing.
_AMBIGUOUS = """
a as come dar den der des die do en es fate hat la le los man me no on or pour son sur un
"""

# So many stop words are no accident.
MANY = 2

# A form that the table lacks has the meaning of those that share its beginning: `generan` that of `generar`.
SHORTEST_BEGINNING = 4
LONGEST_ENDING = 4
MOST_MEANINGS = 2
# Languages that write two words as one, and what they put between.
COMPOUNDING = ("de",)
_LINKS = ("", "s", "n", "es", "en")


def fold(word: str) -> str:
    """A word without its accents: many write `configuracion`. Japanese voicing marks stay."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    known = json.loads((TABLES / "stop_words.json").read_text("utf-8"))
    return {language: frozenset(words.split()) for language, words in known.items()}


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language, with and without accents, that say how is asked and not what about."""
    words = _stop_words().get(language, frozenset())
    return words | frozenset(map(fold, words))


def is_grammar(word: str) -> bool:
    """Whether it says nothing: hiragana alone, in which Japanese writes endings, or a pair with a Chinese particle."""
    return bool(_HIRAGANA.fullmatch(word) or _PARTICLE.fullmatch(word))


def is_unspaced(word: str) -> bool:
    """Whether it is of a script without spaces between words, of which the tokenizer makes pairs of letters."""
    return bool(_UNSPACED.fullmatch(word))


def detect(text: str, words: Iterable[str]) -> str:
    """The language of a question: English whenever it is not clearly another.

    text: the question; words: those of it that are not of names, lower-case.
    """
    found = {fold(word) for word in words}
    english = len(found & stop_words(ENGLISH) - _ambiguous())
    script = _by_script(text)
    if script:
        return script if english < MANY else ENGLISH
    scores = {language: _score(language, found, bool(mark.search(text))) for language, mark in _MARKS.items()}
    if not any(scores.values()):
        return ENGLISH
    best = _best(scores, found)
    if scores[best] >= max(MANY, english + 1) or (not english and _speaks(best, found)):
        return best
    return ENGLISH


def _score(language: str, found: set[str], is_marked: bool) -> float:
    """How much speaks for a language: its stop words, ambiguous ones half, and its letters once."""
    told = found & stop_words(language)
    clear = len(told - _ambiguous() - stop_words(ENGLISH))
    unclear = len(told & _ambiguous()) / 2
    return clear + unclear + is_marked if clear else unclear


@cache
def _ambiguous() -> frozenset[str]:
    return frozenset(_AMBIGUOUS.split())


def _best(scores: Mapping[str, float], found: set[str]) -> str:
    """The language with the highest score; of several near it the one whose table knows most of the words."""
    near = [language for language, score in scores.items() if score and score > max(scores.values()) - 1]
    if len(near) == 1:
        return near[0]
    return max(near, key=lambda one: scores[one] + sum(map(table(one).translates, found - stop_words(one))))


def _speaks(language: str, found: set[str]) -> bool:
    """Whether one stop word is enough, because all others are in the table: `lectura del archivo`."""
    others = found - stop_words(language)
    return len(others) > 1 and all(map(table(language).translates, others))


def _by_script(text: str) -> str | None:
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "zh"
    return "ru" if _CYRILLIC.search(text) else None


class Table:
    """What the words of a language are in English, best first, with spaces between; the words in order."""

    def __init__(self, known: Mapping[str, str], compounds: bool = False) -> None:
        self._known = known
        self._compounds = compounds
        self._words = list(known)

    def __len__(self) -> int:
        return len(self._words)

    def translates(self, word: str) -> bool:
        """Whether a word, without accents, is another one in English."""
        return self._known.get(word, word) != word

    def meanings(self, word: str, only_exact: bool = False) -> list[str]:
        """The English words for a word, in any of its forms unless only_exact; none when it is unknown."""
        word = fold(word)
        found = self._known.get(word)
        if found:
            return found.split(" ")
        if only_exact:
            return []
        return (self._of_parts(word) if self._compounds else []) or self._of_family(word)

    def _of_parts(self, word: str) -> list[str]:
        """The meanings of the two known words that a compound consists of: `hashtabelle`; the longest first."""
        for at in range(len(word) - SHORTEST_BEGINNING, SHORTEST_BEGINNING - 1, -1):
            tail = self._known.get(word[at:])
            beginnings = [word[:at].removesuffix(link) for link in _LINKS if word[:at].endswith(link)]
            head = next((self._known[one] for one in beginnings if one in self._known), None)
            if head and tail:
                return list(dict.fromkeys([head.split(" ")[0], tail.split(" ")[0]]))
        return []

    def _of_family(self, word: str) -> list[str]:
        """The meanings that most words with the same beginning have; the longest beginning that any has is taken."""
        for cut in range(1, LONGEST_ENDING + 1):
            beginning = word[: len(word) - cut]
            if len(beginning) < SHORTEST_BEGINNING:
                break
            votes: Counter[str] = Counter()
            for at in range(bisect_left(self._words, beginning), len(self._words)):
                relative = self._words[at]
                if not relative.startswith(beginning):
                    break
                if len(relative) <= len(beginning) + LONGEST_ENDING:
                    votes.update({one: 1 / rank for rank, one in enumerate(self._known[relative].split(" "), 1)})
            if votes:
                return [meaning for meaning, _ in votes.most_common(MOST_MEANINGS)]
        return []


@cache
def table(language: str) -> Table:
    """The table of a language, read when the first question in it comes; empty for a language without one."""
    return Table(_entries(language), language in COMPOUNDING)


def _entries(language: str) -> dict[str, str]:
    path = TABLES / f"{language}.tsv"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return dict(line.split("\t") for line in lines if not line.startswith("# "))


def synonyms(word: str) -> list[str]:
    """Other English words for an English one in any of its forms, the likeliest first."""
    return _synonyms().get(stem(word), [])


@cache
def _synonyms() -> dict[str, list[str]]:
    return {stem(word): others.split(" ") for word, others in _entries(ENGLISH).items()}
