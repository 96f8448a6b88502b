"""What a revision means when git itself is asked, and why one means nothing."""

from __future__ import annotations

import os
import re
import shlex
import subprocess

from itza_git.errors import UnknownRevision
from itza_git.git.environment import CommandLine

FULL_ID = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n?")

# A ref's name may be ambiguous too, and still mean something.
_AMBIGUOUS = re.compile(rb"short \S+(?: ID)? [0-9a-f]+ is ambiguous")

# All parents of a commit, and a commit without those: never one, though git makes do when there is one parent.
_SEVERAL = re.compile(r"([^:].*)\^(?:@|!|-[0-9]*)", re.DOTALL)

SHOWN = 5
"""So many candidates of an ambiguous id are named."""


def resolve(git: CommandLine, revision: str) -> bytes:
    """The id of the commit that git says revision names.

    Raises `UnknownRevision` that says whether it is unknown, ambiguous or not a commit.
    """
    # `:/text^{commit}` would look for the text "text^{commit}".
    peeled = revision if revision.startswith(":") else f"{revision}^{{commit}}"
    done = _parse(git, peeled)
    if FULL_ID.fullmatch(done.stdout):
        found = bytes.fromhex(done.stdout.decode())
        if peeled is not revision or _kind(git, found) == "commit":
            return found
    raise _failure(git, revision, done.stderr)


def _parse(git: CommandLine, revision: str) -> subprocess.CompletedProcess[bytes]:
    # --end-of-options: a revision that starts with `-` is never an option.
    command = ("rev-parse", "--verify", "--end-of-options", os.fsencode(revision))
    if "\0" in revision:
        return subprocess.CompletedProcess(command, 128, b"", b"")
    return git.run(*command)


def _kind(git: CommandLine, found: bytes) -> str:
    return git.run("cat-file", "-t", found.hex()).stdout.decode().strip()


def _failure(git: CommandLine, revision: str, complaint: bytes) -> UnknownRevision:
    listing = "git log --oneline --all"
    if not revision:
        return UnknownRevision("the revision is empty", listing)
    if _AMBIGUOUS.search(complaint):
        candidates = re.findall(rb"^hint: +([0-9a-f]+ \w+)", complaint, re.MULTILINE)
        named = f" ({b', '.join(candidates[:SHOWN]).decode()})" if candidates else ""
        return UnknownRevision(f"revision {revision!r} is ambiguous{named}", "use more digits: git log --oneline")
    several = _SEVERAL.fullmatch(revision)
    if several and FULL_ID.fullmatch(_parse(git, f"{several[1]}^{{commit}}").stdout):
        told = f"revision {revision!r} names several commits, and one is asked for"
        return UnknownRevision(told, f"git rev-parse {shlex.quote(revision)}")
    done = _parse(git, revision)
    if FULL_ID.fullmatch(done.stdout):
        kind = _kind(git, bytes.fromhex(done.stdout.decode()))
        if kind == "tag":
            target = _parse(git, f"{revision}^{{}}").stdout.decode().strip()
            kind = f"tag of a {_kind(git, bytes.fromhex(target)) or 'missing object'}" if target else "broken tag"
        if kind == "commit":
            return UnknownRevision(f"revision {revision!r} is a broken commit", "git fsck")
        if kind:
            return UnknownRevision(f"revision {revision!r} is a {kind}, not a commit", listing)
        return UnknownRevision(f"revision {revision!r} names an object that this repository lacks", "git fsck")
    return UnknownRevision(f"unknown revision {revision!r}", listing)
