"""A search or a question over all repositories that can be named."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from itza_git.api import Itza
from itza_git.errors import ItzaError, UsageError
from itza_git.mcp import texts
from itza_git.mcp.places import Places
from itza_git.mcp.texts import Piece
from itza_git.mcp.tool import PEEK, Call, ready
from itza_git.render import visible
from itza_git.results import SearchResult
from itza_git.several import Several

ALL = "all"


def search_all(
    call: Call,
    places: Places,
    query: str,
    paths: Sequence[str],
    languages: Sequence[str],
    kinds: Sequence[str],
    limit: int,
    budget: int,
) -> str:
    """One ranking over the HEADs of all repositories, from what is indexed of each; the rest is indexed behind."""
    members: dict[str, Itza] = {}
    told = []
    goes_on = False
    with ExitStack() as stack:
        for place in places.all(call.roots):
            try:
                itza = stack.enter_context(place.itza())
                state = ready(call, place, itza, "HEAD", 0)
            except ItzaError as e:
                told.append(f"not searched: {place.name}: {e}")
                continue
            first = next(iter(members.values()), itza)
            if itza.space.recipe.name != first.space.recipe.name:
                told.append(f"not searched: {place.name}: its vectors are of another model")
                continue
            goes_on |= state.indexing is not None
            members[place.name] = itza
        if not members:
            raise UsageError("no repository can be searched", "; ".join(told) or "git itza repos add PATH")
        result = Several(members).search(query, limit=limit + 1, paths=paths, languages=languages, watch=PEEK)
    told += [f"not searched: {one.name}: {one.error}" for one in result.repositories if one.error]
    told.append(texts.coverage(result.coverage, goes_on, ""))
    return _text(result, members, query, kinds, limit, budget, [visible(one) for one in told if one])


def _text(
    result: SearchResult,
    members: dict[str, Itza],
    query: str,
    kinds: Sequence[str],
    limit: int,
    budget: int,
    told: Sequence[str],
) -> str:
    pieces = [Piece.of(hit) for hit in result.hits if not kinds or hit.passage.kind in kinds]
    said = "" if pieces else ": nothing found"
    return texts.fitted(
        budget,
        f"{_counted(len(members))}{said}",
        lambda room: texts.passages(pieces[:limit], query, room, len(pieces) > limit),
        *(f"({one})" for one in told),
    )


def _counted(number: int) -> str:
    return "1 repository at its HEAD" if number == 1 else f"{number} repositories at their HEADs"


def working_folder(call: Call, places: Places) -> Path:
    """A folder to ask all repositories from: the one that the client works in counts then too."""
    local = places.local(call.roots)
    return local[0] if local else places.here
