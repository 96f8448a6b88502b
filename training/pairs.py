"""A pair to learn from, and files of them."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

# One package in this many is never trained on: choices are made on it.
HELD_APART = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """What a comment says, and the code that it says it about.

    name is what the code declares. doc is empty where nothing is said: then the name is what to find the code by, and
    the code is without it. path is the file's inside its package. is_inline: the comment stands inside the function
    that the code is lines of.
    """

    package: str
    language: str
    name: str
    doc: str
    code: str
    path: str = ""
    is_inline: bool = False

    @property
    def is_held_apart(self) -> bool:
        """Whether the pair is for evaluation only, as all of its package is."""
        return hashlib.blake2b(self.package.encode(), digest_size=1).digest()[0] % HELD_APART == 0

    @property
    def nameless_code(self) -> str:
        """The code without its own name."""
        name = re.split(r"[^\w]+", self.name.strip())[-1]
        return re.sub(rf"\b{re.escape(name)}\b", " ", self.code) if name else self.code


def write(path: Path, pairs: Iterable[Pair]) -> None:
    """Writes pairs as JSON lines, gzipped."""
    with gzip.open(path, "wt", compresslevel=3) as out:
        out.writelines(json.dumps(asdict(pair)) + "\n" for pair in pairs)


def read(path: Path) -> list[Pair]:
    """The pairs of a file that `write` wrote."""
    with gzip.open(path, "rt") as lines:
        return [Pair(**json.loads(line)) for line in lines]
