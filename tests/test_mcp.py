"""The MCP server as a real process, driven by the official client over standard input and output."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client.client import Client

from itza_git import Itza
from itza_git.commands import mcp as command
from itza_git.store import lock
from tests.command import Run, environment
from tests.model_server import ANSWERING, Script, serving
from tests.repository import Repo
from tests.speaking import LONGEST_SECONDS, OLD, refused, said, said_at_last, speak, wired

TOOLS = {
    "search_codebase",
    "ask_codebase",
    "find_similar_patterns",
    "get_repo_overview",
    "list_indexed_repos",
    "read_citation",
    "verify_citations",
}
RETRY = """\
MAX_RETRIES = 4


def fetch_with_retry(url, timeout=30):
\tfor attempt in range(MAX_RETRIES):
\t\tresponse = http_get(url, timeout)
\t\tif response.ok:
\t\t\treturn response
\traise FetchError(url)
"""
POST = RETRY.replace("fetch_with_retry", "post_with_retry")


# Prints, itself and by a child, when the server starts to load and in the middle of a call.
NOISE = """\
import os, sys

class Noise:
    def find_spec(self, name, path=None, target=None):
        if name in ("itza_git.mcp.server", "itza_git.git.grep", "itza_git.search.retrieval"):
            print("stray")
            os.system("echo stray child")

sys.meta_path.insert(0, Noise())
"""


@pytest.fixture
def code(repo: Repo) -> Repo:
    """A repository with something to find."""
    repo.write("src/net.py", RETRY)
    repo.write("src/post.py", POST)
    repo.write("docs/cache.md", "# Cache\n\nThe cache keeps packs until they are collected.\n")
    repo.commit()
    return repo


def index(repo: Repo) -> None:
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_uses_every_tool(code: Repo, mode: str) -> None:
    index(code)
    head = code.git("rev-parse", "HEAD")

    async def script(client: Client) -> None:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == TOOLS
        found = await said(client, "search_codebase", query="how are retries limited?", path="src", limit=2)
        assert found.startswith(f"repo at {head[:10]} (HEAD)")
        citation = re.findall(r"^src/net\.py:[0-9-]+@[0-9a-f]+", found, re.MULTILINE)[0]
        assert head.startswith(citation.rpartition("@")[2])
        assert "\n5\t\tfor attempt in range(MAX_RETRIES):\n" in found
        assert "docs/cache.md" not in found
        assert "4\tdef fetch_with_retry" in await said(client, "read_citation", citation=citation)
        assert "1 same" in await said(client, "verify_citations", text=f"as {citation} says")
        alike = await said(client, "find_similar_patterns", where="src/net.py:5")
        assert re.search(r"^src/post\.py:\d-9@[0-9a-f]+  post_with_retry$", alike, re.MULTILINE)
        overview = await said(client, "get_repo_overview")
        assert overview.startswith(f"repo at {head[:10]} (HEAD): 3 files")
        assert "python" in overview
        repos = await said(client, "list_indexed_repos")
        assert repos.startswith(f"repo (here)  {code.path}  main {head[:10]}  indexed")
        asked = await said(client, "ask_codebase", question="how are retries limited?")
        assert "Ollama is not reachable" in asked
        assert "src/net.py:" in asked

    speak(code.path, script, mode)


def test_tools_describe_themselves_shortly_and_by_valid_schemas(code: Repo) -> None:
    index(code)

    async def script(client: Client) -> None:
        listed = (await client.list_tools()).tools
        for tool in listed:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert re.fullmatch(r"[a-z_]{1,64}", tool.name)
            assert tool.title and tool.annotations and tool.annotations.read_only_hint
            assert tool.description and len(tool.description) < 320
            for told in tool.input_schema["properties"].values():
                assert len(told["description"]) < 120
        # All that a small model reads before it has done anything.
        assert sum(len(tool.model_dump_json(exclude_none=True)) for tool in listed) < 7000

    speak(code.path, script)


def test_what_is_cut_is_said_and_the_budget_holds(code: Repo) -> None:
    long = "".join(f"    total = total + retry({n})\n" for n in range(300))
    for name in ("one", "two", "three"):
        code.write(f"src/{name}.py", f"def {name}_retry(total):\n{long}    return total\n")
    code.commit()
    index(code)

    async def script(client: Client) -> None:
        found = await said(client, "search_codebase", query="retry", limit=2, budget=1000)
        assert len(found) < 1300
        assert "(… is left out: read_citation shows it; more passages: raise limit)" in found
        narrow = await said(client, "search_codebase", query="retry", limit=20, budget=500)
        assert re.search(r"\d more passages did not fit: raise budget", narrow)
        assert len(narrow) < 900
        read = await said(client, "read_citation", citation="src/one.py:1-302", budget=500)
        assert len(read) < 600
        left = re.search(r"(\d+) more lines: raise budget", read)
        assert left
        assert f"\n{302 - int(left[1])}\t" in read
        whole = await said(client, "search_codebase", query="how are retries limited?", path="docs")
        assert "raise" not in whole

    speak(code.path, script)


def test_calls_in_parallel_do_not_disturb_each_other(code: Repo) -> None:
    index(code)

    async def script(client: Client) -> None:
        found: dict[int, str] = {}

        async def ask(number: int) -> None:
            query = "how are retries limited?" if number % 2 else "when is the cache collected?"
            found[number] = await said(client, "search_codebase", query=query)

        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(ask, number)
        for number, text in found.items():
            assert text == found[number % 2]
        assert found[0].split("\n")[2].startswith("docs/cache.md:")
        assert found[1].split("\n")[2].startswith("src/")

    speak(code.path, script)


def test_a_cold_index_is_answered_from_words_while_another_process_writes_it(code: Repo) -> None:
    root = code.path / ".git" / "itza"
    root.mkdir(mode=0o700)

    async def script(client: Client) -> None:
        with lock.writer(root, 0):
            found = await said(client, "search_codebase", query="how are retries limited?")
            assert re.search(r"^src/net\.py:\d+-\d+@[0-9a-f]+$", found, re.MULTILINE)
            assert "indexing goes on; found by the query's words alone" in found
            assert "docs/" not in await said(client, "search_codebase", query="retries", language="python")
            assert "not indexed yet" in await said(client, "list_indexed_repos")

        found = await said_at_last(client, "search_codebase", query="how are retries limited?")
        assert "fetch_with_retry" in found and "indexing" not in found

    speak(code.path, script)


def test_progress_grows_while_the_index_is_waited_for(code: Repo) -> None:
    root = code.path / ".git" / "itza"
    root.mkdir(mode=0o700)
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def script(client: Client) -> None:
        with lock.writer(root, 0):
            await client.call_tool("search_codebase", {"query": "retries"}, progress_callback=note)
        assert told == [(0, "indexing repo")]
        told.clear()
        await client.call_tool("ask_codebase", {"question": "how are retries limited?"}, progress_callback=note)
        assert "asking a model" in {message for _, message in told}
        assert all(earlier[0] < later[0] for earlier, later in itertools.pairwise(told))

    speak(code.path, script)


@pytest.mark.parametrize("indexed", [True, False])
def test_commit_messages_are_indexed_behind_the_calls(code: Repo, indexed: bool) -> None:
    if indexed:
        index(code)

    async def script(client: Client) -> None:
        with anyio.fail_after(LONGEST_SECONDS):
            while not list(code.path.glob(".git/itza/spaces/*/history/lineages/*")):
                await said(client, "search_codebase", query="how are retries limited?")
                await anyio.sleep(0.02)

    speak(code.path, script)


def test_head_is_followed_between_calls(code: Repo) -> None:  # C11, C12
    index(code)

    async def script(client: Client) -> None:
        assert "src/throttle.py" not in await said(client, "search_codebase", query="throttle the uploads")
        code.git("switch", "--quiet", "--create", "other")
        code.write("src/throttle.py", "def throttle_uploads(rate):\n    return sleep(1 / rate)\n")
        moved = code.commit()
        found = await said_at_last(client, "search_codebase", query="throttle the uploads")
        assert found.startswith(f"repo at {moved[:10]}")
        assert "src/throttle.py:1-2@" in found
        code.git("switch", "--quiet", "main")
        assert "src/throttle.py" not in await said(client, "search_codebase", query="throttle the uploads")
        assert "src/throttle.py:1-2@" in await said(client, "search_codebase", query="throttle uploads", rev="other")
        code.git("checkout", "--quiet", "--detach", "other")  # C05
        assert "src/throttle.py" in await said(client, "search_codebase", query="throttle the uploads")
        assert "detached" in await said(client, "list_indexed_repos")

    speak(code.path, script)


def test_a_deleted_repository_is_named_and_the_server_lives_on(code: Repo, tmp_path: Path) -> None:
    index(code)
    other = Repo(tmp_path / "other")
    other.write("a.py", "def keep():\n    pass\n")
    other.commit()
    roots = [code.path]

    async def script(client: Client) -> None:
        assert "src/net.py" in await said(client, "search_codebase", query="retries")
        shutil.rmtree(code.path)
        for tool, arguments in {
            "search_codebase": {"query": "retries"},
            "read_citation": {"citation": "src/net.py:1-2"},
            "ask_codebase": {"question": "how are retries limited?"},
            "get_repo_overview": {},
        }.items():
            told = await refused(client, tool, **arguments)
            assert told.startswith(f"error: the repository repo is gone: {code.path}\nhint: ")
        assert "is gone" in await said(client, "list_indexed_repos")
        again = Repo(code.path)
        again.write("b.py", "def anew():\n    pass\n")
        again.commit()
        assert "b.py:1-2@" in await said_at_last(client, "search_codebase", query="anew")
        roots[:] = [other.path]
        await client.send_roots_list_changed()
        assert "a.py:1-2@" in await said_at_last(client, "search_codebase", query="keep")

    with pytest.warns(match="roots capability is deprecated"):
        speak(tmp_path, script, roots=roots)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_clients_roots_are_the_repositories_and_one_of_several_is_named(
    code: Repo, tmp_path: Path, mode: str
) -> None:
    other = Repo(tmp_path / "lib")
    other.write("lib.py", "def from_lib():\n    pass\n")
    other.commit()
    (tmp_path / "elsewhere").mkdir()

    async def script(client: Client) -> None:
        told = await refused(client, "search_codebase", query="from lib")
        assert told == "error: several repositories are open: repo, lib\nhint: say which one with repo"
        assert "lib.py:1-2@" in await said_at_last(client, "search_codebase", query="from lib", repo="lib")
        found = await said_at_last(client, "search_codebase", query="from lib", repo=str(other.path))
        assert "lib.py:1-2@" in found
        assert "(here)" in await said(client, "list_indexed_repos")
        unknown = await refused(client, "search_codebase", query="from lib", repo="/etc")
        assert unknown.startswith("error: no registered repository is named /etc")

    speak(tmp_path / "elsewhere", script, mode, roots=[code.path / "src", other.path])


def test_an_answer_of_the_model_comes_with_checked_citations(code: Repo) -> None:
    index(code)
    answer = "The function fetch_with_retry tries MAX_RETRIES times, that is four times [1]."
    with serving(Script(answer)) as model:

        async def script(client: Client) -> None:
            told = await said(client, "ask_codebase", question="how does fetch_with_retry limit its retries?")
            assert "tries MAX_RETRIES times" in told
            assert re.search(r"^\[\d+\] src/net\.py:\d+-\d+@[0-9a-f]+$", told, re.MULTILINE)
            nothing = await said(client, "ask_codebase", question="how does kubernetes schedule quantum gravity?")
            assert "NO_SE: " in nothing

        speak(code.path, script, OLLAMA_HOST=model.host)
    assert len(model.chats) == 1


def test_a_cancelled_question_stops_the_model(code: Repo) -> None:
    index(code)
    asked, dropped = threading.Event(), threading.Event()

    class Hanging(BaseHTTPRequestHandler):
        """A model that never comes to a word, and notices when nobody listens any more."""

        def do_GET(self) -> None:
            self.reply({"models": [{"name": ANSWERING, "digest": "x"}], "version": "0.33.0"})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path != "/api/chat":
                self.reply({})
                return
            asked.set()
            if not self.connection.recv(1):  # the end of the line; nothing more is ever sent
                dropped.set()

        def reply(self, value: dict[str, Any]) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hanging)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    async def script(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                await client.call_tool("ask_codebase", {"question": "how does fetch_with_retry limit its retries?"})

            group.start_soon(ask)
            await anyio.to_thread.run_sync(asked.wait, LONGEST_SECONDS)
            assert asked.is_set()
            group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(dropped.wait, LONGEST_SECONDS)
        assert dropped.is_set()
        assert "src/net.py" in await said(client, "search_codebase", query="retries")

    try:
        speak(code.path, script, OLLAMA_HOST=f"127.0.0.1:{server.server_address[1]}")
    finally:
        server.shutdown()
        server.server_close()


def test_nothing_but_the_protocol_comes_on_standard_output(code: Repo, tmp_path: Path) -> None:
    index(code)
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    with wired(code.path, PYTHONPATH=str(tmp_path)) as wire:
        agreed = wire.shake_hands(OLD)
        assert agreed["protocolVersion"] == OLD
        assert agreed["serverInfo"]["name"] == "git-itza"
        assert agreed["capabilities"].keys() >= {"tools"}
        assert wire.ask("ping")["result"] == {}
        assert {tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]} == TOOLS
        unknown = wire.ask("tools/call", {"name": "rm_rf", "arguments": {}})
        assert unknown["error"]["code"] == -32602
        wrong = wire.ask("tools/call", {"name": "search_codebase", "arguments": {"query": "x", "limit": "many"}})
        assert wrong["result"]["isError"]
        assert wrong["result"]["content"][0]["text"].startswith("error: limit is 'many', not a whole number")
        missing = wire.ask("tools/call", {"name": "search_codebase", "arguments": {"qury": "x"}})
        assert "there is no argument 'qury'" in missing["result"]["content"][0]["text"]
        assert wire.ask("resources/list")["error"]["code"] == -32601
        for odd in ("this is not JSON", '{"jsonrpc": "2.0", "id": 99}', "[1]"):
            wire.send(odd)
            assert wire.process.stdout
            answer = json.loads(wire.process.stdout.readline())
            assert answer["error"]["code"] == -32700
            assert answer["id"] is None
        wire.send('{"jsonrpc": "2.0", "method": "notifications/unheard-of"}')
        lenient = {"query": "how are retries limited?", "limit": "2", "path": ["src"], "kind": None}
        found = wire.ask("tools/call", {"name": "search_codebase", "arguments": lenient})
        assert "src/net.py" in found["result"]["content"][0]["text"]
    for line in wire.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_server_ends_though_standard_input_stays_open(code: Repo, number: signal.Signals) -> None:
    with wired(code.path, status=128 + number) as wire:
        wire.shake_hands()
        wire.process.send_signal(number)
        wire.process.wait(LONGEST_SECONDS)


def test_a_version_that_nobody_knows_is_answered_with_one_that_is_served(code: Repo) -> None:
    with wired(code.path) as wire:
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", wire.shake_hands("1999-01-01")["protocolVersion"])


def test_what_ties_git_to_another_repository_does_not_count(code: Repo, tmp_path: Path) -> None:  # C18
    other = Repo(tmp_path / "other")
    other.write("a.py", "def other():\n    pass\n")
    other.commit()

    async def script(client: Client) -> None:
        assert "src/net.py" in await said(client, "search_codebase", query="retries")
        assert "src/net.py" in await said(client, "ask_codebase", question="how are retries limited?")

    speak(code.path, script, GIT_DIR=str(other.path / ".git"), GIT_INDEX_FILE="/nonexistent")


def test_the_example_of_the_documentation_runs(code: Repo) -> None:
    index(code)
    text = (Path(__file__).parents[1] / "docs" / "agents.md").read_text()
    example = text.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in example.splitlines() if line]) <= 11
    done = subprocess.run([sys.executable, "-c", example], cwd=code.path, env=environment(), capture_output=True)
    assert b"src/net.py:" in done.stdout, done.stderr


def test_without_the_sdk_the_command_says_how_to_get_it(code: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_is_installed", lambda name: False)
    done = run(code, "mcp")
    assert done.code == 2
    assert done.out == ""
    assert done.error[-1] == "hint: pip install 'itza-git[mcp]'"
