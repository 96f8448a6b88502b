"""`git itza status`."""

from __future__ import annotations

import click

from itza_git import render
from itza_git.api import Itza
from itza_git.commands import common


@click.command()
@common.json_option
@common.verbose_option
def status(as_json: bool, verbose: bool) -> int:
    """Say what is indexed of HEAD and of each branch, with what, how large it is, and what was skipped."""
    with Itza.open() as itza:
        state = itza.status()
    if as_json:
        common.print_json(render.status_json(state))
    else:
        click.echo(render.status(state, common.style(), verbose))
    return 0
