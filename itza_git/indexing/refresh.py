"""Make the store hold what a commit's tree holds. The tree is the truth: this is called before every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from itza_git.embedding import Embedder
from itza_git.errors import StoreError
from itza_git.git import Repository
from itza_git.indexing.blobs import BlobIndexer, Outcome, Task
from itza_git.indexing.policy import Policy
from itza_git.indexing.views import view_of
from itza_git.records import Commit
from itza_git.store import Space, View

# Bytes of blobs in one pack while indexing. Small enough that an interrupted run loses little.
LOCAL_BATCH_BYTES = 3 << 20
REMOTE_BATCH_BYTES = 128 << 10
# Below this much text a second process costs more than it gives.
PARALLEL_BYTES = 6 << 20


# Is told how far indexing is: how many of how many blobs are in the store.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A view whose blobs the store holds, and what it took. reused and new count distinct blobs."""

    view: View
    reused: int
    outcome: Outcome


def refresh(
    repository: Repository,
    space: Space,
    commit: Commit,
    policy: Policy,
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
    waiting: Callable[[], None] = lambda: None,
) -> Refreshed:
    """Index what the store lacks of a commit's tree, each blob once; costs a look-up when nothing is missing.

    waiting is called once when another process is indexing and has to be waited for. Raises `StoreError`, `ModelError`.
    """
    recorded = space.view_path(commit.tree, policy.name).exists()
    view = view_of(repository, space, commit, policy, embedder)
    outcome = Outcome()
    if _missing(space, view):
        with space.writer(waiting=waiting):
            outcome = _index_missing(repository, space, view, embedder, progress)
            space.merge_packs()
            _record(space, commit, policy, view)
    elif not recorded:
        try:
            with space.writer(waiting=waiting):
                _record(space, commit, policy, view)
        except StoreError:
            if not space.folder.exists():
                raise
            # All is known and only the note of it cannot be written (a read-only disk): the answer is still right.
    reused = len(set(view.keys.tolist())) - outcome.blobs - len(outcome.unreadable)
    return Refreshed(view, reused, outcome)


def _record(space: Space, commit: Commit, policy: Policy, view: View) -> None:
    if "unreadable" not in view.reasons:  # what is absent now may be there the next time
        space.write_view(commit.tree, policy.name, view)


def _missing(space: Space, view: View) -> list[Task]:
    """The blobs that the store does not hold, each once, in tree order."""
    _, where = space.locate(view.keys)
    entries = view.indexable[where.missing]
    tasks = {view.id[e].tobytes() + view.languages[view.language[e]].encode(): e for e in reversed(entries)}
    return [Task(view.id[e].tobytes(), view.languages[view.language[e]]) for e in sorted(tasks.values())]


def _index_missing(repository: Repository, space: Space, view: View, embedder: Embedder, progress: Progress) -> Outcome:
    tasks = _missing(space, view)  # again, under the lock: another process may just have indexed them
    done, total = 0, len(tasks)
    outcome = Outcome()
    progress(0, total)
    for count, result in _run(repository, space, tasks, embedder):
        done += count
        outcome += result
        progress(done, total)
    return outcome


def _run(
    repository: Repository, space: Space, tasks: Sequence[Task], embedder: Embedder
) -> Iterator[tuple[int, Outcome]]:
    sizes = [repository.size(task.blob) for task in tasks]
    batches = list(_batches(tasks, sizes, LOCAL_BATCH_BYTES if embedder.is_local else REMOTE_BATCH_BYTES))
    # Only here: an index run with nothing to do must not pay for what starts processes.
    from itza_git.indexing.pool import index_in_processes, workers_for

    workers = workers_for(len(batches)) if embedder.is_local and sum(sizes) > PARALLEL_BYTES else 1
    if workers > 1:
        yield from index_in_processes(repository.git_dir, space.packs_folder, batches, workers)
        return
    indexer = BlobIndexer(repository, space.builder(), embedder)
    for batch in batches:
        yield len(batch), indexer.index(batch)


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
