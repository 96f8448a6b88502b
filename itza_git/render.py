"""From results to text for people. Pure: nothing here prints, and what comes from a repository is cleaned."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from itza_git.clock import ago
from itza_git.paths import quote
from itza_git.words import identifiers, split

if TYPE_CHECKING:  # records that are only read
    from pathlib import Path

    from itza_git.answering.answer import Cited, Statement
    from itza_git.answering.links import Pages
    from itza_git.indexing.fsck import Checked
    from itza_git.indexing.garbage import Collected
    from itza_git.records import Skipped
    from itza_git.results import AskResult, BranchStatus, Hit, IndexReport, SearchResult, Shown, Similar, Status

SNIPPET_LINES = 6
# Of a symbol less than this says nothing.
LEAST_SYMBOL = 12
_TAB = 4
# Characters that move the cursor, reorder the line or hide: shown as what they are.
_UNSAFE = (
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a terminal is written to: whether in colour, and how wide it is."""

    colour: bool = False
    width: int = 100

    def paint(self, text: str, code: str) -> str:
        """text in a colour (an SGR code), or as it is."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def link(self, text: str, url: str | None) -> str:
        """text that leads to url (OSC 8) where there is colour; a url of other than printable ASCII is left out."""
        if not (self.colour and url and re.fullmatch(r"[!-~]+", url)):
            return text
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"


BOLD, DIM, GREEN, YELLOW, CYAN = "1", "2", "32", "33", "36"


def clean_lines(text: str) -> str:
    """The same, line by line."""
    return "\n".join(map(clean, text.split("\n")))


def clean(text: str) -> str:
    """Text without a character that a terminal would obey; tabs become spaces."""
    return visible(text.expandtabs(_TAB))


def escaped(text: str) -> str:
    """A JSON text with the same characters as JSON escapes them; outside of its strings there are none."""
    return re.sub(_UNSAFE, lambda found: json.dumps(found[0]).strip('"') if ord(found[0]) != 0x7F else r"\u007f", text)


def visible(text: str) -> str:
    """Text in which no character is hidden or obeyed but the tab."""
    return re.sub(_UNSAFE, lambda found: f"<U+{ord(found[0]):04X}>", text)


# Text


def first(result: SearchResult, count: int) -> SearchResult:
    """The result with its first hits only."""
    return replace(result, hits=result.hits[:count])


def hits(result: SearchResult, style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """The hits of a search: citation and symbol, then the lines that matter."""
    from itza_git.search.question import Question

    wanted = frozenset(Question(result.query).content_words)
    return "\n\n".join(_hit(hit, wanted, style, verbose, links) for hit in result.hits)


def similar(result: Similar, style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """The passage that others are like, in one line, and those, each by its first lines."""
    of = f"like {_head(result.of, style, links, len('like '))}"
    shown = (_hit(hit, frozenset(), style, verbose, links, _copied(hit, result)) for hit in result.hits)
    return "\n\n".join([of, *shown])


def _copied(hit: Hit, result: Similar) -> str:
    if not result.is_copy(hit):
        return ""
    return "a copy" if hit.text.strip() == result.of.text.strip() else "nearly a copy"


def whole_hits(result: SearchResult, style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """The hits with all their lines, and with the lines around them that were asked for, marked by a `-`."""
    return "\n\n".join(whole_hit(hit, result.query, style, verbose, links) for hit in result.hits)


def whole_hit(hit: Hit, query: str, style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """One of them."""
    from itza_git.search.question import Question

    wanted = frozenset(Question(query).content_words)
    number = hit.passage.first - len(hit.before)
    width = len(str(hit.passage.last + len(hit.after)))
    shown = [_head(hit, style, links), *_parts(hit, style, verbose)]
    for mark, lines in (("-", hit.before), (" ", hit.text.split("\n")), ("-", hit.after)):
        for line in lines:
            told = style.paint(f"{number:>{width}}{mark}", DIM)
            shown.append(f"  {told} {_line(line, wanted, style, style.width - width - 4)}".rstrip())
            number += 1
    return "\n".join(shown)


def _head(hit: Hit, style: Style, links: Pages | None, taken: int = 0) -> str:
    """The line above a hit: its citation, which is never cut, and what it defines, where it has room."""
    url = links.url(hit.passage.path, hit.passage.first, hit.passage.last, hit.commit) if links else None
    head = style.link(style.paint(hit.citation, GREEN), url)
    room = style.width - columns(hit.citation) - 2 - taken
    if hit.passage.symbol and room >= LEAST_SYMBOL:
        head += "  " + style.paint(fitting(hit.passage.symbol, room), BOLD)
    return head


def _parts(hit: Hit, style: Style, verbose: bool) -> list[str]:
    """What made the score, for those who ask."""
    parts = " ".join(f"{name}={value:g}" for name, value in hit.passage.parts.items())
    return [style.paint(f"  score={hit.passage.score:g} {parts}", DIM)] if verbose else []


def _hit(hit: Hit, wanted: frozenset[str], style: Style, verbose: bool, links: Pages | None, mark: str = "") -> str:
    lines = hit.text.split("\n")
    told = f"  ({mark})" if mark else ""
    head = _head(hit, style, links, len(told)) + style.paint(told, YELLOW)
    shown = [head, *_parts(hit, style, verbose)]
    number_width = len(str(hit.passage.last))
    for at in snippet(lines, wanted):
        number = style.paint(f"{hit.passage.first + at:>{number_width}}", DIM)
        shown.append(f"  {number}  {_line(lines[at], wanted, style, style.width - number_width - 4)}".rstrip())
    return "\n".join(shown)


def fitting(text: str, room: int) -> str:
    """text without dangerous characters, cut to the columns there are (at least nine)."""
    room = max(room, 9)
    shown = clean(text[: 4 * room])
    if len(text) <= 4 * room and columns(shown) <= room:
        return shown
    while columns(shown) >= room:
        shown = shown[: -max((columns(shown) - room) // 2, 1)]
    return shown + "…"


def columns(text: str) -> int:
    """The columns that text takes on a terminal: two for each wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def _line(text: str, wanted: frozenset[str], style: Style, room: int) -> str:
    """A line cut to the room there is, with the question's words picked out."""
    shown = fitting(text.rstrip(), room)
    if not style.colour:
        return shown
    return re.sub(
        r"[^\W\d]\w*", lambda found: style.paint(found[0], YELLOW) if _holds(found[0], wanted) else found[0], shown
    )


def _holds(identifier: str, wanted: frozenset[str]) -> bool:
    return not wanted.isdisjoint(split(identifier))


def snippet(lines: Sequence[str], wanted: frozenset[str], size: int = SNIPPET_LINES) -> range:
    """The run of at most size lines that holds most of the wanted words, each counted once; the first one of equals."""
    found = [frozenset(word for name in identifiers(line) for word in split(name) if word in wanted) for line in lines]
    best, most = 0, -1
    held: Counter[str] = Counter()
    for end, line in enumerate(found):
        held.update(line)
        if end >= size:
            held.subtract(found[end - size])
        now = sum(1 for count in held.values() if count > 0)
        if now > most:
            best, most = max(end - size + 1, 0), now
    first = next((at for at in range(best, len(lines)) if lines[at].strip()), best)
    last = min(first + size, len(lines))
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    return range(first, last)


def sources(cited: Iterable[tuple[Cited, str]], style: Style, urls: Mapping[int, str | None] | None = None) -> str:
    """The list under an answer: number and citation, leading to the urls that `urls` gives."""
    return "\n".join(
        f"{style.paint(f'[{one.n}]', CYAN)} {style.link(style.paint(clean(citation), GREEN), (urls or {}).get(one.n))}"
        for one, citation in cited
    )


def urls(asked: AskResult, links: Pages | None) -> dict[int, str | None]:
    """The permalink of each citation of an answer by its number."""
    return {one.n: _url(one, asked.result, links) if links else None for one in asked.answer.citations}


def _url(one: Cited, result: SearchResult, links: Pages) -> str | None:
    commit = commit_of(one, result)
    return links.commit_url(commit) if one.is_commit else links.url(one.path, one.first, one.last, commit)


def commit_of(one: Cited, result: SearchResult) -> str:
    """The commit of a citation: full hex, or `worktree`. Of a citation of a commit that commit."""
    if one.is_commit:
        return one.blob.hex()
    return result.commit_of(one.path, one.blob)


def statement(said: Statement) -> str:
    """A statement with its marks; one without support says so."""
    return said.marked if said.verified else f"{said.marked} (unverified)"


def no_se(result: AskResult) -> str:
    """The line that says what is missing."""
    return f"NO_SE: {clean(result.answer.missing or 'nothing here answers this')}"


def report(done: IndexReport, style: Style, messages: tuple[int, int] = (0, 0)) -> str:
    """What an index run did; messages: how many commit messages are indexed, of how many."""
    lines = [
        f"{clean(done.rev)} at {done.commit[:12]}: {done.coverage.indexed} of {done.coverage.total} files indexed, "
        f"{_count(len(done.coverage.skipped), 'file')} skipped",
        # Those too that were read and then skipped, so there may be more of them than files indexed.
        f"  {_count(done.new + done.reused, 'blob')} looked at: {done.new} new, {done.reused} reused",
    ]
    if done.coverage.skipped:
        lines.append("  skipped: " + by_reason(done.coverage.skipped))
    if messages[1]:
        lines.append(f"  {messages[0]} of the newest {_count(messages[1], 'commit message')} indexed")
    if done.not_embedded:
        lines.append(f"  found by words alone, because it could not be embedded: {_count(done.not_embedded, 'chunk')}")
    return "\n".join(lines)


def by_reason(skipped: Sequence[Skipped]) -> str:
    """How many files were skipped for each reason, most first."""
    counts = Counter(one.reason for one in skipped)
    return ", ".join(f"{count} {reason}" for reason, count in counts.most_common())


def status(state: Status, style: Style, now: float, verbose: bool = False) -> str:
    """The state of the index, for people; now is in unix seconds."""
    lines = [f"store     {clean(str(state.store))}  ({_size(state.size)}, {_count(state.packs, 'pack')})"]
    lines.append(f"embedder  {clean(state.embedder)}  (recipe {state.recipe})")
    lines.append(f"answers   {clean(state.answer_model)}")
    if state.head is None:
        lines.append("HEAD      no commit yet")
    else:
        fresh = "fresh" if state.fresh else "stale: git itza index"
        lines.append(f"HEAD      {_branch(state.head)}  {fresh}")
        if state.head.coverage.skipped:
            lines.append(f"skipped   {by_reason(state.head.coverage.skipped)}")
    lines += [f"damaged   {clean(what)}" for what in state.damaged]
    lines += [f"trouble   {clean(what)}" for what in state.troubles]
    if state.branches:
        lines.append("branches")
        lines += [f"  {'*' if b.is_head else ' '} {_branch(b)}{_age(b, now)}" for b in state.branches]
    if verbose and state.head is not None:
        lines += [f"  {one.reason:12} {quote(one.path)}" for one in state.head.coverage.skipped]
    return "\n".join(lines)


def _branch(branch: BranchStatus) -> str:
    return f"{clean(branch.name)} {branch.commit[:12]}  {branch.coverage.indexed}/{branch.coverage.total} files"


def _age(branch: BranchStatus, now: float) -> str:
    """When the branch was last indexed under its name, and at which commit when that is another one."""
    if branch.indexed_at is None or branch.indexed_commit is None:
        return ""
    at = "" if branch.indexed_commit == branch.commit else f" at {branch.indexed_commit[:12]}"
    return f"  indexed{at} {ago(now - branch.indexed_at)}"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def shown(lines: Shown, style: Style) -> str:
    """The cited lines with their numbers."""
    width = len(str(lines.citation.last))
    return "\n".join(
        f"{style.paint(f'{lines.citation.first + at:>{width}}', DIM)}  {clean(line.rstrip())}".rstrip()
        for at, line in enumerate(lines.lines)
    )


def collected(dropped: Collected) -> str:
    """What a collection dropped."""
    what = [_count(dropped.blobs, "blob"), _count(dropped.views, "view"), _count(dropped.spaces, "space")]
    if dropped.messages:
        what.append(_count(dropped.messages, "commit message"))
    return f"dropped {', '.join(what)}: {_size(dropped.freed)} freed"


def checked(found: Checked, root: Path) -> str:
    """What a check of the index found; paths are shown relative to root, the common git directory."""
    lines = [f"wrong     {clean(str(fault.path.relative_to(root)))}: {clean(fault.what)}" for fault in found.faults]
    held = [_count(found.packs, "pack"), _count(found.blobs, "blob"), _count(found.chunks, "chunk")]
    said = f"{', '.join([*held, _count(found.views, 'view')])} in {_count(found.spaces, 'space')}"
    if found.faults and found.repaired:
        lines.append(f"repaired: all that is set aside, and indexed again where it was lacking; whole before: {said}")
    else:
        lines.append(f"{'whole' if not found.faults else 'whole but for these'}: {said}")
    if found.aside:
        lines.append(f"set aside before: {_count(len(found.aside), 'damaged file')}; git itza gc deletes them")
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
