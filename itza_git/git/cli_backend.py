"""The repository as git's command line reads it: for formats that libgit2 does not know."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from itza_git.errors import GitError, UnreadableObject
from itza_git.git.base import BaseRepository
from itza_git.git.location import Location, first_line
from itza_git.git.objects import AHEAD, Answer, Objects
from itza_git.git.working_tree import object_id
from itza_git.records import Branch, Commit, Head


class CliRepository(BaseRepository):
    """A `Repository` (see protocol.py) that knows nothing of git's formats but ids and the text of objects."""

    def __init__(self, location: Location, variables: Mapping[str, str]) -> None:
        super().__init__(location, variables)
        self._objects = Objects(location.common_dir / "objects", location.id_length)

    def head(self) -> Head:
        named = self._git.run("symbolic-ref", "--quiet", "HEAD")
        ref = os.fsdecode(named.stdout.removesuffix(b"\n")) or None
        found = self._git.run("rev-parse", "--verify", "--end-of-options", "HEAD")
        if found.returncode == 0:
            return Head(ref, self._commit(bytes.fromhex(found.stdout.decode())))
        if ref is None:  # so it is where HEAD names a ref that is broken, too
            said = first_line(os.fsdecode(found.stderr)).replace("Needed a single revision", "it names no commit")
            raise GitError(f"HEAD of {self._place()} cannot be read: {said}", "git fsck")
        return Head(ref, None)

    def branches(self) -> list[Branch]:
        prefix = b"refs/heads/"
        listed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
        if listed.returncode:
            said = first_line(os.fsdecode(listed.stderr))
            raise GitError(f"the branches of {self._place()} cannot be read: {said}", "git fsck")
        found = []
        for line in listed.stdout.splitlines():
            id, _, ref = line.partition(b" ")
            try:
                commit = self._commit(bytes.fromhex(id.decode()))
            except UnreadableObject:
                continue
            found.append((ref.removeprefix(prefix), commit))
        return [Branch(os.fsdecode(name), commit) for name, commit in sorted(found, key=lambda pair: pair[0])]

    def read_many(self, blobs: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
        # Several at once: git reads one while another is on its way.
        waiting = iter(blobs)
        while some := list(islice(waiting, AHEAD)):
            if not self._working_files.keys().isdisjoint(some):
                yield from super().read_many(some)
                continue
            for blob, answer in zip(some, self._objects.contents(some), strict=True):
                yield blob, answer[2] if answer and answer[0] == "blob" and self._is_sound(blob, answer) else None

    def _named(self, revision: str) -> Commit | None:
        return None

    def _header(self, id: bytes) -> tuple[str, int]:
        found = self._objects.header(id)
        if found is None:
            raise self._absent(f"object {id.hex()}")
        return found[0], found[1]

    def _content(self, what: str, id: bytes, kind: str) -> bytes:
        (found,) = self._objects.contents([id])
        if found is None:
            raise self._absent(what)
        if found[0] != kind:
            raise UnreadableObject(f"{what} is not a {kind}", "git fsck")
        if not self._is_sound(id, found):
            raise UnreadableObject(f"{what} cannot be read: its content is another object's", "git fsck")
        return found[2]

    def _is_sound(self, id: bytes, answer: Answer) -> bool:
        """Whether the content is what the id names; git does not check it when it streams a blob."""
        return object_id(answer[0], answer[2], self.id_length) == id
