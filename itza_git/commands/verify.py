"""`git itza verify`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click

from itza_git import files, render_verify
from itza_git.answering.finding import unpinned
from itza_git.answering.links import Links
from itza_git.answering.verdicts import UNKNOWN_COMMIT, Verification, fixed
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import GitError, NotARepository, UsageError

NOT_THE_SAME = 1
STDIN = "-"


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--rev", default="HEAD", show_default=True, help="The revision to check against.")
@click.option("--fix", is_flag=True, help="Rewrite the citations that moved, in place; of stdin, to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code tells.")
@common.json_option
@click.option("-v", "--verbose", is_flag=True, help="Show what changed, as a diff.")
def verify(files: tuple[str, ...], rev: str, fix: bool, quiet: bool, as_json: bool, verbose: bool) -> int:
    """Check every citation in FILEs (or stdin) against HEAD: same, moved, changed, gone.

    A citation is same when its lines stand at the same place, moved when they stand elsewhere, in a renamed file for
    instance. uncommitted are those of @worktree, which nothing can check. Exit code 1 when one is not the same; with
    --fix, when one is neither the same nor rewritten.
    """
    names = files or (STDIN,)
    if fix and as_json and STDIN in names:
        raise click.UsageError("--fix writes the text of stdin where --json writes; give a file")
    texts = {name: _read(name) for name in names}
    found = _verified(texts, rev)
    checked = list(zip(texts, found.verifications, strict=True))
    if fix:
        for name, verification in checked:
            _write(name, texts[name], fixed(texts[name], verification))
    if as_json:
        common.print_json(render_verify.verify_json(checked, rev, found.commit, fix))
    elif not quiet:
        to_stderr = fix and STDIN in texts
        click.echo(render_verify.verdicts(checked, common.style(), verbose, found.links, fix), err=to_stderr)
    if not quiet:
        _tell(found)
    return 0 if all(_holds(verification, fix) for _, verification in checked) else NOT_THE_SAME


class _Found(NamedTuple):
    """What each text's citations are worth at a commit (full hex), and what is to be told beside."""

    verifications: list[Verification]
    commit: str | None = None
    links: Links | None = None
    is_shallow: bool = False
    unpinned: tuple[str, ...] = ()


def _verified(texts: Mapping[str, str], rev: str) -> _Found:
    """The citations checked here, and those of registered repositories in these; outside of a repository only those."""
    try:
        itza = Itza.open()
    except NotARepository:
        from itza_git.several import verified_outside

        outside = verified_outside(list(texts.values()))
        if outside is None or rev != "HEAD":
            raise
        return _Found(outside)
    with itza:
        commit = itza.resolve(rev).id.hex()
        found = itza.verify_all(list(texts.values()), rev)
        is_shallow = (itza.repository.common_dir / "shallow").is_file()
        links, unpinned = itza.links, tuple(_unpinned(itza, texts))
    if not all(one.holds for one in found):
        from itza_git.several import verified_elsewhere

        found = list(map(verified_elsewhere, found))
    return _Found(found, commit, links, is_shallow, unpinned)


def _tell(found: _Found) -> None:
    """What else the user should know."""
    if found.is_shallow and any(map(_lacks_commit, found.verifications)):
        common.note("note: this clone lacks the older commits: git fetch --unshallow")
    for one in found.unpinned[: common.MOST_NAMED]:
        common.note(f"note: {one} is not pinned to a commit, so it is not checked")
    if len(found.unpinned) > common.MOST_NAMED:
        common.note(f"note: neither are {len(found.unpinned) - common.MOST_NAMED} more")


def _unpinned(itza: Itza, texts: Mapping[str, str]) -> Iterator[str]:
    """FILE:LINE: and the citation, of each whose revision is not a commit's id: it names other lines tomorrow."""
    known: dict[str, bool] = {}
    for name, text in texts.items():
        for start, end, revision in unpinned(text):
            if revision not in known:
                with suppress(GitError):
                    itza.resolve(revision)
                    known[revision] = True
            if known.setdefault(revision, False):
                yield f"{name}:{text.count(chr(10), 0, start) + 1}: {text[start:end]}"


def _holds(verification: Verification, fix: bool) -> bool:
    return verification.holds or (fix and all(one.verdict.status in ("same", "moved") for one in verification.checked))


def _lacks_commit(verification: Verification) -> bool:
    return any(one.verdict.reason == UNKNOWN_COMMIT for one in verification.checked)


def _read(name: str) -> str:
    """The text of a file; bytes that are not UTF-8 stay what they are."""
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as e:
        raise UsageError(f"cannot read {name}: {e.strerror}", "git itza verify FILE...") from e
    return data.decode("utf-8", "surrogateescape")


def _write(name: str, before: str, after: str) -> None:
    data = after.encode("utf-8", "surrogateescape")
    if name == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    elif after != before:
        try:
            files.replace(Path(name), data)
        except OSError as e:
            raise UsageError(f"cannot write {name}: {e.strerror}", "git itza verify FILE...") from e
