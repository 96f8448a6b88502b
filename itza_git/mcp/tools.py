"""The tools: what each says of itself to a model, what it takes, and which text it answers with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from itza_git.answering.citation import WORKTREE, Citation, render
from itza_git.api import Itza
from itza_git.errors import ItzaError
from itza_git.indexing import Watch
from itza_git.mcp import texts
from itza_git.mcp.arguments import Parameter
from itza_git.mcp.indexing import Indexing
from itza_git.mcp.places import Place, Places
from itza_git.mcp.stopgap import by_words
from itza_git.mcp.texts import Piece
from itza_git.paths import quote
from itza_git.records import Commit, Coverage
from itza_git.render import visible
from itza_git.results import SearchResult

# Answer from what the store holds; the thread of `Indexing` is who writes.
PEEK = Watch(patience=0)
# Uncommitted files are known to nobody else, so they are indexed on the spot, up to these seconds.
EDITED = Watch(patience=2.0, wait=0.5)
# So long each waits for the index before it does with a part of it.
SEARCH_SECONDS = 0.5
SIMILAR_SECONDS = 5.0
ASK_SECONDS = 20.0
# Of a passage that others are like, so much is taken for what matters in them.
LONGEST_SAMPLE = 500
KINDS = {"function": ("function", "method"), "type": ("type",), "section": ("section", "text"), "data": ("data",)}


class Call(Protocol):
    """The call that a tool answers."""

    @property
    def roots(self) -> Sequence[Path]:
        """The folders that the client works in; empty when it does not say."""

    def tell(self, done: int, total: int, what: str) -> None:
        """Tell the client how far the work is; ends the call when the client has cancelled it."""


Answering = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. told is all that a model knows of it."""

    name: str
    title: str
    told: str
    parameters: tuple[Parameter, ...]
    answer: Answering


REPO = Parameter("repo", "string", "Repository name or path, when not the one you work in; see list_indexed_repos.")
REV = Parameter("rev", "string", f"Branch, tag or commit; default HEAD. '{WORKTREE}': with uncommitted edits.")
BUDGET = Parameter("budget", "integer", "Most characters of text in the answer.", default=6000, least=500, most=100_000)
PATHS = Parameter("path", "strings", "Only these paths: globs or folders from the top, like src or *.py.")
LANGUAGES = Parameter("language", "strings", "Only these languages, like python.")


@dataclass(frozen=True, slots=True)
class _Ready:
    """A revision that may be asked: its commit, and the run that indexes it, None when all is there."""

    commit: Commit
    indexing: Indexing | None

    def knows_nothing(self, itza: Itza) -> bool:
        """Whether indexing has just begun, so that nothing can be found by it."""
        return self.indexing is not None and self.indexing.is_alive() and not itza.space.packs()

    def beginning(self) -> str:
        """The line about a tree of which nothing is indexed."""
        run = self.indexing
        of = f"0 of {run.total} files" if run and run.total else "nothing"
        return (
            f"{of} indexed so far, indexing goes on; found by the query's words alone: ask again for a better ranking"
        )

    def missing(self, covered: Coverage) -> str:
        """The line about what is not indexed; empty when all is."""
        run = self.indexing
        error = run.error if run else None
        told = f"{error} ({error.hint})" if error and error.hint else str(error or "")
        return texts.coverage(covered, run is not None and run.is_alive(), told)


def ready(call: Call, place: Place, itza: Itza, rev: str, seconds: float) -> _Ready:
    """See that the store holds a revision: index it behind the call, and wait a while for that."""
    commit = itza.resolve(rev)
    if itza.holds(rev):
        return _Ready(commit, None)
    run = place.index(rev, commit.id.hex())
    run.wait(seconds, lambda done, total: call.tell(done, total, f"indexing {place.name}"))
    return _Ready(commit, run)


def _where(place: Place, commit: str, rev: str) -> str:
    """Which repository at which commit an answer is about."""
    at = "HEAD and uncommitted edits" if rev == WORKTREE else visible(rev)
    return f"{place.name} at {commit[:10]}" + ("" if commit.startswith(rev) else f" ({at})")


def search_codebase(
    call: Call,
    places: Places,
    *,
    query: str,
    repo: str | None = None,
    path: Sequence[str] = (),
    language: Sequence[str] = (),
    kind: str | None = None,
    rev: str = "HEAD",
    limit: int,
    budget: int,
) -> str:
    """The ranked passages of a search; by words alone while most of the tree is not indexed."""
    place = places.find(repo, call.roots)
    edited = rev == WORKTREE
    at = "HEAD" if edited else rev
    with place.itza() as itza:
        state = ready(call, place, itza, at, SEARCH_SECONDS)
        if state.knows_nothing(itza):
            pieces = by_words(itza, state.commit, query, path, language, limit)
            where = _where(place, state.commit.id.hex(), rev)
            return texts.joined(where, texts.passages(pieces, query, budget), f"({state.beginning()})")
        result = itza.search(
            query,
            rev=at,
            worktree=edited,
            limit=limit + 1,
            paths=path,
            languages=language,
            kinds=KINDS[kind] if kind else (),
            watch=EDITED if edited else PEEK,
        )
        covered = result.coverage
        if covered.indexed < covered.total and state.indexing is None:
            # It was whole once, and packs were lost since.
            state = _Ready(state.commit, place.index(at, result.commit))
        pieces = [Piece.of(hit) for hit in result.hits]
        if covered.indexed < covered.total / 2:
            pieces = [*by_words(itza, state.commit, query, path, language, limit), *pieces]
    return texts.joined(
        _where(place, result.commit, rev) + ("" if pieces else f": nothing found for {visible(query)}"),
        texts.passages(pieces[:limit], query, budget),
        _notes(result, state.missing(covered), len(pieces) > limit),
    )


def _notes(result: SearchResult, missing: str, more: bool) -> str:
    """What to know beside the hits."""
    told = [missing] if missing else []
    if result.literal:
        told.append(f"exact matches: {result.literal}")
    if result.hits and result.found.unknown:
        told.append(f"nowhere in this tree: {', '.join(result.found.unknown)}")
    if more:
        told.append("more passages: raise limit")
    return "\n".join(f"({visible(one)})" for one in told)


SEARCH = Tool(
    "search_codebase",
    "Search code by meaning",
    "Find the passages of a git repository that a question is about: 'how are retries limited?'. Returns numbered "
    "lines with citations. NOT for exact names or strings (use git grep), nor for whole files (read them).",
    (
        Parameter("query", "string", "What you look for, in words; a question works best.", required=True),
        REPO,
        PATHS,
        LANGUAGES,
        Parameter("kind", "string", "Only such passages.", choices=tuple(KINDS)),
        REV,
        Parameter("limit", "integer", "Most passages.", default=8, most=50),
        BUDGET,
    ),
    search_codebase,
)


def ask_codebase(
    call: Call,
    places: Places,
    *,
    question: str,
    repo: str | None = None,
    path: Sequence[str] = (),
    language: Sequence[str] = (),
    rev: str = "HEAD",
    budget: int,
) -> str:
    """The answer of the user's local model, or the passages that it would rest on."""
    from itza_git.mcp import asking

    place = places.find(repo, call.roots)
    with place.itza() as itza:
        state = ready(call, place, itza, "HEAD" if rev == WORKTREE else rev, ASK_SECONDS)
        folder = itza.repository.worktree or itza.repository.git_dir
    options = ["--worktree"] if rev == WORKTREE else [f"--rev={rev}"]
    options += [f"--path={one}" for one in path] + [f"--lang={one}" for one in language]
    began = time.monotonic()
    asked = asking.ask(folder, question, options, lambda: call.tell(int(time.monotonic() - began), 0, "asking a model"))
    covered = Coverage(asked["coverage"]["indexed"], asked["coverage"]["total"])
    missing = state.missing(covered)
    head = _where(place, asked["commit"], rev)
    return texts.joined(head, _answer(asked, question, budget), f"({missing})" if missing else "")


def _answer(asked: dict[str, Any], question: str, budget: int) -> str:
    """The text of `ask --json`."""
    pieces = [
        Piece(hit["citation"], hit["symbol"], hit["start_line"], tuple(hit["text"].split("\n")))
        for hit in asked["passages"]
    ]
    if asked["status"] == "no_se":
        nearest = "\n".join(piece.head for piece in pieces[:3])
        missing = visible(asked["missing"] or "nothing here answers this")
        return texts.joined(f"NO_SE: {missing}", f"nearest passages:\n{nearest}" if nearest else "")
    if asked["status"] == "passages":
        note = visible(asked["note"] or "no model was asked")
        return texts.joined(
            f"No answer: {note}. The passages one would rest on:", texts.passages(pieces, question, budget)
        )
    sources = "\n".join(f"[{one['n']}] {one['citation']}" for one in asked["citations"])
    doubt = (
        "" if asked["confidence"] == "high" else "(low confidence: what carries no [n] is not supported by a passage)"
    )
    return texts.joined("\n".join(map(visible, asked["answer"].split("\n"))), sources, doubt)


ASK = Tool(
    "ask_codebase",
    "Ask how the code works",
    "Answer a how or why question about a repository with a local model; every citation was checked by the tool. Says "
    "NO_SE when the repository does not answer. Takes up to a minute: prefer search_codebase if you can read code. NOT "
    "for 'where is X defined' (use git grep).",
    (
        Parameter("question", "string", "One question in a sentence.", required=True),
        REPO,
        PATHS,
        LANGUAGES,
        REV,
        BUDGET,
    ),
    ask_codebase,
)


def find_similar_patterns(
    call: Call,
    places: Places,
    *,
    where: str,
    repo: str | None = None,
    path: Sequence[str] = (),
    limit: int,
    budget: int,
) -> str:
    """The passages that are like the one at a place."""
    place = places.find(repo, call.roots)
    with place.itza() as itza:
        cited = _cited(itza, where)
        edited = cited.commit == WORKTREE
        rev = "HEAD" if edited else cited.commit
        state = ready(call, place, itza, rev, SIMILAR_SECONDS)
        found = itza.similar(
            quote(cited.path),
            cited.first,
            cited.last,
            rev=rev,
            worktree=edited,
            limit=limit + 1,
            paths=path,
            watch=EDITED if edited else PEEK,
        )
    of = Piece.of(found.of).head
    pieces = [Piece.of(hit, "copy" if found.is_copy(hit) else "") for hit in found.hits]
    told = [state.missing(found.coverage)] + (["more passages: raise limit"] if len(pieces) > limit else [])
    return texts.joined(
        f"{_where(place, found.commit, rev)}: {'like' if pieces else 'nothing is like'} {of}",
        texts.passages(pieces[:limit], found.of.text[:LONGEST_SAMPLE], budget),
        "\n".join(f"({one})" for one in told if one),
    )


def _cited(itza: Itza, text: str) -> Citation:
    """The citation that a model means, who may leave the commit out."""
    text = text.strip()
    return itza.citation(text if "@" in text else f"{text}@HEAD")


SIMILAR = Tool(
    "find_similar_patterns",
    "Find similar code",
    "Code like the code at a place: other implementations of a pattern, copies, places to change alike. NOT for the "
    "callers of a function (use git grep).",
    (
        Parameter("where", "string", "path:line, path:first-last or a citation.", required=True),
        REPO,
        PATHS,
        Parameter("limit", "integer", "Most passages.", default=5, most=50),
        BUDGET,
    ),
    find_similar_patterns,
)


def list_indexed_repos(call: Call, places: Places) -> str:
    """The repositories that can be named, and how much of each is indexed."""
    local = places.local(call.roots)
    lines = []
    for place in places.all(call.roots):
        here = " (here)" if place.path in local else ""
        lines.append(f"{place.name}{here}  {visible(str(place.path))}  {_state(place)}")
    return "\n".join(lines) or "no repository: start the server in one, or: git itza repos add PATH"


def _state(place: Place) -> str:
    try:
        with place.itza() as itza:
            commit = itza.resolve()
            ref = (itza.repository.head().ref or "detached").removeprefix("refs/heads/")
            state = "indexed" if itza.holds() else "not indexed yet: the first search does it"
            return f"{visible(ref)} {commit.id.hex()[:10]}  {state}"
    except ItzaError as e:
        return str(e)


REPOS = Tool(
    "list_indexed_repos",
    "List repositories",
    "The repositories that the other tools can search, with branch, commit and state of the index. Not needed for the "
    "one you work in.",
    (),
    list_indexed_repos,
)


def read_citation(call: Call, places: Places, *, citation: str, repo: str | None = None, budget: int) -> str:
    """The cited lines at the cited commit."""
    place = places.find(repo, call.roots)
    with place.itza() as itza:
        shown = itza.show(_cited(itza, citation))
    lines = [f"{shown.citation.first + at}\t{visible(line.rstrip())}" for at, line in enumerate(shown.lines)]
    fitting, size = 0, 0
    while fitting < len(lines) and (size := size + len(lines[fitting]) + 1) <= budget:
        fitting += 1
    kept = lines[: max(fitting, 1)]
    kept[0] = kept[0][:budget]
    left = len(lines) - len(kept)
    at = "the working tree" if shown.commit == WORKTREE else shown.commit[:10]
    told = f"({left} more lines, from {shown.citation.first + len(kept)}: raise budget)" if left else ""
    return "\n".join([f"{place.name} at {at}", *kept, *([told] if told else [])])


READ = Tool(
    "read_citation",
    "Read cited lines",
    "The lines that a citation names, as they are at the cited commit. Any range works: path:1-80@HEAD.",
    (
        Parameter("citation", "string", "path:first-last@commit, as other tools print it.", required=True),
        REPO,
        BUDGET,
    ),
    read_citation,
)


def verify_citations(
    call: Call, places: Places, *, text: str, repo: str | None = None, rev: str = "HEAD", budget: int
) -> str:
    """What became of every citation in a text."""
    place = places.find(repo, call.roots)
    with place.itza() as itza:
        verification = itza.verify(text, rev)
    if not verification.checked:
        return "no citation in this text; one looks like src/a.py:10-42@1a2b3c4"
    lines = [f"{_where(place, verification.commit, rev)}: {_summary([o.verdict.status for o in verification.checked])}"]
    for one in verification.checked:
        verdict = one.verdict
        now = f" -> {render(verdict.now)}" if verdict.now and verdict.status == "moved" else ""
        reason = f" ({visible(verdict.reason)})" if verdict.reason else ""
        lines.append(f"{verdict.status} {render(one.found.citation)}{now}{reason}")
    fitting = [line for at, line in enumerate(lines) if sum(len(one) + 1 for one in lines[: at + 1]) <= budget]
    left = len(lines) - len(fitting)
    return "\n".join(fitting + ([f"({left} more: raise budget)"] if left else []))


def _summary(statuses: Sequence[str]) -> str:
    return ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))


VERIFY = Tool(
    "verify_citations",
    "Check citations",
    "Check every path:lines@commit citation in a text against the repository: same, moved (to where), changed or gone. "
    "Run it over a text with citations before you hand it on.",
    (
        Parameter("text", "string", "Any text with citations in it.", required=True),
        REPO,
        Parameter("rev", "string", "Revision to check against; default HEAD."),
        BUDGET,
    ),
    verify_citations,
)

TOOLS = {tool.name: tool for tool in (SEARCH, ASK, SIMILAR, REPOS, READ, VERIFY)}
