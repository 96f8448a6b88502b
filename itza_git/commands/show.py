"""`git itza show`."""

from __future__ import annotations

import click

from itza_git import render
from itza_git.answering.citation import parse
from itza_git.api import Itza
from itza_git.commands import common


# A path may begin with a dash.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("citation")
@common.json_option
def show(citation: str, as_json: bool) -> int:
    """Show the lines that CITATION (path:first-last@commit) names, as they are at that commit."""
    with Itza.open() as itza:
        lines = itza.show(parse(citation))
    if as_json:
        common.print_json(render.shown_json(lines))
    else:
        click.echo(render.shown(lines, common.style()))
    return 0
