"""Retrieval quality through the product's own API.

    python benchmarks/retrieval/run.py QUERIES DIR [--repo NAME ...] [--json FILE]

QUERIES is a JSON-lines file of {"repo", "query", "category", "language", "keep", "targets"}, where a target is
{"path"} or {"path", "start", "end"}; DIR holds one git repository a name. Each is indexed with `Itza.refresh` and asked
with `Itza.search`.

NDCG@10: each target is credited once, at the rank of the first result that hits it (equal paths, and overlapping lines
where the target has lines); further passages of a file use up ranks; the ideal has min(10, targets) gains at the top.
hit@5: the part of the questions that have a target among the first five results.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from itza_git import Itza
from itza_git.records import Passage

K = 10
FIRST = 5


def ndcg(passages: Sequence[Passage], targets: Sequence[dict[str, Any]]) -> float:
    """NDCG@10 as the module says."""
    ranks = {rank for target in targets if (rank := first_hit(passages, target)) is not None}
    gained = sum(1 / math.log2(rank + 2) for rank in ranks)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(K, len(targets))))


def first_hit(passages: Sequence[Passage], target: dict[str, Any]) -> int | None:
    """The rank, from 0, of the first passage that hits a target."""
    for rank, passage in enumerate(passages[:K]):
        if passage.path.decode("utf-8", "replace") != target["path"]:
            continue
        if "start" not in target or (passage.first <= target["end"] and target["start"] <= passage.last):
            return rank
    return None


def hit(passages: Sequence[Passage], targets: Sequence[dict[str, Any]]) -> float:
    """1 when a target is among the first five passages."""
    return float(any(first_hit(passages[:FIRST], target) is not None for target in targets))


def load(path: Path, repositories: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The queries by repository, those without a target left out."""
    by_repository = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        query = json.loads(line)
        if query.get("keep", True) and query["targets"] and (not repositories or query["repo"] in repositories):
            by_repository[query["repo"]].append(query)
    return by_repository


def table(title: str, groups: dict[str, list[float]], measure: str = "NDCG@10") -> str:
    """Means by group, with the size of each."""
    rows = [f"{title:24}{'n':>6}{measure:>10}"]
    rows += [f"{name:24}{len(values):>6}{statistics.mean(values):>10.4f}" for name, values in sorted(groups.items())]
    return "\n".join(rows)


def grouped(scored: Iterable[tuple[dict[str, Any], float]], key: str) -> dict[str, list[float]]:
    """The scores by one key of their queries."""
    groups = defaultdict(list)
    for query, score in scored:
        groups[str(query.get(key, ""))].append(score)
    return groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--json", type=Path, help="write each query's score to this file")
    arguments = parser.parse_args()
    scored: list[tuple[dict[str, Any], float]] = []
    hits: list[tuple[dict[str, Any], float]] = []
    times: list[float] = []
    for name, queries in load(arguments.queries, arguments.repo).items():
        if not (arguments.dir / name).is_dir():
            print(f"{name}: absent, passed over")
            continue
        with Itza.open(arguments.dir / name) as itza:
            itza.refresh()
            for query in queries:
                started = time.perf_counter()
                found = itza.search(query["query"], limit=K)
                times.append(time.perf_counter() - started)
                passages = [one.passage for one in found.hits]
                scored.append((query, ndcg(passages, query["targets"])))
                hits.append((query, hit(passages, query["targets"])))
    for key in ("repo", "language", "category"):
        print(table(f"by {key}", grouped(scored, key)) + "\n")
    print(table("by language", grouped(hits, "language"), "hit@5") + "\n")
    overall = [score for _, score in scored]
    print(table("overall", {"mean over queries": overall}))
    print(f"a query inside one process: median {statistics.median(times) * 1e3:.1f} ms")
    if arguments.json:
        arguments.json.write_text(json.dumps([{"query": q["query"], "repo": q["repo"], "score": s} for q, s in scored]))


if __name__ == "__main__":
    main()
