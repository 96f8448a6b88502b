"""The report of a fault of ours: where in the program it happened, and nothing of what the program was reading.

The words of an exception may hold a line of the repository, so only those of kinds that speak of the program are kept;
of the command line only the command and the names of its options; of the environment nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from itza_git import __version__

FOLDER = "faults"
MOST_REPORTS = 20

# What their messages name is attributes, types, modules and numbers.
_OF_THE_PROGRAM = (TypeError, AttributeError, NameError, IndexError, ZeroDivisionError, ImportError, UnicodeError)


def write(error: BaseException, command_line: Sequence[str]) -> Path | None:
    """Write the report of an error, in the index where there is one, else in the temporary folder; None: no room."""
    text = report(error, command_line)
    for folder in (_folder(), Path(tempfile.gettempdir())):
        if folder is not None:
            try:
                return _write(folder, text)
            except OSError:
                continue
    return None


def report(error: BaseException, command_line: Sequence[str]) -> str:
    """The text of a report."""
    lines = [f"git-itza {__version__}, Python {sys.version.split()[0]}, {sys.platform}", _command(command_line), ""]
    home = os.path.expanduser("~")
    return "\n".join([*lines, *_frames(error)]).replace(home + os.sep, f"~{os.sep}") + "\n"


def _command(command_line: Sequence[str]) -> str:
    """The command and its options by name; what was asked is the user's own."""
    words = list(command_line)[:1]
    options = [word.partition("=")[0] for word in command_line[1:] if word.startswith("-")]
    return " ".join(
        ["git itza", *words, *options, "..." if len(command_line) > len(words) + len(options) else ""]
    ).strip()


def _frames(error: BaseException) -> Iterator[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _frames(cause)
        yield "which led to:"
    yield from "".join(traceback.format_tb(error.__traceback__)).splitlines()
    yield f"{type(error).__module__}.{type(error).__qualname__}{_words(error)}"


def _words(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f": {error.strerror}"
    return f": {str(error)[:300]!a}" if isinstance(error, _OF_THE_PROGRAM) else ""


def _folder() -> Path | None:
    """The folder of reports in the index of the repository here, if both are there."""
    from itza_git.git import open_repository

    try:
        index = open_repository().common_dir / "itza"
        if not index.is_dir():
            return None
        folder = index / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
    except Exception:  # noqa: BLE001 - this very thing may be what is broken
        return None
    return folder


def _write(folder: Path, text: str) -> Path:
    path = folder / f"git-itza-fault-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.txt"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    if folder.name == FOLDER:
        for old in sorted(folder.iterdir())[:-MOST_REPORTS]:
            old.unlink(missing_ok=True)
    return path
