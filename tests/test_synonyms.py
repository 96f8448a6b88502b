"""Who asks has other words than the code: those that are translated alike are looked for too."""

from __future__ import annotations

import pytest

from itza_git.search import languages
from itza_git.search.question import SYNONYM_WEIGHT, Question
from tests.counting import Index
from tests.repository import Repo
from tests.test_search import find, places
from training.synonyms import Counts, synonyms, together
from training.translations import Aligned


@pytest.mark.parametrize(
    ("word", "other"),
    [("answer", "response"), ("answers", "reply"), ("choose", "select"), ("job", "task"), ("folders", "directory")],
)
def test_other_words_for_a_word_in_any_of_its_forms(word: str, other: str) -> None:
    assert other in languages.synonyms(word)


def test_a_word_without_others_has_none() -> None:
    assert languages.synonyms("idempotency") == []


def test_words_that_stand_beside_one_another_are_not_for_one_another() -> None:
    assert "party" not in languages.synonyms("third")
    assert "try" not in languages.synonyms("again")


def test_a_question_in_english_words_is_asked_with_others_too_and_they_weigh_less() -> None:
    terms = Question("How is an answer chosen?").terms
    assert terms["answer"] == 1.0
    assert 0 < terms["response"] < SYNONYM_WEIGHT


@pytest.mark.parametrize("text", ["answer", "answer chosen", "¿Cómo se elige el answer?", "`answer`"])
def test_key_words_and_names_and_translations_are_asked_as_they_are(text: str) -> None:
    assert "reply" not in Question(text).terms


def test_a_question_finds_code_that_says_it_in_another_word(repo: Repo) -> None:
    repo.write("src/one.py", "def select_response(found):\n    return found[0]\n")
    repo.write("src/two.py", "def open_store(found):\n    return found[1]\n")
    repo.commit()
    assert places(find(Index(repo.path), "How is an answer chosen?").passages)[0] == "src/one.py"


def counts(language: str, **pairs: str) -> Counts:
    return Counts(language, [Aligned(word, one, 0.5, 5.0) for word, many in pairs.items() for one in many.split()])


def alike(pair: str) -> list[Counts]:
    return [counts("es", palabra=pair), counts("de", wort=pair), counts("fr", mot=pair)]


def test_what_three_languages_translate_alike_is_a_synonym() -> None:
    assert synonyms(alike("answer response"), [], {}) == {"answer": ["response"], "response": ["answer"]}


def test_what_two_languages_alone_translate_alike_is_none() -> None:
    assert synonyms([*alike("answer response")[:2], counts("fr", nom="name")], [], {}) == {}


def test_what_stands_in_the_same_messages_is_none() -> None:
    said = [["full", "name"]] * 3 + [[f"word{n}", f"other{n}"] for n in range(40)]
    assert together([("full", "name")], said)["full", "name"] > 5
    assert synonyms(alike("full name"), said, {}) == {}
    assert synonyms(alike("full name"), [], {}) != {}


def test_the_form_that_code_has_stands_for_all() -> None:
    known = {"select": 0, "selected": 1, "choose": 2}
    assert synonyms(alike("selected select choose"), [], known)["choose"] == ["select"]
