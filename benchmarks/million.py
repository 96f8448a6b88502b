"""Index and search a made-up repository of a million chunks: python -m benchmarks.million [CHUNKS] [FOLDER]

Prints seconds and memory: the most that all processes together held at once (proportional set size, so that what they
share is counted once), looked at every 50 ms. Linux only. The repository stays in FOLDER when one is given.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# Files of so many lines of so many words; a chunk of plain text has 30 lines.
LINES, WORDS, CHUNK = 240, 3, 30
VOCABULARY = 200_000
QUERIES = ("word12 word7", "where is word4321 computed?", "word199999")


def words(chance: random.Random, count: int) -> list[str]:
    """Words as frequent as those of real text: the n-th comes 1/n times as often as the first."""
    return [f"word{int(VOCABULARY ** chance.random())}" for _ in range(count)]


def stream(chunks: int) -> Iterator[bytes]:
    """One commit for git fast-import."""
    chance = random.Random(1)
    yield b"commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n"
    for number in range(chunks * CHUNK // LINES):
        text = "\n".join(" ".join(words(chance, WORDS)) for _ in range(LINES)).encode() + b"\n"
        yield b"M 100644 inline d%d/f%d.txt\ndata %d\n%s\n" % (number // 500, number, len(text), text)


def make(folder: Path, chunks: int) -> None:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", folder], check=True)
    git = ["git", "-C", str(folder), "-c", "core.compression=1"]
    importing = subprocess.Popen([*git, "fast-import", "--quiet", "--force"], stdin=subprocess.PIPE)
    assert importing.stdin is not None
    importing.stdin.writelines(stream(chunks))
    importing.stdin.close()
    if importing.wait():
        raise SystemExit("git fast-import failed")
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)


def children(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from children(int(child))
    except OSError:
        return


def memory(pid: int) -> tuple[int, int]:
    """Bytes of a process and its children: proportional, and the private ones alone."""
    found = [0, 0]
    for one in children(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(":")
            if name in ("Pss", "Private_Dirty"):
                found[name != "Pss"] += int(value.split()[0]) * 1024
    return found[0], found[1]


def measured(folder: Path, *args: str) -> None:
    began = time.monotonic()
    running = subprocess.Popen(["git-itza", *args], cwd=folder, stdout=subprocess.PIPE, text=True)
    most = most_private = 0
    while running.poll() is None:
        now, private = memory(running.pid)
        most, most_private = max(most, now), max(most_private, private)
        time.sleep(0.05)
    assert running.stdout is not None
    said = running.stdout.readline().strip()[:70]
    took = time.monotonic() - began
    print(f"{' '.join(args):45} {took:7.1f} s  {most / 1e6:6.0f} MB ({most_private / 1e6:.0f} MB private)  {said}")


def main(chunks: int = 1_000_000, where: str | None = None) -> None:
    folder = Path(where or tempfile.mkdtemp(prefix="itza-million-"))
    try:
        if not (folder / ".git").exists():
            make(folder, chunks)
        for _ in range(2):
            measured(folder, "index")
        for query in QUERIES:
            measured(folder, "search", query)
        measured(folder, "status")
        measured(folder, "fsck")
        measured(folder, "gc")
        size = sum(path.stat().st_size for path in (folder / ".git" / "itza").rglob("*") if path.is_file())
        print(f"index of {size / 1e6:.0f} MB")
    finally:
        if where is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_NOSYSTEM", "1")
    main(int(sys.argv[1]) if sys.argv[1:] else 1_000_000, sys.argv[2] if sys.argv[2:] else None)
