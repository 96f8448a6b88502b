"""What every test gets: nothing of the developer's own settings, and on request an empty repository."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import hypothesis
import pygit2
import pytest

from tests.command import Run, inside
from tests.repository import Repo

# Started in the background of a script, a process ignores Ctrl-C, and so does every command that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes, or to think of one, says nothing on a busy machine. The same examples every time, so that a
# change fails for what it changes; to look for others: pytest --hypothesis-profile=random
TOO_SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("random", deadline=None, suppress_health_check=TOO_SLOW)
hypothesis.settings.register_profile("same", hypothesis.settings.get_profile("random"), derandomize=True)
hypothesis.settings.load_profile("same")

FOREIGN = ("GIT_", "ITZA_", "XDG_", "OLLAMA_", "OPENAI_")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; variables that steer git, itza or a model server are gone."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    # libgit2 looks HOME up once per process, so a test has to tell it again.
    for level, place in {
        pygit2.enums.ConfigLevel.SYSTEM: "",
        pygit2.enums.ConfigLevel.XDG: str(folder / ".config" / "git"),
        pygit2.enums.ConfigLevel.GLOBAL: str(folder),
    }.items():
        pygit2.settings.search_path[level] = place
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository with the branch `main`."""
    return Repo(tmp_path / "repo")


@pytest.fixture(params=["sha1", "sha256"])
def object_format(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The format of new repositories, and with it the backend: libgit2 reads the one, git itself the other."""
    monkeypatch.setenv("GIT_DEFAULT_HASH", request.param)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`git itza ARGS` in the repository that comes first, run in this process."""
    return lambda place, *args: inside(place, monkeypatch, capfd, *args)
