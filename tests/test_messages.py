"""Commit messages in the store: each indexed once, bounded, dropped when nothing reaches its commit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from itza_git import Itza
from itza_git.api import UNWATCHED
from itza_git.indexing import Watch, history
from tests.asking import asking
from tests.command import Run
from tests.counting import Counting
from tests.repository import Repo


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("a.py", "def limit():\n    return 3\n")
    for word in ("apples", "quinces", "medlars"):
        repo.commit(f"Count {word}\n\nNobody counted them.")
    return repo


@pytest.fixture
def opened(project: Repo) -> Iterator[Itza]:
    with asking(project, Counting(is_local=True)) as found:
        yield found


def texts(itza: Itza) -> list[str]:
    """The messages that were embedded so far."""
    assert isinstance(itza.embedder, Counting)
    return [text for text in itza.embedder.texts if text.startswith("Count ")]


def test_each_message_is_embedded_once(project: Repo, opened: Itza) -> None:
    assert opened.remember() == opened.remember() == (3, 3)
    assert len(texts(opened)) == 3
    project.commit("Count sloes")
    project.git("branch", "side", "HEAD~2")
    assert (opened.remember(), opened.remember(branch="side")) == ((4, 4), (2, 2))
    assert sorted(text.split("\n")[0] for text in texts(opened)) == [
        "Count apples", "Count medlars", "Count quinces", "Count sloes",
    ]  # fmt: skip


def test_the_newest_come_first_and_patience_ends_it(opened: Itza, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "BATCH", 1)
    head = opened.resolve().id
    one = opened.trees.messages(head, Watch(patience=1e-9))
    assert (one.held, len(one.view), texts(opened)) == (1, 3, ["Count medlars\n\nNobody counted them."])
    assert opened.trees.messages(head, Watch(patience=0)).held == 1
    assert opened.trees.messages(head, UNWATCHED).held == 3


def test_only_so_many_are_searched(opened: Itza, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_COMMITS", 2)
    assert opened.remember() == (2, 2)


def test_a_question_does_not_wait_for_a_server_to_embed_messages(project: Repo) -> None:
    with asking(project, Counting(is_local=False)) as opened:
        past = opened.ask("why is the limit three?", use_model=False).result.past
        assert past is not None
        assert (past.searched, past.total, texts(opened)) == (0, 3, [])
        assert opened.remember() == (3, 3)


def test_messages_of_two_models_never_meet(project: Repo) -> None:  # C27
    one, other = Counting("one", is_local=True), Counting("other", is_local=True)
    for embedder, embedded in ((one, 3), (other, 3), (one, 3)):
        with asking(project, embedder) as opened:
            assert opened.remember() == (3, 3)
            assert len(texts(opened)) == embedded
            (pack,) = opened.space.history.packs()
            assert embedder.identity.model in (pack.path.parents[2] / "recipe.json").read_text()
    assert len({*project.path.glob(".git/itza/spaces/*/history/packs/*")}) == 2


def test_the_store_holds_no_text_of_a_message(project: Repo, opened: Itza) -> None:
    opened.remember()
    stored = b"".join(path.read_bytes() for path in (project.path / ".git/itza").rglob("*") if path.is_file())
    assert not [word for word in (b"quinces", b"Nobody", b"counted") if word in stored]


def test_gc_drops_the_messages_that_nothing_reaches(project: Repo, opened: Itza) -> None:
    opened.remember()
    project.git("reset", "--hard", "--quiet", "HEAD~1")
    project.git("reflog", "expire", "--expire=now", "--all")
    assert opened.collect().messages == 1
    assert opened.remember() == (2, 2)
    assert opened.collect().messages == 0
    assert len(texts(opened)) == 3


def test_damaged_messages_are_set_aside_and_indexed_again(project: Repo, run: Run) -> None:
    assert run(project, "index").code == 0
    (pack,) = project.path.glob(".git/itza/spaces/*/history/packs/*.itza")
    data = bytearray(pack.read_bytes())
    at = data.rindex(b"END\n") - 400
    data[at - 4000 : at] = bytes(byte ^ 0x55 for byte in data[at - 4000 : at])
    pack.write_bytes(data)
    assert run(project, "fsck").code == 1
    done = run(project, "ask", "why are quinces counted?", "--no-model", "--json")
    assert (done.code, done.json["history"]) == (0, {"indexed": 3, "total": 3})
    assert "set aside" in done.err
    assert run(project, "fsck").code == 0


def test_index_says_how_many_messages_it_has(project: Repo, run: Run) -> None:
    assert "  3 of the newest 3 commit messages indexed\n" in run(project, "index").out
    assert run(project, "index", "--json").json["messages"] == {"indexed": 3, "total": 3}
    project.git("config", "itza.history", "false")
    assert "commit messages" not in run(project, "index").out
