"""`git itza overview`."""

from __future__ import annotations

import click

from itza_git import render_overview
from itza_git.api import Itza
from itza_git.commands import common


@click.command()
@common.revision_options
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only these paths, from here; repeatable.")
@common.json_option
@common.verbose_option("Show all of each list.")
def overview(rev: str, branch: str | None, paths: tuple[str, ...], as_json: bool, verbose: bool) -> int:
    """Show what is in the repository: languages, areas, entry points, and the files that the others rest on.

    No model is asked. Exit code 1 when there is nothing to show.
    """
    common.one_tree(rev, branch, False)
    with Itza.open() as itza, common.watch(common.patience(itza), common.BUSY_SECONDS) as watch:
        found = itza.overview(rev, branch=branch, paths=common.from_top(itza, paths), watch=watch)
        common.tell_damage(itza)
        dirty = as_json and itza.is_dirty(rev, branch)
        links = itza.links
    if as_json:
        common.print_json(render_overview.overview_json(found, dirty))
    else:
        click.echo(render_overview.overview(found, common.style(), verbose, links))
    common.tell_coverage(found.coverage, found.rev)
    return 0 if found.files else common.NOTHING_FOUND
