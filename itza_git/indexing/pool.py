"""Several worker processes, each fed one batch at a time."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from pathlib import Path

from itza_git.errors import ItzaError, StoreError
from itza_git.git.environment import for_child
from itza_git.indexing import worker
from itza_git.indexing.blobs import Outcome, Task

MOST_WORKERS = 8


def _workers_for(batches: int) -> int:
    """How many processes are worth starting."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, batches, MOST_WORKERS)


def index_in_processes(git_dir: Path, packs: Path, batches: Sequence[list[Task]]) -> Generator[tuple[int, Outcome]]:
    """(number of tasks, outcome) of each batch as it is done. Stops the workers when the caller stops."""
    waiting: queue.SimpleQueue[list[Task]] = queue.SimpleQueue()
    for batch in batches:
        waiting.put(batch)
    done: queue.SimpleQueue[tuple[int, Outcome] | ItzaError] = queue.SimpleQueue()
    children = [_start(git_dir, packs) for _ in range(_workers_for(len(batches)))]
    threads = [threading.Thread(target=_feed, args=(child, waiting, done), daemon=True) for child in children]
    try:
        for thread in threads:
            thread.start()
        for _ in batches:
            result = done.get()
            if isinstance(result, ItzaError):
                raise result
            yield result
    finally:
        for child in children:
            child.kill()
        for thread in threads:
            thread.join()
        for child in children:
            _reap(child)


def _start(git_dir: Path, packs: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-m", "itza_git.indexing.worker", str(git_dir), str(packs)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=for_child()
    )


def _feed(
    child: subprocess.Popen[str],
    waiting: queue.SimpleQueue[list[Task]],
    done: queue.SimpleQueue[tuple[int, Outcome] | ItzaError],
) -> None:
    """Give a worker one batch after the other. A worker that dies takes its batch with it and is reported."""
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    while True:
        try:
            batch = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            child.stdin.write(worker.encode(batch))
            child.stdin.flush()
            line = child.stdout.readline()
        except (OSError, ValueError):
            line = ""
        try:
            if not line:
                last = child.stderr.read().strip().rpartition("\n")[2]
                raise StoreError(f"indexing stopped: {last or 'a worker process died'}", worker.AGAIN)
            done.put((len(batch), worker.decode(line)))
        except ItzaError as e:
            done.put(e)
            return


def _reap(child: subprocess.Popen[str]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was buffered for a dead worker is lost, as it should be
                continue
    child.wait()
