"""Writing a user's file whole: who reads it meanwhile sees the old or the new, never a part."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Put data in a file's place at once, of a link in that of its target; its mode stays. Raises OSError."""
    target = path.resolve()
    handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        else:
            os.chmod(aside, 0o666 & ~_umask())
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found
