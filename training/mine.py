"""Downloaded packages -> pairs of what is said (a comment, a name, a heading) and the code or text that it is said of.

    python -m training.mine CORPUS PAIRS.jsonl.gz [--exclude FOLDER ...]

CORPUS is the folder that fetch_corpus.py filled. Each line of PAIRS is one `Pair`. Files under an excluded folder are
mined too, and what they hold is left out: that keeps a benchmark's repositories (and vendored copies of them) away.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from enum import Enum, auto
from functools import partial
from pathlib import Path

from itza_git.chunking import chunk
from itza_git.words import words
from training.comments import LONGEST_CODE, PROSE, inline, is_worth_keeping, pairs
from training.fetch_corpus import CORPUS, Package, archives, listed
from training.pairs import Pair, write
from training.sources import Source, files_under, sources


class Kind(Enum):
    """What says it: a doc comment, a name (or heading), a comment inside a function."""

    DOCUMENTED = auto()
    NAMED = auto()
    INLINE = auto()


RARE = {"bash", "csharp", "elixir", "kotlin", "lua", "scala", "swift"}
# No package may outweigh the others: so many pairs of one language, and more where only a few packages have it.
SHARE = {
    Kind.DOCUMENTED: (2_500, 8_000),
    Kind.NAMED: (1_000, 4_000),
    Kind.INLINE: (2_500, 8_000),
}
MOST_SECTIONS = 200
NAMED_KINDS = ("function", "method", "type", "section")
MOST_NAMES = 2
MOST_NAME_WORDS = 12
_NEWS = re.compile(r"(?i)chang|history|news|release|licen|contribut|conduct|security|todo|\.github")


def named(source: Source, package: str = "") -> Iterator[Pair]:
    """The definitions and sections of one file, to be found by their names, which are cut out of them."""
    if source.language in PROSE and _NEWS.search(source.path):
        return
    lines = source.text.splitlines(keepends=True)
    for part in chunk(source.text, source.language):
        names = [re.split(r"[.:#]+", name)[-1] for name in part.symbol.split(", ")]
        if source.language in PROSE:
            names = part.symbol.split(" > ")[-1:]
        if not part.symbol or part.kind not in NAMED_KINDS or len(names) > MOST_NAMES:
            continue
        text = b"".join(lines[part.first - 1 : part.last])[:LONGEST_CODE].decode("utf-8", "replace")
        for name in names:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text) if name else text
        said = words(" ".join(names))
        if 2 <= len(said) <= MOST_NAME_WORDS and is_worth_keeping("a b c", text):
            yield Pair(package, source.language, " ".join(names), "", text, source.path)


_READ = {Kind.DOCUMENTED: pairs, Kind.NAMED: named, Kind.INLINE: inline}


def mine(package: str, found: Iterable[Source]) -> list[Pair]:
    """The pairs of a package, each comment and each code once, and of each language no more than its share."""
    seen: set[str] = set()
    taken: Counter[tuple[str, Kind]] = Counter()
    fresh = []
    for source in found:
        for kind, read in _READ.items():
            room = _share(source.language, kind) - taken[source.language, kind]
            for pair in read(source, package) if room else ():
                if pair.code not in seen and (not pair.doc or pair.doc not in seen):
                    seen |= {pair.doc, pair.code}
                    taken[source.language, kind] += 1
                    fresh.append(pair)
                    room -= 1
                    if not room:
                        break
    return fresh


def _share(language: str, kind: Kind) -> int:
    return MOST_SECTIONS if language in PROSE else SHARE[kind][language in RARE]


def _mine_package(package: Package, corpus: Path) -> list[Pair]:
    folder = package.folder(corpus)
    if not folder.is_dir():
        return []
    wanted = package.languages.split()
    found = sources(archives(folder), folder.name)
    return mine(folder.name, (source for source in found if not wanted or source.language in wanted))


def _said_under(folder: Path) -> set[str]:
    """Every comment of a folder's sources, and every code that has one."""
    found = (pair for source in files_under(folder) for read in (pairs, inline) for pair in read(source))
    return {text for pair in found for text in (pair.doc, pair.code)}


def main() -> None:
    """Mines every package of the list that was downloaded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--list", type=Path, default=CORPUS)
    parser.add_argument("--exclude", type=Path, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    languages: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        seen = set[str]().union(*pool.map(_said_under, options.exclude))
        mined = pool.map(partial(_mine_package, corpus=options.corpus), listed(options.list))
        write(options.out, _first_seen((pair for pairs in mined for pair in pairs), seen, languages))
    print(f"{languages.total():,} pairs:", ", ".join(f"{name} {count:,}" for name, count in languages.most_common()))


def _first_seen(mined: Iterable[Pair], seen: set[str], languages: Counter[str]) -> Iterator[Pair]:
    for pair in mined:
        if pair.code not in seen and pair.doc not in seen:
            seen.add(pair.code)
            languages[pair.language] += 1
            yield pair


if __name__ == "__main__":
    main()
