"""The tokenizer: every stored term and every weight depends on it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.words import LONGEST_IDENTIFIER, Counts, Vocabulary, identifiers, split, term_key, terms, words

GOLDEN = {
    "": 13020603013274838756,
    "index": 13034497358598440025,
    "café": 16417751708935026519,
    "日本": 4223062404410717160,
    "\udcff": 11729288294358392782,
}
TEXTS = st.text(st.sampled_from("aAbBzZ09_ .é日本ñ\n-"), max_size=60)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("HTTPServer_v2", ["http", "server", "v", "2"]),
        ("snake_case", ["snake", "case"]),
        ("camelCase", ["camel", "case"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("SCREAMING_CASE", ["screaming", "case"]),
        ("utf8", ["utf", "8"]),
        ("__init__", ["init"]),
        ("x", ["x"]),
        ("ID", ["id"]),
        ("parseURLs", ["parse", "ur", "ls"]),
        ("_", []),
        ("café", ["café"]),
        ("CAFÉ", ["café"]),
        ("größe", ["grösse"]),
        ("año_nuevo", ["año", "nuevo"]),
        ("日本語", ["日本", "本語"]),
        ("日", ["日"]),
        ("検索Engine", ["検索", "engine"]),
        ("한국어", ["한국", "국어"]),
    ],
)
def test_an_identifier_falls_into_lower_case_words(identifier: str, expected: list[str]) -> None:
    assert split(identifier) == expected


def test_an_identifier_begins_after_digits_and_ends_at_punctuation() -> None:
    assert identifiers("a.b->c 3d x2 'y' naïve") == ["a", "b", "c", "d", "x2", "y", "naïve"]


def test_a_number_alone_is_no_word() -> None:
    assert words("404 12 3.14") == []


def test_the_longest_identifier_still_counts_and_a_longer_one_does_not() -> None:
    assert words("a" * LONGEST_IDENTIFIER) == ["a" * LONGEST_IDENTIFIER]
    assert words("a" * (LONGEST_IDENTIFIER + 1)) == []


def test_a_compound_is_kept_beside_its_words() -> None:
    assert terms("rateLimit plain") == ["rate", "limit", "ratelimit", "plain"]


@pytest.mark.parametrize("spelling", ["http_server_v2", "HttpServerV2", "HTTP_SERVER_V2", "httpServerV2"])
def test_all_spellings_of_a_name_meet_in_one_compound(spelling: str) -> None:
    assert "httpserverv2" in terms(spelling)


def test_the_key_of_a_term_never_changes() -> None:
    assert {term: term_key(term) for term in GOLDEN} == GOLDEN


@given(TEXTS)
def test_words_are_the_words_of_the_identifiers(text: str) -> None:
    assert words(text) == [word for name in identifiers(text) for word in split(name)]
    assert all(word == word.casefold() and word for word in words(text))


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=3))
def test_counting_equals_counting_naively(texts: list[str], before: list[str]) -> None:
    vocabulary = Vocabulary()
    vocabulary.count(before)  # what a vocabulary has met before changes nothing
    bags = vocabulary.count(texts)
    assert bags.size == len(texts)
    assert _counters(bags.words, vocabulary, len(texts)) == [Counter(words(text)) for text in texts]
    assert _counters(bags.compounds, vocabulary, len(texts)) == [Counter(_compounds(text)) for text in texts]
    assert [int(key) for key in vocabulary.keys] == [term_key(term) for term in vocabulary.terms]


@given(st.lists(TEXTS, max_size=6))
def test_counts_are_ordered_by_text_and_name_each_pair_once(texts: list[str]) -> None:
    for counts in (bags := Vocabulary().count(texts)).words, bags.compounds:
        pairs = list(zip(counts.text.tolist(), counts.term.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)
        assert [text for text, _ in pairs] == sorted(text for text, _ in pairs)


def _compounds(text: str) -> list[str]:
    return ["".join(split(name)) for name in identifiers(text) if len(split(name)) > 1]


def _counters(counts: Counts, vocabulary: Vocabulary, size: int) -> list[Counter[str]]:
    result: list[Counter[str]] = [Counter() for _ in range(size)]
    for text, term, count in zip(counts.text.tolist(), counts.term.tolist(), counts.count.tolist(), strict=True):
        result[text][vocabulary.terms[term]] = count
    return result
