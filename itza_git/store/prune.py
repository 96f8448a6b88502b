"""Taking things out of a store. All of it needs the writer's lock; what replaces a file is there before it goes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Set
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itza_git import jsontext
from itza_git.store.container import delete, listed
from itza_git.store.pack import MOST_ROWS, Pack, merge
from itza_git.store.space import ASIDE, HISTORY, Space


def drop_all_but(space: Space, keys: NDArray[np.bytes_]) -> int:
    """Rewrite the packs without the blobs whose key is none of keys (ascending); returns how many were dropped."""
    packs = space.packs()
    masks = {pack.path: _among(pack.key, keys) for pack in packs}
    touched = [pack for pack in packs if not masks[pack.path].all()]
    dropped = sum(int((~masks[pack.path]).sum()) for pack in touched)
    for group in _groups(touched, masks):
        kept = [masks[pack.path] for pack in group]
        if any(mask.any() for mask in kept):
            merge(space.packs_folder, group, kept)  # never named as one of the group, which all hold more
        for pack in group:
            delete(pack.path)
    return dropped


def _among(wanted: NDArray[np.bytes_], keys: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    if not len(keys):
        return np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(keys[at] == wanted)


def _groups(packs: list[Pack], masks: dict[Path, NDArray[np.bool_]]) -> Iterator[list[Pack]]:
    """Runs of packs whose kept rows fit one pack."""
    group: list[Pack] = []
    filled = 0
    for pack in packs:
        rows = int(np.diff(pack.start.astype(np.int64))[masks[pack.path]].sum())
        if group and filled + rows > MOST_ROWS:
            yield group
            group, filled = [], 0
        group.append(pack)
        filled += rows
    if group:
        yield group


def drop_views(space: Space, trees: Set[str]) -> int:
    """Delete the views of all trees but those (hex ids); returns how many."""
    stale = [path for path in space.view_files() if path.name.partition("-")[0] not in trees]
    for path in stale:
        delete(path)
    return len(stale)


def drop_set_aside(space: Space) -> None:
    """Delete the damaged files that were set aside, of all spaces. Raises `StoreError`."""
    for folder in _spaces(space):
        for aside in (folder / ASIDE, folder / HISTORY / ASIDE):
            if listed(aside):
                shutil.rmtree(aside, ignore_errors=True)


def _spaces(space: Space) -> list[Path]:
    """The folders of all spaces; a file that somebody else put beside them is none."""
    return [folder for folder in listed(space.folder.parent) if folder.is_dir()]


def drop_unreadable_spaces(space: Space) -> int:
    """Delete the spaces that no embedder of this version can use again; returns how many.

    Those of another embedder or model stay: switching back must embed nothing. Raises `StoreError`.
    """
    unusable = [folder for folder in _spaces(space) if not is_usable(space, folder)]
    for folder in unusable:
        shutil.rmtree(folder, ignore_errors=True)
    return len(unusable)


def is_usable(space: Space, folder: Path) -> bool:
    """Whether this version can use the space in a folder, with this embedder or another.

    One that may not be read is not said to be of no use.
    """
    current = space.recipe.describe()
    try:
        recipe = jsontext.parse((folder / "recipe.json").read_text("utf-8"))
        return all(recipe[name] == current[name] for name in ("format", "words", "chunking"))
    except PermissionError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return folder == space.folder
