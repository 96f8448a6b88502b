"""What a commit message says, without the lines that only say who was there."""

from __future__ import annotations

import re

# Trailers, and what tools leave behind.
_NOT_SAID = re.compile(
    r"\s*(?:[A-Za-z]+(?:-[A-Za-z]+)*-by|cc|change-id|message-id|git-svn-id|git-repo|gerrit-\w+|differential revision"
    r"|cherry-picked-from|x-[\w-]+|bug-id|pull-request|pr-url|reviewed-on|commit-queue|auto-submit|link|tested-on)\s*:"
    r"|\s*\(cherry picked from commit [0-9a-f]+\)\s*$|\s*#\s+Conflicts:|\s*-----BEGIN PGP",
    re.IGNORECASE,
)


def said(text: str) -> str:
    """The text of a message without trailers, and without blank lines at its ends."""
    kept = [line.rstrip() for line in text.split("\n") if not _NOT_SAID.match(line)]
    return "\n".join(kept).strip("\n")
