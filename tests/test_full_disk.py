"""A disk that refuses the n-th call, for every n: one error, no lost work, and the next run heals."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from itza_git import Itza
from itza_git.errors import StoreError
from itza_git.store import space
from tests.command import Run
from tests.repository import Repo

# What changes a disk, and what each kind of trouble refuses.
CALLS = {
    "ENOSPC": (errno.ENOSPC, ("open", "write", "fsync", "replace", "mkdir")),
    "EROFS": (errno.EROFS, ("open", "write", "fsync", "replace", "mkdir", "unlink", "rename", "utime", "rmdir")),
    "EIO": (errno.EIO, ("write", "fsync", "replace", "mkdir", "unlink", "utime")),
}


class Disk:
    """Counts the calls that change files under a folder, and refuses the one of a number (and all later ones)."""

    def __init__(self, folder: Path, trouble: str, for_ever: bool) -> None:
        self.folder = str(folder)
        self.number, self.names = CALLS[trouble]
        self.for_ever = for_ever
        self.calls = 0
        self.refused = 0
        self.limit = 0
        self._handles: set[int] = set()

    def counts(self, path: object) -> bool:
        return path in self._handles if isinstance(path, int) else os.fsdecode(str(path)).startswith(self.folder)

    def allow(self, name: str) -> None:
        if name in self.names:
            self.calls += 1
            if self.limit and (self.calls == self.limit or (self.for_ever and self.calls > self.limit)):
                self.refused += 1
                raise OSError(self.number, os.strerror(self.number))

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - any call of os
            writes = name != "open" or bool(args and args[0] & (os.O_WRONLY | os.O_RDWR))
            ours = self.counts(path)
            if ours and writes:
                self.allow(name)
            done = real(path, *args, **options)
            if name == "open" and ours and writes:
                self._handles.add(done)
            return done

        return call


@contextmanager
def disk(monkeypatch: pytest.MonkeyPatch, made: Disk) -> Iterator[None]:
    """The disk in the place of os; files that are written are wrapped too."""
    with monkeypatch.context() as patch:
        for name in ("open", "fsync", "replace", "mkdir", "unlink", "rename", "utime", "rmdir"):
            patch.setattr(os, name, made.wrapped(name, getattr(os, name)))

        def opened(path: Any, mode: str = "r", **options: Any) -> Any:  # noqa: ANN401 - as the built-in
            file = open(path, mode, **options)  # noqa: SIM115 - the caller closes it
            return Proxy(file, made) if "w" in mode else file

        for module in ("itza_git.store.container", "itza_git.store.space"):
            patch.setattr(f"{module}.open", opened, raising=False)
        yield


class Proxy:
    """A file on the disk."""

    def __init__(self, file: Any, made: Disk) -> None:  # noqa: ANN401 - any file
        self._file = file
        self._disk = made

    def write(self, data: Any) -> int:  # noqa: ANN401 - as the file's
        self._disk.allow("write")
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of a file
        return getattr(self._file, name)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr("itza_git.indexing.refresh.LOCAL_BATCH_BYTES", 1)
    monkeypatch.setattr(space, "MOST_PACKS", 2)
    for name in ("alpha", "beta", "gamma"):
        repo.write(f"{name}.py", f"def {name}(x):\n    return x\n")
    repo.commit()
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()
    repo.git("rm", "-q", "gamma.py")
    for name in ("delta", "epsilon"):
        repo.write(f"{name}.py", f"def {name}(x):\n    return x\n")
    repo.commit()
    repo.git("reflog", "expire", "--expire=now", "--all")
    return repo


def index(itza: Itza) -> None:
    itza.refresh()


def collect(itza: Itza) -> None:
    itza.collect()


def repair(itza: Itza) -> None:
    itza.fsck(repair=True)


def answers(repo: Repo, opened: Itza | None = None) -> list[object]:
    with Itza.open(repo.path, {}) if opened is None else nullcontext(opened) as itza:
        found = itza.search("alpha delta")
        return [*[(hit.citation, hit.text) for hit in found.hits], found.coverage]


def keys(itza: Itza) -> set[bytes]:
    return {key for pack in itza.space.packs() for key in pack.key.tolist()}


WORK: list[Callable[[Itza], None]] = [index, collect, repair]
FEW = [(index, "ENOSPC", True), (index, "EIO", False), (collect, "EROFS", False), (repair, "ENOSPC", True)]
# Every call, in all combinations, by hand: ITZA_STRESS=1 pytest tests/test_full_disk.py
CASES, STEP = (list(product(WORK, CALLS, [False, True])), 1) if os.environ.get("ITZA_STRESS") else (FEW, 5)


@pytest.mark.parametrize(("work", "trouble", "for_ever"), CASES)
def test_whichever_call_the_disk_refuses_nothing_is_lost_and_the_next_run_heals(
    project: Repo, monkeypatch: pytest.MonkeyPatch, work: Callable[[Itza], None], trouble: str, for_ever: bool
) -> None:
    store = project.path / ".git" / "itza"
    saved = snapshot(store)
    fresh = answers(project)
    limit, refused, tried = 1 - STEP, 0, 0
    while tried == refused:
        limit += STEP
        tried += 1
        restore(store, saved, damaged=work is repair)
        made = Disk(store, trouble, for_ever)
        made.limit = limit
        with Itza.open(project.path, {}) as itza:
            before = keys(itza)
            with disk(monkeypatch, made):
                try:
                    work(itza)
                except StoreError as e:
                    assert os.strerror(made.number) in str(e) and e.hint
        refused += bool(made.refused)
        with Itza.open(project.path, {}) as itza:
            assert work is collect or before <= keys(itza), f"lost at call {limit}"
            assert answers(project, itza) == fresh
            assert itza.fsck().faults == ()
            assert not list(store.rglob(".tmp-*"))
    assert refused * STEP > 5


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def restore(folder: Path, saved: dict[str, bytes], damaged: bool) -> None:
    """The store as it was; with a pack that is cut, for a repair to find."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    for name, data in saved.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    if damaged:
        victim = sorted(folder.glob("spaces/*/packs/*"))[0]
        victim.write_bytes(victim.read_bytes()[:-1])


@pytest.mark.parametrize("trouble", ["ENOSPC", "EROFS"])
def test_a_question_is_answered_from_what_is_indexed(
    project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    made = Disk(project.path / ".git" / "itza", trouble, for_ever=True)
    made.limit = 1
    with disk(monkeypatch, made):
        done = run(project, "search", "alpha delta")
        asked = run(project, "ask", "alpha", "--json", "--no-model")
        failed = run(project, "index")
    assert done.code == 0
    assert done.out.startswith("alpha.py:1-2@")
    assert done.error[0].startswith("note: cannot write the index: ")
    assert done.error[1] == "note: 2 of 4 files indexed; the rest: git itza index"
    assert (asked.code, asked.json["coverage"]["indexed"], asked.json["coverage"]["total"]) == (0, 2, 4)
    assert failed.code == 2
    assert failed.error[0].startswith("error: cannot write the index: ")
    assert run(project, "search", "alpha delta").err == ""


def test_messages_that_cannot_be_kept_are_told_by_an_index_run_and_no_question(
    project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(project, "index")
    store = project.path / ".git" / "itza"
    for folder in store.glob("spaces/*/history"):
        shutil.rmtree(folder)
    made = Disk(store, "EROFS", for_ever=True)
    made.limit = 1
    with disk(monkeypatch, made):
        done = run(project, "index")
        asked = run(project, "search", "how does alpha work?")
    assert done.code == 0
    assert "  0 of the newest 2 commit messages indexed" in done.out
    assert [line.partition(": /")[0] for line in done.error] == ["note: cannot write the index"]
    assert done.error[0].endswith("history: Read-only file system")
    assert (asked.code, asked.err) == (0, "")


def test_without_anything_indexed_there_is_nothing_to_answer_from(
    repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "def alpha(): pass\n")
    repo.commit()
    made = Disk(repo.path / ".git" / "itza", "EROFS", for_ever=True)
    made.limit = 1
    with disk(monkeypatch, made):
        done = run(repo, "search", "alpha")
    assert done.code == 2
    assert done.error[0].startswith("error: cannot write the index: ")


def test_damage_on_a_disk_that_cannot_be_written_is_told_and_left_out(
    project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "MOST_PACKS", 99)
    run(project, "index")
    fresh = run(project, "search", "alpha").out
    victim = next(
        path for path in (project.path / ".git" / "itza").glob("spaces/*/packs/*") if b"epsilon" in path.read_bytes()
    )
    data = bytearray(victim.read_bytes())
    data[data.index(b"epsilon")] ^= 1
    victim.write_bytes(data)
    made = Disk(project.path / ".git" / "itza", "EROFS", for_ever=True)
    made.limit = 1
    with disk(monkeypatch, made):
        done = run(project, "search", "alpha epsilon")
    assert done.code == 0
    assert "epsilon.py" not in done.out
    assert "3 of 4 files indexed" in done.err and "is damaged: section symbol_text" in done.err
    assert run(project, "search", "alpha").out == fresh
