"""What the commands share: options, the progress bar, notes, and how wide and colourful the terminal is."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from itza_git.api import Itza
from itza_git.errors import StoreError, UsageError
from itza_git.indexing import Watch
from itza_git.indexing.policy import JUST_CHANGED, NOT_LOCAL, UNREADABLE
from itza_git.paths import quote
from itza_git.records import Coverage
from itza_git.render import Style, clean, columns, escaped
from itza_git.results import SearchResult
from itza_git.words import words

if TYPE_CHECKING:
    from itza_git.answering.links import Pages

NOTHING_FOUND = 1
# So much of a question is said back.
LONGEST_ECHO = 200
# A line that goes to a file or a pipe is not cut.
UNCUT = 10_000
# Of files that have the same trouble so many are named.
MOST_NAMED = 10
# A server embeds some ten chunks a second. A question waits so long for it, and is then answered from what is there.
SLOW_EMBEDDER_SECONDS = 20.0
# A question waits so long for another process that indexes, which may be stopped or hang.
BUSY_SECONDS = 10.0

# A place whose path begins with a dash, and not `--path=src:3`.
_DASHED_PLACE = re.compile(r"-(?!-[\w-]+=).*:[1-9].*", re.DOTALL)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def verbose_option(told: str) -> Callable[[Decorated], Decorated]:
    """`-v`; told is what more it says."""
    return click.option("-v", "--verbose", is_flag=True, help=told)


def revision_options(command: Decorated, told: str = "Any revision: a tag, HEAD~2, stash@{0}.") -> Decorated:
    """`--rev` and `--branch`: which commit is asked."""
    command = click.option("--branch", metavar="NAME", help="A local branch, without a checkout.")(command)
    return click.option("--rev", default="HEAD", show_default=True, help=told)(command)


def tree_options(command: Decorated) -> Decorated:
    """`--rev` that may be a range, `--branch` and `--worktree`: which tree, or what change, is asked."""
    command = worktree_option(command)
    return revision_options(command, "Any revision: a tag, HEAD~2, stash@{0}; or A..B.")


def worktree_option(command: Decorated) -> Decorated:
    """`--worktree`."""
    return click.option("--worktree", is_flag=True, help="With uncommitted and untracked content.")(command)


class PlaceCommand(click.Command):
    """A command whose argument is a place in a file (`PATH:LINE...`); it may begin with a dash, as a path may."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a place is told from an option by its line."""
        end = args.index("--") if "--" in args else len(args)
        places = [one for one in args[:end] if _DASHED_PLACE.fullmatch(one)]
        options = [one for one in args[:end] if one not in places]
        return super().parse_args(ctx, [*options, "--", *places, *args[end + 1 :]])


def filter_options(command: Decorated) -> Decorated:
    """`--path` and `--lang`: which files may be found."""
    command = click.option(
        "--lang", "languages", multiple=True, metavar="NAME", help="Only this language; repeatable."
    )(command)
    return click.option(
        "--path", "paths", multiple=True, metavar="GLOB", help="Only these paths, from here; repeatable."
    )(command)


def repository_options(command: Decorated) -> Decorated:
    """`--all-repos` and `--repo`: which of the registered repositories are asked."""
    command = click.option(
        "--repo", "repos", multiple=True, metavar="NAME", help="Only this registered repository; repeatable."
    )(command)
    return click.option(
        "--all-repos", is_flag=True, help="This repository and all that `git itza repos` lists, in one ranking."
    )(command)


def several_heads(all_repos: bool, repos: Sequence[str], rev: str, branch: str | None, worktree: bool) -> bool:
    """Whether several repositories are asked. Of those only the HEADs can be."""
    if not (all_repos or repos):
        return False
    given = {"--rev": rev != "HEAD", "--branch": branch is not None, "--worktree": worktree}
    for name in (name for name, is_given in given.items() if is_given):
        raise click.UsageError(f"{name} is a tree of one repository; leave out {'--repo' if repos else '--all-repos'}")
    if all_repos and repos:
        raise click.UsageError("--all-repos and --repo cannot both be given")
    return True


def one_tree(rev: str, branch: str | None, worktree: bool, cited: bool = False) -> None:
    """Refuse two trees at once. cited: whether a citation names one, too."""
    given = {
        "the citation": cited,
        "--rev": rev != "HEAD",
        "--branch": branch is not None,
        "--worktree": worktree,
    }
    if sum(given.values()) > 1:
        raise click.UsageError(f"{' and '.join(n for n, g in given.items() if g)} name two trees; give one of them")


def from_top(itza: Itza, patterns: Sequence[str]) -> list[str]:
    """Pathspecs as git reads them, from the current folder (`:/` from the top), turned to the top of the repository."""
    here = folder(itza)
    found = []
    for pattern in patterns:
        if pattern.startswith((":/", ":(top)")):
            found.append(pattern)
            continue
        path = posixpath.normpath(posixpath.join(here, pattern))
        if path.startswith(".."):
            raise UsageError(f"{pattern} is outside the repository", "git rev-parse --show-toplevel")
        found.append("*" if path == "." else path)
    return found


def folder(itza: Itza) -> str:
    """The current folder as a path from the top of the repository; empty there, and outside of it."""
    worktree = itza.repository.worktree
    here = os.path.relpath(os.path.realpath("."), os.path.realpath(worktree)) if worktree else "."
    return "" if here == "." or here.startswith("..") else here.replace(os.sep, "/")


def style() -> Style:
    """How standard output is to be written to."""
    terminal = sys.stdout.isatty()
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(colour, max(shutil.get_terminal_size().columns, 40) if terminal else UNCUT)


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on standard output, in ASCII where the terminal's encoding asks for it.

    What a terminal would obey is escaped: JSON itself does so for no more than the first 32 characters.
    """
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = escaped(json.dumps(value, ensure_ascii=not unicode))
    # A lone surrogate cannot be encoded; JSON has an escape for it.
    click.echo(text if text.isascii() or _encodable(text) else json.dumps(value).replace("\x7f", r"\u007f"))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def note(text: str) -> None:
    """A line on standard error."""
    click.echo(clean(text), err=True)


def print_commits(result: SearchResult, verbose: bool, links: Pages | None) -> None:
    """The commits that tell the reason, under the passages."""
    if result.past is None or not result.past.commits:
        return
    from itza_git.render_history import commits
    from itza_git.search.question import Question

    wanted = frozenset(Question(result.query).content_words)
    click.echo("\n" + commits(result.past, wanted, style(), verbose, links))


def tell(result: SearchResult, lacking: bool = True) -> None:
    """What the user should know beside the hits: what is not covered, what a literal search does better.

    lacking: which words stand nowhere, too, unless it is said already.
    """
    tell_coverage(result.coverage, result.rev, "git itza repos index" if result.repositories else "git itza index")
    for one in result.repositories:
        if one.error:
            note(f"note: {one.name} is not searched: {one.error}")
    if result.literal:
        note(f"hint: a literal search finds that too: {result.literal}")
    if result.base and not result.changed:
        note(f"note: no file differs in {result.rev}")
    if not result.hits:
        note(f"nothing found for: {textwrap.shorten(result.query, LONGEST_ECHO)}")
    elif lacking and (unknown := [word for word in result.found.unknown if word not in _told(result)]):
        from itza_git.search.question import Question

        place = "these trees" if result.repositories else "this tree"
        note(f"note: nowhere in {place}: {', '.join(map(Question(result.query).as_written, unknown))}")


def tell_coverage(coverage: Coverage, rev: str, command: str = "git itza index") -> None:
    """Say what of a tree is not searched yet, or cannot be; command indexes the rest."""
    tell_unreadable(coverage)
    if not coverage.total:
        note(f"note: {rev} holds no file that can be searched; what was skipped, and why: git itza index -v")
    if coverage.indexed < coverage.total:
        note(f"note: {coverage.indexed} of {coverage.total} files indexed; the rest: {command}")


def _told(result: SearchResult) -> set[str]:
    """The words of the commits that were found."""
    found = result.past.commits if result.past else ()
    return {word for one in found for word in words(f"{one.subject} {one.text}")}


def tell_unreadable(coverage: Coverage) -> None:
    """Name the files that git's object database does not give."""
    lost = [quote(one.path) for one in coverage.skipped if one.reason == UNREADABLE]
    for path in lost[:MOST_NAMED]:
        note(f"note: {path} is not searched, because its object cannot be read: git fsck")
    if len(lost) > MOST_NAMED:
        note(f"note: neither are {len(lost) - MOST_NAMED} more files")
    elsewhere = sum(one.reason == NOT_LOCAL for one in coverage.skipped)
    if elsewhere:
        files = "1 file is" if elsewhere == 1 else f"{elsewhere} files are"
        note(f"note: {files} not searched, because this partial clone lacks the content; git itza never fetches")
        note("hint: git fetch --refetch --no-filter")
    for one in coverage.skipped:
        if one.reason == JUST_CHANGED:
            note(f"note: {quote(one.path)} is not searched, because it has just changed; ask again")


def tell_damage(itza: Itza) -> None:
    """Name the files of the index that were found damaged, and whether they were replaced."""
    for error in itza.space.set_aside:
        note(f"note: {error}; it is set aside, and what it held is indexed again where it is asked for")
    for error in itza.space.damaged:
        note(f"note: {error}; it is left out: {error.hint}")


def tell_unwritable(error: StoreError) -> None:
    """Say why the index lacks something."""
    note(f"note: {error}")


def _waiting() -> None:
    """Say why nothing happens."""
    note("another process is indexing this repository; waiting for it")


def patience(itza: Itza) -> float | None:
    """Seconds that a question waits for indexing; with the model in the package it waits for all of it."""
    return None if itza.embedder.is_local else SLOW_EMBEDDER_SECONDS


@contextmanager
def watch(patience: float | None = None, wait: float | None = None, what: str = "") -> Iterator[Watch]:
    """A watch that draws how far indexing is, on a terminal only, and says when another process is waited for.

    With wait it is that of a question, which is answered from what is there when the index cannot be written. what is
    indexed is named where it is not plain.
    """
    unwritable = None if wait is None else tell_unwritable
    if not sys.stderr.isatty():
        yield Watch(waiting=_waiting, patience=patience, wait=wait, unwritable=unwritable)
        return
    bar = _Bar(what)
    try:
        yield Watch(bar.update, _waiting, patience, wait, unwritable, bar.summarising, bar.remembering)
    except KeyboardInterrupt:
        bar.interrupted()
        raise
    finally:
        bar.close()


def watching(itza: Itza) -> AbstractContextManager[Watch]:
    """The watch of a question: it waits for indexing, and for others that index, only as long as a person would."""
    return watch(patience(itza), BUSY_SECONDS)


class _Bar:
    """A progress bar that appears with the first step, keeps to one line, and leaves nothing behind."""

    def __init__(self, what: str) -> None:
        self._unit = "files"
        self._what = f"{clean(what)} " if what else ""
        self._started = time.monotonic()
        self._drawn = False
        self._done = self._total = 0

    def update(self, done: int, total: int) -> None:
        """Draw that so many of the files (or what is counted) that the index lacked are in it."""
        self._done, self._total = done, total
        elapsed = time.monotonic() - self._started
        rate = done / elapsed if elapsed > 0 else 0.0
        told = f"  {rate:.0f}/s  {(total - done) / rate:.0f} s left" if rate > 0 else "  starting"
        self._draw(f"indexing {self._what}", f"{done}/{total} {self._unit}", told)

    def remembering(self, done: int, total: int) -> None:
        """Draw that so many of the commit messages that the index lacked are in it."""
        if not done:
            self._what, self._unit, self._started = f"history: {self._what}", "messages", time.monotonic()
        self.update(done, total)

    def _draw(self, what: str, counted: str, told: str) -> None:
        """One line, of which that goes first what matters least; a terminal that wraps it could not clear it."""
        # The last column is left free: some terminals wrap there.
        room = shutil.get_terminal_size().columns - 1
        if len(what + counted + told) > room:
            told = ""
        if columns(what + counted) > room:
            what = ""
        width = min(room - columns(what + counted + told) - 1, 40)
        bar = ""
        if width >= 5:
            filled = width * self._done // max(self._total, 1)
            bar = "█" * filled + "░" * (width - filled) + " "
        click.echo(f"\r\x1b[K{(what + bar + counted + told)[: max(room, 0)]}", nl=False, err=True)
        self._drawn = True

    def interrupted(self) -> None:
        """Say what is kept of what was begun."""
        self.close()
        if self._done < self._total:
            note(f"interrupted: {self._done} of {self._total} {self._unit} are indexed, the rest the next time")

    def summarising(self, done: int, total: int) -> None:
        """Say which file a model is reading now; nothing once it has read all."""
        self._total = 0  # indexing is over
        told = f"the model reads file {done + 1} of {total}; ^C keeps what it has read" if done < total else ""
        click.echo(f"\r\x1b[K{told[: max(shutil.get_terminal_size().columns - 1, 0)]}", nl=False, err=True)
        self._drawn = bool(told)

    def close(self) -> None:
        if self._drawn:
            click.echo("\r\x1b[K", nl=False, err=True)
        self._drawn = False
