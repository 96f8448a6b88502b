"""What `verify` prints: verdicts on citations, as text and JSON. Pure; what comes from a repository is cleaned."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from itza_git.answering.citation import Citation, CommitCitation, render
from itza_git.answering.links import Links
from itza_git.answering.verdicts import STATUSES, Checked, Status, Verification
from itza_git.render import CYAN, DIM, GREEN, YELLOW, Style, clean
from itza_git.render_json import SCHEMA

RED = "31"
COLOURS: dict[Status, str] = {"same": GREEN, "moved": CYAN, "changed": YELLOW, "gone": RED, "uncommitted": DIM}
DIFF_COLOURS = {"+": GREEN, "-": RED, "@": CYAN}

Files = Sequence[tuple[str, Verification]]
"""The name of each text, and what its citations are worth."""


def verdicts(files: Files, style: Style, verbose: bool = False, links: Links | None = None, fixed: bool = False) -> str:
    """A line for each citation, with a diff of those that changed when verbose, and a last one that counts.

    fixed: what moved has been rewritten.
    """
    lines = []
    for name, verification in files:
        for one in verification.checked:
            lines.append(_line(name, one, verification.commit, style, links, fixed))
            if verbose:
                lines += [_painted(line, style) for line in _diff(one)]
    lines.append(summary(files, fixed))
    return "\n".join(lines)


def _line(name: str, one: Checked, commit: str, style: Style, links: Links | None, fixed: bool) -> str:
    verdict = one.verdict
    told = f"{clean(name)}:{one.line}: {style.paint(verdict.status, COLOURS[verdict.status])} "
    told += render(one.found.citation)
    if verdict.status == "moved" and verdict.now:
        now = verdict.now
        url = links.url(now.path, now.first, now.last, commit) if links and isinstance(now, Citation) else None
        told += f" -> {style.link(style.paint(render(now), GREEN), url)}"
        told += " (rewritten)" if fixed else ""
    return told + (f" ({verdict.reason})" if verdict.reason else "")


def _painted(line: str, style: Style) -> str:
    return "  " + style.paint(clean(line), DIFF_COLOURS.get(line[:1], ""))


def _diff(one: Checked) -> Iterator[str]:
    """The unified diff of lines that changed; nothing for others."""
    verdict = one.verdict
    cited, now = one.found.citation, verdict.now
    if verdict.status != "changed" or isinstance(cited, CommitCitation) or isinstance(now, CommitCitation):
        return
    old, new = ([line.decode("utf-8", "replace") for line in side] for side in (verdict.before, verdict.after))
    yield f"--- {render(cited)}"
    yield f"+++ {render(now) if now else 'written anew'}"
    yield f"@@ -{cited.first},{len(old)} +{now.first if now else 0},{len(new)} @@"
    # difflib counts within these lines; all of them are one hunk.
    yield from itertools.islice(difflib.unified_diff(old, new, n=max(len(old), len(new)), lineterm=""), 3, None)


def summary(files: Files, fixed: bool = False) -> str:
    """How many citations there are, and how many of each status."""
    counts = _counts(one for _, verification in files for one in verification.checked)
    total = counts.total()
    told = ", ".join(
        f"{counts[status]} {status}{' and rewritten' if fixed and status == 'moved' else ''}"
        for status in STATUSES
        if counts[status]
    )
    return f"{total} citation{'' if total == 1 else 's'}" + (f": {told}" if told else "")


def _counts(checked: Iterable[Checked]) -> Counter[Status]:
    return Counter(one.verdict.status for one in checked)


def verify_json(files: Files, rev: str, commit: str | None, fixed: bool) -> dict[str, Any]:
    """The object that `verify --json` prints. commit is None outside of a repository.

    fixed: what moved has been rewritten in the files.
    """
    counts = _counts(one for _, verification in files for one in verification.checked)
    return {
        "schema": SCHEMA,
        "rev": rev,
        "commit": commit,
        "summary": {status: counts[status] for status in STATUSES},
        "citations": [_json(name, one, fixed) for name, verification in files for one in verification.checked],
    }


def _json(name: str, one: Checked, fixed: bool) -> dict[str, Any]:
    verdict = one.verdict
    return {
        "file": name,
        "line": one.line,
        "citation": render(one.found.citation),
        "status": verdict.status,
        "reason": verdict.reason or None,
        "now": _rendered(verdict.now),
        "diff": "\n".join(_diff(one)) or None,
        "fixed": fixed and verdict.status == "moved",
    }


def _rendered(citation: Citation | CommitCitation | None) -> str | None:
    return render(citation) if citation else None
