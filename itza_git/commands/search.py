"""`git itza search`."""

from __future__ import annotations

import click

from itza_git import render, render_json
from itza_git.api import Itza
from itza_git.commands import common


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most N passages.")
@common.tree_options
@common.filter_options
@common.json_option
@common.verbose_option("Say why a passage ranks where it does.")
def search(
    query: tuple[str, ...],
    limit: int,
    rev: str,
    branch: str | None,
    worktree: bool,
    paths: tuple[str, ...],
    languages: tuple[str, ...],
    as_json: bool,
    verbose: bool,
) -> int:
    """Show the ranked passages for QUERY, best first.

    Indexes first what is not indexed yet. Exit code 1 when nothing is found.
    """
    common.one_tree(rev, branch, worktree)
    with Itza.open() as itza, common.watch(common.patience(itza), common.BUSY_SECONDS) as watch:
        result = itza.search(
            " ".join(query),
            rev=rev,
            branch=branch,
            worktree=worktree,
            limit=limit,
            paths=common.from_top(itza, paths),
            languages=languages,
            watch=watch,
        )
        common.tell_damage(itza)
        dirty = as_json and itza.is_dirty(rev, branch)
        links = itza.links
    if as_json:
        common.print_json(render_json.search_json(result, dirty))
    elif result.hits:
        click.echo(render.hits(result, common.style(), verbose, links))
    common.tell(result)
    return 0 if result.hits else common.NOTHING_FOUND
