"""What a ranking is worth: measures over passages and targets, and tables of their means.

A target is {"path"} or {"path", "start", "end"}; a passage hits it when the paths are equal and, where the target has
lines, the lines overlap.

NDCG@10: each target is credited once, at the rank of the first passage that hits it; further passages of a file use up
ranks; the ideal has min(10, targets) gains at the top.
NDCG@10 file: the same over distinct files, first mention first, lines ignored; a file is one target.
hit@5: 1 when a target's file is among the first five passages, whatever the lines.
span@5: 1 when one of the first five passages hits a target with its lines.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from itza_git.records import Passage

K = 10
FIRST = 5

Target = Mapping[str, Any]
Score = dict[str, float]  # by measure

MEASURES = ("NDCG@10", "NDCG@10 file", "hit@5", "span@5")


def score(passages: Sequence[Passage], targets: Sequence[Target]) -> Score:
    """Every measure of one ranking, best passage first."""
    paths = [_path(passage) for passage in passages]
    files = list(dict.fromkeys(paths[:K]))
    wanted = list(dict.fromkeys(str(target["path"]) for target in targets))
    return {
        "NDCG@10": ndcg(passages, targets),
        "NDCG@10 file": _gain({files.index(path) for path in wanted if path in files}, len(wanted)),
        "hit@5": float(any(path in wanted for path in paths[:FIRST])),
        "span@5": float(any(first_hit(passages[:FIRST], target) is not None for target in targets)),
    }


def ndcg(passages: Sequence[Passage], targets: Sequence[Target]) -> float:
    """NDCG@10 as the module says."""
    return _gain({rank for target in targets if (rank := first_hit(passages, target)) is not None}, len(targets))


def first_hit(passages: Sequence[Passage], target: Target) -> int | None:
    """The rank, from 0, of the first passage that hits a target."""
    for rank, passage in enumerate(passages[:K]):
        if _path(passage) != target["path"]:
            continue
        if "start" not in target or (passage.first <= target["end"] and target["start"] <= passage.last):
            return rank
    return None


def _path(passage: Passage) -> str:
    return passage.path.decode("utf-8", "replace")


def _gain(ranks: Iterable[int], targets: int) -> float:
    ideal = range(min(K, targets))
    return sum(1 / math.log2(rank + 2) for rank in ranks) / sum(1 / math.log2(rank + 2) for rank in ideal)


def means(scored: Sequence[tuple[Target, Score]], keys: Sequence[str]) -> dict[str, Score]:
    """The mean of each measure over the questions that agree in the keys, and their number as "n"."""
    groups: dict[str, list[Score]] = defaultdict(list)
    for query, one in scored:
        groups[" ".join(str(query.get(key, "")) for key in keys)].append(one)
    return {
        name: {"n": len(ones)} | {measure: statistics.mean(one[measure] for one in ones) for measure in MEASURES}
        for name, ones in sorted(groups.items())
    }


def table(title: str, rows: Mapping[str, Score]) -> str:
    """A Markdown table of means."""
    head = [f"| {title} | n | {' | '.join(MEASURES)} |", f"|---|{'---|' * (1 + len(MEASURES))}"]
    body = [
        f"| {name} | {row['n']:.0f} | {' | '.join(f'{row[measure]:.3f}' for measure in MEASURES)} |"
        for name, row in rows.items()
    ]
    return "\n".join([*head, *body])
