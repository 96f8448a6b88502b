"""`git itza show`."""

from __future__ import annotations

from dataclasses import replace

import click

from itza_git import registry, render, render_history, render_json
from itza_git.answering.citation import parse, parse_commit
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import GitError, ItzaError, UsageError
from itza_git.results import Shown


def _shown(text: str) -> Shown:
    """The lines that a citation names here, or in the registered repository whose name it begins with."""
    try:
        with Itza.open() as itza:
            return itza.show(itza.citation(text))
    except (UsageError, GitError):
        try:
            citation = parse(text)
            named = registry.holding(citation.path)
        except ItzaError:
            named = None
        if named is None:
            raise
    entry, path = named
    with Itza.open(entry.path) as itza:
        return itza.show(replace(citation, path=path))


@click.command(cls=common.PlaceCommand)
@click.argument("citation")
@common.json_option
def show(citation: str, as_json: bool) -> int:
    """Show the lines that CITATION (path:first-last@commit) names, as they are at that commit.

    Any revision may stand behind the @; paths are from the top of the repository. Of a citation of a commit,
    'commit ID "subject"' or just 'commit ID', its message is shown, and what it changed.
    """
    named = parse_commit(citation)
    if named:
        with Itza.open() as itza:
            commit = itza.show_commit(named)
        if as_json:
            common.print_json(render_json.shown_commit_json(commit))
        else:
            click.echo(render_history.shown_commit(commit, common.style()))
        return 0
    lines = _shown(citation)
    if as_json:
        common.print_json(render_json.shown_json(lines))
    else:
        click.echo(render.shown(lines, common.style()))
    return 0
