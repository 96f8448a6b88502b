"""OpenAI's protocol as llama.cpp, LM Studio and vLLM speak it, and every way in which their wires were seen to fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest

from itza_git import config
from itza_git.config import Settings
from itza_git.embedding.choice import EMBEDDERS, embedder_for
from itza_git.embedding.remote import Remote
from itza_git.errors import BadResponse, ConfigError, ModelMissing, ServerUnreachable
from itza_git.models.choice import SERVERS
from itza_git.models.host import openai_url
from itza_git.models.ollama import Ollama
from itza_git.models.openai import OpenAI
from itza_git.models.protocol import Message, PromptTooLong, Usage
from itza_git.words import Vocabulary

URL = "http://127.0.0.1:8080/v1"
LOADING = {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
META = {"vocab_type": 2, "n_vocab": 49152, "n_ctx": 4096, "n_params": 134515008, "size": 96576768}
FILE = "/models/nomic-embed-text-v1.5.Q4_1.gguf"
MODELS = {
    "object": "list",
    "data": [
        {"id": "m", "object": "model", "owned_by": "vllm"},
        {"id": FILE, "aliases": [FILE, "short"], "object": "model", "owned_by": "llamacpp", "meta": META},
        {"id": "org/Qwen2.5-Coder-7B-Instruct", "object": "model"},
    ],
}

Reply = httpx.Response | httpx.HTTPError


class Wire:
    """A scripted server: its list of models, and one reply a request to anything else, the last one for ever."""

    def __init__(self, *replies: Reply, models: Sequence[Reply] = ()) -> None:
        self.replies = list(replies)
        self.models = list(models or [httpx.Response(200, json=MODELS)])
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        replies = self.models if request.url.path == "/v1/models" else self.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, httpx.HTTPError):
            raise reply
        return reply

    @property
    def asked(self) -> list[httpx.Request]:
        return [request for request in self.requests if request.url.path != "/v1/models"]

    @property
    def body(self) -> dict[str, object]:
        found = json.loads(self.requests[-1].content)
        assert isinstance(found, dict)
        return found

    def openai(self, url: str = URL, allow_remote: bool = False) -> OpenAI:
        return OpenAI(url, allow_remote=allow_remote, transport=httpx.MockTransport(self), sleep=self.pauses.append)


def ok(body: object) -> httpx.Response:
    return httpx.Response(200, json=body)


def rows(*vectors: object) -> httpx.Response:
    return ok({"object": "list", "data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]})


def sse(*items: object, end: str = "\n\n", cut: Callable[[bytes], list[bytes]] = lambda data: [data]) -> httpx.Response:
    data = "".join(f"data: {json.dumps(item, ensure_ascii=False)}{end}" for item in items).encode()
    return raw(data + f"data: [DONE]{end}".encode(), cut)


def raw(data: bytes, cut: Callable[[bytes], list[bytes]] = lambda data: [data]) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=iter(cut(data)))


def piece(content: object, reason: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": reason}]}


FIRST = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"completion_tokens": 6, "prompt_tokens": 7, "total_tokens": 13}}


def chat(wire: Wire, model: str = "m") -> list[str | Usage]:
    return list(wire.openai().chat(model, [Message("user", "hi")], num_ctx=4096, num_predict=200))


def text(pieces: Sequence[str | Usage]) -> str:
    return "".join(item for item in pieces if isinstance(item, str))


def test_nobody_listens() -> None:
    wire = Wire(models=[httpx.ConnectError("refused")])
    with pytest.raises(ServerUnreachable) as caught:
        chat(wire)
    assert str(caught.value) == f"the model server is not reachable at {URL}"
    assert "git config itza.openaiBase http://" in caught.value.hint
    assert not wire.pauses, "a server that never answered is not waited for"


def test_a_server_that_answered_before_is_waited_for() -> None:
    wire = Wire(httpx.ConnectError("refused"), httpx.ConnectError("refused"), rows([1.0]))
    assert wire.openai().embed("m", ["a"]) == [[1.0]]
    assert wire.pauses == [0.5, 1.0]


def test_a_server_that_loads_its_model_is_waited_for() -> None:
    wire = Wire(rows([1.0]), models=[httpx.Response(503, json=LOADING), ok(MODELS)])
    assert wire.openai().embed("m", ["a"]) == [[1.0]]
    assert wire.pauses == [0.5]


def test_a_server_that_does_not_end_loading_is_named() -> None:
    wire = Wire(httpx.Response(503, json=LOADING))
    with pytest.raises(ServerUnreachable, match="busy"):
        chat(wire)
    assert len(wire.asked) == 5
    assert sum(wire.pauses) < 10


def test_a_list_of_models_without_their_meta_is_asked_again() -> None:
    early = {"data": [{"id": "m", "meta": None}]}
    wire = Wire(models=[ok(early), ok({"data": [{"id": "m", "meta": META}]})])
    assert wire.openai().digest("m") == Wire(models=[ok({"data": [{"id": "m", "meta": META}]})]).openai().digest("m")
    assert wire.pauses == [0.5]
    with pytest.raises(ServerUnreachable, match="busy"):
        Wire(models=[ok(early)]).openai().digest("m")


def test_a_bad_request_is_not_tried_again() -> None:
    wire = Wire(httpx.Response(400, json={"error": {"code": 400, "message": '"input" must not be empty'}}))
    with pytest.raises(BadResponse, match=r"400 .input. must not"):
        wire.openai().embed("m", ["a"])
    assert len(wire.asked) == 1


def test_a_server_that_hangs_is_named() -> None:
    wire = Wire(httpx.ReadTimeout("slow"))
    with pytest.raises(ServerUnreachable, match="in time"):
        wire.openai().embed("m", ["a"])
    assert len(wire.asked) == 1


def test_a_list_takes_little_patience_and_an_answer_much() -> None:
    wire = Wire(rows([1.0]))
    wire.openai().embed("m", ["a"])
    quick, patient = (request.extensions["timeout"] for request in wire.requests)
    assert quick["read"] <= 10 and quick["connect"] <= 5
    assert patient["read"] >= 300 and patient["connect"] <= 5


@pytest.mark.parametrize("status", [404, 400])
@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404},
        {"error": {"message": "model 'm' not found", "type": "invalid_request_error", "code": "model_not_found"}},
        {"error": "Model m not loaded"},
    ],
)
def test_a_model_that_was_unloaded_names_where_to_look(status: int, body: object) -> None:
    for call in (lambda wire: chat(wire), lambda wire: wire.openai().embed("m", ["a"])):
        with pytest.raises(ModelMissing) as caught:
            call(Wire(httpx.Response(status, json=body)))
        assert "the model m" in str(caught.value)
        assert caught.value.hint.startswith(f"curl {URL}/models")


def test_a_model_that_is_not_listed_is_never_asked_for() -> None:
    wire = Wire(rows([1.0]))
    with pytest.raises(ModelMissing) as caught:
        chat(wire, "other")
    assert "the model other" in str(caught.value)
    assert FILE in caught.value.hint and "itza.answerModel" in caught.value.hint
    assert not wire.asked


@pytest.mark.parametrize(
    ("model", "id_"),
    [
        ("m", "m"),
        ("short", FILE),
        (FILE, FILE),
        ("nomic-embed-text-v1.5.Q4_1.gguf", FILE),
        ("nomic-embed-text-v1.5.Q4_1", FILE),
        ("nomic-embed-text", FILE),
        ("qwen2.5-coder:7b", "org/Qwen2.5-Coder-7B-Instruct"),
    ],
)
def test_a_model_is_found_by_any_of_its_names(model: str, id_: str) -> None:
    wire = Wire(rows([1.0]))
    wire.openai().embed(model, ["a"])
    assert wire.body["model"] == id_


@pytest.mark.parametrize("model", ["nomic-embed-tex", "qwen2.5-coder:1.5b", "M2", "coder"])
def test_a_model_is_not_taken_for_another(model: str) -> None:
    with pytest.raises(ModelMissing):
        Wire().openai().digest(model)


def test_an_exact_name_wins_over_the_beginning_of_another() -> None:
    listed = {"data": [{"id": "small-instruct"}, {"id": "small"}]}
    wire = Wire(rows([1.0]), models=[ok(listed)])
    wire.openai().embed("small", ["a"])
    assert wire.body["model"] == "small"


def test_the_list_is_read_once() -> None:
    wire = Wire(rows([1.0]))
    openai = wire.openai()
    for _ in range(3):
        openai.embed("m", ["a"])
    assert len(wire.requests) == 4


def digest(**changed: object) -> str:
    return Wire(models=[ok({"data": [{"id": "m", "created": 1, "meta": META} | changed]})]).openai().digest("m")


def test_the_digest_is_of_the_weights_and_not_of_the_run() -> None:
    assert digest() == digest(created=2) == digest(meta=META | {"n_ctx": 512})
    assert digest() != digest(meta=META | {"size": 1})
    assert digest() != Wire(models=[ok({"data": [{"id": "m"}]})]).openai().digest("m")


@pytest.mark.parametrize("body", [[], {}, {"data": None}, {"data": {}}, {"models": []}])
def test_a_list_of_models_that_is_none(body: object) -> None:
    with pytest.raises(BadResponse):
        Wire(models=[ok(body)]).openai().digest("m")


def test_entries_that_are_no_models_do_not_count() -> None:
    assert Wire(models=[ok({"data": [None, {"id": 3}, {"id": "m"}]})]).openai().digest("m")
    with pytest.raises(ModelMissing):
        Wire(models=[ok({"data": []})]).openai().digest("m")


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(404, text="404 page not found"),
        httpx.Response(404, json={"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
    ],
)
def test_a_base_without_the_protocol_is_not_a_missing_model(reply: httpx.Response) -> None:
    for wire in (Wire(reply), Wire(models=[reply])):
        with pytest.raises(BadResponse, match="does not speak") as caught:
            wire.openai().embed("m", ["a"])
        assert "itza.openaiBase" in caught.value.hint


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>"),
        ok([]),
        ok({}),
        ok({"data": None}),
        ok({"data": [[1.0]]}),
        ok({"data": [{"index": 0}]}),
        ok({"data": [{"index": 0, "embedding": "AACAPw=="}]}),
        ok({"data": []}),
        rows([1.0], [2.0]),
        httpx.Response(302, headers={"Location": "http://example.com/"}),
        httpx.Response(401, json={"error": {"message": "Invalid API Key", "code": 401}}),
        httpx.Response(500, json={"error": {"code": 500, "message": "input is too large to process"}}),
        httpx.Response(500, text="boom\x1b[31m"),
    ],
)
def test_what_is_not_the_protocol_is_named(reply: httpx.Response) -> None:
    wire = Wire(reply)
    with pytest.raises(BadResponse) as caught:
        wire.openai().embed("m", ["a"])
    assert URL in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(wire.asked) == 1, "a redirect is not followed either"


def test_a_chat_server_asked_for_vectors_says_how_to_start_it() -> None:
    error = {"code": 501, "message": "This server does not support embeddings. Start it with `--embeddings`"}
    with pytest.raises(BadResponse, match="does not support embeddings") as caught:
        Wire(httpx.Response(501, json={"error": error})).openai().embed("m", ["a"])
    assert "--embeddings" in caught.value.hint


def test_embed_sends_the_texts_and_sorts_the_vectors() -> None:
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]
    wire = Wire(ok({"data": data}))
    assert wire.openai().embed("m", ["a", "b\udc80"]) == [[1.0], [2.0]]
    assert wire.body == {"model": "m", "input": ["a", "b\udc80"], "encoding_format": "float"}
    assert wire.requests[-1].url.path == "/v1/embeddings"


def test_nothing_to_embed_asks_nobody() -> None:
    wire = Wire(ok({}))
    assert wire.openai().embed("m", []) == []
    assert not wire.requests


def test_a_text_that_is_too_large_is_halved_until_it_fits() -> None:
    class Small(Wire):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            super().__call__(request)
            if request.url.path == "/v1/models":
                return ok(MODELS)
            texts = json.loads(request.content)["input"]
            if any(len(text) > 1000 for text in texts):
                error = {"code": 500, "message": "input is too large to process. increase the physical batch size"}
                return httpx.Response(500, json={"error": error})
            return rows(*([float(len(text)), 1.0] for text in texts))

    wire = Small(ok({}))
    remote = Remote(wire.openai(), "m", embedder="openai")
    texts = ["a", "b" * 3000]
    vectors = remote.embed(texts, Vocabulary().count(texts))
    assert remote.identity.embedder == "openai"
    assert vectors.all() and remote.failed == 0
    assert vectors[1][0] / vectors[1][1] == pytest.approx(750)


def test_cloud_models_are_never_called() -> None:
    wire = Wire(ok({}), models=[ok({"data": [{"id": "m:cloud"}, {"id": "big-instruct-cloud"}]})])
    openai = wire.openai()
    for call in (
        lambda: openai.embed("m:cloud", ["a"]),
        lambda: openai.digest("m-cloud"),
        lambda: list(openai.chat("m:1b-cloud", [], num_ctx=1, num_predict=1)),
    ):
        with pytest.raises(ConfigError):
            call()
    assert not wire.requests
    with pytest.raises(ConfigError):
        openai.digest("big")


def test_another_host_is_never_called() -> None:
    with pytest.raises(ConfigError):
        Wire(ok({})).openai("http://example.com:8080/v1")
    assert Wire(rows([1.0])).openai("http://example.com:8080/v1", allow_remote=True).embed("m", ["a"]) == [[1.0]]


def test_proxies_are_ignored_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    # With a proxy in force httpx would mount a transport of its own instead of the given one.
    assert Wire(rows([1.0])).openai().embed("m", ["a"]) == [[1.0]]


def test_chat_streams_pieces_and_ends_with_the_usage() -> None:
    wire = Wire(sse(FIRST, piece("Hel"), piece("lo."), STOP, USAGE))
    assert chat(wire) == ["Hel", "lo.", Usage("stop", 7)]
    assert wire.requests[-1].url.path == "/v1/chat/completions"
    assert wire.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 200,
        "temperature": 0,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_a_model_may_be_told_to_think() -> None:
    wire = Wire(sse(piece("a"), STOP))
    list(wire.openai().chat("m", [], num_ctx=1, num_predict=1, think=True))
    assert "chat_template_kwargs" not in wire.body


def test_chat_may_end_for_another_reason_and_without_counts() -> None:
    assert chat(Wire(sse(piece("a"), piece("b", "length")))) == ["a", "b", Usage("length", None)]


def test_an_answer_that_ended_needs_no_done() -> None:
    data = f"data: {json.dumps(piece('a', 'stop'))}\n\n".encode()
    assert chat(Wire(raw(data))) == ["a", Usage("stop", None)]
    assert chat(Wire(raw(data.rstrip()))) == ["a", Usage("stop", None)]


def test_nothing_is_read_after_done() -> None:
    data = b"data: [DONE]\n\n<html>"
    assert chat(Wire(raw(f"data: {json.dumps(piece('a'))}\n\n".encode() + data))) == ["a", Usage("stop", None)]


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\n"])
def test_events_may_be_cut_anywhere_and_hold_any_separator(end: str) -> None:
    odd = "\u00e9 \u0085 \u2028 \u000b \U0001f600"
    for size in (1, 2, 3, 7):

        def cut(data: bytes, size: int = size) -> list[bytes]:
            return [data[i : i + size] for i in range(0, len(data), size)]

        assert text(chat(Wire(sse(piece(odd), STOP, end=end, cut=cut)))) == odd


def test_comments_and_other_fields_are_passed_over() -> None:
    data = f": ping\n\nevent: message\nid: 3\nretry: 10\ndata:{json.dumps(piece('a', 'stop'))}\n\ndata: [DONE]\n\n"
    assert chat(Wire(raw(data.encode()))) == ["a", Usage("stop", None)]


def test_an_answer_without_an_end_is_broken() -> None:
    pieces: list[str | Usage] = []
    data = f"data: {json.dumps(piece('Half an'))}\n\n".encode()
    with pytest.raises(BadResponse, match="breaks off"):
        for item in Wire(raw(data)).openai().chat("m", [], num_ctx=1, num_predict=1):
            pieces.append(item)
    assert pieces == ["Half an"]


def test_a_connection_that_breaks_in_the_middle() -> None:
    def stream() -> Iterator[bytes]:
        yield f"data: {json.dumps(piece('Half'))}\n\n".encode()
        raise httpx.ReadError("reset")

    with pytest.raises(BadResponse, match="broke"):
        chat(Wire(httpx.Response(200, content=stream())))


@pytest.mark.parametrize(
    "line",
    [
        'data: {"error": {"code": 500, "message": "decode failed", "type": "server_error"}}',
        'data: {"error": "EOF"}',
        'data: {"object": "error", "message": "EOF"}',
        'error: {"code": 500, "message": "context shift is off"}',
        '{"error": {"message": "EOF"}}',
        "data: {}",
        "data: []",
        "data: null",
        "data: text",
        'data: {"choices": null}',
        'data: {"choices": [null]}',
        'data: {"choices": [{"message": {"content": "whole"}}]}',
        "<html>",
    ],
)
def test_a_bad_event_after_the_first_token(line: str) -> None:
    data = f"data: {json.dumps(piece('a'))}\n\n{line}\n\ndata: [DONE]\n\n"
    with pytest.raises(BadResponse) as caught:
        chat(Wire(raw(data.encode())))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "error",
    [
        {
            "code": 400,
            "message": "request (8031 tokens) exceeds the available context size (4096 tokens), try increasing it",
            "type": "exceed_context_size_error",
        },
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000", "code": 400},
    ],
)
def test_a_prompt_that_does_not_fit(error: object) -> None:
    with pytest.raises(PromptTooLong):
        chat(Wire(httpx.Response(400, json={"error": error})))


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<think>", "hm", "</think>", "\n\nYes."], "Yes."),
        (["<th", "ink>hm</thi", "nk>Yes."], "Yes."),
        (["<think>never ends"], ""),
        (["It parses `<think>` tags."], "It parses `<think>` tags."),
    ],
)
def test_leaked_thinking_is_stripped(pieces: list[str], shown: str) -> None:
    found = chat(Wire(sse(*map(piece, pieces), STOP, USAGE)))
    assert text(found) == shown
    assert found[-1] == Usage("stop", 7)


def test_a_thought_in_a_field_of_its_own_is_not_the_answer() -> None:
    thought = {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}, "finish_reason": None}]}
    assert text(chat(Wire(sse(thought, piece("Yes."), STOP)))) == "Yes."


def test_an_abandoned_chat_closes_its_connection() -> None:
    closed: list[bool] = []

    class Stream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield f"data: {json.dumps(piece('a'))}\n\n".encode()

        def close(self) -> None:
            closed.append(True)

    pieces = Wire(httpx.Response(200, stream=Stream())).openai().chat("m", [], num_ctx=1, num_predict=1)
    assert next(pieces) == "a"
    pieces.close()  # type: ignore[attr-defined]
    assert closed


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (None, URL),
        ("", URL),
        ("http://127.0.0.1:8080/v1", URL),
        ("http://127.0.0.1:8080/v1/", URL),
        (" '127.0.0.1' ", URL),
        ("0.0.0.0:1234", "http://127.0.0.1:1234/v1"),
        ("http://[::1]:1/v1", "http://[::1]:1/v1"),
        ("http://localhost", "http://localhost:80/v1"),
        ("http://localhost:1/api/v3", "http://localhost:1/api/v3"),
    ],
)
def test_bases(value: str | None, url: str) -> None:
    assert openai_url(value) == url


def test_the_settings_choose_the_server_and_the_embedder() -> None:
    assert set(config._CHOICES["server"]) == set(SERVERS)
    assert set(config._CHOICES["embedder"]) == set(EMBEDDERS)
    for name, kind in (("ollama", Ollama), ("openai", OpenAI)):
        server = SERVERS[name](Settings())
        assert isinstance(server, kind)
        server.close()
        embedder = embedder_for(Settings(embedder=name))
        assert isinstance(embedder, Remote) and embedder._embedder == name
    for setting in (Settings(openai_base="http://example.com/v1"), Settings(ollama_host="example.com")):
        with pytest.raises(ConfigError):
            SERVERS["openai" if "example" in setting.openai_base else "ollama"](setting)
