"""Commit messages as passages: each is embedded once, under its commit's id, and newest come first.

They have packs of their own, so that a question about code never meets them. How many there are is bounded: a question
reads what a second allows, `git itza index` and the hooks the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from itza_git.embedding import Embedder
from itza_git.errors import StoreError
from itza_git.git import Repository
from itza_git.indexing.refresh import LONGEST_WAIT, Watch
from itza_git.records import Chunk, CommitMessage
from itza_git.store import Space, View, postings
from itza_git.store.pack import Indexed, key_of
from itza_git.store.space import SHORT_WAIT
from itza_git.trailers import said
from itza_git.words import Vocabulary

LANGUAGE = "commit"
# The newest ancestors whose messages are searched: 3 s of indexing and 12 MB. Blame reaches the older ones.
MOST_COMMITS = 20_000
# A server embeds some ten texts a second.
MOST_REMOTE = 500
BATCH = 1000
REMOTE_BATCH = 32
# A longer message is a list of other messages; its beginning stands for it.
MOST_CHARACTERS = 8000


def view_of_history(repository: Repository, embedder: Embedder, commit: bytes) -> View:
    """The messages of a commit and its ancestors, newest first, as a view whose ids are those of commits."""
    ids = repository.ancestors([commit], MOST_COMMITS if embedder.is_local else MOST_REMOTE)
    count = len(ids)
    return View(
        [b""] * count,
        np.frombuffer(b"".join(ids), np.uint8).reshape(count, repository.id_length),
        np.zeros(count, np.uint8),
        [LANGUAGE],
        np.zeros(count, np.uint8),
        [""],
        postings.empty(count),
    )


def index_history(repository: Repository, space: Space, embedder: Embedder, view: View, watch: Watch) -> int:
    """Index what the store lacks of a view of history, newest first, until watch's patience ends; how many it lacks.

    A store that cannot be written now stays as it is: history is evidence that may be lacking.
    """
    missing = _missing(space, view)
    if not missing or watch.patience == 0:
        return len(missing)
    try:
        with space.writer(LONGEST_WAIT if watch.patience is None else SHORT_WAIT, watch.waiting):
            missing = _missing(space, view)
            done = _index(repository, space, embedder, missing, watch)
            space.merge_packs()
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
    watch.progress(0, len(commits))
    for batch in _batches(commits, BATCH if embedder.is_local else REMOTE_BATCH):
        found = [message for message in repository.messages(batch) if message is not None]
        _write(space, embedder, vocabulary, found)
        done += len(batch)
        watch.progress(done, len(commits))
        if deadline is not None and time.monotonic() > deadline:
            break
    return done


def _batches(commits: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    left = iter(commits)
    while batch := list(islice(left, size)):
        yield batch


def _write(space: Space, embedder: Embedder, vocabulary: Vocabulary, messages: Sequence[CommitMessage]) -> None:
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
    vectors = embedder.embed([texts[number] for number in kept], bags)
    space.builder().write(blobs, bags, subjects, vectors)
