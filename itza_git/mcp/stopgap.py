"""Passages by the question's words alone, from `git grep`: the answer while most of a tree is not indexed yet."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from itza_git.api import Itza
from itza_git.chunking.languages import canonical, language_of
from itza_git.chunking.lines import split_lines
from itza_git.git.grep import Match, grep
from itza_git.mcp.texts import Piece
from itza_git.pathspec import matcher
from itza_git.records import Commit
from itza_git.search.forms import stem
from itza_git.search.question import Question

# Lines of a piece, and how many words of a question are looked for.
WINDOW = 12
MOST_WORDS = 8
# A word in the path says more than one in the text.
IN_PATH = 2.0


def by_words(
    itza: Itza, commit: Commit, query: str, paths: Sequence[str], languages: Sequence[str], limit: int
) -> list[Piece]:
    """The places of a commit that hold most of the query's words, rare ones first, one of each file."""
    words = list(dict.fromkeys(stem(word) for word in Question(query).content_words))[:MOST_WORDS]
    if not words:
        return []
    files: defaultdict[bytes, list[Match]] = defaultdict(list)
    allowed = matcher(paths) if paths else lambda path: True
    wanted = {canonical(name) for name in languages}
    for match in grep(itza.repository.git_dir, commit.id, words):
        files[match.path].append(match)
    weights = _weights(words, files)
    scores = {
        path: _score(path, matches, weights)
        for path, matches in files.items()
        if allowed(path) and (not wanted or language_of(path) in wanted)
    }
    best = sorted(scores, key=lambda path: (-scores[path], path))[:limit]
    blobs = {entry.path: entry.id for entry in itza.repository.tree(commit.tree)}
    found = []
    for path in best:
        first = _densest(files[path], weights)
        lines = split_lines(itza.repository.read(blobs[path]))[first - 1 : first - 1 + WINDOW]
        citation = itza.cite(path, first, first + len(lines) - 1, commit.id)
        found.append(Piece(citation, "", first, tuple(line.decode("utf-8", "replace") for line in lines)))
    return found


def _weights(words: Sequence[str], files: dict[bytes, list[Match]]) -> dict[str, float]:
    """How much each word tells: the fewer files hold it, the more."""
    holding = Counter(word for matches in files.values() for word in {match.word for match in matches})
    return {word: math.log(1 + len(files) / (1 + holding[word])) for word in words}


def _score(path: bytes, matches: Sequence[Match], weights: dict[str, float]) -> float:
    counts = Counter(match.word for match in matches)
    named = path.lower().decode("utf-8", "replace")
    return sum(
        weight * ((1 + math.log(counts[word]) if counts[word] else 0) + (IN_PATH if word in named else 0))
        for word, weight in weights.items()
    )


def _densest(matches: Sequence[Match], weights: dict[str, float]) -> int:
    """The line where the run begins that holds most of the words."""

    def held(first: int) -> float:
        return sum(weights.get(w, 0.0) for w in {m.word for m in matches if first <= m.line < first + WINDOW})

    return max((match.line for match in matches), key=lambda line: (held(line), -line))
