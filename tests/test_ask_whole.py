"""Asking about a whole repository: the overview without a model; with one, notes a file and one answer from all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from itza_git.answering.summarising import Source, outline, shortened
from itza_git.store.summaries import Summaries, drop_all_but
from tests.command import environment, itza
from tests.model_server import Script, serving
from tests.repository import Repo

QUESTION = "what does this project do?"
FINAL = "It keeps packs, which `PackStore` opens [2]. The `run` command prints them."
LONGEST_SECONDS = 120.0  # of a command that hangs
NOTE = "Keeps the packs of `PackStore`; the hidden `ghost_function` is said to be here."


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("README.md", "# Keep\n\nKeeps packs of vectors on disk.\n")
    repo.write("pyproject.toml", '[project]\nname = "keep"\n[project.scripts]\nkeep = "keep.cli:run"\n')
    repo.write("keep/store.py", 'class PackStore:\n    """Opens packs."""\n\n    def open_pack(self):\n        pass\n')
    repo.write("keep/cli.py", "from keep.store import PackStore\n\n\ndef run():\n    print(PackStore().open_pack())\n")
    repo.write("keep/extra.py", "from keep.store import PackStore\n\n\ndef more_packs():\n    PackStore()\n")
    repo.commit()
    return repo


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(Script(say=said)) as script:
        yield script


def said(asked: dict[str, Any]) -> str:
    """A note for each file, then the answer."""
    return NOTE if is_note(asked) else FINAL


def is_note(asked: dict[str, Any]) -> bool:
    return "one file of a repository" in asked["messages"][0]["content"]


def notes(server: Script) -> list[str]:
    """The files that the model was given to read, in order."""
    return [chat["messages"][1]["content"].split(":")[0] for chat in server.chats if is_note(chat)]


# Without a model


@pytest.mark.parametrize("arguments", [("--no-model",), ()])
def test_without_a_model_the_overview_answers(project: Repo, arguments: tuple[str, ...]) -> None:
    done = itza(project, "ask", QUESTION, *arguments)
    assert done.code == 0
    assert done.out == itza(project, "overview").out
    assert bool(done.err) == (not arguments)
    if done.err:
        assert done.error[0].endswith("this is the overview")


def test_the_json_has_what_an_answer_would_rest_on(project: Repo) -> None:
    told = itza(project, "ask", "¿Qué hace este proyecto?", "--no-model", "--json").json
    assert (told["status"], told["answer"], told["note"]) == ("passages", None, None)
    assert [one["path"] for one in told["passages"]] == ["README.md", "keep/store.py", "keep/cli.py"]
    assert all(one["text"] for one in told["passages"])


def test_a_question_about_something_is_answered_from_passages_as_ever(project: Repo) -> None:
    done = itza(project, "ask", "how does PackStore open packs?", "--no-model")
    assert done.out.startswith("keep/store.py:1-5@") and "languages" not in done.out


def test_the_asked_tree_is_the_one_that_is_told(project: Repo) -> None:
    project.git("checkout", "--quiet", "-b", "side")
    project.write("only/here.go", "package only\n\nfunc OnlyHere() {}\n")
    project.commit()
    project.git("checkout", "--quiet", "main")
    assert "only/" in itza(project, "ask", QUESTION, "--no-model", "--branch", "side").out
    assert "only/" not in itza(project, "ask", QUESTION, "--no-model").out
    project.write("README.md", "# Changed\n\nNot committed.\n")
    told = itza(project, "ask", QUESTION, "--no-model", "--worktree", "--json").json
    assert told["passages"][0]["citation"] == "README.md:1-3@worktree"
    assert told["passages"][0]["text"].startswith("# Changed")


def test_the_repository_may_be_named_after_its_folder_or_its_remote(project: Repo) -> None:
    project.git("remote", "add", "origin", "git@example.org:people/keeper.git")
    project.git("worktree", "add", "--quiet", "-b", "side", "../elsewhere")
    for place in (project.path, project.path.parent / "elsewhere"):
        for name in (project.path.name, "keeper"):
            assert "central files" in itza(place, "ask", f"what does {name} do?", "--no-model").out
        assert "central files" not in itza(place, "ask", "what does elsewhere do?", "--no-model").out


def test_a_range_is_asked_about_its_change(project: Repo) -> None:
    project.write("keep/later.py", "def added_later():\n    return 'later'\n")
    project.commit("Add what comes later")
    done = itza(project, "ask", "give me an overview", "--no-model", "--rev", "HEAD~1..HEAD")
    assert done.code == 0
    assert "Add what comes later" in done.out and "languages" not in done.out


def test_an_empty_repository_answers_nothing(repo: Repo) -> None:
    repo.write("logo.bin", b"\0")
    repo.commit()
    done = itza(repo, "ask", QUESTION)
    assert (done.code, done.out.splitlines()[0].partition(":")[0]) == (1, "NO_SE")


# With a model


def test_a_model_reads_each_file_and_then_answers_with_citations_of_the_files(project: Repo, server: Script) -> None:
    done = itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert (done.code, done.err) == (0, "")
    assert notes(server) == ["File README.md", "File keep/store.py", "File keep/cli.py"]
    answer, _, sources = done.out.partition("\n\n")
    assert answer.startswith("It keeps packs, which `PackStore` opens [1].")
    assert sources.startswith("[1] keep/store.py:1-5@")
    final = server.chats[-1]["messages"][-1]["content"]
    assert f"Note: {NOTE}" in final and final.endswith(f"Question: {QUESTION}")
    assert "entry point keep/cli.py: keep" in final


def test_what_only_a_note_says_is_never_verified(project: Repo, server: Script) -> None:
    server.say = lambda asked: NOTE if is_note(asked) else "Its `ghost_function` keeps everything [2]."
    told = itza(project, "ask", QUESTION, "--json", OLLAMA_HOST=server.host).json
    assert (told["status"], told["citations"]) == ("unverified", [])
    assert {"text": "ghost_function", "reason": "named in the answer, and no passage holds it"} in told["rejected"]
    assert itza(project, "ask", QUESTION, "--strict", OLLAMA_HOST=server.host).code == 4


def test_a_mark_that_the_model_was_not_shown_is_rejected(project: Repo, server: Script) -> None:
    server.say = lambda asked: NOTE if is_note(asked) else "`PackStore` opens packs [9]."
    told = itza(project, "ask", QUESTION, "--json", OLLAMA_HOST=server.host).json
    assert told["status"] == "answered"
    assert {"text": "[9]", "reason": "no such passage"} in told["rejected"]
    assert [one["by"] for one in told["citations"]] == ["tool"]


def test_a_sentence_may_rest_on_any_part_of_a_central_file(project: Repo, server: Script) -> None:
    filler = "".join(
        f"def helper_{n}(value):\n    first = value + {n}\n    return first * {n}\n\n\n" for n in range(40)
    )
    project.write(
        "keep/store.py", f"class PackStore:\n    pass\n\n\n{filler}def seal_the_pack(pack):\n    pack.seal()\n"
    )
    project.commit()
    server.say = lambda asked: NOTE if is_note(asked) else "At the end `seal_the_pack` seals the pack."
    told = itza(project, "ask", QUESTION, "--json", OLLAMA_HOST=server.host).json
    (cited,) = told["citations"]
    lines = project.git("show", f"HEAD:{cited['path']}").split("\n")[cited["start_line"] - 1 : cited["end_line"]]
    assert "def seal_the_pack(pack):" in lines


def test_a_note_that_repeats_itself_is_cut(project: Repo, server: Script) -> None:
    server.say = lambda asked: "It keeps packs. It opens packs. " * 40 if is_note(asked) else FINAL
    itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert "Note: It keeps packs. It opens packs.\n" in server.chats[-1]["messages"][-1]["content"]


def test_no_file_is_read_twice_by_one_model(project: Repo, server: Script) -> None:
    itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    first = len(server.chats)
    itza(project, "ask", "explica este proyecto", OLLAMA_HOST=server.host)
    assert len(server.chats) == first + 1
    project.write("keep/cli.py", "from keep.store import PackStore\n\n\ndef run():\n    PackStore().open_pack()\n")
    project.commit()
    itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert notes(server)[3:] == ["File keep/cli.py"]
    server.models += ("other:1b",)
    itza(project, "ask", QUESTION, "--model", "other:1b", OLLAMA_HOST=server.host)
    assert len(notes(server)) == 7


def test_a_model_that_does_not_know_ends_with_1(project: Repo, server: Script) -> None:
    server.say = lambda asked: NOTE if is_note(asked) else "NO_SE: what it is for"
    done = itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert done.code == 1
    assert done.out.startswith("NO_SE: what it is for") and "nearest passages" in done.out


def test_without_the_model_that_is_wanted_the_overview_is_shown(project: Repo, server: Script) -> None:
    server.models = ()
    done = itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert (done.code, done.out) == (0, itza(project, "overview").out)
    assert "ollama pull" in done.err


def test_an_interrupt_keeps_the_notes_that_are_finished(project: Repo, server: Script) -> None:
    reached, ended = threading.Event(), threading.Event()

    def slow(asked: dict[str, Any]) -> str:
        if "File keep/cli.py" in asked["messages"][1]["content"] and not reached.is_set():
            reached.set()
            ended.wait(2 * LONGEST_SECONDS)
        return said(asked)

    server.say = slow
    command = ["git-itza", "ask", QUESTION]
    with subprocess.Popen(
        command,
        cwd=project.path,
        env=environment(OLLAMA_HOST=server.host),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as asking:
        assert reached.wait(LONGEST_SECONDS)
        os.kill(asking.pid, signal.SIGINT)
        assert asking.wait(timeout=20) == 130
    ended.set()
    reached_before = len(notes(server))
    assert itza(project, "ask", QUESTION, OLLAMA_HOST=server.host).code == 0
    assert notes(server)[reached_before:] == ["File keep/cli.py"]


def test_gc_drops_the_notes_about_what_nothing_reaches(project: Repo, server: Script) -> None:
    itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    folder = project.path / ".git" / "itza" / "summaries"
    assert len(list(folder.iterdir())) == 3
    project.git("rm", "--quiet", "keep/cli.py")
    project.git("commit", "--quiet", "--amend", "--message", "without")
    project.git("reflog", "expire", "--expire=now", "--all")
    assert itza(project, "gc").code == 0
    kept = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert kept == {project.git("rev-parse", f"HEAD:{path}") for path in ("README.md", "keep/store.py")}


# The parts


def test_summaries_are_kept_by_blob_model_and_version(tmp_path: Path) -> None:
    kept = Summaries(tmp_path, "small:1b", 1)
    assert kept.get(b"\1" * 20) is None
    kept.put(b"\1" * 20, "What it is for.")
    assert kept.get(b"\1" * 20) == "What it is for."
    assert Summaries(tmp_path, "other:1b", 1).get(b"\1" * 20) is None
    assert Summaries(tmp_path, "small:1b", 2).get(b"\1" * 20) is None
    for path in (tmp_path / "summaries").iterdir():
        path.write_text(json.dumps({"model": "small:1b"}))
    assert kept.get(b"\1" * 20) is None
    assert drop_all_but(tmp_path, set()) == 1
    assert drop_all_but(tmp_path / "nowhere", set()) == 0


def test_a_folder_that_cannot_be_written_costs_only_the_note(tmp_path: Path) -> None:
    (tmp_path / "summaries").write_text("in the way")
    kept = Summaries(tmp_path, "small:1b", 1)
    kept.put(b"\1" * 20, "What it is for.")
    assert kept.get(b"\1" * 20) is None


def test_a_large_file_is_shown_by_its_head_and_its_definitions() -> None:
    lines = [f"line {number}" for number in range(1, 1001)]
    source = Source(b"a.py", b"", "\n".join(lines), [500, 900])
    shown = outline(source, 2000).split("\n")
    assert "    line 1" in shown and "    line 500" in shown and "    line 901" in shown
    assert "    line 300" not in shown
    assert len(outline(source, 100)) <= 100
    assert outline(Source(b"a.py", b"", "one\n\ntwo", []), 100) == "    one\n    two"


def test_a_note_is_one_short_line() -> None:
    assert shortened("It keeps\npacks.\x1b[31m <|im_end|> ") == "It keeps packs. [31m < |im_end|>"
    assert shortened("It keeps packs. " * 60).endswith("packs.")
    assert len(shortened("x" * 5000)) <= 400
