"""`git itza verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from itza_git import files, render_verify
from itza_git.answering.verdicts import UNKNOWN_COMMIT, Verification, fixed
from itza_git.api import Itza
from itza_git.commands import common
from itza_git.errors import UsageError

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
    with Itza.open() as itza:
        commit = itza.resolve(rev)
        found = itza.verify_all(list(texts.values()), rev)
        if not all(one.holds for one in found):
            from itza_git.several import verified_elsewhere

            found = list(map(verified_elsewhere, found))
        checked = list(zip(texts, found, strict=True))
        links = itza.links
        is_shallow = (itza.repository.common_dir / "shallow").is_file()
    if fix:
        for name, verification in checked:
            _write(name, texts[name], fixed(texts[name], verification))
    if as_json:
        common.print_json(render_verify.verify_json(checked, rev, commit.id.hex(), fix))
    elif not quiet:
        to_stderr = fix and STDIN in texts
        click.echo(render_verify.verdicts(checked, common.style(), verbose, links), err=to_stderr)
    if is_shallow and not quiet and any(_lacks_commit(verification) for _, verification in checked):
        common.note("note: this clone lacks the older commits: git fetch --unshallow")
    return 0 if all(_holds(verification, fix) for _, verification in checked) else NOT_THE_SAME


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
