"""A model server on loopback that speaks Ollama's protocol and answers what a test scripts."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWERING, EMBEDDING = "qwen2.5-coder:7b", "nomic-embed-text"
DIMENSION = 32


@dataclass
class Script:
    """What the server says, and what it was asked. embedded are the inputs of /api/embed, in order.

    say answers a chat by what was asked, instead of the same answer always.
    """

    answer: str = ""
    models: tuple[str, ...] = (ANSWERING, EMBEDDING)
    chats: list[dict[str, Any]] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    host: str = ""
    longest_input: int = 10**9  # an embedding request with a longer text is refused, whole
    read_tokens: int = 900  # what it says that it read of a prompt
    say: Callable[[dict[str, Any]], str] | None = None


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    """The script, served until the block ends; `host` is then where."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"script": script}))
    script.host = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """What answers one request, as the script says."""

    script: Script
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply({"models": listed(self.script)} if self.path == "/api/tags" else {"version": "0.33.0"})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["model"] not in self.script.models:
            self.reply({"error": f"model '{asked['model']}' not found"}, 404)
        elif self.path == "/api/embed":
            self.embed(asked["input"])
        elif self.path == "/api/chat":
            self.script.chats.append(asked)
            self.stream(self.script.say(asked) if self.script.say else self.script.answer)
        else:
            self.reply({}, 404)

    def embed(self, texts: list[str]) -> None:
        refused = max(map(len, texts)) > self.script.longest_input
        self.script.batches.append(len(texts))
        self.script.embedded += [] if refused else texts
        said = {"error": "the input length exceeds the context length"}
        self.reply(said if refused else {"embeddings": list(map(vector, texts))}, 400 if refused else 200)

    def stream(self, answer: str) -> None:
        pieces = [answer[at : at + 7] for at in range(0, len(answer), 7)]
        lines = [{"message": {"content": piece}, "done": False} for piece in pieces]
        end = {
            "message": {"content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": self.script.read_tokens,
        }
        body = "".join(json.dumps(line) + "\n" for line in [*lines, end]).encode()
        self.send(body, 200, "application/x-ndjson")

    def reply(self, value: dict[str, Any], status: int = 200) -> None:
        self.send(json.dumps(value).encode(), status, "application/json")

    def send(self, body: bytes, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # who asked has heard enough
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is the product's."""


def listed(script: Script) -> list[dict[str, str]]:
    """The models as /api/tags names them."""
    return [{"name": f"{model}:latest" if ":" not in model else model, "digest": model} for model in script.models]


def vector(text: str) -> list[float]:
    """A vector that depends on nothing but the text."""
    digest = sha256(text.encode()).digest()
    return [byte - 127.5 for byte in digest[:DIMENSION]]
