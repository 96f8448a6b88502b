"""Comments and the code that they are about.

Two kinds: a doc comment or docstring before (or in) a declaration and the declaration without it (`pairs`), and a
comment inside a function and the lines around it (`inline`), which often says in ordinary words what the code calls by
another name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from itza_git.search.languages import stop_words
from itza_git.words import words
from training.pairs import Pair
from training.sources import Source

PROSE = {"markdown", "rst"}
LONGEST_FILE = 6_000
LONGEST_DOC = 500
LONGEST_CODE = 3_000
FEWEST_DOC_WORDS = 3
FEWEST_CODE_WORDS = 8
# Of an inline comment: words that are no stop words; lines of its function that go with it; most marks a letter.
FEWEST_CONTENT_WORDS = 4
LINES_BEFORE, LINES_AFTER = 4, 20
MOST_MARKS = 0.06

_GRAMMARS = {
    "csharp": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
_COMMENTS = ("comment", "line_comment", "block_comment", "multiline_comment", "haddock")
_QUERIES = {
    "python": """
        (function_definition body: (block . (expression_statement (string) @doc)))
        (class_definition body: (block . (expression_statement (string) @doc)))
        (module . (comment)* . (expression_statement (string) @doc))""",
    "elixir": '(unary_operator (call target: (identifier) @at (#eq? @at "doc"))) @doc',
}

_FUNCTION = re.compile(
    r"(?:\w+_)?(?:function|method|constructor)(?:_(?:definition|declaration|item|expression|statement))?"
    r"|init_declaration|(?:closure|lambda)_(?:expression|literal)|func_literal|arrow_function|lambda|bind|do_block"
)
# Code that was commented out, and what tools read.
_NO_SENTENCE = re.compile(
    r"[;{}(,=]$|^(?:[#@]|go:|region\b|endregion\b|type:|\w+:\S)|\w\(\)\.\w|=>|[:=!<>]=|->|&&|\|\|"
)
_MARKS = re.compile(r"[][(){};=<>_&|$*+/\\@#%^~]")

# How a doc comment starts, where the language tells it from other comments.
_DOC_STARTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("java", "javascript", "kotlin", "php", "scala", "tsx", "typescript"), ("/**",)),
    **dict.fromkeys(("csharp", "rust", "zig"), ("///",)),
    "swift": ("///", "/**"),
    "haskell": ("-- |", "{-|", "{- |"),
}
_DECLARATION = re.compile(
    r"function|method|class|struct|interface|trait|impl|enum|module|object|protocol|constructor|type|template|data"
    r"|signature|record|singleton"
)
# Statements that may hold a documented function, in languages whose doc comments are marked as such.
_MARKED_DECLARATION = re.compile(
    _DECLARATION.pattern + r"|declaration|definition|export|expression_statement|pair|bind"
)
# Stand between a comment and its declaration.
_ATTRIBUTE = re.compile(r"^(?:attribute_item|decorator|attribute|annotation|unary_operator|pragma)$|comment")
# Wrap declarations and may start where their first one starts.
_CONTAINER = re.compile(
    r"^(?:source_file|program|translation_unit|compilation_unit|module|declarations|body_statement|block|statements)$"
)

_MARKERS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!\*)|//+!?|#+!?|--+\s*[|^]?|\{-\s*[|^]?)[<]?\s?|\s*(?:\*+/|-\})\s*$")
_LINK = re.compile(r"\{@\w+\s+([^}]*)\}|<[^<>\n]*>|:\w+:(?=`)")
_DESCRIPTION = re.compile(r"^\s*[@\\](?:brief|description|desc|summary|short|classdesc|doc)\b:?\s*")
_TAG = re.compile(
    r"^\s*(?:[@\\]\w+|:\w+(?: [\w*]+)*:|(?:args?|arguments|param(?:eter)?s?|returns?|raises|throws|yields|examples?"
    r"|usage|notes?|see also|attributes|inputs?|outputs?|todo|references|since|version ?added)\s*:?\s*$"
    r"|>>>|```|~~~|\#+ |- param|\.\. \w+::|(?:args|arguments|returns?|raises|usage|examples?|todo|fixme|xxx)\s*:)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[-=~*#/+_ ]{4,}$")
_NOT_ABOUT_CODE = re.compile(
    r"(?i)copyright|licen[cs]e|spdx|all rights reserved|eslint|prettier|pylint|noqa|clang-format|\{@?inheritdoc"
)
_NAME = re.compile(
    r"\b(?:class|struct|type|enum|trait|module|def|defp|defmacro)\s+(\w+)|([A-Za-z_]\w*)\s*\("
    r"|(\w+)\s*[:=]\s*(?:async )?function"
)
_QUOTES = re.compile(r"^[rRuUbBfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")


@cache
def _language(name: str) -> Language:
    module, function = _GRAMMARS.get(name, (f"tree_sitter_{name}", "language"))
    return Language(getattr(importlib.import_module(module), function)())


@cache
def _query(name: str, is_inline: bool) -> Query:
    language = _language(name)
    kinds = [kind for kind in _COMMENTS if language.id_for_node_kind(kind, True)]
    any_comment = "\n".join(f"({kind}) @doc" for kind in kinds)
    return Query(language, any_comment if is_inline else _QUERIES.get(name, any_comment))


def _found(source: Source, is_inline: bool) -> tuple[Node, list[Node]]:
    """The root of a file's syntax, and its comments (or docstrings) by place."""
    root = Parser(_language(source.language)).parse(source.text).root_node
    found = QueryCursor(_query(source.language, is_inline)).captures(root).get("doc", [])
    return root, sorted(found, key=lambda node: node.start_byte)


def pairs(source: Source, package: str = "") -> Iterator[Pair]:
    """The pairs of one file that a comment or a docstring gives."""
    if source.language in PROSE:
        return
    root, found = _found(source, is_inline=False)
    if source.language == "python":
        raw = _docstrings(found)
    elif source.language == "elixir":
        raw = ((_text(node).removeprefix("@doc"), *_declared(node.next_named_sibling)) for node in found)
    else:
        raw = _commented(source, root, found)
    for doc, name, code in raw:
        doc = clean(doc)
        if is_worth_keeping(doc, code):
            yield Pair(package, source.language, name, doc, code, source.path)


def inline(source: Source, package: str = "") -> Iterator[Pair]:
    """The pairs of one file that comments inside functions give."""
    if source.language in PROSE:
        return
    root, found = _found(source, is_inline=True)
    lines = source.text.split(b"\n")
    for first, last in _runs(found, lines):
        function = _function_around(_at(root, lines, first))
        following = _at(root, lines, last + 1)
        if not function or not following or _declared(_widest(following))[1]:
            continue
        doc = clean(b"\n".join(lines[first : last + 1]).decode("utf-8", "replace"))
        start, end = function.start_point.row, function.end_point.row
        around = [
            *lines[start : min(start + 1, first)],
            *lines[max(start + 1, first - LINES_BEFORE) : first],
            *lines[last + 1 : min(last + LINES_AFTER, end) + 1],
        ]
        code = b"\n".join(around)[:LONGEST_CODE].decode("utf-8", "replace")
        if _is_said(doc) and is_worth_keeping(doc, code):
            yield Pair(package, source.language, "", doc, code, source.path, is_inline=True)


def clean(doc: str) -> str:
    """The description in a comment or docstring: no markers, no tags, no sections of parameters; one line."""
    kept: list[str] = []
    for line in _QUOTES.sub("", doc.strip()).splitlines():
        line = _LINK.sub(r"\1", _DESCRIPTION.sub("", _MARKERS.sub("", line))).strip()
        if _RULE.match(line):
            continue
        if _TAG.match(line):
            break
        kept.append(line)
    text = " ".join(" ".join(kept).split())
    return text if len(text) <= LONGEST_DOC else text[:LONGEST_DOC].rpartition(" ")[0]


def is_worth_keeping(doc: str, code: str) -> bool:
    """Whether a comment and its code have enough words, and it speaks of the code in English."""
    return (
        len(words(doc)) >= FEWEST_DOC_WORDS
        and len(set(words(code))) >= FEWEST_CODE_WORDS
        and not _NOT_ABOUT_CODE.search(doc)
        and sum(character.isascii() for character in doc) > 0.9 * len(doc)
    )


def _is_said(doc: str) -> bool:
    """Whether a comment says something in words, and is not code that was commented out."""
    content = {word for word in words(doc) if len(word) > 1} - stop_words("en")
    marks = len(_MARKS.findall(doc))
    return len(content) >= FEWEST_CONTENT_WORDS and marks <= MOST_MARKS * len(doc) and not _NO_SENTENCE.search(doc)


def _docstrings(found: Iterable[Node]) -> Iterator[tuple[str, str, str]]:
    for string in found:
        statement = string.parent
        owner = statement.parent if statement else None
        is_file = owner is not None and owner.type == "module"
        declaration = owner if is_file else owner and owner.parent
        if statement and declaration and declaration.text:
            cut = string.start_byte - declaration.start_byte, string.end_byte - declaration.start_byte
            code = declaration.text[: cut[0]].rstrip() + declaration.text[cut[1] :]
            name = "" if is_file else _name(declaration)
            yield _text(string), name, code[: LONGEST_FILE if is_file else LONGEST_CODE].decode("utf-8", "replace")


def _commented(source: Source, root: Node, found: list[Node]) -> Iterator[tuple[str, str, str]]:
    lines = source.text.split(b"\n")
    starts = _DOC_STARTS.get(source.language)
    for first, last in _runs(found, lines):
        doc = b"\n".join(lines[first : last + 1]).decode("utf-8", "replace").strip()
        node = _at(root, lines, last + 1)
        if not node or (starts and not doc.startswith(starts)):
            continue
        yield (doc, *_declared(_widest(node), bool(starts)))


def _at(root: Node, lines: list[bytes], row: int) -> Node | None:
    """The smallest syntax at the first character of a line, None when it is blank."""
    line = lines[row] if row < len(lines) else b""
    column = len(line) - len(line.lstrip())
    return root.descendant_for_point_range((row, column), (row, column + 1)) if line.strip() else None


def _function_around(node: Node | None) -> Node | None:
    """The innermost function that node is inside of and does not begin."""
    inner = node
    while node and not (_is_function(node) and inner and node.start_point.row < inner.start_point.row):
        node = node.parent
    return node


def _is_function(node: Node) -> bool:
    return bool(_FUNCTION.fullmatch(node.type)) or (node.type == "call" and _kind(node) == "function")


def _runs(found: list[Node], lines: list[bytes]) -> Iterator[tuple[int, int]]:
    """First and last row of each run of comments that have their lines to themselves, at one column."""
    first = last = column = -1
    for node in found:
        start, end = node.start_point, node.end_point
        if lines[start.row][: start.column].strip():
            continue
        if first >= 0 and (start.row != last + 1 or start.column != column):
            yield first, last
            first = -1
        if first < 0:
            first, column = start.row, start.column
        last = end.row - (end.column == 0)
    if first >= 0:
        yield first, last


def _widest(node: Node | None) -> Node | None:
    """The largest syntax that starts where node starts."""
    while node and node.parent and node.parent.start_byte == node.start_byte and not _CONTAINER.match(node.parent.type):
        node = node.parent
    return node


def _declared(node: Node | None, marked: bool = False) -> tuple[str, str]:
    """Name and code of the declaration at node or after its attributes; empty when another thing stands there."""
    start = node.start_byte if node else 0
    while node and _ATTRIBUTE.search(node.type):
        node = node.next_named_sibling
    if not node or not (_MARKED_DECLARATION if marked else _DECLARATION).search(_kind(node)):
        return "", ""
    end, name = node.end_byte, _name(node)
    following = node.next_named_sibling
    while (
        node.type == "signature" and following and following.type in ("function", "bind") and name == _name(following)
    ):
        end, following = following.end_byte, following.next_named_sibling
    whole = node
    while whole.parent:
        whole = whole.parent
    return name, (whole.text or b"")[start:end][:LONGEST_CODE].decode("utf-8", "replace")


def _kind(node: Node) -> str:
    """The node's type; a call or an assignment that holds a function counts as one."""
    if node.type == "call":
        return "function" if node.text and node.text.startswith((b"def ", b"defp ", b"defmacro ")) else ""
    if node.type in ("assignment_statement", "variable_declaration") and b"function" in (node.text or b""):
        return "function"
    if node.type in ("declaration", "field_declaration") and b"(" in (node.text or b""):
        return "function"
    return node.type


def _name(node: Node) -> str:
    """The name that a declaration declares, as far as the grammar tells."""
    inner: Node | None = node
    while inner:
        named = inner
        inner = next(filter(None, map(named.child_by_field_name, ("name", "declarator", "declaration"))), None)
    if named != node:
        return _text(named) if named.end_byte - named.start_byte <= 80 else ""
    guessed = _NAME.search(_text(node))
    return next(filter(None, guessed.groups()), "") if guessed else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
