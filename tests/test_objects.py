"""git's command line reads what libgit2 reads of the same repository, whatever becomes of its process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from itza_git.errors import GitError
from itza_git.git import Repository, open_repository
from itza_git.git.objects import AHEAD, Objects
from tests.repository import Repo
from tests.test_git import ODD

COUNT = 3 * AHEAD + 1


@pytest.fixture
def ids(repo: Repo) -> list[bytes]:
    """The blobs of a commit, in the order of their paths; each holds its number, and its number of lines."""
    for number in range(COUNT):
        repo.write(f"{number:03}", f"{number}\n" * (number + 1))
    repo.commit()
    return [bytes.fromhex(line.split()[2]) for line in repo.git("ls-tree", "-r", "HEAD").splitlines()]


def content(number: int) -> bytes:
    return b"%d\n" % number * (number + 1)


def objects(repo: Repo) -> Objects:
    return Objects(repo.path / ".git" / "objects", 20)


def process(read: Objects) -> int:
    """The id of the process that reads contents."""
    (running,) = read._running.values()
    return running.pid


def contents(read: Objects, ids: list[bytes]) -> list[bytes | None]:
    return [answer[2] if answer else None for answer in read.contents(ids)]


def test_both_backends_say_the_same_of_one_repository(repo: Repo, tmp_path: Path) -> None:
    for name in ODD:
        repo.write(b"odd/" + name, name)
    repo.write(".gitattributes", "*.py linguist-generated\n")
    repo.commit("one")
    repo.git("branch", "side")
    repo.git("tag", "--annotate", "--message", "t", "heavy")
    repo.write("more", "x")
    repo.commit("two")
    repo.write("uncommitted", "y")

    def told(opened: Repository) -> list[object]:
        head, old = opened.resolve("HEAD"), opened.resolve("heavy")
        entries = opened.tree(head.tree)
        ids = [entry.id for entry in entries]
        paths = [entry.path for entry in entries]
        return [
            (opened.git_dir, opened.common_dir, opened.worktree, opened.id_length),
            (head, old, opened.head(), opened.branches(), entries, opened.diff(old.tree, head.tree)),
            ([opened.size(id) for id in ids], list(opened.read_many(ids)), opened.attributes(head.id, paths)),
            (opened.abbreviate(head.id), opened.is_dirty(), opened.uncommitted(1 << 20), opened.worktree_heads()),
            (list(opened.messages([head.id])), opened.ancestors([head.id], 9), opened.reflog_commits(9, 60)),
        ]

    assert told(open_repository(repo.path)) == told(open_repository(repo.path, libgit2=False))


def test_more_than_is_asked_at_once(repo: Repo, ids: list[bytes]) -> None:
    read = objects(repo)
    assert contents(read, ids) == [content(number) for number in range(COUNT)]
    assert contents(read, []) == []
    assert read.header(ids[5]) == ("blob", len(content(5)), b"")


def test_what_is_absent_is_told_in_its_place(repo: Repo, ids: list[bytes]) -> None:
    read = objects(repo)
    asked = [ids[0], b"\1" * 20, ids[1], b"short", b"", ids[2]]
    assert contents(read, asked) == [content(0), None, content(1), None, None, content(2)]


def test_a_process_that_dies_is_started_again(repo: Repo, ids: list[bytes]) -> None:
    read = objects(repo)
    assert contents(read, ids[:1]) == [content(0)]
    first = process(read)
    os.kill(first, signal.SIGKILL)
    assert contents(read, ids[-2:]) in ([None, content(COUNT - 1)], [content(COUNT - 2), content(COUNT - 1)])
    assert contents(read, ids) == [content(number) for number in range(COUNT)]
    assert process(read) != first


def test_an_object_that_kills_git_costs_only_itself(repo: Repo, ids: list[bytes]) -> None:
    broken = repo.path / ".git" / "objects" / ids[AHEAD].hex()[:2] / ids[AHEAD].hex()[2:]
    broken.chmod(0o644)
    broken.write_bytes(broken.read_bytes()[:-8])
    found = contents(objects(repo), ids)
    assert found[AHEAD] is None
    assert [text for number, text in enumerate(found) if number != AHEAD] == [
        content(number) for number in range(COUNT) if number != AHEAD
    ]


def test_a_repack_while_it_runs(repo: Repo, ids: list[bytes]) -> None:
    read = objects(repo)
    assert contents(read, ids[:1]) == [content(0)]
    repo.git("gc", "--quiet", "--prune=now")
    assert contents(read, ids) == [content(number) for number in range(COUNT)]


def test_the_process_ends_with_its_reader(repo: Repo, ids: list[bytes]) -> None:
    read = objects(repo)
    contents(read, ids[:1])
    started = process(read)
    del read
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)


def test_an_interrupted_reader_never_gives_the_answer_of_another_question(
    repo: Repo, ids: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = objects(repo)
    contents(read, ids[:1])
    (running,) = read._running.values()

    def interrupted(id: bytes) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_request", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read.contents(ids)
    assert contents(read, ids[3:5]) == [content(3), content(4)]


def test_a_folder_that_holds_no_objects(repo: Repo, tmp_path: Path) -> None:
    assert Objects(tmp_path, 20).header(b"\1" * 20) is None
    with pytest.raises(GitError, match="nowhere"):
        Objects(tmp_path / "nowhere", 20).header(b"\1" * 20)
