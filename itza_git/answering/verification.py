"""Whether the citations in a text still hold at a revision, and where their lines are now.

Nothing but trees and blobs is compared, so renames, merges and rewritten history are all the same to it. Each tree and
blob is read once, and the files that changed are gone through once for all the citations that left their file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from itza_git.answering.citation import WORKTREE, Citation, CommitCitation, render, short
from itza_git.answering.finding import Found, find_all
from itza_git.answering.following import (
    ALIKE,
    Followed,
    Versions,
    census,
    is_distinctive,
    occurrences,
    similarity,
    spaceless,
)
from itza_git.answering.verdicts import UNKNOWN_COMMIT, Checked, Verdict, Verification
from itza_git.chunking.lines import split_lines
from itza_git.errors import NotLocal, UnknownRevision, UnreadableObject
from itza_git.git import Repository
from itza_git.indexing.policy import NOT_LOCAL, UNREADABLE
from itza_git.records import GITLINK, SYMLINK, Change, Commit, Entry

# Larger files are not searched for lines that left theirs.
LARGEST = 4_000_000
# Of a file that was written anew, what stands where the lines were says nothing; so much more than them is shown.
MOST_LONGER = 40


def verify_all(repository: Repository, texts: Sequence[str], commit: Commit) -> list[Verification]:
    """The verification of each text against a commit."""
    found = [find_all(text) for text in texts]
    verdicts = _Check(repository, commit).verdicts(one.citation for ones in found for one in ones)
    return [
        Verification(
            commit.id.hex(), tuple(Checked(one, line, verdicts[one.citation]) for one, line in _placed(text, ones))
        )
        for text, ones in zip(texts, found, strict=True)
    ]


def unchecked(texts: Sequence[str], reason: str) -> list[Verification]:
    """The citations of each text where there is no repository to compare them with: all are gone, for that reason."""
    return [
        Verification(
            "", tuple(Checked(one, line, Verdict("gone", reason)) for one, line in _placed(text, find_all(text)))
        )
        for text in texts
    ]


def _placed(text: str, found: Iterable[Found]) -> Iterable[tuple[Found, int]]:
    line, at = 1, 0
    for one in found:
        line, at = line + text.count("\n", at, one.start), one.start
        yield one, line


@dataclass
class _Source:
    """Lines that a citation names, and the file that they stand in at its commit."""

    citation: Citation
    tree: bytes
    blob: bytes
    lines: list[bytes]
    verdict: Verdict = field(default_factory=lambda: Verdict("gone"))
    is_renamed: bool = False  # its path is free or holds another file, so its file may go by another name
    renames: list[tuple[float, Change]] = field(default_factory=list)
    places: list[tuple[Change, list[int]]] = field(default_factory=list)

    @property
    def block(self) -> list[bytes]:
        return self.lines[self.citation.first - 1 : self.citation.last]

    @cached_property
    def census(self) -> Counter[bytes]:
        return census(self.lines)


class _Blob:
    """The content of a candidate, taken apart as far as somebody asks."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def lines(self) -> list[bytes]:
        return split_lines(self.data)

    @cached_property
    def census(self) -> Counter[bytes]:
        return census(self.lines)


class _Check:
    """Checks citations against one commit."""

    def __init__(self, repository: Repository, target: Commit) -> None:
        self._repository = repository
        self._target = target
        self._at = repository.abbreviate(target.id)
        self._commits: dict[str, Commit | str] = {}
        self._trees: dict[bytes, dict[bytes, Entry]] = {}
        self._lines: dict[bytes, list[bytes]] = {}
        self._compared: dict[tuple[bytes, bytes], Versions] = {}
        self._unreadable: dict[bytes, str] = {}

    def verdicts(self, citations: Iterable[Citation | CommitCitation]) -> dict[Citation | CommitCitation, Verdict]:
        """The verdict on each, where more than one citation names the same lines only once."""
        found: dict[Citation | CommitCitation, Verdict] = {}
        sources = []
        for citation in dict.fromkeys(citations):
            try:
                source = self._of_commit(citation) if isinstance(citation, CommitCitation) else self._source(citation)
                if isinstance(source, Verdict):
                    found[citation] = source
                elif not self._look_in_place(source):
                    sources.append(source)
                else:
                    found[citation] = source.verdict
            except UnreadableObject as e:  # the others can be judged
                found[citation] = Verdict("gone", _why(e))
        self._look_elsewhere(sources)
        return found | {source.citation: source.verdict for source in sources}

    # What is cited

    def _of_commit(self, citation: CommitCitation) -> Verdict:
        """Whether a commit is there, belongs to the target's history, and is called what the citation calls it."""
        commit = self._commit(citation.commit)
        if isinstance(commit, str):
            return Verdict("gone", commit)
        if not self._repository.is_ancestor(commit.id, self._target.id):
            return Verdict("gone", f"not in the history of {self._at}")
        (message,) = self._repository.messages([commit.id])
        subject = message.subject if message else ""
        if citation.subject in (subject, short(subject)):
            return Verdict("same")
        now = CommitCitation(citation.commit, short(subject))
        return Verdict("changed", f"its subject is {render(now).partition(' ')[2].partition(' ')[2]}", now)

    def _source(self, citation: Citation) -> _Source | Verdict:
        if citation.commit == WORKTREE:
            return Verdict("uncommitted", "it names no commit to compare with")
        commit = self._commit(citation.commit)
        if isinstance(commit, str):
            return Verdict("gone", commit)
        entry = self._tree(commit.tree).get(citation.path)
        if entry is None or entry.mode == GITLINK:
            return Verdict("gone", "its commit never had this file")
        content = self._read(entry.id)
        if citation.last > len(content):
            return Verdict("gone", "its commit never had these lines")
        return _Source(citation, commit.tree, entry.id, content)

    def _commit(self, id: str) -> Commit | str:
        """The commit of a citation, or why there is none."""
        if id not in self._commits:
            try:
                commit = self._repository.resolve(id)
                # A branch may be called like an id.
                self._commits[id] = commit if commit.id.hex().startswith(id) else UNKNOWN_COMMIT
            except UnknownRevision as e:
                self._commits[id] = "ambiguous commit" if "ambiguous" in str(e) else UNKNOWN_COMMIT
        return self._commits[id]

    def _tree(self, tree: bytes) -> dict[bytes, Entry]:
        if tree not in self._trees:
            self._trees[tree] = {entry.path: entry for entry in self._repository.tree(tree)}
        return self._trees[tree]

    def _read(self, blob: bytes) -> list[bytes]:
        if blob not in self._lines:
            self._lines[blob] = split_lines(self._repository.read(blob))
        return self._lines[blob]

    def _versions(self, old: bytes, new: bytes) -> Versions:
        if (old, new) not in self._compared:
            self._compared[old, new] = Versions(self._read(old), self._read(new))
        return self._compared[old, new]

    # In the file of the same name

    def _look_in_place(self, source: _Source) -> bool:
        """Give the verdict that the file of the same name supports; whether it is final."""
        entry = self._tree(self._target.tree).get(source.citation.path)
        if entry is None or entry.mode == GITLINK:
            source.verdict, source.is_renamed = Verdict("gone", "file deleted"), True
            return False
        if entry.id == source.blob:
            source.verdict = Verdict("same")
            return True
        versions = self._versions(source.blob, entry.id)
        followed = versions.follow(source.citation.first, source.citation.last)
        source.verdict = _verdict(source, source.citation.path, versions.new, followed, self._at)
        if followed.status in ("same", "moved"):
            return True
        source.is_renamed = not versions.are_alike
        return followed.status == "changed" and not source.is_renamed

    # In other files

    def _look_elsewhere(self, sources: Sequence[_Source]) -> None:
        """Look for the lines of sources in all files that differ between their trees and the target."""
        candidates = {tree: self._candidates(tree) for tree in {source.tree for source in sources}}
        for blob, content in self._contents({blob for found in candidates.values() for blob in found}):
            for source in sources:
                for change in candidates[source.tree].get(blob, ()):
                    _compare(source, change, content)
        for source in sources:
            self._decide(source)
            lacking = [self._unreadable[blob] for blob in candidates[source.tree] if blob in self._unreadable]
            if lacking and source.verdict.status == "gone":
                source.verdict = Verdict(
                    "gone", f"{source.verdict.reason}; not all files could be searched ({lacking[0]})"
                )

    def _candidates(self, tree: bytes) -> dict[bytes, list[Change]]:
        """The files that the target has anew or changed since a tree, by blob."""
        found: dict[bytes, list[Change]] = {}
        for change in self._repository.diff(tree, self._target.tree):
            if change.new and change.new.mode not in (SYMLINK, GITLINK):
                found.setdefault(change.new.id, []).append(change)
        return found

    def _contents(self, blobs: Iterable[bytes]) -> Iterable[tuple[bytes, _Blob]]:
        for blob in sorted(blobs):
            try:
                if self._repository.size(blob) <= LARGEST:
                    yield blob, _Blob(self._repository.read(blob))
            except UnreadableObject as e:
                self._unreadable[blob] = _why(e)

    def _decide(self, source: _Source) -> None:
        name = source.citation.path.rpartition(b"/")[2]
        likely = sorted(source.renames, key=lambda one: (-one[0], one[1].path.rpartition(b"/")[2] != name, one[1].path))
        for _, change in likely[:1]:
            verdict = self._renamed(source, change)
            if verdict.status != "gone":
                source.verdict = verdict
                return
        fresh = [(change, at) for change, at in source.places if not self._had(change, source)]
        if len(fresh) == 1 and len(fresh[0][1]) == 1 and is_distinctive(source.block):
            change, (first,) = fresh[0]
            last = first + len(source.block) - 1
            source.verdict = Verdict("moved", now=Citation(change.path, first, last, self._at))

    def _renamed(self, source: _Source, change: Change) -> Verdict:
        assert change.new is not None, "a candidate is in the target"
        versions = self._versions(source.blob, change.new.id)
        followed = versions.follow(source.citation.first, source.citation.last)
        verdict = _verdict(source, change.path, versions.new, followed, self._at)
        return replace(verdict, reason=verdict.reason or "file renamed") if verdict.status == "changed" else verdict

    def _had(self, change: Change, source: _Source) -> bool:
        """Whether a file held the lines of source before it changed."""
        if change.old is None or change.old.mode == GITLINK:
            return False
        try:
            return bool(occurrences(self._read(change.old.id), source.block))
        except UnreadableObject:  # it may have
            return True


def _why(error: UnreadableObject) -> str:
    return NOT_LOCAL if isinstance(error, NotLocal) else UNREADABLE


def _verdict(source: _Source, path: bytes, content: list[bytes], followed: Followed, at: str) -> Verdict:
    """The verdict on lines that were followed into the content of path at a commit."""
    before = tuple(source.block)
    if followed.status == "gone":
        return Verdict("gone", "lines deleted")
    if followed.status == "same" and path == source.citation.path:
        return Verdict("same")
    now = Citation(path, followed.first, followed.last, at)
    if followed.status != "changed":
        return Verdict("moved", now=now)
    after = tuple(content[followed.first - 1 : followed.last])
    if len(after) > len(before) + MOST_LONGER:
        return Verdict("changed", "written anew", before=before)
    same_words = spaceless(b"".join(before)) == spaceless(b"".join(after))
    return Verdict("changed", "only in white space" if same_words else "", now, before, after)


def _compare(source: _Source, change: Change, candidate: _Blob) -> None:
    """Note what a changed file has in common with the cited one."""
    assert change.new is not None, "a candidate is in the target"
    if source.is_renamed:
        is_exact = change.new.id == source.blob
        alike = 1.0 if is_exact else similarity(source.census, candidate.census) if change.old is None else 0.0
        if alike >= ALIKE:
            source.renames.append((alike + is_exact, change))
    block = source.block
    if b"\n".join(block) in candidate.data and (places := occurrences(candidate.lines, block)):
        source.places.append((change, places))
