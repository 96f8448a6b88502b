"""The entry of `git-itza`: Ctrl-C ends it with 130 and no traceback, while it is still being imported too."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not so in the background of a script
    if heeds:
        signal.signal(signal.SIGINT, _leave)
    from itza_git import cli

    try:
        if heeds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main()
    except SystemExit as e:
        if heeds:
            signal.signal(signal.SIGINT, _leave)
        sys.exit(e.code)
    except KeyboardInterrupt:
        _leave()


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
