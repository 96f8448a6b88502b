"""What role a file plays in its repository, told by its path and language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from itza_git.chunking.languages import is_code, is_prose

_FOLDER = {
    "vendored": re.compile(
        r"(?i:vendor|vendored|third[_-]?party|node_modules|external|extern|deps|bower_components|_vendor)"
    ),
    "tests": re.compile(
        r"tests?|TESTS?|testing|test[dD]ata|testFixtures|unittests?|testsuite|__tests__|__mocks__|fixtures?"
        r"|test[-_]\w+|\w+[-_]tests?|[\w-]+[-_]tests|e2e|cypress|regress|step_definitions|benchmarks?|benches|bench"
        r"|[\w.]*(?:Test|Tests)|[\w.]+\.(?:Specs|Benchmarks)"
    ),
    "examples": re.compile(r"(?i:examples?|samples?|demos?|tutorials?|playgrounds?|docs_src|\w+[-_]examples?)"),
    "docs": re.compile(r"(?i:docs?|documentation|guides?|website|site|wiki|man)"),
}
# What specifies behaviour is a test, and what specifies a protocol a page.
_SPECS = re.compile(r"specs?")
# Perl and shell scripts have their tests in any `t/`, C in their manner in one at the top.
_T_LANGUAGES = frozenset({"perl", "bash"})
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
    re.compile(r"(?:.*/)?src/main/"): frozenset({"java", "kotlin", "scala", "groovy"}),
    re.compile(r"(?:.*/)?lib/"): frozenset({"ruby", "elixir", "perl", "bash"}),
}
_ALWAYS_TEST = re.compile(r".*\.(?:bats|t|exs)")
# A module that is called no more than this is about tests there; a test says in its name of what.
_BARE = re.compile(r"(?:.*/)?(?:src|lib)/(?:.*/)?(?:tests?|Test|TestCase)\.\w+")
_BARE_LANGUAGES = frozenset({"python", "javascript", "typescript", "php"})
# Of what no language is known these are code, and those are prose; the rest is some kind of data.
_UNKNOWN_CODE = re.compile(r".*\.(?:y|yy|l|ll|rl|m4)")
_UNKNOWN_PROSE = re.compile(r".*\.(?:txt|text)|[A-Z][A-Z0-9_-]+")

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
    code, prose = _is_code(name, language), _is_prose(name, language)
    if _lies_in("vendored", folders):
        return "vendored"
    if _is_test(text, language):
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


def _is_code(name: str, language: str) -> bool:
    return _UNKNOWN_CODE.fullmatch(name) is not None if language == "text" else is_code(language)


def _is_prose(name: str, language: str) -> bool:
    return _UNKNOWN_PROSE.fullmatch(name) is not None if language == "text" else is_prose(language)


def _lies_in(role: str, folders: Sequence[str]) -> bool:
    return any(map(_FOLDER[role].fullmatch, folders))


def _is_below_sources(folders: Sequence[str]) -> bool:
    """Whether the first folder with a name for documents lies among sources."""
    first = next(at for at, folder in enumerate(folders) if _FOLDER["docs"].fullmatch(folder))
    return any(map(_SOURCES.fullmatch, folders[:first]))


def _is_test(path: str, language: str) -> bool:
    """Whether it lies among tests, or is code with the name of one. A page about tests tests nothing."""
    *folders, name = path.split("/")
    above = _above_tests(folders, name, language)
    is_among = len(above) < len(folders)
    if is_among and _is_prose(name, language) and _lies_in("docs", above):
        return False
    if _is_shipped(above, language) and not _ALWAYS_TEST.fullmatch(name):
        return False
    if is_among:
        return True
    if _ENVIRONMENT.fullmatch(path) or (language in _BARE_LANGUAGES and _BARE.fullmatch(path)):
        return False
    names = (_TEST_NAME, _SPEC_NAME) if language in _SPEC_LANGUAGES else (_TEST_NAME,)
    return _is_code(name, language) and any(one.fullmatch(name) for one in names)


def _above_tests(folders: Sequence[str], name: str, language: str) -> Sequence[str]:
    """The folders above the outermost folder of tests on the way to a file; all of them where there is none."""
    for at, folder in enumerate(folders):
        is_t = folder == "t" and (at == 0 or language in _T_LANGUAGES)
        is_specs = _SPECS.fullmatch(folder) and _is_code(name, language)
        if is_t or is_specs or _FOLDER["tests"].fullmatch(folder):
            return folders[:at]
    return folders


def _is_shipped(above: Sequence[str], language: str) -> bool:
    """Whether the folders above any tests are where a package has what others install: a part of a test framework."""
    path = "".join(f"{folder}/" for folder in above)
    return any(language in languages and folder.match(path) for folder, languages in _SHIPPED.items())


def test_folder(path: bytes, language: str) -> bytes:
    """The folder of tests that a test lies in; else the folder itself, whose code it stands beside."""
    *folders, name = path.decode("utf-8", "surrogateescape").split("/")
    own = folders[: len(_above_tests(folders, name, language)) + 1]
    return "".join(f"{folder}/" for folder in own).encode("utf-8", "surrogateescape")
