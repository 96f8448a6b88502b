"""Who last touched the passages: blame of their lines, bounded in time and number."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType

from itza_git.errors import GitError
from itza_git.git import Repository
from itza_git.records import Blamed, Commit, CommitMessage, Passage

# Seconds for all of it, and passages. Where 80,000 commits are, one takes half a second.
SECONDS = 2.5
MOST_PASSAGES = 5
# With less time left none is started.
SHORTEST = 0.05
AT_ONCE = 2
# A commit that changes more files did something to the code base, and not to these lines.
MANY_FILES = 100

IGNORED_FILE = b".git-blame-ignore-revs"
_ID = re.compile(rb"^\s*([0-9a-f]{40}(?:[0-9a-f]{24})?)\b", re.MULTILINE)
_MECHANICAL = re.compile(
    r"\b(?:re-?format(?:s|ted|ting)?|re-?indent\w*|white-?spaces?|clang-format|prettier|gofmt|rustfmt|cargo fmt"
    r"|(?:run|apply|ran|with|use) (?:black|ruff|isort|eslint|rubocop)|coding style|style fix\w*"
    r"|fix(?:e[sd])? (?:indent|style|lint)\w*|initial (?:commit|import)|license headers?"
    r"|copyright (?:years?|headers?))\b",
    re.IGNORECASE,
)

Lines = tuple[bytes, int, int]
"""Path, first and last line."""

_File = tuple[bytes, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Touch:
    """A commit, and the lines of passages that it was the last to touch.

    weight: how much of the passages that is, 0..1; of a passage further down the list it counts less.
    """

    message: CommitMessage
    lines: tuple[Lines, ...]
    weight: float


class Blames(AbstractContextManager["Blames"]):
    """Blame of passages, best first, which runs beside the caller until `touches` is asked for.

    Only git's processes run in threads: the repository itself is read by the caller's thread alone.
    """

    def __init__(self, repository: Repository, commit: Commit, passages: Sequence[Passage]) -> None:
        self._repository = repository
        self._commit = commit
        self._passages = passages[:MOST_PASSAGES]
        self._deadline = time.monotonic() + SECONDS
        self._ignored = ignored_commits(repository, commit)
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._running = self._start(self._files(), self._ignored)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def touches(self) -> list[Touch]:
        """The commits found in time, the one that touched most first; none that swept over everything."""
        found = self._finished(self._running)
        messages = self._messages(found)
        sweeping = {one.id for one in messages.values() if is_sweeping(self._repository, one)}
        swept = {path for path, blamed in found.items() if any(one.commit in sweeping for one in blamed)}
        if swept:
            files = [file for file in self._files() if file[0] in swept]
            found |= self._finished(self._start(files, self._ignored | sweeping))
            messages |= self._messages(found)
        # What git could not attribute to another one stays with the commit that it was to pass over.
        touches = self._weighed(found, {id: one for id, one in messages.items() if id not in sweeping})
        return sorted(touches, key=lambda one: -one.weight)

    def _files(self) -> list[_File]:
        """Paths with the lines of their passages; those of the best passages first."""
        found: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
        for passage in self._passages:
            found[passage.path].append((passage.first, passage.last))
        return [(path, tuple(ranges)) for path, ranges in found.items()]

    def _start(self, files: Iterable[_File], ignored: Collection[bytes]) -> dict[bytes, Future[list[Blamed]]]:
        return {path: self._pool.submit(self._blame, path, ranges, ignored) for path, ranges in files}

    def _blame(self, path: bytes, ranges: Sequence[tuple[int, int]], ignored: Collection[bytes]) -> list[Blamed]:
        left = self._deadline - time.monotonic()
        if left < SHORTEST:
            return []
        try:
            return self._repository.blame(self._commit.id, path, ranges, ignored, left)
        except GitError:  # no git on the PATH
            return []

    def _finished(self, running: dict[bytes, Future[list[Blamed]]]) -> dict[bytes, list[Blamed]]:
        """What was found of each file; nothing of those that ran out of time."""
        return {path: blamed for path, future in running.items() if (blamed := future.result())}

    def _messages(self, found: dict[bytes, list[Blamed]]) -> dict[bytes, CommitMessage]:
        ids = dict.fromkeys(one.commit for blamed in found.values() for one in blamed)
        return {one.id: one for one in self._repository.messages(ids) if one is not None}

    def _weighed(self, found: dict[bytes, list[Blamed]], messages: dict[bytes, CommitMessage]) -> Iterator[Touch]:
        lines: defaultdict[bytes, list[Lines]] = defaultdict(list)
        weight: defaultdict[bytes, float] = defaultdict(float)
        for rank, passage in enumerate(self._passages, 1):
            for one in found.get(passage.path, ()):
                first, last = max(one.first, passage.first), min(one.last, passage.last)
                if first <= last and one.commit in messages:
                    lines[one.commit].append((passage.path, first, last))
                    weight[one.commit] += (last - first + 1) / (passage.last - passage.first + 1) / rank
        for id, where in lines.items():
            yield Touch(messages[id], tuple(sorted(where)), min(weight[id], 1.0))


def ignored_commits(repository: Repository, commit: Commit) -> set[bytes]:
    """The commits that the tree's own `.git-blame-ignore-revs` says to pass over."""
    try:
        for entry in repository.tree(commit.tree):
            if entry.path == IGNORED_FILE:
                return {bytes.fromhex(id.decode()) for id in _ID.findall(repository.read(entry.id))}
    except GitError:
        return set()
    return set()


def is_sweeping(repository: Repository, message: CommitMessage) -> bool:
    """Whether a commit is of the kind that touches everything and explains nothing: formatting, an import."""
    if not message.parents or _MECHANICAL.search(message.subject):
        return True
    (parent,) = repository.messages(message.parents[:1])
    try:
        return parent is not None and len(repository.diff(parent.tree, message.tree)) > MANY_FILES
    except GitError:
        return False
