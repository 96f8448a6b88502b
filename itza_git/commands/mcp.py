"""`git itza mcp`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from itza_git.errors import UsageError

HOW = "pip install 'itza-git[mcp]'"


def has_sdk() -> bool:
    """Whether the SDK is installed."""
    return _is_installed("mcp") and _is_installed("mcp_types")


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


@click.command()
def mcp() -> int:
    """Serve agents and editors over the Model Context Protocol, on standard input and output.

    The repositories are those of the client's roots, or that of the current folder, and the registered ones. Set a
    client up with: git itza agent install.
    """
    if not has_sdk():
        raise UsageError("the Model Context Protocol needs a package that is not installed", HOW)
    if sys.stdin.isatty():
        click.echo("note: this waits for a client on standard input; set one up: git itza agent install -h", err=True)
    with _silence(), _uncollected():
        from itza_git.mcp.server import run
    run(Path.cwd())
    return 0


@contextmanager
def _silence() -> Iterator[None]:
    """Standard output belongs to the protocol: what is printed meanwhile, by a child process too, goes to the log."""
    wire = os.dup(1)
    with suppress(OSError):  # started without a standard error
        os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(wire, 1)
        os.close(wire)


@contextmanager
def _uncollected() -> Iterator[None]:
    """What an import makes stays: the collector would go through the SDK's classes again and again, a quarter of it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
