"""What a model said of a file, kept by the file's blob, the model, and the version of what it was asked.

A cache like the rest of the store, but of text that is not ours: nothing of it is ever cited. Files are written whole
under their final name, so readers need no lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from itza_git.store.container import TEMPORARY, delete, listed

FOLDER = "summaries"


class Summaries:
    """The summaries that one model made of blobs; root is `.git/itza`. version: of the words that it was asked with."""

    def __init__(self, root: Path, model: str, version: int) -> None:
        self._folder = root / FOLDER
        self._model = model
        self._digest = blake2b(f"{version}\0{model}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def get(self, blob: bytes) -> str | None:
        """The summary of a blob; None when there is none that can be read."""
        try:
            found = json.loads(self._path(blob).read_text("utf-8"))
            return found["text"] if found["model"] == self._model and isinstance(found["text"], str) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, blob: bytes, text: str) -> None:
        """Keep the summary of a blob. Where nothing can be written it is made again the next time."""
        path = self._path(blob)
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"model": self._model, "text": text}) + "\n", "utf-8")
            os.replace(temporary, path)

    def _path(self, blob: bytes) -> Path:
        return self._folder / f"{blob.hex()}-{self._digest}.json"


def drop_all_but(root: Path, blobs: Collection[bytes]) -> int:
    """Delete the summaries of all blobs but those, and unfinished writes; returns how many. Raises `StoreError`."""
    kept = {blob.hex() for blob in blobs}
    dropped = 0
    for path in listed(root / FOLDER):
        if path.name.partition("-")[0] not in kept:
            delete(path)
            dropped += not path.name.startswith(TEMPORARY)
    return dropped
