"""`search_codebase`, `find_similar_patterns`, `get_repo_overview`: where to look in a repository."""

from __future__ import annotations

import re
from collections.abc import Sequence

from itza_git.answering.citation import WORKTREE
from itza_git.errors import UsageError
from itza_git.mcp import texts
from itza_git.mcp.across import ALL, search_all
from itza_git.mcp.arguments import Parameter
from itza_git.mcp.places import Places
from itza_git.mcp.stopgap import by_words
from itza_git.mcp.texts import Piece
from itza_git.mcp.tool import (
    BUDGET,
    EDITED,
    LANGUAGES,
    PATHS,
    PEEK,
    REPO,
    REPO_OR_ALL,
    REV,
    Call,
    Ready,
    Tool,
    cited,
    ready,
    where_at,
)
from itza_git.paths import quote
from itza_git.render import Style, visible
from itza_git.results import SearchResult
from itza_git.search.question import Question

# So long each waits for the index before it does with a part of it.
SEARCH_SECONDS = 0.5
SIMILAR_SECONDS = 5.0
OVERVIEW_SECONDS = 5.0
# Of a passage that others are like, so much is taken for what matters in them.
LONGEST_SAMPLE = 500
# Passages that hold little of the question are not worth much of a context.
MOST_WEAK = 3
KINDS = {"function": ("function", "method"), "type": ("type",), "section": ("section", "text"), "data": ("data",)}


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
    kinds = KINDS[kind] if kind else ()
    if repo == ALL:
        if rev != "HEAD":
            raise UsageError("all repositories are searched at their HEADs", "leave out rev, or name one repository")
        return search_all(call, places, query, path, language, kinds, limit, budget)
    place = places.find(repo, call.roots)
    edited = rev == WORKTREE
    at = "HEAD" if edited else rev
    with place.itza() as itza:
        state = ready(call, place, itza, at, SEARCH_SECONDS, in_part=False)
        if state.knows_nothing(itza):
            pieces = by_words(itza, state.commit, query, path, language, limit)
            told = where_at(place, state.commit.id.hex(), rev)
            return texts.fitted(
                budget, told, lambda room: texts.passages(pieces, query, room), f"({state.beginning()})"
            )
        result = itza.search(
            query,
            rev=at,
            worktree=edited,
            limit=limit + 1,
            paths=path,
            languages=language,
            kinds=kinds,
            watch=EDITED if edited else PEEK,
        )
        covered = result.coverage
        if covered.indexed < covered.total and state.indexing is None:
            # It was whole once, and packs were lost since.
            state = Ready(state.commit, place.index(at, result.commit))
        weak = result.found.weak and covered.indexed == covered.total
        pieces = [Piece.of(hit) for hit in result.hits[: MOST_WEAK if weak else limit + 1]]
        if covered.indexed < covered.total / 2:
            pieces = [*by_words(itza, state.commit, query, path, language, limit), *pieces]
    said = "" if pieces and not weak else ": nothing here matches well; the nearest" if pieces else ": nothing found"
    return texts.fitted(
        budget,
        where_at(place, result.commit, rev) + said,
        lambda room: texts.passages(pieces[:limit], query, room, len(pieces) > limit),
        _notes(result, state.missing(covered)),
    )


def _notes(result: SearchResult, missing: str) -> str:
    """What to know beside the hits."""
    told = [missing] if missing else []
    if result.literal:
        told.append(f"exact matches: {result.literal}")
    if result.hits and result.found.unknown:
        unknown = map(Question(result.query).as_written, result.found.unknown)
        told.append(f"nowhere in this tree: {', '.join(unknown)}")
    return "\n".join(f"({visible(one)})" for one in told)


SEARCH = Tool(
    "search_codebase",
    "Search code by meaning",
    "Find the passages of a git repository that a question is about: 'how are retries limited?'. Returns numbered "
    "lines with citations. NOT for exact names or strings (use git grep), nor for whole files (read them).",
    (
        Parameter("query", "string", "What you look for, in words; a question works best.", required=True),
        REPO_OR_ALL,
        PATHS,
        LANGUAGES,
        Parameter("kind", "string", "Only such passages.", choices=tuple(KINDS)),
        REV,
        Parameter("limit", "integer", "Most passages.", default=8, most=50),
        BUDGET,
    ),
    search_codebase,
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
        example = cited(itza, where)
        edited = example.commit == WORKTREE
        rev = "HEAD" if edited else example.commit
        state = ready(call, place, itza, rev, SIMILAR_SECONDS)
        found = itza.similar(
            quote(example.path),
            example.first,
            example.last,
            rev=rev,
            worktree=edited,
            limit=limit + 1,
            paths=path,
            watch=EDITED if edited else PEEK,
        )
    of = Piece.of(found.of).head
    pieces = [Piece.of(hit, "copy" if found.is_copy(hit) else "") for hit in found.hits]
    missing = state.missing(found.coverage)
    sample = found.of.text[:LONGEST_SAMPLE]
    return texts.fitted(
        budget,
        f"{where_at(place, found.commit, rev)}: {'like' if pieces else 'nothing is like'} {of}",
        lambda room: texts.passages(pieces[:limit], sample, room, len(pieces) > limit),
        f"({missing})" if missing else "",
    )


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


def get_repo_overview(
    call: Call, places: Places, *, repo: str | None = None, path: Sequence[str] = (), rev: str = "HEAD", budget: int
) -> str:
    """What is in a repository, in some lines."""
    from itza_git.render_overview import overview

    place = places.find(repo, call.roots)
    with place.itza() as itza:
        state = ready(call, place, itza, rev, OVERVIEW_SECONDS)
        found = itza.overview(rev, paths=path, watch=PEEK)
    lines = overview(found, Style()).split("\n")[2:]
    shown = [_plain(line) for line in lines]
    counted = f"{found.files:,} files, {found.lines:,} lines"
    missing = state.missing(found.coverage)
    return texts.fitted(
        budget,
        f"{where_at(place, found.commit, rev)}: {counted}",
        lambda room: texts.within(shown, room),
        f"({missing})" if missing else "",
    )


def _plain(line: str) -> str:
    """A line without what is for people at a terminal: columns, the command line's flag, a name cut by the width."""
    line = re.sub(r"  \(\d+ more: -v\)$|; \d+ more: -v(?=\)$)", "", line)
    line = re.sub(r"(?<=\bused by) +(\d+)(?=:)", r" \1 files", re.sub(r"(?<=\S) {2,}", "  ", line))
    return re.sub(r", [^,]*…$", "", line)


OVERVIEW = Tool(
    "get_repo_overview",
    "Get to know a repository",
    "What is in a repository: languages, folders, entry points, the files that others rest on, what to read first. "
    "Once, at the beginning; NOT for a question about something in particular (search_codebase).",
    (REPO, PATHS, Parameter("rev", "string", "Branch, tag or commit; default HEAD."), BUDGET),
    get_repo_overview,
)
