"""From places in a tree to citations, and from citations to lines. What is cited was read from the blob it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from itza_git.answering.citation import LINES, WORKTREE, Citation, parse, render
from itza_git.chunking.lines import split_lines
from itza_git.errors import UnreadableObject, UsageError
from itza_git.git import Repository
from itza_git.paths import quote
from itza_git.records import GITLINK, SYMLINK, Commit, Passage
from itza_git.results import Hit, SearchResult, Shown
from itza_git.trees import resolve

if TYPE_CHECKING:  # only named here
    from itza_git.answering.answer import Cited


def cite(repository: Repository, path: bytes, first: int, last: int, commit: bytes | None) -> str:
    """The citation of lines at a commit, abbreviated as git would; None is the working tree."""
    return render(Citation(path, first, last, repository.abbreviate(commit) if commit else WORKTREE))


def hits(
    repository: Repository,
    passages: Sequence[Passage],
    commit: Commit,
    changed: frozenset[bytes],
    context: tuple[int, int] = (0, 0),
) -> list[Hit]:
    """The passages whose lines are there, with their text; the paths in changed are cited as of the working tree.

    context is how many lines before and after each come with it.
    """
    found = []
    for passage in passages:
        try:
            lines = split_lines(repository.read(passage.blob))
        except UnreadableObject:
            continue
        if passage.last <= len(lines):
            text = "\n".join(_decoded(lines[passage.first - 1 : passage.last]))
            at = None if passage.path in changed else commit.id
            citation = cite(repository, passage.path, passage.first, passage.last, at)
            before = tuple(_decoded(lines[max(passage.first - 1 - context[0], 0) : passage.first - 1]))
            after = tuple(_decoded(lines[passage.last : passage.last + context[1]]))
            found.append(Hit(passage, text, citation, at.hex() if at else WORKTREE, before=before, after=after))
    return found


def show(repository: Repository, citation: Citation) -> Shown:
    """The cited lines at the cited commit. Raises `UsageError`, `UnknownRevision`."""
    commit = repository.resolve(citation.commit)
    entries = {entry.path: entry for entry in repository.tree(commit.tree)}
    entry = entries.get(citation.path)
    at = repository.abbreviate(commit.id)
    if entry is None:
        raise UsageError(f"{quote(citation.path)} is not in {at}", f"git ls-tree -r --name-only {at}")
    return _shown(citation, repository.read(entry.id), commit.id.hex(), at)


def show_uncommitted(repository: Repository, citation: Citation, head: Commit, largest: int) -> Shown:
    """The cited lines of the working tree; of a file of at most largest bytes. Raises `UsageError`."""
    changes = {change.path: change.new for change in repository.uncommitted(largest)}
    committed = {entry.path: entry for entry in repository.tree(head.tree)}
    found = (committed | changes).get(citation.path)
    if found is None or found.mode in (SYMLINK, GITLINK):
        raise UsageError(f"{quote(citation.path)} is no file of the working tree", "git status")
    if citation.path in changes and repository.size(found.id) > largest:
        raise UsageError(f"{quote(citation.path)} is too large", "git config itza.maxFileSize 100m")
    return _shown(citation, repository.read(found.id), WORKTREE, "the working tree")


def _decoded(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace") for line in lines]


def _shown(citation: Citation, data: bytes, commit: str, place: str) -> Shown:
    lines = _decoded(split_lines(data))
    if citation.last > len(lines):
        raise UsageError(
            f"{quote(citation.path)} has {len(lines)} lines at {place}, not {citation.last}",
            f"git itza show {render(replace(citation, first=1, last=max(len(lines), 1)))}",
        )
    return Shown(citation, commit, tuple(lines[citation.first - 1 : citation.last]))


def understood(repository: Repository, text: str) -> Citation:
    """The citation that text is, with any revision behind its `@`, or copied together with its symbol.

    Raises `UsageError`, `UnknownRevision`.
    """
    try:
        return parse(text.strip())
    except UsageError:
        # A revision may hold an `@` itself: `HEAD@{1}`.
        found = re.fullmatch(rf"(.+:{LINES}(?:-{LINES})?)@(.+?)(?:  .*)?", text.strip(), re.DOTALL)
        if found is None:
            raise
        return parse(f"{found[1]}@{resolve(repository, found[2]).id.hex()}")


def cited(repository: Repository, one: Cited, result: SearchResult) -> str:
    """The rendered form of a citation of an answer."""
    if one.is_commit:
        commits = result.past.commits if result.past else ()
        return next(hit.citation for hit in commits if hit.commit == one.blob.hex())
    commit = result.commit_of(one.path, one.blob)
    return cite(repository, one.path, one.first, one.last, None if commit == WORKTREE else bytes.fromhex(commit))
