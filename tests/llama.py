"""Real llama.cpp servers on loopback for tests that want a real model, or the Ollama that ITZA_TEST_OLLAMA names."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from itza_git.models.host import ollama_url
from tests.llama_weights import chat_model, embedding_model
from tests.ollama_shim import shim

CHILD = Path(__file__).with_name("llama_child.py")
# Loading takes a second; a machine that is busy with other things may take many.
PATIENCE = 60.0

# A test's own environment has none of these any more.
REAL = os.environ.get("ITZA_TEST_OLLAMA", "")
REAL_MODELS = (
    os.environ.get("ITZA_TEST_ANSWER_MODEL", "qwen2.5-coder:7b"),
    os.environ.get("ITZA_TEST_EMBED_MODEL", "nomic-embed-text"),
)


@dataclass(frozen=True)
class Servers:
    """Where the models are: Ollama's routes at `ollama`, OpenAI's at the two bases; real says that it is an Ollama."""

    ollama: str
    chat_base: str
    embed_base: str
    answer_model: str
    embed_model: str
    real: bool = False

    def variables(self, protocol: str, embedder: str = "builtin") -> dict[str, str]:
        """The environment in which `git itza` uses them."""
        return {
            "OLLAMA_HOST": self.ollama,
            "ITZA_SERVER": protocol,
            "ITZA_EMBEDDER": embedder,
            "ITZA_OPENAI_BASE": self.chat_base if embedder == "builtin" else self.embed_base,
            "ITZA_ANSWER_MODEL": self.answer_model,
            "ITZA_EMBED_MODEL": self.embed_model,
        }


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """A chat server and an embedding server with Ollama's routes before them, until the block ends."""
    if REAL:
        url = ollama_url(REAL)
        yield Servers(url, f"{url}/v1", f"{url}/v1", *REAL_MODELS, real=True)
        return
    chat, embed = chat_model(), embedding_model(folder)
    with ExitStack() as stack:
        places = [stack.enter_context(child(kind, model)) for kind, model in (("chat", chat), ("embed", embed))]
        for place in places:
            wait(place)
        host = stack.enter_context(shim(*((place, model) for place, model in zip(places, (chat, embed), strict=True))))
        yield Servers(host, f"{places[0]}/v1", f"{places[1]}/v1", chat.stem, embed.stem)


@contextmanager
def child(kind: str, model: Path) -> Iterator[str]:
    """The URL of a server in a process of its own, which may still be loading; killed when the block ends."""
    port = free_port()
    command = [sys.executable, str(CHILD), kind, str(model), str(port)]
    # It ends with its standard input too, so that it does not outlive a test run that is killed.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


def wait(url: str, ready: int = 200) -> None:
    """Wait until the server's /health answers as it does when it is ready; with ready=503, until it answers at all."""
    until = time.monotonic() + PATIENCE
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < until:
            try:
                if client.get(f"{url}/health").status_code in (200, ready):
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.02)
    raise TimeoutError(f"the llama.cpp server at {url} is not ready after {PATIENCE:.0f} s")


def free_port() -> int:
    """A port of loopback that nobody listened at just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
