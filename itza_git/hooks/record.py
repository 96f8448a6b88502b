"""A note that hooks were installed, so that a hook which another program replaced can be told from one never there."""

from __future__ import annotations

from pathlib import Path

from itza_git.errors import GitError


class Record:
    """The empty file `itza/hooks-installed` in the common dir. Losing it loses nothing but that distinction."""

    def __init__(self, common_dir: Path) -> None:
        self._path = common_dir / "itza" / "hooks-installed"

    def write(self) -> None:
        """Note it."""
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            self._path.touch(mode=0o600)
        except OSError as e:
            raise GitError(f"{self._path} cannot be written: {e.strerror}", "make the git directory writable") from e

    def remove(self) -> None:
        """Forget it."""
        self._path.unlink(missing_ok=True)

    def __bool__(self) -> bool:
        return self._path.exists()
