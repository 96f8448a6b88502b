"""`git itza status`."""

from __future__ import annotations

import time

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.hooks.health import health, health_json, summary


@click.command()
@common.json_option
@common.verbose_option("Name every file that is skipped, and why.")
def status(as_json: bool, verbose: bool) -> int:
    """Say what is indexed of HEAD and of each branch, what was skipped, and whether the hooks are live."""
    with Itza.open() as itza:
        state = itza.status()
        refreshing = health(itza.repository)
    if as_json:
        common.print_json(render_json.status_json(state) | {"hooks": health_json(refreshing)})
    else:
        click.echo(render.status(state, common.style(), time.time(), verbose))
        for line in summary(refreshing):
            click.echo(render.clean(line))
        if state.head is not None:
            common.tell_unreadable(state.head.coverage)
    return 0
