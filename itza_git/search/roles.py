"""What role a file plays in its repository, told by its path and language."""

from __future__ import annotations

import re
from functools import lru_cache

from itza_git.chunking.languages import is_code, is_prose

_FOLDERS = {
    "vendored": r"(?:vendor|vendored|third[_-]?party|node_modules|external|extern|deps|bower_components|_vendor)",
    "tests": r"(?:tests?|specs?|testing|testdata|__tests__|__mocks__|fixtures?|test[-_]\w+|\w+[-_]tests?|e2e"
    r"|benchmarks?|benches|bench|(?:\w+)?(?:Test|Tests))",
    "examples": r"(?:examples?|samples?|demos?|tutorials?|playgrounds?|docs_src|\w+[-_]examples?)",
    "docs": r"(?:docs?|documentation|guides?|website|site|wiki|man)",
}
_FOLDER = {role: re.compile(rf"(?:.*/)?{pattern}/.*", re.IGNORECASE) for role, pattern in _FOLDERS.items()}
_FOLDER["tests"] = re.compile(rf"(?:.*/)?{_FOLDERS['tests']}/.*")
# Where Perl, and C in its manner, have their tests.
_AT_TOP = "t/"
_TEST_NAME = re.compile(
    r"(?:test_.*|tests?|.*[._-](?:test|tests|spec|specs|bench)|.*(?:Test|Tests|TestCase|Spec|Specs)|conftest)\.\w+(?:\.\w+)?"
    r"|.*\.(?:bats|t)"
)
_ALWAYS_TEST = re.compile(r".*\.(?:bats|t)")
# Where nothing is a test whatever it is called, and in which languages (none: all): tests have a folder beside it.
_SHIPPED = {"/src/main/": (), "/lib/": ("ruby", "elixir", "perl", "bash")}

# `docs/ja/`, `README.pt-BR.md`: what they say stands in the original too, and there it is current.
_LANGUAGE = (
    r"(?:ar|az|bn|cs|da|de|el|es|fa|fi|fr|he|hi|hu|id|it|ja|ko|lt|nl|no|pl|pt|ro|ru|sk|sv|th|tr|uk|vi|yo|zh)"
    r"(?:[-_][A-Za-z]{2,4})?"
)
_TRANSLATION = re.compile(
    rf"(?:.*/)?(?:docs?|i18n|translations?|locales?|content)/(?:.*/)?{_LANGUAGE}/.*|(?:.*/)?README[._-]{_LANGUAGE}\.\w+"
)

# What was new at some time.
_NEWS = re.compile(
    r"(?:.*/)?(?:changes?|change[-_]?log[^/]*|history|news|relnotes|releases?|release[-_]notes?[^/]*|whats?[-_]?new[^/]*"
    r"|upgrad(?:e|ing)[^/]*|migrat(?:e|ing|ion)[^/]*)(?:\.[^/]*)?(?:/.*)?",
    re.IGNORECASE,
)

# What tells how the program is made, to who works on it.
_DESIGN = re.compile(
    r"(?:.*[/_.-])?(?:architecture|design|internals?|how[-_]it[-_]works)(?:[/_.-].*)?"
    r"|(?:.*/)?(?:technical|concepts?|explanations?|adrs?|rfcs?|decisions?)/.*",
    re.IGNORECASE,
)
_DESIGN_NAME = re.compile(r"\w*(?:Design|Architecture|Internals)(?:[A-Z.]\S*)?")

ROLES = ("code", "tests", "examples", "docs", "design", "translations", "news", "vendored", "data")


@lru_cache(1 << 14)
def role_of(path: bytes, language: str) -> str:
    """One of ROLES. The folder decides before the file's name, the language last."""
    text = path.decode("utf-8", "replace")
    if _FOLDER["vendored"].fullmatch(text):
        return "vendored"
    if _is_test(text, language):
        return "tests"
    if is_prose(language) and _TRANSLATION.fullmatch(text):
        return "translations"
    if _FOLDER["examples"].fullmatch(text):
        return "examples"
    if is_prose(language) and _NEWS.fullmatch(text):
        return "news"
    if is_prose(language) and (_DESIGN.fullmatch(text) or _DESIGN_NAME.fullmatch(text.rpartition("/")[2])):
        return "design"
    if is_prose(language) or (_FOLDER["docs"].fullmatch(text) and not is_code(language)):
        return "docs"
    if _FOLDER["docs"].fullmatch(text):
        return "examples"
    return "code" if is_code(language) else "data"


def _is_test(path: str, language: str) -> bool:
    """Whether it lies among tests, or is code with the name of one. A page about tests tests nothing."""
    if _FOLDER["tests"].fullmatch(path) or path.startswith(_AT_TOP):
        return not _is_shipped(path, language)
    is_named = _TEST_NAME.fullmatch(path.rpartition("/")[2]) is not None
    return is_named and is_code(language) and not _is_shipped(path, language)


def _is_shipped(path: str, language: str) -> bool:
    """Whether it lies where a package has what others install, and that not among tests: a part of a test framework."""
    for folder, languages in _SHIPPED.items():
        above, found, _ = f"/{path}".partition(folder)
        if found and (not languages or language in languages) and not _FOLDER["tests"].fullmatch(f"{above[1:]}/"):
            return not _ALWAYS_TEST.fullmatch(path)
    return False


def test_folder(path: bytes) -> bytes:
    """The folder of tests that a test lies in; else the folder itself, whose code it stands beside."""
    folders = path.split(b"/")[:-1]
    for end in range(1, len(folders) + 1):
        above = b"/".join(folders[:end]) + b"/"
        text = above.decode("utf-8", "replace")
        if text == _AT_TOP or _FOLDER["tests"].fullmatch(text):
            return above
    return b"/".join(folders) + b"/" if folders else b""
