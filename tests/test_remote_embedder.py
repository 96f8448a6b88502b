"""Vectors from a server that fails in every way that was seen: no text is lost to another's fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from itza_git.embedding import Embedder
from itza_git.embedding.remote import GIVE_UP_AFTER, Remote, prefixes
from itza_git.errors import BadResponse, ModelMissing, ServerUnreachable
from itza_git.words import Vocabulary

NAN = float("nan")


class Server:
    """A server whose vector of a text depends on the text alone; `fault` may refuse or spoil a request."""

    def __init__(self, fault: Callable[[list[str]], list[list[float]] | None] = lambda texts: None) -> None:
        self.fault = fault
        self.requests: list[list[str]] = []

    def digest(self, model: str) -> str:
        return f"digest of {model}"

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        self.requests.append(list(texts))
        spoiled = self.fault(list(texts))
        return [vector(text) for text in texts] if spoiled is None else spoiled


def vector(text: str) -> list[float]:
    return [float(len(text)), float(sum(map(ord, text)) % 97), 5.0]


def unit(text: str) -> list[float]:
    row = np.array(vector("search_document: " + text))
    return list((row / np.linalg.norm(row)).astype(np.float32))


def refusing(bad: Callable[[str], bool]) -> Server:
    def fault(texts: list[str]) -> None:
        if any(map(bad, texts)):
            raise BadResponse("400")

    return Server(fault)


def embed(remote: Remote, texts: list[str]) -> np.ndarray:
    return remote.embed(texts, Vocabulary().count(texts))


def test_it_is_an_embedder() -> None:
    embedder: Embedder = Remote(Server())
    assert not embedder.is_local
    identity = embedder.identity
    assert (identity.embedder, identity.model, identity.dimension) == ("ollama", "nomic-embed-text", 3)
    assert identity.digest == "digest of nomic-embed-text"
    assert (identity.document_prefix, identity.query_prefix) == ("search_document: ", "search_query: ")


def test_vectors_have_length_one_and_keep_their_order() -> None:
    server = Server()
    remote = Remote(server)
    texts = [f"text {n}" for n in range(70)]
    vectors = embed(remote, texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(vectors, [unit(text) for text in texts])
    assert [len(request) for request in server.requests] == [1, 32, 32, 6], "the first asks for the dimension"
    assert remote.failed == 0


def test_identity_is_asked_once() -> None:
    remote = Remote(Server())
    assert remote.identity is remote.identity
    assert remote.calls == 1


def test_empty_texts_are_never_sent() -> None:
    server = Server()
    vectors = embed(Remote(server), ["", "a", " \n\t"])
    assert server.requests[1:] == [["search_document: a"]]
    assert not vectors[0].any() and not vectors[2].any()
    assert not embed(Remote(server), ["", " "]).any()
    assert embed(Remote(server), []).shape == (0, 3)


@pytest.mark.parametrize(
    ("model", "document", "query"),
    [
        ("nomic-embed-text", "search_document: ", "search_query: "),
        ("nomic-embed-text:v1.5", "search_document: ", "search_query: "),
        ("hf.co/nomic-ai/nomic-embed-text-v2-moe", "search_document: ", "search_query: "),
        ("mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "),
        ("embeddinggemma:300m", "title: none | text: ", "task: search result | query: "),
        ("all-minilm", "", ""),
        ("unknown", "", ""),
    ],
)
def test_prefixes(model: str, document: str, query: str) -> None:
    assert prefixes(model) == (document, query)


def test_a_question_has_its_own_prefix() -> None:
    server = Server()
    found = Remote(server).embed_question("why?")
    assert server.requests[0] == ["search_query: why?"]
    np.testing.assert_allclose(np.linalg.norm(found), 1, rtol=1e-6)
    assert not Remote(server).embed_question("  ").any()


def test_long_texts_are_cut() -> None:
    server = Server()
    embed(Remote(server), ["x" * 10_000])
    assert len(server.requests[-1][0]) == 4000 + len("search_document: ")


def test_one_bad_text_does_not_spoil_its_batch() -> None:
    server = refusing(lambda text: "bad" in text)
    remote = Remote(server)
    texts = [f"text {n}" for n in range(32)]
    texts[13] = "bad"
    vectors = embed(remote, texts)
    assert not vectors[13].any()
    for row, text in enumerate(texts):
        if row != 13:
            np.testing.assert_array_equal(vectors[row], unit(text))
    assert remote.failed == 1
    assert len(server.requests) < 16, "bisection, not one by one"


def test_a_text_that_is_too_long_is_halved_until_it_fits() -> None:
    server = refusing(lambda text: len(text) > 1100)
    remote = Remote(server)
    vectors = embed(remote, ["x" * 4000, "short"])
    assert vectors.any(axis=1).all()
    assert remote.failed == 0
    assert 900 < len(server.requests[-2][0]) <= 1100


@pytest.mark.parametrize(
    "spoiled", [[NAN, 1, 1], [0, 0, 0], [float("inf"), 1, 1], [1, 1], [], [None, 1, 1], ["a", 1, 1]]
)
def test_a_spoiled_vector_is_asked_for_again_alone(spoiled: list[float]) -> None:
    def fault(texts: list[str]) -> list[list[float]] | None:
        return [spoiled if text.endswith("odd") else vector(text) for text in texts] if len(texts) > 1 else None

    remote = Remote(Server(fault))
    vectors = embed(remote, ["a", "odd", "b"])
    np.testing.assert_array_equal(vectors, [unit("a"), unit("odd"), unit("b")])
    assert remote.failed == 0


@pytest.mark.parametrize("spoiled", [[NAN, 1, 1], [0, 0, 0], [1, 1, 1, 1]])
def test_a_text_that_never_gets_a_good_vector_is_counted(spoiled: list[float]) -> None:
    remote = Remote(Server(lambda texts: [spoiled if text.endswith("odd") else vector(text) for text in texts]))
    vectors = embed(remote, ["a", "odd", "b"])
    np.testing.assert_array_equal(vectors, [unit("a"), [0, 0, 0], unit("b")])
    assert remote.failed == 1


def test_a_wrong_count_is_bisected_like_a_refusal() -> None:
    remote = Remote(Server(lambda texts: [vector(text) for text in texts[:3]]))
    np.testing.assert_array_equal(embed(remote, list("abcde")), [unit(text) for text in "abcde"])


def test_a_refused_question_is_zeros() -> None:
    remote = Remote(refusing(lambda text: "bad" in text))
    assert not remote.embed_question("bad").any()


def test_a_server_that_refuses_everything_is_not_written_down_as_bad_texts() -> None:
    server = Server()
    remote = Remote(server)
    assert remote.identity
    server.fault = refusing(lambda text: True).fault
    with pytest.raises(BadResponse):
        embed(remote, [f"text {n}" for n in range(GIVE_UP_AFTER + 1)])


def test_a_server_that_is_gone_ends_the_run() -> None:
    server = Server()
    remote = Remote(server)
    assert remote.identity

    def gone(texts: list[str]) -> None:
        raise ServerUnreachable("gone")

    server.fault = gone
    with pytest.raises(ServerUnreachable):
        embed(remote, ["a"])


def test_a_chat_model_is_no_embedder() -> None:
    with pytest.raises(BadResponse, match="embedding model"):
        assert Remote(Server(lambda texts: [[0.0] for _ in texts])).identity


def test_a_missing_model_is_named() -> None:
    class Empty(Server):
        def digest(self, model: str) -> str:
            raise ModelMissing(model, f"ollama pull {model}")

    with pytest.raises(ModelMissing):
        embed(Remote(Empty()), ["a"])
