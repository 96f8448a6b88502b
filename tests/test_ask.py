"""Asking with a model server on this machine, as a user does: the whole way through `git itza` and HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from itza_git.embedding.remote import BATCH
from tests.command import itza
from tests.model_server import Script, serving
from tests.repository import Repo

RETRY = '''def retry_limit(times):
    """How often a failed request is repeated: never more than five times."""
    return min(times, 5)


def backoff_seconds(attempt):
    """How long to wait before the next attempt: doubles each time."""
    return 2 ** attempt
'''
QUESTION = "how often is a failed request repeated?"


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/retry.py", RETRY)
    repo.write("src/colours.py", "def to_hex(rgb):\n    return '#%02x%02x%02x' % rgb\n")
    repo.write("README.md", "# Client\n\nA small client for the colour service.\n")
    repo.commit()
    return repo


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(Script()) as script:
        yield script


def test_an_answer_is_printed_with_citations_pinned_to_the_commit(project: Repo, server: Script) -> None:
    server.answer = "A failed request is repeated at most five times by `retry_limit` [1]."
    done = itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    short = project.git("rev-parse", "--short", "HEAD")
    assert (done.code, done.err) == (0, "")
    answer, _, sources = done.out.partition("\n\n")
    assert answer == "A failed request is repeated at most five times by `retry_limit` [1]."
    assert sources.startswith("[1] src/retry.py:") and sources.endswith(f"@{short}\n")
    citation = sources.split()[1]
    assert "retry_limit" in itza(project, "show", citation).out


def test_every_citation_in_the_json_exists_at_the_commit(project: Repo, server: Script) -> None:
    server.answer = "Repeated at most five times by `retry_limit` [1]. The wait doubles in `backoff_seconds` [9]."
    told = itza(project, "ask", QUESTION, "--json", OLLAMA_HOST=server.host).json
    assert told["status"] == "answered"
    assert told["model"] == "qwen2.5-coder:7b"
    assert [one["text"] for one in told["rejected"]] == ["[9]"]
    assert told["citations"]
    for one in told["citations"]:
        blob = project.git("rev-parse", f"{one['commit']}:{one['path']}")
        lines = project.git("cat-file", "blob", blob).split("\n")
        assert one["verified"] and one["blob"] == blob
        assert 1 <= one["start_line"] <= one["end_line"] <= len(lines)


def test_a_name_that_the_model_invents_makes_the_answer_unverified(project: Repo, server: Script) -> None:
    server.answer = "It is decided by `quantum_retry_policy` [1]."
    told = itza(project, "ask", QUESTION, "--json", OLLAMA_HOST=server.host)
    assert (told.json["status"], told.json["citations"]) == ("unverified", [])
    assert itza(project, "ask", QUESTION, "--strict", OLLAMA_HOST=server.host).code == 4


@pytest.mark.parametrize("said", ["NO_SE: the number of retries", "No_se: the number of retries"])
def test_a_model_that_does_not_know_ends_with_1_and_the_nearest_passages(
    project: Repo, server: Script, said: str
) -> None:
    server.answer = said
    done = itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    assert done.code == 1
    assert done.out.startswith("NO_SE: ")
    assert "nearest passages:" in done.out and "src/retry.py" in done.out


def test_a_question_about_something_else_never_reaches_the_model(project: Repo, server: Script) -> None:
    foreign = "how does the kubernetes scheduler evict failed zookeeper pods?"
    done = itza(project, "ask", foreign, "--json", OLLAMA_HOST=server.host)
    assert (done.code, done.json["status"], done.json["no_se_by"]) == (1, "no_se", "retrieval")
    assert server.chats == []
    itza(project, "ask", foreign, "--force", OLLAMA_HOST=server.host)
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("how are pods deployed to kubernetes?", "pods, deployed, kubernetes"),
        ("¿cómo se despliegan los pods de kubernetes?", "despliegan, pods, kubernetes"),
        ("comment sont déployés les pods kubernetes ?", "déployés, pods, kubernetes"),
        ("what is the capital of France?", "capital, France"),
        ("¿cuál es la capital de Francia?", "capital, Francia"),
        ("how does it connect to the postgres database?", "connect, postgres, database"),
        ("where is the TLS certificate validated?", "TLS, certificate, validated"),
    ],
)
def test_what_is_nowhere_is_no_se_in_every_language_and_without_a_model(
    project: Repo, question: str, missing: str
) -> None:
    for number in range(8):
        project.write(f"src/client{number}.py", f"def send_request{number}(attempt):\n    return retry(attempt)\n")
    project.commit()
    done = itza(project, "ask", "--no-model", question)
    assert done.code == 1
    assert done.out.splitlines()[0] == f"NO_SE: no passage mentions {missing}"
    assert done.out.count("@") <= 3
    assert "nowhere" not in done.err  # it is said already


@pytest.mark.parametrize(
    "question",
    ["how long does it wait before the next attempt?", "¿cuántas veces se repite una petición que ha fallado?"],
)
def test_what_is_here_is_shown_without_a_model(project: Repo, question: str) -> None:
    done = itza(project, "ask", "--no-model", question)
    assert done.code == 0
    assert "src/retry.py" in done.out and "NO_SE" not in done.out


def test_forced_the_model_gets_the_nearest_passages_where_nothing_is_here(project: Repo, server: Script) -> None:
    asked = ("ask", "kubernetes zookeeper?")
    assert itza(project, *asked, OLLAMA_HOST=server.host).code == 1
    assert server.chats == []
    server.answer = "NO_SE: kubernetes"
    done = itza(project, *asked, "--force", "--json", OLLAMA_HOST=server.host)
    assert len(server.chats) == 1
    assert (done.json["no_se_by"], bool(done.json["passages"])) == ("model", True)


@pytest.mark.parametrize("question", ["where is it used and why?", "¿qué es esto y cómo se hace?"])
def test_a_question_that_names_nothing_is_told_so(project: Repo, question: str) -> None:
    done = itza(project, "ask", "--no-model", question)
    assert done.code == 1
    assert done.out.splitlines()[0] == "NO_SE: the question names nothing to look for"


def test_a_question_of_which_nothing_is_here_is_no_se_without_a_passage(project: Repo, server: Script) -> None:
    done = itza(project, "ask", "kubernetes zookeeper?", "--json", OLLAMA_HOST=server.host)
    assert (done.code, done.json["status"], done.json["no_se_by"]) == (1, "no_se", "retrieval")
    assert done.json["passages"] == [] and "kubernetes" in done.json["missing"]
    assert itza(project, "search", "kubernetes zookeeper?").code == 1


def test_a_model_that_is_not_there_is_named_with_the_command_that_fetches_it(project: Repo, server: Script) -> None:
    done = itza(project, "ask", QUESTION, "--model", "llama9", OLLAMA_HOST=server.host)
    assert done.code == 0 and "src/retry.py" in done.out
    assert "ollama pull llama9" in done.err


def test_the_prompt_holds_the_passages_and_its_window_is_set(project: Repo, server: Script) -> None:
    server.answer = "Five times [1]."
    itza(project, "ask", QUESTION, OLLAMA_HOST=server.host)
    chat = server.chats[0]
    assert chat["options"]["num_ctx"] >= 4096
    last = chat["messages"][-1]["content"]
    assert "def retry_limit(times):" in last and last.rstrip().endswith(QUESTION)


def test_a_remote_embedder_is_sent_each_text_once_in_small_batches(project: Repo, server: Script) -> None:
    project.write("empty.py", "")
    project.write("blank.py", "  \n\n")
    project.write("many.py", "\n\n".join(f"def f{n}(x):\n" + "    x += 1\n" * 20 for n in range(80)))
    project.commit()
    project.git("config", "itza.embedder", "ollama")
    assert itza(project, "index", OLLAMA_HOST=server.host).code == 0
    documents = [text for text in server.embedded if text.startswith("search_document: ")]
    assert len(documents) > BATCH
    assert max(server.batches) <= BATCH
    assert all(text.removeprefix("search_document: ").strip() for text in documents)
    before = len(server.embedded)
    assert itza(project, "index", OLLAMA_HOST=server.host).code == 0
    assert [text for text in server.embedded[before:] if "def f" in text] == []
    assert itza(project, "search", "retry", OLLAMA_HOST=server.host).code == 0
    assert server.embedded[-1] == "search_query: retry"


def test_an_embedder_that_is_not_reachable_is_one_line_with_a_hint(project: Repo) -> None:
    project.git("config", "itza.embedder", "ollama")
    done = itza(project, "search", "retry")
    assert done.code == 2
    assert done.error[0].startswith("error: Ollama is not reachable at http://127.0.0.1:1")
    assert done.error[1].startswith("hint: ")
