"""The manual page, made from the commands: `python -m itza_git.manpage > share/man/man1/git-itza.1`.

`git itza --help` shows it: git runs `man git-itza` and never starts the program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from itza_git import __version__
from itza_git.cli import cli

_EXIT_CODES = {
    "0": "answered, or passages shown",
    "1": "nothing here answers (NO_SE), or nothing was found",
    "2": "usage, or a named error: one line, and a hint with the next command",
    "3": "a fault of the program; the message says where its report lies",
    "4": "--strict, and not every statement carries a verified citation",
    "130": "interrupted",
}

_CONFIGURATION = {
    "itza.embedder": "Where vectors come from: builtin (the default; offline), ollama, openai.",
    "itza.embedModel": "The embedding model for a server; default nomic-embed-text.",
    "itza.answerModel": "The model that answers; default qwen2.5-coder:7b.",
    "itza.server": "Who runs the answering model: ollama (the default), or openai for llama.cpp, LM Studio, vLLM.",
    "itza.ollamaHost": "Where Ollama listens; default OLLAMA_HOST, else 127.0.0.1:11434.",
    "itza.openaiBase": "The address of an OpenAI-compatible server; default http://127.0.0.1:8080/v1.",
    "itza.allowRemote": "Whether a host other than this machine may be used; default false.",
    "itza.include, itza.exclude": "Pathspecs of what is indexed and what is not; repeatable.",
    "itza.maxFileSize": "Larger files are skipped; default 1m.",
    "itza.repo": "A repository that --all-repos searches; repeatable. git itza repos writes it.",
    "itza.history": "Whether commit messages are evidence for a question in words; default true.",
}

_ENVIRONMENT = {
    "ITZA_*": "Each configuration key has a variable, which wins over it: itza.answerModel is ITZA_ANSWER_MODEL.",
    "ITZA_SKIP_HOOK": "1 silences the hooks.",
    "NO_COLOR": "Set to anything, it switches colour off.",
}

_EXAMPLES = {
    'git itza ask "how are retries limited?"': "An answer with citations, from HEAD.",
    'git itza search --rev v1.2 --lang python "parse a citation"': "Passages as they were at a tag.",
    "git itza hooks install": "From now on git refreshes the index after each commit, checkout, merge and rebase.",
}


def manpage() -> str:
    """The page in roff, the same for the same commands on every machine."""
    lines = [
        '.\\" Made by: python -m itza_git.manpage. Do not edit.',
        f'.TH GIT\\-ITZA 1 "" "git\\-itza {_escape(__version__)}" "git\\-itza"',
        ".SH NAME",
        f"git\\-itza \\- {_escape(_summary(cli))}",
        ".SH SYNOPSIS",
        "\\fBgit itza\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(cli.help or ""),
        ".PP",
        "A citation reads path:first\\-last@commit. git itza show prints the lines that one names.",
        ".SH COMMANDS",
    ]
    # With the settings that the program has: click keeps what a command's first context says of `-h`.
    with click.Context(cli, info_name="git itza", **cli.context_settings) as context:
        for name in cli.list_commands(context):
            found = cli.get_command(context, name)
            if found is not None:
                lines += _command(found, f"git itza {name}", context)
    for title, entries in (
        ("EXIT STATUS", _EXIT_CODES),
        ("CONFIGURATION", _CONFIGURATION),
        ("ENVIRONMENT", _ENVIRONMENT),
        ("EXAMPLES", _EXAMPLES),
    ):
        lines += [f".SH {title}", *_list(entries)]
    lines += [".SH SEE ALSO", "\\fBgit\\fR(1), \\fBgit\\-grep\\fR(1), \\fBgithooks\\fR(5)"]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, path: str, parent: click.Context) -> Iterator[str]:
    with click.Context(command, info_name=path.rpartition(" ")[2], parent=parent) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        yield f".SS \\fB{_escape(path)}\\fR {_escape(usage)}"
        yield from _paragraphs(command.help or "")
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                yield from _option(parameter)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                if found is not None:
                    yield from _command(found, f"{path} {name}", context)


def _option(option: click.Option) -> Iterator[str]:
    # Not click's own help record: its words for a range differ between versions, and the page must not.
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else option.metavar or ("N" if "integer" in option.type.name else "VALUE")
    default = f" (default: {option.default})" if option.show_default else ""
    yield ".TP"
    yield f"\\fB{_escape(names)}\\fR" + (f" \\fI{_escape(value)}\\fR" if value else "")
    yield _escape(_line(f"{option.help or ''}{default}"))


def _summary(command: click.Command) -> str:
    return _line((command.help or "").partition("\n\n")[0]).rstrip(".")


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.replace("\b\n", "").split("\n\n"):
        yield from (".PP", _escape(_line(paragraph)))


def _list(entries: dict[str, str]) -> Iterator[str]:
    for term, told in entries.items():
        yield from (".TP", f"\\fB{_escape(term)}\\fR", _escape(told))


def _line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    """text as roff shows it: a hyphen that can be copied, and no line that starts a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + escaped if escaped.startswith(".") else escaped


if __name__ == "__main__":
    sys.stdout.write(manpage())
