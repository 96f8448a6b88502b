"""Times as people say them."""

from __future__ import annotations

from datetime import UTC, datetime


def ago(seconds: float) -> str:
    """How long ago something was, in the largest unit that fits."""
    seconds = max(seconds, 0)
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def day(time: int) -> str:
    """The day of a time in unix seconds, in UTC. A commit may be dated as its author likes."""
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "unknown date"
