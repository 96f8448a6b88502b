"""A real model behind both protocols: what goes over the wire, what is checked, what is refused.

Never whether the model is right: SmolLM2-135M follows no instruction.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itza_git.answering.examples import PREFIX
from itza_git.answering.prompt import fewest_tokens
from itza_git.embedding.remote import Remote
from itza_git.errors import BadResponse, ModelMissing, ServerUnreachable
from itza_git.models.choice import Server
from itza_git.models.host import ollama_url, openai_url
from itza_git.models.ollama import Ollama
from itza_git.models.openai import OpenAI
from itza_git.models.protocol import Message, PromptTooLong, Usage
from itza_git.words import Vocabulary
from tests import llama
from tests.command import Done, itza
from tests.llama_weights import absent, chat_model
from tests.repository import Repo
from tests.test_ask import QUESTION, RETRY

if absent() and not llama.REAL:
    pytest.skip("no llama.cpp and weights: the third command of README, Set up", allow_module_level=True)

pytestmark = pytest.mark.llama

PROTOCOLS = ("openai", "ollama")
FOREIGN = "how does the client authenticate against kubernetes with oauth tokens?"
FREED_SECONDS = 60.0
only_llama = pytest.mark.skipif(bool(llama.REAL), reason="of llama.cpp, not of Ollama")


@pytest.fixture(scope="module")
def servers() -> Iterator[llama.Servers]:
    with tempfile.TemporaryDirectory() as folder, llama.servers(Path(folder)) as found:
        yield found


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def chatting(servers: llama.Servers, protocol: str) -> Iterator[Server]:
    with closing(client(servers.chat_base if protocol == "openai" else servers.ollama, protocol)) as server:
        yield server


@pytest.fixture
def embedding(servers: llama.Servers, protocol: str) -> Iterator[Server]:
    with closing(client(servers.embed_base if protocol == "openai" else servers.ollama, protocol)) as server:
        yield server


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/retry.py", RETRY)
    repo.write("src/colours.py", "def to_hex(rgb):\r\n    return '#%02x%02x%02x' % rgb")
    repo.write("README.md", "# Client\n\nA small client for the colour service.\n")
    repo.write("caf\u00e9 \u2028.md", "# One line about retries")
    repo.commit()
    return repo


def client(address: str, protocol: str) -> Server:
    return OpenAI(openai_url(address)) if protocol == "openai" else Ollama(ollama_url(address))


def run(project: Repo, variables: dict[str, str], *args: str) -> Done:
    """The finished `git itza ARGS` that uses the servers."""
    return itza(project, *args, prefix=(), **variables)


def chat(server: Server, model: str, content: str, num_predict: int) -> tuple[list[str], Usage]:
    *pieces, last = server.chat(model, [*PREFIX, Message("user", content)], num_ctx=4096, num_predict=num_predict)
    assert isinstance(last, Usage)
    texts = [piece for piece in pieces if isinstance(piece, str)]
    assert len(texts) == len(pieces)
    return [text for text in texts if text], last


def embed(remote: Remote, texts: list[str]) -> np.ndarray:
    return remote.embed(texts, Vocabulary().count(texts))


def check(project: Repo, done: Done) -> dict[str, Any]:
    """The JSON of an answer, after everything in it that the tool vouches for was held against git."""
    told: dict[str, Any] = done.json
    assert told["status"] in ("answered", "unverified", "no_se")
    assert done.code == (1 if told["status"] == "no_se" else 0)
    assert bool(told["citations"]) == (told["status"] == "answered")
    for one in told["citations"]:
        blob = project.git("rev-parse", f"{one['commit']}:{one['path']}")
        assert one["verified"] and one["blob"] == blob
        assert 1 <= one["start_line"] <= one["end_line"] <= count_lines(project, blob)
    return told


def count_lines(project: Repo, blob: str) -> int:
    # git() strips, so the file is read by its own count of lines.
    return max(len(project.git("cat-file", "blob", blob).split("\n")), 1)


def test_a_chat_streams_and_counts_its_prompt(servers: llama.Servers, chatting: Server) -> None:
    pieces, usage = chat(chatting, servers.answer_model, "Tell me a long story about lines of code.", 12)
    assert len(pieces) > 1
    assert usage.reason == "length"
    assert usage.prompt_tokens is not None
    assert fewest_tokens(PREFIX) <= usage.prompt_tokens < 1000


def test_a_chat_that_is_left_frees_the_server(servers: llama.Servers, chatting: Server) -> None:
    pieces = chatting.chat(servers.answer_model, [Message("user", "Count to 900.")], num_ctx=4096, num_predict=2000)
    assert next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    begun = time.monotonic()
    chat(chatting, servers.answer_model, "Say hi.", 2)
    assert time.monotonic() - begun < FREED_SECONDS


def test_a_prompt_that_does_not_fit_is_said(servers: llama.Servers, chatting: Server) -> None:
    with pytest.raises(PromptTooLong):
        chat(chatting, servers.answer_model, "one two three " * 4000, 2)


def test_an_absent_model_is_said(chatting: Server, embedding: Server) -> None:
    with pytest.raises(ModelMissing):
        chat(chatting, "no-such-model", "hi", 2)
    with pytest.raises(ModelMissing):
        embedding.embed("no-such-model", ["a"])
    with pytest.raises(ModelMissing):
        embedding.digest("no-such-model")


def test_vectors_keep_their_order_and_the_digest_its_value(servers: llama.Servers, embedding: Server) -> None:
    remote = Remote(embedding, servers.embed_model)
    texts = ["how are retries limited?", "a recipe for soup", "", "how are retries limited?"]
    vectors = embed(remote, texts)
    assert vectors.shape == (4, remote.identity.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0, 1], rtol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[3], atol=1e-3)
    assert vectors[0] @ vectors[1] < 0.9
    assert remote.identity.digest == embedding.digest(servers.embed_model) != ""


def test_a_text_that_is_too_long_is_cut_until_it_fits(servers: llama.Servers, embedding: Server) -> None:
    remote = Remote(embedding, servers.embed_model)
    dense = "".join(chr(0x4E00 + n) for n in range(3000))
    vectors = embed(remote, ["short", dense, "also short"])
    assert remote.failed == 0
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_both_protocols_give_one_vector(servers: llama.Servers) -> None:
    addresses = {"openai": servers.embed_base, "ollama": servers.ollama}
    vectors = []
    for protocol in PROTOCOLS:
        with closing(client(addresses[protocol], protocol)) as server:
            vectors.append(embed(Remote(server, servers.embed_model), ["a text", "another"]))
    first, second = vectors
    np.testing.assert_allclose(first, second, atol=1e-2)


@only_llama
def test_a_chat_server_gives_no_vectors(servers: llama.Servers) -> None:
    with (
        closing(client(servers.chat_base, "openai")) as server,
        pytest.raises(BadResponse, match="does not support embeddings") as caught,
    ):
        server.embed(servers.answer_model, ["a"])
    assert "--embeddings" in caught.value.hint


@only_llama
def test_a_server_that_loads_is_waited_for_and_one_that_died_is_named() -> None:
    with llama.child("chat", chat_model()) as url:
        llama.wait(url, ready=503)
        # A pause is as long as it takes: the model loads in a second, and on a slow machine in more than all pauses.
        with closing(OpenAI(openai_url(url), sleep=lambda _: llama.wait(url))) as server:
            pieces, usage = chat(server, chat_model().stem, "Say hi.", 4)
        assert pieces and usage.prompt_tokens
    with closing(client(url, "openai")) as server, pytest.raises(ServerUnreachable) as caught:
        server.digest("m")
    assert "itza.openaiBase" in caught.value.hint


def test_a_repository_is_indexed_once_and_searched(servers: llama.Servers, project: Repo, protocol: str) -> None:
    variables = servers.variables("ollama", protocol)
    done = run(project, variables, "index")
    assert (done.code, done.error) == (0, [])
    assert "4 blobs looked at: 4 new, 0 reused" in done.out
    assert " 0 new, " in run(project, variables, "index").out
    found = run(project, variables, "search", QUESTION, "--json").json
    assert found["hits"]
    for hit in found["hits"]:
        blob = project.git("rev-parse", f"{hit['commit']}:{hit['path']}")
        assert 1 <= hit["start_line"] <= hit["end_line"] <= count_lines(project, blob)
    status = run(project, variables, "status").out
    assert f"{protocol}/{servers.embed_model}" in status


def test_an_answer_is_checked_whatever_the_model_writes(servers: llama.Servers, project: Repo, protocol: str) -> None:
    variables = servers.variables(protocol)
    told = check(project, run(project, variables, "ask", QUESTION, "--json"))
    assert told["model"] == servers.answer_model
    done = run(project, variables, "ask", QUESTION)
    assert done.code in (0, 1) and done.error == []
    assert done.out.replace("\n", "").isprintable()
    for line in done.out.splitlines():
        number, _, citation = line.partition(" ")
        if number == "[1]":
            assert itza(project, "show", citation).code == 0


def test_a_question_about_all_is_answered_from_a_note_on_each_file(servers: llama.Servers, project: Repo) -> None:
    project.write("src/client.py", "from retry import retry_limit\n\n\ndef fetch_page():\n    retry_limit(3)\n")
    project.commit()
    told = check(project, run(project, servers.variables("openai"), "ask", "what does this project do?", "--json"))
    shown = {one["path"]: one["blob"] for one in told["passages"]}
    assert set(shown) == {"README.md", "src/retry.py"}
    noted = {path.name.partition("-")[0] for path in (project.path / ".git" / "itza" / "summaries").iterdir()}
    assert noted == set(shown.values())


def test_what_nothing_here_answers_is_refused_before_any_model(
    servers: llama.Servers, project: Repo, protocol: str
) -> None:
    variables = servers.variables(protocol)
    done = run(project, variables, "ask", FOREIGN, "--json")
    assert (done.code, done.json["status"], done.json["no_se_by"]) == (1, "no_se", "retrieval")
    forced = check(project, run(project, variables, "ask", FOREIGN, "--force", "--json"))
    assert forced["model"] == servers.answer_model
    assert forced["confidence"] in ("low", None)
    assert run(project, variables, "ask", FOREIGN, "--strict").code == 1


def test_strict_agrees_with_what_is_verified(servers: llama.Servers, project: Repo) -> None:
    done = run(project, servers.variables("openai"), "ask", QUESTION, "--strict", "--json")
    verified = all(one["verified"] for one in done.json["statements"]) if "statements" in done.json else None
    assert done.code in (0, 1, 4)
    if done.code == 0:
        assert done.json["status"] == "answered" and verified in (True, None)


def test_a_server_that_is_not_there_leaves_the_passages(project: Repo) -> None:
    base = f"http://127.0.0.1:{llama.free_port()}/v1"
    done = itza(project, "ask", QUESTION, ITZA_SERVER="openai", ITZA_OPENAI_BASE=base)
    assert done.code == 0 and "src/retry.py" in done.out
    assert f"not reachable at {base}" in done.err and "itza.openaiBase" in done.err
