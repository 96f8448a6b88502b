"""Passages for tests of prompts and answers."""

from __future__ import annotations

from itza_git.answering.prompt import Block, select
from itza_git.records import Passage

STORE = '''\
class Store:
    """Immutable packs of vectors."""

    def open_pack(self, name):
        if name in self.cache:
            return self.cache[name]
        return Pack.read(self.folder / name)'''
RETRY = """\
MAX_RETRIES = 4

def fetch_with_retry(url, timeout=30):
    for attempt in range(MAX_RETRIES):
        response = httpGet(url, timeout)
        if response.ok:
            return response
    raise FetchError(url)"""
DOCS = """\
## Configuration
Set `cache_dir` to move the cache. Packs are deleted by `tool gc`."""


def passage(path: str, text: str, first: int = 1, symbol: str = "") -> tuple[Passage, str]:
    last = first + text.removesuffix("\n").count("\n")
    return Passage(path.encode(), b"\1" * 20, "python", first, last, "function", symbol, 0.5), text


PASSAGES = [
    passage("src/store.py", STORE, 10, "Store"),
    passage("src/net.py", RETRY, 40, "fetch_with_retry"),
    passage("README.md", DOCS, 7),
]


def blocks() -> list[Block]:
    return select(PASSAGES, 10_000)
