"""Prove the index whole: every file of every space by itself, and then against what git holds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np

from itza_git import jsontext
from itza_git.errors import Damaged, GitError, StoreError, UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.refresh import LONGEST_WAIT
from itza_git.store import lock
from itza_git.store.container import TEMPORARY, Container, cannot_read, cannot_write, listed
from itza_git.store.proof import KINDS_OF_FILES, prove
from itza_git.store.recipe import digest
from itza_git.store.space import ASIDE, FOLDER, HISTORY, move_aside
from itza_git.store.summaries import FOLDER as SUMMARIES
from itza_git.store.troubles import FAULTS

# Blobs that are read at once to count their lines.
_AT_ONCE = 1000
_SPACE_NAME = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """A file of the index and what is wrong with it. is_foreign: something else stands in its place."""

    path: Path
    what: str
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what was wrong with it. aside are files that were found damaged and moved before.

    repaired: what was wrong is out of the way, and what HEAD and the recorded branches need of it is built anew.
    """

    spaces: int
    packs: int
    views: int
    blobs: int
    chunks: int
    faults: tuple[Fault, ...]
    aside: tuple[Path, ...]
    repaired: bool = False


def fsck(repository: Repository) -> Checked:
    """Read the whole index. Nothing is written, and no lock taken: files that others merge away meanwhile are left out.

    Raises `StoreError` when the index cannot be read.
    """
    return _Reader(repository).read()


def put_right(repository: Repository, waiting: Callable[[], None]) -> Checked:
    """The same under the lock, with what is wrong taken out of the way; what is missing then is for an index run.

    Containers are set aside, notes are deleted, and what stands in the place of a folder or of the lock gets another
    name beside it. Raises `StoreError`, `StoreBusy`.
    """
    root = repository.common_dir / FOLDER
    before = tuple(_foreign(root))  # what keeps the lock from being taken
    for fault in before:
        _put_right(fault)
    if not root.is_dir():
        return replace(fsck(repository), faults=before, repaired=True)
    with lock.writer(root, LONGEST_WAIT, waiting):
        checked = fsck(repository)
        for fault in checked.faults:
            _put_right(fault)
    return replace(checked, faults=(*before, *checked.faults), repaired=True)


def _put_right(fault: Fault) -> None:
    path = fault.path
    try:
        if fault.is_foreign:
            path.rename(_free_name(path))
        elif path.suffix == ".itza":
            move_aside(path)
        elif path.suffix == ".json":
            path.unlink(missing_ok=True)
        else:
            path.chmod(0o700)
    except OSError as e:
        raise cannot_write(path, e) from e


def _free_name(path: Path) -> Path:
    """A name beside path that nothing has, and that nothing of the index is called."""
    names = (path.with_name(f"{path.name}.{ASIDE}{number or ''}") for number in count())
    return next(name for name in names if not os.path.lexists(name))


class _Reader:
    """Counts what it reads."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._root = repository.common_dir / FOLDER
        self._packs = self._views = self._blobs = self._chunks = 0

    def read(self) -> Checked:
        faults: list[Fault] = []
        # A file that somebody else put beside the spaces (a desktop's notes on a folder) is in nobody's way.
        try:
            spaces = [folder for folder in _listed(self._root / "spaces") if folder.is_dir()]
            faults += _foreign(self._root)
            faults += _folder_mode(self._root)
            for space in spaces:
                faults += self._space(space)
            aside = [path for space in spaces for path in _aside(space)]
        except OSError as e:
            raise cannot_read(Path(e.filename or self._root), e) from e
        return Checked(
            len(spaces),
            self._packs,
            self._views,
            self._blobs,
            self._chunks,
            tuple(faults),
            tuple(sorted(aside)),
        )

    def _space(self, folder: Path) -> Iterator[Fault]:
        foreign = list(_foreign_in(folder))
        if foreign:
            yield from foreign
            return  # the rest is for the next look
        yield from _recipe(folder)
        yield from self._heads(folder / "heads.json")
        for part in (folder, folder / HISTORY):
            for name, kind in KINDS_OF_FILES.items():
                for path in _listed(part / name):
                    if path.suffix != ".itza" or path.name.startswith(TEMPORARY):
                        continue
                    with suppress(FileNotFoundError):
                        yield from self._container(path, kind)

    def _container(self, path: Path, kind: str) -> Iterator[Fault]:
        try:
            file = prove(path, kind)
        except Damaged as e:
            yield Fault(path, e.why)
            return
        except StoreError as e:  # of a newer version
            yield Fault(path, str(e))
            return
        if kind == "view":
            self._views += 1
            yield from self._view(path, file)
        if kind == "pack":
            self._packs += 1
            self._blobs += len(file.array("key"))
            self._chunks += len(file.array("lines"))
            yield from self._lines(path, file)

    def _view(self, path: Path, file: Container) -> Iterator[Fault]:
        """A view has the files of its tree. One whose tree git has pruned cannot be told, and harms nobody."""
        try:
            tree = bytes.fromhex(path.name.partition("-")[0])
        except ValueError:
            yield Fault(path, "its name is not that of a tree")
            return
        try:
            entries = self._repository.tree(tree)
        except UnreadableObject:
            return
        # A tree made by hand may have a path twice; a view has one of the two then.
        known = {(entry.path, entry.id) for entry in entries}
        start, text = file.array("path_start").tolist(), file.array("path_text").tobytes()
        held = {text[a:b]: id_.tobytes() for (a, b), id_ in zip(pairwise(start), file.array("id"), strict=True)}
        if not known.issuperset(held.items()) or held.keys() != {path for path, _ in known}:
            yield Fault(path, "it does not have the files of its tree")

    def _lines(self, path: Path, file: Container) -> Iterator[Fault]:
        """No chunk ends behind its blob. A blob that git has no longer is for gc to drop."""
        key, start, last = file.array("key"), file.array("start").tolist(), file.array("lines")[:, 1]
        length = self._repository.id_length
        if key.dtype.itemsize != length + 4:
            yield Fault(path, "its keys are not of this repository")
            return
        whole = np.ascontiguousarray(key).view(np.uint8).reshape(len(key), -1)
        ends = {whole[n, :length].tobytes(): int(last[b - 1]) for n, (a, b) in enumerate(pairwise(start)) if b > a}
        for some in _runs(list(ends)):
            for blob, data in self._repository.read_many(some):
                if data is not None and ends[blob] > data.count(b"\n") + (not data.endswith(b"\n")):
                    yield Fault(path, f"a chunk ends behind its blob {blob.hex()}")
                    return

    def _heads(self, path: Path) -> Iterator[Fault]:
        """Each recorded head is a commit with its tree, unless git has pruned it."""
        try:
            heads = jsontext.parse(path.read_text("utf-8"))
            told = [(head["commit"], bytes.fromhex(head["tree"]), float(head["time"])) for head in heads.values()]
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError):
            yield Fault(path, "it is no list of heads")
            return
        for commit, tree, _ in told:
            try:
                known = self._repository.resolve(commit)
            except GitError:
                continue
            if known.tree != tree:
                yield Fault(path, f"the tree of {commit} is another one")


def _listed(folder: Path) -> list[Path]:
    """What a folder holds; nothing where something else stands in its way, which is a fault of its own."""
    return [] if any(map(_is_foreign, (folder, *folder.parents))) else listed(folder)


def _aside(space: Path) -> list[Path]:
    """The files of a space that were found damaged and moved before."""
    return [*_listed(space / ASIDE), *_listed(space / HISTORY / ASIDE)]


def _foreign(root: Path) -> Iterator[Fault]:
    """What stands where the index has its folders and its lock, and is none."""
    spaces = root / "spaces"
    named = (path for path in spaces.glob("*") if _SPACE_NAME.fullmatch(path.name))
    yield from _no_folders(root, spaces, *(root / name for name in (FAULTS, SUMMARIES)), *named)
    if os.path.lexists(root / "lock") and not (root / "lock").is_file():
        yield Fault(root / "lock", "it is no file", is_foreign=True)


def _foreign_in(space: Path) -> Iterator[Fault]:
    """The same within a space."""
    parts = (space, space / HISTORY)
    yield from _no_folders(space / HISTORY, *(part / name for part in parts for name in (*KINDS_OF_FILES, ASIDE)))
    for note in (space / "recipe.json", space / "heads.json"):
        if os.path.lexists(note) and not note.is_file():
            yield Fault(note, "it is no file", is_foreign=True)


def _no_folders(*folders: Path) -> Iterator[Fault]:
    for folder in folders:
        if _is_foreign(folder):
            yield Fault(folder, "it is no folder", is_foreign=True)


def _is_foreign(folder: Path) -> bool:
    return os.path.lexists(folder) and not folder.is_dir()


def _recipe(folder: Path) -> Iterator[Fault]:
    path = folder / "recipe.json"
    try:
        named = digest(jsontext.parse(path.read_text("utf-8")), 8)
    except FileNotFoundError:  # a note for people, which the next writer makes
        return
    except ValueError:
        named = ""
    if named != folder.name:
        yield Fault(path, "it does not describe its folder")


def _folder_mode(root: Path) -> Iterator[Fault]:
    if root.is_dir() and root.stat().st_mode & 0o077:
        yield Fault(root, "others than its owner may look into it")


def _runs(blobs: list[bytes]) -> Iterable[list[bytes]]:
    return (blobs[at : at + _AT_ONCE] for at in range(0, len(blobs), _AT_ONCE))
