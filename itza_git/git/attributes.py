"""What a commit's .gitattributes say of its paths, by git's own matching."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

from itza_git.errors import GitError
from itza_git.git.environment import CommandLine
from itza_git.git.trees import Trees
from itza_git.records import Attributes, Entry

NAMES = ("linguist-generated", "linguist-vendored", "binary", "filter")
TELLING = (b"linguist-generated", b"linguist-vendored", b"binary", b"lfs")
"""Without one of these words no .gitattributes can say anything that we ask for."""

SWITCHES = {b"set": True, b"true": True, b"unset": False, b"false": False}


def sources(trees: Trees, root: bytes, paths: Sequence[bytes]) -> list[Entry]:
    """The .gitattributes in the folders above the paths of a root tree, in the order of an index."""
    folders = {b""}
    for path in paths:
        while (cut := path.rfind(b"/")) >= 0 and (path := path[:cut]) not in folders:
            folders.add(path)
    return trees.find(root, b".gitattributes", folders)


def read(
    git: CommandLine,
    common_dir: Path,
    sources: Sequence[tuple[Entry, bytes | None]],
    paths: Sequence[bytes],
    id_length: int,
) -> dict[bytes, Attributes]:
    """The attributes of those paths that have any, by the .gitattributes in sources and their contents.

    A .gitattributes that cannot be read (None: a partial clone lacks it) counts as absent.

    git reads .gitattributes from the working tree, from an index, or (since 2.40) from a commit. We hand it an index
    of our own, in a temporary file, which holds nothing but the commit's .gitattributes: right for every version,
    for bare repositories, and without touching the repository. info/attributes counts too, as for git; the user's
    own file and the system's do not, since what is indexed should follow from the repository.
    """
    texts = [text for _, text in sources if text is not None]
    if not any(word in text for word in TELLING for text in (*texts, _info(common_dir))):
        return {}
    with tempfile.TemporaryDirectory(prefix="itza-") as folder:
        index = Path(folder) / "index"
        index.write_bytes(_index([entry for entry, text in sources if text is not None], id_length))
        variables = {"GIT_INDEX_FILE": os.fspath(index), "GIT_ATTR_NOSYSTEM": "1"}
        command = ("-c", "core.attributesFile=/dev/null", "check-attr", "--cached", "--stdin", "-z", *NAMES)
        done = git.run(*command, stdin=b"".join(path + b"\0" for path in paths), variables=variables)
    if done.returncode:
        raise GitError(f"git check-attr failed: {os.fsdecode(done.stderr).strip()}", "git fsck")
    return _parse(done.stdout)


def _info(common_dir: Path) -> bytes:
    try:
        return (common_dir / "info" / "attributes").read_bytes()
    except OSError:
        return b""


def _index(entries: Sequence[Entry], id_length: int) -> bytes:
    """An index file, version 2 (gitformat-index), with these entries; no file's times or sizes."""
    body = struct.pack(">4sII", b"DIRC", 2, len(entries))
    for entry in entries:
        stat = struct.pack(">10I", 0, 0, 0, 0, 0, 0, entry.mode, 0, 0, 0)
        record = stat + entry.id + struct.pack(">H", min(len(entry.path), 0xFFF)) + entry.path
        body += record + b"\0" * (8 - len(record) % 8)
    digest = hashlib.sha1 if id_length == 20 else hashlib.sha256
    return body + digest(body).digest()


def _parse(listing: bytes) -> dict[bytes, Attributes]:
    fields = listing.split(b"\0")[:-1]
    said: dict[bytes, dict[bytes, bytes]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if value != b"unspecified":
            said.setdefault(path, {})[name] = value
    found = {path: _attributes(values) for path, values in said.items()}
    return {path: attributes for path, attributes in found.items() if attributes != Attributes()}


def _attributes(values: dict[bytes, bytes]) -> Attributes:
    return Attributes(
        generated=SWITCHES.get(values.get(b"linguist-generated", b"")),
        vendored=SWITCHES.get(values.get(b"linguist-vendored", b"")),
        binary=SWITCHES.get(values.get(b"binary", b"")),
        lfs=values.get(b"filter") == b"lfs",
    )
