"""Ollama's own protocol over HTTP."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import httpx

from itza_git.errors import BadResponse, ModelError, ModelMissing
from itza_git.models.host import check_local, check_model_local
from itza_git.models.protocol import Message, Usage
from itza_git.models.stream import json_lines, shorten, without_thinking
from itza_git.models.wire import Names, Refusal, Wire, error_words

_NAMES = Names("Ollama", "start it with `ollama serve`, or set OLLAMA_HOST", "ollama ps")
_OTHER = "set OLLAMA_HOST, or git config itza.ollamaHost"


class Ollama:
    """A server at a base URL, as `ollama_url` gives it. Raises `ConfigError` for a host that is not this machine.

    sleep is called between tries; transport stands in for the network in tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        allow_remote: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._allow_remote = allow_remote
        self._wire = Wire(base_url, _NAMES, self._meaning, allow_remote=allow_remote, transport=transport, sleep=sleep)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def version(self) -> str:
        """The server's version; the probe whether it is there. Raises `ServerUnreachable`."""
        return str(self._wire.json("GET", "/api/version").get("version", ""))

    def digest(self, model: str) -> str:
        """The digest of the model's weights. Raises `ModelMissing`."""
        check_model_local(model, self._allow_remote)
        listed = self._wire.json("GET", "/api/tags").get("models")
        if not isinstance(listed, list):
            raise self._wire.bad("its list of models has no models")
        for entry in listed:
            if isinstance(entry, dict) and _same_model(model, entry.get("name") or entry.get("model")):
                self._check_entry(entry)
                return str(entry.get("digest") or "")
        raise self._missing(model)

    def _check_entry(self, entry: Mapping[str, object]) -> None:
        # An alias of a cloud model need not say so in its name.
        remote = entry.get("remote_host")
        if isinstance(remote, str) and remote:
            check_local(remote if "://" in remote else f"https://{remote}", self._allow_remote)

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises `BadResponse` when the server refuses any of them."""
        check_model_local(model, self._allow_remote)
        if not texts:
            return []
        body = {"model": model, "input": list(texts)}
        found = self._wire.json("POST", "/api/embed", body, model).get("embeddings")
        if not isinstance(found, list) or not all(isinstance(row, list) for row in found):
            raise self._wire.bad("its answer has no embeddings")
        if len(found) != len(texts):
            raise self._wire.bad(f"{len(found)} embeddings for {len(texts)} texts")
        return found

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        """The answer in pieces, without thinking, then one Usage as the last item.

        Raises `ModelError`, at the first piece or, when the server breaks off, at any later one.
        """
        check_model_local(model, self._allow_remote)
        body = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": True,
            "think": think,
            # Else the server silently keeps about half of a long prompt (ollama/ollama#17427).
            "truncate": False,
            "shift": False,
            "options": {"num_ctx": num_ctx, "num_predict": num_predict, "temperature": 0},
        }
        return without_thinking(self._pieces(model, body))

    def _pieces(self, model: str, body: Mapping[str, object]) -> Iterator[str | Usage]:
        with closing(self._wire.blocks("/api/chat", body, model)) as blocks:
            for line in json_lines(blocks):
                if "error" in line:
                    raise self._wire.bad(error_words(line) or "an error without words")
                yield self._content(line)
                if line.get("done") is True:
                    yield _usage(line)
                    return
        raise self._wire.bad("the answer breaks off before its end")

    def _content(self, line: Mapping[str, object]) -> str:
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            return content
        # The last line, and one that holds a thought only, may have no content.
        if line.get("done") is True or isinstance(message, dict):
            return ""
        raise self._wire.bad(f"a line of the answer has no message: {shorten(json.dumps(line))}")

    def _meaning(self, refusal: Refusal, model: str) -> ModelError | None:
        if refusal.status != 404:
            return None
        # Ollama's own 404 has a sentence; llama.cpp's has an object, others have HTML.
        if model and isinstance(refusal.body, dict) and isinstance(refusal.body.get("error"), str):
            return self._missing(model)
        return BadResponse(f"the server at {self._wire.url} is not Ollama", _OTHER)

    def _missing(self, model: str) -> ModelMissing:
        return ModelMissing(
            f"Ollama at {self._wire.url} does not have the model {model}", f"ollama pull {shlex.quote(model)}"
        )


def _same_model(asked: str, listed: object) -> bool:
    """Whether a name from the server's list is the asked one; no tag means `latest`."""
    if not isinstance(listed, str):
        return False
    return listed in (asked, asked if ":" in asked.rpartition("/")[2] else f"{asked}:latest")


def _usage(line: Mapping[str, object]) -> Usage:
    reason, count = line.get("done_reason"), line.get("prompt_eval_count")
    return Usage(reason if isinstance(reason, str) else "stop", count if isinstance(count, int) else None)
