"""Lineages: the newest ancestors of a commit, kept by the commit, for git takes a while to list 20,000 of them.

What a commit's ancestors are never changes but where a clone is shallow, so the name says where it ends.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itza_git.records import Ancestors
from itza_git.store import container
from itza_git.store.container import Container, delete
from itza_git.store.space import Space, used_last

LINEAGES = "lineages"
# Each is of up to 560 kB, and of interest while somebody works at its commit.
MOST_LINEAGES = 4


class Lineage(NamedTuple):
    """Commits, newest first: ids (A, n), times (A,) in unix seconds."""

    id: NDArray[np.uint8]
    time: NDArray[np.int64]

    @classmethod
    def of(cls, ancestors: Ancestors, id_length: int) -> Lineage:
        """Git's answer as arrays."""
        ids = np.frombuffer(b"".join(ancestors.ids), np.uint8).reshape(-1, id_length)
        return cls(ids, np.array(ancestors.times, np.int64))

    def before(self, older: Lineage, most: int) -> Lineage:
        """Both together, the newest of them: those of an ancestor, and what a commit has more."""
        both = Lineage(np.concatenate([self.id, older.id]), np.concatenate([self.time, older.time]))
        # The commit itself stays the first, whatever its clock said.
        order = np.concatenate([[0], 1 + np.argsort(-both.time[1:], kind="stable")])[:most]
        return Lineage(both.id[order], both.time[order])


class Lineages:
    """Those of one part of a space. policy: how many are listed, and where history ends."""

    def __init__(self, part: Space, policy: str) -> None:
        self._part = part
        self._policy = policy

    def get(self, commit: bytes) -> Lineage | None:
        """A commit and its newest ancestors; None when there are none to be read."""
        try:
            found = self._part.whole(_read, self._path(commit))
        except FileNotFoundError:
            return None
        if found is None:
            return None
        found.touch()  # it decides which are dropped first
        return Lineage(found.array("id"), found.array("time"))

    def has(self, commit: bytes) -> bool:
        """Whether the lineage of a commit lies there."""
        return self._path(commit).exists()

    def latest(self) -> bytes | None:
        """The commit whose lineage was used last: the nearest one to start from."""
        paths = [path for path in used_last(self._part.files(LINEAGES)) if path.stem.endswith(f"-{self._policy}")]
        return bytes.fromhex(paths[0].name.partition("-")[0]) if paths else None

    def put(self, commit: bytes, lineage: Lineage) -> None:
        """Keep a lineage, and drop those not used for longest. Needs the lock; raises `StoreError`."""
        container.write(self._path(commit), "lineage", {}, lineage._asdict())
        for stale in used_last(self._part.files(LINEAGES))[MOST_LINEAGES:]:
            delete(stale)

    def _path(self, commit: bytes) -> Path:
        return self._part.folder / LINEAGES / f"{commit.hex()}-{self._policy}.itza"


def _read(path: Path) -> Container:
    file = Container(path, "lineage").verified()
    for name in Lineage._fields:
        file.array(name)  # raises `Damaged` without it
    return file


def drop_all_but(part: Space, commits: Set[str]) -> None:
    """Delete the lineages of all commits but those (hex ids). Needs the lock."""
    for path in part.files(LINEAGES):
        if path.name.partition("-")[0] not in commits:
            delete(path)
