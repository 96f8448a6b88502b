"""Speaking to `git itza mcp` as a process of its own: with the official client, or line by line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from tests.command import environment

# Long enough for a busy machine; a server that hangs fails the test instead of stopping the suite.
LONGEST_SECONDS = 120.0
OLD = "2024-11-05"

Script = Callable[[Client], Awaitable[None]]


def speak(
    folder: Path, script: Script, mode: str = "legacy", roots: list[Path] | None = None, **variables: str
) -> None:
    """Run a script with the official client on a server that was started in a folder.

    mode is the client's: `legacy` shakes hands, `auto` takes the newest protocol. roots are what it says when asked; a
    script may change the list.
    """

    async def listed(context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in roots or []])  # type: ignore[arg-type]

    async def run() -> None:
        parameters = StdioServerParameters(
            command="git-itza",
            args=["mcp"],
            cwd=folder,
            env=environment(PYTHONWARNINGS="error::UserWarning", **variables),
        )
        asked = None if roots is None else listed
        with anyio.fail_after(LONGEST_SECONDS):
            async with Client(stdio_client(parameters), mode=mode, list_roots_callback=asked) as client:
                await script(client)

    anyio.run(run)


async def said(client: Client, tool: str, **arguments: object) -> str:
    """The text that a tool answers with; fails on an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return text_of(result)


async def said_at_last(client: Client, tool: str, **arguments: object) -> str:
    """The text that a tool answers with when nothing is indexed behind it any more."""
    while "indexing goes on" in (text := await said(client, tool, **arguments)):
        await anyio.sleep(0.05)
    return text


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """The text of a tool's error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """The one text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


class Wire:
    """The two pipes of a server. lines are what it wrote so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._number = 0

    def send(self, message: str) -> None:
        """Write a line."""
        assert self.process.stdin
        self.process.stdin.write(message + "\n")
        self.process.stdin.flush()

    def notify(self, method: str) -> None:
        """Send a notification."""
        self.send(json.dumps({"jsonrpc": "2.0", "method": method}))

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The response to a request, error or not."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        self.send(json.dumps(request))
        assert self.process.stdout
        while line := self.process.stdout.readline():
            self.lines.append(line)
            answer = json.loads(line)
            if answer.get("id") == self._number and "method" not in answer:
                assert isinstance(answer, dict)
                return answer
        raise AssertionError(f"no answer to {method}")

    def shake_hands(self, version: str = OLD) -> dict[str, Any]:
        """Initialize as an old client does; the result."""
        found = self.ask(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.notify("notifications/initialized")
        result = found["result"]
        assert isinstance(result, dict)
        return result


@contextmanager
def wired(folder: Path, status: int = 0, **variables: str) -> Iterator[Wire]:
    """A server in a folder, spoken to line by line; it has to end with a status when the client leaves."""
    process = subprocess.Popen(
        ["git-itza", "mcp"],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    wire = Wire(process)
    try:
        yield wire
        out, err = process.communicate(timeout=LONGEST_SECONDS)
        wire.lines += out.splitlines(keepends=True)
        assert process.returncode == status, err
        assert "Traceback" not in err, err
    finally:
        process.kill()
        process.wait()
