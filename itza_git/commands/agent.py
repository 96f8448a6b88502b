"""`git itza agent install`, `uninstall`, `instructions`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from itza_git.agents import install as installing
from itza_git.agents.clients import CLIENTS
from itza_git.agents.install import Edit
from itza_git.agents.instructions import FILE, PARAGRAPH
from itza_git.commands.mcp import HOW, has_sdk
from itza_git.errors import UsageError
from itza_git.render import clean, clean_lines

COMMAND = "git-itza"

client_option = click.option("--client", type=click.Choice(list(CLIENTS)), help="Whose configuration.")
global_option = click.option("--global", "for_user", is_flag=True, help="Your own configuration, not the project's.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the change, write nothing.")


@click.group()
def agent() -> None:
    """Set up an agent or editor to use git itza over the Model Context Protocol."""


@agent.command()
@client_option
@global_option
@click.option("--instructions", is_flag=True, help=f"Add a paragraph to the project's {FILE}.")
@dry_run_option
def install(client: str | None, for_user: bool, instructions: bool, dry_run: bool) -> int:
    """Add git itza to a client's configuration file; nothing else in it changes.

    The file is the project's unless --global is given.
    """
    edits = []
    if client:
        command = _own_command() if for_user else COMMAND
        path = installing.file_of(CLIENTS[client], _top(for_user))
        edits.append(installing.installed(CLIENTS[client], path, command))
    if instructions:
        edits.append(installing.with_instructions(_project()))
    done = _carried_out(edits, dry_run)
    if client and not has_sdk():
        click.echo(f"note: the client's server needs a package that is not installed: {HOW}", err=True)
    if client and not for_user and not shutil.which(COMMAND):
        click.echo(f"note: {COMMAND} is not on your PATH, where the client looks for it", err=True)
    return done


@agent.command()
@client_option
@global_option
@click.option("--instructions", is_flag=True, help=f"Take the paragraph out of the project's {FILE}.")
@dry_run_option
def uninstall(client: str | None, for_user: bool, instructions: bool, dry_run: bool) -> int:
    """Take git itza out of a client's configuration file; a file that only install made is deleted."""
    edits = []
    if client:
        path = installing.file_of(CLIENTS[client], _top(for_user))
        edits.append(installing.uninstalled(CLIENTS[client], path, (COMMAND, _own_command())))
    if instructions:
        edits.append(installing.without_instructions(_project()))
    return _carried_out(edits, dry_run)


@agent.command()
def instructions() -> int:
    """Print what an agent should know, a paragraph for AGENTS.md."""
    click.echo(PARAGRAPH)
    return 0


def _carried_out(edits: list[Edit], dry_run: bool) -> int:
    if not edits:
        raise UsageError("nothing to do", f"--client {'|'.join(CLIENTS)}, or --instructions")
    for edit in edits:
        if dry_run:
            if edit.changes:
                click.echo(clean_lines(edit.diff()))
            continue
        edit.apply()
        what = "deleted" if edit.after is None else "created" if edit.before is None else "changed"
        click.echo(f"{what if edit.changes else 'unchanged'}  {clean(os.fspath(edit.path))}")
    return 0


def _top(for_user: bool) -> Path | None:
    return None if for_user else _project()


def _project() -> Path:
    """The top of the working tree here. Raises `UsageError` without one."""
    # Only here: a user's own file needs no repository.
    from itza_git.git import open_repository

    top = open_repository().worktree
    if top is None:
        raise UsageError("a bare repository has no project files", "--global")
    return top


def _own_command() -> str:
    """What starts git itza from anywhere: its name where that is on the PATH, else its place."""
    if shutil.which(COMMAND):
        return COMMAND
    return os.fspath(Path(sys.executable).with_name(COMMAND + (".exe" if sys.platform == "win32" else "")))
