"""What every test gets: nothing of the developer's own settings, and on request an empty repository."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pygit2
import pytest

from tests.command import Run, inside
from tests.repository import Repo

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("itza", deadline=None)
hypothesis.settings.load_profile("itza")

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
