"""Reading a repository. Everything above this package sees only `Repository`; only this package imports pygit2."""

from itza_git.git.opening import open_repository
from itza_git.git.protocol import Repository

__all__ = ["Repository", "open_repository"]
