"""Time of a query inside one process, against one product of as many float32 vectors in the same run.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.query REPOSITORY [--runs 7]

REPOSITORY is cloned to a temporary folder (its objects are shared) and indexed there, with its messages. Every fourth
natural question, whatever repository it was written for, is asked `runs` times in turns with the product; of each the
least counts, since other work on the machine only ever adds. A second processor, where there is one, takes a part of a
query: the time that passes is printed, and that of all processors. What is kept from one question to the next is warm.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed import git
from itza_git import Itza

QUESTIONS = Path(__file__).with_name("retrieval") / "natural.jsonl"
EACH = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        git(Path(), "clone", "-q", "--shared", str(arguments.repository.resolve()), folder)
        with Itza.open(folder) as itza:
            itza.refresh()
            itza.remember()
            measure(itza, arguments.runs)


def measure(itza: Itza, runs: int) -> None:
    """Print what a query takes, and what the product does."""
    asked = [json.loads(line)["query"] for line in QUESTIONS.read_text("utf-8").splitlines()[::EACH]]
    rows, dimension = len(itza.corpus()), itza.embedder.identity.dimension
    vectors = np.ones((rows, dimension), np.float32)
    for told, clock in (("time that passes", time.perf_counter), ("of all processors", time.process_time)):
        least, product = dict.fromkeys(asked, float("inf")), float("inf")
        for _ in range(runs):
            for query in asked:
                least[query] = min(least[query], seconds(clock, partial(itza.search, query)))
                product = min(product, seconds(clock, partial(np.dot, vectors, vectors[0])))
        middle, most = statistics.median(least.values()), max(least.values())
        print(f"{len(asked)} questions over {rows} passages, the least of {runs} times each, {told}")
        print(f"a product of {rows} x {dimension} float32  {product * 1e3:6.2f} ms")
        print(f"a query, median                   {middle * 1e3:6.2f} ms  {middle / product:5.2f} x")
        print(f"a query, the slowest              {most * 1e3:6.2f} ms  {most / product:5.2f} x")


def seconds(clock: Callable[[], float], action: Callable[[], object]) -> float:
    """How long an action takes, by a clock."""
    started = clock()
    action()
    return clock() - started


if __name__ == "__main__":
    main()
