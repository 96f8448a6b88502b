"""English words for one another out of translation catalogs: what is translated alike means about the same.

    python -m training.fetch_corpus CATALOGS --list training/translations.tsv
    python -m training.synonyms CATALOGS

Who asks says `answer`, `job` and `choose`, and the code `response`, `task` and `select`. Method: pivoting (Bannard and
Callison-Burch 2005) over the alignments that make the word tables: P(b|a) is the sum over the words f of another
language of P(f|a) P(b|f), its mean over all languages counts. `third` and `party` are translated by one word here and
there as well, but because they stand together: such pairs are left out. Written to `itza_git/search/tables/en.tsv`.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from itza_git.embedding.builtin import WEIGHTS
from itza_git.embedding.builtin import Table as WordModel
from itza_git.search import languages
from itza_git.search.forms import stem
from itza_git.search.languages import ENGLISH
from itza_git.search.question import STOP_WORDS
from training.translations import Aligned, align, messages, read

# How sure a word must be in one language and in the mean of all, and in how many languages.
SUREST_OF_ONE = 0.02
SUREST = 0.02
FEWEST_LANGUAGES = 3
# How often a word must be met, in alignments, and be translated by a pivot; how many pivots are looked at.
FEWEST = 3.0
FEWEST_SHARED = 1.0
MOST_PIVOTS = 6
# Words that are in one message so many times as often as by chance stand beside one another, and not for.
TOGETHER = 5.0
MOST = 4
SHORTEST = 3

Shares = dict[tuple[str, str], float]


class _Tally(defaultdict[str, defaultdict[str, float]]):
    """How often one word is met with another one."""

    def __init__(self) -> None:
        super().__init__(lambda: defaultdict(float))

    def add(self, one: str, other: str, count: float) -> None:
        self[one][other] += count


class Counts:
    """Expected counts of one language's alignments, by English stem and by foreign word."""

    def __init__(self, language: str, aligned: Iterable[Aligned]) -> None:
        self.by_stem, self.by_foreign, self.forms = _Tally(), _Tally(), _Tally()
        dropped = languages.stop_words(language)
        for one in aligned:
            if one.word and one.word != one.english and one.word not in dropped and _says_something(one.english):
                self.by_stem.add(stem(one.english), one.word, one.count)
                self.by_foreign.add(one.word, stem(one.english), one.count)
                self.forms.add(stem(one.english), one.english, one.count)

    def shares(self) -> Shares:
        """P(b|a) of each pair of stems that is sure enough."""
        found: Shares = defaultdict(float)
        for a, foreign in self.by_stem.items():
            total = sum(foreign.values())
            for word in sorted(foreign, key=lambda word: -foreign[word])[:MOST_PIVOTS] if total >= FEWEST else ():
                back = self.by_foreign[word]
                for b, shared in back.items():
                    if b != a and min(foreign[word], shared) >= FEWEST_SHARED:
                        found[a, b] += foreign[word] / total * shared / sum(back.values())
        return {pair: share for pair, share in found.items() if share > SUREST_OF_ONE}


def _says_something(word: str) -> bool:
    dropped = languages.stop_words(ENGLISH) | STOP_WORDS | {"not"}
    return len(word) >= SHORTEST and word.isascii() and word.isalpha() and word not in dropped


def together(pairs: Iterable[tuple[str, str]], english: Iterable[Sequence[str]]) -> dict[tuple[str, str], float]:
    """Of pairs of stems, in order, how many times as often as by chance one message has both."""
    wanted = set(pairs)
    texts = {tuple(sorted(set(map(stem, text)))) for text in english}
    holding = Counter(word for text in texts for word in text)
    both = Counter(pair for text in texts for pair in combinations(text, 2) if pair in wanted)
    return {(a, b): both[a, b] * len(texts) / max(holding[a] * holding[b], 1) for a, b in wanted}


def synonyms(
    counts: Sequence[Counts], english: Iterable[Sequence[str]], known: Mapping[str, int]
) -> dict[str, list[str]]:
    """Of each word the likeliest others. Of several forms the one that comes first in known stands for all."""
    shares: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in counts:
        for pair, share in one.shares().items():
            shares[pair].append(share)
    mean = {pair: sum(each) / len(counts) for pair, each in shares.items() if len(each) >= FEWEST_LANGUAGES}
    beside = together({(min(pair), max(pair)) for pair in mean}, english)
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for one in counts:
        for word, found in one.forms.items():
            forms[word].update(found)
    name = {word: min(found, key=lambda form: (known.get(form, len(known)), form)) for word, found in forms.items()}
    chosen: defaultdict[str, list[str]] = defaultdict(list)
    for (a, b), share in sorted(mean.items(), key=lambda item: (-item[1], item[0])):
        word = name[a]
        if share >= SUREST and beside[min(a, b), max(a, b)] < TOGETHER and len(chosen[word]) < MOST:
            chosen[word].append(name[b])
    return {word: chosen[word] for word in sorted(chosen) if chosen[word]}


def lines(chosen: Mapping[str, Sequence[str]], licences: Iterable[str]) -> Iterator[str]:
    """The file: a head of `#` lines, then a word a line, a tab, and the words for it."""
    yield f"# {ENGLISH} {len(chosen)} words, from the translation catalogs that the other tables are made of"
    yield f"# licences of those: {', '.join(sorted(set(licences)))}; single words alone are kept"
    yield "# Made by training/synonyms.py"
    yield from (f"{word}\t{' '.join(others)}" for word, others in chosen.items())


def main() -> None:
    """Learns and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalogs", type=Path)
    counts, english, licences = [], [], set()
    for language, by_package in read(parser.parse_args().catalogs).items():
        said = messages(pair for pairs in by_package.values() for pair in pairs)
        counts.append(Counts(language, align(said)))
        english += [text for _, text in said]
        licences |= {package.licence for package in by_package}
    path = languages.TABLES / f"{ENGLISH}.tsv"
    # The model's words are those of code, the commonest first: `select` and not `selected`.
    chosen = synonyms(counts, english, WordModel.load(WEIGHTS).row)
    path.write_text("\n".join(lines(chosen, licences)) + "\n", "utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
