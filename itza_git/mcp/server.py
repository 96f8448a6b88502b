"""The server: the only module that knows the SDK. It speaks on standard input and output, and nothing else does.

While it serves, the SDK keeps the protocol's descriptors to itself: descriptor 1 is standard error, so that a stray
print or a child process cannot get between the messages.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse
from urllib.request import url2pathname

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from itza_git import __version__
from itza_git.errors import ItzaError
from itza_git.mcp.arguments import checked, schema_of
from itza_git.mcp.asking import stop_asking
from itza_git.mcp.indexing import Indexing
from itza_git.mcp.places import Places
from itza_git.mcp.tool import Tool
from itza_git.mcp.tools import TOOLS
from itza_git.mcp.warming import warm

INSTRUCTIONS = (
    "Questions about how a git repository works: search_codebase first, read_citation for more of a hit. Cite "
    "path:first-last@commit as printed. For exact names and strings git grep is better."
)
# A client that declares roots but does not answer must not hold a call up.
ROOTS_SECONDS = 3.0
# Seconds between progress notifications.
TELLING_SECONDS = 0.2

Context = ServerRequestContext[anyio.abc.TaskGroup, Any]


class Front:
    """What the client asks, answered by the tools. One client, for one process serves one."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._roots: tuple[Path, ...] | None = None
        self._warmed = False

    def server(self) -> Server[anyio.abc.TaskGroup]:
        """The SDK's server with our handlers."""
        server = Server(
            "git-itza",
            version=__version__,
            title="git itza",
            instructions=INSTRUCTIONS,
            lifespan=_lifespan,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # Not by the argument of that name, which warns: later protocols have no such notification, most clients do.
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._roots_have_changed
        )
        return server

    async def _list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if not self._warmed:
            self._warmed = True
            context.lifespan_context.start_soon(self._warm, context)
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def _warm(self, context: Context) -> None:
        """Make the first call quick. A client that is asked for its roots only within calls is not asked here."""
        if _has_roots(context) and not context.session.can_send_request:
            return
        with suppress(Exception):  # the call that needs it will say what is wrong
            roots = await self._asked_roots(context)
            await anyio.to_thread.run_sync(warm, self._places, roots, abandon_on_cancel=True)

    async def _roots_have_changed(self, context: Context, params: types.NotificationParams) -> None:
        self._roots = None

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}", {"known": list(TOOLS)})
        if _has_roots(context) and not context.session.can_send_request:
            # The newer protocol: the server does not ask, the client calls again with what is wanted.
            given = (params.input_responses or {}).get("roots")
            if given is None:
                return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})
            roots = _folders(given) if isinstance(given, types.ListRootsResult) else ()
        else:
            roots = await self._asked_roots(context)
        call = _Call(context, roots)
        work = partial(_answer, tool, call, self._places, params.arguments or {})
        text, failed = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)

    async def _asked_roots(self, context: Context) -> tuple[Path, ...]:
        """The client's folders, asked once until it says that they changed."""
        if self._roots is None and _has_roots(context):
            asked: types.ListRootsResult | None = None
            with suppress(MCPError), anyio.move_on_after(ROOTS_SECONDS):
                asked = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            self._roots = _folders(asked) if asked else ()
        return self._roots or ()


class _Call:
    """A call as the tools see it, from the thread that they run in."""

    def __init__(self, context: Context, roots: Sequence[Path]) -> None:
        self.roots = roots
        self._context = context
        self._told_at = 0.0
        self._told = -1
        self._what = ""
        self._before = 0

    def tell(self, done: int, total: int, what: str) -> None:
        """Send a progress notification, if the client wants any; raises when the client has cancelled.

        Progress only ever grows, as the protocol wants it: what comes next is counted on top of what was before.
        """
        anyio.from_thread.check_cancelled()
        if what != self._what:
            self._what, self._before = what, self._told + 1
        now, done = time.monotonic(), self._before + done
        if done > self._told and now - self._told_at > TELLING_SECONDS:
            self._told_at, self._told = now, done
            anyio.from_thread.run(self._report, done, self._before + total if total else None, what)

    async def _report(self, done: int, total: int | None, what: str) -> None:
        await self._context.session.report_progress(done, total, what)


def _answer(tool: Tool, call: _Call, places: Places, given: dict[str, Any]) -> tuple[str, bool]:
    """The text of an answer, and whether it is an error."""
    try:
        return tool.answer(call, places, **checked(tool.parameters, given)), False
    except ItzaError as e:
        return f"error: {e}" + (f"\nhint: {e.hint}" if e.hint else ""), True
    except Exception as e:  # noqa: BLE001 - the top handler of a call: the server lives on
        print(traceback.format_exc(), file=sys.stderr)  # noqa: T201 - where a client keeps a server's log
        return f"error: git-itza has a fault: {e!r}", True


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.told,
        input_schema=schema_of(tool.parameters),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _has_roots(context: Context) -> bool:
    return context.session.check_client_capability(types.ClientCapabilities(roots=types.RootsCapability()))


def _folders(listed: types.ListRootsResult) -> tuple[Path, ...]:
    """The local folders of a client's roots."""
    parsed = [urlparse(str(root.uri)) for root in listed.roots]
    return tuple(Path(url2pathname(one.path)) for one in parsed if one.scheme == "file")


@asynccontextmanager
async def _lifespan(server: Server[Any]) -> AsyncIterator[anyio.abc.TaskGroup]:
    async with anyio.create_task_group() as group:
        yield group
        group.cancel_scope.cancel()


async def _serve(here: Path) -> None:
    server = Front(Places(here)).server()
    async with stdio_server() as (incoming, outgoing):
        # What is printed would otherwise wait in the buffer until the descriptor is given back.
        with redirect_stdout(sys.stderr):
            understood, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
            async with anyio.create_task_group() as group:
                group.start_soon(_refuse_others, incoming, understood, outgoing)
                await server.run(messages, outgoing, server.create_initialization_options())
                group.cancel_scope.cancel()


async def _refuse_others(
    incoming: ObjectReceiveStream[SessionMessage | Exception],
    understood: ObjectSendStream[SessionMessage | Exception],
    outgoing: ObjectSendStream[SessionMessage],
) -> None:
    """Pass on what is a message, and answer what is not: the SDK drops it, and who sent it would wait for ever."""
    refusal = types.JSONRPCError(
        jsonrpc="2.0", id=None, error=types.ErrorData(code=types.PARSE_ERROR, message="not a JSON-RPC message")
    )
    async with understood:
        async for item in incoming:
            if isinstance(item, Exception):
                await outgoing.send(SessionMessage(refusal))
            else:
                await understood.send(item)


def run(here: Path) -> None:
    """Serve one client until it closes its end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped)
    anyio.run(_serve, here)
    if any(isinstance(thread, Indexing) for thread in threading.enumerate()):
        # It is in the middle of a pack, in native code: ending the interpreter around it can crash.
        os._exit(0)


def _stopped(number: int, frame: object) -> NoReturn:
    """End at once: a thread waits for standard input, and would go on doing so. The store keeps every finished pack."""
    stop_asking()
    os._exit(128 + number)
