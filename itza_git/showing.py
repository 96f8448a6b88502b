"""A commit as a citation names it: its message, and what it changed."""

from __future__ import annotations

from itza_git.answering.citation import CommitCitation, short
from itza_git.answering.following import matching
from itza_git.chunking.lines import split_lines
from itza_git.errors import GitError, UsageError
from itza_git.git import Repository
from itza_git.past import cite_commit
from itza_git.records import GITLINK, Change, CommitMessage, Entry
from itza_git.results import ChangedFile, FileStatus, ShownCommit

# Files that are counted line by line, and how large one may be.
MOST_FILES = 100
LARGEST = 1_000_000


def show_commit(repository: Repository, citation: CommitCitation) -> ShownCommit:
    """The cited commit. Raises `UnknownRevision`, and `UsageError` when it is called otherwise."""
    found = repository.resolve(citation.commit)
    (message,) = repository.messages([found.id])
    if message is None or not found.id.hex().startswith(citation.commit):
        raise UsageError(f"no commit {citation.commit}", "git log --oneline")
    if citation.subject and citation.subject not in (message.subject, short(message.subject)):
        cited = cite_commit(repository, found.id, message.subject)
        raise UsageError(f"commit {citation.commit} has another subject", f"git itza show '{cited}'")
    changes = _changes(repository, message)
    return ShownCommit(
        found.id.hex(),
        cite_commit(repository, found.id, message.subject),
        message.subject,
        message.time,
        message.text.strip("\n"),
        tuple(_counted(repository, change) for change in changes[:MOST_FILES]),
        len(changes),
        max(len(message.parents) - 1, 0),
    )


def _changes(repository: Repository, message: CommitMessage) -> list[Change]:
    """What differs from the first parent; from nothing for a first commit, or one whose parent a clone lacks."""
    for parent in repository.messages(message.parents[:1]):
        if parent is not None:
            return repository.diff(parent.tree, message.tree)
        return []
    return [Change(entry.path, None, entry) for entry in repository.tree(message.tree)]


def _counted(repository: Repository, change: Change) -> ChangedFile:
    status: FileStatus = "added" if change.old is None else "deleted" if change.new is None else "changed"
    try:
        old, new = (_lines(repository, side) for side in (change.old, change.new))
    except GitError:
        old = new = None
    if old is None or new is None:
        return ChangedFile(change.path, status, None, None)
    kept = sum(at is not None for at in matching(old, new))
    return ChangedFile(change.path, status, len(new) - kept, len(old) - kept)


def _lines(repository: Repository, entry: Entry | None) -> list[bytes] | None:
    """The lines of a side; none of one that is not there, None of what is not text."""
    if entry is None:
        return []
    if entry.mode == GITLINK or repository.size(entry.id) > LARGEST:
        return None
    data = repository.read(entry.id)
    return None if b"\0" in data[:8000] else split_lines(data)
