"""How well retrieval alone parts questions that a repository answers from questions about other repositories.

    python -m benchmarks.gate QUERIES DIR

QUERIES and DIR are as for benchmarks/retrieval/run.py. Each repository is asked eight questions of its own and eight of
the others; some of those it can answer too, so the second figure can never reach 1. Prints, for the threshold of
itza_git/search/retrieval.py and for some around it, the share of a repository's own questions that would be refused,
and of the others'.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from benchmarks.retrieval.run import load
from itza_git import Itza
from itza_git.search.retrieval import ENOUGH

EACH = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dir", type=Path)
    arguments = parser.parse_args()
    by_repository = load(arguments.queries, [])
    chosen = random.Random(1)
    own: list[float] = []
    others: list[float] = []
    for name, asked in by_repository.items():
        foreign = [query for other, queries in by_repository.items() if other != name for query in queries]
        with Itza.open(arguments.dir / name) as itza:
            for found, queries in ((own, asked), (others, foreign)):
                for query in chosen.sample(queries, min(EACH, len(queries))):
                    found.append(itza.search(query["query"], limit=5).found.strength)
    print("weak below  own refused  others refused")
    for enough in (ENOUGH - 0.1, ENOUGH - 0.05, ENOUGH, ENOUGH + 0.05):
        refused = [sum(strength < enough for strength in rows) / len(rows) for rows in (own, others)]
        print(f"{enough:10.2f}  {refused[0]:11.3f}  {refused[1]:14.3f}")


if __name__ == "__main__":
    main()
