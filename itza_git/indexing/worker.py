"""A child process that indexes batches of blobs with the embedded model: `python -m itza_git.indexing.worker`.

The parent writes one JSON line a batch, `[[blob hex, language], ...]`, and reads one line back: an outcome, or
`{"error": ..., "hint": ...}`. The end of the input ends the worker. Plain pipes instead of multiprocessing, because a
program that calls the library need not guard its main module, and because a fork of a process that has numpy's threads
is not safe.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from itza_git import jsontext
from itza_git.embedding.builtin import Builtin
from itza_git.errors import ItzaError, StoreError
from itza_git.git import open_repository
from itza_git.indexing.blobs import BlobIndexer, Outcome, Task
from itza_git.store import PackBuilder

AGAIN = "run it again: git itza index"


def encode(tasks: list[Task]) -> str:
    """One line that asks for a batch."""
    return json.dumps([[task.blob.hex(), task.language] for task in tasks]) + "\n"


def decode(line: str) -> Outcome:
    """The outcome that a worker's line tells. Raises `StoreError` when it tells of an error, or of nothing."""
    try:
        told: dict[str, Any] = jsontext.parse(line)
    except ValueError as e:
        raise StoreError(f"indexing stopped: a worker process said {line.strip()!r}", AGAIN) from e
    if "error" in told:
        raise StoreError(told["error"], told["hint"])
    for name in ("lossy", "unreadable"):
        told[name] = tuple(map(bytes.fromhex, told[name]))
    return Outcome(**told)


def main(git_dir: str, packs: str) -> None:
    """Serve the parent until it closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it then closes the pipe
    repository = open_repository(Path(git_dir))
    indexer = BlobIndexer(repository, PackBuilder(Path(packs), repository.id_length), Builtin())
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_told(indexer, line)) + "\n")
        sys.stdout.flush()


def _told(indexer: BlobIndexer, line: str) -> dict[str, Any]:
    try:
        outcome = indexer.index([Task(bytes.fromhex(blob), language) for blob, language in json.loads(line)])
    except ItzaError as e:
        return {"error": str(e), "hint": e.hint}
    told = {name: getattr(outcome, name) for name in outcome.__slots__}
    for name in ("lossy", "unreadable"):
        told[name] = [blob.hex() for blob in told[name]]
    return told


if __name__ == "__main__":
    main(*sys.argv[1:])
