"""Ollama's protocol and every way in which its wire was seen to fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest

from itza_git.errors import BadResponse, ConfigError, ModelMissing, ServerUnreachable
from itza_git.models.ollama import Ollama
from itza_git.models.protocol import Message, PromptTooLong, Usage

URL = "http://127.0.0.1:11434"
Reply = httpx.Response | httpx.HTTPError
DONE = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 7}


class Wire:
    """A scripted server: one reply a request, the last one for ever; keeps what was asked and how long was slept."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, httpx.HTTPError):
            raise reply
        return reply

    @property
    def body(self) -> dict[str, object]:
        found = json.loads(self.requests[-1].content)
        assert isinstance(found, dict)
        return found

    def ollama(self, url: str = URL, allow_remote: bool = False) -> Ollama:
        return Ollama(url, allow_remote=allow_remote, transport=httpx.MockTransport(self), sleep=self.pauses.append)


def ok(body: object) -> httpx.Response:
    return httpx.Response(200, json=body)


def ndjson(*lines: object, cut: Callable[[bytes], list[bytes]] = lambda data: [data]) -> httpx.Response:
    data = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    return httpx.Response(200, content=iter(cut(data)))


def piece(content: str) -> dict[str, object]:
    return {"message": {"role": "assistant", "content": content}, "done": False}


def chat(wire: Wire, model: str = "m") -> list[str | Usage]:
    return list(wire.ollama().chat(model, [Message("user", "hi")], num_ctx=4096, num_predict=200))


def text(pieces: Sequence[str | Usage]) -> str:
    return "".join(item for item in pieces if isinstance(item, str))


def test_version() -> None:
    assert Wire(ok({"version": "0.33.1"})).ollama().version() == "0.33.1"


def test_nobody_listens() -> None:
    wire = Wire(httpx.ConnectError("refused"))
    with pytest.raises(ServerUnreachable) as caught:
        wire.ollama().version()
    assert str(caught.value) == f"Ollama is not reachable at {URL}"
    assert caught.value.hint == "start it with `ollama serve`, or set OLLAMA_HOST"
    assert not wire.pauses, "a server that never answered is not waited for"


def test_a_server_that_answered_before_is_waited_for() -> None:
    wire = Wire(
        ok({"version": "1"}), httpx.ConnectError("refused"), httpx.ConnectError("refused"), ok({"version": "2"})
    )
    ollama = wire.ollama()
    ollama.version()
    assert ollama.version() == "2"
    assert wire.pauses == [0.5, 1.0]


def test_a_busy_server_is_tried_again() -> None:
    wire = Wire(httpx.Response(503, json={"error": "server busy"}), ok({"embeddings": [[1.0]]}))
    assert wire.ollama().embed("m", ["a"]) == [[1.0]]
    assert wire.pauses == [0.5]


def test_a_server_that_stays_busy_is_named() -> None:
    wire = Wire(httpx.Response(503, json={"error": "server busy"}))
    with pytest.raises(ServerUnreachable, match="busy"):
        wire.ollama().embed("m", ["a"])
    assert len(wire.requests) == 5
    assert sum(wire.pauses) < 10


def test_a_bad_request_is_not_tried_again() -> None:
    wire = Wire(httpx.Response(400, json={"error": "embedding contains NaN or Inf values"}))
    with pytest.raises(BadResponse, match="400 embedding contains NaN"):
        wire.ollama().embed("m", ["a"])
    assert len(wire.requests) == 1


def test_a_server_that_hangs_is_named() -> None:
    wire = Wire(httpx.ReadTimeout("slow"))
    with pytest.raises(ServerUnreachable, match="in time"):
        wire.ollama().embed("m", ["a"])
    assert len(wire.requests) == 1


def test_a_probe_has_little_patience_and_an_answer_much() -> None:
    wire = Wire(ok({"version": "1"}), ok({"embeddings": [[1.0]]}))
    ollama = wire.ollama()
    ollama.version()
    ollama.embed("m", ["a"])
    quick, patient = (request.extensions["timeout"] for request in wire.requests)
    assert quick["read"] <= 10 and quick["connect"] <= 5
    assert patient["read"] >= 300 and patient["connect"] <= 5


def test_a_broken_connection_is_a_bad_response() -> None:
    with pytest.raises(BadResponse, match="broke"):
        Wire(httpx.RemoteProtocolError("Server disconnected")).ollama().embed("m", ["a"])


def test_an_absent_model_names_its_remedy() -> None:
    wire = Wire(httpx.Response(404, json={"error": "model 'm:7b' not found"}))
    with pytest.raises(ModelMissing) as caught:
        chat(wire, "m:7b")
    assert "m:7b" in str(caught.value)
    assert caught.value.hint == "ollama pull m:7b"


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(404, text="404 page not found"),
        httpx.Response(404, json={"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
    ],
)
def test_another_server_is_not_a_missing_model(reply: httpx.Response) -> None:
    with pytest.raises(BadResponse, match="not Ollama"):
        Wire(reply).ollama().embed("m", ["a"])


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>"),
        ok([]),
        ok({}),
        ok({"embeddings": None}),
        ok({"embeddings": [1.0]}),
        ok({"embeddings": []}),
        ok({"embeddings": [[1.0], [2.0]]}),
        httpx.Response(302, headers={"Location": "http://example.com/"}),
        httpx.Response(500, json={"error": "unsupported value: NaN"}),
        httpx.Response(500, text="boom\x1b[31m"),
    ],
)
def test_what_is_not_the_protocol_is_named(reply: httpx.Response) -> None:
    wire = Wire(reply)
    with pytest.raises(BadResponse) as caught:
        wire.ollama().embed("m", ["a"])
    assert URL in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(wire.requests) == 1, "a redirect is not followed either"


def test_embed_sends_the_texts_in_order() -> None:
    wire = Wire(ok({"embeddings": [[1.0], [2.0]]}))
    assert wire.ollama().embed("m", ["a", "b\udc80"]) == [[1.0], [2.0]]
    assert wire.body == {"model": "m", "input": ["a", "b\udc80"]}
    assert wire.requests[0].url.path == "/api/embed"


def test_nothing_to_embed_asks_nobody() -> None:
    wire = Wire(ok({}))
    assert wire.ollama().embed("m", []) == []
    assert not wire.requests


TAGS = {
    "models": [
        {"name": "nomic-embed-text:latest", "digest": "0a109f42"},
        {"name": "nomic-embed-text:v1.5", "digest": "bbbb"},
        {"name": "mine:latest", "digest": "cccc", "remote_host": "https://ollama.com:443", "remote_model": "big"},
    ]
}


@pytest.mark.parametrize(
    ("model", "digest"),
    [
        ("nomic-embed-text", "0a109f42"),
        ("nomic-embed-text:latest", "0a109f42"),
        ("nomic-embed-text:v1.5", "bbbb"),
    ],
)
def test_digest(model: str, digest: str) -> None:
    assert Wire(ok(TAGS)).ollama().digest(model) == digest


@pytest.mark.parametrize("model", ["nomic", "nomic-embed-text:v1", "hf.co/nomic-embed-text"])
def test_digest_of_an_absent_model(model: str) -> None:
    with pytest.raises(ModelMissing) as caught:
        Wire(ok(TAGS)).ollama().digest(model)
    assert caught.value.hint == f"ollama pull {model}"


def test_an_alias_of_a_cloud_model_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"ollama\.com"):
        Wire(ok(TAGS)).ollama().digest("mine")
    assert Wire(ok(TAGS)).ollama(allow_remote=True).digest("mine") == "cccc"


@pytest.mark.parametrize("body", [[], {}, {"models": None}, {"models": {}}])
def test_a_list_of_models_that_is_none(body: object) -> None:
    with pytest.raises(BadResponse):
        Wire(ok(body)).ollama().digest("m")


def test_cloud_models_are_never_called() -> None:
    wire = Wire(ok({}))
    ollama = wire.ollama()
    for call in (
        lambda: ollama.embed("m:cloud", ["a"]),
        lambda: ollama.digest("m-cloud"),
        lambda: list(ollama.chat("m:1b-cloud", [], num_ctx=1, num_predict=1)),
    ):
        with pytest.raises(ConfigError):
            call()
    assert not wire.requests


def test_another_host_is_never_called() -> None:
    with pytest.raises(ConfigError):
        Wire(ok({})).ollama("http://example.com:11434")
    assert Wire(ok({"version": "1"})).ollama("http://example.com:11434", allow_remote=True).version() == "1"


def test_proxies_are_ignored_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    # With a proxy in force httpx would mount a transport of its own instead of the given one.
    assert Wire(ok({"version": "1"})).ollama().version() == "1"


def test_chat_streams_pieces_and_ends_with_the_usage() -> None:
    wire = Wire(ndjson(piece("Hel"), piece("lo."), DONE))
    assert chat(wire) == ["Hel", "lo.", Usage("stop", 7)]
    assert wire.requests[0].url.path == "/api/chat"
    assert wire.body["messages"] == [{"role": "user", "content": "hi"}]
    assert wire.body["think"] is False
    assert wire.body["truncate"] is False and wire.body["shift"] is False
    assert wire.body["options"] == {"num_ctx": 4096, "num_predict": 200, "temperature": 0}


def test_chat_may_end_with_content_and_for_another_reason() -> None:
    last = {"message": {"content": "b"}, "done": True, "done_reason": "length"}
    assert chat(Wire(ndjson(piece("a"), last))) == ["a", "b", Usage("length", None)]


def test_lines_may_be_cut_anywhere_and_hold_any_separator() -> None:
    odd = "\u00e9 \u0085 \u2028 \u000b \U0001f600"
    for size in (1, 2, 3, 7):

        def cut(data: bytes, size: int = size) -> list[bytes]:
            return [data[i : i + size] for i in range(0, len(data), size)]

        assert text(chat(Wire(ndjson(piece(odd), DONE, cut=cut)))) == odd


def test_an_answer_without_an_end_is_broken() -> None:
    pieces: list[str | Usage] = []
    with pytest.raises(BadResponse, match="breaks off"):
        for item in Wire(ndjson(piece("Half an"))).ollama().chat("m", [], num_ctx=1, num_predict=1):
            pieces.append(item)
    assert pieces == ["Half an"]


def test_a_connection_that_breaks_in_the_middle() -> None:
    def stream() -> Iterator[bytes]:
        yield json.dumps(piece("Half")).encode() + b"\n"
        raise httpx.ReadError("reset")

    with pytest.raises(BadResponse, match="broke"):
        chat(Wire(httpx.Response(200, content=stream())))


@pytest.mark.parametrize(
    "line",
    [
        {"error": "an error was encountered while running the model: EOF"},
        {"error": {"message": "EOF"}},
        {"message": "text", "done": False},
        {"done": False},
        {},
        [],
        "text",
        None,
    ],
)
def test_a_bad_line_after_the_first_token(line: object) -> None:
    with pytest.raises(BadResponse):
        chat(Wire(ndjson(piece("a"), line, DONE)))


def test_a_line_that_is_not_json() -> None:
    with pytest.raises(BadResponse, match="not an object: <html>"):
        chat(Wire(httpx.Response(200, content=iter([b"<html>\n"]))))


@pytest.mark.parametrize(
    "words",
    [
        "the request exceeds the available context size, try increasing it",
        "the input length exceeds the context length",
        "prompt too long; exceeded max context length by 12 tokens",
    ],
)
def test_a_prompt_that_does_not_fit(words: str) -> None:
    with pytest.raises(PromptTooLong):
        chat(Wire(httpx.Response(400, json={"error": words})))


def test_a_llama_cpp_error_object_is_read() -> None:
    error = {"code": 400, "message": "request exceeds the available context size", "type": "exceed_context_size_error"}
    with pytest.raises(PromptTooLong):
        chat(Wire(httpx.Response(400, json={"error": error})))


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<think>", "hm", "</think>", "\n\nYes."], "Yes."),
        (["<th", "ink>hm</thi", "nk>Yes."], "Yes."),
        ([" <think>hm</think>Yes.", " Or <think>."], "Yes. Or <think>."),
        (["<thin"], "<thin"),
        (["<b>", "Yes"], "<b>Yes"),
        (["<think>never ends"], ""),
        (["", "Yes"], "Yes"),
        (["It parses `<think>` tags."], "It parses `<think>` tags."),
    ],
)
def test_leaked_thinking_is_stripped(pieces: list[str], shown: str) -> None:
    found = chat(Wire(ndjson(*map(piece, pieces), DONE)))
    assert text(found) == shown
    assert found[-1] == Usage("stop", 7)


def test_a_thought_in_a_field_of_its_own_is_not_the_answer() -> None:
    thought = {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False}
    assert text(chat(Wire(ndjson(thought, piece("Yes."), DONE)))) == "Yes."


def test_an_abandoned_chat_closes_its_connection() -> None:
    closed: list[bool] = []

    class Stream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield json.dumps(piece("a")).encode() + b"\n"

        def close(self) -> None:
            closed.append(True)

    pieces = Wire(httpx.Response(200, stream=Stream())).ollama().chat("m", [], num_ctx=1, num_predict=1)
    assert next(pieces) == "a"
    pieces.close()  # type: ignore[attr-defined]
    assert closed
