"""Times as people say them."""

from __future__ import annotations


def ago(seconds: float) -> str:
    """How long ago something was, in the largest unit that fits."""
    seconds = max(seconds, 0)
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
