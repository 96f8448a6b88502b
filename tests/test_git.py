"""The pygit2 backend against real repositories, with git itself as the judge."""

from __future__ import annotations

from itza_git.git import open_repository
from tests.repository import Repo


def test_head_resolves(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    commit = repo.commit()
    opened = open_repository(repo.path)
    assert opened.resolve("HEAD").id.hex() == commit
