"""Downloaded packages -> pairs of a doc comment (or docstring) and the code that follows, without the comment.

    python -m training.mine CORPUS PAIRS.jsonl.gz [--exclude FOLDER ...]

CORPUS is the folder that fetch_corpus.py filled. Each line of PAIRS is one `Pair`. Files under an excluded folder are
mined too, and what they hold is left out: that keeps a benchmark's repositories (and vendored copies of them) away.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from itza_git.chunking import chunk
from itza_git.words import words
from training.fetch_corpus import CORPUS, Package, archives, listed
from training.pairs import Pair, write
from training.sources import Source, files_under, sources

# No package may outweigh the others: so many pairs of one language, and more where only a few packages have it.
MOST_OF_ONE_PACKAGE = 2_500
MOST_OF_A_RARE_ONE = 8_000
RARE = {"bash", "csharp", "elixir", "kotlin", "lua", "scala", "swift"}
# Definitions without a comment, and sections.
MOST_NAMED = 1_000
MOST_NAMED_OF_A_RARE_ONE = 4_000
MOST_SECTIONS = 200
PROSE = {"markdown", "rst"}
NAMED_KINDS = ("function", "method", "type", "section")
MOST_NAMES = 2
MOST_NAME_WORDS = 12
LONGEST_FILE = 6_000
LONGEST_DOC = 500
LONGEST_CODE = 3_000
FEWEST_DOC_WORDS = 3
FEWEST_CODE_WORDS = 8

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
# A Haskell signature and its equations.
_CONTINUED = {("signature", "function"), ("signature", "bind")}
# Wrap declarations and may start where their first one starts.
_CONTAINER = re.compile(
    r"^(?:source_file|program|translation_unit|compilation_unit|module|declarations|body_statement)$"
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
_NEWS = re.compile(r"(?i)chang|history|news|release|licen|contribut|conduct|security|todo|\.github")
_QUOTES = re.compile(r"^[rRuUbBfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")


@cache
def _language(name: str) -> Language:
    module, function = _GRAMMARS.get(name, (f"tree_sitter_{name}", "language"))
    return Language(getattr(importlib.import_module(module), function)())


@cache
def _query(name: str) -> Query:
    language = _language(name)
    kinds = [kind for kind in _COMMENTS if language.id_for_node_kind(kind, True)]
    return Query(language, _QUERIES.get(name) or "\n".join(f"({kind}) @doc" for kind in kinds))


def pairs(source: Source, package: str = "") -> Iterator[Pair]:
    """The pairs of one file that a comment or a docstring gives."""
    if source.language in PROSE:
        return
    root = Parser(_language(source.language)).parse(source.text).root_node
    found = QueryCursor(_query(source.language)).captures(root).get("doc", [])
    found.sort(key=lambda node: node.start_byte)
    if source.language == "python":
        raw = _docstrings(found)
    elif source.language == "elixir":
        raw = ((_text(node).removeprefix("@doc"), *_declared(node.next_named_sibling)) for node in found)
    else:
        raw = _commented(source, root, found)
    for doc, name, code in raw:
        doc = clean(doc)
        if _is_worth_keeping(doc, code):
            yield Pair(package, source.language, name, doc, code, source.path)


def named(source: Source, package: str = "") -> Iterator[Pair]:
    """The definitions and sections of one file, to be found by their names, which are cut out of them."""
    if source.language in PROSE and _NEWS.search(source.path):
        return
    lines = source.text.splitlines(keepends=True)
    for part in chunk(source.text, source.language):
        names = [re.split(r"[.:#]+", name)[-1] for name in part.symbol.split(", ")]
        if source.language in PROSE:
            names = part.symbol.split(" > ")[-1:]
        if not part.symbol or part.kind not in NAMED_KINDS or len(names) > MOST_NAMES:
            continue
        text = b"".join(lines[part.first - 1 : part.last])[:LONGEST_CODE].decode("utf-8", "replace")
        for name in names:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text) if name else text
        said = words(" ".join(names))
        if 2 <= len(said) <= MOST_NAME_WORDS and _is_worth_keeping("a b c", text):
            yield Pair(package, source.language, " ".join(names), "", text, source.path)


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


def _is_worth_keeping(doc: str, code: str) -> bool:
    return (
        len(words(doc)) >= FEWEST_DOC_WORDS
        and len(set(words(code))) >= FEWEST_CODE_WORDS
        and not _NOT_ABOUT_CODE.search(doc)
        and sum(character.isascii() for character in doc) > 0.9 * len(doc)
    )


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
        line = lines[last + 1] if last + 1 < len(lines) else b""
        if not line.strip() or (starts and not doc.startswith(starts)):
            continue
        column = len(line) - len(line.lstrip())
        node = root.descendant_for_point_range((last + 1, column), (last + 1, column + 1))
        yield (doc, *_declared(_widest(node), bool(starts)))


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


def mine(package: str, found: Iterable[Source]) -> list[Pair]:
    """The pairs of a package, each comment and each code once, and of each language no more than its share."""
    seen: set[str] = set()
    taken: Counter[tuple[str, bool]] = Counter()
    fresh = []
    for source in found:
        for is_documented, read in ((True, pairs), (False, named)):
            kind = source.language, is_documented
            room = _share(*kind) - taken[kind]
            for pair in read(source, package) if room else ():
                if pair.code not in seen and (not pair.doc or pair.doc not in seen):
                    seen |= {pair.doc, pair.code}
                    taken[kind] += 1
                    fresh.append(pair)
                    room -= 1
                    if not room:
                        break
    return fresh


def _share(language: str, is_documented: bool) -> int:
    """The most pairs of a language that one package may give."""
    if language in PROSE:
        return MOST_SECTIONS
    if is_documented:
        return MOST_OF_A_RARE_ONE if language in RARE else MOST_OF_ONE_PACKAGE
    return MOST_NAMED_OF_A_RARE_ONE if language in RARE else MOST_NAMED


def _mine_package(package: Package, corpus: Path) -> list[Pair]:
    folder = package.folder(corpus)
    if not folder.is_dir():
        return []
    wanted = package.languages.split()
    found = sources(archives(folder), folder.name)
    return mine(folder.name, (source for source in found if not wanted or source.language in wanted))


def _excluded(folders: Iterable[Path]) -> set[str]:
    found = (source for folder in folders for source in files_under(folder))
    return {pair.code for source in found for pair in pairs(source)}


def main() -> None:
    """Mines every package of the list that was downloaded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--list", type=Path, default=CORPUS)
    parser.add_argument("--exclude", type=Path, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    seen = _excluded(options.exclude)
    languages: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        mined = pool.map(partial(_mine_package, corpus=options.corpus), listed(options.list))
        write(options.out, _first_seen((pair for pairs in mined for pair in pairs), seen, languages))
    print(f"{languages.total():,} pairs:", ", ".join(f"{name} {count:,}" for name, count in languages.most_common()))


def _first_seen(mined: Iterable[Pair], seen: set[str], languages: Counter[str]) -> Iterator[Pair]:
    for pair in mined:
        if pair.code not in seen:
            seen.add(pair.code)
            languages[pair.language] += 1
            yield pair


if __name__ == "__main__":
    main()
