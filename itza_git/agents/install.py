"""Our entry in a client's configuration file: added, brought up to date, taken out; nothing else in it changes."""

from __future__ import annotations

import codecs
import difflib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itza_git import files
from itza_git.agents import instructions, jsonc, toml
from itza_git.agents.clients import NAME, Client
from itza_git.errors import UsageError

BOM = codecs.BOM_UTF8.decode()


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to become of a file: its text before and after, each None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = ((side or "").splitlines() for side in (self.before, self.after))
        here, there = (str(self.path) if side is not None else os.devnull for side in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, here, there, lineterm=""))

    def apply(self) -> None:
        """Write the file, or delete it. Raises `UsageError`."""
        if not self.changes:
            return
        try:
            if self.after is None:
                self.path.unlink()
                with suppress(OSError):  # the folder goes too, when nothing else is in it
                    self.path.parent.rmdir()
            else:
                self.path.resolve().parent.mkdir(parents=True, exist_ok=True)
                files.replace(self.path, self.after.encode("utf-8", "surrogateescape"))
        except OSError as e:
            raise UsageError(f"cannot write {self.path}: {e.strerror}", f"ls -l {self.path.parent}") from e


def file_of(client: Client, top: Path | None) -> Path:
    """The client's file in a project, or the user's without one. opencode's may have comments by its name too."""
    path = client.user() if top is None else top / client.project
    commented = path.with_suffix(".jsonc")
    return commented if client.name == "opencode" and not path.exists() and commented.exists() else path


def installed(client: Client, path: Path, command: str) -> Edit:
    """The edit that brings our entry into the client's file. Raises `UsageError` for a file that it cannot read."""
    before = _read(path)
    return Edit(path, before, _edited(path, before or "", lambda text: _put(client, text, command)))


def uninstalled(client: Client, path: Path, commands: Sequence[str]) -> Edit:
    """The edit that takes our entry out; a file that holds just what installing one of the commands made is deleted."""
    before = _read(path)
    if before is None:
        return Edit(path, None, None)
    if before in [_put(client, "", command) for command in commands]:
        return Edit(path, before, None)
    return Edit(path, before, _edited(path, before, lambda text: _remove(client, text)))


def with_instructions(top: Path) -> Edit:
    """The edit that brings our paragraph into `AGENTS.md`."""
    path = top / instructions.FILE
    before = _read(path)
    return Edit(path, before, instructions.added(before or ""))


def without_instructions(top: Path) -> Edit:
    """The edit that takes our paragraph out."""
    path = top / instructions.FILE
    before = _read(path)
    after = None if before is None else instructions.removed(before)
    return Edit(path, before, None if before == instructions.BLOCK else after)


def _put(client: Client, text: str, command: str) -> str:
    if client.is_toml:
        return toml.put(text, (*client.table, NAME), client.entry(command))
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    if not text.strip():
        text = json.dumps(dict(client.skeleton), indent=2) + "\n"
    path = _path(client, text)
    if not isinstance(jsonc.at(text, path), dict):
        return bom + jsonc.put(text, path, client.entry(command))
    # What a user has added to our entry stays.
    for key, value in client.entry(command).items():
        text = jsonc.put(text, (*path, key), value)
    return bom + text


def _remove(client: Client, text: str) -> str:
    if client.is_toml:
        return toml.remove(text, (*client.table, NAME))
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    return bom + (jsonc.remove(text, _path(client, text)) if text.strip() else text)


def _path(client: Client, text: str) -> tuple[str, ...]:
    """Where our entry is. opencode 2 keeps its servers one level deeper, and reads the older form too."""
    found = jsonc.parse(text).value
    servers: Any = found.get(client.table[0]) if isinstance(found, dict) else None
    inner = servers.get("servers") if client.name == "opencode" and isinstance(servers, dict) else None
    if isinstance(inner, dict) and "type" not in inner and "command" not in inner:
        return (*client.table, "servers", NAME)
    return (*client.table, NAME)


def _edited(path: Path, text: str, edit: Callable[[str], str]) -> str:
    try:
        return edit(text)
    except RecursionError as e:
        raise UsageError(f"cannot edit {path}: it is nested too deeply", "edit it by hand") from e
    except ValueError as e:
        raise UsageError(f"cannot edit {path}: {e}", "repair it, or edit it by hand") from e


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise UsageError(f"cannot read {path}: {e.strerror}", f"ls -l {path}") from e
