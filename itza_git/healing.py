"""What is done when damage of the index shows: the file is set aside, and the call made again, or all of it rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from itza_git.errors import Damaged
from itza_git.git import Repository
from itza_git.store import Space
from itza_git.trees import Trees


class Healable(Protocol):
    """What reads an index."""

    @property
    def space(self) -> Space:
        """The files that are read."""

    @property
    def trees(self) -> Trees:
        """What is open of them."""


Self = TypeVar("Self", bound=Healable)
P = ParamSpec("P")
R = TypeVar("R")


def heals(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """The method, called again without the damaged files when something that it reads makes no sense.

    The index is too large to check all of it each time; damage in the middle of a file shows only when it is used.
    """

    @wraps(method)
    def checked(self: Self, /, *args: P.args, **options: P.kwargs) -> R:
        try:
            return method(self, *args, **options)
        except (Damaged, IndexError, KeyError, ValueError, OverflowError):
            self.trees.forget()
            if not self.space.check():
                raise
            return method(self, *args, **options)

    return checked


def rebuild(repository: Repository, space: Space, refresh: Callable[..., object], waiting: Callable[[], None]) -> None:
    """Index HEAD and each branch that was indexed before; refresh indexes one, HEAD or the branch of that name."""
    with space.writer(waiting=waiting):  # makes the notes that are lacking
        recorded = space.heads()
    if repository.head().commit is not None:
        refresh()
    for branch in repository.branches():
        if f"refs/heads/{branch.name}" in recorded:
            refresh(branch=branch.name)
