"""Nothing that a repository, its settings or a model says reaches a terminal raw, whichever command shows it."""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

from itza_git import cli
from tests.command import Run, environment
from tests.hostile import ESCAPES, REF_ESCAPES, hostile, raw
from tests.repository import Repo

EVIL = ESCAPES.replace("/", "_")
REVISION = f"t{REF_ESCAPES}"

# Of each command the ways to make it speak: right, wrong, and about what is not there.
COMMANDS: dict[str, list[list[str]]] = {
    "index": [["-v"], ["--json"], [REVISION], [f"no{ESCAPES}"]],
    "search": [
        ["load settings", "-v"],
        ["load settings", "--json"],
        ["load settings", "--worktree", "-v"],
        ["load settings", "--worktree", "--json"],
        *(["load settings", "--format", name] for name in ("jsonl", "vimgrep", "paths")),
        ["load settings", "-C", "2", "--max-chars", "900"],
        ["load settings", "--all-repos"],
        ["load settings", "--all-repos", "--json"],
        ["load settings", "--repo", f"no{ESCAPES}"],
        ["load settings", "--rev", REVISION],
        ["load settings", "--branch", f"b{REF_ESCAPES}"],
        ["load settings", "--branch", f"no{ESCAPES}"],
        [f"qqq{ESCAPES}"],
        [f"qqq{ESCAPES}", "--json"],
        ["load", "--path", f"no{ESCAPES}"],
        ["load", "--lang", f"no{ESCAPES}"],
        ["load", f"--no{ESCAPES}"],
    ],
    "similar": [
        ["src/plain.py:1"],
        ["src/plain.py:1", "-v"],
        ["src/plain.py:1", "--json"],
        [f"{EVIL}:1"],
        [f"src/plain.py:{ESCAPES}"],
    ],
    "overview": [[], ["-v"], ["--json"], ["--path", f"no{ESCAPES}"], ["--rev", f"no{ESCAPES}"]],
    "agent": [
        ["instructions"],
        ["install", "--client", "claude", "--dry-run"],
        ["install", "--client", f"no{ESCAPES}"],
    ],
    "repos": [["add", "."], ["list"], ["--json"], ["add", f"no{EVIL}"], ["index"], ["remove", f"no{ESCAPES}"]],
    "ask": [
        ["load settings"],
        ["why load settings?"],
        ["why load settings?", "--json"],
        ["what does this project do?"],
        ["what changed?", "--rev", "HEAD~1..HEAD"],
        ["what changed?", "--rev", "HEAD~1..HEAD", "--json"],
        ["load settings", "--json"],
        [f"qqq{ESCAPES}"],
        ["load", "--model", f"m{ESCAPES}"],
    ],
    "show": [
        ["src/plain.py:1-3@HEAD"],
        ["src/plain.py:1-3@HEAD", "--json"],
        [f"src/{EVIL}:1@HEAD"],
        [f"src/plain.py:1@{REVISION}"],
        ["src/plain.py:1-2@worktree"],
        ["commit HEAD~1"],
        ["HEAD~1", "--json"],
        [f"{ESCAPES}"],
    ],
    "verify": [["notes"], ["-v", "notes"], ["--json", "notes"], [f"no{ESCAPES}"], ["--rev", f"no{ESCAPES}", "notes"]],
    "status": [[], ["-v"], ["--json"]],
    "gc": [[], ["--json"]],
    "fsck": [[], ["--json"], ["--repair"]],
    "hooks": [["status"], ["status", "--json"], ["install"], ["status"], ["uninstall"]],
}
# Commands of other parts of the house, which have to come in above.
ELSEWHERE = {"mcp"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def repo(built: Repo) -> Repo:
    """Shared: no test may change more of it than its index."""
    commit = built.git("rev-parse", "HEAD~1")
    cited = f"see src/plain.py:1-3@{commit} and src/moved.py:1-4@{commit} and {EVIL}:1@{commit} {ESCAPES}\n"
    built.write("notes", cited)
    return built


def test_every_command_is_here() -> None:
    assert set(COMMANDS) | ELSEWHERE == set(cli.COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_reaches_the_terminal_raw(repo: Repo, run: Run, command: str) -> None:
    for args in COMMANDS[command]:
        done = run(repo, command, *args)
        assert done.code in (0, 1, 2), (args, done.err)
        assert (raw(done.out), raw(done.err)) == ([], []), args
        if "--json" in args and done.out and not done.err.startswith("error"):
            json.loads(done.out)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("itza.server", f"x{ESCAPES}"),
        ("itza.embedder", f"x{ESCAPES}"),
        ("itza.ollamaHost", f"http://{ESCAPES}"),
        ("itza.openaiBase", f"http://[{ESCAPES}"),
        ("itza.maxFileSize", f"1{ESCAPES}"),
        ("itza.allowRemote", f"maybe{ESCAPES}"),
        ("itza.history", f"maybe{ESCAPES}"),
        ("itza.include", f":(bad{ESCAPES})x"),
        ("core.hooksPath", f"hooks{EVIL}"),
        ("core.abbrev", f"x{ESCAPES}"),
    ],
)
def test_no_value_of_a_setting_does(repo: Repo, run: Run, key: str, value: str) -> None:
    before = (repo.path / ".git" / "config").read_bytes()
    repo.git("config", "--replace-all", key, value)
    try:
        for args in (["search", "load settings"], ["status"], ["hooks", "status"], ["ask", "load settings"]):
            done = run(repo, *args)
            assert done.code in (0, 1, 2), (args, done.err)
            assert (raw(done.out), raw(done.err)) == ([], []), args
    finally:
        (repo.path / ".git" / "config").write_bytes(before)


def test_nor_does_it_on_a_terminal_with_colours_and_links(repo: Repo) -> None:
    for args in (["search", "load settings", "-v"], ["ask", "load settings"], ["status", "-v"], ["verify", "notes"]):
        assert raw(on_terminal(repo, *args)) == [], args


def on_terminal(repo: Repo, *args: str) -> str:
    """What the command writes to a terminal."""
    leader, follower = pty.openpty()
    command = ["git-itza", *args]
    child = subprocess.Popen(
        command, cwd=repo.path, env=environment(TERM="xterm"), stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # nobody writes any more
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    assert child.wait() in (0, 1), seen
    return seen.decode()
