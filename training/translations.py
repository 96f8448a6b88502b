"""Word tables out of translation catalogs: what a word of another language is in English.

    python -m training.fetch_corpus CATALOGS --list training/translations.tsv
    python -m training.translations CATALOGS [--held-apart]

IBM model 1 (Brown et al. 1993), six rounds, over the messages of all catalogs: for each word of a language the English
words that it is aligned with. Written to `itza_git/search/tables/`, one file a language. `--held-apart` writes nothing:
it learns from nine tenths of the packages and says how well that translates the messages of the others.
"""

from __future__ import annotations

import argparse
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itza_git.search import languages
from itza_git.search.forms import stem
from itza_git.words import words
from training.catalogs import LANGUAGES, Pair, pairs
from training.fetch_corpus import Package, archives, listed

SOURCES = Path(__file__).with_name("translations.tsv")
ROUNDS = 6
# A longer message aligns badly, and costs the product of its lengths.
LONGEST = 40
# How sure a translation must be, and how often, in alignments, the word must have been seen with it.
SUREST = 0.15
FEWEST = 0.6
MOST_MEANINGS = 2
LARGEST = 290_000

Table = dict[str, list[str]]
Messages = Sequence[tuple[list[str], list[str]]]


@dataclass(frozen=True, slots=True)
class Aligned:
    """One possible translation: a word, an English word, its probability given the word, its expected count."""

    word: str
    english: str
    probability: float
    count: float


def messages(found: Iterable[Pair]) -> Messages:
    """The messages as words on both sides, each once."""
    unique = dict.fromkeys(
        (tuple(map(languages.fold, words(pair.foreign))), tuple(words(pair.english))) for pair in found
    )
    return [(list(f), list(e)) for f, e in unique if f and e and f != e and max(len(f), len(e)) <= LONGEST]


def align(found: Messages) -> list[Aligned]:
    """IBM model 1: every English word of a message comes from one of its foreign words, or from none (`""`)."""
    foreign, english = _Numbers([""]), _Numbers()
    sizes, first, second = [], [], []
    for f, e in found:
        rows = [0, *map(foreign.number, f)]
        for word in map(english.number, e):
            first += rows
            second += [word] * len(rows)
            sizes.append(len(rows))
    slot = np.repeat(np.arange(len(sizes)), sizes)
    pair, of = np.unique(np.array(first, np.int64) * len(english.names) + np.array(second), return_inverse=True)
    f_of = pair // len(english.names)
    probability: NDArray[np.float64] = np.ones(len(pair))
    count = probability
    for _ in range(ROUNDS):
        share = probability[of]
        share = share / np.bincount(slot, weights=share)[slot]
        count = np.bincount(of, weights=share).astype(np.float64)
        probability = count / np.bincount(f_of, weights=count)[f_of]
    likely = np.flatnonzero((probability > SUREST / 8) & (count > FEWEST / 4))
    e_of = pair % len(english.names)
    return [
        Aligned(foreign.names[f_of[at]], english.names[e_of[at]], float(probability[at]), float(count[at]))
        for at in likely.tolist()
    ]


class _Numbers:
    """A number for each name met."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._known = {name: number for number, name in enumerate(self.names)}

    def number(self, name: str) -> int:
        found = self._known.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found


def table(language: str, found: Iterable[Aligned], surest: float = SUREST, fewest: float = FEWEST) -> Table:
    """The best English words of each word, those of the most frequent first, as far as the file's size allows."""
    dropped = languages.stop_words(language)
    english = languages.stop_words("en")
    best: defaultdict[str, list[Aligned]] = defaultdict(list)
    for one in found:
        if one.word in dropped or one.word.isdigit() or one.english in english or len(one.english) < 2:
            continue
        if one.count > fewest and not one.english.isdigit() and one.english.isascii():
            best[one.word].append(one)
    chosen: Table = {}
    size = 0
    for word, ones in sorted(best.items(), key=lambda item: -sum(one.count for one in item[1])):
        same = any(one.english == word and one.probability > surest for one in ones)
        meanings = [word] if same else distinct(ones, surest)
        if word and meanings and not languages.is_grammar(word):
            size += len(f"{word}\t{' '.join(meanings)}\n".encode())
            if size > LARGEST:
                break
            chosen[word] = meanings
    return chosen


def distinct(ones: Iterable[Aligned], surest: float) -> list[str]:
    """The likeliest meanings: forms of one word (`file`, `files`) are one meaning, that of its likeliest form."""
    forms: defaultdict[str, list[Aligned]] = defaultdict(list)
    for one in sorted(ones, key=lambda one: -one.probability):
        forms[stem(one.english)].append(one)
    likely = {same[0].english: sum(one.probability for one in same) for same in forms.values()}
    sure = [english for english, probability in likely.items() if probability > surest]
    return sorted(sure, key=lambda english: -likely[english])[:MOST_MEANINGS]


def written(language: str, chosen: Table, sources: Sequence[Package], number: int) -> str:
    """The file: a head of `#` lines, then a word a line, a tab, and its English words."""
    licences = ", ".join(sorted({source.licence for source in sources}))
    made_of = " ".join(f"{source.name}={source.version}" for source in sources)
    head = [
        f"# {language} {len(chosen)} words, from {number} messages of {len(sources)} packages' translation catalogs",
        f"# licences of those: {licences}; single words alone are kept. Made by training/translations.py",
        f"# {made_of}",
    ]
    return "\n".join([*head, *(f"{word}\t{' '.join(chosen[word])}" for word in sorted(chosen))]) + "\n"


def read(corpus: Path) -> dict[str, dict[Package, list[Pair]]]:
    """The messages that the listed packages hold, by language and package."""
    found: dict[str, dict[Package, list[Pair]]] = {language: {} for language in LANGUAGES}
    for package in listed(SOURCES):
        every = dict.fromkeys(pair for one in archives(package.folder(corpus)) for pair in pairs(one))
        for pair in every:
            found[pair.language].setdefault(package, []).append(pair)
    return found


def learn(language: str, by_package: dict[Package, list[Pair]]) -> str:
    """The table of one language as its file."""
    every = messages(pair for ones in by_package.values() for pair in ones)
    return written(language, table(language, align(every)), list(by_package), len(every))


def held_apart(language: str, by_package: dict[Package, list[Pair]]) -> str:
    """How much of the English of unseen packages' messages a table learned from the others gives."""
    apart = {package: zlib.crc32(package.name.encode()) % 10 == 0 for package in by_package}
    chosen = table(language, align(messages(p for k, ones in by_package.items() if not apart[k] for p in ones)))
    known = languages.Table(
        {word: " ".join(chosen[word]) for word in sorted(chosen)}, language in languages.COMPOUNDING
    )
    counts: Counter[str] = Counter()
    for foreign, english in messages(p for k, ones in by_package.items() if apart[k] for p in ones):
        wanted = {stem(word) for word in english if word not in languages.stop_words("en")}
        content = [word for word in foreign if word not in languages.stop_words(language) and not word.isdigit()]
        meanings = [known.meanings(word) for word in content]
        given = {stem(meaning) for one in meanings for meaning in one}
        counts += Counter(words=len(content), translated=sum(map(bool, meanings)))
        counts += Counter(given=len(given), right=len(given & wanted), wanted=len(wanted))
    parts = [f"{name} {counts[a] / max(counts[b], 1):.3f}" for name, a, b in _MEASURES]
    return f"{language}: {len(chosen)} words, {counts['words']} held apart; {', '.join(parts)}"


_MEASURES = (("known", "translated", "words"), ("precision", "right", "given"), ("recall", "right", "wanted"))


def main() -> None:
    """Learns and writes all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalogs", type=Path)
    parser.add_argument("--held-apart", action="store_true")
    arguments = parser.parse_args()
    for language, by_package in read(arguments.catalogs).items():
        if arguments.held_apart:
            print(held_apart(language, by_package))
            continue
        path = languages.TABLES / f"{language}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(learn(language, by_package), "utf-8")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
