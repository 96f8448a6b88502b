"""A space: packs, views and heads of one recipe. All that is written under `.git/itza/` goes through here."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from itza_git import jsontext
from itza_git.errors import Damaged, StoreError
from itza_git.store import lock, pack
from itza_git.store.container import TEMPORARY, Container, cannot_read, cannot_write, delete, listed, private
from itza_git.store.pack import MOST_ROWS, Pack, PackBuilder
from itza_git.store.recipe import Recipe
from itza_git.store.view import View

FOLDER = "itza"
# The part with the messages of commits.
HISTORY = "history"
# Where damaged files go; gc deletes them.
ASIDE = "damaged"
# More packs than this are merged; each costs a search about 0.2 ms.
MOST_PACKS = 16
MOST_VIEWS = 64
# A reader that meets a merge looks again; more than one in a row would be chance.
_MOST_LISTINGS = 5
# Seconds to wait for the lock where an answer must not wait for a note.
SHORT_WAIT = 0.2

File = TypeVar("File", Pack, View, Container)


@dataclass(frozen=True, slots=True)
class RecordedHead:
    """What a ref was when it was last indexed. commit and tree are hex, time is in unix seconds."""

    commit: str
    tree: str
    time: float


@dataclass(frozen=True, slots=True)
class Located:
    """Where keys are: pack and blob number of each, -1 where the store does not hold it."""

    pack: NDArray[np.int64]
    blob: NDArray[np.int64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which keys the store does not hold."""
        return self.pack < 0


class Space:
    """The folder of one recipe. Opening reads nothing and creates nothing; writing happens under `writer`."""

    def __init__(self, common_dir: Path, recipe: Recipe, id_length: int, part: str = "") -> None:
        self.root = common_dir / FOLDER
        self._whole_folder = self.root / "spaces" / recipe.name
        self.folder = self._whole_folder / part
        self.is_part = bool(part)
        self.recipe = recipe
        self._common_dir = common_dir
        self._id_length = id_length
        self._open: dict[str, Pack] = {}
        self._located: tuple[NDArray[np.bytes_], list[Pack], Located] | None = None
        self.damaged: list[Damaged] = []
        self.set_aside: list[Damaged] = []

    @cached_property
    def history(self) -> Space:
        """The part that holds commit messages: its keys are of commits, and no question about code ever reads it."""
        part = Space(self._common_dir, self.recipe, self._id_length, HISTORY)
        part.set_aside = self.set_aside
        return part

    @property
    def packs_folder(self) -> Path:
        """Where the packs lie."""
        return self.folder / "packs"

    def builder(self) -> PackBuilder:
        """What writes new packs here."""
        return PackBuilder(self.packs_folder, self._id_length)

    def packs(self) -> list[Pack]:
        """The packs that are there now. Damaged ones are left out and named in `damaged`."""
        for _ in range(_MOST_LISTINGS):
            try:
                self._open = dict(self._listed())
                break
            except FileNotFoundError:  # merged away since the folder was listed: the merged pack stands there now
                continue
        return list(self._open.values())

    def _listed(self) -> Iterator[tuple[str, Pack]]:
        """The packs of one look into the folder. Raises FileNotFoundError when one of them is gone already."""
        for name in self._names():
            opened = self._open.get(name)
            if opened is None or not opened.is_current:
                opened = self.whole(Pack, self.packs_folder / name)
            if opened is not None:
                yield name, opened

    def _names(self) -> list[str]:
        return [path.name for path in listed(self.packs_folder) if path.name.startswith("pack-")]

    def whole(self, read: Callable[[Path], File], path: Path) -> File | None:
        """What read makes of a file; None for a damaged one, which `damaged` names. Raises FileNotFoundError."""
        if self._found_damaged(path):
            return None
        try:
            return read(path)
        except Damaged as e:
            self.damaged.append(e)
            self._open.pop(path.name, None)
            return None
        except FileNotFoundError:
            raise
        except OSError as e:
            raise cannot_read(path, e) from e

    def _found_damaged(self, path: Path) -> bool:
        return any(known.path == path for known in self.damaged)

    def locate(self, keys: NDArray[np.bytes_]) -> tuple[list[Pack], Located]:
        """The packs, and where in them each key is. Asked again for the same array, it looks only for new packs."""
        packs = self.packs()
        if self._located is not None and self._located[0] is keys and self._located[1] == packs:
            return packs, self._located[2]
        where = Located(np.full(len(keys), -1, np.int64), np.full(len(keys), -1, np.int64))
        for number, candidate in enumerate(packs):
            blob = candidate.find(keys)
            found = (blob >= 0) & where.missing
            where.pack[found] = number
            where.blob[found] = blob[found]
        self._located = (keys, packs, where)
        return packs, where

    def check(self) -> list[Damaged]:
        """Read all of it, and set aside what is damaged (leave it out, where nothing can be written); returns that."""
        from itza_git.store.proof import KINDS_OF_FILES, prove

        for folder, kind in KINDS_OF_FILES.items():
            for path in self.files(folder):
                with suppress(FileNotFoundError):
                    self.whole(partial(prove, kind=kind), path)
        found = list(self.damaged)
        if found:
            with suppress(StoreError), self.writer():  # sets them aside
                pass
        return found + (self.history.check() if (self.folder / HISTORY).is_dir() else [])

    # Views

    def view_path(self, tree: bytes, policy: str) -> Path:
        """Where the view of a tree under a policy lies."""
        return self.folder / "views" / f"{tree.hex()}-{policy}.itza"

    def view(self, tree: bytes, policy: str) -> View | None:
        """The recorded view of a tree; None when there is none that can be read."""
        path = self.view_path(tree, policy)
        try:
            found = self.whole(View.read, path)
        except FileNotFoundError:
            return None
        if found is not None and found.file is not None:
            found.file.touch()  # it decides which views are dropped first
        return found

    def records_view(self, tree: bytes, policy: str) -> bool:
        """Whether the view of a tree lies there, and was not found damaged."""
        path = self.view_path(tree, policy)
        return path.exists() and not self._found_damaged(path)

    def view_files(self) -> list[Path]:
        """The files of all views, that used last first."""
        return used_last(self.files("views"))

    def files(self, folder: str) -> list[Path]:
        """The files of a folder; what another process is just writing is none of them. Raises `StoreError`."""
        return [
            path
            for path in listed(self.folder / folder)
            if path.suffix == ".itza" and not path.name.startswith(TEMPORARY)
        ]

    def latest_view(self, policy: str) -> tuple[bytes, View] | None:
        """The tree and view used last under a policy: the nearest one to start from."""
        paths = [path for path in self.view_files() if path.name.endswith(f"-{policy}.itza")]
        for path in paths[:1]:
            tree = bytes.fromhex(path.name.partition("-")[0])
            if found := self.view(tree, policy):
                return tree, found
        return None

    def write_view(self, tree: bytes, policy: str, view: View) -> None:
        """Record a view, and drop those not used for longest."""
        path = self.view_path(tree, policy)
        view.write(path)
        kept = {head.tree for head in self.heads().values()}
        for stale in self.view_files()[MOST_VIEWS:]:
            if stale.name.partition("-")[0] not in kept:
                delete(stale)

    # Heads

    def heads(self) -> dict[str, RecordedHead]:
        """The refs that were indexed, with what they were."""
        path = self.folder / "heads.json"
        try:
            raw = jsontext.parse(path.read_text("utf-8"))
            return {ref: _head(head) for ref, head in raw.items()}
        except (FileNotFoundError, ValueError, AttributeError):
            return {}  # a record for people: a lost one is written anew by the next index run
        except OSError as e:
            raise cannot_read(path, e) from e

    def record_head(self, ref: str, commit: bytes, tree: bytes) -> None:
        """Remember that a ref was indexed at a commit. Left to the next run when another process writes just now."""
        before = self.heads().get(ref)
        if before and before.commit == commit.hex():
            return
        with suppress(StoreError), self.writer(wait=SHORT_WAIT):
            known = self.heads()
            known[ref] = RecordedHead(commit.hex(), tree.hex(), time.time())
            write_json(
                self.folder / "heads.json",
                {r: {"commit": h.commit, "tree": h.tree, "time": h.time} for r, h in known.items()},
            )

    # Writing

    @contextmanager
    def writer(self, wait: float = 600.0, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the store's lock, with the folders made and what earlier runs left behind cleared away."""
        self._make_folders()
        with lock.writer(self.root, wait, waiting):
            # Under the lock, for whoever holds it clears unfinished files away.
            self._clear_leftovers()
            described = self._whole_folder / "recipe.json"
            if not described.exists():
                write_json(described, self.recipe.describe())
            yield

    def _make_folders(self) -> None:
        # One after the other: what mkdir makes of parents does not have the mode.
        folders = [self.root, self._whole_folder.parent, self._whole_folder, self.folder, self.packs_folder]
        for folder in [*folders, self.folder / ("lineages" if self.is_part else "views")]:
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as e:
                raise cannot_write(folder, e) from e

    def _clear_leftovers(self) -> None:
        """Delete unfinished writes, and set damaged packs aside so that their blobs are indexed again."""
        for leftover in self.folder.rglob(f"{TEMPORARY}*"):
            delete(leftover)
        self.packs()
        while self.damaged:
            self._set_aside(self.damaged[-1])
            self.damaged.pop()

    def _set_aside(self, error: Damaged) -> None:
        from itza_git.store.proof import is_whole

        self._open.pop(error.path.name, None)
        if not is_whole(error.path):  # another process may have set it aside since, and put a whole one in its place
            move_aside(error.path)
            self.set_aside.append(error)

    def merge_packs(self) -> None:
        """Merge the smallest packs until each is at least twice the next, once there are more than MOST_PACKS.

        As `git repack --geometric` does. Needs the lock.
        """
        while len(packs := sorted(self.packs(), key=lambda p: p.rows)) > MOST_PACKS:
            chosen = _smallest(packs)
            if len(chosen) < 2:
                return
            try:
                name = pack.merge(self.packs_folder, chosen, [np.ones(len(one.key), bool) for one in chosen])
            except Damaged as e:
                self._set_aside(e)
                continue
            for one in chosen:
                if one.path.stem != name:
                    delete(one.path)

    def size(self) -> int:
        """Bytes that the whole index takes, all spaces counted."""
        return sum(map(_file_size, self.root.rglob("*")))


def move_aside(path: Path) -> None:
    """Move a damaged file to where a person may look at it and nothing else does. Needs the lock."""
    aside = path.parents[1] / ASIDE
    try:
        aside.mkdir(mode=0o700, exist_ok=True)
        if (aside / path.name).is_dir() or path.is_dir():  # put there by somebody; a file and a folder do not mix
            _delete(aside / path.name)
        os.replace(path, aside / path.name)
    except FileNotFoundError:
        return
    except OSError as e:
        raise cannot_write(aside, e) from e


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _smallest(packs: list[Pack]) -> list[Pack]:
    """The run of smallest packs whose merge leaves a geometric row, as far as one pack can hold them."""
    rows = [p.rows for p in packs]
    end = max((i for i in range(1, len(rows)) if rows[i] < 2 * sum(rows[:i])), default=0) + 1
    while sum(rows[:end]) > MOST_ROWS:
        end -= 1
    return packs[:end]


def _file_size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError:  # merged away since the folder was listed
        return 0
    return found.st_size if S_ISREG(found.st_mode) else 0


def _head(raw: Any) -> RecordedHead:  # noqa: ANN401 - any JSON value
    found = jsontext.record(RecordedHead, raw)
    bytes.fromhex(found.commit + found.tree)  # raises ValueError
    return found


def used_last(files: Iterable[Path]) -> list[Path]:
    """Files, that used last first."""
    return sorted(files, key=_mtime, reverse=True)


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted since the folder was listed, or a link that leads nowhere
        return 0.0


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - any JSON value
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    try:
        with open(temporary, "w", encoding="utf-8", opener=private) as file:
            file.write(json.dumps(value, indent=1, sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as e:
        raise cannot_write(path, e) from e
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
