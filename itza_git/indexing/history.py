"""Commit messages as passages: each is embedded once, under its commit's id, and newest come first.

They have packs of their own, so that no message is found where code is asked for. With each stand the paths that its
commit changed; where git cannot tell those (a tree is lost, a shallow clone ends here) it is kept without, and they are
looked for again with the next commit, by the next index run, and when the clone is deepened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding import Embedder
from itza_git.errors import StoreError
from itza_git.git import Repository
from itza_git.indexing.refresh import LONGEST_WAIT, Watch
from itza_git.records import Chunk, CommitMessage
from itza_git.store import Space, View, postings
from itza_git.store.lineages import Lineage, Lineages
from itza_git.store.pack import Indexed, key_of
from itza_git.store.space import SHORT_WAIT
from itza_git.trailers import said
from itza_git.words import Bags, Counts, Vocabulary, path_term

# The language, in the keys of the store, of a message with the paths that its commit changed, and of one without.
WITH_PATHS, BARE = LANGUAGES = ["commit with paths", "commit"]
# The newest ancestors whose messages are searched: 6 s of indexing and 21 MB. Blame reaches the older ones.
MOST_COMMITS = 20_000
# A server embeds some ten texts a second.
MOST_REMOTE = 500
BATCH = 1000
REMOTE_BATCH = 32
# A commit that changes more files did something to the code base, and tells nothing of one of them.
MOST_FILES = 50
# A longer message is a list of other messages; its beginning stands for it. So much is looked at to find that.
MOST_CHARACTERS = 8000
MOST_READ = 8 * MOST_CHARACTERS


class History:
    """The messages of a commit and its newest ancestors."""

    def __init__(self, repository: Repository, space: Space, embedder: Embedder, commit: bytes) -> None:
        self._repository = repository
        self._space = space
        self._embedder = embedder
        self._commit = commit
        self._most = _most(embedder)
        self._lineages = _lineages(repository, space, embedder)
        recorded = self._lineages.get(commit)
        self.is_recorded = recorded is not None
        self._seen: View | None = None
        self._lineage, self.is_whole = (recorded, True) if recorded is not None else self._listed()
        self._ids = self._lineage.id

    def _listed(self) -> tuple[Lineage, bool]:
        """The commits, from those of an ancestor where there are some, and whether none was unreadable."""
        latest = self._lineages.latest()
        older = self._lineages.get(latest) if latest and self._repository.is_ancestor(latest, self._commit) else None
        found = self._repository.ancestors([self._commit], self._most, latest if older is not None else None)
        lineage = Lineage.of(found, self._repository.id_length)
        return lineage if older is None else lineage.before(older, self._most), found.is_whole

    def view(self) -> View:
        """The messages as a view whose ids are those of commits: with their paths as far as the store has these."""
        if self._seen is None:
            self._seen = self._look()
        return self._seen

    def _look(self) -> View:
        view = self._view(np.zeros(len(self._ids), np.uint8))
        lacking = self._space.locate(view.keys)[1].missing
        if not lacking.any():
            return view
        bare = ~self._space.locate(self._view(np.ones(len(self._ids), np.uint8)).keys)[1].missing
        return self._view((lacking & bare).astype(np.uint8))

    def _view(self, language: NDArray[np.uint8]) -> View:
        count = len(self._ids)
        reason = np.zeros(count, np.uint8)
        return View([b""] * count, self._ids, language, LANGUAGES, reason, [""], postings.empty(count))

    def index(self, watch: Watch) -> None:
        """Index what the store lacks, newest first, until watch's patience ends.

        A store that cannot be written now stays as it is: history is evidence that may be lacking, so no question waits
        for another process that writes, or hears of it; an index run does.
        """
        if watch.patience == 0 or (self.is_recorded and not any(self._lacking(watch.is_endless))):
            return
        try:
            with self._space.writer(*((LONGEST_WAIT, watch.waiting) if watch.is_endless else (SHORT_WAIT,))):
                self._seen = None  # another process may just have indexed them
                is_done = self._index(*self._lacking(watch.is_endless), watch)
                self._space.merge_packs()
                if is_done and self.is_whole:
                    self._lineages.put(self._commit, self._lineage)
        except StoreError as e:
            if watch.is_endless and watch.unwritable is not None:
                watch.unwritable(e)
        self._seen = None

    def _lacking(self, again: bool) -> tuple[list[bytes], list[bytes]]:
        """The commits that the store lacks, and those whose paths it lacks, if those are to be looked for again."""
        view = self.view()
        missing = self._space.locate(view.keys)[1].missing
        pathless = view.language == LANGUAGES.index(BARE)
        return self._chosen(missing), self._chosen(pathless) if again or not self.is_recorded else []

    def _chosen(self, mask: NDArray[np.bool_]) -> list[bytes]:
        return list(map(bytes, self._ids[mask]))

    def _index(self, missing: Sequence[bytes], pathless: Sequence[bytes], watch: Watch) -> bool:
        """Whether all was looked at before patience ended."""
        deadline = None if watch.patience is None else time.monotonic() + watch.patience
        vocabulary = Vocabulary()
        done, total = 0, len(missing) + len(pathless)
        if total:
            watch.remembering(0, total)
        known = set(pathless)
        for batch in self._batches([*missing, *pathless]):
            found = [message for message in self._repository.messages(batch) if message is not None]
            changed = self._repository.changed_paths([message.id for message in found], MOST_FILES)
            fresh = [message for message in found if message.id in changed or message.id not in known]
            if not fresh and known.issuperset(batch):
                return True  # nor will git tell the paths of those before them
            _write(self._space, self._embedder, vocabulary, fresh, changed)
            done += len(batch)
            watch.remembering(done, total)
            if deadline is not None and time.monotonic() > deadline:
                return done == total
        return True

    def _batches(self, commits: Sequence[bytes]) -> Iterator[list[bytes]]:
        left, size = iter(commits), BATCH if self._embedder.is_local else REMOTE_BATCH
        while batch := list(islice(left, size)):
            yield batch


def is_remembered(repository: Repository, space: Space, embedder: Embedder, commit: bytes) -> bool:
    """Whether all messages of a commit and its newest ancestors were indexed once."""
    return _lineages(repository, space, embedder).has(commit)


def _most(embedder: Embedder) -> int:
    return MOST_COMMITS if embedder.is_local else MOST_REMOTE


def _lineages(repository: Repository, space: Space, embedder: Embedder) -> Lineages:
    return Lineages(space, f"{_most(embedder)}{repository.horizon}")


def _write(
    space: Space,
    embedder: Embedder,
    vocabulary: Vocabulary,
    messages: Sequence[CommitMessage],
    changed: Mapping[bytes, Sequence[bytes]],
) -> None:
    """Write a pack of messages. changed: the paths of each commit of which git can tell them."""
    texts = [said(message.text[:MOST_READ])[:MOST_CHARACTERS] for message in messages]
    blobs = [_indexed(message.id, text, message.id in changed) for message, text in zip(messages, texts, strict=True)]
    kept = [number for number, blob in enumerate(blobs) if blob.chunks]
    bags = vocabulary.count([texts[number] for number in kept])
    subjects = vocabulary.count([messages[number].subject[:MOST_CHARACTERS] for number in kept])
    paths = [changed.get(messages[number].id, ()) for number in kept]
    vectors = embedder.embed([texts[number] for number in kept], bags)
    space.builder().write(blobs, bags, _with_paths(subjects, paths), vectors)


def _indexed(commit: bytes, text: str, has_paths: bool) -> Indexed:
    language = WITH_PATHS if has_paths else BARE
    if not text.strip():
        return Indexed(key_of(commit, language), language, [], "empty")
    # The subject is a text of the repository, which the store does not hold: it is only counted.
    return Indexed(key_of(commit, language), language, [Chunk(1, text.count("\n") + 1, "text")])


def _with_paths(subjects: Bags, changed: Sequence[Sequence[bytes]]) -> Bags:
    """The bags with a term for each path that a commit changed, whose count is how many it changed."""
    some = [
        (number, subjects.vocabulary.number(path_term(path)), len(paths))
        for number, paths in enumerate(changed)
        for path in paths
    ]
    text, term, count = np.array(some, np.int32).reshape(-1, 3).T
    known = subjects.compounds
    joined = Counts(np.append(known.text, text), np.append(known.term, term), np.append(known.count, count))
    return replace(subjects, compounds=joined)
