"""Who gives a name finds its definition: the declaration, and not what goes on with it or speaks of it."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.chunking import chunk
from itza_git.records import Passage
from itza_git.search.corpus import Corpus
from itza_git.search.lexical import lexical
from itza_git.search.question import Question
from itza_git.search.ranking import POOL
from itza_git.search.retrieval import search
from tests.counting import Index
from tests.repository import Repo

COMMENT = "".join(f" * Stores can be opened, line {number}.\n" for number in range(60))
FIELDS = "".join(f"    private int field{number} = {number};\n" for number in range(40))
METHODS = "".join(
    f"    public int method{number}() {{\n" + "        count += 1;\n" * 24 + "    }\n" for number in range(3)
)
JAVA = f"package a;\n\n/**\n{COMMENT} */\npublic class Store {{\n{METHODS}{FIELDS}}}\n"
DECLARED = JAVA.splitlines().index("public class Store {") + 1


def found(repo: Repo, query: str) -> list[Passage]:
    index = Index(repo.path)
    corpus = Corpus(index.space, index.refresh("HEAD").view)
    return search(corpus, Question(query), index.embedder, 20).passages


def test_of_a_long_comment_only_the_end_is_in_the_chunk_of_the_declaration() -> None:
    chunks = chunk(JAVA.encode(), "java")
    declaring = next(one for one in chunks if one.first <= DECLARED <= one.last)
    assert (declaring.kind, declaring.symbol) == ("type", "Store")
    above = [one for one in chunks if one.symbol == "Store" and one.last < declaring.first]
    assert above
    assert {one.kind for one in above} == {"comment"}
    assert {one.kind for one in chunks if one.first > DECLARED} == {"type", "method"}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("store.py", "# A remark.\n" * 70 + "def store():\n    pass\n"),
        ("store.rs", "/// A remark.\n" * 70 + "#[inline]\npub fn store() {\n    open();\n}\n"),
        ("store.rb", "# A remark.\n" * 70 + "class Store\n  def open\n    1\n  end\nend\n"),
        ("store.ts", "/**\n" + " * A remark.\n" * 70 + " */\nexport function store() {\n  open();\n}\n"),
    ],
)
def test_a_remark_that_fills_a_chunk_defines_nothing_in_any_language(name: str, source: str) -> None:
    language = {"py": "python", "rs": "rust", "rb": "ruby", "ts": "typescript"}[name[-2:]]
    named = [one for one in chunk(source.encode(), language) if "tore" in one.symbol]
    assert [one.kind == "comment" for one in named][:2] == [True, True]
    assert named[-1].kind != "comment"


def test_a_definition_that_shares_its_chunk_with_a_remark_below_is_one() -> None:
    source = "def strip(a):\n    return a\n\n" + "# A remark.\n" * 42 + "def second(a):\n    return strip(a)\n"
    first, *_, last = chunk(source.encode(), "python")
    assert (first.kind, first.symbol, last.kind) == ("function", "strip, second", "function")


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("scala", "@anno\n/**\n*/\nclass Foo {\n" + "\n" * 38 + "  def bar = 1\n}\n"),
        ("csharp", "/*\n*/\n[Attr]\n/*\n*/\nclass Foo {\n" + "\n" * 45 + "  int bar() { return 1; }\n}\n"),
    ],
)
def test_no_declaration_is_in_a_comment(language: str, source: str) -> None:
    at = source.splitlines().index("class Foo {") + 1
    assert next(one for one in chunk(source.encode(), language) if one.first <= at <= one.last).kind != "comment"


def test_each_variant_of_a_function_is_a_definition(repo: Repo) -> None:
    filler = "".join(f"    let x{n} = {n};\n" for n in range(20))
    other = f"fn other() {{\n{filler}}}\n"
    repo.write("a.rs", "\n".join(f"#[cfg(os = {n})]\nfn from_path() {{\n{filler}}}\n\n{other}" for n in range(3)))
    repo.commit()
    assert len([one for one in found(repo, "from_path") if one.parts.get("defines", 0) > 0]) == 3


def test_a_name_alone_finds_the_declaration_below_its_long_comment(repo: Repo) -> None:
    repo.write("src/Store.java", JAVA)
    repo.write("src/Shop.java", "package a;\n\npublic class Shop {\n    Store store = new Store();\n}\n")
    repo.commit()
    best = found(repo, "Store")[0]
    assert (best.path, best.first <= DECLARED <= best.last) == (b"src/Store.java", True)


@pytest.mark.parametrize(
    ("query", "meant", "other"), [("Session", "Session", "session"), ("session", "session", "Session")]
)
def test_a_name_alone_is_meant_with_its_capitals(repo: Repo, query: str, meant: str, other: str) -> None:
    filler = "    count += 1\n" * 24
    repo.write("src/sessions.py", f"class Session:\n    a = 1\n{filler}\n\ndef session():\n    b = 1\n{filler}")
    repo.commit()
    defines = {one.symbol: one.parts["defines"] for one in found(repo, query)}
    assert defines[meant] == pytest.approx(2 * defines[other], abs=0.02)


def test_the_fields_at_the_end_of_a_type_do_not_begin_it(repo: Repo) -> None:
    repo.write("src/Store.java", JAVA)
    repo.commit()
    defining = [one for one in found(repo, "Store") if one.parts.get("defines", 0) > 0]
    assert all(one.first <= DECLARED <= one.last for one in defining)
    assert len(defining) == 1


def test_a_question_may_be_answered_by_configuration_that_explains_itself(repo: Repo) -> None:
    repo.write("store.conf", "# How long entries are kept, in seconds.\n\nttl 60\n")
    repo.write("other.conf", "entries kept\nlong 60\n")
    repo.commit()
    question, key_words = (
        {one.path: one.parts.get("role_data", 0.0) for one in found(repo, query)}
        for query in ("How long are entries kept?", "long kept entries")
    )
    assert question[b"other.conf"] < question[b"store.conf"] < 0.0
    assert key_words[b"other.conf"] == key_words[b"store.conf"] < 0.0


def test_a_name_on_everybodys_lips_is_found_where_it_is_defined(repo: Repo) -> None:
    for number in range(POOL + 50):
        repo.write(
            f"src/user{number}.py", f"def user_{number}(spider):\n    # spider\n    return spider.crawl(spider)\n"
        )
    filler = "".join(f"    value_{n} = {n}\n" for n in range(25))
    repo.write("src/base.py", f"class Spider:\n{filler}")
    repo.commit()
    index = Index(repo.path)
    corpus = Corpus(index.space, index.refresh("HEAD").view)
    words = lexical(corpus, {"spider": 1.0})
    nearest = [corpus.view.paths[corpus.entry[at]] for at in np.argsort(-words.score, kind="stable")[:POOL]]
    assert b"src/base.py" not in nearest
    # The vectors here are made up; without the definition among the candidates nothing could bring it.
    assert b"src/base.py" in [one.path for one in found(repo, "where is Spider defined?")[:3]]
