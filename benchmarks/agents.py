"""What an agent pays for an answer over the Model Context Protocol, beside what it reads without.

    python -m benchmarks.agents DIR [--queries FILE] [--repo NAME ...] [--cold NAME ...]

DIR holds one git repository a name; FILE is a JSON-lines file as of retrieval/natural.jsonl, and those of its questions
are asked whose repository is there. The server is a process of its own, as a client starts it, in a copy of the
repository. Three ways to come by the code that answers a question are compared:

- `search_codebase` with nothing but the question;
- the files that it names, read whole;
- `git grep` for the question's rarest word that the tree holds, and 20 lines around each match.

A way has found it when a line of a target is among those read.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from benchmarks.retrieval.run import load
from itza_git.search.question import Question

NATURAL = Path(__file__).with_name("retrieval") / "natural.jsonl"
AROUND = 20
QUESTION = "how does it start, and where is its configuration read?"

IMPORTS = "import mcp.server"

Query = dict[str, Any]
Lines = dict[str, set[int]]


@dataclass
class Way:
    """One way over all questions: the characters read for each, and whether a target was among them."""

    characters: list[int]
    found: list[bool]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--queries", type=Path, default=NATURAL)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--cold", action="append", default=[], help="measure the first answer in this repository")
    given = parser.parse_args()
    queries = {
        name: asked
        for name, asked in load(given.queries, given.repo).items()
        if (given.folder / name / ".git").exists()
    }
    ways = {name: Way([], []) for name in ("search", "whole files", "git grep and 20 lines")}
    later: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, asked in queries.items():
            copy = copied(given.folder / name, Path(scratch) / name)
            anyio.run(answer, copy, asked, ways, later)
            print(f"{name}: {len(asked)} questions", file=sys.stderr)
        for name in given.cold:
            copy = copied(given.folder / name, Path(scratch) / f"{name}-cold")
            first_answers(name, copy)
    report(ways, later)


def copied(repository: Path, to: Path) -> Path:
    """A clone without an index."""
    subprocess.run(["git", "clone", "-q", "--local", repository, to], check=True, capture_output=True)
    return to


def server(folder: Path) -> Client:
    """A client of a server in a folder."""
    command = str(Path(sys.executable).with_name("git-itza"))
    return Client(stdio_client(StdioServerParameters(command=command, args=["mcp"], cwd=folder)), mode="legacy")


async def answer(folder: Path, queries: Sequence[Query], ways: dict[str, Way], later: list[float]) -> None:
    """Ask all questions about one repository, with the index made first."""
    subprocess.run([sys.executable, "-m", "itza_git.cli", "index"], cwd=folder, check=True, capture_output=True)
    async with server(folder) as client:
        await called(client, QUESTION)
        for query in queries:
            began = time.perf_counter()
            text = await called(client, query["query"])
            later.append(time.perf_counter() - began)
            shown = lines_of(text)
            note(ways["search"], len(text), shown, query)
            whole = {path: (folder / path).read_text("utf-8", "replace") for path in shown}
            every = {path: set(range(1, text.count("\n") + 2)) for path, text in whole.items()}
            note(ways["whole files"], sum(map(len, whole.values())), every, query)
            size, around = grepped(folder, query["query"])
            note(ways["git grep and 20 lines"], size, around, query)


async def called(client: Client, query: str) -> str:
    """The text of a search."""
    result = await client.call_tool("search_codebase", {"query": query})
    return "".join(getattr(content, "text", "") for content in result.content)


def lines_of(text: str) -> Lines:
    """Which lines of which files an answer shows."""
    found: Lines = {}
    path = ""
    for line in text.split("\n"):
        if head := re.match(r'"?([^"\s]+)"?:\d+(?:-\d+)?@[0-9a-f]+', line):
            path = head[1]
            found.setdefault(path, set())
        elif number := re.match(r"(\d+)\t", line):
            found[path].add(int(number[1]))
    return found


def grepped(folder: Path, query: str) -> tuple[int, Lines]:
    """Characters and lines that are read around the matches of the rarest word of a question."""
    matches = (grep(folder, word) for word in Question(query).content_words)
    best = min((found for found in matches if found), key=lambda found: sum(map(len, found.values())), default={})
    size, read = 0, {}
    for path, numbers in best.items():
        lines = (folder / path).read_text("utf-8", "replace").split("\n")
        near = {n for number in numbers for n in range(number - AROUND, number + AROUND + 1) if 1 <= n <= len(lines)}
        read[path] = near
        size += sum(len(lines[n - 1]) + 1 for n in near)
    return size, read


def grep(folder: Path, word: str) -> Lines:
    """The lines of the tree that hold a word."""
    command = ["git", "grep", "-n", "-i", "-I", "-w", "-F", "-z", "-e", word, "HEAD"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    found: Lines = {}
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        name, *rest = line.split("\0")
        if len(rest) == 2 and rest[0].isdigit():
            found.setdefault(name.partition(":")[2], set()).add(int(rest[0]))
    return found


def note(way: Way, characters: int, lines: Lines, query: Query) -> None:
    """Note what a way read for a question."""
    way.characters.append(characters)
    way.found.append(any(holds(lines.get(target["path"], set()), target) for target in query["targets"]))


def holds(lines: set[int], target: dict[str, Any]) -> bool:
    """Whether a line of a target is among those read; of a target without lines any will do."""
    if "start" not in target:
        return bool(lines)
    return any(target["start"] <= line <= target["end"] for line in lines)


def first_answers(name: str, folder: Path) -> None:
    """Seconds from the start of the server to its first answer, without an index and with one, beside the SDK's import.

    Seconds of the processor too, for on a busy machine only those can be compared.
    """
    imports, imports_busy = median_of(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True))
    clones = iter([copied(folder, folder.with_name(f"{name}-{n}")) for n in range(3)])
    cold, cold_busy = median_of(lambda: anyio.run(first, next(clones)))
    subprocess.run([sys.executable, "-m", "itza_git.cli", "index"], cwd=folder, check=True, capture_output=True)
    warm, warm_busy = median_of(lambda: anyio.run(first, folder))
    print("| | seconds | of the processor | against the import's |\n|---|---|---|---|")
    print(f"| `import mcp.server` | {imports:.2f} | {imports_busy:.2f} | 1.0 x |")
    print(f"| {name}: first answer, no index | {cold:.2f} | {cold_busy:.2f} | {cold_busy / imports_busy:.2f} x |")
    print(f"| {name}: first answer, indexed | {warm:.2f} | {warm_busy:.2f} | {warm_busy / imports_busy:.2f} x |")


async def first(folder: Path) -> None:
    """Start a server, and get one answer."""
    async with server(folder) as client:
        await called(client, QUESTION)


def median_of(work: Callable[[], object]) -> tuple[float, float]:
    """The medians of three times: seconds, and seconds of the processor."""
    times = [timed(work) for _ in range(3)]
    return statistics.median(wall for wall, _ in times), statistics.median(busy for _, busy in times)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """How long work takes, and how long its finished children kept the processor busy."""
    began, before = time.perf_counter(), busy()
    work()
    return time.perf_counter() - began, busy() - before


def busy() -> float:
    """Seconds that finished children have kept the processor busy."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(ways: dict[str, Way], later: Sequence[float]) -> None:
    """The table."""
    if not later:
        return
    base = statistics.median(ways["search"].characters)
    print(f"\n{len(later)} questions; a later answer takes {statistics.median(later) * 1000:.0f} ms (median)\n")
    print("| | characters, median | against search | mean | a target's line among them |\n|---|---|---|---|---|")
    for name, way in ways.items():
        median, found = statistics.median(way.characters), sum(way.found) / len(way.found)
        mean = statistics.mean(way.characters)
        print(f"| {name} | {median:,.0f} | {median / base:.1f} x | {mean:,.0f} | {100 * found:.0f} % |")


if __name__ == "__main__":
    main()
