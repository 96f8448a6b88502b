"""`git itza`: the one place that turns errors into lines and exit codes.

Each command lives in its own module of `commands/` and is imported when it is called, because numpy and pygit2 take
five times as long to import as `git itza -h` may take.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from itza_git import __version__
from itza_git.errors import ItzaError, UsageError, shortened

COMMANDS = {
    "ask": "Answer a question with verified citations.",
    "search": "Show the ranked passages for a query.",
    "overview": "Show what is in the repository, and where to begin.",
    "similar": "Show code like that around a line.",
    "index": "Index HEAD (or a revision) now.",
    "show": "Show the lines that a citation names.",
    "verify": "Check the citations in a text against HEAD.",
    "gc": "Drop from the index what nothing reaches any more.",
    "fsck": "Prove the index whole, and repair it.",
    "status": "Say what is indexed, and how well.",
    "repos": "Search along other repositories: add, remove, list, index.",
    "agent": "Set up an agent or editor: install, uninstall, instructions.",
    "mcp": "Serve agents and editors over the Model Context Protocol.",
    "hooks": "Let git refresh the index: install, uninstall, status.",
}
# Called by scripts; not shown to people.
HIDDEN = frozenset({"hook"})

# click would derive it from "git itza", with the space in it.
COMPLETE_VARIABLE = "_GIT_ITZA_COMPLETE"

# What click raises for a group without a command; before 8.2 it shows the help itself.
HELP_WANTED: type[Exception] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())

_LONGEST_REPR = 200

FAILED, FAULT, INTERRUPTED = 2, 3, 130


def is_interrupted() -> bool:
    """Whether Ctrl-C was pressed; `start` says so. An import that it hits makes an error of its own of it."""
    return False


class _Commands(click.Group):
    """A group that imports a command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        found = getattr(importlib.import_module(f"itza_git.commands.{cmd_name}"), cmd_name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, from the table above: click would import them all to ask each for its help."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=told) for name, told in COMMANDS.items() if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and args[0] not in HIDDEN and not args[0].startswith("-"):
            raise UsageError(f"no command is named {args[0]}", _meant(args))
        return super().resolve_command(ctx, args)


def _meant(args: list[str]) -> str:
    """What was probably meant by a command line that begins with no command."""
    asked = " ".join(args)
    if len(asked.split()) > 2:
        return f'git itza ask "{asked}"'
    import difflib  # only where something went wrong

    near = difflib.get_close_matches(args[0], COMMANDS, 1)
    return f"git itza {near[0]}" if near else "git itza -h"


@click.command(
    cls=_Commands,
    name="git itza",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Try: git itza ask "how does X work?"   To find where a name is defined, git grep is better.',
)
@click.version_option(__version__, "--version", message="git-itza %(version)s")
def cli() -> None:
    """Ask a git repository how it works, on this machine, with citations pinned to a commit."""


def main() -> None:
    """Run the command line and exit with its code; see the table of exit codes in the README."""
    # A search multiplies one vector: the threads of linear algebra cost more to start than they give.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding shows an escape instead of ending the program (pallets/click#2121).
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    output = sys.stdout
    try:
        result = cli.main(prog_name="git itza", standalone_mode=False, complete_var=COMPLETE_VARIABLE)
        sys.stdout.flush()
    except click.exceptions.Exit as e:
        return e.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except SystemExit:
        if sys.stdout is output:
            raise
        return _failed(BrokenPipeError(errno.EPIPE, "closed"))  # click has wrapped it because it is closed
    except Exception as e:  # noqa: BLE001 - the top handler: a fault of ours becomes a report, never a traceback
        return INTERRUPTED if is_interrupted() else _failed(e)
    return result if isinstance(result, int) else 0


def _failed(error: Exception) -> int:
    """Tell an error; its exit code."""
    if isinstance(error, HELP_WANTED):
        click.echo(error)
        return 0
    if isinstance(error, click.ClickException):
        return _say(error.format_message(), _usage_hint(error))
    if isinstance(error, ItzaError):
        return _say(str(error), error.hint)
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC):
        # Python would flush standard output again on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # whoever read has seen enough
            return 0
        return _say(f"cannot write the output: {error.strerror}", "free some space, or write it elsewhere")
    return _report(error)


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path} -h" if context else "git itza -h"


def _say(message: str, hint: str) -> int:
    """One line that names what failed, and one with the next command."""
    from itza_git.render import clean

    click.echo(f"error: {clean(shortened(message))}", err=True)
    if hint:
        click.echo(f"hint: {clean(hint)}", err=True)
    return FAILED


def _report(error: Exception) -> int:
    from itza_git import faults
    from itza_git.render import clean

    click.echo(f"error: git-itza has a fault: {clean(repr(error)[:_LONGEST_REPR])}", err=True)
    written = faults.write(error, sys.argv[1:])
    if written is not None:
        click.echo(f"hint: please report it with the file {clean(str(written))}", err=True)
    else:  # no room for the report: then it is told here
        click.echo(f"hint: please report it with this:\n{faults.report(error, sys.argv[1:])}", err=True)
    return FAULT


if __name__ == "__main__":
    main()
