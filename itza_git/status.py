"""The state of the index: what it holds of HEAD and of each local branch, and what a run of indexing did to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from itza_git.config import Settings
from itza_git.embedding import Embedder
from itza_git.git import Repository
from itza_git.indexing import Policy, Refreshed
from itza_git.indexing.coverage import coverages
from itza_git.records import Branch, Commit, Coverage, Head
from itza_git.results import BranchStatus, IndexReport, Status
from itza_git.search.corpus import Corpus
from itza_git.store import Space
from itza_git.store.space import RecordedHead
from itza_git.store.troubles import troubles
from itza_git.trees import settings_at


def report(rev: str, commit: Commit, refreshed: Refreshed, space: Space, notes: Sequence[str]) -> IndexReport:
    """What an index run did; notes are what in the tree's `.itzaconfig` does not count."""
    view, outcome = refreshed.view, refreshed.outcome
    lossy = set(outcome.lossy)
    paths = [path for path, id_ in zip(view.paths, view.id, strict=True) if id_.tobytes() in lossy]
    return IndexReport(
        rev,
        commit.id.hex(),
        Corpus(space, view).coverage,
        outcome.blobs,
        refreshed.reused,
        outcome.chunks,
        outcome.not_embedded,
        tuple(paths),
        tuple(notes),
    )


def status(
    repository: Repository,
    space: Space,
    settings: Settings,
    embedder: Embedder,
    policy_of: Callable[[Commit], Policy],
) -> Status:
    """The state of a space; nothing is written. Raises `StoreError`, `ModelError`, `UnreadableObject` for HEAD's."""
    head = repository.head()
    recorded = space.heads()
    branches = repository.branches()
    commits = [branch.commit for branch in branches] + ([head.commit] if head.commit else [])
    covered = coverages(repository, space, policy_of, commits)
    told, unreadable = [], []
    for branch in branches:
        coverage = covered[branch.commit.id]
        if isinstance(coverage, Coverage):
            told.append(_branch_status(branch, coverage, head, recorded))
        else:
            unreadable.append(f"branch {branch.name}: {coverage}")
    current = next((branch for branch in told if branch.is_head), None)
    if current is None and head.commit is not None:
        coverage = covered[head.commit.id]
        if not isinstance(coverage, Coverage):
            raise coverage
        current = BranchStatus("HEAD", head.commit.id.hex(), coverage, True)
    identity = embedder.identity
    return Status(
        current,
        tuple(told),
        f"{identity.embedder}/{identity.model}",
        space.recipe.name,
        settings.answer_model,
        space.root,
        space.size(),
        len(space.packs()),
        (*map(str, space.damaged), *unreadable),
        (*troubles(space), *_notes(repository, settings, head)),
    )


def _notes(repository: Repository, settings: Settings, head: Head) -> list[str]:
    """What in the `.itzaconfig` of HEAD's tree does not count."""
    return settings_at(repository, settings, head.commit)[1] if head.commit else []


def _branch_status(
    branch: Branch, coverage: Coverage, head: Head, recorded: Mapping[str, RecordedHead]
) -> BranchStatus:
    ref = f"refs/heads/{branch.name}"
    known = recorded.get(ref)
    return BranchStatus(
        branch.name,
        branch.commit.id.hex(),
        coverage,
        head.ref == ref,
        known.commit if known else None,
        known.time if known else None,
    )
