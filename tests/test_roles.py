"""The role of a file, and the questions that ask for one."""

from __future__ import annotations

import pytest

from itza_git.search.question import Question
from itza_git.search.roles import role_of


@pytest.mark.parametrize(
    ("path", "language", "role"),
    [
        ("src/store.py", "python", "code"),
        ("tests/test_store.py", "python", "tests"),
        ("examples/store.py", "python", "examples"),
        ("docs/store.md", "markdown", "docs"),
        ("docs/es/store.md", "markdown", "translations"),
        ("docs/ru/docs/tutorial/store.md", "markdown", "translations"),
        ("docs/en/docs/tutorial/store.md", "markdown", "examples"),
        ("docs/tutorial/store.py", "python", "examples"),
        ("ARCHITECTURE.md", "markdown", "design"),
        ("docs/architecture.md", "markdown", "design"),
        ("docs/internals/store.rst", "rst", "design"),
        ("docs/design-of-the-store.txt", "text", "design"),
        ("StoreDesignDocument.md", "markdown", "design"),
        ("docs/designers.md", "markdown", "docs"),
        ("docs/decisions/0001-store.md", "markdown", "design"),
        ("docs/decision-tree.md", "markdown", "docs"),
        ("docs/technical-support.md", "markdown", "docs"),
        ("README-js.md", "markdown", "docs"),
        ("README.pt-BR.md", "markdown", "translations"),
        ("src/design.py", "python", "code"),
        ("docs/fr/architecture.md", "markdown", "translations"),
        ("vendor/store/README.md", "markdown", "vendored"),
        ("settings.json", "json", "data"),
        ("CHANGES.md", "markdown", "news"),
        ("docs/changelog-2.0.rst", "rst", "news"),
        ("docs/history/whatsnew-4.0.rst", "rst", "news"),
        ("Documentation/RelNotes/2.1.0.txt", "text", "news"),
        ("docs/migration-guide.md", "markdown", "news"),
        ("docs/exchange.md", "markdown", "docs"),
        ("docs/change-detection.md", "markdown", "docs"),
        ("docs/newsletter.md", "markdown", "docs"),
        ("src/history.py", "python", "code"),
        ("src/store_test.go", "go", "tests"),
        ("docs/async-tests.md", "markdown", "docs"),
        ("docs/de/docs/async-tests.md", "markdown", "translations"),
        ("tests/README.md", "markdown", "tests"),
        ("tests/store.json", "json", "tests"),
        ("requirements/test.txt", "text", "docs"),
        (".github/workflows/tests.yml", "yaml", "data"),
    ],
)
def test_the_path_tells_the_role(path: str, language: str, role: str) -> None:
    assert role_of(path.encode(), language) == role


@pytest.mark.parametrize(
    ("path", "language", "role"),
    [
        ("lib/runner/test_functions.bash", "bash", "code"),
        ("store/lib/store/test_case.rb", "ruby", "code"),
        ("lib/store/testing/assertions.rb", "ruby", "code"),
        ("lib/store/test/store_test.ex", "elixir", "code"),
        ("src/main/java/runner/TestCase.java", "java", "code"),
        ("src/test/java/runner/TestCaseTest.java", "java", "tests"),
        ("spec/lib/store_spec.rb", "ruby", "tests"),
        ("test/fixtures/app/lib/test_case.rb", "ruby", "tests"),
        ("lib/store.t", "perl", "tests"),
        ("lib/store.bats", "bash", "tests"),
        ("lib/test_store.c", "c", "tests"),
        ("lib/__tests__/store.js", "javascript", "tests"),
    ],
)
def test_what_a_package_ships_is_no_test_whatever_it_is_called(path: str, language: str, role: str) -> None:
    assert role_of(path.encode(), language) == role


@pytest.mark.parametrize(
    "question",
    ["what is new in version 2?", "What changed since 1.0?", "is it in the changelog?", "how do I upgrade to 3.0?"],
)
def test_news_are_asked_for(question: str) -> None:
    assert Question(question).is_about("news")


@pytest.mark.parametrize(
    "question", ["how is a new file noticed?", "what happens when the index changed?", "how is the release built?"]
)
def test_what_is_new_to_the_program_is_no_news(question: str) -> None:
    assert not Question(question).is_about("news")


@pytest.mark.parametrize(
    ("question", "usage"),
    [
        ("How can I limit the retries?", True),
        ("what must my handler return?", True),
        ("¿cómo puedo limitar los reintentos?", True),
        ("Wie kann ich das begrenzen?", True),
        ("How are retries limited?", False),
        ("what is done with the i-th entry?", False),
        ("¿cómo se limitan los reintentos?", False),
    ],
)
def test_who_speaks_of_what_is_his_own_asks_how_it_is_used(question: str, usage: bool) -> None:
    assert Question(question).asks_usage is usage


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Where does the documentation say how entries expire?", True),
        ("¿Cómo se instala?", True),
        ("How does it find an installed library?", False),
        ("как находится установленная библиотека?", False),
        ("installation", True),
    ],
)
def test_documents_are_asked_for(question: str, is_asked: bool) -> None:
    assert Question(question).is_about("docs") is is_asked


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("how is the retry tested?", True),
        ("how are the unit tests organised?", True),
        ("which test cases cover retries?", True),
        ("test suite of the parser", True),
        ("how test files are discovered and run", False),
        ("How a test suite is prepared", False),
    ],
)
def test_tests_are_asked_for_and_not_how_a_framework_treats_them(question: str, is_asked: bool) -> None:
    assert Question(question).is_about("tests") is is_asked
