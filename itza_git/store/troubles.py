"""What is not well with an index though it answers: for `git itza status`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from itza_git.store.prune import is_usable
from itza_git.store.space import ASIDE, HISTORY, Space

# Below this an index run may end for lack of room.
LITTLE_ROOM = 100_000_000
FAULTS = "faults"


def troubles(space: Space) -> list[str]:
    """A line each, with what to do; nothing is read but folders."""
    return list(_troubles(space)) if space.root.is_dir() else []


def _troubles(space: Space) -> Iterator[str]:
    if not all(os.access(folder, os.W_OK) for folder in (space.root, space.packs_folder) if folder.exists()):
        yield f"the index cannot be written: make {space.root} writable for you"
    free = shutil.disk_usage(space.root).free
    if free < LITTLE_ROOM:
        yield f"the disk of the index has {free / 1e6:.0f} MB left"
    aside = sum(1 for part in ("", f"{HISTORY}/") for _ in space.root.glob(f"spaces/*/{part}{ASIDE}/*"))
    if aside:
        yield f"{aside} damaged file{'s' if aside > 1 else ''} set aside: git itza fsck, and gc deletes them"
    old = [folder for folder in space.folder.parent.glob("*/") if not is_usable(space, folder)]
    if old:
        yield f"{len(old)} space{'s' if len(old) > 1 else ''} of another version of git-itza: git itza gc"
    reports = list((space.root / FAULTS).glob("*"))
    if reports:
        yield f"{len(reports)} fault{'s' if len(reports) > 1 else ''} of git-itza reported in {space.root / FAULTS}"
