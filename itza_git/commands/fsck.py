"""`git itza fsck`."""

from __future__ import annotations

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common

SOMETHING_WRONG = 1


@click.command()
@click.option("--repair", is_flag=True, help="Set aside what is wrong, and build anew what is missing then.")
@common.json_option
def fsck(repair: bool, as_json: bool) -> int:
    """Prove the index whole: every checksum, count and vector, and every view against its tree.

    Exit code 1 when something was wrong, with --repair too. Without it nothing is written: a question finds and
    replaces what is damaged by itself.
    """
    with Itza.open() as itza, common.watch() as watch:
        checked = itza.fsck(repair, watch=watch)
    root = itza.repository.common_dir
    if as_json:
        common.print_json(render_json.checked_json(checked, root))
    else:
        click.echo(render.checked(checked, root))
    if checked.faults and not repair:
        common.note("hint: git itza fsck --repair")
    return SOMETHING_WRONG if checked.faults else 0
