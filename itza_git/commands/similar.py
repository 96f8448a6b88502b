"""`git itza similar`."""

from __future__ import annotations

import os
import re

import click

from itza_git import render, render_json
from itza_git.answering.citation import LINES, WORKTREE, Citation
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import UsageError
from itza_git.paths import quote, unquote

_PLACE = re.compile(
    rf'(?P<path>"(?:[^"\\]|\\.)*"|[^"].*?):(?P<first>{LINES})(?:-(?P<last>{LINES}))?(?::.*)?', re.DOTALL
)


@click.command(cls=common.PlaceCommand)
@click.argument("place", metavar="PATH:LINE")
@click.option(
    "-k", "-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most N passages."
)
@common.revision_options
@common.worktree_option
@common.filter_options
@common.json_option
@common.verbose_option("Say how near the passages are, and what they share.")
def similar(
    place: str,
    limit: int,
    rev: str,
    branch: str | None,
    worktree: bool,
    paths: tuple[str, ...],
    languages: tuple[str, ...],
    as_json: bool,
    verbose: bool,
) -> int:
    """Show code like the definition around PATH:LINE, or like PATH:FIRST-LAST; copies are marked.

    A whole citation (path:lines@commit, or @ any revision) names the tree too. PATH is from here, or from the
    top of the repository. Exit code 1 when nothing is like it.
    """
    with Itza.open() as itza, common.watch(common.patience(itza), common.BUSY_SECONDS) as watch:
        path, first, last, commit = _place(itza, place)
        common.one_tree(rev, branch, worktree, cited=bool(commit) and not _is_again(itza, commit, rev, worktree))
        if commit == WORKTREE:
            worktree = True
        elif commit:
            rev = commit
        found = itza.similar(
            path,
            first,
            last,
            rev=rev,
            branch=branch,
            worktree=worktree,
            limit=limit,
            paths=common.from_top(itza, paths),
            languages=languages,
            watch=watch,
        )
        common.tell_damage(itza)
        dirty = as_json and itza.is_dirty(rev, branch)
        links = itza.links
    if as_json:
        common.print_json(render_json.similar_json(found, dirty))
    else:
        click.echo(render.similar(found, common.style(), verbose, links))
    common.tell_coverage(found.coverage, found.rev)
    if not found.hits:
        common.note(f"nothing is like {found.of.citation}")
    return 0 if found.hits else common.NOTHING_FOUND


def _place(itza: Itza, text: str) -> tuple[str, int, int, str]:
    """Path, first and last line of a place, and the commit of a citation, whatever revision names it."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        try:
            cited: Citation = itza.citation(text)
        except UsageError as e:
            raise UsageError(f"not a place: {text!r}", "write PATH:LINE or PATH:FIRST-LAST") from e
        return quote(cited.path), cited.first, cited.last, cited.commit
    first = int(found["first"])
    return _from_here(itza, found["path"]), first, int(found["last"] or first), ""


def _is_again(itza: Itza, commit: str, rev: str, worktree: bool) -> bool:
    """Whether the options name the tree of a citation once more, which is no contradiction."""
    if commit == WORKTREE:
        return worktree
    return rev != "HEAD" and itza.resolve(rev).id == itza.resolve(commit).id


def _from_here(itza: Itza, path: str) -> str:
    """The path from the top; as it is written where no such file is here."""
    name = os.fsdecode(unquote(path))
    if not os.path.exists(name) or not itza.repository.worktree:
        return path
    return quote(os.fsencode(common.from_top(itza, [name])[0]))
