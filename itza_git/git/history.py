"""What git's command line knows of the past: ancestors, blame; and commit objects taken apart.

Whatever reads objects, these are asked of git itself: it uses its commit-graph, and libgit2's blame of one file of a
long history takes minutes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from itza_git.git.environment import CommandLine
from itza_git.records import Ancestors, Blamed, CommitMessage

_TIME = re.compile(rb" (\d{1,12}) [+-]\d+\Z")
_ID = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
# `<id> <line in the blamed version> <line here> <number of lines>`
_ENTRY = re.compile(rb"^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$", re.MULTILINE)


def parse_commit(id: bytes, content: bytes) -> CommitMessage | None:
    """The content of a commit object, taken apart; None when it is none. Text is in the encoding that it names."""
    head, _, message = content.partition(b"\n\n")
    # A line that begins with a space goes on with the one before (signatures).
    fields = [line.partition(b" ") for line in head.split(b"\n") if not line.startswith(b" ")]
    named = {name: value for name, _, value in reversed(fields)}
    written = _TIME.search(named.get(b"author", b""))
    try:
        tree = bytes.fromhex(named[b"tree"].decode())
        parents = tuple(bytes.fromhex(value.decode()) for name, _, value in fields if name == b"parent")
    except (KeyError, ValueError):
        return None
    text = _decoded(message, named.get(b"encoding", b"utf-8"))
    return CommitMessage(id, tree, parents, int(written[1]) if written else 0, text.replace("\r\n", "\n"))


def _decoded(message: bytes, encoding: bytes) -> str:
    try:
        return message.decode(encoding.decode("ascii", "replace"), "replace")
    except (LookupError, ValueError):  # an encoding that nobody knows
        return message.decode("utf-8", "replace")


def ancestors(git: CommandLine, commits: Collection[bytes], most: int, without: bytes | None) -> Ancestors:
    """See `Repository.ancestors`."""
    named = [*(one.hex() for one in commits), *([f"^{without.hex()}"] if without else [])]
    stdin = "".join(f"{one}\n" for one in named).encode()
    done = git.run("rev-list", "--timestamp", f"--max-count={most}", "--ignore-missing", "--stdin", stdin=stdin)
    words = done.stdout.decode().split()
    return Ancestors(list(map(bytes.fromhex, words[1::2])), list(map(int, words[::2])), not done.returncode)


# git ends at an object that it cannot read. So often it is started again behind it, and so often when it tells nothing.
_MOST_FAILURES, _MOST_IN_VAIN = 20, 2


def changed_paths(git: CommandLine, commits: Sequence[bytes], most: int, ends: Set[bytes]) -> dict[bytes, list[bytes]]:
    """See `Repository.changed_paths`. ends: the commits whose parents a shallow clone lacks."""
    found: dict[bytes, list[bytes]] = {}
    left = [one for one in commits if one not in ends]
    failures = in_vain = 0
    while left and failures < _MOST_FAILURES and in_vain < _MOST_IN_VAIN:
        told = _changed_paths(git, left, most)
        found |= told
        failures, in_vain = failures + 1, 0 if told else in_vain + 1
        left = [one for one in left if one not in told][1:]
    return found


def _changed_paths(git: CommandLine, commits: Sequence[bytes], most: int) -> dict[bytes, list[bytes]]:
    """The same of the first commits, until git cannot read one."""
    stdin = "".join(f"{one.hex()}\n" for one in commits).encode()
    found: dict[bytes, list[bytes]] = {}
    paths: list[bytes] = []
    # A commit's id, then of each file that it changed what it was, from a colon on, and its path.
    options = ["--always", "--raw", "-r", "-z", "--no-renames", "--abbrev=4"]
    fields = git.fields("diff-tree", "--stdin", *options, stdin=stdin)
    for field in fields:
        if not field.startswith(b":"):
            paths = found[bytes.fromhex(field.decode())] = []
        elif len(paths) <= most:
            paths.append(next(fields, b""))
        else:
            next(fields, None)
    return {commit: paths if len(paths) <= most else [] for commit, paths in found.items()}


def is_ancestor(git: CommandLine, commit: bytes, of: bytes) -> bool:
    """See `Repository.is_ancestor`."""
    return commit == of or git.run("merge-base", "--is-ancestor", commit.hex(), of.hex()).returncode == 0


def merge_base(git: CommandLine, one: bytes, other: bytes) -> bytes | None:
    """See `Repository.merge_base`."""
    found = git.run("merge-base", one.hex(), other.hex()).stdout.split()
    return bytes.fromhex(found[0].decode()) if found else None


@dataclass(frozen=True, slots=True)
class Blame:
    """git's blame on a repository. named are the values of `blame.ignoreRevsFile`, which are relative to worktree."""

    git: CommandLine
    common_dir: Path
    worktree: Path | None
    named: Sequence[str]

    def of(
        self, commit: bytes, path: bytes, ranges: Sequence[tuple[int, int]], ignored: Collection[bytes], seconds: float
    ) -> list[Blamed]:
        """See `Repository.blame`."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self._provide(folder)
            ids = folder / ".ignored"
            # git gives up on an id that is none here: of another length, as a file of the tree may name.
            known = sorted(one for one in ignored if len(one) == len(commit))
            ids.write_text("".join(f"{one.hex()}\n" for one in known), "ascii")
            # --incremental prints each find at once, so that what was found in time counts. No driver that the
            # configuration names is to be run.
            command = ["blame", "--incremental", "-w", "--no-textconv", "--root", f"--ignore-revs-file={ids}"]
            command += [f"-L{first},{last}" for first, last in ranges]
            done = self.git.run(*command, commit.hex(), "--", path, folder=folder, seconds=seconds)
        oldest = {bytes.fromhex(one) for one in shallow(self.common_dir)}
        found = [
            Blamed(bytes.fromhex(id.decode()), int(first), int(first) + int(count) - 1)
            for id, first, count in _ENTRY.findall(done.stdout)
        ]
        return [one for one in found if one.commit not in oldest]

    def _provide(self, folder: Path) -> None:
        """Put the files of ignored commits where git looks for them. It gives up when one is not there."""
        for name in map(Path, self.named):
            if name.is_absolute() or ".." in name.parts or name.parts[:1] == ("~",) or not name.parts:
                continue
            try:
                content = (self.worktree / name).read_bytes() if self.worktree else b""
            except OSError:
                content = b""
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def shallow(common_dir: Path) -> list[str]:
    """The commits whose parents a shallow clone lacks, in hex."""
    try:
        return _ID.findall((common_dir / "shallow").read_text("ascii"))
    except (OSError, ValueError):
        return []
