"""The index under fire: `python -m tests.stress kills 1000` and `python -m tests.stress crowd 60`.

kills: so many processes that index, merge packs and collect garbage are killed at a random moment. After each, what was
finished before is there and every file is whole; in the end the answers are those of a fresh index. crowd: 8 writers, 4
readers and a collector of garbage in 3 worktrees for so many seconds while commits go on; every answer is right for
the commit that it names. Prints one JSON object; "wrong" is a list of what was not as it should be.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

# Before numpy is imported: a fork must not copy a process that has threads.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from itza_git import Itza
from itza_git.errors import StoreBusy
from itza_git.indexing import refresh
from itza_git.records import Coverage
from itza_git.store import Pack, space
from tests.repository import Repo, existing

WRITERS, READERS, WORKTREES = 8, 4, 3
ROLES = {"collecting", "reading", "writing"}
QUESTION = "which value does the function return?"
LONGEST_RUN = 0.12

Answer = list[tuple[str, str, str]]


def small_packs() -> None:
    """Many packs of few blobs, so that merging happens all the time."""
    refresh.LOCAL_BATCH_BYTES = 200
    space.MOST_PACKS = 3


@contextmanager
def reported(report: Path) -> Iterator[None]:
    """What goes wrong in the block is written to a file, which the processes share."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        with open(report, "a") as file:
            file.write(traceback.format_exc())


def forked(work: Callable[[], None], report: Path) -> int:
    """The id of a process that does work."""
    child = os.fork()
    if child:
        return child
    try:
        with reported(report):
            work()
    finally:
        os._exit(0)


@contextmanager
def project() -> Iterator[Repo]:
    folder = Path(tempfile.mkdtemp(prefix="itza-stress-"))
    os.environ |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        repo = Repo(folder / "repo")
        repo.git("config", "gc.auto", "0")
        for number in range(12):
            write(repo, number)
        repo.commit("first")
        yield repo
    finally:
        shutil.rmtree(folder)


def write(repo: Repo, number: int) -> None:
    name = f"function_{number}"
    repo.write(f"src/f{number % 20}.py", f"def {name}(argument):\n    value = {number}\n    return value\n")


def answer(repo: Repo, itza: Itza) -> tuple[Answer, Coverage]:
    """The hits of one question, and how much of the tree they are from."""
    found = itza.search(QUESTION, limit=50)
    for hit in found.hits:
        path = os.fsdecode(hit.passage.path)
        lines = repo.git("show", f"{found.commit}:{path}").split("\n")
        if hit.text.rstrip("\n") != "\n".join(lines[hit.passage.first - 1 : hit.passage.last]).rstrip("\n"):
            raise AssertionError(f"{hit.citation} does not say what is cited")
    return [(hit.citation, hit.text, str(hit.passage)) for hit in found.hits], found.coverage


def fresh_answer(repo: Repo, index: Path | None = None) -> tuple[Answer, Coverage]:
    """The same with an index that is made in one go; index is where it lies."""
    index = index or repo.path / ".git" / "itza"
    aside = index.with_name("itza-aside")
    index.rename(aside)
    try:
        with Itza.open(repo.path, {}) as itza:
            return answer(repo, itza)
    finally:
        shutil.rmtree(index)
        aside.rename(index)


def compare(now: tuple[Answer, Coverage], fresh: tuple[Answer, Coverage]) -> None:
    """Raises where an answer is not, to the last digit, that of a fresh index; says what is different."""
    if now != fresh:
        pairs = [(a, b) for a, b in zip_longest(now[0], fresh[0]) if a != b]
        raise AssertionError("the answer is not that of a fresh index", pairs[:3], now[1], fresh[1])


# Kills


def kills(count: int, seed: int) -> dict[str, object]:
    """Kill so many processes; what happened and what was wrong."""
    small_packs()
    chance = random.Random(seed)
    told = {"kills": 0, "finished": 0, "index": 0, "gc": 0}
    with project() as repo:
        report = repo.path.parent / "report"
        for number in range(count):
            kind = chance.choice(["index", "index", "gc"])
            before = held(repo)
            if kind == "index":
                write(repo, chance.randrange(10_000))
                write(repo, chance.randrange(10_000))
                repo.commit()
            child = forked(lambda kind=kind: work(repo, kind), report)  # type: ignore[misc]
            time.sleep(chance.random() * LONGEST_RUN)
            os.kill(child, signal.SIGKILL)
            killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
            told["kills" if killed else "finished"] += 1
            told[kind] += 1
            check(repo, before, kind, report)
            if report.exists() or number % 50 == 49 or number == count - 1:
                check_answers(repo, report)
            if report.exists():
                return told | {"wrong": [report.read_text()], "after": number}
    return told | {"wrong": []}


def work(repo: Repo, kind: str) -> None:
    with Itza.open(repo.path, {}) as itza:
        if kind == "gc":
            itza.collect()
        else:
            itza.refresh()


def held(repo: Repo) -> set[bytes]:
    """The keys in the packs that are there, as a reader finds them; raises where one is not whole."""
    keys: set[bytes] = set()
    for path in (repo.path / ".git" / "itza").glob("spaces/*/packs/pack-*.itza"):
        pack = Pack(path)
        pack.verify()
        keys.update(pack.key.tolist())
    return keys


def check(repo: Repo, before: set[bytes], kind: str, report: Path) -> None:
    """Nothing that was finished is lost, every file is whole, and no lock is left."""
    with reported(report), Itza.open(repo.path, {}) as itza:
        if kind == "index" and not before <= held(repo):
            raise AssertionError(f"lost {len(before - held(repo))} blobs")
        if faults := itza.fsck().faults:
            raise AssertionError(faults)
        with itza.space.writer(wait=5.0):  # a child of the dead that had not yet begun holds it for a moment
            pass


def check_answers(repo: Repo, report: Path) -> None:
    with reported(report), Itza.open(repo.path, {}) as itza:
        compare(answer(repo, itza), fresh_answer(repo))


# A crowd


def crowd(seconds: float, seed: int) -> dict[str, object]:
    """Everybody at once for so many seconds, and until each role was played once."""
    small_packs()
    chance = random.Random(seed)
    with project() as repo:
        report, stop = repo.path.parent / "report", repo.path.parent / "stop"
        places = [repo.path]
        for number in range(1, WORKTREES):
            places.append(repo.path.parent / f"tree{number}")
            repo.git("worktree", "add", "--quiet", "-b", f"side{number}", str(places[-1]))
        counts = repo.path.parent / "counts"
        roles = [*[reading] * READERS, *[writing] * WRITERS, collecting]
        children = [
            forked(lambda role=role, n=n: loop(role, places[n % WORKTREES], stop, counts), report)  # type: ignore[misc]
            for n, role in enumerate(roles)
        ]
        commits = 0
        end = time.monotonic() + seconds
        while (time.monotonic() < end or not played(counts).keys() >= ROLES) and not report.exists():
            commit(places[commits % WORKTREES], chance.randrange(10_000))
            commits += 1
        stop.touch()
        for child in children:
            os.waitpid(child, 0)
        if not report.exists():
            for place in places:
                check_tree(place, report)
        told = {name: played(counts)[name] for name in (*sorted(ROLES), "busy")}
        return {"commits": commits, **told, "wrong": [report.read_text()] if report.exists() else []}


def played(counts: Path) -> Counter[str]:
    """How often each role was played to its end, and how often one was busy."""
    return Counter(counts.read_text().split() if counts.exists() else ())


def loop(role: Callable[[Path], None], place: Path, stop: Path, counts: Path) -> None:
    while not stop.exists():
        name = role.__name__
        try:
            role(place)
        except StoreBusy:
            name = "busy"
        with open(counts, "a") as file:
            file.write(f"{name}\n")


def writing(place: Path) -> None:
    with Itza.open(place, {}) as itza:
        done = itza.refresh()
        if done.coverage.indexed != done.coverage.total:
            raise AssertionError(done)


def reading(place: Path) -> None:
    with Itza.open(place, {}) as itza:
        hits, coverage = answer(existing(place), itza)
        if not hits or coverage.indexed != coverage.total:
            raise AssertionError(coverage)


def collecting(place: Path) -> None:
    with Itza.open(place, {}) as itza:
        itza.collect()
        itza.status()
        if faults := itza.fsck().faults:
            raise AssertionError(faults)
    time.sleep(0.2)


def commit(place: Path, number: int) -> None:
    path = place / "src" / f"f{number % 20}.py"
    path.write_text(f"def function_{number}(argument):\n    value = {number}\n    return value\n")
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, "commit", "--quiet", "--allow-empty", "-am", "x"], cwd=place, check=True)


def check_tree(place: Path, report: Path) -> None:
    repo = existing(place)
    index = Path(repo.git("rev-parse", "--path-format=absolute", "--git-common-dir")) / "itza"
    with reported(report):
        with Itza.open(place, {}) as itza:
            now = answer(repo, itza)
            if faults := itza.fsck().faults:
                raise AssertionError(faults)
        compare(now, fresh_answer(repo, index))


def main(what: str, amount: str, seed: str = "1") -> None:
    told = kills(int(amount), int(seed)) if what == "kills" else crowd(float(amount), int(seed))
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
