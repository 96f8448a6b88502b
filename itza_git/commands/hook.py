"""`git itza hook EVENT`, hidden: for hook scripts that people write themselves."""

from __future__ import annotations

import subprocess
import sys

import click

from itza_git.hooks.scripts import EVENTS


@click.command(hidden=True)
@click.argument("event", type=click.Choice(EVENTS))
@click.argument("args", nargs=-1)
def hook(event: str, args: tuple[str, ...]) -> int:
    """Refresh the index in the background after EVENT; ARGS are what git gave to the hook. Always exits with 0."""
    if event == "post-checkout" and len(args) > 2 and args[2] == "0":
        return 0  # paths were checked out; HEAD did not move
    # -P: the current folder is a work tree, and what lies in it must never be imported.
    command = [sys.executable, "-P", "-m", "itza_git.hooks.worker", event]
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return 0
    return 0
