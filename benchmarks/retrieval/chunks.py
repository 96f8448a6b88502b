"""What the size of chunks and their borders are worth, through the whole product.

    python -m benchmarks.retrieval.chunks QUERIES DIR [--repo NAME ...] [--lines N ...] [--plain]

QUERIES and DIR are as for run.py. For each size the repositories are cloned aside, indexed with chunks of about N
lines (a third more at most) and asked. --plain cuts everything as plain text, whatever its language. The weights of the
ranking are those that were learned at the product's own size, so a difference of a point is none.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.retrieval.run import Query, Scored, load, ranked
from benchmarks.retrieval.scores import means, score, table
from itza_git import Itza, chunking
from itza_git.chunking import data, lines, outline, plain, prose, rules, syntax
from itza_git.indexing import refresh
from itza_git.search.ranking import Evidence

MODULES = (data, lines, outline, prose, rules, syntax)


def measured(size: int, is_plain: bool, asked: dict[str, list[Query]], folder: Path) -> Scored:
    """The scores of all questions with chunks of about size lines."""
    sizes = {"TARGET": size, "CEILING": size * 4 // 3, "SHARED": size * 5 // 6}
    # Worker processes would know nothing of other sizes.
    patches: list[Any] = [patch.object(refresh, "PARALLEL_BYTES", 1 << 60)]
    patches += [
        patch.object(module, name, value)
        for module in MODULES
        for name, value in sizes.items()
        if hasattr(module, name)
    ]
    if is_plain:
        patches.append(patch.object(chunking, "chunk", lambda content, language: plain.chunk(content)))
    for one in patches:
        one.start()
    try:
        return [found for name, queries in asked.items() for found in _asked(folder / name, queries)]
    finally:
        for one in patches:
            one.stop()


def _asked(repository: Path, queries: list[Query]) -> Scored:
    with tempfile.TemporaryDirectory() as aside:
        clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(repository.resolve()), aside]
        subprocess.run(clone, check=True)
        with Itza.open(Path(aside)) as itza:
            itza.refresh()
            return [(query, score(ranked(itza, query["query"], Evidence.ALL), query["targets"])) for query in queries]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--lines", type=int, nargs="+", default=[lines.TARGET])
    parser.add_argument("--plain", action="store_true")
    arguments = parser.parse_args()
    asked = load(arguments.queries, arguments.repo)
    ways = [(size, False) for size in arguments.lines] + [(lines.TARGET, True)] * arguments.plain
    for size, is_plain in ways:
        found = measured(size, is_plain, asked, arguments.dir)
        print(table(f"{size} lines{', plain' * is_plain}", {"": means(found, [])[""]}), flush=True)


if __name__ == "__main__":
    main()
