"""Ask a git repository how it works: `Itza` is all that a program needs; see itza_git.api."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itza_git.api import Itza

__version__ = "0.1.0"
__all__ = ["Itza", "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """Import `Itza` when it is first asked for: the command line must start without numpy and pygit2."""
    if name == "Itza":
        from itza_git.api import Itza

        return Itza
    raise AttributeError(name)
