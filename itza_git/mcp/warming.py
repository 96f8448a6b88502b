"""What the first call would wait for, done while the client still reads the list of tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from itza_git.mcp.places import Places
from itza_git.mcp.tool import PEEK


def warm(places: Places, roots: Sequence[Path]) -> None:
    """Open the repository that the client works in, and index it behind; with the index there, open that.

    Of several repositories only those that are asked are touched.
    """
    if len(places.local(roots)) != 1:
        return
    place = places.find(None, roots)
    with place.itza() as itza:
        if itza.holds():
            itza.search("how does it work", limit=1, watch=PEEK)
        else:
            place.index("HEAD", itza.resolve().id.hex())
