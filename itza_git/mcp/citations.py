"""`read_citation` and `verify_citations`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from itza_git.answering.citation import WORKTREE, parse_commit, render
from itza_git.mcp import texts
from itza_git.mcp.arguments import Parameter
from itza_git.mcp.places import Place, Places
from itza_git.mcp.tool import BUDGET, REPO, Call, Tool, cited, where_at
from itza_git.render import Style, visible
from itza_git.render_history import shown_commit
from itza_git.several import verified_elsewhere


def read_citation(call: Call, places: Places, *, citation: str, repo: str | None = None, budget: int) -> str:
    """The cited lines at the cited commit."""
    named = parse_commit(citation)
    if named:
        place = places.find(repo, call.roots)
        with place.itza() as itza:
            commit = itza.show_commit(named)
        return texts.within([place.name, *shown_commit(commit, Style()).split("\n")], budget)
    place, citation = _of(places, citation, repo, call.roots)
    with place.itza() as itza:
        shown = itza.show(cited(itza, citation))
    lines = [f"{shown.citation.first + at}\t{visible(line.rstrip())}" for at, line in enumerate(shown.lines)]
    at = "the working tree" if shown.commit == WORKTREE else shown.commit[:10]
    return texts.within([f"{place.name} at {at}", *lines], budget)


def _of(places: Places, citation: str, repo: str | None, roots: Sequence[Path]) -> tuple[Place, str]:
    """The repository that a citation is of, and the citation without the name that a search over all puts before it."""
    name, parted, rest = citation.strip().partition("//")
    if parted and not repo:
        named = next((place for place in places.all(roots) if place.name == name), None)
        if named:
            return named, rest
    return places.find(repo, roots), citation


READ = Tool(
    "read_citation",
    "Read cited lines",
    "The lines that a citation names, as they are at the cited commit. Any range works: path:1-80@HEAD.",
    (
        Parameter("citation", "string", "path:first-last@commit, as other tools print it.", required=True),
        REPO,
        BUDGET,
    ),
    read_citation,
)


def verify_citations(
    call: Call, places: Places, *, text: str, repo: str | None = None, rev: str = "HEAD", budget: int
) -> str:
    """What became of every citation in a text."""
    place = places.find(repo, call.roots)
    with place.itza() as itza:
        verification = verified_elsewhere(itza.verify(text, rev))
    if not verification.checked:
        return "no citation in this text; one looks like src/a.py:10-42@1a2b3c4"
    lines = []
    for one in verification.checked:
        verdict = one.verdict
        now = f" -> {render(verdict.now)}" if verdict.now and verdict.status == "moved" else ""
        reason = f" ({visible(verdict.reason)})" if verdict.reason else ""
        lines.append(f"{verdict.status} {render(one.found.citation)}{now}{reason}")
    statuses = {one.found.citation: one.verdict.status for one in verification.checked}
    summary = _summary(list(statuses.values()))
    return texts.within([f"{where_at(place, verification.commit, rev)}: {summary}", *dict.fromkeys(lines)], budget)


def _summary(statuses: Sequence[str]) -> str:
    return ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))


VERIFY = Tool(
    "verify_citations",
    "Check citations",
    "Check every path:lines@commit citation in a text against the repository: same, moved (to where), changed or gone. "
    "Run it over a text with citations before you hand it on.",
    (
        Parameter("text", "string", "Any text with citations in it.", required=True, longest=100_000),
        REPO,
        Parameter("rev", "string", "Revision to check against; default HEAD."),
        BUDGET,
    ),
    verify_citations,
)
