"""What of the hooks is there, and whether git would run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from itza_git.git import Repository
from itza_git.hooks import configuration, files, scripts
from itza_git.hooks.interpreter import problem_of
from itza_git.hooks.place import CONFIG_HOOKS, Place, git_version, place_of
from itza_git.hooks.record import Record
from itza_git.hooks.scripts import EVENTS

State = Literal["live", "not installed", "dead", "replaced", "not executable", "hidden", "off"]
Mechanism = Literal["files", "config", "both", "none"]
Problem = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class EventState:
    """The hook of one event. detail says in one line what is wrong, path is the hook file where there is one.

    dead: git runs it, and it cannot start the worker. replaced: another program wrote the file since. hidden:
    core.hooksPath makes git look elsewhere. off: the configuration switches it off.
    """

    event: str
    state: State
    detail: str = ""
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class HooksState:
    """The hooks of a repository. refusal says why none can be installed, "" when they can."""

    mechanism: Mechanism
    events: tuple[EventState, ...]
    refusal: str = ""
    hint: str = ""

    @property
    def live(self) -> bool:
        """Whether each event starts the worker."""
        return all(one.state == "live" for one in self.events)

    @property
    def installed(self) -> bool:
        """Whether anything of ours is there, live or not."""
        return any(one.state != "not installed" for one in self.events)


def state_of(repository: Repository, *, version: tuple[int, int] | None = None) -> HooksState:
    """The hooks as git, of this version, sees them."""
    version = version or git_version(repository)
    problem = cache(problem_of)  # the events are pinned to one interpreter, and asking starts it
    place = place_of(repository)
    configured = configuration.commands(repository)
    in_files = tuple(_file_state(place, event, bool(Record(repository.common_dir)), problem) for event in EVENTS)
    found = any(one.state in ("live", "dead", "not executable") for one in in_files)
    if configured:
        events = tuple(_config_state(repository, event, configured.get(event), version, problem) for event in EVENTS)
        if version < CONFIG_HOOKS and found:  # left behind by a newer git; this one looks at the files alone
            return HooksState("both", in_files)
        return HooksState("both" if found else "config", events)
    usable = version >= CONFIG_HOOKS or not place.refusal
    refused = ("", "") if usable else (place.refusal, place.hint)
    installed = any(one.state != "not installed" for one in in_files)
    return HooksState("files" if installed else "none", in_files, *refused)


def _config_state(
    repository: Repository, event: str, command: str | None, version: tuple[int, int], problem_of: Problem
) -> EventState:
    if command is None:
        return EventState(event, "not installed")
    if version < CONFIG_HOOKS:
        needed, has = (".".join(map(str, numbers)) for numbers in (CONFIG_HOOKS, version))
        return EventState(event, "dead", f"hooks in the configuration need git {needed}, this is {has}")
    if configuration.is_switched_off(repository, event):
        return EventState(event, "off", "switched off by hook.*.enabled")
    problem = problem_of(scripts.pin_of(command.encode("utf-8", "surrogateescape")))
    return EventState(event, "dead" if problem else "live", problem)


def _file_state(place: Place, event: str, was_installed: bool, problem_of: Problem) -> EventState:
    if place.folder is not None:
        hook = files.holder(place.folder, event)
        if hook.ours is not None:
            return _block_state(hook, hook.ours, problem_of)
    hidden = files.holder(place.default, event)
    if hidden.ours is not None and place.folder != place.default:
        return EventState(
            event, "hidden", f"core.hooksPath makes git look in {place.folder or 'no folder'}", hidden.path
        )
    if place.folder is not None and was_installed:
        hook = files.read(place.folder / event, event)
        if hook.content is not None:
            return EventState(event, "replaced", "another program wrote this hook since", hook.path)
    return EventState(event, "not installed")


def _block_state(hook: files.HookFile, ours: bytes, problem_of: Problem) -> EventState:
    if not hook.is_executable:
        return EventState(hook.event, "not executable", "git runs no hook that is not executable", hook.path)
    if b"\r\n" in ours:
        return EventState(hook.event, "dead", "the lines of the hook end in CRLF", hook.path)
    problem = problem_of(scripts.pin_of(ours))
    return EventState(hook.event, "dead" if problem else "live", problem, hook.path)
