"""From blobs to one pack: read, judge, chunk, count, embed, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itza_git import chunking
from itza_git.chunking.languages import language_of
from itza_git.chunking.written import beginning, written
from itza_git.embedding import Embedder
from itza_git.git import Repository
from itza_git.records import Chunk
from itza_git.store import PackBuilder
from itza_git.store.pack import MOST_ROWS, Indexed, key_of
from itza_git.store.postings import BEGINNING, WRITTEN
from itza_git.words import Vocabulary

# A chunk of more text than this is one of very long lines; its beginning stands for it.
MOST_CHARACTERS = 16_000
# Identifiers that a vocabulary may remember before it is forgotten: about 200 MB.
MOST_TERMS = 600_000

_HEAD_BYTES = 8000  # where git looks for a NUL
_LFS = b"version https://git-lfs.github.com/spec/"
_LFS_MOST_BYTES = 1024
_MINIFIED_BYTES = 20_000
_MINIFIED_MEAN_LINE = 1000


@dataclass(frozen=True, slots=True)
class Task:
    """A blob to index, and the language that its path says."""

    blob: bytes
    language: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a batch. lossy and unreadable are blobs; chunks and not_embedded are counts."""

    blobs: int = 0
    chunks: int = 0
    not_embedded: int = 0
    lossy: tuple[bytes, ...] = ()
    unreadable: tuple[bytes, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


class BlobIndexer:
    """Turns batches of blobs into packs; keeps the vocabulary from one batch to the next."""

    def __init__(self, repository: Repository, builder: PackBuilder, embedder: Embedder) -> None:
        self._repository = repository
        self._builder = builder
        self._embedder = embedder
        self._vocabulary = Vocabulary()

    def index(self, tasks: Sequence[Task]) -> Outcome:
        """Write the tasks' blobs, all but those that cannot be read: one pack, more when one cannot hold the rows."""
        blobs: list[Indexed] = []
        texts: list[str] = []
        outcome = Outcome()
        contents = self._repository.read_many(task.blob for task in tasks)
        for task, (_, data) in zip(tasks, contents, strict=True):
            if data is None:
                outcome += Outcome(unreadable=(task.blob,))
                continue
            found = examine(data, task)
            if len(texts) + len(found.chunks) > MOST_ROWS:
                outcome += self._write(blobs, texts)
                blobs, texts = [], []
            blobs.append(found)
            texts += chunk_texts(data, found.chunks)
            if found.chunks and not _is_utf8(data):
                outcome += Outcome(lossy=(task.blob,))
        return outcome + self._write(blobs, texts)

    def _write(self, blobs: Sequence[Indexed], texts: Sequence[str]) -> Outcome:
        if not blobs:
            return Outcome()
        if len(self._vocabulary) > MOST_TERMS:
            self._vocabulary = Vocabulary()
        bags = self._vocabulary.count(texts)
        symbols = self._vocabulary.count([chunk.symbol for blob in blobs for chunk in blob.chunks])
        languages = [blob.language for blob in blobs for _ in blob.chunks]
        parts = {
            BEGINNING: self._vocabulary.count([beginning(text) for text in texts]),
            WRITTEN: self._vocabulary.count([written(*one) for one in zip(texts, languages, strict=True)]),
        }
        vectors = self._embedder.embed(texts, bags)
        self._builder.write(blobs, bags, symbols, vectors, parts)
        return Outcome(len(blobs), len(texts), int((~vectors.any(axis=1)).sum()))


def examine(data: bytes, task: Task) -> Indexed:
    """The chunks of a blob, or the reason why it has none."""
    key = key_of(task.blob, task.language)
    language = task.language
    if language == "text":  # a script without an extension tells its language in its first line
        language = language_of(b"", data[:256])
    reason = _reason(data, language)
    chunks = [] if reason else chunking.chunk(data.removeprefix(b"\xef\xbb\xbf"), language)
    if len(chunks) > MOST_ROWS:
        chunks, reason = [], "too large"
    return Indexed(key, language, chunks, reason or ("" if chunks else "empty"))


def _reason(data: bytes, language: str) -> str:
    if b"\0" in data[:_HEAD_BYTES]:
        return "binary"
    if data.startswith(_LFS) and len(data) < _LFS_MOST_BYTES:
        return "LFS pointer"
    # A notebook's long lines are its pictures, which its chunker leaves out.
    if len(data) > _MINIFIED_BYTES and language != "notebook":
        return "minified" if len(data) > _MINIFIED_MEAN_LINE * (data.count(b"\n") + 1) else ""
    return ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def chunk_texts(data: bytes, chunks: Sequence[Chunk]) -> list[str]:
    """What is counted and embedded of each chunk: its lines, after its symbol, which a later part of a body lacks."""
    lines = data.split(b"\n")
    return [
        f"{chunk.symbol}\n"
        + b"\n".join(lines[chunk.first - 1 : chunk.last])[:MOST_CHARACTERS].decode("utf-8", "replace")
        for chunk in chunks
    ]
