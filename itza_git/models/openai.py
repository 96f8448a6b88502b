"""The protocol of OpenAI over HTTP, as llama.cpp, LM Studio and vLLM speak it."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256

import httpx

from itza_git.errors import BadResponse, ModelError, ModelMissing
from itza_git.models.host import check_model_local
from itza_git.models.protocol import Message, Usage
from itza_git.models.stream import events, shorten, without_thinking
from itza_git.models.wire import PAUSES, Names, Refusal, Wire, error_words

_NAMES = Names(
    "the model server",
    "start it (`llama-server -m MODEL.gguf`), or git config itza.openaiBase http://HOST:PORT/v1",
    "wait until it has loaded its model",
)
_NO_ROUTE = "git config itza.openaiBase http://HOST:PORT/v1"
_NO_MODEL = re.compile(
    r"model.*\b(not found|not exist|not loaded|no such|unknown)|(unknown|no such) model", re.I | re.S
)
# What the meta of llama.cpp tells of the run, and not of the weights.
_OF_THE_RUN = ("n_ctx",)

Entry = Mapping[str, object]


class OpenAI:
    """A server at a base URL, as `openai_url` gives it. Raises `ConfigError` for a host that is not this machine.

    Every call first looks the model up in the server's list, once: llama.cpp answers with whatever it has loaded,
    and an answer must not bear the name of another model. sleep and transport are for tests.
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
        self._entries: dict[str, Entry] = {}
        self._wire = Wire(base_url, _NAMES, self._meaning, allow_remote=allow_remote, transport=transport, sleep=sleep)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def digest(self, model: str) -> str:
        """A hash of all that the server tells of the model's weights; there is no digest in this protocol."""
        entry = self._entry(model)
        meta = entry.get("meta")
        told = {key: value for key, value in meta.items() if key not in _OF_THE_RUN} if isinstance(meta, dict) else None
        return sha256(json.dumps([entry["id"], told], sort_keys=True).encode()).hexdigest()

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises `BadResponse` when the server refuses any of them."""
        check_model_local(model, self._allow_remote)
        if not texts:
            return []
        body = {"model": self._entry(model)["id"], "input": list(texts), "encoding_format": "float"}
        found = self._wire.json("POST", "/embeddings", body, model).get("data")
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise self._wire.bad("its answer has no embeddings")
        rows = [row.get("embedding") for row in sorted(found, key=_index)]
        if not all(isinstance(row, list) for row in rows):
            raise self._wire.bad("its answer has no embeddings")
        if len(rows) != len(texts):
            raise self._wire.bad(f"{len(rows)} embeddings for {len(texts)} texts")
        return rows

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        """The answer in pieces, without thinking, then one Usage as the last item.

        The protocol cannot set num_ctx: the window is the server's own. Raises `ModelError`, at the first piece or,
        when the server breaks off, at any later one.
        """
        check_model_local(model, self._allow_remote)
        body: dict[str, object] = {
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": num_predict,
            "temperature": 0,
        }
        if not think:
            # The one way to tell llama.cpp and vLLM; others leave it unread.
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return without_thinking(self._pieces(model, body))

    def _pieces(self, model: str, body: Mapping[str, object]) -> Iterator[str | Usage]:
        body = {"model": self._entry(model)["id"], **body}
        reason, tokens = None, None
        with closing(self._wire.blocks("/chat/completions", body, model)) as blocks:
            for event in events(blocks):
                if event is None:
                    # Some end every stream like this, also one without an answer.
                    yield Usage(reason or "stop", tokens)
                    return
                if event.get("error") is not None or event.get("object") == "error":
                    raise self._wire.bad(error_words(event) or "an error without words")
                tokens = _prompt_tokens(event, tokens)
                content, ended = self._choice(event)
                reason = ended or reason
                yield content
        if reason is None:
            raise self._wire.bad("the answer breaks off before its end")
        yield Usage(reason, tokens)

    def _choice(self, event: Mapping[str, object]) -> tuple[str, str | None]:
        """The text of an event and why the answer ends with it; no text in one that only counts, or only thinks."""
        choices = event.get("choices")
        if choices == []:
            return "", None
        choice = choices[0] if isinstance(choices, list) else None
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(delta, dict):
            raise self._wire.bad(f"a part of the answer has no text: {shorten(json.dumps(event))}")
        content, reason = delta.get("content"), choice.get("finish_reason")
        return content if isinstance(content, str) else "", reason if isinstance(reason, str) else None

    def _entry(self, model: str) -> Entry:
        """What the server lists for the model: by its id or alias, by its file's name, or by how that begins."""
        check_model_local(model, self._allow_remote)
        if model not in self._entries:
            listed = self._listed()
            known = [(entry, _names(entry)) for entry in listed]
            fitting = [
                next((entry for entry, names in known if model in names), None),
                next((entry for entry, names in known if any(_begins(name, model) for name in names)), None),
            ]
            found = next((entry for entry in fitting if entry is not None), None)
            if found is None:
                raise self._missing(model, [str(entry["id"]) for entry in listed])
            check_model_local(str(found["id"]), self._allow_remote)
            self._entries[model] = found
        return self._entries[model]

    def _listed(self) -> list[Entry]:
        for pause in (*PAUSES, None):
            found = self._wire.json("GET", "/models").get("data")
            if not isinstance(found, list):
                raise self._wire.bad("its list of models has no models", _NO_ROUTE)
            listed: list[Entry] = [
                entry for entry in found if isinstance(entry, dict) and isinstance(entry.get("id"), str)
            ]
            # A llama.cpp that still loads lists its model with an empty meta, which would be another digest.
            if not any("meta" in entry and entry["meta"] is None for entry in listed):
                return listed
            if pause is not None:
                self._wire.sleep(pause)
        raise self._wire.stays_busy()

    def _meaning(self, refusal: Refusal, model: str) -> ModelError | None:
        if model and refusal.status in (400, 404) and _NO_MODEL.search(refusal.words):
            return self._missing(model, [])
        if refusal.status == 404:
            return BadResponse(f"the server at {self._wire.url} does not speak OpenAI's protocol there", _NO_ROUTE)
        if refusal.status == 501:
            return self._wire.bad(refusal.words or "501", "llama-server --embeddings -m MODEL.gguf")
        return None

    def _missing(self, model: str, listed: Sequence[str]) -> ModelMissing:
        text = f"the model server at {self._wire.url} does not have the model {model}"
        if not listed:
            return ModelMissing(text, f"curl {self._wire.url}/models lists those that it has")
        # Which of the two settings is wrong is not known here.
        return ModelMissing(text, f"it has {shorten(shlex.join(listed))}: set itza.answerModel or itza.embedModel")


def _names(entry: Entry) -> list[str]:
    """What a listed model may be called: its id, its aliases, and of a file also its name, with and without suffix."""
    aliases = entry.get("aliases")
    names = [str(entry["id"]), *(str(alias) for alias in (aliases if isinstance(aliases, list) else []))]
    files = [re.split(r"[/\\]", name)[-1] for name in names]
    return [*names, *files, *(name.removesuffix(".gguf") for name in files)]


def _begins(name: str, model: str) -> bool:
    """Whether `qwen2.5-coder:7b` may be called `qwen2.5-coder-7b-instruct-q4_k_m`."""
    name, model = (re.sub(r"[\W_]+", "-", text.casefold()).strip("-") + "-" for text in (name, model))
    return name.startswith(model)


def _index(row: Mapping[str, object]) -> int:
    index = row.get("index")
    return index if isinstance(index, int) else 0


def _prompt_tokens(event: Mapping[str, object], before: int | None) -> int | None:
    usage = event.get("usage")
    count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) else before
