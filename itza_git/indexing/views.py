"""From a tree to its view; from the nearest known view when there is one, so that a commit costs what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.chunking.languages import language_of
from itza_git.embedding import Embedder
from itza_git.errors import UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.policy import Policy
from itza_git.records import Change, Commit, Entry
from itza_git.store import Space, View
from itza_git.store.pack import quantise
from itza_git.store.postings import Postings, from_bags
from itza_git.words import Vocabulary

_ATTRIBUTES_FILE = b".gitattributes"


@dataclass(slots=True)
class _Row:
    """One entry of a view under construction; vector is the row of the base view that has its path's vector."""

    id: bytes
    language: str
    reason: str
    vector: int = -1


def view_of(repository: Repository, space: Space, commit: Commit, policy: Policy, embedder: Embedder) -> View:
    """The view of a commit's tree: recorded, or built and not yet recorded."""
    recorded = space.view(commit.tree, policy.name)
    if recorded is not None:
        return recorded
    base = space.latest_view(policy.name)
    if base is not None:
        try:
            changes = repository.diff(base[0], commit.tree)
        except UnreadableObject:  # the old tree was pruned
            changes = None
        if changes is not None and not judges_anew(changes):
            return changed_view(repository, base[1], changes, commit, policy, embedder)
    rows = _judged(repository, repository.tree(commit.tree), commit, policy)
    return _assemble(rows, None, embedder, len(commit.tree))


def judges_anew(changes: Sequence[Change]) -> bool:
    """Whether changes may alter what is said of paths that they do not name."""
    return any(change.path.endswith(_ATTRIBUTES_FILE) for change in changes)


def reasons_of(repository: Repository, entries: Sequence[Entry], commit: Commit, policy: Policy) -> list[str]:
    """The reason to skip each entry of a commit's tree, "" for those that are searched."""
    attributes = repository.attributes(commit.id, [entry.path for entry in entries])
    judge = policy.judge()
    return [judge(entry, attributes.get(entry.path), repository.size) for entry in entries]


def _judged(repository: Repository, entries: Sequence[Entry], commit: Commit, policy: Policy) -> dict[bytes, _Row]:
    reasons = reasons_of(repository, entries, commit, policy)
    return {
        entry.path: _Row(entry.id, language_of(entry.path), reason)
        for entry, reason in zip(entries, reasons, strict=True)
    }


def changed_view(
    repository: Repository, base: View, changes: Sequence[Change], commit: Commit, policy: Policy, embedder: Embedder
) -> View:
    """A view with changes made to it; attributes are those of the commit."""
    rows = {
        path: _Row(id_.tobytes(), base.languages[language], base.reasons[reason], number)
        for number, (path, id_, language, reason) in enumerate(
            zip(base.paths, base.id, base.language.tolist(), base.reason.tolist(), strict=True)
        )
    }
    fresh = _judged(repository, [change.new for change in changes if change.new], commit, policy)
    for change in changes:
        old = rows.pop(change.path, None)
        if change.path in fresh:
            rows[change.path] = fresh[change.path]
            rows[change.path].vector = old.vector if old else -1
    return _assemble(dict(sorted(rows.items())), base, embedder, len(commit.tree))


def _assemble(rows: dict[bytes, _Row], base: View | None, embedder: Embedder, id_length: int) -> View:
    languages = sorted({row.language for row in rows.values()})
    reasons = ["", *sorted({row.reason for row in rows.values()} - {""})]
    language_number = {language: n for n, language in enumerate(languages)}
    reason_number = {reason: n for n, reason in enumerate(reasons)}
    ids = b"".join(row.id for row in rows.values())
    vector, scale = _path_vectors(rows, base, embedder) if embedder.is_local else (None, None)
    return View(
        list(rows),
        np.frombuffer(ids, np.uint8).reshape(len(rows), -1) if rows else np.empty((0, id_length), np.uint8),
        np.array([language_number[row.language] for row in rows.values()], np.uint8),
        languages,
        np.array([reason_number[row.reason] for row in rows.values()], np.uint8),
        reasons,
        _path_terms(rows, base),
        vector,
        scale,
    )


def _path_terms(rows: dict[bytes, _Row], base: View | None) -> Postings:
    """The terms of all paths; those of the base view where the paths are the same, as after most commits."""
    if base is not None and list(rows) == list(base.paths):
        return base.path_terms
    return from_bags(Vocabulary().count([path_text(path) for path in rows]), np.uint32)


def path_text(path: bytes) -> str:
    """What of a path is evidence: its folders and its name without the last extension."""
    folder, _, name = path.decode("utf-8", "replace").rpartition("/")
    return f"{folder}/{name.rpartition('.')[0] or name}"


def _path_vectors(
    rows: dict[bytes, _Row], base: View | None, embedder: Embedder
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    dimension = embedder.identity.dimension
    vector = np.zeros((len(rows), dimension), np.int8)
    scale = np.zeros(len(rows), np.float32)
    known = np.array([row.vector for row in rows.values()], np.int64)
    if base is not None and base.path_vector is not None and base.path_scale is not None:
        vector[known >= 0] = base.path_vector[known[known >= 0]]
        scale[known >= 0] = base.path_scale[known[known >= 0]]
    else:
        known[:] = -1
    fresh = np.flatnonzero(known < 0)
    paths = list(rows)
    texts = [path_text(paths[n]) for n in fresh]
    if texts:
        vector[fresh], scale[fresh] = quantise(embedder.embed(texts, Vocabulary().count(texts)))
    return vector, scale
