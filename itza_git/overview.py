"""What is in a tree: languages, areas, ways in, the files that the others rest on, what to read first.

All of it is told from paths, from the index, and from the import lines and names of the code; nothing is guessed by a
model. `Overview` is complete enough to be rendered as it is.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from itza_git import citing
from itza_git.answering.citation import WORKTREE
from itza_git.chunking.languages import is_code, is_prose
from itza_git.entrances import KINDS as ENTRANCES
from itza_git.entrances import PROGRAM, Entrance, declared, told
from itza_git.errors import UnreadableObject
from itza_git.git import Repository
from itza_git.search.centrality import DEFINING, MOST_NAMES, Central, central
from itza_git.search.definitions import Definition, definitions
from itza_git.search.definitions import declared as own_definitions
from itza_git.search.roles import role_of, test_folder
from itza_git.surroundings import BUILD_KINDS, build_kind, reading_order
from itza_git.survey import Area, LanguageShare, Overview, Spot
from itza_git.trees import Asked
from itza_git.words import words

MOST_CENTRAL = 30
MOST_ENTRY_POINTS = 30
MOST_DOCUMENTS = 12
# A folder with so much of the code is looked into: its folders are the areas.
LARGEST_AREA = 0.6
DEEPEST_AREA = 4
AREA_NAMES = 4
# What is not there to test, to show, or from others.
_OURS = ("code", "data", "docs", "design", "news")
_SHARING_MAIN = ("c", "cpp")
_OTHER_MAIN = re.compile(rb"\b([a-z]\w*_main)\s*\(")
_MAIN_IN_CLASS = ("java", "csharp", "kotlin", "scala")


def overview(repository: Repository, tree: Asked, recipe: str) -> Overview:
    """What is in a tree, or in the files that its filter lets through."""
    survey = _Survey(repository, tree)
    return Overview(
        tree.rev,
        tree.commit.id.hex(),
        recipe,
        tree.corpus.coverage,
        len(survey.entries),
        int(sum(survey.lines[entry] for entry in survey.entries)),
        tuple(survey.languages()),
        tuple(survey.areas()),
        tuple(survey.entry_points()),
        tuple(survey.central_files()),
        tuple(survey.documents()),
        tuple(survey.tests()),
        tuple(survey.build()),
    )


class _Survey:
    """A tree as it is looked over. Entries are those of its view; only the ones with passages are looked at."""

    def __init__(self, repository: Repository, tree: Asked) -> None:
        self._repository = repository
        self._tree = tree
        self._corpus = corpus = tree.corpus
        self.paths = corpus.view.paths
        held = np.flatnonzero(corpus.passages_of_entry).tolist()
        self.language = {entry: corpus.language(entry) for entry in held}
        self.role = {entry: role_of(self.paths[entry], self.language[entry]) for entry in held}
        last = corpus.first_passage + corpus.passages_of_entry - 1
        self.lines = {entry: corpus.chunk(int(last[entry])).last for entry in held}
        allowed = corpus.allowed(tree.wanted)
        self.entries = [entry for entry in held if allowed[entry]]
        self._code = [entry for entry in held if self.role[entry] == "code"]
        known = {entry: self.language[entry] for entry in self._code}
        self._defined = own_definitions(definitions(corpus), known, lambda entry: self._read(self._blob(entry)))

    @cached_property
    def _central(self) -> Central:
        return central(self._corpus, {entry: self.language[entry] for entry in self._code}, self._defined, self._read)

    def _blob(self, entry: int) -> bytes:
        found: bytes = self._corpus.view.id[entry].tobytes()
        return found

    def _read(self, blob: bytes) -> bytes:
        try:
            return self._repository.read(blob)
        except UnreadableObject:
            return b""

    def weight(self, entry: int) -> float:
        """How much a newcomer should know a file: what rests on it counts, and a little how much there is in it."""
        return float(self._central.score[entry]) * float(np.log2(1 + self.lines[entry]))

    def languages(self) -> list[LanguageShare]:
        files = Counter(self.language[entry] for entry in self.entries)
        lines: Counter[str] = Counter()
        for entry in self.entries:
            lines[self.language[entry]] += self.lines[entry]
        total = max(lines.total(), 1)
        return [
            LanguageShare(name or "text", _kind(name), files[name], count, round(count / total, 4))
            for name, count in lines.most_common()
        ]

    # Areas

    def areas(self) -> list[Area]:
        """The folders that the tree falls into, those of code first, by size; tests are told by themselves."""
        code = sum(self.lines[entry] for entry in self._code_here())
        entries = [entry for entry in self.entries if self.role[entry] != "tests"]
        found = list(self._split(b"", entries, max(code, 1), 0))
        found.sort(key=lambda area: (area.role != "code", -area.lines))
        return found

    def _split(self, folder: bytes, entries: Sequence[int], code: int, depth: int) -> Iterator[Area]:
        inside: dict[bytes, list[int]] = defaultdict(list)
        for entry in entries:
            first, slash, _ = self.paths[entry][len(folder) :].partition(b"/")
            inside[folder + first + b"/" if slash else folder].append(entry)
        for place, members in inside.items():
            own = sum(self.lines[entry] for entry in members if self.role[entry] == "code")
            divided = any(self._is_below(entry, place) for entry in members)
            if place != folder and own > LARGEST_AREA * code and divided and depth < DEEPEST_AREA:
                yield from self._split(place, members, code, depth + 1)
            else:
                yield self._area(place, members)

    def _is_below(self, entry: int, folder: bytes) -> bool:
        """Whether it is code in a folder of a folder."""
        return self.role[entry] == "code" and b"/" in self.paths[entry][len(folder) :]

    def _area(self, path: bytes, entries: Sequence[int]) -> Area:
        lines: Counter[str] = Counter()
        for entry in entries:
            lines[self.role[entry]] += self.lines[entry]
        code = sorted((e for e in entries if self.role[e] == "code"), key=self.weight, reverse=True)
        names = [name for entry in code[:AREA_NAMES] for name in self.names(entry)[:1]]
        return Area(path, lines.most_common(1)[0][0], len(entries), lines.total(), tuple(dict.fromkeys(names)))

    def names(self, entry: int) -> tuple[str, ...]:
        """What it is named after, and what others use most of it; else what it defines."""
        used = self._central.names.get(entry) or [one.name for one in self._defines(entry) if one.kind in DEFINING]
        return tuple(dict.fromkeys([*self._titled(entry), *used]))[:MOST_NAMES]

    def _titled(self, entry: int) -> list[str]:
        """What a file defines of its own name: `Site` of site.rb."""
        about = "".join(words(_file_name(_stem(self.paths[entry]))))
        return [one.name for one in self._defines(entry) if one.name.replace("_", "").lower() == about][:1]

    def _defines(self, entry: int) -> list[Definition]:
        return self._defined.get(entry, [])

    # Files

    def central_files(self) -> list[Spot]:
        """The files that others rest on most; of those of one name (a header and its source) the first."""
        shown: dict[bytes, list[int]] = defaultdict(list)
        for entry in sorted(self._code_here(), key=self.weight, reverse=True):
            if self._central.users[entry]:
                shown[_stem(self.paths[entry])].append(entry)
        best = [self._of_one_name(same) for same in shown.values()]
        return [
            self._spot(entry, self._defining(entry), names=self.names(entry), users=int(self._central.users[entry]))
            for entry in best[:MOST_CENTRAL]
        ]

    def _of_one_name(self, same: Sequence[int]) -> int:
        """Of files of one name, heaviest first, the one that defines what they are named after; else the first."""
        near = (entry for entry in same if 2 * self.weight(entry) >= self.weight(same[0]))
        return next((entry for entry in near if self._titled(entry)), same[0])

    def _code_here(self) -> list[int]:
        return [entry for entry in self.entries if self.role[entry] == "code"]

    def _defining(self, entry: int) -> int:
        """The passage of a file that defines what others use most of it; else the first one."""
        numbers = self._corpus.passages_of(entry).tolist()
        wanted = self.names(entry)[:1]
        found = (n for n in numbers if _defines(self._corpus.chunk(n).symbol, wanted))
        return int(next(found, numbers[0]))

    def entry_points(self) -> list[Spot]:
        """Commands, programs, images, then what can be loaded; of each kind the declared ones first; each path once."""
        entry_of = {self.paths[entry]: entry for entry in self.entries}
        # A manifest outside the filter may declare what lies within it.
        blob = {self.paths[entry]: self._blob(entry) for entry in self.role}
        ours = sorted(
            (entry for entry, role in self.role.items() if role in _OURS), key=lambda e: _depth(self.paths[e])
        )
        found = list(declared([self.paths[entry] for entry in ours], lambda path: self._read(blob[path])))
        code = (self.paths[entry] for entry in ours if self.role[entry] == "code")
        by_name = [one for path in code if (one := told(path))]
        found = [self._of_folder(one) if one.path.endswith(b"/") else one for one in found]
        entrances = sorted([*found, *by_name, *self._mains()], key=lambda one: ENTRANCES.index(one.kind))
        first = {one.path: one for one in reversed(entrances) if one.path in entry_of}
        kept = [one for one in entrances if first.get(one.path) is one]
        return [self._entrance(one, entry_of[one.path]) for one in kept[:MOST_ENTRY_POINTS]]

    def _of_folder(self, one: Entrance) -> Entrance:
        """The entrance of a folder that is loaded as a whole: the file there that a newcomer should know first."""
        inside = [entry for entry in self._code_here() if self.paths[entry].startswith(one.path)]
        return replace(one, path=self.paths[max(inside, key=self.weight)]) if inside else one

    def _mains(self) -> list[Entrance]:
        """The files with a function `main`: those at the top first, in the main language, that use most others.

        A file that others use and that uses none has its `main` to test itself.
        """
        languages = Counter(self.language[entry] for entry in self._code)

        def order(entry: int) -> tuple[int, int, int]:
            return _depth(self.paths[entry]), -languages[self.language[entry]], -int(self._central.used[entry])

        begins = {entry: "main" for entry in self._code if any(self._is_main(entry, d) for d in self._defines(entry))}
        begins = self._called_by(begins) | begins
        return [
            Entrance(PROGRAM, _file_name(self.paths[entry]), self.paths[entry], begins[entry])
            for entry in sorted(self._code_here(), key=order)
            if entry in begins
        ]

    def _called_by(self, mains: Iterable[int]) -> dict[int, str]:
        """The files of C whose `..._main` a `main` elsewhere calls, each with that name: programs that share it."""
        called: set[str] = set()
        for entry in mains:
            if self.language[entry] in _SHARING_MAIN:
                called |= {name.decode() for name in _OTHER_MAIN.findall(self._read(self._blob(entry)))}
        return {
            entry: one.name
            for entry in (self._code if called else ())
            if self.language[entry] in _SHARING_MAIN
            for one in self._defines(entry)
            if one.kind == "function" and one.name in called
        }

    def _is_main(self, entry: int, one: Definition) -> bool:
        kinds = ("function", "method") if self.language[entry] in _MAIN_IN_CLASS else ("function",)
        is_run_to_build = self.paths[entry].endswith(b"build.rs")
        return one.kind in kinds and one.name in ("main", "Main") and not is_run_to_build

    def _entrance(self, one: Entrance, entry: int) -> Spot:
        numbers = self._corpus.passages_of(entry).tolist()
        wanted = (one.symbol,) if one.symbol else ("main", "Main")
        at = next((n for n in numbers if _defines(self._corpus.chunk(n).symbol, wanted)), numbers[0])
        return self._spot(entry, at, one.kind, one.name)

    def documents(self) -> list[Spot]:
        """What to read first, in that order."""
        links = self._links()
        ranked = [
            (order, _depth(path), path, entry)
            for entry in self.entries
            if self.role[entry] in ("docs", "design", "news") and is_prose(self.language[entry])
            for path in (self.paths[entry], *links.get(self.paths[entry], ()))
            if (order := reading_order(path)) is not None
        ]
        spots = []
        for entry in list(dict.fromkeys(entry for *_, entry in sorted(ranked)))[:MOST_DOCUMENTS]:
            title = next((one.symbol for one in self._defines(entry) if not one.symbol.startswith("![")), "")
            first = int(self._corpus.first_passage[entry])
            spots.append(self._spot(entry, first, "", title.partition(" > ")[0]))
        return spots

    def _links(self) -> dict[bytes, list[bytes]]:
        """The links with a document's name by what they lead to: `README.md` by `library/README.md`."""
        view = self._corpus.view
        found: dict[bytes, list[bytes]] = defaultdict(list)
        for entry in np.flatnonzero(view.reason).tolist():
            path = self.paths[entry]
            if view.reasons[int(view.reason[entry])] == "symlink" and reading_order(path) is not None:
                to = posixpath.join(posixpath.dirname(path), self._read(self._blob(entry)))
                found[posixpath.normpath(to)].append(path)
        return found

    def tests(self) -> list[Area]:
        """The folders of tests, the largest first."""
        places: dict[bytes, list[int]] = defaultdict(list)
        for entry in self.entries:
            if self.role[entry] == "tests":
                places[test_folder(self.paths[entry], self.language[entry])].append(entry)
        found = [Area(at, "tests", len(one), sum(self.lines[e] for e in one)) for at, one in places.items()]
        return sorted(found, key=lambda area: -area.lines)

    def build(self) -> list[Spot]:
        """The files that build and check it, by what they are for."""
        found = [
            (BUILD_KINDS.index(kind), _depth(self.paths[entry]), self.paths[entry], entry, kind)
            for entry in self.entries
            if (kind := build_kind(self.paths[entry])) is not None
        ]
        return [self._spot(entry, int(self._corpus.first_passage[entry]), kind) for *_, entry, kind in sorted(found)]

    def _spot(
        self, entry: int, number: int, what: str = "", name: str = "", names: Iterable[str] = (), users: int = 0
    ) -> Spot:
        passage = self._corpus.passage(number, 0.0, {})
        at = None if passage.path in self._tree.changed else self._tree.commit.id
        citation = citing.cite(self._repository, passage.path, passage.first, passage.last, at)
        return Spot(passage, citation, at.hex() if at else WORKTREE, what, name, tuple(names), users)


def _kind(language: str) -> str:
    return "code" if is_code(language) else "prose" if is_prose(language) else "data"


def _file_name(path: bytes) -> str:
    return path.decode("utf-8", "replace").rpartition("/")[2]


def _depth(path: bytes) -> int:
    return path.count(b"/")


def _stem(path: bytes) -> bytes:
    """What a file is about by its name, with its folder where the name says nothing."""
    name = path.rpartition(b"/")[2]
    stem = name.partition(b".")[0]
    return path if stem in (b"index", b"__init__", b"mod", b"lib", b"main") else stem or path


def _defines(symbol: str, names: Sequence[str]) -> bool:
    """Whether a chunk of that symbol defines one of the names."""
    return any(Definition("", one).name in names for one in symbol.split(", ") if one)
