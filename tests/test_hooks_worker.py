"""The worker: one at a time, no event lost, nothing during a rebase, bounded in time, and it says what went wrong."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from itza_git.git import open_repository
from itza_git.hooks import journal as journals
from itza_git.hooks import worker as workers
from itza_git.hooks.health import health, health_json, summary
from itza_git.hooks.indexing import OutOfTime, at_most
from itza_git.hooks.journal import Failure, Journal, Pass, journal_of
from itza_git.hooks.pending import MAIN, Pending
from itza_git.hooks.worker import Worker
from tests.hooked import PATIENCE, Hooked, install_in, until
from tests.repository import Repo


class Recorder:
    """Stands for indexing: writes down which worktree it was called for, and does what a test wants in between."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.meanwhile: Callable[[], None] | None = None

    def __call__(self, common_dir: Path, worktree: str, journal: Journal) -> None:
        self.calls.append(worktree)
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()


@pytest.fixture
def common(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A common dir with two linked worktrees; the quiet is short."""
    for name in ("a", "b"):
        (tmp_path / "worktrees" / name).mkdir(parents=True)
    monkeypatch.setattr(workers, "QUIET_SECONDS", 0.02)
    monkeypatch.setattr(workers, "REBASE_SECONDS", 0.2)
    return tmp_path


def serve(common: Path, recorder: Recorder) -> None:
    journal, pending = journal_of(common)
    Worker(common, journal, pending, recorder).run()


# Marks


def test_marks_are_named_by_worktree_and_hold_no_path(tmp_path: Path) -> None:
    pending = Pending(tmp_path / "itza")
    assert pending.marks() == {}
    names = {MAIN, "worktrees/main", "worktrees/worktree-a", "worktrees/ä b"}
    for name in names:
        pending.mark(name)
        pending.mark(name)
    assert set(pending.marks()) == names
    assert all(path.read_bytes() == b"" for path in (tmp_path / "itza" / "pending").iterdir())
    assert (tmp_path / "itza").stat().st_mode & 0o777 == 0o700
    for name in names:
        pending.take(name)
        pending.take(name)
    assert pending.marks() == {}


def test_one_process_serves_at_a_time(common: Path) -> None:
    pending = Pending(common / "itza")
    pending.mark(MAIN)
    recorder = Recorder()
    with pending.serving() as mine:
        assert mine
        with Pending(common / "itza").serving() as other:
            assert not other
        serve(common, recorder)
    assert recorder.calls == []
    assert MAIN in pending.marks()  # it stays for the one that serves
    serve(common, recorder)
    assert recorder.calls == [MAIN]


def test_all_worktrees_are_served_and_removed_ones_forgotten(common: Path) -> None:
    pending = Pending(common / "itza")
    for name in (MAIN, "worktrees/a", "worktrees/gone"):
        pending.mark(name)
    recorder = Recorder()
    serve(common, recorder)
    assert sorted(recorder.calls) == [MAIN, "worktrees/a"]
    assert pending.marks() == {}


def test_an_event_during_a_pass_is_served_by_another_pass(common: Path) -> None:  # C23
    pending = Pending(common / "itza")
    pending.mark(MAIN)
    recorder = Recorder()
    recorder.meanwhile = lambda: pending.mark(MAIN)
    serve(common, recorder)
    assert recorder.calls == [MAIN, MAIN]


def test_an_event_after_the_last_look_is_served(common: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that marks finds the lock taken and leaves; the holder must look once more after letting go."""
    pending = Pending(common / "itza")
    pending.mark(MAIN)
    recorder = Recorder()
    real = Worker._serve
    late = [True]

    def serve_then_event(worker: Worker) -> dict[str, int]:
        left = real(worker)
        if late.pop() if late else False:
            pending.mark("worktrees/a")
            serve(common, recorder)  # the event's own process: the lock is taken
        return left

    monkeypatch.setattr(Worker, "_serve", serve_then_event)
    serve(common, recorder)
    assert recorder.calls == [MAIN, "worktrees/a"]


class Noise:
    """Time that passes only where the worker sleeps, and so many events that come meanwhile, one a sleep."""

    def __init__(self, pending: Pending, events: int) -> None:
        self.now = 1000.0
        self._pending = pending
        self._events = events
        self._event()

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self._events:
            self._event()

    def _event(self) -> None:
        self._events -= 1
        self._pending.mark(MAIN)
        moment = int(self.now * 1e9) - 1  # never after it, whichever way it is rounded
        os.utime(self._pending.root / "pending" / "main", ns=(moment, moment))


@pytest.mark.parametrize("events", [1, 5, 10**9])
def test_a_burst_costs_one_pass_and_an_endless_one_is_served(
    common: Path, monkeypatch: pytest.MonkeyPatch, events: int
) -> None:
    monkeypatch.setattr(workers, "QUIET_SECONDS", 0.4)
    noise = Noise(Pending(common / "itza"), events)
    monkeypatch.setattr(workers, "time", noise)
    recorder = Recorder()
    serve(common, recorder)
    assert recorder.calls == [MAIN]
    soonest = min(0.4 * events, 5.0)
    assert soonest <= noise.now - 1000.0 + 1e-6 < soonest + 0.41


def test_a_clock_that_was_set_back_does_not_stop_the_worker(common: Path) -> None:
    pending = Pending(common / "itza")
    pending.mark(MAIN)
    os.utime(common / "itza" / "pending" / "main", (2e9 * 2, 2e9 * 2))
    recorder = Recorder()
    serve(common, recorder)
    assert recorder.calls == [MAIN]


# Rebases


@pytest.mark.parametrize("folder", ["rebase-merge", "rebase-apply"])
def test_a_worktree_in_a_rebase_waits_and_the_others_do_not(common: Path, folder: str) -> None:  # C13
    pending = Pending(common / "itza")
    for name in ("worktrees/a", "worktrees/b"):
        pending.mark(name)
    (common / "worktrees" / "a" / folder).mkdir()
    recorder = Recorder()
    serve(common, recorder)
    assert recorder.calls == ["worktrees/b"]
    assert set(pending.marks()) == {"worktrees/a"}  # for the event that ends the rebase
    (common / "worktrees" / "a" / folder).rmdir()
    pending.mark("worktrees/a")
    serve(common, recorder)
    assert recorder.calls == ["worktrees/b", "worktrees/a"]


def test_the_end_of_a_short_rebase_is_waited_for(common: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REBASE_SECONDS", 20.0)
    (common / "rebase-merge").mkdir()
    Pending(common / "itza").mark(MAIN)
    threading.Timer(0.15, (common / "rebase-merge").rmdir).start()
    recorder = Recorder()
    serve(common, recorder)
    assert recorder.calls == [MAIN]


# The journal


def passed(number: int = 1, worktree: str = MAIN) -> Pass:
    return Pass(worktree, "refs/heads/main", f"{number:040x}", 1, 2, 1, 0, 5, float(number))


def test_the_log_is_bounded_and_says_one_line_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "LONGEST_LOG", 1000)
    journal = Journal(tmp_path / "itza")
    journal.root.mkdir()
    for number in range(40):
        journal.passed(passed(number))
    assert sorted(path.name for path in journal.root.iterdir()) == ["log", "log.1", "passes.json"]
    for path in (journal.root / "log", journal.root / "log.1"):
        assert path.stat().st_size <= 1200
    last = (journal.root / "log").read_text().splitlines()[-1]
    assert last.endswith(
        f"Z . refs/heads/main {39:040x} indexed 1/2 files, 1 new, 0 reused, 5 ms".replace(f"{39:040x}", "0" * 12)
    )


def test_an_error_is_kept_until_the_next_success(repo: Repo) -> None:
    repo.commit()
    repository = open_repository(repo.path)
    journal, pending = journal_of(repository.common_dir)
    pending.mark(MAIN)
    message = f"nobody listens\nat \udcff, says {repository.common_dir}/itza/lock"
    journal.failed(Failure(MAIN, message, "ollama serve", time.time()))
    found = health(repository)
    assert found.waiting == (MAIN,)
    assert found.last_error is not None and found.last_error.hint == "ollama serve"
    assert "last refresh failed, 0 s ago: nobody listens" in "\n".join(summary(found))
    json.dumps(health_json(found))
    for path in journal.root.glob("l*"):
        assert str(repo.path) not in path.read_text()
    journal.passed(passed())
    found = health(repository)
    assert found.last_error is None
    assert found.last_pass == passed()


@pytest.mark.parametrize("content", ["", "[]", "{", '{".": {"odd": 1}}', '{".": 3}'])
def test_a_lost_record_is_no_error(tmp_path: Path, content: str) -> None:
    for name in ("passes.json", "last-error"):
        (tmp_path / name).write_text(content)
    assert Journal(tmp_path).passes() == {}
    assert Journal(tmp_path).last_error() is None


# Bounded in time


def test_a_pass_that_takes_too_long_is_ended() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfTime), at_most(0.05):
        try:
            time.sleep(10)
        except Exception:  # noqa: BLE001 - as a library that retries would
            pytest.fail("nobody must take it for an error of theirs")
    with at_most(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


# Servers that do not answer. C14, C15


class Hanging(http.server.ThreadingHTTPServer):
    """A model server that answers nothing until it is released, and then only with errors.

    Who waits for the worker's end does so until it gave_up, which it does in the end, so that a test fails and ends.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()
        self.gave_up = threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                server.asked.set()
                if not server.released.wait(PATIENCE):
                    server.gave_up.set()
                self.send_error(500, "released")

            do_GET = do_POST = answer

            def log_message(self, format: str, *args: object) -> None:
                return

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def hanging(repo: Repo) -> Iterator[Hanging]:
    server = Hanging()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    repo.git("config", "itza.embedder", "ollama")
    repo.git("config", "itza.ollamaHost", f"127.0.0.1:{server.server_address[1]}")
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("command", ["git commit -qam x", "git checkout -q -b b", "git commit -qam x 2>&1 | cat"])
def test_a_server_that_hangs_does_not_hold_git_up(repo: Repo, hanging: Hanging, command: str) -> None:  # C14, C15
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit()
    install_in(repo.path)
    hooked = Hooked(repo)
    repo.write("a.py", "def alpha():\n    return 2\n")
    # Its output is a pipe, which whoever is started inherits and this waits for.
    subprocess.run(command, shell=True, cwd=repo.path, env=repo.environment(), check=True, capture_output=True)
    assert hanging.asked.wait(PATIENCE)
    repo.commit("while the worker hangs")
    assert not hanging.gave_up.is_set()
    hanging.released.set()
    until(lambda: hooked.journal.last_error() is not None and not hooked.waiting())


def test_a_server_that_is_gone_is_an_error_that_status_shows(repo: Repo) -> None:
    repo.git("config", "itza.embedder", "ollama")
    repo.git("config", "itza.ollamaHost", "127.0.0.1:1")
    repo.write("a.py", "def alpha():\n    return 1\n")
    install_in(repo.path)
    repo.commit()
    hooked = Hooked(repo)
    until(lambda: hooked.journal.last_error() is not None)
    error = health(open_repository(repo.path)).last_error
    assert error is not None and "127.0.0.1:1" in error.message
    repo.git("config", "itza.embedder", "builtin")
    repo.commit("again")
    hooked.settle()
    until(lambda: hooked.journal.last_error() is None)


# As git starts it


def test_it_is_detached_scrubbed_and_of_low_priority(repo: Repo, hanging: Hanging) -> None:  # C18
    repo.write("a.py", "def alpha():\n    return 1\n")
    install_in(repo.path)
    environment = repo.environment() | {"GIT_NAMESPACE": "n", "ITZA_MARK": f"{repo.path}"}
    subprocess.run(["git", "add", "--all"], cwd=repo.path, env=environment, check=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=repo.path, env=environment, check=True)
    assert hanging.asked.wait(PATIENCE)
    [process] = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _is_worker(p, str(repo.path))]
    assert os.getsid(process) == process
    assert os.getpriority(os.PRIO_PROCESS, process) == min(os.getpriority(os.PRIO_PROCESS, 0) + workers.NICE, 19)
    assert os.readlink(f"/proc/{process}/cwd") == "/"
    assert {os.readlink(f"/proc/{process}/fd/{n}") for n in range(3)} == {"/dev/null"}
    hanging.released.set()
    hooked = Hooked(repo)
    until(lambda: hooked.journal.last_error() is not None)


def _is_worker(process: Path, mark: str) -> bool:
    """Whether a process of /proc is the one; git's maintenance may still be at work in the background, marked too."""
    try:
        marked = f"ITZA_MARK={mark}\0".encode() in (process / "environ").read_bytes()
        return marked and b"\0itza_git.hooks.worker\0" in (process / "cmdline").read_bytes()
    except OSError:
        return False


def test_outside_of_a_repository_it_does_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "itza_git.hooks.worker", "post-commit"], cwd=tmp_path, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_before_the_first_commit_there_is_nothing_to_index(repo: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "itza_git.hooks.worker", "post-checkout"], cwd=repo.path, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    hooked = Hooked(repo)
    assert hooked.passes() == [] and not hooked.waiting() and hooked.journal.last_error() is None


def test_a_fault_of_ours_is_noted(repo: Repo) -> None:
    repo.commit()
    (repo.path / ".git" / "itza").mkdir()
    (repo.path / ".git" / "itza" / "worker.lock").mkdir()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "itza_git.hooks.worker", "post-merge"], cwd=repo.path, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    error = Hooked(repo).journal.last_error()
    assert error is not None and error.message.startswith("the hook post-merge failed: IsADirectoryError")


def test_it_starts_without_the_heavy_imports() -> None:
    script = "import sys, itza_git.hooks.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"numpy", "pygit2", "httpx", "click"}.isdisjoint(done.stdout.split())
