"""What role a file plays in its repository, told by its path and language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from itza_git.chunking.languages import is_code, is_prose

_FOLDERS = {
    "vendored": r"(?i:vendor|vendored|third[_-]?party|node_modules|external|extern|deps|bower_components|_vendor)",
    "tests": r"(?:tests?|TESTS?|testing|test[dD]ata|testFixtures|unittests?|testsuite|__tests__|__mocks__|fixtures?"
    r"|test[-_]\w+|\w+[-_]tests?|[\w-]+[-_]tests|e2e|cypress|regress|step_definitions|benchmarks?|benches|bench"
    r"|[\w.]*(?:Test|Tests)|[\w.]+\.(?:Specs|Benchmarks))",
    "examples": r"(?i:examples?|samples?|demos?|tutorials?|playgrounds?|docs_src|\w+[-_]examples?)",
    "docs": r"(?i:docs?|documentation|guides?|website|site|wiki|man)",
}
_PART = {role: re.compile(pattern) for role, pattern in _FOLDERS.items()}
# What specifies behaviour is a test, and what specifies a protocol a page.
_SPECS = re.compile(r"specs?")
# Where Perl, shell scripts, and C in its manner, have their tests.
_T = "t"
# Below these a folder is named after what its code is about: `src/site/` makes no page.
_SOURCES = re.compile(r"(?:src|crates|app|lib|cmd|internal|core)")

_TEST_NAME = re.compile(
    r"(?:test_.*|tests?|.*[._-](?:test|tests|spec|specs|bench|unittest)|.*(?:Test|Tests|TestCase)|conftest)\.\w+(?:\.\w+)?"
    r"|Test[A-Z]\w*\.java|\w*[a-z]IT\.(?:java|kt)|test-.*\.(?:c|cc|sh|js|mjs)|.*_SUITE\.erl|.*\.cy\.[jt]sx?"
    r"|.*\.(?:bats|t|phpt)"
)
_SPEC_NAME = re.compile(r".*(?:Spec|Specs)\.\w+")
_SPEC_LANGUAGES = frozenset({"scala", "groovy", "haskell", "swift", "php"})
# `config/test.exs` says how the program runs where it is tested.
_ENVIRONMENT = re.compile(r"(?:.*/)?(?:config|environments)/test\.\w+(?:\.\w+)?")
# Where nothing is a test whatever it is called, and in which languages: tests have a folder beside it.
_SHIPPED = {
    "main": frozenset({"java", "kotlin", "scala", "groovy"}),
    "lib": frozenset({"ruby", "elixir", "perl", "bash"}),
}
_ALWAYS_TEST = re.compile(r".*\.(?:bats|t|exs)")
# A module that is called no more than this is about tests there; a test says in its name of what.
_BARE = re.compile(r"(?:.*/)?(?:src|lib)/(?:.*/)?(?:tests?|Test|TestCase)\.\w+")
_BARE_LANGUAGES = frozenset({"python", "javascript", "typescript", "php"})
# Of what no language is known these are code, and those are prose; the rest is some kind of data.
_UNKNOWN_CODE = re.compile(r".*\.(?:y|yy|l|ll|rl|m4)")
_UNKNOWN_PROSE = re.compile(r"(?:.*\.(?:txt|text)|[A-Z][A-Z0-9_-]+)", re.DOTALL)

# `docs/ja/`, `README.pt-BR.md`: what they say stands in the original too, and there it is current.
_LANGUAGE = (
    r"(?:ar|az|bn|cn|cs|da|de|el|es|fa|fi|fr|he|hi|hu|id|it|ja|jp|ko|kr|lt|nl|no|pl|pt|ro|ru|sk|sv|th|tr|tw|uk|vi|yo|zh)"
    r"(?:[-_][A-Za-z]{2,4})?"
)
_TRANSLATION = re.compile(
    rf"(?:.*/)?(?:docs?|i18n|translations?|locales?|content)/(?:.*/)?{_LANGUAGE}/.*"
    rf"|(?:.*/)?(?i:README)[._-]{_LANGUAGE}\.\w+|(?:.*/)?[^/.]+\.{_LANGUAGE}\.(?:md|mdx|rst|adoc|txt)"
)

# What was new at some time.
_NEWS = re.compile(
    r"(?:.*/)?(?:changes?|change[-_]?log[^/]*|history|news|relnotes|releases?|release[-_]notes?[^/]*|whats?[-_]?new[^/]*"
    r"|upgrad(?:e|ing)[^/]*|migrat(?:e|ing|ion)[^/]*)(?:\.[^/]*)?(?:/.*)?",
    re.IGNORECASE,
)

# What tells how the program is made, to who works on it.
_DESIGN = re.compile(
    r"(?:.*[/_.-])?(?:architecture|design|internals|how[-_]it[-_]works)(?:[/_.-].*)?"
    r"|(?:.*/)?(?:technical|concepts?|explanations?|adrs?|rfcs?|decisions?)/.*",
    re.IGNORECASE,
)
_DESIGN_NAME = re.compile(r"\w*(?:Design|Architecture|Internals)(?:[A-Z.]\S*)?")

ROLES = ("code", "tests", "examples", "docs", "design", "translations", "news", "vendored", "data")


@lru_cache(1 << 14)
def role_of(path: bytes, language: str) -> str:
    """One of ROLES. The folders decide before the file's name, the language last."""
    text = path.decode("utf-8", "replace")
    *folders, name = text.split("/")
    prose = _UNKNOWN_PROSE.fullmatch(name) is not None if language == "text" else is_prose(language)
    code = _UNKNOWN_CODE.fullmatch(name) is not None if language == "text" else is_code(language)
    if _lies_in("vendored", folders):
        return "vendored"
    if _is_test(text, language, code, prose):
        return "tests"
    if prose and _TRANSLATION.fullmatch(text):
        return "translations"
    if _lies_in("examples", folders):
        return "examples"
    if (prose or language == "text") and _NEWS.fullmatch(text):
        return "news"
    if prose and (_DESIGN.fullmatch(text) or _DESIGN_NAME.fullmatch(name)):
        return "design"
    in_docs = _lies_in("docs", folders)
    if prose or (in_docs and not code):
        return "docs"
    if in_docs and language not in ("go", "rust") and not _is_below_sources(folders):
        return "examples"
    return "code" if code else "data"


def _lies_in(role: str, folders: Sequence[str]) -> bool:
    return any(map(_PART[role].fullmatch, folders))


def _is_below_sources(folders: Sequence[str]) -> bool:
    """Whether the first folder with a name for documents lies among sources."""
    first = next(at for at, folder in enumerate(folders) if _PART["docs"].fullmatch(folder))
    return any(map(_SOURCES.fullmatch, folders[:first]))


def _is_test(path: str, language: str, code: bool, prose: bool) -> bool:
    """Whether it lies among tests, or is code with the name of one. A page about tests tests nothing."""
    *folders, name = path.split("/")
    tests = _tests_among(folders, language, code)
    if prose and tests and _lies_in("docs", folders[: tests[0]]):
        return False
    if _is_shipped(folders, language, tests) and not _ALWAYS_TEST.fullmatch(name):
        return False
    if tests:
        return True
    if _ENVIRONMENT.fullmatch(path) or (language in _BARE_LANGUAGES and _BARE.fullmatch(path)):
        return False
    names = (_TEST_NAME, _SPEC_NAME) if language in _SPEC_LANGUAGES else (_TEST_NAME,)
    return code and any(one.fullmatch(name) for one in names)


def _tests_among(folders: Sequence[str], language: str, code: bool) -> list[int]:
    """Which of the folders on the way to a file are folders of tests."""
    return [
        at
        for at, folder in enumerate(folders)
        if _PART["tests"].fullmatch(folder)
        or (code and _SPECS.fullmatch(folder))
        or (folder == _T and (not at or language in ("perl", "bash")))
    ]


def _is_shipped(folders: Sequence[str], language: str, tests: Sequence[int]) -> bool:
    """Whether it lies where a package has what others install, and that not among tests: a part of a test framework."""
    above = folders[: tests[0]] if tests else folders
    return any(
        folder in _SHIPPED and language in _SHIPPED[folder] and (folder == "lib" or above[at - 1 : at] == ["src"])
        for at, folder in enumerate(above)
    )


def test_folder(path: bytes) -> bytes:
    """The folder of tests that a test lies in; else the folder itself, whose code it stands beside."""
    folders = path.decode("utf-8", "surrogateescape").split("/")[:-1]
    tests = _tests_among(folders, "bash", code=True)
    above = folders[: tests[0] + 1] if tests else folders
    return "".join(f"{folder}/" for folder in above).encode("utf-8", "surrogateescape")
