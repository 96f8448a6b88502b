"""Every error that a user can meet, drawn as one tree.

    ItzaError                   one line that names the input, and the next command as a hint
    ├── UsageError              the command line is wrong
    ├── GitError                git, or the repository, does not give what was asked
    │   ├── NotARepository
    │   ├── UnknownRevision     also: ambiguous, or not a commit
    │   ├── UnbornHead          a repository without a commit
    │   └── UnreadableObject    the object database lacks or cannot read an object
    │       └── NotLocal        a partial clone left it at the remote
    ├── StoreError              the index folder cannot be used
    │   ├── StoreBusy           another process writes it
    │   └── Damaged             a file of the store is not what its checksums say
    ├── ModelError              a model server, or a model on it
    │   ├── ServerUnreachable
    │   ├── ModelMissing
    │   └── BadResponse         the server answered something that is not the protocol
    └── ConfigError             a setting has a value that cannot be used

"Nothing found" and "the passages do not answer" are data, never errors.
"""

from __future__ import annotations

from pathlib import Path

# Of a message more than this is an echo of what was given: its beginning and its end say as much.
LONGEST_MESSAGE = 600
_KEPT = 200


def shortened(message: str) -> str:
    """A message without the middle of a very long one."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:_KEPT]}\u2026{message[-_KEPT:]}"


class ItzaError(Exception):
    """What failed and on which input, in one line; `hint` is the command to type next. Both are `shortened`."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(shortened(message))
        self.hint = shortened(hint)


class UsageError(ItzaError):
    """The command line is wrong."""


class GitError(ItzaError):
    """Git, or the repository, does not give what was asked."""


class NotARepository(GitError):
    """No repository here or above."""


class UnknownRevision(GitError):
    """The revision does not exist, is ambiguous, or is not a commit."""


class UnbornHead(GitError):
    """The repository has no commit yet."""


class UnreadableObject(GitError):
    """The object database lacks an object, or cannot read it."""


class NotLocal(UnreadableObject):
    """A partial clone left an object at its remote, where we do not fetch it from."""


class StoreError(ItzaError):
    """The index folder cannot be used."""


class StoreBusy(StoreError):
    """Another process writes the index."""


class Damaged(StoreError):
    """A file of the index is not what its checksums say; `path` is the file, `why` is what is wrong."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is damaged: {why}", "rebuild what it held: git itza index")
        self.path = path
        self.why = why


class ModelError(ItzaError):
    """A model server, or a model on it, does not serve."""


class ServerUnreachable(ModelError):
    """Nobody listens at the configured address."""


class ModelMissing(ModelError):
    """The server does not have the model."""


class BadResponse(ModelError):
    """The server answered something that is not the protocol."""


class ConfigError(ItzaError):
    """A setting has a value that cannot be used."""
