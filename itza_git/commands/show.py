"""`git itza show`."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace

import click

from itza_git import registry, render, render_history, render_json
from itza_git.answering.citation import Citation, CommitCitation, parse, parse_commit
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import UsageError
from itza_git.results import Shown

# A file may be called `commit 1`.
_LINES_OF = re.compile(r":[0-9]+(-[0-9]+)?@[^ ]+\Z")


def _shown(text: str) -> Shown:
    """The lines that a citation names here, or in the registered repository whose name it begins with."""
    named = _named(text)
    if named is None:
        with Itza.open() as itza:
            return itza.show(itza.citation(text), os.fsencode(common.folder(itza)))
    entry, citation = named
    with Itza.open(registry.there(entry)) as itza:
        return itza.show(citation)


def _named(text: str) -> tuple[registry.Entry, Citation] | None:
    """The registered repository that a citation names, and what it cites there; None when it names none."""
    try:
        citation = parse(text)
    except UsageError:
        return None
    found = registry.holding(citation.path)
    return found and (found[0], replace(citation, path=found[1]))


def _commit(itza: Itza, text: str) -> CommitCitation:
    """The commit that text cites. The shell may have eaten the quotes, and any revision may stand for the id."""
    found = parse_commit(text)
    if found:
        return found
    _, revision, *subject = text.split(" ", 2)
    return CommitCitation(itza.resolve(revision).id.hex(), subject[0].strip() if subject else "")


@click.command(cls=common.PlaceCommand)
@click.argument("citation", nargs=-1, required=True, metavar="CITATION")
@common.json_option
def show(citation: tuple[str, ...], as_json: bool) -> int:
    """Show the lines that CITATION (path:first-last@commit) names, as they are at that commit.

    Any revision may stand behind the @; paths are from the top of the repository, or else from the current folder.
    Of a citation of a commit, 'commit ID "subject"' or just commit REV, its message is shown, and what it changed.
    """
    text = " ".join(citation)
    if text.startswith("commit ") and not _LINES_OF.search(text):
        with Itza.open() as itza:
            commit = itza.show_commit(_commit(itza, text))
        if as_json:
            common.print_json(render_json.shown_commit_json(commit))
        else:
            click.echo(render_history.shown_commit(commit, common.style()))
        return 0
    if len(citation) > 1:
        raise click.UsageError(f"one citation at a time; one with spaces in quotes: {shlex.quote(text)}")
    lines = _shown(text)
    if as_json:
        common.print_json(render_json.shown_json(lines))
    else:
        click.echo(render.shown(lines, common.style()))
    return 0
