"""The tools of the server, by name."""

from __future__ import annotations

from itza_git.errors import ItzaError
from itza_git.mcp import texts
from itza_git.mcp.asking import ASK
from itza_git.mcp.citations import READ, VERIFY
from itza_git.mcp.finding import OVERVIEW, SEARCH, SIMILAR
from itza_git.mcp.places import Place, Places
from itza_git.mcp.tool import BUDGET, Call, Tool
from itza_git.render import visible


def list_indexed_repos(call: Call, places: Places, *, budget: int) -> str:
    """The repositories that can be named, and how much of each is indexed."""
    local = places.local(call.roots)
    lines = []
    for place in places.all(call.roots):
        here = " (here)" if place.path in local else ""
        lines.append(f"{place.name}{here}  {visible(str(place.path))}  {_state(place)}")
    none = "no repository: start the server in one, or: git itza repos add PATH"
    return texts.within(lines or [none], budget)


def _state(place: Place) -> str:
    try:
        with place.itza() as itza:
            commit = itza.resolve()
            ref = (itza.repository.head().ref or "detached").removeprefix("refs/heads/")
            state = "indexed" if itza.holds() else "not indexed yet: the first search does it"
            return f"{visible(ref)} {commit.id.hex()[:10]}  {state}"
    except ItzaError as e:
        return str(e)


REPOS = Tool(
    "list_indexed_repos",
    "List repositories",
    "The repositories that the other tools can search, with branch, commit and state of the index. Not needed for the "
    "one you work in.",
    (BUDGET,),
    list_indexed_repos,
)


TOOLS = {tool.name: tool for tool in (SEARCH, ASK, OVERVIEW, SIMILAR, REPOS, READ, VERIFY)}
