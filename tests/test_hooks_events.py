"""What each git command costs in indexing passes, with real git, real hooks and a real worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hooked import Hooked, install_in, most_passes, until
from tests.repository import Repo

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def hooked(repo: Repo) -> Hooked:
    """A repository with two commits, a branch `side` with one more, and hooks."""
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit("one")
    repo.write("b.py", "def beta():\n    return 2\n")
    repo.commit("two")
    repo.git("switch", "-q", "-c", "side")
    repo.write("c.py", "def gamma():\n    return 3\n")
    repo.commit("three")
    repo.git("switch", "-q", "main")
    install_in(repo.path)
    return Hooked(repo)


def commit_something(repo: Repo, *options: str) -> None:
    repo.write("d.py", "def delta():\n    return 4\n")
    repo.git("add", "d.py")
    repo.git("commit", "-q", "-m", "four", *options)


# Commits


@pytest.mark.parametrize("options", [(), ("--no-verify",)])
def test_a_commit_is_indexed(hooked: Hooked, options: tuple[str, ...]) -> None:
    commit_something(hooked.repo, *options)
    done = hooked.settle()
    assert (done.indexed, done.total, done.ref) == (3, 3, "refs/heads/main")
    assert len(hooked.passes()) == 1


@pytest.mark.parametrize("command", [("cherry-pick", "side"), ("revert", "--no-edit", "HEAD")])
def test_a_picked_and_a_reverted_commit_are_indexed(hooked: Hooked, command: tuple[str, ...]) -> None:
    hooked.repo.git(*command)
    assert hooked.settled_passes() == 1


def test_amend_fires_two_hooks_and_costs_one_pass(hooked: Hooked) -> None:  # C23
    hooked.repo.git("commit", "-q", "--amend", "-m", "other words")
    assert hooked.settled_passes() == 1


def test_many_picks_cost_one_pass(hooked: Hooked) -> None:  # C23
    hooked.repo.git("switch", "-q", "side")
    for name in "xyz":
        hooked.repo.write(f"{name}.py", f"def {name}():\n    pass\n")
        hooked.repo.commit(name)
    hooked.settle()
    before = len(hooked.passes())
    hooked.repo.git("switch", "-q", "main")
    began = time.monotonic()
    hooked.repo.git("cherry-pick", "side~2", "side~1", "side")
    most = most_passes(began)
    assert before < hooked.settled_passes() <= before + most


def test_no_event_is_lost_while_a_pass_runs(hooked: Hooked) -> None:  # C23
    began = time.monotonic()
    for number in range(12):
        hooked.repo.write(f"n{number}.py", f"def n{number}():\n    return {number}\n")
        hooked.repo.commit(str(number))
        time.sleep(0.08)  # some of them fall into the quiet, some into a pass
    most = most_passes(began)
    done = hooked.settle()
    assert done.indexed == 14
    assert len(hooked.passes()) <= most


def test_patches_that_are_applied_cost_one_pass(hooked: Hooked, tmp_path: Path) -> None:
    hooked.repo.git("format-patch", "-q", "-o", str(tmp_path / "patches"), "main..side")
    hooked.repo.git("am", "-q", *(str(path) for path in (tmp_path / "patches").iterdir()))
    assert hooked.settled_passes() == 1


# Moves of HEAD


def test_each_way_to_another_branch_is_indexed(hooked: Hooked) -> None:
    for command in (
        ["switch", "side"],
        ["checkout", "-b", "new"],
        ["switch", "-C", "side", "main"],
        ["checkout", "main~1"],
    ):
        hooked.repo.git(*command, "--quiet")
        hooked.settle()
    assert len(hooked.passes()) == 4
    assert " HEAD " in hooked.passes()[-1]


def test_what_does_not_move_head_costs_nothing(hooked: Hooked) -> None:
    hooked.repo.git("switch", "-q", "side")
    assert hooked.settled_passes() == 1
    hooked.repo.git("checkout", "main", "--", "a.py")
    hooked.repo.git("restore", "a.py")
    hooked.repo.git("switch", "-q", "side")  # this one starts a worker, which finds HEAD indexed
    time.sleep(0.1)
    until(lambda: not hooked.waiting())
    assert len(hooked.passes()) == 1


@pytest.mark.parametrize("kind", ["--ff-only", "--no-ff"])
def test_a_merge_costs_one_pass(hooked: Hooked, kind: str) -> None:  # C23
    hooked.repo.git("merge", "-q", "--no-edit", kind, "side")
    assert hooked.settled_passes() == 1


def test_a_merge_with_a_conflict_is_indexed_when_it_is_committed(hooked: Hooked) -> None:
    hooked.repo.write("c.py", "other\n")
    hooked.repo.commit("conflict")
    hooked.settle()
    with pytest.raises(AssertionError, match="ended with 1"):
        hooked.repo.git("merge", "side")
    hooked.repo.write("c.py", "both\n")
    hooked.repo.commit("merged")
    assert hooked.settled_passes() == 2


def test_a_pull_costs_one_pass(hooked: Hooked, tmp_path: Path) -> None:  # C23
    hooked.repo.git("clone", "-q", str(hooked.repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    install_in(clone.path)
    commit_something(hooked.repo)
    clone.git("pull", "-q")
    assert Hooked(clone).settled_passes() == 1
    hooked.settle()


def test_a_new_worktree_is_indexed_as_itself(hooked: Hooked, tmp_path: Path) -> None:
    hooked.repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "side")
    linked = Repo(tmp_path / "linked")
    done = hooked.settle(linked)
    assert (done.worktree, done.ref, done.total) == ("worktrees/linked", "refs/heads/side", 3)
    linked.write("w.py", "def w():\n    pass\n")
    linked.commit("in the worktree")
    commit_something(hooked.repo)
    assert hooked.settle(linked).total == 4
    assert hooked.settle().total == 3
    hooked.repo.git("worktree", "remove", "--force", str(tmp_path / "linked"))
    hooked.repo.git("commit", "-q", "--allow-empty", "-m", "after")
    hooked.settle()
    assert set(hooked.journal.passes()) == {"."}
    assert hooked.journal.last_error() is None


# Rebases. C13: one pass, after the end, and never one in between.

PICKS = 50


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch `topic` of PICKS commits, checked out, and a `main` that went on."""
    repo = Repo(tmp_path_factory.mktemp("prepared") / "repo")
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.org")
    repo.git("config", "gc.auto", "0")
    repo.write("base.py", "base = 1\n")
    repo.commit("base")
    repo.git("switch", "-q", "-c", "topic")
    for number in range(PICKS):
        repo.write(f"t{number}.py", f"def t{number}():\n    return {number}\n")
        repo.commit(f"topic {number}")
    repo.git("switch", "-q", "main")
    repo.write("main.py", "main = 1\n")
    repo.commit("main goes on")
    repo.git("switch", "-q", "topic")
    return repo.path


@pytest.fixture
def topic(prepared: Path, tmp_path: Path) -> Hooked:
    shutil.copytree(prepared, tmp_path / "repo", symlinks=True)
    install_in(tmp_path / "repo")
    return Hooked(Repo(tmp_path / "repo"))


def assert_whole(topic: Hooked) -> None:
    done = topic.settle()
    assert done.indexed == done.total == PICKS + 2
    assert len(topic.passes()) == 1
    assert topic.repo.git("status", "--porcelain") == ""


def test_a_rebase_costs_one_pass(topic: Hooked) -> None:
    topic.repo.git("rebase", "-q", "--merge", "main")
    assert_whole(topic)


def test_a_rebase_by_patches_costs_one_pass_at_its_end(topic: Hooked) -> None:
    topic.repo.git("rebase", "-q", "--apply", "main")
    done = topic.settle()
    assert done.indexed == done.total == PICKS + 2
    # git is at the new base before it says that it rebases: a slow machine may come to index that.
    base = topic.repo.git("rev-parse", "--short=12", "main")
    assert [line.split()[3] for line in topic.passes() if base not in line] == [done.commit[:12]]


def test_a_rebase_that_squashes_all_costs_one_pass(topic: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", "sed -i -e '2,$s/^pick/fixup/'")
    topic.repo.git("rebase", "-q", "-i", "main")
    assert topic.repo.git("rev-list", "--count", "main..HEAD") == "1"
    assert_whole(topic)


def start_conflict(topic: Hooked) -> None:
    topic.repo.git("switch", "-q", "main")
    topic.repo.write(f"t{PICKS // 2}.py", "conflict\n")
    topic.repo.commit("conflict")
    topic.repo.git("switch", "-q", "topic")
    topic.settle()
    (topic.root / "log").unlink()
    with pytest.raises(AssertionError):
        topic.repo.git("rebase", "-q", "main")
    time.sleep(1.0)  # longer than the quiet that the worker waits for
    assert topic.passes() == []


def test_nothing_is_indexed_while_a_rebase_waits_for_its_user(topic: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    start_conflict(topic)
    monkeypatch.setenv("GIT_EDITOR", "true")
    topic.repo.write(f"t{PICKS // 2}.py", "both\n")
    topic.repo.git("add", "--all")
    topic.repo.git("rebase", "--continue")
    assert_whole(topic)


def test_a_rebase_that_is_given_up_costs_no_pass(topic: Hooked) -> None:
    start_conflict(topic)
    topic.repo.git("rebase", "--abort")
    until(lambda: not topic.waiting())
    assert topic.passes() == []  # HEAD is where it was when it was indexed last


# Callers that wait


def test_hooks_leave_no_trace_in_output_and_exit_status(hooked: Hooked) -> None:
    done = subprocess.run(
        ["git", "switch", "-q", "side"], cwd=hooked.repo.path, env=hooked.repo.environment(), capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    hooked.settle()


def test_the_hooks_can_be_silenced_once(hooked: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as silenced:
        silenced.setenv("ITZA_SKIP_HOOK", "1")
        commit_something(hooked.repo)
    time.sleep(0.2)
    assert not hooked.waiting() and hooked.passes() == []


CLOSES_THE_TERMINAL = """
import os, pty, signal
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, under which the suite may run, would keep the shell alive
    os.execvp("sh", ["sh", "-c", "git commit -q --allow-empty -m x; echo done; sleep 60"])
seen = b""
while b"done" not in seen:
    seen += os.read(terminal, 100)
os.close(terminal)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGHUP
"""


def test_a_terminal_that_closes_does_not_end_the_worker(hooked: Hooked) -> None:  # C15
    subprocess.run(
        [sys.executable, "-c", CLOSES_THE_TERMINAL], cwd=hooked.repo.path, env=hooked.repo.environment(), check=True
    )
    assert hooked.settled_passes() == 1


def test_a_bare_path_still_finds_the_interpreter(hooked: Hooked, home: Path) -> None:  # C17
    git = Path(shutil.which("git") or "git")
    bare = {"HOME": os.fspath(home), "PATH": f"{git.parent}:/usr/bin:/bin"}
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(
        ["git", *identity, "commit", "-q", "--allow-empty", "-m", "x"], cwd=hooked.repo.path, env=bare, check=True
    )
    assert hooked.settled_passes() == 1
