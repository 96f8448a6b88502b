"""What an agent should know of the tools: a paragraph for `AGENTS.md`, between marks by which it is found again."""

from __future__ import annotations

import re

FILE = "AGENTS.md"
BEGIN = "<!-- git-itza: begin -->"
END = "<!-- git-itza: end -->"
PARAGRAPH = """\
## Finding code

For how and why questions, and for code whose name you do not know, use the `itza` MCP server: `search_codebase` first,
`read_citation` for more of a hit (`git itza search "..."` and `git itza show CITATION` in a shell). For exact names,
strings and callers use `git grep`; read whole files when you are going to edit them. Cite code as it is printed,
`path:first-last@commit`, and run `verify_citations` over a text with citations before you hand it on."""
BLOCK = f"{BEGIN}\n{PARAGRAPH}\n{END}\n"

_OURS = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}.*?{re.escape(END)}(?:\r?\n)?", re.DOTALL)


def added(text: str) -> str:
    """The text with our paragraph: where the old one stands, else at the end."""
    block = BLOCK.replace("\n", "\r\n") if "\r\n" in text else BLOCK
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _OURS.search(text)
    if found is None:
        gap = "" if not text else newline if text.endswith("\n") else 2 * newline
        return text + gap + block
    lead = newline if found[0].startswith(("\n", "\r")) else ""
    return text[: found.start()] + lead + block + text[found.end() :]


def removed(text: str) -> str:
    """The text without our paragraph."""
    return _OURS.sub("", text, count=1)
