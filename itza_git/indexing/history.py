"""Commit messages as passages: each is embedded once, under its commit's id, and newest come first.

They have packs of their own, so that a question about code never meets them. How many there are is bounded: a question
reads what a second allows, `git itza index` and the hooks the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding import Embedder
from itza_git.errors import StoreError
from itza_git.git import Repository
from itza_git.indexing.refresh import Watch, longest_wait
from itza_git.records import Chunk, CommitMessage
from itza_git.store import Space, View, postings
from itza_git.store.lineages import Lineages
from itza_git.store.pack import Indexed, key_of
from itza_git.store.space import SHORT_WAIT
from itza_git.trailers import said
from itza_git.words import Bags, Counts, Vocabulary, path_term

# In the keys of the store. Those of `commit` of before had no paths; gc drops them.
LANGUAGE = "commit with paths"
# The newest ancestors whose messages are searched: 3 s of indexing and 12 MB. Blame reaches the older ones.
MOST_COMMITS = 20_000
# A server embeds some ten texts a second.
MOST_REMOTE = 500
BATCH = 1000
REMOTE_BATCH = 32
# A commit that changes more files did something to the code base, and tells nothing of one of them.
MOST_FILES = 50
# A longer message is a list of other messages; its beginning stands for it.
MOST_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class History:
    """The messages of a commit and its ancestors, newest first, as a view whose ids are those of commits.

    is_recorded: whether the store has who these are; is_whole: whether it may, since none was unreadable.
    """

    commit: bytes
    view: View
    lineages: Lineages
    is_recorded: bool
    is_whole: bool = True


def history_of(repository: Repository, space: Space, embedder: Embedder, commit: bytes) -> History:
    """The history of a commit: recorded, or made from that of an ancestor, or of all that git knows."""
    most = MOST_COMMITS if embedder.is_local else MOST_REMOTE
    lineages = Lineages(space, f"{most}{repository.horizon}")
    recorded = lineages.get(commit)
    if recorded is not None:
        return History(commit, _view(recorded), lineages, True)
    latest = lineages.latest()
    before = lineages.get(latest) if latest and repository.is_ancestor(latest, commit) else None
    ids, is_whole = repository.ancestors([commit], most, latest if before is not None else None)
    found = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, repository.id_length)
    if before is not None:
        found = np.concatenate([found, before])[:most]
    return History(commit, _view(found), lineages, False, is_whole)


def _view(ids: NDArray[np.uint8]) -> View:
    zeros = np.zeros(len(ids), np.uint8)
    return View([b""] * len(ids), ids, zeros, [LANGUAGE], zeros, [""], postings.empty(len(ids)))


def index_history(repository: Repository, space: Space, embedder: Embedder, history: History, watch: Watch) -> int:
    """Index what the store lacks of a history, newest first, until watch's patience ends; how many it lacks.

    A store that cannot be written now stays as it is: history is evidence that may be lacking.
    """
    missing = _missing(space, history.view)
    if watch.patience == 0 or (not missing and history.is_recorded):
        return len(missing)
    # Without anything missing there is only a note to write.
    wait = longest_wait(watch) if missing else SHORT_WAIT
    done = 0
    try:
        with space.writer(wait, watch.waiting):
            missing = _missing(space, history.view)
            done = _index(repository, space, embedder, missing, watch)
            space.merge_packs()
            if done == len(missing) and history.is_whole:
                history.lineages.put(history.commit, history.view.id)
    except StoreError:
        return len(missing)
    return len(missing) - done


def _missing(space: Space, view: View) -> list[bytes]:
    _, where = space.locate(view.keys)
    return [view.id[at].tobytes() for at in np.flatnonzero(where.missing)]


def _index(repository: Repository, space: Space, embedder: Embedder, commits: Sequence[bytes], watch: Watch) -> int:
    deadline = None if watch.patience is None else time.monotonic() + watch.patience
    vocabulary = Vocabulary()
    done = 0
    if commits:
        watch.remembering(0, len(commits))
    for batch in _batches(commits, BATCH if embedder.is_local else REMOTE_BATCH):
        found = [message for message in repository.messages(batch) if message is not None]
        changed = repository.changed_paths([message.id for message in found], MOST_FILES)
        _write(space, embedder, vocabulary, found, changed)
        done += len(batch)
        watch.remembering(done, len(commits))
        if deadline is not None and time.monotonic() > deadline:
            break
    return done


def _batches(commits: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    left = iter(commits)
    while batch := list(islice(left, size)):
        yield batch


def _write(
    space: Space,
    embedder: Embedder,
    vocabulary: Vocabulary,
    messages: Sequence[CommitMessage],
    changed: Mapping[bytes, Sequence[bytes]],
) -> None:
    texts = [said(message.text)[:MOST_CHARACTERS] for message in messages]
    blobs = [
        # The subject is a text of the repository, which the store does not hold: it is only counted.
        Indexed(key_of(message.id, LANGUAGE), LANGUAGE, [Chunk(1, text.count("\n") + 1, "text")])
        if text.strip()
        else Indexed(key_of(message.id, LANGUAGE), LANGUAGE, [], "empty")
        for message, text in zip(messages, texts, strict=True)
    ]
    kept = [number for number, blob in enumerate(blobs) if blob.chunks]
    bags = vocabulary.count([texts[number] for number in kept])
    subjects = vocabulary.count([messages[number].subject for number in kept])
    paths = [changed.get(messages[number].id, ()) for number in kept]
    vectors = embedder.embed([texts[number] for number in kept], bags)
    space.builder().write(blobs, bags, _with_paths(subjects, paths), vectors)


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
