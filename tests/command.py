"""`git itza` as a user runs it, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from itza_git import cli
from tests.repository import Repo

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """A finished command: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON value that it printed."""
        return json.loads(self.out)

    @property
    def error(self) -> list[str]:
        """The lines of standard error; fails when there is a traceback among them."""
        assert "Traceback" not in self.err
        return self.err.splitlines()


Run = Callable[..., Done]
"""`run(place, *args)`: see the fixture of that name."""


def environment(**variables: str) -> dict[str, str]:
    """The test's environment with git-itza on the PATH and no model server anywhere."""
    found = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OLLAMA_HOST": "127.0.0.1:1"}
    return found | variables


def itza(place: Repo | Path, *args: str, prefix: tuple[str, ...] = (), **variables: str) -> Done:
    """The finished `git itza ARGS`; prefix is what runs the command, variables are added to its environment."""
    folder = place.path if isinstance(place, Repo) else place
    command = [*prefix, "git", "itza", *args]
    done = subprocess.run(command, cwd=folder, env=environment(**variables), capture_output=True, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def inside(place: Repo | Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *args: str) -> Done:
    """The command line run in this process, for what needs no process of its own."""
    monkeypatch.chdir(place.path if isinstance(place, Repo) else place)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr(sys, "argv", ["git-itza", *args])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capfd.readouterr()
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, out, err)
