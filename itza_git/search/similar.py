"""Passages like a given one: the nearness of their stored vectors, and the rare terms that they share.

Both come from the index alone, so nothing is embedded and no text is read. A path is no part of either: a copy is a
copy wherever it lies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itza_git.records import Chunk, Passage
from itza_git.search.corpus import Corpus, Filter
from itza_git.search.dense import cosines
from itza_git.search.lexical import K1, B, idf_of

# Below this neither vector nor terms say more than that both are code.
LEAST = 0.25


@dataclass(frozen=True, slots=True)
class Alike:
    """What a place holds, and the passages most like it, best first.

    of covers all passages of the place. Of a passage, parts say `cosine`, `terms` (what it has of the place's terms by
    BM25, against the place itself) and `same`, the part of the text in common, by occurrences; each 0..1.
    """

    of: Passage
    passages: list[Passage]


def alike(corpus: Corpus, entry: int, chosen: NDArray[np.int64], limit: int, wanted: Filter | None = None) -> Alike:
    """The passages most like the chosen ones, which are adjacent ones of an entry; never those themselves."""
    cosine = _nearness(corpus, chosen)
    terms, same = _shared(corpus, chosen)
    score = (np.maximum(cosine, 0) + terms) / 2
    may = corpus.allowed(wanted or Filter())[corpus.entry]
    may[chosen] = False
    # Of equals, such as copies, the tree's order decides.
    order = np.argsort(np.where(may, -score, 0), kind="stable")
    best = [n for n in order[:limit].tolist() if may[n] and score[n] >= LEAST]
    parts = {"cosine": cosine, "terms": terms, "same": same}
    found = [
        corpus.passage(n, float(score[n]), {name: round(float(part[n]), 2) for name, part in parts.items()})
        for n in best
    ]
    return Alike(_joined(corpus, entry, chosen), found)


def around(corpus: Corpus, entry: int, first: int, last: int) -> NDArray[np.int64]:
    """The passages of an entry that have any of the lines; of one line the whole definition, when it is in pieces."""
    numbers = corpus.passages_of(entry)
    chunks = corpus.chunks(numbers)
    chosen = [at for at, chunk in enumerate(chunks) if chunk.first <= last and first <= chunk.last]
    if first == last and len(chosen) == 1:
        chosen = _whole(chunks, chosen[0])
    return numbers[chosen]


def _whole(chunks: list[Chunk], at: int) -> list[int]:
    """The adjacent chunks that belong to one symbol with the one at a place."""

    def belongs(chunk: Chunk) -> bool:
        kinds = {chunk.kind, chunks[at].kind} - {"comment"}
        return bool(chunk.symbol) and chunk.symbol == chunks[at].symbol and len(kinds) < 2

    first = last = at
    while first > 0 and belongs(chunks[first - 1]):
        first -= 1
    while last + 1 < len(chunks) and belongs(chunks[last + 1]):
        last += 1
    return list(range(first, last + 1))


def _nearness(corpus: Corpus, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
    """The cosine of every passage's vector to the mean of the chosen ones; zeros when they have none."""
    vectors = []
    for passage in chosen.tolist():
        pack, row = corpus.place(passage)
        vectors.append(pack.array("vector")[row].astype(np.float32) * float(pack.array("scale")[row]))
    mean = np.mean(vectors, axis=0)
    length = float(np.linalg.norm(mean))
    if not length:
        return np.zeros(len(corpus), np.float32)
    return cosines(corpus, (mean / length).astype(np.float32))


def _shared(corpus: Corpus, chosen: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """BM25 of every passage for the chosen ones' terms, 1 for the chosen themselves; and the part of text in common."""
    body = corpus.field("body")
    own = _terms(corpus, chosen)
    length = np.zeros(corpus.rows, np.float32)
    for offset, postings in body:
        length[offset : offset + len(postings.length)] = postings.length
    mean = max(float(length[corpus.row].mean()), 1.0)
    own_length = float(length[corpus.row[chosen]].sum())
    norm, own_norm = K1 * (1 - B + B * length / mean), K1 * (1 - B + B * own_length / mean)
    score, common = np.zeros((2, corpus.rows), np.float32)
    best = 0.0
    for key, count in own:
        looked_up = [(offset, *postings.lookup(key)) for offset, postings in body]
        found = [(offset + row.astype(np.int64), counts) for offset, row, counts in looked_up]
        idf = idf_of(len(corpus), sum(int(corpus.copies[row].sum()) for row, _ in found))
        best += idf * count / (count + own_norm)
        for row, n in found:
            score[row] += idf * n / (n + norm[row])
            common[row] += np.minimum(n, np.float32(count))
    same = 2 * common / np.maximum(length + own_length, 1)
    return np.minimum(score / max(best, 1e-9), 1)[corpus.row], same[corpus.row]


def _terms(corpus: Corpus, chosen: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The key of each term of the passages with its occurrences in them."""
    total: dict[int, int] = {}
    for passage in chosen.tolist():
        pack, row = corpus.place(passage)
        keys, counts = pack.field("body").of_row(row)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            total[key] = total.get(key, 0) + count
    return list(total.items())


def _joined(corpus: Corpus, entry: int, chosen: NDArray[np.int64]) -> Passage:
    """The chosen passages as one."""
    passages = [corpus.passage(n, 1.0, {}) for n in chosen.tolist()]
    symbols = list(dict.fromkeys(p.symbol for p in passages if p.symbol))
    first = passages[0]
    return Passage(
        first.path,
        first.blob,
        first.language,
        first.first,
        passages[-1].last,
        next((p.kind for p in passages if p.kind != "comment"), first.kind),
        ", ".join(symbols),
        1.0,
    )
