"""The entry of `git-itza`: Ctrl-C ends it with 130 and no traceback, while it is imported and while it ends too."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

INTERRUPTED = 130
# `git itza` passes Ctrl-C on to us, who had it from the terminal already: the second one comes within this time.
ONCE_SECONDS = 0.5


class _Interrupts:
    """What Ctrl-C does: only while a command runs is there something to put away first."""

    running = False
    first: float | None = None

    def __call__(self, *_: object) -> None:
        if not self.running:
            _leave()
        if self.first is None:
            self.first = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() > self.first + ONCE_SECONDS:
            _leave()


def main() -> None:
    """Run the command line and exit with its code."""
    interrupts = _Interrupts()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not so in the background of a script
        signal.signal(signal.SIGINT, interrupts)
    from itza_git import cli

    cli.is_interrupted = lambda: interrupts.first is not None
    try:
        try:
            interrupts.running = True
            cli.main()
        finally:
            interrupts.running = False
    except KeyboardInterrupt:
        _leave()
    except Exception:
        if interrupts.first is None:
            raise
        _leave()  # what was being imported has made an error of its own of it
    except SystemExit as e:
        if e.code == INTERRUPTED:  # python's own way out takes time, in which a second Ctrl-C would be a signal again
            _leave()
        raise


def _leave() -> None:
    with suppress(OSError, ValueError):  # whoever read has left too
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
