"""`git itza repos`: list, `add`, `remove`, `index`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from itza_git import registry, render, render_json
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import ItzaError, NotARepository, UsageError, shortened
from itza_git.paths import place
from itza_git.registry import Entry
from itza_git.results import BranchStatus, IndexReport

SOME_FAILED = 2


@click.group(invoke_without_command=True)
@common.json_option
@click.pass_context
def repos(context: click.Context, as_json: bool) -> int:
    """Search along other repositories: `git itza ask --all-repos`. Without a command, list them.

    Only their paths are kept, as `itza.repo` in your own git configuration; each keeps its own index.
    """
    return _list(as_json) if context.invoked_subcommand is None else 0


@repos.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
def add(paths: tuple[str, ...]) -> int:
    """Register the repositories that these folders lie in."""
    known = {entry.path for entry in registry.entries()}

    def added(path: str) -> str:
        if not path:  # an unset variable of a script, which pathlib takes for the current folder
            raise UsageError("the path of a repository is empty", "git itza repos add PATH")
        entry = registry.add(Path(path))
        done = "already there:" if entry.path in known else "added"
        known.add(entry.path)
        return _line(done, entry)

    return _each(paths, added)


@repos.command()
@click.argument("which", nargs=-1, required=True, metavar="NAME...")
def remove(which: tuple[str, ...]) -> int:
    """Forget repositories, by name or path. Their indexes stay where they are."""
    return _each(which, lambda name: _line("removed", registry.remove(name)))


@repos.command(name="list")
@common.json_option
def list_(as_json: bool) -> int:
    """List the repositories: name, path, commit and coverage of HEAD."""
    return _list(as_json)


@repos.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@common.json_option
def index(names: tuple[str, ...], as_json: bool) -> int:
    """Index the HEADs of all registered repositories, or of those named.

    What fails is told, and the others are indexed; what is done stays done when it is interrupted.
    """
    known = registry.entries()
    entries = [registry.find(name, known) for name in names] if names else list(known)
    if not entries:
        _nothing()
    reports = []
    for number, entry in enumerate(entries, 1):
        report = _index(entry, f"{entry.name} ({number}/{len(entries)})")
        if not as_json and isinstance(report, IndexReport):
            click.echo(f"{render.clean(entry.name)}: {render.report(report, common.style())}")
        reports.append((entry, report))
    if as_json:
        common.print_json({"schema": render_json.SCHEMA, "repositories": [_report_json(*one) for one in reports]})
    return SOME_FAILED if any(isinstance(report, ItzaError) for _, report in reports) else 0


def _index(entry: Entry, what: str) -> IndexReport | ItzaError:
    try:
        with Itza.open(registry.there(entry)) as itza, common.watch(what=what) as watch:
            return itza.refresh(watch=watch)
    except ItzaError as e:
        error = _from_here(entry, e)
        _tell_failure(entry.name, error)
        return error


def _each(given: Sequence[str], act: Any) -> int:  # noqa: ANN401 - what a command does with one argument
    """Do the same with each; one that fails is told, and the others are done."""
    failed = False
    for one in given:
        try:
            click.echo(act(one))
        except ItzaError as e:
            _tell_failure(one, e)
            failed = True
    return SOME_FAILED if failed else 0


def _tell_failure(what: str, error: ItzaError) -> None:
    said = str(error)
    common.note(f"error: {said if what in said else f'{shortened(what)}: {said}'}")
    if error.hint:
        common.note(f"hint: {error.hint}")


def _line(done: str, entry: Entry) -> str:
    return render.clean(f"{done} {entry.name}  {entry.path}")


def _list(as_json: bool) -> int:
    entries = registry.entries()
    states = [(entry, _state(entry)) for entry in entries]
    if as_json:
        common.print_json({"schema": render_json.SCHEMA, "repositories": [_state_json(*one) for one in states]})
        return 0
    if not entries:
        _nothing()
    rows = [(render.clean(entry.name), _told(entry, state), entry, state) for entry, state in states]
    widths = [
        max((render.columns(name) for name, *_ in rows), default=0),
        max((len(row[1]) for row in rows), default=0),
    ]
    for name, told, entry, state in rows:
        padding = " " * (widths[0] - render.columns(name))
        click.echo(f"{name}{padding}  {told:<{widths[1]}}  {render.clean(str(entry.path))}")
        if isinstance(state, ItzaError):
            _tell_failure(entry.name, state)
    return 0


def _nothing() -> None:
    common.note("no repository is registered")
    common.note("hint: git itza repos add PATH...")


def _state(entry: Entry) -> BranchStatus | ItzaError | None:
    try:
        with Itza.open(registry.there(entry)) as itza:
            return itza.status().head
    except ItzaError as e:
        return _from_here(entry, e)


def _from_here(entry: Entry, error: ItzaError) -> ItzaError:
    """The error, with what helps here when the folder is no repository any more."""
    return NotARepository(str(error), registry.forget_hint(entry)) if isinstance(error, NotARepository) else error


def _told(entry: Entry, head: BranchStatus | ItzaError | None) -> str:
    if isinstance(head, ItzaError):
        return "cannot be read" if entry.path.exists() else "gone"
    if head is None:
        return "no commit yet"
    return f"{head.commit[:12]}  {head.coverage.indexed}/{head.coverage.total} files"


def _state_json(entry: Entry, state: BranchStatus | ItzaError | None) -> dict[str, Any]:
    head = state if isinstance(state, BranchStatus) else None
    return {
        "name": entry.name,
        "path": place(str(entry.path)),
        "commit": head.commit if head else None,
        "coverage": render_json.coverage_json(head.coverage) if head else None,
        "error": str(state) if isinstance(state, ItzaError) else None,
    }


def _report_json(entry: Entry, report: IndexReport | ItzaError) -> dict[str, Any]:
    named = {"name": entry.name, "path": place(str(entry.path))}
    if isinstance(report, ItzaError):
        return named | {"error": str(report)}
    return named | {"error": None} | render_json.report_json(report)
