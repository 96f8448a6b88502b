"""`git itza search`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from itza_git import render, render_json
from itza_git.answering.links import Pages
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.paths import quote
from itza_git.results import Hit, SearchResult

FORMATS = ("text", "json", "jsonl", "vimgrep", "paths")


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k", "-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most N passages."
)
@common.tree_options
@common.filter_options
@common.repository_options
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="jsonl: a hit a line; vimgrep: path:line:column:text; paths."
)
@click.option("-A", "after", type=click.IntRange(0), metavar="N", help="Whole passages, and N lines after each.")
@click.option("-B", "before", type=click.IntRange(0), metavar="N", help="Whole passages, and N lines before each.")
@click.option("-C", "around", type=click.IntRange(0), metavar="N", help="Whole passages, and N lines on both sides.")
@click.option("--max-chars", type=click.IntRange(1), metavar="N", help="No more than N characters of passages.")
@click.option("-0", "--null", is_flag=True, help="With --format paths: end each path with a NUL, not quoted.")
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
    all_repos: bool,
    repos: tuple[str, ...],
    form: str | None,
    after: int | None,
    before: int | None,
    around: int | None,
    max_chars: int | None,
    null: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    """Show the ranked passages for QUERY, best first.

    Indexes first what is not indexed yet. Exit code 1 when nothing is found.
    """
    common.one_tree(rev, branch, worktree)
    form = _form(form, as_json, null)
    sides = (before if before is not None else around, after if after is not None else around)
    options: dict[str, Any] = {"limit": limit, "languages": languages, "context": (sides[0] or 0, sides[1] or 0)}
    with ExitStack() as stack:
        found: _Found
        if common.several_heads(all_repos, repos, rev, branch, worktree):
            found = _in_several(stack, " ".join(query), repos, paths, options)
        else:
            tree = {"rev": rev, "branch": branch, "worktree": worktree, "reasons": verbose}
            found = _in_one(stack, " ".join(query), paths, tree | options, dirty=form == "json")
    if found.elsewhere and form in ("vimgrep", "paths"):
        note = f"note: these are files of {branch or rev}; those of the working tree may be others, with other lines"
        common.note(note)
    shown = _Shown(form, sides != (None, None), verbose, null, max_chars)
    left_out = _print(found, shown)
    common.tell(found.result)
    if left_out:
        common.note(f"note: {left_out} more {'passage' if left_out == 1 else 'passages'} did not fit into --max-chars")
    return 0 if found.result.hits else common.NOTHING_FOUND


@dataclass(frozen=True)
class _Found:
    """A result, and what printing it needs: place gives the path of a hit's file.

    elsewhere: another tree was asked than the one that is checked out.
    """

    result: SearchResult
    dirty: bool
    links: Pages | None
    place: Callable[[Hit], Path]
    elsewhere: bool = False


@dataclass(frozen=True)
class _Shown:
    """How the hits are to be printed."""

    form: str
    whole: bool
    verbose: bool
    null: bool
    max_chars: int | None


def _form(form: str | None, as_json: bool, null: bool) -> str:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot both be given")
    form = "json" if as_json else form or "text"
    if null and form != "paths":
        raise click.UsageError("-0 goes with --format paths")
    return form


def _in_one(stack: ExitStack, query: str, paths: tuple[str, ...], options: dict[str, Any], dirty: bool) -> _Found:
    itza = stack.enter_context(Itza.open())
    watch = stack.enter_context(common.watching(itza))
    result = itza.search(query, paths=common.from_top(itza, paths), watch=watch, **options)
    common.tell_damage(itza)
    top = itza.repository.worktree or Path()
    elsewhere = bool(result.base) or _differs(itza, result.commit)
    dirty = dirty and itza.is_dirty(options["rev"], options["branch"])
    return _Found(result, dirty, itza.links, lambda hit: top / os.fsdecode(hit.passage.path), elsewhere)


def _differs(itza: Itza, commit: str) -> bool:
    """Whether a commit (full hex) has another tree than the checked-out one."""
    head = itza.repository.head().commit
    return head is None or (head.id.hex() != commit and head.tree != itza.resolve(commit).tree)


def _in_several(
    stack: ExitStack, query: str, repos: tuple[str, ...], paths: tuple[str, ...], options: dict[str, Any]
) -> _Found:
    from itza_git.several import Several

    several = stack.enter_context(Several.open(repos))
    watch = stack.enter_context(common.watching(several.first))
    result = several.search(query, paths=paths, watch=watch, **options)
    for itza in several.members.values():
        common.tell_damage(itza)
    return _Found(result, several.is_dirty(), several.links, several.place)


def _print(found: _Found, shown: _Shown) -> int:
    """Print the hits; how many had no room."""
    result = found.result

    def size(hit: Hit) -> int:
        if shown.form == "text" and shown.whole:
            return len(render.whole_hit(hit, result.query, render.Style()))
        if shown.form == "text":
            return len(render.hits(replace(result, hits=(hit,)), render.Style()))
        return sum(map(len, (hit.text, *hit.before, *hit.after)))

    if shown.max_chars is not None:
        from itza_git.excerpts import fitting

        result = replace(result, hits=tuple(fitting(result.hits, shown.max_chars, size)))
    if shown.form == "json":
        common.print_json(render_json.search_json(result, found.dirty))
    elif result.hits:
        _PRINTERS[shown.form](replace(found, result=result), shown)
    return len(found.result.hits) - len(result.hits)


def _print_text(found: _Found, shown: _Shown) -> None:
    draw = render.whole_hits if shown.whole else render.hits
    click.echo(draw(found.result, common.style(), shown.verbose, found.links))
    common.print_commits(found.result, shown.verbose, found.links)


def _print_jsonl(found: _Found, shown: _Shown) -> None:
    for hit in found.result.hits:
        common.print_json(render_json.hit_json(hit))


def _print_vimgrep(found: _Found, shown: _Shown) -> None:
    from itza_git.excerpts import vimgrep

    for line in vimgrep(found.result.hits, found.result.query, lambda hit: quote(_from_here(found.place(hit)))):
        click.echo(line)


def _print_paths(found: _Found, shown: _Shown) -> None:
    from itza_git.excerpts import paths

    for hit in paths(found.result.hits):
        path = _from_here(found.place(hit))
        if shown.null:
            sys.stdout.buffer.write(path + b"\0")
        else:
            click.echo(quote(path))
    sys.stdout.buffer.flush()


def _from_here(place: Path) -> bytes:
    """The path as git grep would print it: from the current folder."""
    return os.fsencode(os.path.relpath(place, os.path.realpath(".")).replace(os.sep, "/"))


_PRINTERS = {"text": _print_text, "jsonl": _print_jsonl, "vimgrep": _print_vimgrep, "paths": _print_paths}
