"""A question about the whole repository: the overview answers it, and a model that has read the files one by one.

What is shown are the README's beginning, the central files and the entry points; a model's sentences are attributed to
the passages of those files, never to its own notes about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from itza_git.answering.answer import PASSAGES_ONLY, Answer, Statement
from itza_git.answering.ask import NUM_CTX, nothing_here
from itza_git.answering.correlating import correlate
from itza_git.answering.summarising import VERSION, Source, summarise
from itza_git.chunking.lines import split_lines
from itza_git.citing import hits
from itza_git.git import Repository
from itza_git.models.protocol import ChatServer
from itza_git.paths import quote
from itza_git.records import Passage
from itza_git.results import AskResult, Hit, SearchResult
from itza_git.search.retrieval import Found
from itza_git.store import Space
from itza_git.store.summaries import Summaries
from itza_git.survey import Overview, Spot
from itza_git.trees import Asked

MOST_FILES = 12
MOST_CENTRAL = 8
MOST_ENTRY_POINTS = 3
# Of each file so many passages may bear a sentence out.
MOST_EVIDENCE = 60
# What a person waits for notes about files; the next question goes on from there.
PATIENCE = 300.0


class Server(ChatServer, Protocol):
    """A model server that can be closed."""

    def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True)
class Model:
    """How a model is asked: where, which one, and who is told of files that it has read and of statements."""

    connect: Callable[[], Server]
    name: str
    progress: Callable[[int, int], None]
    statement: Callable[[Statement], None]


def passages(repository: Repository, tree: Asked, found: Overview, question: str, space: Space) -> SearchResult:
    """What a whole answer rests on, as a search would give it: README, central files, entry points."""
    chosen = list({spot.passage.path: spot.passage for spot in _spots(found)}.values())[:MOST_FILES]
    ranked = [replace(passage, score=round(1 - n / MOST_FILES, 4)) for n, passage in enumerate(chosen)]
    shown = tuple(hits(repository, ranked, tree.commit, tree.changed))
    judged = Found(ranked, 1.0, 0.0, [], 1.0, [])
    at = tree.commit.id.hex()
    return SearchResult(question, tree.rev, at, space.recipe.name, found.coverage, shown, judged, tree.changed)


def _spots(found: Overview) -> list[Spot]:
    return [*found.docs[:1], *found.central[:MOST_CENTRAL], *found.entry_points[:MOST_ENTRY_POINTS]]


def ask_whole(
    repository: Repository, tree: Asked, found: Overview, question: str, space: Space, model: Model | None
) -> AskResult:
    """The answer about a tree; without a model the overview is it. Raises `ModelError`."""
    result = passages(repository, tree, found, question, space)
    if not result.hits:
        return AskResult(result, nothing_here(question, []))
    if model is None:
        return AskResult(result, PASSAGES_ONLY, overview=found)
    server = model.connect()
    try:
        return AskResult(result, _answer(repository, tree, found, result, space, model, server), overview=found)
    finally:
        server.close()


def _answer(
    repository: Repository,
    tree: Asked,
    found: Overview,
    result: SearchResult,
    space: Space,
    model: Model,
    server: ChatServer,
) -> Answer:
    files = [_File.of(repository, tree, hit) for hit in result.hits]
    notes = summarise(
        [file.source for file in files],
        server,
        model.name,
        Summaries(space.root, model.name, VERSION),
        num_ctx=NUM_CTX,
        seconds=PATIENCE,
        progress=model.progress,
    )
    shown = [(hit.passage, hit.text) for hit in result.hits]
    evidence = [passage for file in files for passage in file.others]
    final = PASSAGES_ONLY
    for part in correlate(result.query, _lines(found), shown, evidence, notes, server, model.name):
        if isinstance(part, Statement):
            model.statement(part)
        else:
            final = part
    return final


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is shown: what a model reads of it, and its passages beside the one that is shown."""

    source: Source
    others: list[tuple[Passage, str]]

    @classmethod
    def of(cls, repository: Repository, tree: Asked, hit: Hit) -> _File:
        corpus = tree.corpus
        entry = corpus.view.paths.index(hit.passage.path)
        all_of_it = [corpus.passage(number, 0.0, {}) for number in corpus.passages_of(entry).tolist()]
        lines = [line.decode("utf-8", "replace") for line in split_lines(repository.read(hit.passage.blob))]
        starts = [passage.first for passage in all_of_it if passage.symbol]
        source = Source(hit.passage.path, hit.passage.blob, "\n".join(lines), starts)
        others = [one for one in all_of_it if one.first != hit.passage.first][:MOST_EVIDENCE]
        return cls(source, [(one, "\n".join(lines[one.first - 1 : one.last])) for one in others])


def _lines(found: Overview) -> list[str]:
    """What the model is told of the tree beside its files."""
    languages = ", ".join(one.name for one in found.languages if one.kind == "code")
    return [
        f"{found.files} files, {found.lines} lines; code in {languages or 'no language that is known'}",
        *_listed("folder", [(quote(area.path), ", ".join(area.names)) for area in found.areas[:8] if area.path]),
        *_listed("entry point", [(quote(spot.passage.path), spot.name) for spot in found.entry_points[:4]]),
        *_listed("tests in", [(quote(area.path), "") for area in found.tests[:2] if area.path]),
    ]


def _listed(what: str, items: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{what} {path}{f': {told}' if told else ''}" for path, told in items]
