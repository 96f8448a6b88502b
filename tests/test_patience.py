"""A slow embedder: a question is answered from what is there, says so, and the next index run does only the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from itza_git import Itza
from itza_git.commands import common
from itza_git.embedding import choice
from itza_git.errors import StoreBusy
from itza_git.indexing import Watch, refresh
from itza_git.store import lock
from itza_git.words import Bags
from tests.asking import asking, cites, embedded
from tests.command import Run
from tests.counting import Counting
from tests.repository import Repo

FILES = 8
SECONDS = 6.0  # that one batch takes


class Clock:
    """Time that passes only where a test says so; waiting for the lock passes it too."""

    def __init__(self) -> None:
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Slow(Counting):
    """An embedder that takes its time. later is called before each batch."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("slow")
        self.clock = clock
        self.later: Callable[[], object] = lambda: None

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        self.later()
        self.clock.sleep(SECONDS)
        return super().embed(texts, bags)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("time.monotonic", lambda: made.now)
    monkeypatch.setattr("time.sleep", made.sleep)
    return made


@pytest.fixture
def slow(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """The embedder of every command of this test; a batch is one file."""
    embedder = Slow(clock)
    monkeypatch.setattr(refresh, "REMOTE_BATCH_BYTES", 1)
    monkeypatch.setitem(choice.EMBEDDERS, "builtin", lambda settings: embedder)
    return embedder


@pytest.fixture
def many(repo: Repo) -> Repo:
    for number in range(FILES):
        repo.write(f"f{number}.py", f"def f{number}():\n    return {number}\n")
    repo.commit()
    return repo


@pytest.fixture
def asked(many: Repo, slow: Slow) -> Iterator[Itza]:
    with asking(many, slow) as opened:
        yield opened


ENOUGH = 4  # batches until more than SLOW_EMBEDDER_SECONDS have passed


@pytest.mark.parametrize("args", [["search"], ["ask", "--no-model"]])
def test_a_question_is_answered_from_what_is_there_and_says_so(
    many: Repo, slow: Slow, run: Run, args: list[str]
) -> None:
    done = run(many, *args, "return")
    assert done.code == 0
    assert f"note: {ENOUGH} of {FILES} files indexed; the rest: git itza index" in done.error
    assert len(slow.texts) == ENOUGH
    told = run(many, *args, "return", "--json")
    assert told.json["coverage"] == {"indexed": FILES, "total": FILES, "skipped": []}, "the next one goes on"
    assert told.error == []


def test_the_coverage_stands_in_the_json(many: Repo, slow: Slow, run: Run) -> None:
    done = run(many, "search", "return", "--json")
    assert (done.json["coverage"]["indexed"], done.json["coverage"]["total"]) == (ENOUGH, FILES)
    assert len(done.json["hits"]) == ENOUGH
    assert {hit["commit"] for hit in done.json["hits"]} == {many.git("rev-parse", "HEAD")}


def test_nothing_is_recorded_as_complete_and_index_does_only_the_rest(many: Repo, slow: Slow, run: Run) -> None:
    run(many, "search", "return")
    status = run(many, "status")
    assert f"{ENOUGH}/{FILES} files  stale: git itza index" in status.out
    assert not list((many.path / ".git" / "itza").rglob("views/*"))
    assert run(many, "status", "--json").json["branches"][0]["indexed_commit"] is None
    report = run(many, "index", "--json").json
    assert (report["new"], report["reused"]) == (FILES - ENOUGH, ENOUGH)
    # The message of the only commit is embedded beside the files.
    assert len([text for text in slow.texts if "def " in text]) == FILES
    assert len(slow.texts) == FILES + 1
    assert f"{FILES}/{FILES} files  fresh" in run(many, "status").out
    assert run(many, "status", "--json").json["branches"][0]["indexed_commit"] == many.git("rev-parse", "HEAD")


def test_index_itself_is_patient(many: Repo, slow: Slow, run: Run) -> None:
    assert run(many, "index", "--json").json["new"] == FILES


def test_a_half_indexed_tree_does_not_stay_open_as_if_it_were_whole(asked: Itza, many: Repo) -> None:
    watch = Watch(patience=1.0)
    seen = [len(cites(many, asked.search("return", watch=watch, limit=100))) for _ in range(FILES + 1)]
    assert seen == [*range(1, FILES + 1), FILES]


def test_another_branch_is_not_answered_from_what_this_one_holds(asked: Itza, many: Repo) -> None:
    asked.refresh()
    many.git("switch", "--quiet", "--create", "other")
    for number in range(FILES):
        many.write(f"f{number}.py", f"def other{number}():\n    return {number}\n")
    many.commit()
    result = asked.search("return", watch=Watch(patience=1.0), limit=100)
    assert cites(many, result) == {"other0"}
    assert (result.coverage.indexed, result.coverage.total) == (1, FILES)


def test_the_working_tree_is_answered_in_part_too(asked: Itza, many: Repo) -> None:
    many.write("f0.py", "def draft():\n    return 0\n")
    result = asked.search("return", worktree=True, watch=Watch(patience=1.0), limit=100)
    assert (result.coverage.indexed, result.coverage.total) == (1, FILES)


def test_head_that_moves_while_it_is_indexed_is_not_what_is_cited(asked: Itza, many: Repo, slow: Slow) -> None:
    commit = many.git("rev-parse", "HEAD")

    def move() -> None:
        slow.later = lambda: None
        many.write("f0.py", "def moved():\n    return 0\n")
        many.commit()

    slow.later = move
    result = asked.search("return", limit=100)
    assert result.commit == commit != many.git("rev-parse", "HEAD")
    assert cites(many, result, commit) == {f"f{number}" for number in range(FILES)}


# Another process writes


@pytest.fixture
def locked(many: Repo) -> Iterator[None]:
    """Some other process has the store for itself."""
    root = many.path / ".git" / "itza"
    root.mkdir()
    with lock.writer(root, 0.0):
        yield


@pytest.mark.usefixtures("locked")
def test_a_question_does_not_wait_for_ever_for_another_writer(many: Repo, slow: Slow, clock: Clock, run: Run) -> None:
    for extra in ([], ["--worktree"]):
        many.write("f0.py", "def draft():\n    return 0\n")
        before = clock.now
        done = run(many, "search", "return", *extra)
        assert done.code == 1
        assert common.BUSY_SECONDS <= clock.now - before < common.BUSY_SECONDS + 1
        assert done.error[0] == "another process is indexing this repository; waiting for it"
        assert f"note: 0 of {FILES} files indexed; the rest: git itza index" in done.error
    assert slow.texts == []


@pytest.mark.usefixtures("locked", "clock")
def test_with_the_model_in_the_package_another_writer_is_waited_for(many: Repo) -> None:
    with asking(many, Counting(is_local=True)) as itza, pytest.raises(StoreBusy, match="another process"):
        itza.search("return", watch=Watch(patience=common.patience(itza)))
    with asking(many, Counting(is_local=True)) as itza:
        assert embedded(itza) == 0


def test_what_is_indexed_waits_for_nobody(asked: Itza, many: Repo, clock: Clock) -> None:
    asked.refresh()
    before = clock.now
    with lock.writer(asked.space.root, 0.0):
        assert len(cites(many, asked.search("return", limit=100))) == FILES
        many.git("switch", "--quiet", "--create", "same")
        many.commit("nothing")
        assert len(cites(many, asked.search("return", limit=100))) == FILES
    assert clock.now - before < 1


def test_a_writer_that_hangs_does_not_hold_a_question_up_for_ever(
    repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "def retry_limit(): pass\n")
    repo.commit()
    assert run(repo, "index").code == 0
    repo.write("b.py", "def backoff(): pass\n")
    repo.commit()
    monkeypatch.setattr(common, "BUSY_SECONDS", 0.05)
    with lock.writer(repo.path / ".git" / "itza", 0.0):
        done = run(repo, "search", "retry_limit")
    assert done.code == 0 and "a.py:1" in done.out
    assert "note: 1 of 2 files indexed; the rest: git itza index" in done.err
