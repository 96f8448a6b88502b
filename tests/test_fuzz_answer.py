"""Whatever a model writes, what is printed as a citation exists, and nothing that is printed steers a terminal."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itza_git import cli
from itza_git.models import choice
from itza_git.models.protocol import Message, Usage
from itza_git.paths import unquote
from tests.repository import Repo

# Raised by hand: ITZA_FUZZ_EXAMPLES=10000 pytest tests/test_fuzz_answer.py
EXAMPLES = int(os.environ.get("ITZA_FUZZ_EXAMPLES", "300"))

QUESTION = "how often is a failed request repeated?"
FILES = {
    "src/retry.py": "".join(
        f"def retry_limit_{n}(times):\n    # a failed request is repeated\n    return min(times, {n})\n\n"
        for n in range(9)
    ),
    "src/crlf.py": "def repeat_request(failed):\r\n    return failed",
    "one line.md": "How often a failed request is repeated",
    'odd:"@\u00e9.md': "# Requests\n\nA failed request is repeated.\n\n\n",
    "src/long.py": "def request():\n" + "    failed = 'request' \\\n" * 60 + "    return failed\n",
}

CITATION = re.compile(
    r'(?P<path>"(?:[^"\\]|\\.)*"|[^\s"]*):(?P<first>\d+)(?:-(?P<last>\d+))?@(?P<at>[0-9a-f]{4,64}|worktree)'
)
SOURCE = re.compile(r"\[\d+\] (?P<citation>.*)")

marks = st.from_regex(r"\[[0-9]{1,5}([,;-][0-9]{1,3}){0,2}\]?", fullmatch=True)
paths = st.sampled_from(
    [*FILES, "retry.py", "./src/retry.py", "src/none.py", "/etc/passwd", '"odd:\\"@\\303\\251.md"', ""]
)
commits = st.sampled_from(["", "@HEAD", "@worktree", "@deadbeef", "@" + "0" * 40, "@abcd[1]", "@ab\x00cd"])
numbers = st.one_of(
    st.integers(0, 80).map(str), st.sampled_from(["007", "9" * 30, "9" * 5000, "1[1]2", "-1", "\u0663"])
)
places = st.builds(
    "{}{}{}:{}{}{}{}".format,
    st.sampled_from(["", "(", "[", "`", "<", "a:1@abcd"]),
    st.sampled_from(["", "a/", "\u202e"]),
    paths,
    numbers,
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(["-", "\u2013", "--"]), numbers)),
    commits,
    st.sampled_from(["", ")", "]", "`", ">", ":2@abcd"]),
)
escapes = st.sampled_from(
    [
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x9b2J",
        "\r",
        "\b\b",
        "\x00",
        "\u202e",
        "\u2028",
        "\x85",
        "\ud800",
    ]
)
said = st.sampled_from(
    [
        *("NO_SE: the number of retries. ", "No_SE:", "**NO_SE**: ", "NO SE: ", "NO_SE", "no_se: `x "),
        *("`WickTrimmer.trim_wick` cuts the wick [1].", "MAX_SOOT is 37 [2]. ", "prune_orchard(quince_trees)"),
        *("A failed request is repeated. ", "`retry_limit_3` returns the minimum of times and 3 [1]. ", "lines 1-999 "),
        *("\n", " ", ". ", "```\n", "```python\nreturn min(times, 5)\n```\n", "- ", "1. ", "Question: ", "Passages:\n"),
        *("<think>hm</think>", "<think>", "[1]" * 9, "lines 3 to " + "9" * 5000 + " ", "argv[1] "),
    ]
)
written = st.lists(st.one_of(marks, places, escapes, said, said, st.text(max_size=20)), max_size=14)


class Model:
    """A server that writes the given pieces."""

    def __init__(self) -> None:
        self.pieces: Sequence[str] = ()
        self.reason = "stop"

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        yield from self.pieces
        yield Usage(self.reason, 900)

    def digest(self, model: str) -> str:
        return ""

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        return []

    def close(self) -> None:
        """Nothing."""


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for path, text in FILES.items():
        repo.write(path, text.encode())
    repo.commit()
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    return repo


def ask(*args: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `git itza ask` in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="strict", newline="") for _ in range(2))
    before, sys.argv = sys.argv, ["git-itza", "ask", QUESTION, *args]
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            cli.main()
    finally:
        sys.argv = before
    assert isinstance(ended.value.code, int)
    return ended.value.code, text(out), text(err)


def text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


class Truth:
    """What the commit really has."""

    def __init__(self, repo: Repo) -> None:
        self.commit = repo.git("rev-parse", "HEAD")
        self.blobs = {path: repo.git("rev-parse", f"HEAD:{path}") for path in FILES}
        self.lines = {path: len(text.removesuffix("\n").split("\n")) for path, text in FILES.items()}

    def has(self, path: str, first: int, last: int, at: str) -> bool:
        return path in self.lines and 1 <= first <= last <= self.lines[path] and self.commit.startswith(at)


def check_text(truth: Truth, out: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in out)
    for found in CITATION.finditer(out):
        path = unquote(found["path"]).decode()
        # A path with blanks is not quoted; its last word is what the pattern sees.
        full = next((known for known in FILES if known == path or known.endswith(f" {path}")), path)
        assert truth.has(full, int(found["first"]), int(found["last"] or found["first"]), found["at"]), found[0]


def check_json(truth: Truth, out: str) -> None:
    told = json.loads(out)
    answer = told["answer"] or ""
    # Only a terminal has its tabs expanded.
    check_text(truth, answer.expandtabs() + "\n" + (told["missing"] or ""))
    for one in told["citations"]:
        assert truth.has(one["path"], one["start_line"], one["end_line"], one["commit"])
        assert one["verified"] and one["blob"] == truth.blobs[one["path"]]
    assert bool(told["citations"]) == (told["status"] == "answered")


def test_no_citation_is_printed_that_does_not_exist(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    model, truth = Model(), Truth(project)
    monkeypatch.setitem(choice.SERVERS, "ollama", lambda addresses: model)
    assert Path.cwd() == project.path
    seen: set[int] = set()

    @settings(
        max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], database=None
    )
    @given(written, st.sampled_from(["stop", "stop", "length", "odd"]), st.booleans())
    def check(pieces: list[str], reason: str, as_json: bool) -> None:
        model.pieces, model.reason = pieces, reason
        code, out, err = ask(*(["--json"] if as_json else ["-v"]))
        assert code in (0, 1), err
        assert all(c.isprintable() or c == "\n" for c in err)
        seen.add(code)
        (check_json if as_json else check_text)(truth, out)

    check()
    assert seen == {0, 1}
