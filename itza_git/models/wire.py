"""HTTP to one model server, whatever it speaks: patience, tries, and what each failure is called.

Importing this module imports httpx, which costs about as much as a search: import it where a server is first needed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import httpx

from itza_git import jsontext
from itza_git.errors import BadResponse, ModelError, ServerUnreachable
from itza_git.models.host import check_local, is_loopback
from itza_git.models.protocol import PromptTooLong
from itza_git.models.stream import shorten

# A server listens or it does not; but loading some GB from a disk, or reading a prompt on a CPU, takes minutes.
_PATIENT = httpx.Timeout(600.0, connect=3.0)
_QUICK = httpx.Timeout(10.0, connect=3.0)
# Seconds between the tries when a server is busy, still loading, or restarting.
PAUSES = (0.5, 1.0, 2.0, 4.0)
_TOO_LONG = re.compile(r"context (size|length|window)|prompt( is)? too long", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """How messages speak of a server: its name, the hint when nobody listens, and the one when it is busy."""

    server: str
    start: str
    look: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response with a status other than 200: its body when that is JSON, and the words that say what is wrong."""

    status: int
    body: object
    words: str


class Wire:
    """A server at a base URL. Raises `ConfigError` for a host that is not this machine.

    url has no slash at its end. meaning turns a refusal into the protocol's own error, or into None. sleep is called
    between tries; transport stands in for the network in tests.
    """

    def __init__(
        self,
        url: str,
        names: Names,
        meaning: Callable[[Refusal, str], ModelError | None],
        *,
        allow_remote: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        check_local(url, allow_remote)
        self.url = url
        self.sleep = sleep
        self._names = names
        self._meaning = meaning
        self._answered = False
        self._client = httpx.Client(
            transport=transport,
            # A proxy variable would send even loopback through the proxy (run-llama/llama_index#13526).
            trust_env=not is_loopback(url),
            # Without TLS, reading the certificates of the system is 20 ms for nothing.
            verify=url.startswith("https:"),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def json(
        self, method: str, path: str, body: Mapping[str, object] | None = None, model: str = ""
    ) -> dict[str, object]:
        """The object that the server answers with. Raises `ModelError`; model is what the request is about."""
        response = self._send(method, path, body)
        if response.status_code != 200:
            self._refuse(response, model)
        try:
            found = jsontext.parse(response.content)
        except ValueError as error:
            raise self.bad(f"its answer is not JSON: {shorten(response.text)}") from error
        if not isinstance(found, dict):
            raise self.bad(f"its answer is not an object: {shorten(response.text)}")
        return found

    def blocks(self, path: str, body: Mapping[str, object], model: str) -> Generator[bytes, None, None]:
        """The answer as it arrives, cut anywhere. Raises `ModelError`, at any block."""
        response = self._send("POST", path, body, stream=True)
        try:
            if response.status_code != 200:
                response.read()
                self._refuse(response, model)
            yield from response.iter_bytes()
        except httpx.HTTPError as error:
            raise self._broken(error) from error
        finally:
            response.close()

    def bad(self, what: str, hint: str = "") -> BadResponse:
        """The error for an answer that is not the protocol."""
        return BadResponse(f"{self._names.server} at {self.url}: {what}", hint)

    def stays_busy(self) -> ServerUnreachable:
        """The error for a server that is there and, after all tries, still loading or busy."""
        return ServerUnreachable(f"{self._names.server} at {self.url} stays busy", self._names.look)

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, *, stream: bool = False
    ) -> httpx.Response:
        """A response of any status but 503; a few tries when the server is busy, loading or restarting."""
        for pause in (*PAUSES, None):
            try:
                response = self._client.send(self._request(method, path, body), stream=stream)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # One that answered before is restarting; one that never did is not there, and nobody should wait.
                if pause is None or not self._answered:
                    text = f"{self._names.server} is not reachable at {self.url}"
                    raise ServerUnreachable(text, self._names.start) from error
            except httpx.HTTPError as error:
                raise self._broken(error) from error
            else:
                self._answered = True
                if response.status_code != 503:
                    return response
                response.close()
            if pause is not None:
                self.sleep(pause)
        raise self.stays_busy()

    def _request(self, method: str, path: str, body: Mapping[str, object] | None) -> httpx.Request:
        if body is None:
            return self._client.build_request(method, self.url + path, timeout=_QUICK)
        # ASCII escapes, for a text may hold lone surrogates, which UTF-8 cannot.
        content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        return self._client.build_request(method, self.url + path, content=content, headers=headers, timeout=_PATIENT)

    def _refuse(self, response: httpx.Response, model: str) -> NoReturn:
        """Raise what a status other than 200 means."""
        try:
            found = jsontext.parse(response.content)
        except ValueError:
            found = None
        words = error_words(found) if isinstance(found, dict) else ""
        meant = self._meaning(Refusal(response.status_code, found, words), model)
        if meant is not None:
            raise meant
        if response.status_code == 400 and _TOO_LONG.search(words):
            raise PromptTooLong(f"{self._names.server} at {self.url}: {words}")
        raise self.bad(f"{response.status_code} {words or shorten(response.text)}".strip())

    def _broken(self, error: httpx.HTTPError) -> BadResponse | ServerUnreachable:
        if isinstance(error, httpx.TimeoutException):
            return ServerUnreachable(f"{self._names.server} at {self.url} does not answer in time", self._names.look)
        return self.bad(f"the connection broke: {shorten(str(error)) or type(error).__name__}")


def error_words(found: Mapping[str, object]) -> str:
    """The server's own words for what is wrong, whichever way it wraps them."""
    error = found.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    # vLLM has had the words at the top.
    error = error or found.get("message")
    return shorten(error) if isinstance(error, str) else ""
