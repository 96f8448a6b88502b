"""What the hooks cost whoever waits for git: `python benchmarks/hooks.py [--rounds 50] [--rebases 5]`.

Foreground milliseconds of commit, checkout and a rebase of 50 commits (both backends), in two equal repositories, one
with the hooks installed, taken in turns so that a busy machine is as busy for both. Before each measured command the
worker is waited for; with --no-wait it is not, and indexes in the background of the commands that follow.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from itza_git.git import open_repository
from itza_git.hooks.install import install
from itza_git.hooks.journal import journal_of

PICKS = 50
WHO = {
    f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "A"), ("EMAIL", "a@b"))
}


class Place:
    """A repository with a branch of PICKS commits beside main."""

    def __init__(self, path: Path, hooks: bool, wait: bool) -> None:
        self.path = path
        self._wait = wait and hooks
        self._environment = os.environ | WHO
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "gc.auto", "0")
        self.commit("base")
        self.git("switch", "-q", "-c", "topic")
        for number in range(PICKS):
            self.commit(f"topic{number}")
        self.git("switch", "-q", "main")
        self.commit("main")
        if hooks:
            install(open_repository(path))

    def git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self.path, env=self._environment, check=True, stdout=subprocess.DEVNULL)

    def commit(self, name: str) -> None:
        (self.path / f"{name}.py").write_text(f"def {name}():\n    return {name!r}\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)

    def settle(self) -> None:
        """Wait until the worker is done."""
        _, pending = journal_of(self.path / ".git")
        idle = 0
        while self._wait and idle < 3:
            time.sleep(0.1)
            idle = 0 if pending.marks() else idle + 1

    def timed(self, *args: str) -> float:
        """Milliseconds that the caller of `git ARGS` waits."""
        self.settle()
        started = time.perf_counter()
        self.git(*args)
        return (time.perf_counter() - started) * 1000


def commits(place: Place, rounds: int) -> Iterable[float]:
    for number in range(rounds):
        yield place.timed("commit", "--quiet", "--allow-empty", "--message", str(number))


def checkouts(place: Place, rounds: int) -> Iterable[float]:
    for number in range(rounds):
        yield place.timed("checkout", "--quiet", "main" if number % 2 else "topic")
    place.git("switch", "-q", "main")


def rebases(backend: str) -> Callable[[Place, int], Iterable[float]]:
    def measure(place: Place, rounds: int) -> Iterable[float]:
        for _ in range(rounds):
            place.git("branch", "-q", "-f", "copy", "topic")
            place.git("switch", "-q", "copy")
            yield place.timed("rebase", "--quiet", backend, "main")
            place.git("switch", "-q", "main")

    return measure


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50, help="commits and checkouts")
    parser.add_argument("--rebases", type=int, default=5)
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the worker in between")
    options = parser.parse_args()
    version = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}, Python {sys.version.split()[0]}, {os.cpu_count()} cores; milliseconds, medians")
    print(f"{'':24}{'without':>10}{'with':>10}{'more':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        places = [Place(Path(folder) / name, name == "with", not options.no_wait) for name in ("without", "with")]
        for name, measure, rounds in (
            ("commit", commits, options.rounds),
            ("checkout", checkouts, options.rounds),
            (f"rebase of {PICKS}, merge", rebases("--merge"), options.rebases),
            (f"rebase of {PICKS}, apply", rebases("--apply"), options.rebases),
        ):
            pairs = list(zip(*(measure(place, rounds) for place in places), strict=True))
            without, hooked = (statistics.median(side) for side in zip(*pairs, strict=True))
            print(f"{name:24}{without:10.1f}{hooked:10.1f}{hooked - without:10.1f}{hooked / without:8.2f}")
        places[1].settle()
        time.sleep(1)


if __name__ == "__main__":
    main()
