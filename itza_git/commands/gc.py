"""`git itza gc`."""

from __future__ import annotations

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common


@click.command()
@common.json_option
def gc(as_json: bool) -> int:
    """Drop from the index what no branch, worktree or recent reflog entry reaches."""
    with Itza.open() as itza, common.watch() as watch:
        dropped = itza.collect(watch=watch)
    if as_json:
        common.print_json(render_json.collected_json(dropped))
    else:
        click.echo(render.collected(dropped))
    return 0
