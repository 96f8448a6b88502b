"""Retrieval quality through the product's own API.

    python -m benchmarks.retrieval.run QUERIES DIR [--repo NAME ...] [--evidence PART ...] [--results NAME] [--json F]

QUERIES is a JSON-lines file of {"repo", "query", "category", "language", "keep", "targets"}, where a target is
{"path"} or {"path", "start", "end"}; DIR holds one git repository a name. Each is indexed with `Itza.refresh` and asked
with `Itza.search`. scores.py says what is measured. --evidence takes the ranking apart: what the lexical order alone
is worth, the dense one, both fused, and `all`, which is the product. --json F writes every question's scores;
--results NAME keeps the tables as results/NAME-VERSION.md and .json beside this file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval.scores import K, Score, means, ndcg, score, table
from itza_git import Itza, __version__
from itza_git.records import Passage
from itza_git.search.question import Question
from itza_git.search.ranking import Evidence
from itza_git.search.retrieval import search

__all__ = ["K", "load", "ndcg"]  # training/ranker.py measures with the same

RESULTS = Path(__file__).with_name("results")
ENOUGH = 20  # questions of a language whose categories are worth a row

Query = dict[str, Any]
Scored = list[tuple[Query, Score]]


def load(path: Path, repositories: Sequence[str]) -> dict[str, list[Query]]:
    """The queries by repository, those without a target left out."""
    by_repository = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        query = json.loads(line)
        if query.get("keep", True) and query["targets"] and (not repositories or query["repo"] in repositories):
            by_repository[query["repo"]].append(query)
    return by_repository


def measured(
    folder: Path, queries: Sequence[Query], parts: Sequence[Evidence]
) -> tuple[dict[Evidence, Scored], list[float]]:
    """The scores of one repository's questions by evidence, and the seconds of each search of the product."""
    scored: dict[Evidence, Scored] = {part: [] for part in parts}
    times = []
    with Itza.open(folder) as itza:
        itza.refresh()
        for query in queries:
            for part in parts:
                started = time.perf_counter()
                passages = ranked(itza, query["query"], part)
                if part is Evidence.ALL:
                    times.append(time.perf_counter() - started)
                scored[part].append((query, score(passages, query["targets"])))
    return scored, times


def ranked(itza: Itza, query: str, part: Evidence) -> list[Passage]:
    """The best passages: as the product ranks them, or by a part of its evidence alone."""
    if part is Evidence.ALL:
        return [hit.passage for hit in itza.search(query, limit=K).hits]
    return search(itza.corpus(), Question(query), itza.embedder, K, evidence=part).passages


def report(scored: dict[Evidence, Scored]) -> tuple[str, dict[str, Any]]:
    """The tables as Markdown, and the same figures as plain data; the product's own in more detail."""
    figures: dict[str, Any] = {"evidence": {part.value: means(ones, [])[""] for part, ones in scored.items()}}
    for part, ones in scored.items():
        figures[f"{part.value}, by language"] = means(ones, ["language"])
        if part is Evidence.ALL:
            asked = Counter(query["language"] for query, _ in ones)
            told = [(query, one) for query, one in ones if asked[query["language"]] >= ENOUGH]
            figures["all, by language and category"] = means(told, ["language", "category"])
            figures["all, by repository"] = means(ones, ["repo"])
    return "\n\n".join(table(title, rows) for title, rows in figures.items()), figures


def keep(name: str, tables: str, figures: dict[str, Any]) -> None:
    """Write what a version of the product reached."""
    RESULTS.mkdir(exist_ok=True)
    to = RESULTS / f"{name}-{__version__}.md"
    to.write_text(f"# {name}, git-itza {__version__}\n\n{tables}\n", "utf-8")
    rounded = json.loads(json.dumps(figures), parse_float=lambda digits: round(float(digits), 4))
    to.with_suffix(".json").write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--evidence", action="append", choices=[part.value for part in Evidence], default=[])
    parser.add_argument("--json", type=Path, help="write each question's scores to this file")
    parser.add_argument("--results", metavar="NAME", help="keep the tables beside this file")
    arguments = parser.parse_args()
    parts = [Evidence(name) for name in arguments.evidence] or [Evidence.ALL]
    scored: dict[Evidence, Scored] = {part: [] for part in parts}
    times: list[float] = []
    for name, queries in load(arguments.queries, arguments.repo).items():
        if not (arguments.dir / name).is_dir():
            print(f"{name}: absent, passed over")
            continue
        found, took = measured(arguments.dir / name, queries, parts)
        for part, ones in found.items():
            scored[part] += ones
        times += took
    tables, figures = report(scored)
    print(tables)
    if times:
        print(f"\na query inside one process: median {statistics.median(times) * 1e3:.1f} ms")
    if arguments.results:
        keep(arguments.results, tables, figures)
    if arguments.json:
        lines = [
            {"evidence": part.value, "query": query["query"], "repo": query["repo"]} | one
            for part, ones in scored.items()
            for query, one in ones
        ]
        arguments.json.write_text(json.dumps(lines, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
