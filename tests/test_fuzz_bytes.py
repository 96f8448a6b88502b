"""Whatever bytes lie where the tool reads: a named error or a right answer, and never anything else."""

from __future__ import annotations

import json
import os
import random
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itza_git import Itza, config, jsontext
from itza_git.answering import citation
from itza_git.answering.finding import find_all
from itza_git.errors import ConfigError, Damaged, ItzaError, StoreError, UnreadableObject, UsageError
from itza_git.git import Repository
from itza_git.git.trees import Trees
from itza_git.paths import quote, unquote
from itza_git.pathspec import matcher
from itza_git.store.container import Container
from itza_git.store.pack import Pack
from itza_git.store.proof import prove
from itza_git.store.view import View
from tests.repository import Repo

# Raised by hand: ITZA_FUZZ_EXAMPLES=100000 pytest tests/test_fuzz_bytes.py
EXAMPLES = int(os.environ.get("ITZA_FUZZ_EXAMPLES", "150"))
fuzzed = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)

json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
        st.sampled_from(["<u4", "|O", "|i1", "|S24", "<M8[s]", "pack", "view", "meta", "sections", "kind"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=6), inner, max_size=5)),
    max_leaves=12,
)  # fmt: skip

sections = st.dictionaries(
    st.sampled_from(["key", "start", "language", "reason", "lines", "id", "path_start", "path_text", "x"]),
    st.tuples(
        st.sampled_from(["<u4", "<u2", "|u1", "|i1", "<f4", "|S24", "|O", "<U9", "|V3", "<c16", "|S0", "x"]),
        st.lists(st.one_of(st.integers(-2, 9), st.just(2**62)), max_size=3),
        st.one_of(st.integers(-8, 400), st.just(2**63)),
        st.one_of(st.just(0), st.integers(0, 2**32)),
    ),
    max_size=5,
)
headers = st.one_of(
    json_values,
    st.builds(lambda kind, meta, parts: {"kind": kind, "meta": meta, "sections": parts},
              st.sampled_from(["pack", "view", "x", 1]), json_values, st.one_of(sections, json_values)),
)  # fmt: skip


def container(header: bytes, body: bytes) -> bytes:
    """A file whose frame is right: lengths and checksums hold, whatever the header says."""
    head = struct.pack("<8sII", b"ITZAGIT\n", 1, len(header)) + header
    data = head + b"\0" * (-len(head) % 64) + body
    data += b"\0" * (-len(data) % 64)
    return data + struct.pack("<QI4s", len(data) + 16, crc32(head), b"END\n")


@contextmanager
def file_of(data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pack-0.itza"
        path.write_bytes(data)
        yield path


def read_all(path: Path) -> None:
    """All that reads a container; each may only say that it is damaged."""
    reads: list[Callable[[], object]] = [
        lambda: Container(path, "pack").verified(),
        lambda: Pack(path),
        lambda: View.read(path),
    ]
    for read in reads:
        try:
            read()
        except Damaged:
            continue
        except (ValueError, IndexError, KeyError, OverflowError, TypeError) as e:
            # What `Itza` takes for damage as well: then it proves the file, below.
            assert not isinstance(e, TypeError)
    for kind in ("pack", "view"):
        with pytest.raises(StoreError):
            prove(path, kind)


@fuzzed
@given(st.binary(max_size=400))
def test_any_bytes_in_the_place_of_a_pack(data: bytes) -> None:
    with file_of(data) as path:
        read_all(path)


@fuzzed
@given(headers, st.binary(max_size=300))
def test_any_header_in_a_frame_that_is_right(header: object, body: bytes) -> None:
    with file_of(container(json.dumps(header).encode(), body)) as path:
        read_all(path)


@fuzzed
@given(st.binary(max_size=60), st.binary(max_size=100))
def test_any_bytes_as_a_header(header: bytes, body: bytes) -> None:
    with file_of(container(header, body)) as path:
        read_all(path)


def test_a_header_that_nests_without_end_is_damage() -> None:
    with file_of(container(b'{"kind":' + b"[" * 200_000, b"")) as path, pytest.raises(Damaged):
        Container(path, "pack")


# Trees

Rows = list[tuple[bytes, bytes, bytes]]
names = st.one_of(
    st.binary(min_size=1, max_size=9), st.sampled_from([b"..", b".git", b"a/b", b"\n", b"\xff", b":1@ab"])
)
modes = st.sampled_from([b"100644", b"100755", b"120000", b"160000", b"40000", b"0", b"7" * 30, b"100664"])
rows = st.tuples(modes, names.filter(lambda name: b"\0" not in name), st.sampled_from([b"\1" * 20, b"\2" * 20]))


@fuzzed
@given(st.lists(rows, max_size=6), st.lists(rows, max_size=6), st.binary(max_size=40))
def test_any_bytes_as_trees(old: Rows, new: Rows, junk: bytes) -> None:
    def content(entries: Rows) -> bytes:
        return b"".join(b"%s %s\0%s" % row for row in entries)

    objects = {b"o" * 20: content(old), b"n" * 20: content(new), b"j" * 20: junk, b"\2" * 20: b""}

    def load(id_: bytes, path: bytes) -> bytes:
        if id_ not in objects:
            raise UnreadableObject("it is missing")
        return objects[id_]

    trees = Trees(load, 20)
    for id_ in (b"o" * 20, b"j" * 20):
        with suppress(UnreadableObject):
            check_paths(one.path for one in trees.walk(id_))
    with suppress(UnreadableObject):
        check_paths(one.path for one in trees.diff(b"o" * 20, b"n" * 20))


def check_paths(paths: Iterable[bytes]) -> None:
    for path in paths:
        assert unquote(quote(path)) == path


@pytest.mark.parametrize("names_of_a_run", range(3))
def test_paths_of_any_bytes_are_searched_shown_and_cited(repo: Repo, names_of_a_run: int) -> None:
    """One repository of many names instead of a repository for each: hypothesis draws them all at once."""
    chance = random.Random(names_of_a_run)
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"def wanted(): pass\n")
    paths = set()
    for _ in range(60):
        name = bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 30))).replace(b"/", b"_")
        if name not in (b".", b"..") and name.lower() != b".git":
            paths.add(name)
    listing = b"".join(b"100644 blob %s\t%s\0" % (blob.encode(), name) for name in sorted(paths))
    tree = repo.git("mktree", "-z", stdin=listing)
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", tree, "-m", "x"))
    with Itza.open(repo.path, {}) as itza:
        hits = itza.search("wanted", limit=100).hits
        assert {hit.passage.path for hit in hits} == paths
        for hit in hits:
            cited = citation.parse(hit.citation)
            assert isinstance(cited, citation.Citation)
            assert cited.path == hit.passage.path
            assert itza.show(cited).lines == ("def wanted(): pass",)
            assert itza.verify(f"see {hit.citation} there").holds


# Citations


@fuzzed
@given(st.one_of(st.text(max_size=60), st.from_regex(r'"?[^\n]{0,20}"?:[0-9]{1,30}(-[0-9]{1,9})?@[0-9a-f]{0,41}')))
def test_any_text_as_a_citation(text: str) -> None:
    for found in find_all(text):
        assert 0 <= found.start < found.end <= len(text)
    try:
        parsed = citation.parse(text)
    except UsageError:
        return
    assert citation.parse(citation.render(parsed)) == parsed


# Settings and patterns

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


class Nothing:
    """A repository without any configuration."""

    def config(self, key: str) -> list[str]:
        return []


NOTHING = cast(Repository, Nothing())


@fuzzed
@given(
    st.sampled_from(sorted(config.NAMES)),
    st.one_of(words, st.sampled_from(["1e9", "-1", "0x10", "9" * 99, "9" * 5000, "nan", "1k1"])),
)
def test_any_value_of_any_setting(name: str, value: str) -> None:
    variable = f"ITZA_{name.upper()}"
    try:
        loaded = config.load(NOTHING, {variable: value})
    except ConfigError as e:
        assert "\n" not in str(e) and e.hint
        return
    except ItzaError:
        return
    assert getattr(loaded, name) is not None


@fuzzed
@given(st.lists(words, max_size=3), st.binary(max_size=30))
def test_any_pattern_against_any_path(patterns: list[str], path: bytes) -> None:
    try:
        matches = matcher(patterns)
    except ItzaError:
        return
    assert matches(path) in (True, False)


@fuzzed
@given(st.one_of(st.text(max_size=40), json_values.map(json.dumps), st.just("[" * 100_000)))
def test_any_text_as_json(text: str) -> None:
    try:
        jsontext.parse(text)
    except ValueError:
        return
