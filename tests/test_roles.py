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
        ("Src/Store.Tests/StoreFixture.cs", "csharp", "tests"),
        ("Src/Store.Tests/Documentation/Samples/Reading.cs", "csharp", "tests"),
        ("regress/copy.sh", "bash", "tests"),
        ("features/step_definitions/store.rb", "ruby", "tests"),
        ("ui/android-unit-tests/src/Store.kt", "kotlin", "tests"),
        ("src/store_unittest.cc", "cpp", "tests"),
        ("src/it/TestStore.java", "java", "tests"),
        ("contrib/store/t/basic.sh", "bash", "tests"),
        ("t/lib/StoreTest.pm", "perl", "tests"),
        ("src/StoreSpec.scala", "scala", "tests"),
        ("src/commonMain/ConnectionSpec.kt", "kotlin", "code"),
        ("store-test/src/Store.kt", "kotlin", "tests"),
        ("coroutines-store-test/src/Store.kt", "kotlin", "code"),
    ],
)
def test_tests_are_known_by_what_each_language_calls_them(path: str, language: str, role: str) -> None:
    assert role_of(path.encode(), language) == role


@pytest.mark.parametrize(
    ("path", "language", "role"),
    [
        ("guides/testing/stores.md", "markdown", "docs"),
        ("docs/tests/CI.md", "markdown", "docs"),
        ("docs/specs/protocol.md", "markdown", "docs"),
        ("specs/protocol.md", "markdown", "docs"),
        ("spec/openapi.yaml", "yaml", "data"),
        ("spec/store_test.rb", "ruby", "tests"),
        ("config/test.exs", "elixir", "code"),
        ("config/environments/test.rb", "ruby", "code"),
    ],
)
def test_what_is_written_about_tests_or_set_for_them_is_none(path: str, language: str, role: str) -> None:
    assert role_of(path.encode(), language) == role


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("README", "docs"),
        ("notes.txt", "docs"),
        ("docs/notes", "docs"),
        ("parse.y", "code"),
        (".gitignore", "data"),
        ("config.h.in", "data"),
        ("META-INF/services/store.internal.Factory", "data"),
        ("CHANGES/3462.bugfix", "news"),
    ],
)
def test_a_file_of_no_known_language_is_what_its_name_says(path: str, role: str) -> None:
    assert role_of(path.encode(), "text") == role


@pytest.mark.parametrize(
    ("path", "language", "role"),
    [
        ("doc/man_docs.go", "go", "code"),
        ("crates/core/doc/mod.rs", "rust", "code"),
        ("src/site/server.py", "python", "code"),
        ("docs/src/conf.py", "python", "examples"),
        ("website/src/pages/index.js", "javascript", "examples"),
    ],
)
def test_code_in_a_folder_of_documents_is_an_example_unless_it_is_the_program(
    path: str, language: str, role: str
) -> None:
    assert role_of(path.encode(), language) == role


@pytest.mark.parametrize(
    "path", ["readme.ja.md", "README.cn.md", "docs/zh-Hans/store.md", "CONTRIBUTING.zh-CN.md", "docs/guide.ja.md"]
)
def test_a_page_in_another_language_is_known_by_its_name(path: str) -> None:
    assert role_of(path.encode(), "markdown") == "translations"


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
        ("lib/store/store_test.exs", "elixir", "tests"),
        ("src/main/app/home.component.spec.ts", "typescript", "tests"),
        ("src/main/__tests__/window.ts", "typescript", "tests"),
        ("src/store/tests.py", "python", "code"),
        ("store/tests.py", "python", "tests"),
        ("src/store/tests.rs", "rust", "tests"),
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
