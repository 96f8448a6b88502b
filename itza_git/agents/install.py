"""Our entry in a client's configuration file: added, brought up to date, taken out; nothing else in it changes."""

from __future__ import annotations

import codecs
import difflib
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from itza_git import files
from itza_git.agents import instructions, jsonc, toml
from itza_git.agents.clients import NAME, Client
from itza_git.errors import UsageError

BOM = codecs.BOM_UTF8.decode()
# Larger than any configuration is.
LARGEST = 32_000_000
# What starts us: our own program, by whatever path, or git with our name behind it.
PROGRAM = "git-itza"

Found = TypeVar("Found")


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
    """The edit that brings our entry into the client's file.

    Raises `UsageError` for a file that it cannot read, and for somebody else's entry of our name.
    """
    before = _read(path)
    if _is_foreign(client, path, before or ""):
        hint = f"rename that entry: the servers in {path} are told apart by their names"
        raise UsageError(f"{path} has an entry `{NAME}` that is not ours", hint)
    return Edit(path, before, _tried(path, before or "", lambda text: _put(client, text, command)))


def uninstalled(client: Client, path: Path, commands: Sequence[str]) -> Edit:
    """The edit that takes our entry out; a file that holds just what installing one of the commands made is deleted.

    What a link leads to is not deleted, for it was there before or the link waited for it. Somebody else's entry stays.
    """
    before = _read(path)
    if before is None or _is_foreign(client, path, before):
        return Edit(path, before, before)
    if not path.is_symlink() and before in [_put(client, "", command) for command in commands]:
        return Edit(path, before, None)
    return Edit(path, before, _tried(path, before, lambda text: _remove(client, text)))


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


def _is_foreign(client: Client, path: Path, text: str) -> bool:
    """Whether there is an entry of our name that does not start us."""

    def entry(text: str) -> Any:  # noqa: ANN401 - any JSON or TOML value
        text = text.removeprefix(BOM)
        if client.is_toml:
            return toml.at(text, (*client.table, NAME))
        return jsonc.at(text, _path(client, text)) if text.strip() else None

    found = _tried(path, text, entry)
    return found is not None and not _starts_us(found)


def _starts_us(entry: Any) -> bool:  # noqa: ANN401 - any JSON or TOML value
    words: list[Any] = []
    for key in ("command", "args"):
        value = entry.get(key) if isinstance(entry, dict) else None
        words += value if isinstance(value, list) else [value]
    names = [re.split(r"[/\\]", word)[-1].removesuffix(".exe") for word in words if isinstance(word, str)]
    return PROGRAM in names or names[:2] == ["git", NAME]


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


def _tried(path: Path, text: str, read: Callable[[str], Found]) -> Found:
    """What read makes of a file's text. Raises `UsageError` for one that it cannot understand."""
    try:
        return read(text)
    except RecursionError as e:
        raise UsageError(f"cannot edit {path}: it is nested too deeply", "edit it by hand") from e
    except ValueError as e:
        raise UsageError(f"cannot edit {path}: {e}", "repair it, or edit it by hand") from e


def _read(path: Path) -> str | None:
    """A file's text; None where there is none. Raises `UsageError`, for a pipe or a device too."""
    try:
        if not S_ISREG(path.stat().st_mode):
            raise UsageError(f"cannot read {path}: it is no regular file", f"ls -l {path}")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise UsageError(f"cannot read {path}: {e.strerror}", f"ls -l {path}") from e
    if len(data) > LARGEST:
        raise UsageError(f"cannot read {path}: it is larger than {LARGEST // 1_000_000} MB", "edit it by hand")
    return data.decode("utf-8", "surrogateescape")
