"""The clients that can be set up: which file each reads, and what an entry looks like there, as each documents it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "itza"
ARGUMENTS = ["mcp"]


@dataclass(frozen=True, slots=True)
class Client:
    """A client. project is its file in a project, user the file for all projects; entry makes our entry of a command.

    table is the path of keys to the servers. skeleton is what a new file holds besides.
    """

    name: str
    title: str
    project: str
    user: Callable[[], Path]
    table: tuple[str, ...]
    entry: Callable[[str], dict[str, Any]]
    skeleton: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_toml(self) -> bool:
        """Whether its file is TOML; the others are JSON, with comments."""
        return self.project.endswith(".toml")


def _plain(command: str) -> dict[str, Any]:
    return {"command": command, "args": ARGUMENTS}


def _typed(command: str) -> dict[str, Any]:
    return {"type": "stdio"} | _plain(command)


def _list(command: str) -> dict[str, Any]:
    return {"type": "local", "command": [command, *ARGUMENTS]}


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _vscode() -> Path:
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = _config_home()
    return base / "Code" / "User" / "mcp.json"


def _opencode() -> Path:
    return _config_home() / "opencode" / "opencode.json"


CLIENTS = {
    client.name: client
    for client in (
        Client("claude", "Claude Code", ".mcp.json", _home(".claude.json"), ("mcpServers",), _typed),
        Client("codex", "Codex", ".codex/config.toml", _codex, ("mcp_servers",), _plain),
        Client("cursor", "Cursor", ".cursor/mcp.json", _home(".cursor", "mcp.json"), ("mcpServers",), _typed),
        Client("vscode", "VS Code", ".vscode/mcp.json", _vscode, ("servers",), _typed),
        Client(
            "opencode",
            "opencode",
            "opencode.json",
            _opencode,
            ("mcp",),
            _list,
            {"$schema": "https://opencode.ai/config.json"},
        ),
        Client(
            "gemini", "Gemini CLI", ".gemini/settings.json", _home(".gemini", "settings.json"), ("mcpServers",), _plain
        ),
    )
}
