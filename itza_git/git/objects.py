"""An object database as git itself reads it: `git cat-file`, kept running between requests."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from itza_git.errors import GitError
from itza_git.git.environment import GIT_MISSING, scrubbed

AHEAD = 16
"""So many requests are written before the first answer is read. Their bytes must fit a pipe (4 KiB on some systems)."""

NOTHING = b"-\n"
"""A request that names no object."""

_CONFIG = """[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tobjectFormat = sha256
"""

Answer = tuple[str, int, bytes]
"""Type, size, and the content or b"" where only the header was asked."""


class Objects:
    """The objects in a folder; what is not in it (or in its alternates) is absent, and never fetched.

    git runs on an empty repository of our own that borrows the folder: neither the configuration of the real one nor
    its promisor remotes count. That is the only way to learn from every version of git that an object is absent
    (2.39 fetches it, or dies when it may not).
    """

    def __init__(self, folder: Path, id_length: int) -> None:
        self._folder = folder
        self._id_length = id_length
        self._lock = threading.Lock()
        self._running: dict[str, _CatFile] = {}

    def header(self, id: bytes) -> Answer | None:
        """Type and size of an object; None for one that is absent or broken."""
        return self._ask("--batch-check", [id])[0]

    def contents(self, ids: Sequence[bytes]) -> list[Answer | None]:
        """Type, size and content of each object, unverified; None for one that is absent or broken."""
        return self._ask("--batch", ids)

    def _ask(self, mode: str, ids: Sequence[bytes]) -> list[Answer | None]:
        with self._lock:
            answers: list[Answer | None] = []
            while len(answers) < len(ids):
                # Taken out while it is asked: one that was interrupted still holds answers to what nobody asks now.
                process = self._running.pop(mode, None) or _CatFile(self._folder, self._id_length, mode)
                answers += process.ask(ids[len(answers) : len(answers) + AHEAD])
                if process.alive:
                    self._running[mode] = process
                elif len(answers) < len(ids):
                    answers.append(None)  # it died of this one, as git does of some broken objects
            return answers


class _CatFile:
    """One process. It ends when this object goes."""

    def __init__(self, folder: Path, id_length: int, mode: str) -> None:
        self.alive = True
        self._id_length = id_length
        self._with_content = mode == "--batch"
        with tempfile.TemporaryDirectory(prefix="itza-") as home:
            _write_repository(Path(home), id_length)
            process = _start(Path(home), folder, mode)
            self.pid = process.pid
            self._input, self._output = _pipes(process)
            self._stop = weakref.finalize(self, _end, process)
            # Once it has answered anything it has read all that it will read of our repository.
            if not self._write(NOTHING) or self._output.readline() != b"- missing\n":
                self._stop()
                raise GitError(f"git cannot read the objects in {folder}", "git fsck")

    def ask(self, ids: Sequence[bytes]) -> list[Answer | None]:
        """The answers, in order; fewer when the process died, and then it is no longer alive."""
        if not self._write(b"".join(map(self._request, ids))):
            return self._died([])
        answers: list[Answer | None] = []
        for _ in ids:
            line = self._output.readline()
            if not line.endswith(b"\n"):
                return self._died(answers)
            if line.endswith((b" missing\n", b" ambiguous\n")):
                answers.append(None)
                continue
            _, kind, size = line.split()
            content = self._output.read(int(size) + 1) if self._with_content else b"\n"
            if self._with_content and len(content) <= int(size):
                return self._died(answers)
            answers.append((kind.decode(), int(size), content[:-1]))
        return answers

    def _request(self, id: bytes) -> bytes:
        # A shorter id would be an abbreviation.
        return id.hex().encode() + b"\n" if len(id) == self._id_length else NOTHING

    def _write(self, request: bytes) -> bool:
        try:
            self._input.write(request)
            self._input.flush()
        except OSError:
            return False
        return True

    def _died(self, answers: list[Answer | None]) -> list[Answer | None]:
        self.alive = False
        self._stop()
        return answers


def _write_repository(home: Path, id_length: int) -> None:
    (home / "refs").mkdir()
    (home / "HEAD").write_text("ref: refs/heads/none\n")
    if id_length != 20:
        (home / "config").write_text(_CONFIG)


def _start(home: Path, folder: Path, mode: str) -> subprocess.Popen[bytes]:
    # No configuration of the user's either: a promisor may be named there.
    environment = scrubbed() | {"GIT_OBJECT_DIRECTORY": os.fspath(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    environment["GIT_CONFIG_GLOBAL"] = os.devnull
    command = ["git", f"--git-dir={home}", "cat-file", mode]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        return subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=null)
    except (OSError, ValueError) as e:
        raise GitError(f"cannot run git: {e}", GIT_MISSING) from e


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None and process.stdout is not None, "both are pipes"
    return process.stdin, process.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in _pipes(process):
        try:
            pipe.close()
        except OSError:  # what it was asked and did not read
            continue
    process.kill()
    process.wait()
