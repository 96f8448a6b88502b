"""Two recipes side by side in one store (C27), and a slow server's index killed on the way (C25)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.store import recipe
from tests.command import environment, itza
from tests.model_server import EMBEDDING, Script, serving
from tests.repository import Repo

OTHER = "mxbai-embed-large"
# The pack that was being made: 128 KB of text, in chunks of half a kilobyte and more.
LOST_WITH_A_KILL = 260


@pytest.fixture
def project(repo: Repo) -> Repo:
    for name in ("alpha", "beta", "gamma"):
        repo.write(f"{name}.py", f"def {name}(x):\n    return x\n")
    repo.commit()
    repo.git("config", "itza.embedder", "ollama")
    return repo


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(Script(models=(EMBEDDING, OTHER))) as script:
        yield script


def index(repo: Repo, server: Script, model: str) -> int:
    """How many texts indexing with a model embeds."""
    repo.git("config", "itza.embedModel", model)
    before = len(texts(server))
    done = itza(repo, "index", OLLAMA_HOST=server.host)
    assert done.code == 0, done.err
    return len(texts(server)) - before


def texts(server: Script) -> list[str]:
    """What was embedded, but for the word that a process asks the dimension with."""
    return [text for text in server.embedded if not text.endswith("dimension")]


def spaces(repo: Repo) -> list[str]:
    return sorted(path.name for path in (repo.path / ".git" / "itza" / "spaces").iterdir())


def test_models_of_one_dimension_never_share_a_vector_and_going_back_embeds_nothing(
    project: Repo, server: Script
) -> None:
    assert index(project, server, EMBEDDING) >= 3
    first = spaces(project)
    assert index(project, server, OTHER) >= 3
    assert len(spaces(project)) == 2
    assert index(project, server, EMBEDDING) == 0
    assert index(project, server, OTHER) == 0
    done = itza(project, "search", "alpha", "--json", OLLAMA_HOST=server.host).json
    assert [done["recipe"]] == sorted(set(spaces(project)) - set(first))
    assert itza(project, "gc", OLLAMA_HOST=server.host).code == 0
    assert len(spaces(project)) == 2, "another model's space stays"
    told = itza(project, "fsck", "--json", OLLAMA_HOST="127.0.0.1:1").json
    assert (told["whole"], told["spaces"]) == (True, 2)


def test_another_version_of_the_chunkers_is_another_space(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with Itza.open(project.path, {}, embedder="builtin") as opened:
        opened.refresh()
    monkeypatch.setattr(recipe.Recipe.__init__, "__defaults__", (1, 1, 999))
    with Itza.open(project.path, {}, embedder="builtin") as opened:
        assert opened.refresh().new == 3
    assert len(spaces(project)) == 2


def test_a_kill_while_a_slow_server_embeds_loses_no_finished_pack(project: Repo, server: Script) -> None:
    for number in range(30):
        project.write(f"f{number}.py", "".join(f"def f{number}_{n}(x):\n    return x\n\n" for n in range(400)))
    project.commit()
    packs = project.path / ".git" / "itza" / "spaces"
    seen = 0
    for moment in (0.0, 0.05, 0.2):
        before = len(list(packs.glob("*/packs/pack-*")))
        child = subprocess.Popen(
            ["git-itza", "index"], cwd=project.path, env=environment(OLLAMA_HOST=server.host),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for_a_pack(packs, before, child)
        time.sleep(moment)
        os.kill(child.pid, signal.SIGKILL)
        seen += child.wait() == -signal.SIGKILL
        assert itza(project, "fsck", OLLAMA_HOST=server.host).code == 0
    assert seen
    known = len(texts(server))
    rest = index(project, server, EMBEDDING)
    assert index(project, server, EMBEDDING) == 0
    assert rest <= len(set(texts(server))) - len(set(texts(server)[:known])) + LOST_WITH_A_KILL * seen


def wait_for_a_pack(packs: Path, before: int, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while child.poll() is None and len(list(packs.glob("*/packs/pack-*"))) <= before and time.monotonic() < deadline:
        time.sleep(0.002)
