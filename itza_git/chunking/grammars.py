"""Parsers by language: each grammar is imported when its first file is met, and one that is missing is no error."""

from __future__ import annotations

import importlib
import os
import time
import warnings
from functools import cache

from tree_sitter import Language, Parser, Tree

# Language -> module and function of the wheel that holds its grammar.
_WHEELS: dict[str, tuple[str, str]] = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "swift": ("tree_sitter_swift", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "bash": ("tree_sitter_bash", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "elixir": ("tree_sitter_elixir", "language"),
    "haskell": ("tree_sitter_haskell", "language"),
    "zig": ("tree_sitter_zig", "language"),
}

# Generated and minified files are larger or wider than this; syntax says little about them.
LARGEST_FILE = 1_000_000
WIDEST_LINE = 20_000
WIDEST_AVERAGE = 5_000
# `a<a<a<...` makes some grammars quadratic in time and memory without ever asking whether to go on.
MOST_UNCLOSED = 5_000
MOST_LINES = 60_000
# Processor time for a small file, and once more for each quarter of a megabyte. Real code takes a twentieth of it.
# What takes longer is hostile or broken beyond use, and eats up to 0.5 GB a second.
PARSE_SECONDS = 0.5
PARSE_BYTES = 250_000
# What a parse may add to the memory of the process. A real file of a megabyte takes a third of it.
PARSE_MEMORY = 128 << 20
# Seconds after which it is looked at again; that takes 20 microseconds. Real code is parsed before the first time.
MEMORY_EVERY = 0.01


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@cache
def parser(language: str) -> Parser | None:
    """The parser of a language; None where there is no grammar, or it cannot be loaded."""
    wheel = _WHEELS.get(language)
    if wheel is None:
        return None
    try:
        with warnings.catch_warnings():
            # Some wheels still hand over an int where tree-sitter wants a capsule.
            warnings.simplefilter("ignore", DeprecationWarning)
            return Parser(Language(getattr(importlib.import_module(wheel[0]), wheel[1])()))
    except (ImportError, AttributeError, ValueError, TypeError, OSError):
        return None


def parse(data: bytes, language: str) -> Tree | None:
    """The syntax tree of data; None where the grammar is missing, gives up, or would take too long."""
    found = parser(language)
    if found is None or _too_costly(data):
        return None
    look = time.thread_time()
    deadline = look + PARSE_SECONDS * (1 + len(data) / PARSE_BYTES)
    most = _memory() + PARSE_MEMORY

    def read(offset: int, _point: object) -> bytes:
        return data[offset:] if offset else data

    def late(_offset: int, _error: bool) -> bool:
        nonlocal look
        now = time.thread_time()
        if now > deadline:
            return True
        if now < look + MEMORY_EVERY:
            return False
        look = now
        return _memory() > most

    try:
        # Only this form of parse asks whether to go on; the speed is the same.
        return found.parse(read, encoding="utf8", progress_callback=late)
    except (ValueError, RuntimeError, MemoryError):
        found.reset()
        return None
    except SystemError as e:  # Ctrl-C while the parser asked whether to go on
        found.reset()
        if isinstance(e.__cause__, KeyboardInterrupt):
            raise e.__cause__ from None
        raise


def _memory() -> int:
    """Bytes of memory that the process has now; 0 where the system does not tell in a file."""
    try:
        handle = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(handle, 200).split()[1]) * _PAGE
        finally:
            os.close(handle)
    except (OSError, ValueError, IndexError):
        return 0


def _too_costly(data: bytes) -> bool:
    lines = data.count(b"\n") + 1
    if len(data) > LARGEST_FILE or lines > MOST_LINES or len(data) > WIDEST_AVERAGE * lines:
        return True
    if len(data) > WIDEST_LINE and max(map(len, data.split(b"\n"))) > WIDEST_LINE:
        return True
    pairs = ((b"<", b">"), (b"(", b")"), (b"[", b"]"), (b"{", b"}"))
    return any(data.count(opening) - data.count(closing) > MOST_UNCLOSED for opening, closing in pairs)
