"""`git itza hooks install`, `uninstall`, `status`."""

from __future__ import annotations

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.hooks import install as installing
from itza_git.hooks.health import Health, health, health_json, summary
from itza_git.hooks.state import EventState, state_of


@click.group()
def hooks() -> None:
    """Let git refresh the index, in the background, after commit, checkout, merge, rebase and am.

    Existing hooks go on working. ITZA_SKIP_HOOK=1 in the environment silences them once.
    """


@hooks.command()
def install() -> int:
    """Install the hooks of this repository; once more, it repairs them."""
    with Itza.open() as itza:
        installing.install(itza.repository)
        found = state_of(itza.repository)
    for one in found.events:
        click.echo(_line(one))
    return 0


@hooks.command()
def uninstall() -> int:
    """Take the hooks out again; hook files are as they were before."""
    with Itza.open() as itza:
        done = installing.uninstall(itza.repository)
    for what in done or ["no hook of git-itza is installed"]:
        click.echo(render.clean(what))
    return 0


@hooks.command()
@common.json_option
def status(as_json: bool) -> int:
    """Say of each event whether its hook is live, and how the last refresh went."""
    with Itza.open() as itza:
        found = health(itza.repository)
    if as_json:
        common.print_json({"schema": render_json.SCHEMA} | health_json(found))
        return 0
    for one in found.hooks.events:
        click.echo(_line(one))
    for line in summary(found):
        click.echo(render.clean(line))
    if hint := _hint(found):
        common.note(f"hint: {hint}")
    return 0


def _line(one: EventState) -> str:
    told = f"{one.event:16} {one.state:14} {one.detail}".rstrip()
    return render.clean(f"{told}  ({one.path})" if one.path else told)


def _hint(found: Health) -> str:
    if found.last_error is not None:
        return found.last_error.hint
    if found.hooks.refusal:
        return found.hooks.hint
    off = next((one.event for one in found.hooks.events if one.state == "off"), "")
    if off:
        return f"git config --show-origin --get-regexp '^hook[.].*{off}[.]enabled'"
    return "" if found.hooks.live and found.hooks.mechanism != "both" else "git itza hooks install"
