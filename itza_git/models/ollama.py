"""Ollama's own protocol over HTTP.

Importing this module imports httpx, which costs about as much as a search: import it where a server is first needed.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn

import httpx

from itza_git.errors import BadResponse, ModelMissing, ServerUnreachable
from itza_git.models.host import check_local, check_model_local, is_loopback
from itza_git.models.protocol import Message, PromptTooLong, Usage
from itza_git.models.stream import json_lines, shorten, without_thinking

# A server listens or it does not; but loading some GB from a disk, or reading a prompt on a CPU, takes minutes.
_PATIENT = httpx.Timeout(600.0, connect=3.0)
_QUICK = httpx.Timeout(10.0, connect=3.0)
# Seconds between the tries when a server is busy, still loading, or restarting.
_PAUSES = (0.5, 1.0, 2.0, 4.0)
_START = "start it with `ollama serve`, or set OLLAMA_HOST"
_OTHER = "set OLLAMA_HOST, or git config itza.ollamaHost"
_TOO_LONG = re.compile(r"context (size|length|window)|prompt( is)? too long", re.IGNORECASE)


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
        check_local(base_url, allow_remote)
        self._url = base_url
        self._allow_remote = allow_remote
        self._sleep = sleep
        self._answered = False
        self._client = httpx.Client(
            transport=transport,
            # A proxy variable would send even loopback through the proxy (run-llama/llama_index#13526).
            trust_env=not is_loopback(base_url),
            # Without TLS, reading the certificates of the system is 20 ms for nothing.
            verify=base_url.startswith("https:"),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def version(self) -> str:
        """The server's version; the probe whether it is there. Raises `ServerUnreachable`."""
        return str(self._json("GET", "/api/version").get("version", ""))

    def digest(self, model: str) -> str:
        """The digest of the model's weights. Raises `ModelMissing`."""
        check_model_local(model, self._allow_remote)
        listed = self._json("GET", "/api/tags").get("models")
        if not isinstance(listed, list):
            raise self._bad("its list of models has no models")
        for entry in listed:
            if isinstance(entry, dict) and _same_model(model, entry.get("name") or entry.get("model")):
                self._check_entry(model, entry)
                return str(entry.get("digest") or "")
        raise self._missing(model)

    def _check_entry(self, model: str, entry: Mapping[str, object]) -> None:
        # An alias of a cloud model need not say so in its name.
        remote = entry.get("remote_host")
        if isinstance(remote, str) and remote:
            check_local(remote if "://" in remote else f"https://{remote}", self._allow_remote)

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises `BadResponse` when the server refuses any of them."""
        check_model_local(model, self._allow_remote)
        if not texts:
            return []
        found = self._json("POST", "/api/embed", {"model": model, "input": list(texts)}, model).get("embeddings")
        if not isinstance(found, list) or not all(isinstance(row, list) for row in found):
            raise self._bad("its answer has no embeddings")
        if len(found) != len(texts):
            raise self._bad(f"{len(found)} embeddings for {len(texts)} texts")
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
        response = self._send("POST", "/api/chat", body, stream=True)
        try:
            if response.status_code != 200:
                response.read()
                self._refuse(response, model)
            for line in json_lines(response.iter_bytes()):
                if "error" in line:
                    raise self._bad(_error(line) or "an error without words")
                yield self._content(line)
                if line.get("done") is True:
                    yield _usage(line)
                    return
        except httpx.HTTPError as error:
            raise self._broken(error) from error
        finally:
            response.close()
        raise self._bad("the answer breaks off before its end")

    def _content(self, line: Mapping[str, object]) -> str:
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            return content
        # The last line, and one that holds a thought only, may have no content.
        if line.get("done") is True or isinstance(message, dict):
            return ""
        raise self._bad(f"a line of the answer has no message: {shorten(json.dumps(line))}")

    def _json(
        self, method: str, path: str, body: Mapping[str, object] | None = None, model: str = ""
    ) -> dict[str, object]:
        response = self._send(method, path, body)
        if response.status_code != 200:
            self._refuse(response, model)
        try:
            found = json.loads(response.content)
        except ValueError as error:
            raise self._bad(f"its answer is not JSON: {shorten(response.text)}") from error
        if not isinstance(found, dict):
            raise self._bad(f"its answer is not an object: {shorten(response.text)}")
        return found

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, *, stream: bool = False
    ) -> httpx.Response:
        """A response of any status but 503; a few tries when the server is busy, loading or restarting."""
        for pause in (*_PAUSES, None):
            try:
                response = self._client.send(self._request(method, path, body), stream=stream)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # One that answered before is restarting; one that never did is not there, and nobody should wait.
                if pause is None or not self._answered:
                    raise ServerUnreachable(f"Ollama is not reachable at {self._url}", _START) from error
            except httpx.HTTPError as error:
                raise self._broken(error) from error
            else:
                self._answered = True
                if response.status_code != 503:
                    return response
                response.close()
            if pause is not None:
                self._sleep(pause)
        raise ServerUnreachable(f"Ollama at {self._url} stays busy", "ollama ps")

    def _request(self, method: str, path: str, body: Mapping[str, object] | None) -> httpx.Request:
        if body is None:
            return self._client.build_request(method, self._url + path, timeout=_QUICK)
        # ASCII escapes, for a text may hold lone surrogates, which UTF-8 cannot.
        content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        return self._client.build_request(method, self._url + path, content=content, headers=headers, timeout=_PATIENT)

    def _refuse(self, response: httpx.Response, model: str) -> NoReturn:
        """Raise what a status other than 200 means."""
        try:
            found = json.loads(response.content)
        except ValueError:
            found = None
        words = _error(found) if isinstance(found, dict) else ""
        if response.status_code == 404:
            # Ollama's own 404 has a sentence; llama.cpp's has an object, others have HTML.
            if model and isinstance(found, dict) and isinstance(found.get("error"), str):
                raise self._missing(model)
            raise BadResponse(
                f"the server at {self._url} is not Ollama", "set OLLAMA_HOST, or git config itza.ollamaHost"
            )
        if response.status_code == 400 and _TOO_LONG.search(words):
            raise PromptTooLong(f"Ollama at {self._url}: {words}")
        raise self._bad(f"{response.status_code} {words or shorten(response.text)}".strip())

    def _missing(self, model: str) -> ModelMissing:
        return ModelMissing(
            f"Ollama at {self._url} does not have the model {model}", f"ollama pull {shlex.quote(model)}"
        )

    def _bad(self, what: str) -> BadResponse:
        return BadResponse(f"Ollama at {self._url}: {what}")

    def _broken(self, error: httpx.HTTPError) -> BadResponse | ServerUnreachable:
        if isinstance(error, httpx.TimeoutException):
            return ServerUnreachable(f"Ollama at {self._url} does not answer in time", "ollama ps")
        return self._bad(f"the connection broke: {shorten(str(error)) or type(error).__name__}")


def _same_model(asked: str, listed: object) -> bool:
    """Whether a name from the server's list is the asked one; no tag means `latest`."""
    if not isinstance(listed, str):
        return False
    return listed in (asked, asked if ":" in asked.rpartition("/")[2] else f"{asked}:latest")


def _error(found: Mapping[str, object]) -> str:
    """The server's own words for what is wrong, whichever way it wraps them."""
    error = found.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    return shorten(error) if isinstance(error, str) else ""


def _usage(line: Mapping[str, object]) -> Usage:
    reason, count = line.get("done_reason"), line.get("prompt_eval_count")
    return Usage(reason if isinstance(reason, str) else "stop", count if isinstance(count, int) else None)
