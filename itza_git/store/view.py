"""Views: which blobs one root tree holds at which paths. Named by the tree, so a view is never stale."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itza_git.records import Skipped
from itza_git.store import container
from itza_git.store.container import Container
from itza_git.store.pack import key_of, keys_array
from itza_git.store.postings import Postings

PATH_FIELD = "path"


@dataclass(frozen=True)
class View:
    """The entries of a tree, as arrays of one length E, in git's order.

    id: (E, n) bytes of the blob ids; language and reason: indexes into the tables (reason 0 is "": to be indexed);
    path_terms: a row is an entry; path_vector (E, D) and path_scale: only with a local embedder.
    file is what they are mapped from, None for a view that was made and not read.
    """

    paths: Sequence[bytes]
    id: NDArray[np.uint8]
    language: NDArray[np.uint8]
    languages: Sequence[str]
    reason: NDArray[np.uint8]
    reasons: Sequence[str]
    path_terms: Postings
    path_vector: NDArray[np.int8] | None = None
    path_scale: NDArray[np.float32] | None = None
    file: Container | None = None

    def __len__(self) -> int:
        return len(self.id)

    @property
    def is_current(self) -> bool:
        """Whether the file that it was read from is still what was opened."""
        return self.file is None or self.file.is_current

    @cached_property
    def indexable(self) -> NDArray[np.int64]:
        """The entries that are searched."""
        return np.flatnonzero(self.reason == 0)

    @cached_property
    def keys(self) -> NDArray[np.bytes_]:
        """The pack key of each indexable entry."""
        suffix = b"".join(key_of(b"", language) for language in self.languages)
        ids = self.id[self.indexable]
        tails = np.frombuffer(suffix, np.uint8).reshape(-1, 4)[self.language[self.indexable]]
        joined = np.ascontiguousarray(np.concatenate([ids, tails], axis=1))
        if not len(joined):
            return keys_array([], self.id.shape[1])
        return joined.view(f"S{joined.shape[1]}").reshape(-1)

    def without(self, blobs: Collection[bytes], reason: str) -> View:
        """The view with the entries of these blobs skipped for a reason."""
        reasons = [*self.reasons, *({reason} - set(self.reasons))]
        named = np.fromiter((id_.tobytes() in blobs for id_ in self.id), bool, len(self))
        return replace(self, reason=np.where(named, np.uint8(reasons.index(reason)), self.reason), reasons=reasons)

    def skipped(self) -> list[Skipped]:
        """The entries that are not searched, with their reasons."""
        return [Skipped(self.paths[e], self.reasons[int(self.reason[e])]) for e in np.flatnonzero(self.reason).tolist()]

    def write(self, path: Path) -> None:
        """Write the view's file; raises `StoreError`."""
        sections: dict[str, NDArray[Any]] = {
            "path_start": np.cumsum([0] + [len(p) for p in self.paths]).astype(np.uint32),
            "path_text": np.frombuffer(b"".join(self.paths), np.uint8),
            "id": self.id,
            "language": self.language,
            "reason": self.reason,
        }
        sections |= self.path_terms.sections(PATH_FIELD)
        if self.path_vector is not None and self.path_scale is not None:
            sections |= {"path_vector": self.path_vector, "path_scale": self.path_scale}
        container.write(path, "view", {"languages": list(self.languages), "reasons": list(self.reasons)}, sections)

    @classmethod
    def read(cls, path: Path) -> View:
        """The view of a file. Raises FileNotFoundError, `Damaged`."""
        # Checked whole, since views are made from views.
        file = Container(path, "view").verified()
        start, text = file.array("path_start").tolist(), file.array("path_text").tobytes()
        has_vectors = "path_vector" in file
        return cls(
            [text[a:b] for a, b in pairwise(start)],
            file.array("id"),
            file.array("language"),
            file.meta["languages"],
            file.array("reason"),
            file.meta["reasons"],
            Postings.read(file, PATH_FIELD),
            file.array("path_vector") if has_vectors else None,
            file.array("path_scale") if has_vectors else None,
            file,
        )
