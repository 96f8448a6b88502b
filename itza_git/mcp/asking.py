"""`ask_codebase`: a question to the model in a process of its own. Who cancels the call kills it, and the model server
sees the line drop. The process is `git itza ask --json`, so an agent gets what a person gets.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from itza_git.answering.citation import WORKTREE
from itza_git.errors import ItzaError
from itza_git.git.environment import for_child
from itza_git.mcp import texts
from itza_git.mcp.across import ALL, working_folder
from itza_git.mcp.arguments import Parameter
from itza_git.mcp.places import Places
from itza_git.mcp.texts import Piece
from itza_git.mcp.tool import BUDGET, LANGUAGES, PATHS, REPO_OR_ALL, REV, Call, Tool, ready, where_at
from itza_git.records import Coverage
from itza_git.render import visible

# So long the index is waited for before a part of it has to do.
ASK_SECONDS = 20.0
_POLL_SECONDS = 0.1
_ANSWERED = (0, 1)
# What asks a model now, to be stopped when the server is.
_running: set[subprocess.Popen[bytes]] = set()


def ask_codebase(
    call: Call,
    places: Places,
    *,
    question: str,
    repo: str | None = None,
    path: Sequence[str] = (),
    language: Sequence[str] = (),
    rev: str = "HEAD",
    budget: int,
) -> str:
    """The answer of the user's local model, or the passages that it would rest on."""
    options = [f"--path={one}" for one in path] + [f"--lang={one}" for one in language]
    if repo == ALL:
        asked = _asked(call, working_folder(call, places), question, [*options, "--all-repos"])
        covered = Coverage(asked["coverage"]["indexed"], asked["coverage"]["total"])
        return _answer(asked, question, budget, "", texts.coverage(covered, False, ""))
    place = places.find(repo, call.roots)
    with place.itza() as itza:
        state = ready(call, place, itza, "HEAD" if rev == WORKTREE else rev, ASK_SECONDS)
        folder = itza.repository.worktree or itza.repository.git_dir
    options.append("--worktree" if rev == WORKTREE else f"--rev={rev}")
    asked = _asked(call, folder, question, options)
    covered = Coverage(asked["coverage"]["indexed"], asked["coverage"]["total"])
    head = where_at(place, asked["commit"], rev)
    return _answer(asked, question, budget, head, state.missing(covered))


def _asked(call: Call, folder: Path, question: str, options: Sequence[str]) -> dict[str, Any]:
    began = time.monotonic()
    return ask(folder, question, options, lambda: call.tell(int(time.monotonic() - began), 0, "asking a model"))


MOST_SAID = 400


def _answer(asked: dict[str, Any], question: str, budget: int, where: str, missing: str) -> str:
    """The text of `ask --json`, below the line that says where."""
    pieces = [
        Piece(hit["citation"], hit["symbol"], hit["start_line"], tuple(hit["text"].split("\n")))
        for hit in asked["passages"]
    ]
    lacking = f"({missing})" if missing else ""
    if asked["status"] == "no_se":
        nearest = ["", "nearest passages:", *(piece.head for piece in pieces[:3])] if pieces else []
        lines = [f"NO_SE: {visible(asked['missing'] or 'nothing here answers this')}", *nearest]
        return texts.fitted(budget, where, lambda room: texts.within(lines, room), lacking)
    if asked["status"] == "passages":
        note = visible(asked["note"] or "no model was asked")
        return texts.fitted(
            budget,
            texts.joined(where, f"No answer: {note}. The passages one would rest on:"),
            lambda room: texts.passages(pieces, question, room),
            *map(_reason, asked["commits"]),
            lacking,
        )
    lines = list(map(visible, asked["answer"].split("\n")))
    sure = asked["confidence"] == "high"
    return texts.fitted(
        budget,
        where,
        lambda room: texts.within(lines, room),
        *(f"[{one['n']}] {one['citation']}" for one in asked["citations"]),
        "" if sure else "\n(low confidence: what carries no [n] is not supported by a passage)",
        f"\n{lacking}" if lacking else "",
    )


def _reason(commit: dict[str, Any]) -> str:
    """A commit that tells the reason, and the beginning of what it says."""
    said = " ".join(commit["text"].split("\n\n")[0].split())
    return visible(f"why {commit['citation']} {commit['date']}: {said[:MOST_SAID]}".rstrip(": "))


ASK = Tool(
    "ask_codebase",
    "Ask how the code works",
    "Answer a how or why question about a repository with a local model; every citation was checked by the tool. Says "
    "NO_SE when the repository does not answer. Takes up to a minute: prefer search_codebase if you can read code. NOT "
    "for 'where is X defined' (use git grep).",
    (
        Parameter("question", "string", "One question in a sentence.", required=True),
        REPO_OR_ALL,
        PATHS,
        LANGUAGES,
        REV,
        BUDGET,
    ),
    ask_codebase,
)


def ask(folder: Path, question: str, options: Sequence[str], check: Callable[[], None]) -> dict[str, Any]:
    """The object of `ask --json` in a folder. check is called now and again, and what it raises stops the process.

    Raises `ItzaError` with what the command said.
    """
    command = [sys.executable, "-P", "-m", "itza_git.cli", "ask", "--json", *options, "--", question]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=for_child(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        _running.add(process)
        try:
            out, err = _finished(process, check)
        except BaseException:
            process.kill()
            raise
        finally:
            _running.discard(process)
    if process.returncode not in _ANSWERED:
        raise _failure(err.decode("utf-8", "replace"))
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def stop_asking() -> None:
    """Kill every process that asks a model."""
    for process in tuple(_running):
        process.kill()


def _finished(process: subprocess.Popen[bytes], check: Callable[[], None]) -> tuple[bytes, bytes]:
    while True:
        try:
            return process.communicate(timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            check()


def _failure(said: str) -> ItzaError:
    """The error that the command told."""
    lines = {key: rest for key, _, rest in (line.partition(": ") for line in said.splitlines())}
    return ItzaError(lines.get("error") or "git itza ask failed", lines.get("hint", ""))
