"""Chunks a second of one processor, stage by stage, against finding the identifiers of the same text with `re`.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.pipeline REPOSITORY

REPOSITORY is cloned to a temporary folder (its objects are shared), and the blobs of HEAD's tree are indexed in this
process, in packs of about the size that an index run makes. Processor time; `re` looks at the very same blobs.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import ParamSpec, TypeVar
from unittest import mock

from benchmarks.speed import git
from itza_git import Itza
from itza_git.chunking.languages import language_of
from itza_git.indexing import blobs
from itza_git.indexing.blobs import BlobIndexer, Task

P = ParamSpec("P")
T = TypeVar("T")

BLOBS = 400  # about what makes a pack
IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    with tempfile.TemporaryDirectory() as folder:
        git(Path(), "clone", "-q", "--shared", str(parser.parse_args().repository.resolve()), folder)
        with Itza.open(folder) as itza:
            measure(itza)


def measure(itza: Itza) -> None:
    """Print what each stage takes."""
    entries = {entry.id: Task(entry.id, language_of(entry.path)) for entry in itza.repository.tree(itza.resolve().tree)}
    tasks = list(entries.values())
    seconds: dict[str, float] = defaultdict(float)
    chunks = 0
    examine = timed(seconds, "chunks", blobs.examine)
    with mock.patch.object(blobs, "examine", examine), itza.space.writer():
        indexer = BlobIndexer(itza.repository, itza.space.builder(), itza.embedder)
        batches = iter(tasks)
        while batch := list(islice(batches, BLOBS)):
            chunks += timed(seconds, "all", indexer.index)(batch).chunks
            timed(seconds, "read", read)(itza, batch)
            timed(seconds, "found", lambda batch=batch: [IDENTIFIER.findall(data) for data in read(itza, batch)])()
    found = seconds["found"] - seconds["read"]
    stages = {
        "words, vectors, postings, pack": seconds["all"] - seconds["chunks"] - seconds["read"],
        "grammars and chunks": seconds["chunks"],
        "all, reading included": seconds["all"],
    }
    print(f"{chunks} chunks; their identifiers by `re` in {found:.2f} s")
    for name, taken in stages.items():
        print(f"{name:31} {chunks / taken:7.0f} chunks a second  {taken / found:6.2f} x")


def read(itza: Itza, batch: Sequence[Task]) -> list[bytes]:
    """The content of each blob that can be read."""
    contents = itza.repository.read_many(task.blob for task in batch)
    return [data for _, data in contents if data is not None]


def timed(seconds: dict[str, float], name: str, action: Callable[P, T]) -> Callable[P, T]:
    """The action, whose processor time is added up under a name."""

    def run(*args: P.args, **options: P.kwargs) -> T:
        started = time.process_time()
        try:
            return action(*args, **options)
        finally:
            seconds[name] += time.process_time() - started

    return run


if __name__ == "__main__":
    main()
