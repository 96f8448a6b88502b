"""Commits as evidence, for people. Pure; what comes from a repository is cleaned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itza_git.clock import day
from itza_git.paths import quote
from itza_git.render import BOLD, DIM, GREEN, Style, clean, fitting, snippet

if TYPE_CHECKING:  # records that are only read
    from itza_git.answering.links import Pages
    from itza_git.results import ChangedFile, CommitHit, Past, ShownCommit

# Of the lines that a commit was the last to touch so many are named.
MOST_PLACES = 3


def commits(past: Past, wanted: frozenset[str], style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """The commits that tell the reason: citation and day, then the lines of the message that matter."""
    shown = [_commit(one, wanted, style, verbose, links) for one in past.commits]
    if verbose and past.searched < past.total:
        told = f"{past.searched} of {past.total} commit messages are indexed; the rest: git itza index"
        shown.append(style.paint(told, DIM))
    return "\n\n".join(shown)


def _commit(hit: CommitHit, wanted: frozenset[str], style: Style, verbose: bool, links: Pages | None) -> str:
    citation = style.link(style.paint(clean(hit.citation), GREEN), links.commit_url(hit.commit) if links else None)
    told = [f"{style.paint('why', BOLD)} {citation}  {style.paint(day(hit.time), DIM)}"]
    if verbose:
        told.append(style.paint(f"  score={hit.score:g} share={hit.share:g} by={hit.by}", DIM))
    lines = hit.text.split("\n")
    told += [f"  {fitting(lines[at], style.width - 2)}".rstrip() for at in snippet(lines, wanted) if hit.text]
    if hit.lines:
        more = f" and {len(hit.lines) - MOST_PLACES} more" if len(hit.lines) > MOST_PLACES else ""
        told.append(style.paint(f"  last touched {', '.join(hit.lines[:MOST_PLACES])}{more}", DIM))
    return "\n".join(told)


def shown_commit(shown: ShownCommit, style: Style) -> str:
    """The citation and day of a commit, its message, and a line for each file that it changed."""
    told = [f"{style.paint(clean(shown.citation), GREEN)}  {style.paint(day(shown.time), DIM)}"]
    if shown.merged:
        told.append(style.paint(f"a merge of {shown.merged + 1}; what differs from the first is shown", DIM))
    told += ["", *(f"  {clean(line)}".rstrip() for line in shown.text.split("\n")), ""]
    width = max((len(_counts(one)) for one in shown.files), default=0)
    told += [f"{_counts(one):>{width}}  {quote(one.path)}{_status(one)}" for one in shown.files]
    if shown.changed > len(shown.files):
        told.append(f"and {shown.changed - len(shown.files)} more files")
    return "\n".join(told).rstrip("\n")


def _counts(one: ChangedFile) -> str:
    return "binary" if one.added is None else f"+{one.added} -{one.removed}"


def _status(one: ChangedFile) -> str:
    return "" if one.status == "changed" else f" ({one.status})"
