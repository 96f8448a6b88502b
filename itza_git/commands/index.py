"""`git itza index`."""

from __future__ import annotations

from dataclasses import replace

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.paths import quote


@click.command()
@click.argument("rev", default="HEAD")
@common.json_option
@common.verbose_option("Name every file that is skipped, and why.")
def index(rev: str, as_json: bool, verbose: bool) -> int:
    """Index HEAD, or REV, now.

    Only blobs that the store has never seen are read; -v names every file that is skipped, and why.
    """
    with Itza.open() as itza:
        with common.watch() as watch:
            done = itza.refresh(rev, watch=watch)
            messages = itza.remember(rev, watch=replace(watch, unwritable=common.tell_unwritable))
        common.tell_damage(itza)
    if as_json:
        common.print_json(render_json.report_json(done, messages))
        return 0
    click.echo(render.report(done, common.style(), messages))
    if verbose:
        for one in done.coverage.skipped:
            click.echo(f"  {one.reason:12} {quote(one.path)}")
    common.tell_unreadable(done.coverage)
    for told in done.notes:
        common.note(f"note: {told}")
    for path in done.lossy[: common.MOST_NAMED]:
        common.note(f"note: {quote(path)} is not UTF-8 throughout; other bytes are shown as \ufffd")
    if len(done.lossy) > common.MOST_NAMED:
        common.note(f"note: so are {len(done.lossy) - common.MOST_NAMED} more files")
    return 0
