"""The forms of an English word: what is asked in one (`copying`) stands in the code in another (`copy`, `copied`)."""

from __future__ import annotations

from functools import lru_cache

# Longest first.
_ENDINGS = (
    "ations", "ation", "ating", "ators", "ator", "ings", "ions", "ing", "ion", "ers", "ies", "ed", "er", "es", "or",
    "ly", "s", "e", "y",
)  # fmt: skip
_SHORTEST_STEM = 4
_COMMON = ("", "s", "e", "es", "ed", "er", "ers", "ing", "or", "ion", "ions", "ation", "y", "ies", "able")
_VOWELS = frozenset("aeiou")
_SHORTEST_WORD = 3


@lru_cache(1 << 14)
def stem(word: str) -> str:
    """The word without a common ending, at least four letters: `routing`, `routes` and `router` are `rout`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def forms(word: str) -> list[str]:
    """Other forms that a word may have; those that no one writes are found nowhere."""
    if len(word) < _SHORTEST_WORD or not (word.isascii() and word.isalpha()):
        return []
    beginnings = [stem(word)]
    last, before = beginnings[0][-1], beginnings[0][-2]
    if last in "iy":  # copies, copying
        beginnings.append(beginnings[0][:-1] + ("y" if last == "i" else "i"))
    elif last == before:  # stopping, stop
        beginnings.append(beginnings[0][:-1])
    elif last not in _VOWELS and before in _VOWELS:  # stop, stopping
        beginnings.append(beginnings[0] + last)
    found = [beginning + ending for beginning in beginnings for ending in _COMMON]
    return [form for form in dict.fromkeys(found) if form != word]
