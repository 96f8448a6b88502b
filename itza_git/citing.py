"""From places in a tree to citations, and from citations to lines. What is cited was read from the blob it names."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from itza_git.answering.citation import LINES, WORKTREE, Citation, parse, render
from itza_git.chunking.lines import some_lines, split_lines
from itza_git.errors import UnreadableObject, UsageError
from itza_git.git import Repository
from itza_git.paths import quote
from itza_git.records import GITLINK, SYMLINK, Commit, Passage
from itza_git.results import Hit, SearchResult, Shown
from itza_git.trees import resolve

if TYPE_CHECKING:  # only named here
    from itza_git.answering.answer import Cited


# Where git looks for a NUL byte, which no text has.
_LOOKED_AT = 8000


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
    read = cache(repository.read)
    for passage in passages:
        try:
            first = max(passage.first - context[0], 1)
            lines = _decoded(some_lines(read(passage.blob), first, passage.last + context[1]))
        except UnreadableObject:
            continue
        begin, end = passage.first - first, passage.last + 1 - first
        if end <= len(lines):
            text = "\n".join(lines[begin:end])
            at = None if passage.path in changed else commit.id
            citation = cite(repository, passage.path, passage.first, passage.last, at)
            before, after = tuple(lines[:begin]), tuple(lines[end:])
            found.append(Hit(passage, text, citation, at.hex() if at else WORKTREE, before=before, after=after))
    return found


def show(repository: Repository, citation: Citation, here: bytes = b"") -> Shown:
    """The cited lines at the cited commit; see `Itza.show`. Raises `UsageError`, `UnknownRevision`."""
    commit = repository.resolve(citation.commit)
    entries = {entry.path: entry for entry in repository.tree(commit.tree)}
    citation = _from(here, citation, entries)
    entry = entries.get(citation.path)
    at = repository.abbreviate(commit.id)
    if entry is None:
        raise UsageError(f"{quote(citation.path)} is not in {at}", f"git ls-tree -r --name-only {at}")
    if entry.mode == GITLINK:
        raise _is_submodule(citation.path, at, entry.id, here)
    return _shown(citation, repository.read(entry.id), commit.id.hex(), at)


def _is_submodule(path: bytes, place: str, commit: bytes, here: bytes) -> UsageError:
    """The error for a path whose files another repository has, at a commit of its own."""
    there = shlex.quote(quote(posixpath.relpath(path, here or b".")))
    hint = f"git -C {there} ls-tree -r --name-only {commit.hex()[:12]}"
    return UsageError(f"{quote(path)} is a submodule at {place}", hint)


def show_uncommitted(
    repository: Repository, citation: Citation, head: Commit, largest: int, here: bytes = b""
) -> Shown:
    """The cited lines of the working tree; of a file of at most largest bytes. Raises `UsageError`."""
    changes = {change.path: change.new for change in repository.uncommitted(largest)}
    committed = {entry.path: entry for entry in repository.tree(head.tree)}
    citation = _from(here, citation, {path: one for path, one in (committed | changes).items() if one})
    found = (committed | changes).get(citation.path)
    if found and found.mode == GITLINK and any(found.id):  # not a repository that git does not track
        raise _is_submodule(citation.path, "the working tree", found.id, here)
    if found is None or found.mode in (SYMLINK, GITLINK):
        raise UsageError(f"{quote(citation.path)} is no file of the working tree", "git status")
    if citation.path in changes and repository.size(found.id) > largest:
        raise UsageError(f"{quote(citation.path)} is too large", "git config itza.maxFileSize 100m")
    return _shown(citation, repository.read(found.id), WORKTREE, "the working tree")


def _decoded(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace") for line in lines]


def _from(here: bytes, citation: Citation, known: Container[bytes]) -> Citation:
    """The citation with its path from the top: as it stands where that is known, else from the folder here."""
    path = posixpath.normpath(posixpath.join(here, citation.path))
    return replace(citation, path=path) if citation.path not in known and path in known else citation


def _shown(citation: Citation, data: bytes, commit: str, place: str) -> Shown:
    name = quote(citation.path)
    at = "HEAD" if commit == WORKTREE else place
    if b"\0" in data[:_LOOKED_AT]:
        raise UsageError(f"{name} is binary at {place}", f"git cat-file -s {shlex.quote(f'{at}:{name}')}")
    lines = _decoded(split_lines(data))
    if not lines:
        raise UsageError(f"{name} is empty at {place}", f"git log --oneline {at} -- {shlex.quote(name)}")
    if citation.last > len(lines):
        first, written = (
            citation.first if citation.first <= len(lines) else 1,
            WORKTREE if commit == WORKTREE else place,
        )
        raise UsageError(
            f"{name} has {len(lines)} line{'' if len(lines) == 1 else 's'} at {place}, not {citation.last}",
            f"git itza show {shlex.quote(render(replace(citation, first=first, last=len(lines), commit=written)))}",
        )
    return Shown(citation, commit, tuple(lines[citation.first - 1 : citation.last]))


def understood(repository: Repository, text: str) -> Citation:
    """The citation that text is, with any revision behind its `@`, or copied together with its symbol.

    Raises `UsageError`, `UnknownRevision`.
    """
    try:
        return parse(text.strip())
    except UsageError as e:
        # A revision may hold an `@` itself: `HEAD@{1}`.
        found = re.fullmatch(rf"(.+:{LINES}(?:-{LINES})?)@(.+?)(?:  .*)?", text.strip(), re.DOTALL)
        if found is None:
            raise
        commit = resolve(repository, found[2]).id.hex()
        try:
            return parse(f"{found[1]}@{commit}")
        except UsageError:
            raise e from None  # in the words that were written


def cited(repository: Repository, one: Cited, result: SearchResult) -> str:
    """The rendered form of a citation of an answer."""
    if one.is_commit:
        commits = result.past.commits if result.past else ()
        return next(hit.citation for hit in commits if hit.commit == one.blob.hex())
    commit = result.commit_of(one.path, one.blob)
    return cite(repository, one.path, one.first, one.last, None if commit == WORKTREE else bytes.fromhex(commit))
