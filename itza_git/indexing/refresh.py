"""Make the store hold what a commit's tree holds. The tree is the truth: this is called before every answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from itza_git.embedding import Embedder
from itza_git.errors import StoreBusy, StoreError, UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.blobs import BlobIndexer, Outcome, Task
from itza_git.indexing.policy import JUST_CHANGED, LACKING, UNREADABLE, Policy
from itza_git.indexing.views import changed_view, view_of
from itza_git.records import Change, Commit
from itza_git.store import Space, View
from itza_git.store.space import SHORT_WAIT

# Bytes of blobs in one pack while indexing. Small enough that an interrupted run loses little.
LOCAL_BATCH_BYTES = 4 << 20
REMOTE_BATCH_BYTES = 128 << 10
# Below this much text a second process costs more than it gives.
PARALLEL_BYTES = 6 << 20
# Seconds to wait for another process that writes.
LONGEST_WAIT = 600.0


# Is told how far indexing is: how many of how many blobs are in the store.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Watch:
    """Who waits for an index run, and how long. waiting is called once when another process has to be waited for.

    After patience seconds (None: never) the run stops between two packs, and what is there has to do; with 0 nothing
    is written at all. It does too when another process still writes after wait seconds (None: patience, or ten minutes
    and then an error), and when the index cannot be written (a read-only or full disk) though it holds something:
    unwritable is told why (None: raised). remembering is told how many commit messages of how many are in the store,
    summarising how many of the files a model has read that a question about the whole repository needs.
    """

    progress: Progress = lambda done, total: None
    waiting: Callable[[], None] = lambda: None
    patience: float | None = None
    wait: float | None = None
    unwritable: Callable[[StoreError], None] | None = None
    summarising: Progress = lambda done, total: None
    remembering: Progress = lambda done, total: None

    @property
    def is_endless(self) -> bool:
        """Whether an index run is what it waits for, and no answer."""
        return self.patience is None and self.wait is None


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A view, and what it took to have its blobs in the store. reused counts distinct blobs that were there before.

    complete: nothing that can be read is left to be indexed. changed are the paths whose content is not committed;
    empty but for the working tree.
    """

    view: View
    reused: int
    outcome: Outcome
    complete: bool
    changed: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class _Written:
    """What a run wrote, and whether it left nothing that can be read."""

    outcome: Outcome
    complete: bool


class Refresher:
    """Indexes what the store lacks of a tree, each blob once; costs a look-up when nothing is missing.

    Its methods raise `StoreError`, `ModelError`.
    """

    def __init__(self, repository: Repository, space: Space, policy: Policy, embedder: Embedder) -> None:
        self._repository = repository
        self._space = space
        self._policy = policy
        self._embedder = embedder

    def commit(self, commit: Commit, watch: Watch) -> Refreshed:
        """The view of a commit's tree, recorded once the store holds all of it."""
        view = self.view(commit)
        recorded = self._space.records_view(commit.tree, self._policy.name)
        missing = bool(_missing(self._space, view))
        written = _Written(Outcome(), not missing)
        if missing or not recorded or self._space.damaged:
            # Without anything missing there is only a note to write, for which no answer should wait.
            wait = SHORT_WAIT if not missing else longest_wait(watch)
            written = self._try_to_write(view, watch, commit, wait) or written
        return _refreshed(view, written)

    def working_tree(self, head: Commit, watch: Watch) -> Refreshed:
        """The view of HEAD with the uncommitted and untracked files of the working tree; it is never recorded."""
        changes = self._repository.uncommitted(self._policy.max_file_size)
        view = changed_view(self._repository, self.view(head), changes, head, self._policy, self._embedder)
        written = _Written(Outcome(), not _missing(self._space, view))
        if not written.complete:
            written = self._try_to_write(view, watch, None, longest_wait(watch)) or written
        return _refreshed(view, written, changes)

    def view(self, commit: Commit) -> View:
        """The view of a commit's tree, whether or not the store holds its blobs; nothing is written."""
        return view_of(self._repository, self._space, commit, self._policy, self._embedder)

    def _try_to_write(self, view: View, watch: Watch, commit: Commit | None, wait: float) -> _Written | None:
        """What was written; None where nothing could be, and what is there has to do. Raises `StoreError` else."""
        if watch.patience == 0:
            return None
        try:
            return self._write(view, watch, commit, wait)
        except StoreBusy:
            if self._lacking(view) and watch.patience is None and watch.wait is None:
                raise
        except StoreError as e:
            lacking = self._lacking(view)
            if not self._space.folder.exists() or (lacking and lacking == len(view.keys)):
                raise  # there is nothing to answer from
            if lacking:
                if watch.unwritable is None:
                    raise
                watch.unwritable(e)
            # Else only the note that all is there cannot be written (a read-only disk): the answer is still right.
        return None

    def _lacking(self, view: View) -> int:
        """How many of a view's entries the store does not hold."""
        return int(self._space.locate(view.keys)[1].missing.sum())

    def _write(self, view: View, watch: Watch, commit: Commit | None, wait: float) -> _Written:
        """Index what is missing, and record the view as commit's tree unless that is None or something is lacking."""
        with self._space.writer(wait, watch.waiting):
            # Asked again under the lock: another process may just have indexed them.
            tasks = _missing(self._space, view)
            outcome = self._index(tasks, watch, in_process=commit is None) if tasks else Outcome()
            self._space.merge_packs()
            complete = outcome.blobs + len(outcome.unreadable) == len(tasks)
            # What is absent now may be there the next time, so such a view is not kept.
            if commit is not None and complete and LACKING.isdisjoint(view.reasons):
                self._space.write_view(commit.tree, self._policy.name, view)
        return _Written(outcome, complete)

    def _index(self, tasks: Sequence[Task], watch: Watch, in_process: bool) -> Outcome:
        deadline = None if watch.patience is None else time.monotonic() + watch.patience
        outcome = Outcome()
        done = 0
        watch.progress(0, len(tasks))
        with closing(self._run(tasks, in_process)) as batches:
            for count, result in batches:
                done += count
                outcome += result
                watch.progress(done, len(tasks))
                if deadline is not None and time.monotonic() > deadline:
                    break
        return outcome

    def _run(self, tasks: Sequence[Task], in_process: bool) -> Generator[tuple[int, Outcome]]:
        """Number of tasks and outcome of each batch as it is done. Other processes do not know the working tree."""
        local = self._embedder.is_local
        sizes = [_size(self._repository, task.blob) for task in tasks]
        batches = list(_batches(tasks, sizes, LOCAL_BATCH_BYTES if local else REMOTE_BATCH_BYTES))
        if local and not in_process and sum(sizes) > PARALLEL_BYTES:
            # Only here: an index run with nothing to do must not pay for what starts processes.
            from itza_git.indexing.pool import index_in_processes

            yield from index_in_processes(self._repository.git_dir, self._space.packs_folder, batches)
            return
        indexer = BlobIndexer(self._repository, self._space.builder(), self._embedder)
        for batch in batches:
            yield len(batch), indexer.index(batch)


def _refreshed(view: View, written: _Written, changes: Sequence[Change] = ()) -> Refreshed:
    outcome = written.outcome
    reused = len(set(view.keys.tolist())) - outcome.blobs - len(outcome.unreadable)
    rewritten = {change.path: change.new.id for change in changes if change.new and _has_content(change)}
    lost, moving = set(outcome.unreadable), set(outcome.unreadable) & set(rewritten.values())
    for blobs, reason in ((lost - moving, UNREADABLE), (moving, JUST_CHANGED)):
        if blobs:
            view = view.without(blobs, reason)
    return Refreshed(view, max(reused, 0), outcome, written.complete, frozenset(rewritten))


def _has_content(change: Change) -> bool:
    """Whether a change is more than another mode."""
    return change.old is None or change.new is None or change.old.id != change.new.id


def longest_wait(watch: Watch) -> float:
    """How many seconds whoever watches waits for another process that writes."""
    given = (seconds for seconds in (watch.wait, watch.patience) if seconds is not None)
    return min(given, default=LONGEST_WAIT)


def _size(repository: Repository, blob: bytes) -> int:
    try:
        return repository.size(blob)
    except UnreadableObject:  # lost since its view was recorded; reading it says so
        return 0


def _missing(space: Space, view: View) -> list[Task]:
    """The blobs that the store does not hold, each once, in tree order."""
    _, where = space.locate(view.keys)
    entries = view.indexable[where.missing]
    tasks = {view.id[e].tobytes() + view.languages[view.language[e]].encode(): e for e in reversed(entries)}
    return [Task(view.id[e].tobytes(), view.languages[view.language[e]]) for e in sorted(tasks.values())]


def _batches(tasks: Sequence[Task], sizes: Sequence[int], most: int) -> Iterator[list[Task]]:
    batch: list[Task] = []
    filled = 0
    for task, size in zip(tasks, sizes, strict=True):
        if batch and filled + size > most:
            yield batch
            batch, filled = [], 0
        batch.append(task)
        filled += size
    if batch:
        yield batch
