"""What git's command line costs where libgit2 cannot read: one tree in a SHA-1 and in a SHA-256 repository.

    python -m benchmarks.backends REPOSITORY [--runs 5]

HEAD's tree is committed into two new repositories, which are measured in turns. Prints seconds of the fastest run of
each, since a busy machine only adds to them, and their ratio.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.speed import ITZA, QUERY, change_one_file, git, run

FORMATS = ("sha1", "sha256")
IDENTITY = ("-c", "user.name=b", "-c", "user.email=b@localhost")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        twins = [twin(arguments.repository.resolve(), Path(folder, name), name) for name in FORMATS]
        for what, measure in MEASURES.items():
            rounds = [[measure(clone) for clone in twins] for _ in range(arguments.runs)]
            libgit2, command_line = map(min, zip(*rounds, strict=True))
            print(f"{what:16} {command_line / libgit2:5.2f} x ({libgit2:.2f} and {command_line:.2f} s)")


def twin(source: Path, folder: Path, object_format: str) -> Path:
    """A repository of a format that holds the tree of another one's HEAD, packed."""
    folder.mkdir()
    git(folder, "init", "-q", f"--object-format={object_format}")
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=source, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x"], cwd=folder, check=True, input=archive)
    git(folder, "add", "--all", "--force")
    git(folder, *IDENTITY, "commit", "-q", "-m", "all")
    git(folder, "gc", "-q")
    return folder


def cold(clone: Path) -> float:
    shutil.rmtree(clone / ".git" / "itza", ignore_errors=True)
    return again(clone)


def again(clone: Path) -> float:
    return timed(clone, [*ITZA, "index"])


def edited(clone: Path) -> float:
    change_one_file(clone, time.monotonic_ns())
    return again(clone)


def search(clone: Path) -> float:
    return timed(clone, [*ITZA, "search", QUERY])


def timed(clone: Path, command: list[str]) -> float:
    """Seconds that a command takes."""
    started = time.perf_counter()
    run(clone, command)
    return time.perf_counter() - started


MEASURES = {"cold index": cold, "nothing changed": again, "one file changed": edited, "search": search}

if __name__ == "__main__":
    main()
