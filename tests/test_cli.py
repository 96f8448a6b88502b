"""The command line as a contract: exit codes, JSON, one line for each error."""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

from itza_git import cli, faults
from itza_git.api import Itza
from itza_git.commands import common
from tests.command import Done, Run, environment, inside, itza
from tests.repository import Repo

HEAD_KEYS = ["schema", "query", "commit", "rev", "dirty", "recipe", "coverage"]
HIT_KEYS = [
    "path",
    "start_line",
    "end_line",
    "commit",
    "blob",
    "citation",
    "language",
    "symbol",
    "kind",
    "score",
    "text",
]
ANSWER_KEYS = [
    "status", "confidence", "no_se_by", "answer", "missing", "model", "citations", "rejected", "passages",
]  # fmt: skip


@pytest.fixture
def project(repo: Repo) -> Repo:
    """A repository with a function, a document and a binary file."""
    repo.write("src/retry.py", "def retry_limit(times):\n    return min(times, 5)\n")
    repo.write("README.md", "# Retries\n\nEvery request is retried.\n")
    repo.write("logo.bin", b"\0\1")
    repo.commit()
    return repo


# Help


def all_commands() -> list[list[str]]:
    context = click.Context(cli.cli)
    found: list[list[str]] = [[]]
    for name in cli.COMMANDS:
        command = cli.cli.get_command(context, name)
        found.append([name])
        if isinstance(command, click.Group):
            found += [[name, inner] for inner in command.commands]
    return found


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_every_command_explains_itself(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: list[str]
) -> None:
    done = inside(repo, monkeypatch, capfd, *command, "-h")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(["Usage: git itza", *command]))
    assert "-h, --help" in done.out


def test_without_a_command_the_help_is_shown(repo: Repo) -> None:
    done = itza(repo)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: git itza")


def test_the_version_is_told(repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from itza_git import __version__

    assert inside(repo, monkeypatch, capfd, "--version").out == f"git-itza {__version__}\n"


# Commands and their exit codes


def test_search_shows_passages_and_ends_with_0(project: Repo) -> None:
    done = itza(project, "search", "retry", "limit")
    assert (done.code, done.error) == (0, [])
    assert done.out.startswith(f"src/retry.py:1-2@{project.git('rev-parse', '--short', 'HEAD')}  retry_limit\n")
    assert "  1  def retry_limit(times):\n" in done.out


def test_ask_without_a_model_shows_the_passages_says_why_and_ends_with_0(project: Repo) -> None:
    done = itza(project, "ask", "how many retries?")
    assert done.code == 0
    assert done.out.startswith(("src/retry.py:1-2@", "README.md:1-3@"))
    assert done.error[0].startswith("note: Ollama is not reachable at http://127.0.0.1:1 ")
    assert done.error[0].endswith("these are the passages that an answer would rest on")
    assert itza(project, "ask", "retries?", "--no-model").error == []


def test_index_says_what_was_new_reused_and_skipped(project: Repo) -> None:
    commit = project.git("rev-parse", "HEAD")[:12]
    first, second = itza(project, "index"), itza(project, "index", "-v")
    assert (first.code, first.err, second.code, second.err) == (0, "", 0, "")
    assert first.out.startswith(f"HEAD at {commit}: 2 of 2 files indexed, 1 file skipped\n")
    assert "  3 blobs looked at: 3 new, 0 reused\n" in first.out
    assert "  skipped: 1 binary\n" in first.out
    assert "3 blobs looked at: 0 new, 3 reused" in second.out
    assert second.out.endswith("  binary       logo.bin\n")


def test_show_prints_the_cited_lines(project: Repo) -> None:
    commit = project.git("rev-parse", "HEAD")
    project.write("src/retry.py", "")
    project.commit()
    done = itza(project, "show", f"src/retry.py:2@{commit[:10]}")
    assert (done.code, done.out, done.err) == (0, "2      return min(times, 5)\n", "")


def test_status_tells_fresh_from_stale_and_indexing_clears_it(project: Repo) -> None:
    def head() -> str:
        done = itza(project, "status")
        assert (done.code, done.err) == (0, "")
        return next(line for line in done.out.splitlines() if line.startswith("HEAD "))

    assert head().endswith("0/3 files  stale: git itza index")
    itza(project, "index")
    assert head().endswith("2/2 files  fresh")
    project.write("new.py", "x = 1\n")
    project.commit()
    assert head().endswith("2/3 files  stale: git itza index")
    itza(project, "search", "x")
    assert head().endswith("3/3 files  fresh")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["search", "retry"], 0),
        (["search", "qqqqzzzz"], 1),
        (["search", "???"], 1),
        (["ask", "--no-model", "qqqqzzzz"], 1),
        (["ask", "--no-model", "retry"], 0),
        (["ask", "--no-model", "--strict", "retry"], 4),
        (["search"], 2),
        (["search", "retry", "-k", "0"], 2),
        (["search", "retry", "--nonsense"], 2),
        (["nonsense"], 2),
    ],
)
def test_exit_codes(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], args: list[str], code: int
) -> None:
    done = inside(project, monkeypatch, capfd, *args)
    assert done.code == code
    assert (done.err.startswith("error: ") and "\nhint: git itza" in done.err) is (code == 2)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_options: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(Itza, "search", broken)


@pytest.mark.usefixtures("faulty")
def test_a_fault_of_ours_ends_with_3_and_a_report(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    inside(project, monkeypatch, capfd, "index")
    done = inside(project, monkeypatch, capfd, "search", "retry")
    assert done.code == 3
    assert done.error[0] == "error: git-itza has a fault: RuntimeError('a fault')"
    report = Path(done.error[1].removeprefix("hint: please report it with the file "))
    assert report.parent == project.path / ".git" / "itza" / "faults"
    assert report.stat().st_mode & 0o777 == 0o600
    assert report.read_text().endswith("\nbuiltins.RuntimeError\n")


@pytest.mark.usefixtures("faulty")
def test_a_fault_without_room_for_a_report_tells_it_itself(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(faults, "_write", full)
    done = inside(project, monkeypatch, capfd, "search", "retry")
    assert done.code == 3
    assert done.err.startswith("error: git-itza has a fault: RuntimeError('a fault')\nhint: ")
    assert done.err.rstrip().endswith("\nbuiltins.RuntimeError")


def test_a_report_names_places_in_the_program_and_no_word_of_the_user(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(_itza: Itza, query: str, **_options: object) -> None:
        try:
            int(query)
        except ValueError as e:
            raise RuntimeError(f"\x1b[2J{query}") from e

    monkeypatch.setattr(Itza, "search", broken)
    monkeypatch.setenv("A_TOKEN", "zztoken")
    done = inside(project, monkeypatch, capfd, "search", "zzsecret", "--path=zzpath", "--json")
    assert "\x1b" not in done.err
    report = Path(done.error[1].removeprefix("hint: please report it with the file "))
    assert report.parent == Path(tempfile.gettempdir())
    text = report.read_text()
    report.unlink()
    assert "zz" not in text
    assert "\ngit itza search --path --json ...\n" in text
    assert "builtins.ValueError\nwhich led to:\n" in text


def test_the_newest_reports_are_kept(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = project.path / ".git" / "itza" / "faults"
    inside(project, monkeypatch, capfd, "index")
    folder.mkdir()
    for number in range(faults.MOST_REPORTS + 3):
        (folder / f"git-itza-fault-20200101T0000{number:02}-1.txt").touch()
    monkeypatch.chdir(project.path)
    written = faults.write(IndexError("x"), ["status"])
    kept = sorted(folder.iterdir())
    assert (len(kept), kept[-1]) == (faults.MOST_REPORTS, written)


@pytest.mark.parametrize("args", [["search", "retry"], ["search", "retry", "--json"], ["-h"], ["status"]])
def test_a_closed_pipe_is_no_error(project: Repo, args: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = ["git", "itza", *args]
    done = subprocess.run(
        command, cwd=project.path, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_first_line_of_many_is_enough(project: Repo) -> None:
    for number in range(300):
        project.write(f"many/{number}.py", f"retry_{number} = '{'x' * 900}'\n")
    project.commit()
    itza(project, "index")
    line = 'git itza search retry -k 1000 --json | head -c 10; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", line], cwd=project.path, env=environment(), capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b'{"schema":0\n', b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_output_that_cannot_be_written_is_one_line(project: Repo) -> None:
    itza(project, "index")
    with open("/dev/full", "wb") as full:
        command = ["git", "itza", "search", "retry"]
        done = subprocess.run(
            command, cwd=project.path, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    told = b"error: cannot write the output: No space left on device\nhint: free some space, or write it elsewhere\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize(
    "args",
    [
        ["show", "HUGE"],
        ["show", "HUGE:3"],
        ["show", "HUGE:3-4@HEAD"],
        ["search", "retry", "--rev", "HUGE"],
        ["search", "retry", "--branch", "HUGE"],
        ["search", "retry", "--repo", "HUGE"],
        ["search", "retry", "--lang", "HUGE"],
        ["search", "retry", "--path", "HUGE"],
        ["search", "HUGE"],
        ["search", "retry", "-k", "HUGE"],
        ["HUGE"],
        ["repos", "add", "HUGE"],
        ["repos", "remove", "HUGE"],
        ["verify", "HUGE"],
        ["similar", "HUGE:1"],
    ],
)
def test_a_huge_argument_is_not_echoed_whole(project: Repo, run: Run, args: list[str]) -> None:
    done = run(project, *(arg.replace("HUGE", "x" * 100_000) for arg in args))
    assert done.code in (1, 2)
    assert done.error[0].startswith(("error: ", "nothing found for: ", "nothing here matches"))
    assert max(map(len, done.error)) < 1300


def test_an_interrupt_ends_with_130_and_leaves_no_lock(project: Repo) -> None:
    with Itza.open(project.path) as opened:
        with opened.space.writer():
            waiting = subprocess.Popen(
                ["git-itza", "index"],
                cwd=project.path,
                env=environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
            assert waiting.stderr is not None
            assert waiting.stderr.readline() == "another process is indexing this repository; waiting for it\n"
            waiting.send_signal(signal.SIGINT)
            assert waiting.communicate()[1].strip() == ""
            assert waiting.returncode == 130
        with opened.space.writer(0):
            pass
    assert itza(project, "index").code == 0


# JSON


def test_the_json_of_search(project: Repo) -> None:
    commit = project.git("rev-parse", "HEAD")
    done = itza(project, "search", "retry", "limit", "--json", "-k", "1")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    found = done.json
    assert list(found) == [*HEAD_KEYS, "hits"]
    (hit,) = found["hits"]
    assert list(hit) == HIT_KEYS
    assert (found["schema"], found["query"], found["rev"], found["commit"]) == (1, "retry limit", "HEAD", commit)
    assert found["dirty"] is False
    assert found["coverage"] == {
        "indexed": 2, "total": 2, "skipped": [{"path": "logo.bin", "reason": "binary"}],
    }  # fmt: skip
    assert hit | {"score": 1} == {
        "path": "src/retry.py",
        "start_line": 1,
        "end_line": 2,
        "commit": commit,
        "blob": project.git("rev-parse", "HEAD:src/retry.py"),
        "citation": f"src/retry.py:1-2@{project.git('rev-parse', '--short', 'HEAD')}",
        "language": "python",
        "symbol": "retry_limit",
        "kind": "function",
        "score": 1,
        "text": "def retry_limit(times):\n    return min(times, 5)",
    }
    assert 0 < hit["score"] <= 1


def test_the_json_of_ask(project: Repo) -> None:
    done = itza(project, "ask", "how many retries?", "--json")
    assert done.code == 0
    found = done.json
    assert list(found)[: len(HEAD_KEYS + ANSWER_KEYS)] == HEAD_KEYS + ANSWER_KEYS
    assert (found["status"], found["answer"], found["model"], found["citations"]) == ("passages", None, None, [])
    assert (found["confidence"], found["no_se_by"], found["missing"], found["rejected"]) == (None, None, None, [])
    assert list(found["passages"][0]) == HIT_KEYS


def test_a_changed_working_tree_is_told_where_head_is_asked(project: Repo) -> None:
    project.write("README.md", "changed\n")
    assert itza(project, "search", "retry", "--json").json["dirty"] is True
    assert itza(project, "search", "retry", "--json", "--branch", "main").json["dirty"] is False


def test_the_json_of_the_other_commands(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    commit = project.git("rev-parse", "HEAD")
    report = inside(project, monkeypatch, capfd, "index", "--json").json
    assert {
        "schema",
        "rev",
        "commit",
        "coverage",
        "new",
        "reused",
        "chunks",
        "not_embedded",
        "lossy",
        "messages",
    } == set(report)
    assert (report["schema"], report["new"], report["reused"]) == (1, 3, 0)
    shown = inside(project, monkeypatch, capfd, "show", f"README.md:1@{commit}", "--json").json
    assert shown == {
        "schema": 1, "path": "README.md", "start_line": 1, "end_line": 1, "commit": commit, "lines": ["# Retries"],
    }  # fmt: skip
    state = inside(project, monkeypatch, capfd, "status", "--json").json
    assert {"schema", "head", "fresh", "branches", "embedder", "recipe", "model", "store", "damaged"} <= set(state)
    assert (state["schema"], state["fresh"], state["head"]["name"], state["head"]["commit"]) == (
        1,
        True,
        "main",
        commit,
    )
    assert inside(project, monkeypatch, capfd, "gc", "--json").json["schema"] == 1


def test_a_path_that_is_no_text_is_quoted_and_its_bytes_stand_beside_it(repo: Repo) -> None:
    repo.write(b"caf\xe9.py", "def drink():\n    pass\n")
    repo.commit()
    done = itza(repo, "search", "drink", "--json")
    (hit,) = done.json["hits"]
    assert hit["path"] == '"caf\\351.py"'
    assert hit["path_bytes"] == "Y2Fm6S5weQ=="
    assert hit["citation"].startswith('"caf\\351.py":1-2@')
    shown = itza(repo, "show", hit["citation"])
    assert shown.out == "1  def drink():\n2      pass\n"


@pytest.mark.parametrize(
    "name", ["-rf.py", "--json.py", 'a:b@c "d".py', "new\nline.py", " lead and trail .py", "\u202evil.py"]
)
def test_show_takes_every_citation_that_search_prints(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    repo.write(name, "def odd_name():\n    pass\n")
    repo.commit()
    (hit,) = inside(repo, monkeypatch, capfd, "search", "odd name", "--json").json["hits"]
    shown = inside(repo, monkeypatch, capfd, "show", hit["citation"])
    assert (shown.code, shown.out) == (0, "1  def odd_name():\n2      pass\n")


# Terminals


def on_terminal(repo: Repo, *args: str, **variables: str) -> bytes:
    """What `git itza ARGS` writes when both of its outputs are a terminal."""
    master, slave = pty.openpty()
    done = subprocess.Popen(
        ["git-itza", *args],
        cwd=repo.path,
        env=environment(TERM="xterm", COLUMNS="80", **variables),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    written = b"".join(iter(lambda: read_terminal(master), b""))
    os.close(master)
    assert done.wait() == 0
    return written


def read_terminal(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # how Linux says that the other side is closed
        return b""


def test_a_terminal_gets_progress_and_colour(project: Repo) -> None:
    written = on_terminal(project, "search", "retry")
    assert b"indexing " in written
    assert b"3/3 files" in written
    assert b"\x1b[32msrc/retry.py:1-2@" in written
    assert b"\x1b[33mretry_limit\x1b[0m" in written


@pytest.mark.parametrize("width", [10, 20, 40, 80, 200])
def test_progress_keeps_to_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((width, 24)))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with common.watch(what="a-repository-with-a-name (2/3)") as watch:
        for done in (0, 1, 1612):
            watch.progress(done, 1612)
        watch.summarising(0, 120)
    lines = capsys.readouterr().err.split("\r\x1b[K")
    assert lines[-1] == ""
    assert max(map(len, lines)) < width
    assert width < 20 or "1612/1612 files" in lines[3]


def test_an_interrupt_clears_the_progress_and_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for done, said in ((7, "interrupted: 7 of 9 files are indexed, the rest the next time\n"), (9, "")):
        with pytest.raises(KeyboardInterrupt), common.watch() as watch:
            watch.progress(done, 9)
            raise KeyboardInterrupt
        assert capsys.readouterr().err.rpartition("\r\x1b[K")[2] == said


def test_no_color_is_honoured(project: Repo) -> None:
    itza(project, "index")
    assert b"\x1b" not in on_terminal(project, "search", "retry", NO_COLOR="1")
    assert b"\x1b" not in on_terminal(project, "status", NO_COLOR="1")


# Bad input


def failed(done: Done, *named: str) -> None:
    """One line that names the input, one with a hint, and the exit code of an error."""
    assert done.code == 2
    assert done.out == ""
    assert len(done.error) == 2, done.err
    assert done.error[0].startswith("error: ")
    assert done.error[1].startswith("hint: ")
    for name in named:
        assert name in done.error[0]


@pytest.mark.parametrize("args", [["search", "x"], ["index"], ["status"], ["show", "a:1@abcd"], ["ask", "x"]])
def test_outside_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], args: list[str]
) -> None:
    nowhere = Repo.__new__(Repo)
    nowhere.path = tmp_path
    failed(inside(nowhere, monkeypatch, capfd, *args), f"not a git repository: {tmp_path}")


@pytest.mark.parametrize("args", [["search", "x"], ["index"], ["ask", "x"]])
def test_before_the_first_commit(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], args: list[str]
) -> None:
    failed(inside(repo, monkeypatch, capfd, *args), "has no commit yet")
    assert "no commit yet" in inside(repo, monkeypatch, capfd, "status").out
    assert not (repo.path / ".git" / "itza").exists()


def test_an_empty_tree(repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    repo.commit()
    searched = inside(repo, monkeypatch, capfd, "search", "x")
    assert (searched.code, searched.out) == (1, "")
    assert searched.error == [
        "note: HEAD holds no file that can be searched; what was skipped, and why: git itza index -v",
        "nothing found for: x",
    ]
    assert "0 of 0 files" in inside(repo, monkeypatch, capfd, "index").out
    assert inside(repo, monkeypatch, capfd, "status").code == 0


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["search", "x", "--rev", "nope"], "'nope'"),
        (["search", "x", "--rev", "HEAD:README.md"], "is a blob, not a commit"),
        (["search", "x", "--rev", "--output=evil"], "'--output=evil'"),
        (["search", "x", "--branch", "nope"], "no local branch is named nope"),
        (["search", "x", "--branch", "main", "--rev", "HEAD~0"], "--rev and --branch"),
        (["search", "x", "--path", "nothing/*.here"], "--path nothing/*.here"),
        (["search", "x", "--path", ":!README.md"], ":!README.md"),
        (["search", "x", "--lang", "klingon"], "klingon"),
        (["search", "x", "--lang", "rust"], "--lang rust"),
        (["search", " "], "the question is empty"),
        (["ask", ""], "the question is empty"),
        (["index", "nope"], "'nope'"),
        (["show", "README.md"], "not a citation: 'README.md'"),
        (["show", "README.md:9@HEAD"], "README.md has 3 lines"),
        (["show", "nowhere.md:9@{commit}"], "nowhere.md is not in"),
        (["show", "README.md:2-9@{commit}"], "README.md has 3 lines"),
        (["how do retries work"], "no command is named how do retries work"),
    ],
)
def test_wrong_arguments_are_named(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], args: list[str], named: str
) -> None:
    commit = project.git("rev-parse", "HEAD")
    failed(inside(project, monkeypatch, capfd, *(arg.replace("{commit}", commit) for arg in args)), named)


def test_an_ambiguous_short_id_names_its_candidates(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stream = b"".join(
        b"commit refs/heads/b%d\ncommitter A <a@b.c> %d +0000\ndata 0\n\n" % (n, 1_700_000_000 + n) for n in range(400)
    )
    repo.git("fast-import", "--quiet", stdin=stream)
    ids = sorted(repo.git("for-each-ref", "--format=%(objectname)").split())
    short = next(a[:4] for a, b in pairwise(ids) if a[:4] == b[:4])
    failed(inside(repo, monkeypatch, capfd, "search", "x", "--rev", short), f"revision '{short}' is ambiguous")


def test_a_wrong_setting_is_named(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project.git("config", "itza.maxFileSize", "huge")
    failed(inside(project, monkeypatch, capfd, "search", "x"), "itza.maxFileSize: 'huge'")


def test_an_object_that_cannot_be_read_is_named_and_the_rest_answers(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = project.git("rev-parse", "HEAD:README.md")
    (project.path / ".git" / "objects" / name[:2] / name[2:]).unlink()
    done = inside(project, monkeypatch, capfd, "search", "retry")
    assert done.code == 0
    assert done.out.startswith("src/retry.py:1-2@")
    assert done.error == ["note: README.md is not searched, because its object cannot be read: git fsck"]


def test_a_commit_whose_tree_is_lost_is_one_line(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = project.git("rev-parse", "HEAD:src")
    (project.path / ".git" / "objects" / name[:2] / name[2:]).unlink()
    failed(inside(project, monkeypatch, capfd, "search", "retry"), name)


def test_a_damaged_pack_is_named_and_replaced(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    inside(project, monkeypatch, capfd, "index")
    (pack,) = (project.path / ".git" / "itza").glob("spaces/*/packs/*")
    pack.write_bytes(pack.read_bytes()[:100])
    assert f"\ndamaged   {pack}" in inside(project, monkeypatch, capfd, "status").out
    done = inside(project, monkeypatch, capfd, "search", "retry")
    assert done.code == 0
    assert done.error[0].startswith(f"note: {pack} is damaged: ")
    assert inside(project, monkeypatch, capfd, "search", "retry").err == ""
    assert "\ndamaged" not in inside(project, monkeypatch, capfd, "status").out


# Folders that cannot be written


@pytest.fixture
def powerless() -> tuple[str, ...]:
    """What runs a command that permissions bind, also as root."""
    if os.geteuid():
        return ()
    command = ("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search")
    if not shutil.which("setpriv") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root cannot be bound by permissions here: setpriv does not work")
    return command


@pytest.fixture
def locked(project: Repo) -> Iterator[Path]:
    """The project's .git, which the test may make unwritable."""
    folder = project.path / ".git"
    yield folder
    folder.chmod(0o755)
    if (folder / "itza").exists():
        (folder / "itza").chmod(0o755)


def test_without_the_right_to_write_a_first_search_says_so(
    project: Repo, locked: Path, powerless: tuple[str, ...]
) -> None:
    locked.chmod(0o555)
    done = itza(project, "search", "retry", prefix=powerless)
    failed(done, f"cannot write the index: {locked / 'itza'}: Permission denied")
    assert done.error[1] == f"hint: the index lives in the git directory: make {locked} writable for you"


def test_without_the_right_to_write_what_is_indexed_still_answers(
    project: Repo, locked: Path, powerless: tuple[str, ...]
) -> None:
    itza(project, "index")
    project.git("checkout", "--quiet", "-b", "new-branch")
    for folder in locked.rglob("itza/**/"):
        folder.chmod(0o555)
    done = itza(project, "search", "retry", prefix=powerless)
    for folder in locked.rglob("itza/**/"):
        folder.chmod(0o755)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("src/retry.py:1-2@")


@pytest.mark.parametrize("command", [["search", "retry"], ["status"], ["index"]])
def test_an_index_that_may_not_be_read_is_one_line(
    project: Repo, locked: Path, powerless: tuple[str, ...], command: list[str]
) -> None:
    itza(project, "index")
    (locked / "itza").chmod(0o000)
    failed(itza(project, *command, prefix=powerless), "index: ", "Permission denied")


@pytest.mark.parametrize("command", ["gc", "fsck"])
@pytest.mark.parametrize("place", ["views", "history", "history/packs", "history/lineages"])
def test_the_folder_that_may_not_be_read_is_named(
    project: Repo, locked: Path, powerless: tuple[str, ...], command: str, place: str
) -> None:
    itza(project, "index")
    itza(project, "ask", "why are retries limited?", "--no-model")
    (space,) = (locked / "itza" / "spaces").iterdir()
    folder = space / place
    folder.chmod(0o000)
    done = itza(project, command, prefix=powerless)
    folder.chmod(0o700)
    failed(done, "cannot read the index: ", "Permission denied")
    assert done.error[1] == f"hint: make {folder} readable for you"


@pytest.fixture
def tiny_disk(project: Repo) -> Iterator[Path]:
    """A disk of a few pages where the index lives."""
    folder = project.path / ".git" / "itza"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here; test_space.py injects the same fault")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing(project: Repo, tiny_disk: Path) -> None:
    project.write("many.md", "".join(f"# Heading {n}\n\nword{n} other{n}\n" * 9 for n in range(60)))
    project.commit()
    done = itza(project, "index")
    failed(done, "cannot write the index: ", "No space left on device")
    assert "free some space" in done.error[1]
    assert [path for path in tiny_disk.rglob(".tmp-*") if path.is_file()] == []
    subprocess.run(["mount", "-o", "remount,size=10m", str(tiny_disk)], check=True)
    assert itza(project, "search", "word7").code == 0


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (["how do retries work"], 'git itza ask "how do retries work"'),
        (["how", "do", "retries", "work"], 'git itza ask "how do retries work"'),
        (["serch", "retries"], "git itza search"),
        (["xyzzy"], "git itza -h"),
    ],
)
def test_what_is_no_command_is_answered_with_what_was_meant(project: Repo, typed: list[str], hint: str) -> None:
    done = itza(project, *typed)
    assert (done.code, done.error[1]) == (2, f"hint: {hint}")


def test_a_pathspec_counts_from_the_current_folder_as_it_does_for_git(project: Repo) -> None:
    source = project.path / "src"
    assert "src/retry.py" in itza(source, "search", "retry", "--path", "retry.py").out
    assert "src/retry.py" in itza(source, "search", "retry", "--path", ".").out
    assert "README.md" not in itza(source, "search", "retry", "--path", ".").out
    assert "README.md" in itza(source, "search", "retry", "--path", "../README.md").out
    assert "README.md" in itza(source, "search", "retry", "--path", ":/README.md").out
    assert itza(source, "search", "retry", "--path", "../../x").error[0] == "error: ../../x is outside the repository"


def test_show_takes_any_revision_and_a_line_copied_with_its_symbol(project: Repo) -> None:
    expected = itza(project, "show", f"src/retry.py:1-2@{project.git('rev-parse', 'HEAD')}").out
    assert "def retry_limit(times):" in expected
    assert itza(project, "show", "src/retry.py:1-2@HEAD").out == expected
    assert itza(project, "show", "src/retry.py:1-2@main  retry_limit").out == expected
    assert itza(project, "show", "src/retry.py:1-2@nowhere").code == 2


def test_show_looks_from_the_current_folder_where_the_top_has_no_such_file(project: Repo, run: Run) -> None:
    expected = run(project, "show", "src/retry.py:1-2@HEAD").out
    assert run(project.path / "src", "show", "src/retry.py:1-2@HEAD").out == expected
    assert run(project.path / "src", "show", "retry.py:1-2@HEAD").out == expected
    assert run(project.path / "src", "show", "retry.py:1-2@worktree").out == expected
    assert run(project.path / "src", "show", "../src/retry.py:1-2@HEAD").out == expected
    assert run(project.path / "src", "show", "--json", "retry.py:1-2@HEAD").json["path"] == "src/retry.py"
    project.write("src/README.md", "another\n")
    project.commit()
    assert run(project.path / "src", "show", "README.md:1@HEAD").out != "1  another\n"


@pytest.mark.parametrize(
    ("citation", "what", "hint"),
    [
        ("src/retry.py:1-2", "it names no commit", "git itza show src/retry.py:1-2@HEAD"),
        ("src/retry.py:5-2@HEAD", "line 2 comes before line 5", ""),
        ("src/retry.py:0-3@HEAD", "the first line of a file is 1", ""),
        ("src/retry.py:2-20000@HEAD", "lines at", "git itza show src/retry.py:2@"),
        ("src/retry.py:900-20000@HEAD", "lines at", "git itza show src/retry.py:1-"),
        ("empty.typed:1@HEAD", "empty.typed is empty at", "git log --oneline "),
        ("logo.png:1@HEAD", "logo.png is binary at", "git cat-file -s "),
    ],
)
def test_show_says_what_is_wrong_with_a_citation(project: Repo, run: Run, citation: str, what: str, hint: str) -> None:
    project.write("empty.typed", "")
    project.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    project.commit()
    done = run(project, "show", citation)
    assert done.code == 2
    assert what in done.error[0]
    assert done.error[1].startswith(f"hint: {hint}")
    assert citation not in done.error[1].split()  # never the command that has just failed


def test_show_takes_a_commit_without_quotes_and_by_any_name(project: Repo, run: Run) -> None:
    subject = "A reason, of several words"
    head = project.commit(subject)
    expected = run(project, "show", f"commit {head[:12]}").out
    assert "A reason, of several words" in expected
    for args in (
        ["commit", head[:12]],
        ["commit HEAD"],
        ["commit", "main"],
        ["commit", head, subject],
    ):
        assert run(project, "show", *args).out == expected
    assert run(project, "show", "commit", "HEAD", "Another one").code == 2
    assert run(project, "show", "commit", "nowhere").code == 2
    assert run(project, "show", "a.py:1@HEAD", "b.py:1@HEAD").code == 2


def test_a_line_that_goes_to_a_pipe_is_not_cut(repo: Repo) -> None:
    repo.write("long.py", f"def retry(): return '{'x' * 300}'\n")
    repo.commit()
    assert "x" * 300 in itza(repo, "search", "retry").out


ASKING_WHERE = [
    ("where is retry_limit defined?", "retry_limit"),
    ("where is `Backoff` declared?", "Backoff"),
    ("where is the class Backoff defined?", "Backoff"),
    ("where is Client.backoff_seconds() defined?", "backoff_seconds"),
    ("¿dónde está definida la clase Backoff?", "Backoff"),
    ("où est définie la classe Backoff ?", "Backoff"),
    ("Backoff在哪里定义", "Backoff"),
]


@pytest.mark.parametrize(("question", "name"), ASKING_WHERE)
def test_where_something_is_defined_is_answered_and_the_literal_search_that_is_named_finds_it(
    project: Repo, question: str, name: str
) -> None:
    project.write("src/backoff.py", BACKOFF)
    project.write(
        "src/uses.py", "from backoff import Backoff\n\n\ndef use(backoff: Backoff):\n    Backoff()\n    Backoff()\n"
    )
    project.write("docs/backoff.md", "# Backoff\n\nBackoff is defined by Backoff, and backoff_seconds by Backoff.\n")
    project.commit()
    done = itza(project, "search", question, "--json")
    assert name in done.json["hits"][0]["symbol"].replace(",", ".").split(".")
    (command,) = [line.partition(": git ")[2] for line in done.error if "a literal search" in line]
    hit = done.json["hits"][0]
    lines = enumerate(hit["text"].split("\n"), hit["start_line"])
    defined = next(n for n, line in lines if re.search(rf"(?:class|def) {name}\b", line))
    assert f"\n{hit['path']}:{defined}:" in "\n" + project.git(*shlex.split(command))


BACKOFF = """\
class Backoff:
    pass


class Client:
    def backoff_seconds(self):
        return 2
"""


def test_a_literal_search_is_named_only_for_a_name_that_is_there(project: Repo) -> None:
    assert "git grep" in itza(project, "search", "where is retry_limit defined?").err
    assert "git grep" not in itza(project, "search", "where is retry_nothing defined?").err
    assert "git grep" not in itza(project, "search", "where is Retry_Limit defined?").err
    assert "git grep" not in itza(project, "search", "where is the limit of retries defined?").err


def test_the_literal_search_looks_into_the_tree_that_was_asked(project: Repo) -> None:
    project.git("branch", "side-branch")
    told = itza(project, "search", "where is retry_limit defined?", "--branch", "side-branch").error
    (command,) = [line.partition(": git ")[2] for line in told if "a literal search" in line]
    assert "side-branch:src/retry.py:" in project.git(*shlex.split(command))
    project.write("src/new.py", "def brand_new_name():\n    pass\n")
    told = itza(project, "search", "where is brand_new_name defined?", "--worktree").error
    (command,) = [line.partition(": git ")[2] for line in told if "a literal search" in line]
    assert "src/new.py:1:" in project.git(*shlex.split(command))
