"""Coverage-guided fuzzing with atheris, which the suite does not need: python -m tests.fuzz.longer TARGET [OPTIONS]

    pip install atheris
    python -m tests.fuzz.longer chunk -max_total_time=600 corpus/

Targets: see TARGETS. What it finds becomes a test with a name in tests/test_fuzz_bytes.py or beside the module.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import atheris

with atheris.instrument_imports(include=["itza_git"]):
    from itza_git.answering import citation
    from itza_git.answering.finding import find_all
    from itza_git.chunking import chunk
    from itza_git.chunking.chunkers import CHUNKERS
    from itza_git.errors import Damaged, ItzaError, UsageError
    from itza_git.git.trees import Trees
    from itza_git.paths import quote, unquote
    from itza_git.pathspec import matcher
    from itza_git.render import clean
    from itza_git.store.container import Container
    from itza_git.store.proof import prove
    from itza_git.words import words

LANGUAGES = sorted(set(CHUNKERS) - {"notebook"})
FILE = Path(tempfile.gettempdir()) / f"itza-fuzz-{os.getpid()}.itza"


def chunks(data: bytes) -> None:
    """The first byte picks the language."""
    if not data:
        return
    text = data[1:]
    found = chunk(text, LANGUAGES[data[0] % len(LANGUAGES)])
    lines = text.split(b"\n")
    count = len(lines) - (not lines[-1])
    if found:
        assert (found[0].first, found[-1].last) == (1, count)
        assert all(b.first == a.last + 1 for a, b in pairwise(found))


def notebook(data: bytes) -> None:
    found = chunk(data, "notebook")
    assert all(a.first <= a.last < b.first for a, b in pairwise(found))


def citations(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    find_all(text)
    try:
        parsed = citation.parse(text)
    except UsageError:
        return
    assert citation.parse(citation.render(parsed)) == parsed


def container(data: bytes) -> None:
    """The frame is made right, so that what is within is reached: the first two bytes say how long the header is."""
    length = int.from_bytes(data[:2], "big") % (len(data) + 1)
    head = struct.pack("<8sII", b"ITZAGIT\n", 1, length) + data[2 : 2 + length].ljust(length)
    whole = head + b"\0" * (-len(head) % 64) + data[2 + length :]
    whole += struct.pack("<QI4s", len(whole) + 16, crc32(head), b"END\n")
    FILE.unlink(missing_ok=True)
    FILE.write_bytes(whole)
    for kind in ("pack", "view"):
        try:
            Container(FILE, kind).verified()
            prove(FILE, kind)
        except Damaged:
            continue


def tree(data: bytes) -> None:
    half = len(data) // 2

    def load(id_: bytes, path: bytes) -> bytes:
        return data[:half] if id_ == b"o" * 20 else data[half:] if id_ == b"n" * 20 else b""

    for old, new in ((b"o" * 20, b"n" * 20), (b"n" * 20, b"o" * 20)):
        trees = Trees(load, 20)
        try:
            found = [one.path for one in trees.walk(old)] + [one.path for one in trees.diff(old, new)]
        except ItzaError:
            continue
        assert all(unquote(quote(path)) == path for path in found)


def text(data: bytes) -> None:
    """Words, patterns and what reaches a terminal."""
    said = data.decode("utf-8", "surrogateescape")
    words(said)
    assert all(one.isprintable() or one == "\n" or ord(one) > 127 for one in clean(said))
    try:
        matcher([said])(data)
    except UsageError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    "chunk": chunks,
    "notebook": notebook,
    "citation": citations,
    "container": container,
    "tree": tree,
    "text": text,
}


def main() -> None:
    if sys.argv[1:2] not in [[name] for name in TARGETS]:
        sys.exit(__doc__)
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
