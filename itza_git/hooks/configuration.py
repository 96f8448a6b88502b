"""Hooks in git's configuration, for git >= 2.54: `hook.itza-EVENT.command` and `.event` of the repository itself."""

from __future__ import annotations

import os

from itza_git.errors import GitError
from itza_git.git import Repository
from itza_git.hooks import scripts
from itza_git.hooks.place import command_line
from itza_git.hooks.scripts import EVENTS

PREFIX = "itza-"


def commands(repository: Repository) -> dict[str, str]:
    """The commands that are configured, by event."""
    return {event: value for event in EVENTS if (value := _get(repository, f"hook.{PREFIX}{event}.command"))}


def is_switched_off(repository: Repository, event: str) -> bool:
    """Whether the user switched our hook, or all hooks of the event, off."""
    git = command_line(repository)
    return any(
        git.run("config", "--type=bool", "--get", f"hook.{name}.enabled").stdout == b"false\n"
        for name in (PREFIX + event, event)
    )


def put_in(repository: Repository, python: str) -> None:
    """Configure a hook for each event, in the configuration that all worktrees share."""
    for event in EVENTS:
        name = f"hook.{PREFIX}{event}"
        _run(repository, "--replace-all", f"{name}.command", scripts.command(event, python))
        _run(repository, "--replace-all", f"{name}.event", event)


def take_out(repository: Repository) -> list[str]:
    """Remove our hooks from the configuration; the events that had one."""
    found = []
    for event in EVENTS:
        section = f"hook.{PREFIX}{event}"
        if _local(repository, f"^{section.replace('.', '[.]')}[.]"):
            _run(repository, "--remove-section", section)
            found.append(event)
    return found


def _local(repository: Repository, pattern: str) -> bool:
    git = command_line(repository)
    return git.run("config", "--local", "--name-only", "--get-regexp", pattern).returncode == 0


def _get(repository: Repository, key: str) -> str:
    done = command_line(repository).run("config", "--local", "-z", "--get", key)
    return os.fsdecode(done.stdout).removesuffix("\0")


def _run(repository: Repository, *args: str) -> None:
    done = command_line(repository).run("config", "--local", *map(os.fsencode, args))
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git's configuration cannot be written: {said}", "git config --local --list --show-origin")
