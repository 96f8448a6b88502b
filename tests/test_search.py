"""Search over a tree: its statistics are its own, filters hold, and no question is too odd."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from itza_git.records import Passage
from itza_git.search import ranking
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.features import COLUMNS
from itza_git.search.forms import forms
from itza_git.search.lexical import lexical
from itza_git.search.question import Question
from itza_git.search.ranking import Evidence
from itza_git.search.retrieval import Found, search
from itza_git.store.postings import BEGINNING, WRITTEN
from itza_git.words import Bags
from tests.counting import DIMENSION, Counting, Index
from tests.repository import Repo


def find(index: Index, query: str, rev: str = "HEAD", limit: int = 10, wanted: Filter | None = None) -> Found:
    corpus = Corpus(index.space, index.refresh(rev).view)
    return search(corpus, Question(query), index.embedder, limit, wanted)


def places(found: Sequence[Passage]) -> list[str]:
    return [passage.path.decode() for passage in found]


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/cache.py", "def evict_oldest(cache):\n    cache.pop(next(iter(cache)))\n")
    repo.write("src/server.go", "package server\n\nfunc ListenAndServe(port int) error { return nil }\n")
    repo.write("docs/guide.md", "# Guide\n\nHow the cache forgets its oldest entry.\n")
    repo.write("src/datos.py", "def guardar_año(año):\n    # añade la configuración\n    return año\n")
    repo.write("src/检索.py", "# 检索文档的函数\ndef retrieve_documents():\n    pass\n")
    repo.commit()
    return repo


def test_what_is_asked_for_comes_first(project: Repo) -> None:
    index = Index(project.path)
    assert places(find(index, "evict oldest").passages)[0] == "src/cache.py"
    assert places(find(index, "ListenAndServe").passages)[0] == "src/server.go"
    assert places(find(index, "listen and serve").passages)[0] == "src/server.go"


class Pointing(Counting):
    """Takes every question for the same one."""

    def embed_question(self, question: str) -> NDArray[np.float32]:
        return super().embed_question("def evict_oldest(cache)")

    def embed(self, texts: Sequence[str], bags: Bags) -> NDArray[np.float32]:
        return np.array([super(Pointing, self).embed_question(text) for text in texts], np.float32)


@pytest.mark.parametrize(
    ("evidence", "first"),
    [(Evidence.LEXICAL, "src/server.go"), (Evidence.DENSE, "src/cache.py"), (Evidence.ALL, "src/server.go")],
)
def test_evidence_can_be_taken_apart_to_measure_it(project: Repo, evidence: Evidence, first: str) -> None:
    index = Index(project.path, embedder=Pointing())
    corpus = Corpus(index.space, index.refresh().view)
    found = search(corpus, Question("ListenAndServe"), index.embedder, 10, evidence=evidence).passages
    assert places(found)[0] == first
    assert bool(found[0].parts) == (evidence is Evidence.ALL)


class Senseless(Counting):
    """Its vectors say nothing: at random, or all the same."""

    def embed_question(self, question: str) -> NDArray[np.float32]:
        if self.identity.model == "constant":
            return np.full(DIMENSION, DIMENSION**-0.5, np.float32)
        vector = np.random.default_rng(list(question.encode())).standard_normal(DIMENSION).astype(np.float32)
        return vector / np.float32(np.linalg.norm(vector))


@pytest.mark.parametrize("model", ["constant", "random"])
def test_what_is_asked_for_comes_first_whatever_the_vectors(project: Repo, model: str) -> None:
    for number in range(40):
        project.write(f"src/other{number}.py", f"def handle_{number}(request):\n    return request.number + {number}\n")
    project.commit()
    index = Index(project.path, embedder=Senseless(model))
    for query, first in (
        ("evict oldest", "src/cache.py"),
        ("how is the oldest entry of the cache evicted?", "src/cache.py"),
        ("ListenAndServe", "src/server.go"),
        ("retrieve documents", "src/检索.py"),
    ):
        assert places(find(index, query).passages)[0] == first


def test_statistics_are_those_of_the_asked_tree_alone(project: Repo) -> None:
    """What other branches hold changes no rank and no score: an index that knows them equals one that does not."""
    project.git("checkout", "--quiet", "-b", "noise")
    for number in range(30):
        project.write(f"noise/{number}.py", f"def evict_cache_{number}(oldest):\n    return 'cache {number}'\n")
    project.commit()
    project.git("checkout", "--quiet", "main")
    knows_both = Index(project.path, embedder=Counting("both"))
    knows_both.refresh("noise")
    alone = Index(project.path, embedder=Counting("alone"))
    for query in ("evict oldest cache", "how does the server listen?", "guide"):
        both, one = find(knows_both, query), find(alone, query)
        assert [(p.path, p.first) for p in both.passages] == [(p.path, p.first) for p in one.passages]
        assert [p.score for p in both.passages] == pytest.approx([p.score for p in one.passages], abs=1e-3)
        assert (both.coverage, both.unknown, both.lacking) == (one.coverage, one.unknown, one.lacking)
    assert knows_both.embedder.texts != alone.embedder.texts


def test_deleted_and_changed_files_are_not_found_any_more(project: Repo) -> None:
    index = Index(project.path)
    find(index, "evict oldest")
    project.git("rm", "-q", "src/cache.py")
    project.commit()
    assert "src/cache.py" not in places(find(index, "evict oldest").passages)
    assert "src/cache.py" in places(find(index, "evict oldest", "HEAD~1").passages)


def test_the_same_blob_is_found_at_each_of_its_paths(project: Repo) -> None:
    project.write("copy/of_cache.py", (project.path / "src/cache.py").read_bytes())
    project.commit()
    found = [p for p in find(Index(project.path), "evict oldest").passages if p.symbol == "evict_oldest"]
    assert sorted(places(found)) == ["copy/of_cache.py", "src/cache.py"]
    assert len({p.blob for p in found}) == 1


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(("src",)), {"src/cache.py", "src/server.go", "src/datos.py", "src/检索.py"}),
        (Filter(("*.md",)), {"docs/guide.md"}),
        (Filter(("*.md", "src/server.go")), {"docs/guide.md", "src/server.go"}),
        (Filter((), ("go",)), {"src/server.go"}),
        (Filter(("src",), ("markdown",)), set()),
        (Filter(("docs",), ("markdown", "go")), {"docs/guide.md"}),
    ],
)
def test_a_filter_holds_whatever_the_question(project: Repo, wanted: Filter, expected: set[str]) -> None:
    found = find(Index(project.path), "cache server guide año 检索 oldest", wanted=wanted)
    assert set(places(found.passages)) <= expected
    assert bool(found.passages) is bool(expected)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_more_passages_than_asked_for(project: Repo, limit: int) -> None:
    found = find(Index(project.path), "cache oldest server", limit=limit).passages
    assert len(found) == limit
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)
    assert found[0].score == 1


def test_more_passages_than_there_are_is_all_of_them(project: Repo) -> None:
    assert len(find(Index(project.path), "cache", limit=1000).passages) <= 5


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("¿dónde se guarda el año?", "src/datos.py"),
        ("configuración", "src/datos.py"),
        ("CONFIGURACIÓN", "src/datos.py"),
        ("检索文档", "src/检索.py"),
        ("`evict_oldest`", "src/cache.py"),
        ("evictOldest()", "src/cache.py"),
        ("EVICT_OLDEST", "src/cache.py"),
        ("src/server.go", "src/server.go"),
    ],
)
def test_questions_in_other_languages_and_spellings(project: Repo, query: str, first: str) -> None:
    assert places(find(Index(project.path), query).passages)[0] == first


@pytest.mark.parametrize("query", ["", "   ", "???", "12 34", "\n\t", "🙂", "x" * 5000, "\ud800", "a" * 81])
def test_a_question_without_a_word_finds_nothing(project: Repo, query: str) -> None:
    found = find(Index(project.path), query)
    assert found.passages == []
    assert (found.coverage, found.cosine) == (0.0, 0.0)


def test_a_question_of_stop_words_alone_takes_them_at_their_word(project: Repo) -> None:
    assert places(find(Index(project.path), "how its the").passages)[0] == "docs/guide.md"


def test_words_that_stand_nowhere_are_named(project: Repo) -> None:
    found = find(Index(project.path), "evict zebra oldest unicorn")
    assert found.unknown == ["zebra", "unicorn"]
    assert set(found.unknown) <= set(found.lacking)
    assert 0 < found.coverage < 1
    assert find(Index(project.path), "zebra unicorn").coverage == 0.0


def test_another_form_of_a_word_is_not_lacking_and_covers_a_little_less(project: Repo) -> None:
    index = Index(project.path)
    exact, other = find(index, "evict the oldest"), find(index, "evicting the oldest")
    assert other.lacking == []
    assert exact.coverage > other.coverage > 0.5


def test_an_empty_tree_finds_nothing(repo: Repo) -> None:
    repo.commit()
    assert find(Index(repo.path), "anything").passages == []


def test_rarer_words_weigh_more(project: Repo) -> None:
    for number in range(4):
        project.write(f"src/{number}.py", "alpha = beta = 1\n")
    project.write("src/rare.py", "alpha = zebra = 1\n")
    project.commit()
    index = Index(project.path)
    corpus = Corpus(index.space, index.refresh().view)
    best = lexical(corpus, {"beta": 1.0, "zebra": 1.0}).score.argmax()
    assert corpus.view.paths[corpus.entry[best]] == b"src/rare.py"


def test_the_lexical_evidence_is_that_of_each_passage_by_itself(project: Repo) -> None:
    """A copy counts as the original does, rows of other trees and the number of packs change nothing."""
    for name in ("one", "copy"):
        project.write(f"src/{name}.py", "def twin():\n    return alpha  # beta alphas\n")
        project.commit()
        Index(project.path).refresh()
    project.write("src/gone.py", "alpha = beta = twin\n")
    project.commit()
    Index(project.path).refresh()
    project.path.joinpath("src/gone.py").unlink()
    project.commit()
    index = Index(project.path)
    corpus = Corpus(index.space, index.refresh().view)
    terms, forms = {"alpha": 1.0, "twin": 0.5, "copy": 1.0}, {"alpha": ["alphas"]}
    found = lexical(corpus, terms, forms)
    one, copy = (corpus.first_passage[corpus.view.paths.index(path)] for path in (b"src/one.py", b"src/copy.py"))
    assert corpus.row[one] == corpus.row[copy]
    alone = lexical(corpus, {"alpha": 1.0, "twin": 0.5}, forms).score
    assert alone[one] == alone[copy] == found.score[one] < found.score[copy]
    (begins, _), (written, _) = parts = found.parts((BEGINNING, WRITTEN), np.array([one, copy]))
    assert all(part[0] == part[1] for part in parts)
    assert begins > written > 0
    assert corpus.holding("alpha") == 2


def test_another_form_of_a_word_is_found_too_and_the_word_itself_before_it(project: Repo) -> None:
    project.write("src/one.py", "def stop_copying(): return 1\n")
    project.write("src/two.py", "def stop_copies(): return 1\n")
    project.commit()
    index = Index(project.path)
    for asked, first, second in (("copies", "two", "one"), ("copying", "one", "two")):
        assert places(find(index, asked).passages)[:2] == [f"src/{first}.py", f"src/{second}.py"]


@pytest.mark.parametrize(
    ("word", "form"), [("copied", "copy"), ("stopping", "stop"), ("stop", "stopped"), ("routes", "router"), ("id", "")]
)
def test_forms_of_a_word(word: str, form: str) -> None:
    assert (form in forms(word)) if form else forms(word) == []
    assert word not in forms(word)


def test_one_long_file_does_not_fill_the_page(project: Repo) -> None:
    body = "cache oldest entry text\n" * 30
    project.write("long.md", "".join(f"# Cache {n}\n\n{body}\n" for n in range(20)))
    project.commit()
    assert len(set(places(find(Index(project.path), "cache oldest", limit=10).passages))) >= 3


def test_passages_of_several_packs_are_found_together(project: Repo) -> None:
    index = Index(project.path)
    index.refresh()
    project.write("src/second.py", "def evict_newest(cache):\n    cache.popitem()\n")
    project.commit()
    index.refresh()
    assert len(index.space.packs()) == 2
    assert set(places(find(index, "evict cache").passages)) >= {"src/cache.py", "src/second.py"}


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    known = json.loads(Path(ranking.__file__).with_name("weights.json").read_text("utf-8"))
    assert set(known) == set(COLUMNS)


@pytest.mark.parametrize(
    ("text", "is_sentence"),
    [
        ("How are retries limited?", True),
        ("how are retries limited", True),
        ("why is the cache emptied twice", True),
        ("In which order are hooks run", True),
        ("the retries are limited where?", True),
        ("¿Dónde se limitan los reintentos?", True),
        ("connection pool", False),
        ("how the connection pool works", False),
        ("ConnectionPool.acquire", False),
    ],
)
def test_a_question_in_words_is_told_from_key_words(text: str, is_sentence: bool) -> None:
    assert Question(text).is_sentence is is_sentence


def test_for_a_question_a_file_may_give_more_of_its_passages(project: Repo) -> None:
    for number in range(4):
        project.write(f"src/other{number}.py", f"def oldest_{number}():\n    return 'oldest'\n")
    project.write("src/long.py", "\n\n".join(f"def evict_oldest_{n}(c):\n" + "    c.evict()\n" * 24 for n in range(4)))
    project.commit()
    index = Index(project.path)
    as_words, as_question = (
        [at for at, path in enumerate(places(find(index, text).passages)) if path == "src/long.py"]
        for text in ("evict oldest", "how does it evict the oldest?")
    )
    assert as_question[1] < as_words[1]


def test_what_a_comment_says_tells_more_than_the_same_words_in_code(project: Repo) -> None:
    body = "    x = 1\n    y = 2\n    z = 3\n"
    project.write("src/one.py", f"def first(entry):\n{body}    return forget(entry)\n")
    project.write("src/two.py", f"def second(item):\n{body}    return item  # forget the entry\n")
    project.commit()
    found = find(Index(project.path), "how is an entry forgotten?")
    parts = {passage.path.decode(): passage.parts for passage in found.passages}
    assert parts["src/two.py"]["written"] > parts["src/one.py"].get("written", 0.0) == 0.0
    assert parts["src/one.py"]["begins"] > parts["src/two.py"].get("begins", 0.0) == 0.0


def test_the_parts_of_a_hit_add_up_to_its_score(project: Repo) -> None:
    project.write("src/long.py", "\n\n".join(f"def evict_oldest_{n}(c):\n" + "    c.evict()\n" * 24 for n in range(4)))
    project.commit()
    passages = find(Index(project.path), "evict oldest").passages
    sums = [sum(one.parts.values()) for one in passages]
    assert any("repeated" in one.parts for one in passages)
    for one, told in zip(passages, sums, strict=True):
        # The score has four digits, each part two.
        assert one.score == pytest.approx(np.exp(told - sums[0]), rel=0.2, abs=1e-4)
