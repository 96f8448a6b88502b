"""Ctrl-C at any moment: 130 within a second, no word but those that stood there before, no lock, nothing half done."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.chunking import grammars
from tests.command import environment
from tests.repository import Repo

# Raised by hand: ITZA_STRESS=200 pytest tests/test_interrupt.py
COUNT = int(os.environ.get("ITZA_STRESS", "5"))

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

# Worker processes for little text too.
PROGRAM = """
from itza_git import cli, start
real = cli.main
def main():
    import itza_git.indexing.refresh as refresh
    refresh.PARALLEL_BYTES = refresh.LOCAL_BATCH_BYTES = {bytes}
    real()
cli.main = main
start.main()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("interrupt") / "repo")
    for number in range(60):
        text = "".join(f"def f_{number}_{n}(x):\n    return x + {n}\n\n" for n in range(60))
        repo.write(f"src/f{number}.py", text)
    repo.commit()
    return repo


@pytest.mark.parametrize("command", ["index", "search", "ask"])
@pytest.mark.parametrize("worker_bytes", [50_000, 1 << 30], ids=["worker-processes", "one-process"])
def test_an_interrupt_ends_at_once_and_leaves_nothing_behind(project: Repo, command: str, worker_bytes: int) -> None:
    chance = random.Random(f"{command} {worker_bytes}")
    question = {"index": [], "search": ["which function returns?"], "ask": ["--force", "which function returns?"]}
    args = [command, *question[command]]
    program = [sys.executable, "-c", PROGRAM.format(bytes=worker_bytes), *args]
    interrupted = 0
    for number in range(COUNT):
        forget(project)
        child = subprocess.Popen(
            program, cwd=project.path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        wait_until_imported(child)
        time.sleep(chance.random() * (0.05 if number % 2 else 1.0))
        os.killpg(child.pid, signal.SIGINT)
        sent = time.monotonic()
        if number % 2:  # as git does, which passes on what the terminal has sent to both
            os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
        # A command that had ended already: python has given the signal back, and for a shell that is 130 too.
        assert child.returncode in (0, 130, -signal.SIGINT), (child.returncode, err)
        assert child.returncode != -signal.SIGINT or out
        if child.returncode == 130:
            interrupted += 1
            # A line break behind the ^C of the terminal; and on a fast machine what was said already.
            assert not (out or err.strip()) or is_beginning(project, program, out, err)
            assert time.monotonic() - sent < LONGEST
        with Itza.open(project.path, {}) as itza, itza.space.writer(wait=LONGEST):
            assert itza.fsck().faults == ()
    assert interrupted


def forget(project: Repo) -> None:
    """Leave nothing that is indexed."""
    with Itza.open(project.path, {}) as itza:
        for path in itza.space.root.rglob("*.itza"):
            path.unlink()


def is_beginning(project: Repo, program: list[str], out: str, err: str) -> bool:
    """Whether this is how the program begins that nobody interrupts, but for its numbers."""
    forget(project)
    whole = subprocess.run(program, cwd=project.path, env=environment(), capture_output=True, text=True, check=False)
    pairs = ((whole.stdout, out), (whole.stderr, err.rstrip()))
    return all(re.sub("[0-9.]+", "0", a).startswith(re.sub("[0-9.]+", "0", b)) for a, b in pairs)


# A second where nobody else is at work.
LONGEST = 10.0


def wait_until_imported(child: subprocess.Popen[str]) -> None:
    """Return when the process has begun to run our program: before that Ctrl-C is python's own business."""
    maps = Path(f"/proc/{child.pid}/maps")
    deadline = time.monotonic() + 120
    while maps.exists() and "numpy" not in maps.read_text() and time.monotonic() < deadline:
        time.sleep(0.005)


def test_an_interrupt_while_a_file_is_parsed_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "PARSE_MEMORY", 1 << 40)
    monkeypatch.setattr(grammars, "PARSE_SECONDS", 60.0)
    data = (b"a<b,c>(\n" + b"x=1 " * 200 + b"\n") * 800
    grammars.parser("lua")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            grammars.parse(data, "lua")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert grammars.parse(b"a = 1\n", "lua") is not None
