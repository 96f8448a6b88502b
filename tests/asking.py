"""Asking a repository with an embedder that counts, and holding what is cited against what git says."""

from __future__ import annotations

from pathlib import Path

from itza_git import Itza
from itza_git.answering.citation import WORKTREE
from itza_git.results import SearchResult
from tests.counting import Counting
from tests.repository import Repo


def asking(place: Repo | Path, embedder: Counting | None = None) -> Itza:
    """The repository, to be asked with a counting embedder of its own."""
    opened = Itza.open(place.path if isinstance(place, Repo) else place, {"OLLAMA_HOST": "127.0.0.1:1"})
    opened._embedder = embedder or Counting(is_local=False)
    return opened


def embedded(itza: Itza) -> int:
    """How many texts of files were embedded so far."""
    assert isinstance(itza.embedder, Counting)
    return len(itza.embedder.texts)


def found(result: SearchResult) -> set[str]:
    """The symbols of the hits."""
    return {hit.passage.symbol for hit in result.hits}


def cites(repo: Repo, result: SearchResult, revision: str = "HEAD") -> set[str]:
    """The symbols of the hits, after each was held against the revision: it cites that commit, and its very lines."""
    commit = repo.git("rev-parse", revision)
    assert result.commit == commit
    for hit in result.hits:
        passage = hit.passage
        assert hit.commit == commit
        lines = repo.git("show", f"{commit}:{passage.path.decode()}").split("\n")
        assert hit.text.split("\n") == lines[passage.first - 1 : passage.last]
    return found(result)


def places(result: SearchResult) -> dict[str, str]:
    """The path of each hit, and whether it is cited as committed (`HEAD`) or as of the working tree (`worktree`)."""
    cited = {}
    for hit in result.hits:
        at = hit.citation.rpartition("@")[2]
        assert (hit.commit == WORKTREE) == (at == WORKTREE)
        assert hit.commit in (WORKTREE, result.commit)
        cited[hit.passage.path.decode("utf-8", "surrogateescape")] = WORKTREE if at == WORKTREE else "HEAD"
    return cited
