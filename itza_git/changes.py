"""A question about a change: the passages of two trees that differ, those with changed lines first.

What is gone is cited at the older commit and what is new at the newer one, so that each citation holds by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

from itza_git import citing
from itza_git.answering.following import ALIKE, census, matching, similarity
from itza_git.chunking.lines import split_lines
from itza_git.embedding import Embedder
from itza_git.errors import UnreadableObject, UsageError
from itza_git.git import Repository
from itza_git.indexing import Watch
from itza_git.past import past_of_range
from itza_git.ranges import Range
from itza_git.records import GITLINK, SYMLINK, Commit, Entry, Passage
from itza_git.results import Hit, SearchResult
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.forms import stem
from itza_git.search.question import Question
from itza_git.search.retrieval import Found, search
from itza_git.trees import Trees

# Passages of each side that are compared with the other side.
POOL = 40
# Of a question that names nothing the files with most changed lines are shown, of so many.
MOST_FILES = 60
# Files that went and came are compared for renames, at most so many of each.
MOST_RENAMES = 60
LARGEST = 4_000_000
# A side that holds less than this share of what the other one holds of the question comes behind it.
FAR_LESS = 0.75

# Words, as stems, of a question that asks for all of a change: "what changed?", "¿qué cambió?".
_ASKED = """
change changed changes diff difference differences new news update updated updates modified modification summary
summarize summarise overview commit commits range release releases version versions happened
cambio cambios cambió cambiado nuevo nueva diferencia diferencias resumen versión
"""
_ALL = frozenset(map(stem, _ASKED.split()))


@dataclass(frozen=True, slots=True)
class Pair:
    """A file on both sides of a change; None on the side where it is not."""

    old: Entry | None
    new: Entry | None


class Change:
    """How two trees differ, file by file, and in which lines as far as somebody asks."""

    def __init__(self, repository: Repository, old: bytes, new: bytes) -> None:
        self._repository = repository
        self._old = old
        self._new = new
        self._lines: dict[Pair, tuple[frozenset[int], frozenset[int]]] = {}

    @cached_property
    def pairs(self) -> list[Pair]:
        """The files that differ; one that was renamed is one pair, and none when nothing else became of it."""
        found = [Pair(_file(one.old), _file(one.new)) for one in self._repository.diff(self._old, self._new)]
        gone = [one.old for one in found if one.old and not one.new]
        fresh = [one.new for one in found if one.new and not one.old]
        renamed = dict(self._renames(gone, fresh))
        taken = set(renamed.values())
        pairs = [
            Pair(one.old, renamed[one.old]) if one.old and not one.new and one.old in renamed else one
            for one in found
            if (one.old or one.new) and not (one.new in taken and not one.old)
        ]
        return [one for one in pairs if one.old is None or one.new is None or one.old.id != one.new.id]

    def _renames(self, gone: Sequence[Entry], fresh: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
        """Files that went and came under another name: with the same content, or half of the lines."""
        left = list(fresh)
        for old in gone:
            same = next((new for new in left if new.id == old.id), None)
            if same is None and len(gone) <= MOST_RENAMES and len(fresh) <= MOST_RENAMES:
                same = self._most_alike(old, left)
            if same is not None:
                left.remove(same)
                yield old, same

    def _most_alike(self, old: Entry, candidates: Sequence[Entry]) -> Entry | None:
        lines = census(self._content(old))
        alike = [(similarity(lines, census(self._content(new))), new) for new in candidates]
        best = max(alike, key=lambda one: one[0], default=None)
        return best[1] if best and best[0] >= ALIKE else None

    def _content(self, entry: Entry | None) -> list[bytes]:
        try:
            if entry is None or self._repository.size(entry.id) > LARGEST:
                return []
            return split_lines(self._repository.read(entry.id))
        except UnreadableObject:
            return []

    def lines(self, pair: Pair) -> tuple[frozenset[int], frozenset[int]]:
        """The lines that went and those that came (1-based)."""
        if pair not in self._lines:
            old, new = self._content(pair.old), self._content(pair.new)
            place = matching(old, new)
            kept = {at for at in place if at is not None}
            went = frozenset(at + 1 for at, there in enumerate(place) if there is None)
            came = frozenset(at + 1 for at in range(len(new)) if at not in kept)
            self._lines[pair] = (went, came)
        return self._lines[pair]


def _file(entry: Entry | None) -> Entry | None:
    return entry if entry and entry.mode not in (SYMLINK, GITLINK) else None


@dataclass(frozen=True)
class _Side:
    """One of the two trees: which lines of which of its files changed, and what may be found in it."""

    commit: Commit
    corpus: Corpus
    change: Change
    is_new: bool
    wanted: Filter

    @cached_property
    def pairs(self) -> dict[bytes, Pair]:
        """The changed files of this side by path."""
        return {entry.path: one for one in self.change.pairs if (entry := one.new if self.is_new else one.old)}

    @property
    def filter(self) -> Filter:
        """What may be found: changed files only."""
        return replace(self.wanted, only=frozenset(self.pairs))

    def changed_lines(self, passage: Passage) -> int:
        """How many lines of a passage changed."""
        lines = self.change.lines(self.pairs[passage.path])[self.is_new]
        return sum(passage.first <= line <= passage.last for line in lines)

    def everything(self) -> list[Passage]:
        """The passages with most changed lines, one of each file, those of the files that changed most first."""
        entries = {path: entry for entry, path in enumerate(self.corpus.view.paths) if path in self.pairs}
        allowed = self.corpus.allowed(self.filter)
        sizes = {path: len(self.change.lines(self.pairs[path])[self.is_new]) for path in list(entries)[:MOST_FILES]}
        found = []
        for path in sorted(sizes, key=lambda path: -sizes[path]):
            numbers = self.corpus.passages_of(entries[path]).tolist() if allowed[entries[path]] else []
            passages = [self.corpus.passage(number, 1.0, {}) for number in numbers]
            found += sorted(passages, key=lambda one: -self.changed_lines(one))[:1]
        return found


class Changes:
    """Asks about the change between two commits of a repository."""

    def __init__(self, repository: Repository, trees: Trees, embedder: Embedder, recipe: str) -> None:
        self._repository = repository
        self._trees = trees
        self._embedder = embedder
        self._recipe = recipe

    def ends(self, asked: Range) -> tuple[Commit, Commit]:
        """The commits before and after. Raises `UnknownRevision`, `UnbornHead`, `UsageError` without a common base."""
        old, new = self._repository.resolve(asked.old), self._repository.resolve(asked.new)
        if asked.since_base:
            base = self._repository.merge_base(old.id, new.id)
            if base is None:
                told = f"{asked.old} and {asked.new} have no commit in common"
                raise UsageError(told, f"--rev {asked.old}..{asked.new}")
            old = self._repository.resolve(base.hex())
        return old, new

    def search(
        self,
        query: str,
        rev: str,
        asked: Range,
        limit: int,
        wanted: Filter,
        context: tuple[int, int],
        kinds: Sequence[str],
        history: bool,
        watch: Watch,
    ) -> SearchResult:
        """The passages of both trees that tell of the change, the best first; the range's commits with history."""
        old, new = self.ends(asked)
        change = Change(self._repository, old.tree, new.tree)
        sides = [
            _Side(commit, self._trees.corpus(commit.id.hex(), None, False, commit, watch)[0], change, is_new, wanted)
            for commit, is_new in ((new, True), (old, False))
        ]
        found = [self._found(side, query, kinds) for side in sides]
        hits = _in_turn([self._hits(side, one, context) for side, one in zip(sides, found, strict=True)], found)
        result = SearchResult(
            query,
            rev,
            new.id.hex(),
            self._recipe,
            sides[0].corpus.coverage,
            tuple(hits[:limit]),
            max(found, key=lambda one: (not one.weak, one.coverage)),
            base=old.id.hex(),
            changed=len(change.pairs),
        )
        if not history:
            return result
        past = past_of_range(self._repository, self._trees, self._embedder, old, new, result)
        return replace(result, past=past)

    def _found(self, side: _Side, query: str, kinds: Sequence[str]) -> Found:
        """The passages of a side, those with changed lines first; the old side has no others."""
        if _ALL.issuperset(map(stem, Question(query).content_words)):
            found = Found(side.everything(), 1.0, 1.0, [], 1.0, [])
        else:
            # That it changed says nothing about what is sought.
            about = re.sub(r"\w+", lambda word: "" if stem(word[0].casefold()) in _ALL else word[0], query)
            found = search(side.corpus, Question(about), self._embedder, POOL, side.filter)
        passages = [one for one in found.passages if not kinds or one.kind in kinds]
        changed = [one for one in passages if side.changed_lines(one)]
        same = [one for one in passages if one not in changed and side.is_new]
        return replace(found, passages=changed + same)

    def _hits(self, side: _Side, found: Found, context: tuple[int, int]) -> list[Hit]:
        return citing.hits(self._repository, found.passages, side.commit, frozenset(), context)


def _in_turn(sides: Sequence[Sequence[Hit]], found: Sequence[Found]) -> list[Hit]:
    """The hits of the new side and of the old one in turn; one after the other when one holds far less of it."""
    weaker, stronger = sorted(one.coverage for one in found)
    if weaker < FAR_LESS * stronger:
        first, second = sides if found[0].coverage == stronger else sides[::-1]
        return [*first, *second]
    return [hit for both in zip_longest(*sides) for hit in both if hit is not None]
