"""Speed, memory and size of indexing and searching one repository, as ratios against something in the same run.

    python benchmarks/speed.py REPOSITORY [--runs 7]

REPOSITORY is cloned to a temporary folder (its objects are shared), so nothing of it changes. Prints:

    cold index       against reading the same blobs with pygit2, and in seconds; peak memory; store against text
    nothing changed  `git itza index` against `python -c "import numpy, pygit2, click"`
    one file changed the same
    search           the same
    other branch     blobs embedded on a switch to a branch whose blobs are all known
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pygit2

BASE = [sys.executable, "-c", "import numpy, pygit2, click"]
ITZA = [str(Path(sys.executable).with_name("git-itza"))]
QUERY = "how are errors reported to the user?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        git(Path(), "clone", "-q", "--shared", str(arguments.repository.resolve()), str(clone))
        measure(clone, arguments.runs)


def measure(clone: Path, runs: int) -> None:
    """Print every figure for a repository that may be changed."""
    read, text = min(timed_read(clone) for _ in range(3))
    store = clone / ".git" / "itza"

    def cold() -> None:
        shutil.rmtree(store, ignore_errors=True)
        run(clone, [*ITZA, "index"])

    first = median(cold, 3)
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    print(f"cold index       {first / read:6.1f} x reading ({read:.2f} s)   {first:.2f} s")
    print(f"                 store {size / text:.0%} of {text / 1e6:.1f} MB of text")
    shutil.rmtree(store)
    print(f"                 {peak_memory(clone, [*ITZA, 'index']) / 1e6:.0f} MB at most, all processes together")
    base = median(lambda: run(clone, BASE), runs)
    print(f"imports          {base * 1e3:6.0f} ms")
    same = median(lambda: run(clone, [*ITZA, "index"]), runs)
    print(f"nothing changed  {(same - base) * 1e3:6.0f} ms beyond imports ({same / base:.2f} x)")
    times = []
    for number in range(runs):
        change_one_file(clone, number)
        times.append(median(lambda: run(clone, [*ITZA, "index"]), 1))
    changed = statistics.median(times)
    print(f"one file changed {(changed - base) * 1e3:6.0f} ms beyond imports ({changed / base:.2f} x)")
    found = median(lambda: run(clone, [*ITZA, "search", QUERY]), runs)
    print(f"search           {found / base:6.2f} x imports ({found * 1e3:.0f} ms)")
    git(clone, "checkout", "-q", "HEAD~1")
    print(f"other commit     {run(clone, [*ITZA, 'index']).splitlines()[0]}")


def timed_read(clone: Path) -> tuple[float, int]:
    """Seconds to read every blob of HEAD's tree with pygit2, and their bytes together."""
    repository = pygit2.Repository(str(clone))
    ids = [line.split()[2] for line in git(clone, "ls-tree", "-r", "HEAD").splitlines() if line.split()[1] == "blob"]
    started = time.perf_counter()
    total = sum(len(blob.data) for name in ids if isinstance(blob := repository[name], pygit2.Blob))
    return time.perf_counter() - started, total


def peak_memory(where: Path, command: list[str]) -> int:
    """The most bytes that a command and its children hold at once, shared pages counted once (Linux's PSS)."""
    peak = 0
    with subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(held, family(process.pid))))
            time.sleep(0.05)
    return peak


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [descendant for child in listed.read_text().split() for descendant in family(int(child))]
    return found


def held(pid: int) -> int:
    """Bytes that a process holds; 0 when it is gone."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return 0


def change_one_file(clone: Path, number: int) -> None:
    """Commit a small edit of one source file."""
    path = next(p for p in git(clone, "ls-files").splitlines() if p.endswith((".c", ".py", ".go", ".rs", ".js")))
    with open(clone / path, "a", encoding="utf-8") as file:
        file.write(f"\n/* note {number} */\n")
    git(clone, "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qam", f"edit {number}")


def median(action: Callable[[], object], runs: int) -> float:
    """The median of the seconds that runs of an action take."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def run(where: Path, command: list[str]) -> str:
    return subprocess.run(command, cwd=where, check=True, capture_output=True, text=True, env=os.environ).stdout


def git(where: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=where, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
