"""Ollama's routes before llama.cpp servers, so that a real model speaks both of our protocols. For tests only."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx


@contextmanager
def shim(*models: tuple[str, Path]) -> Iterator[str]:
    """The `host:port` of the routes until the block ends; models are servers and the file that each has loaded."""
    server = _Server(models)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        server.upstream.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, models: Sequence[tuple[str, Path]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.places = {f"{path.stem}:latest": url for url, path in models}
        self.digests = {f"{path.stem}:latest": _digest(path) for _, path in models}
        self.upstream = httpx.Client(trust_env=False, timeout=600)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/api/version":
            self.reply({"version": "0.33.0"})
        elif self.path == "/api/tags":
            self.reply({"models": [{"name": n, "model": n, "digest": d} for n, d in self.server.digests.items()]})
        else:
            self.send("404 page not found", 404, "text/plain")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked.get("model", "")
        place = self.server.places.get(name if ":" in name else f"{name}:latest")
        routes = {"/api/show": self.show, "/api/embed": self.embed, "/api/chat": self.chat}
        if self.path not in routes:
            self.send("404 page not found", 404, "text/plain")
        elif place is None:
            self.reply({"error": f"model '{name}' not found"}, 404)
        else:
            routes[self.path](place, asked)

    def show(self, url: str, asked: dict[str, Any]) -> None:
        meta = self.server.upstream.get(f"{url}/v1/models").json()["data"][0]["meta"]
        self.reply({"model_info": meta, "capabilities": ["completion"]})

    def embed(self, url: str, asked: dict[str, Any]) -> None:
        answer = self.server.upstream.post(f"{url}/v1/embeddings", json={"input": asked["input"]})
        if answer.status_code != 200:
            self.refuse(answer)
            return
        rows = sorted(answer.json()["data"], key=lambda row: row["index"])
        self.reply({"model": asked["model"], "embeddings": [row["embedding"] for row in rows]})

    def chat(self, url: str, asked: dict[str, Any]) -> None:
        body = {
            "messages": asked["messages"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": asked["options"]["num_predict"],
            "temperature": asked["options"]["temperature"],
        }
        with self.server.upstream.stream("POST", f"{url}/v1/chat/completions", json=body) as answer:
            if answer.status_code != 200:
                answer.read()
                self.refuse(answer)
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Connection", "close")
            self.end_headers()
            # The client may have read enough before the end.
            with suppress(BrokenPipeError, ConnectionResetError):
                self.stream(answer)

    def stream(self, answer: httpx.Response) -> None:
        end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
        for line in answer.iter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            for choice in event["choices"]:
                end["done_reason"] = choice["finish_reason"] or end["done_reason"]
                content = choice["delta"].get("content")
                if content:
                    self.line({"message": {"role": "assistant", "content": content}, "done": False})
            if "usage" in event:
                end["prompt_eval_count"] = event["usage"]["prompt_tokens"]
        self.line(end)

    def line(self, value: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(value).encode() + b"\n")
        self.wfile.flush()

    def refuse(self, answer: httpx.Response) -> None:
        self.reply({"error": answer.json()["error"]["message"]}, answer.status_code)

    def reply(self, value: dict[str, Any], status: int = 200) -> None:
        self.send(json.dumps(value), status, "application/json")

    def send(self, text: str, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is the product's."""


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
