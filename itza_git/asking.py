"""From passages, or a survey, to an answer: the model server that the settings name is asked here, and nowhere else.

A server that is not there, or fails, is no error: the passages, or the survey, are the answer then, with a note.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from itza_git.answering.answer import PASSAGES_ONLY, Answer, Statement
from itza_git.answering.ask import answer, nothing_here
from itza_git.config import Settings
from itza_git.errors import ModelError
from itza_git.models.choice import SERVERS
from itza_git.past import evidence, is_strong
from itza_git.results import AskResult, SearchResult
from itza_git.whole import Model


def answer_from(
    settings: Settings, result: SearchResult, model: str | None, force: bool, statement: Callable[[Statement], None]
) -> AskResult:
    """The answer that passages bear out. model: None for that of the settings, empty for none."""
    if not result.hits and not (result.past and result.past.commits):
        return AskResult(result, nothing_here(result.query, []))
    if model == "":
        # What changed is worth showing whatever was asked about it.
        is_shown = force or result.base or not _is_weak(result)
        return AskResult(result, PASSAGES_ONLY if is_shown else _nothing(result))
    try:
        return AskResult(result, _answer(settings, result, model or settings.answer_model, force, statement))
    except ModelError as e:
        return AskResult(result, PASSAGES_ONLY, told(e))


def _nothing(result: SearchResult) -> Answer:
    return nothing_here(result.query, evidence(result)[0])


def _is_weak(result: SearchResult) -> bool:
    return result.found.weak and not is_strong(result)


def told(error: ModelError) -> str:
    """Why no model answered, in one line."""
    return f"{error}{f' ({error.hint})' if error.hint else ''}"


def _answer(
    settings: Settings, result: SearchResult, model: str, force: bool, statement: Callable[[Statement], None]
) -> Answer:
    server = SERVERS[settings.server](settings)
    passages, notes = evidence(result)
    weak = _is_weak(result)
    final = PASSAGES_ONLY
    try:
        for part in answer(result.query, passages, server, model, weak=weak, force=force, notes=notes):
            if isinstance(part, Statement):
                statement(part)
            else:
                final = part
    finally:
        server.close()
    return final


def answer_whole(
    settings: Settings,
    ask: Callable[[Model | None], AskResult],
    model: str | None,
    progress: Callable[[int, int], None],
    statement: Callable[[Statement], None],
) -> AskResult:
    """The answer to a question about all of a tree. ask gives it, with a model or without; model as above."""
    if model == "":
        return ask(None)
    named = Model(lambda: SERVERS[settings.server](settings), model or settings.answer_model, progress, statement)
    try:
        return ask(named)
    except ModelError as e:
        return replace(ask(None), note=told(e))
