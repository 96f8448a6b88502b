"""What a program may call, on a real repository."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import itza_git
from itza_git import Itza, results
from itza_git.answering.citation import parse
from itza_git.errors import GitError, ItzaError, NotARepository, UnbornHead, UnknownRevision, UsageError
from itza_git.records import Skipped
from tests.counting import Counting
from tests.repository import Repo

SIGNATURES = {
    "open": "path environment **settings",
    "close": "self",
    "refresh": "self rev *branch *watch",
    "search": "self query *rev *branch *worktree *limit *paths *languages *context *kinds *reasons *history *nearest"
    " *watch",
    "similar": "self path first last *rev *branch *worktree *limit *paths *languages *watch",
    "ask": "self question *rev *branch *worktree *limit *paths *languages *model *use_model *force *history *watch"
    " *statement",
    "answer_from": "self result *model *use_model *force *statement",
    "overview": "self rev *branch *paths *watch",
    "show": "self citation here",
    "verify": "self text rev",
    "verify_all": "self texts rev",
    "status": "self",
    "resolve": "self rev branch",
    "cite": "self path first last commit",
    "citations": "self asked",
    "is_dirty": "self rev branch",
    "collect": "self *watch",
    "fsck": "self repair *watch",
    "corpus": "self rev",
    "holds": "self rev",
    "citation": "self text",
    "remember": "self rev *branch *watch",
    "show_commit": "self citation",
}

RECORDS = {
    "SearchResult": "query rev commit recipe coverage hits found uncommitted literal repositories past",
    "Similar": "of rev commit recipe coverage hits uncommitted",
    "AskResult": "result answer note",
    "Hit": "passage text citation commit repository before after",
    "IndexReport": "rev commit coverage new reused chunks not_embedded lossy notes",
    "BranchStatus": "name commit coverage is_head indexed_commit indexed_at",
    "Status": "head branches embedder recipe answer_model store size packs damaged",
    "Shown": "citation commit lines",
}


@pytest.fixture
def history(repo: Repo) -> Repo:
    """Two commits on main (the first one tagged v1), and a branch with one more file."""
    repo.write("store.py", "def old_store():\n    return 1\n")
    repo.commit()
    repo.git("tag", "--annotate", "--message", "first", "v1")
    repo.write("store.py", "def new_store():\n    return 2\n")
    repo.write("logo.bin", b"\0")
    repo.commit()
    repo.git("branch", "feature")
    repo.git("checkout", "--quiet", "feature")
    repo.write("extra.go", "package extra\n\nfunc Extra() {}\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    return repo


def opened(repo: Repo, **settings: Any) -> Itza:
    return Itza.open(repo.path, {"OLLAMA_HOST": "127.0.0.1:1"}, **settings)


def symbols(result: results.SearchResult) -> set[str]:
    return {hit.passage.symbol for hit in result.hits}


# The shape


def test_the_public_names_are_pinned() -> None:
    assert itza_git.__all__ == ["Itza", "__version__"]
    public = {name for name, value in inspect.getmembers(Itza, callable) if not name.startswith("_")}
    assert public == set(SIGNATURES)
    assert all(getattr(Itza, name).__doc__ for name in public)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_pinned(name: str) -> None:
    mark = {"KEYWORD_ONLY": "*", "VAR_KEYWORD": "**"}
    parameters = inspect.signature(getattr(Itza, name)).parameters.values()
    assert " ".join(mark.get(p.kind.name, "") + p.name for p in parameters) == SIGNATURES[name]


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_pinned_frozen_and_documented(name: str) -> None:
    record = getattr(results, name)
    assert [field.name for field in fields(record)][: len(RECORDS[name].split())] == RECORDS[name].split()
    assert record.__dataclass_params__.frozen
    assert record.__doc__


def test_nothing_is_printed(history: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    with opened(history) as itza:
        itza.refresh()
        itza.search("store")
        itza.ask("store?", use_model=False)
        itza.status()
    assert capfd.readouterr() == ("", "")


# Trees


def test_a_search_answers_for_head_with_checked_citations(history: Repo) -> None:
    with opened(history) as itza:
        result = itza.search("store")
        commit = history.git("rev-parse", "HEAD")
        assert (result.rev, result.commit, symbols(result)) == ("HEAD", commit, {"new_store"})
        assert result.coverage.skipped == (Skipped(b"logo.bin", "binary"),)
        (hit,) = result.hits
        assert hit.text == "def new_store():\n    return 2"
        assert (hit.commit, hit.citation) == (commit, f"store.py:1-2@{history.git('rev-parse', '--short', 'HEAD')}")
        shown = itza.show(parse(hit.citation))
        assert "\n".join(shown.lines) == hit.text


@pytest.mark.parametrize("rev", ["v1", "HEAD~1", "main~1", "HEAD^", "main^{commit}~1"])
def test_any_revision_can_be_asked(history: Repo, rev: str) -> None:
    with opened(history) as itza:
        result = itza.search("store", rev=rev)
        assert result.commit == history.git("rev-parse", f"{rev}^{{commit}}")
        assert symbols(result) == {"old_store"}


def test_a_branch_is_asked_without_a_checkout(history: Repo) -> None:
    with opened(history) as itza:
        assert "Extra" in symbols(itza.search("extra", branch="feature"))
        assert "Extra" not in symbols(itza.search("extra"))
        assert itza.refresh(branch="feature").rev == "feature"


def test_a_stash_can_be_asked(history: Repo) -> None:
    history.write("store.py", "def stashed_store():\n    return 3\n")
    history.git("stash", "--quiet")
    with opened(history) as itza:
        assert symbols(itza.search("store", rev="stash@{0}")) == {"stashed_store"}
        assert symbols(itza.search("store")) == {"new_store"}


def test_a_detached_head_is_answered_for_and_recorded_under_no_branch(history: Repo) -> None:
    history.git("checkout", "--quiet", "v1")
    with opened(history) as itza:
        assert symbols(itza.search("store")) == {"old_store"}
        state = itza.status()
        assert state.head is not None
        assert (state.head.name, state.head.commit, state.fresh) == ("HEAD", history.git("rev-parse", "v1~0"), True)
        assert itza.space.heads() == {}


def test_head_is_read_anew_for_every_question(history: Repo) -> None:
    with opened(history) as itza:
        assert symbols(itza.search("store")) == {"new_store"}
        history.git("reset", "--quiet", "--hard", "HEAD~1")
        assert symbols(itza.search("store")) == {"old_store"}
        history.git("checkout", "--quiet", "feature")
        assert symbols(itza.search("store")) >= {"new_store"}


def test_uncommitted_content_counts_only_when_it_is_asked_for(history: Repo) -> None:
    history.write("store.py", "def draft_store():\n    return 3\n")
    history.write("fresh.py", "def fresh_store():\n    return 4\n")
    with opened(history) as itza:
        assert symbols(itza.search("store")) == {"new_store"}
        result = itza.search("store", worktree=True)
        assert symbols(result) == {"draft_store", "fresh_store"}
        assert {hit.commit for hit in result.hits} == {"worktree"}
        assert itza.show(parse(result.hits[0].citation)).lines[1].startswith("    return")
        assert itza.is_dirty()


def test_a_bare_repository_answers(history: Repo, tmp_path: Path) -> None:
    history.git("clone", "--quiet", "--bare", str(history.path), str(tmp_path / "bare.git"))
    with Itza.open(tmp_path / "bare.git", {}) as itza:
        assert symbols(itza.search("store")) == {"new_store"}
        assert not itza.is_dirty()
        assert (tmp_path / "bare.git" / "itza").is_dir()


# Reports


def test_refresh_reports_what_it_did(history: Repo) -> None:
    with opened(history) as itza:
        first, again = itza.refresh(), itza.refresh()
        assert (first.new, first.reused, first.chunks, first.lossy) == (2, 0, 1, ())
        assert (again.new, again.reused, again.chunks) == (0, 2, 0)
        assert (first.coverage.indexed, first.coverage.total) == (1, 1)


def test_status_knows_every_branch_and_when_it_was_indexed(history: Repo) -> None:
    with opened(history) as itza:
        before = itza.status()
        assert (before.size, before.packs, before.fresh) == (0, 0, False)
        assert [(b.name, b.is_head, b.indexed_commit) for b in before.branches] == [
            ("feature", False, None),
            ("main", True, None),
        ]
        itza.refresh()
        after = itza.status()
        assert after.fresh
        assert after.head is not None
        assert after.head.indexed_commit == history.git("rev-parse", "main")
        assert [(b.name, b.coverage.indexed, b.coverage.total) for b in after.branches] == [
            ("feature", 1, 2),
            ("main", 1, 1),
        ]
        assert after.store == history.path / ".git" / "itza"


def test_asking_without_a_model_gives_passages_and_the_reason(history: Repo) -> None:
    with opened(history) as itza:
        asked = itza.ask("how does the store work?")
        assert (asked.answer.status, bool(asked.result.hits)) == ("passages", True)
        assert asked.note is not None
        assert "not reachable" in asked.note
        assert itza.ask("how does the store work?", use_model=False).note is None
        assert itza.citations(asked) == []


def test_the_embedder_is_asked_only_for_what_is_new(history: Repo) -> None:
    with opened(history) as itza:
        itza._embedder = counting = Counting()
        itza.search("store")
        itza.search("other words", branch="main")
        itza.search("store", rev="main")
        assert len(counting.texts) == 1
        itza.search("store", branch="feature")
        assert len(counting.texts) == 2


# Errors


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"query": ""}, UsageError),
        ({"query": " \n"}, UsageError),
        ({"query": "x", "rev": "nope"}, UnknownRevision),
        ({"query": "x", "branch": "v1"}, UnknownRevision),
        ({"query": "x", "paths": ["nope/*"]}, UsageError),
        ({"query": "x", "languages": ["klingon"]}, UsageError),
        ({"query": "x", "languages": ["rust"]}, UsageError),
    ],
)
def test_what_cannot_be_asked_is_an_error_with_a_hint(
    history: Repo, options: dict[str, Any], error: type[ItzaError]
) -> None:
    with opened(history) as itza, pytest.raises(error) as raised:
        itza.search(**options)
    assert raised.value.hint


def test_no_repository_and_no_commit_are_errors_of_git(repo: Repo, tmp_path: Path) -> None:
    with opened(repo) as itza, pytest.raises(UnbornHead):
        itza.search("x")
    with pytest.raises(NotARepository):
        Itza.open(tmp_path / "nowhere", {})
    assert issubclass(NotARepository, GitError)


def test_a_wrong_setting_of_a_program_is_its_own_error(repo: Repo) -> None:
    with pytest.raises(TypeError):
        opened(repo, nonsense=1)
