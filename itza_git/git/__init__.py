"""Reading a repository. Everything above this package sees only `Repository`; only this package imports pygit2."""

from itza_git.git.protocol import Repository
from itza_git.git.pygit2_backend import open_repository

__all__ = ["Repository", "open_repository"]
