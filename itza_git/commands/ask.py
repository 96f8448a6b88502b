"""`git itza ask`."""

from __future__ import annotations

import sys
from typing import Any

import click

from itza_git import render, render_json
from itza_git.answering.answer import Statement
from itza_git.answering.links import Pages
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.results import AskResult, CommitHit, SearchResult
from itza_git.search.reasons import asks_reason

# Of an answer that is only passages, a person reads so many.
SHOWN_PASSAGES = 5
# Where nothing answers, so many of the nearest say what there is instead.
SHOWN_NEAREST = 3

NOT_VERIFIED = 4


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "-n", "--limit", type=click.IntRange(1, 100), help="Passages to answer from; default: what fits.")
@common.tree_options
@common.filter_options
@common.repository_options
@click.option("--model", metavar="NAME", help="The model that answers, instead of itza.answerModel.")
@click.option("--no-model", is_flag=True, help="Show the passages, ask no model.")
@click.option("--strict", is_flag=True, help="Exit with 4 unless every statement carries a verified citation.")
@click.option("--force", is_flag=True, help="Ask the model even when nothing here seems to answer.")
@click.option("--no-history", is_flag=True, help="No commits as evidence for why something is as it is.")
@common.json_option
@common.verbose_option("Say why a passage ranks where it does.")
def ask(
    question: tuple[str, ...],
    limit: int | None,
    rev: str,
    branch: str | None,
    worktree: bool,
    paths: tuple[str, ...],
    languages: tuple[str, ...],
    all_repos: bool,
    repos: tuple[str, ...],
    model: str | None,
    no_model: bool,
    strict: bool,
    force: bool,
    no_history: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    """Answer QUESTION from the repository, citing path:lines@commit.

    Without a reachable model the passages that an answer would rest on are shown. Exit code 1 when the
    repository does not answer (NO_SE).
    """
    common.one_tree(rev, branch, worktree)
    stream = _Stream(live=not as_json)
    options: dict[str, Any] = {
        "limit": limit,
        "languages": languages,
        "model": model,
        "use_model": not no_model,
        "force": force,
        "statement": stream.say,
    }
    links: Pages | None
    if common.several_heads(all_repos, repos, rev, branch, worktree):
        from itza_git.several import Several

        with Several.open(repos) as several, common.watching(several.first) as watch:
            asked = several.ask(" ".join(question), paths=paths, watch=watch, **options)
            cited, dirty, links = several.citations(asked), as_json and several.is_dirty(), several.links
            for itza in several.members.values():
                common.tell_damage(itza)
    else:
        tree: dict[str, Any] = {"rev": rev, "branch": branch, "worktree": worktree, "history": not no_history}
        with Itza.open() as itza, common.watching(itza) as watch:
            asked = itza.ask(" ".join(question), paths=common.from_top(itza, paths), watch=watch, **tree, **options)
            cited, dirty, links = itza.citations(asked), as_json and itza.is_dirty(rev, branch), itza.links
            common.tell_damage(itza)
    if as_json:
        common.print_json(render_json.ask_json(asked, cited, dirty, links))
    else:
        stream.end()
        _print(asked, render.sources(cited, common.style(), render.urls(asked, links)), limit, verbose, links)
    if asked.note:
        shown = "this is the overview" if asked.overview else "these are the passages that an answer would rest on"
        common.note(f"note: {asked.note}; {shown}")
    common.tell(asked.result, lacking=asked.answer.status != "no_se")
    if asked.result.repositories and not no_history and asks_reason(asked.result.query):
        common.note("note: over several repositories no commit is looked at for the reason; ask in one of them")
    if strict and asked.answer.status == "passages":
        common.note("note: --strict asks for an answer, and there is none")
    return _exit_code(asked, strict)


class _Stream:
    """Prints statements as they come."""

    def __init__(self, live: bool) -> None:
        self._live = live
        self._begun = False

    def say(self, said: Statement) -> None:
        if self._live:
            separator = said.separator if self._begun else ""
            click.echo(separator + render.clean_lines(render.statement(said)), nl=False)
            sys.stdout.flush()
            self._begun = True

    def end(self) -> None:
        if self._begun:
            click.echo()


def _print(asked: AskResult, sources: str, limit: int | None, verbose: bool, links: Pages | None) -> None:
    """What follows the streamed statements."""
    status = asked.answer.status
    if status == "no_se":
        click.echo(render.no_se(asked))
    if status in ("answered", "unverified"):
        if sources:
            click.echo("\n" + sources)
        for one in asked.answer.rejected if verbose else ():
            common.note(f"rejected: {one.text}: {one.reason}")
        return
    if status == "passages" and asked.overview is not None:
        from itza_git import render_overview

        click.echo(render_overview.overview(asked.overview, common.style(), verbose, links))
    elif asked.result.hits:
        if status == "no_se":
            click.echo("\nnearest passages:\n")
        most = limit or _most_shown(asked.result)
        if asked.answer.no_se_by == "retrieval":
            most = min(most, SHOWN_NEAREST)
        click.echo(render.hits(render.first(asked.result, most), common.style(), verbose, links))
    common.print_commits(asked.result, verbose, links)


def _most_shown(result: SearchResult) -> int:
    """How many passages are shown: of several repositories that are asked what they are at least one each."""
    from itza_git.search.whole import asks_whole

    return max(SHOWN_PASSAGES, len(result.repositories) if asks_whole(result.query) else 0)


def _commits(asked: AskResult) -> tuple[CommitHit, ...]:
    return asked.result.past.commits if asked.result.past else ()


def _exit_code(asked: AskResult, strict: bool) -> int:
    if asked.answer.status == "no_se" or not (asked.result.hits or _commits(asked)):
        return common.NOTHING_FOUND
    if strict and not asked.answer.fully_verified:
        return NOT_VERIFIED
    return 0
