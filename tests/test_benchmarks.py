"""The measures of the benchmarks, and that their questions are what they say."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agents import grepped, holds, lines_of
from benchmarks.answers.run import Outcome, is_right, shares
from benchmarks.retrieval.scores import means, ndcg, score
from itza_git.records import Passage
from itza_git.search.question import Question
from tests.repository import Repo

FOLDER = Path(__file__).parent.parent / "benchmarks"
NATURAL = FOLDER / "retrieval" / "natural.jsonl"
HELD_OUT = FOLDER / "retrieval" / "heldout.jsonl"
ANSWERS = FOLDER / "answers" / "questions.jsonl"


def passage(path: str, first: int, last: int) -> Passage:
    return Passage(path.encode(), b"\1" * 20, "python", first, last, "function", "", 0.5)


def questions(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


TARGET = {"path": "a.py", "start": 10, "end": 20}


def test_the_right_file_with_other_lines_is_a_hit_and_no_span() -> None:
    found = score([passage("b.py", 1, 9), passage("a.py", 21, 30)], [TARGET])
    assert found["hit@5"] == 1
    assert found["span@5"] == 0
    assert found["NDCG@10"] == 0
    assert found["NDCG@10 file"] == pytest.approx(1 / math.log2(3))


def test_lines_that_touch_the_last_of_a_target_are_its_span() -> None:
    assert score([passage("a.py", 20, 40)], [TARGET]) == dict.fromkeys(
        ("NDCG@10", "NDCG@10 file", "hit@5", "span@5"), 1.0
    )


def test_the_sixth_passage_is_too_late_for_both_firsts() -> None:
    found = score([*(passage(f"{n}.py", 1, 9) for n in range(5)), passage("a.py", 10, 20)], [TARGET])
    assert (found["hit@5"], found["span@5"]) == (0, 0)
    assert found["NDCG@10"] == pytest.approx(1 / math.log2(7))


def test_further_passages_of_a_file_use_up_ranks_only_where_lines_count() -> None:
    found = score([passage("b.py", 1, 9), passage("b.py", 10, 19), passage("a.py", 10, 20)], [TARGET])
    assert found["NDCG@10"] == pytest.approx(1 / math.log2(4))
    assert found["NDCG@10 file"] == pytest.approx(1 / math.log2(3))


def test_a_passage_that_hits_two_targets_is_credited_once() -> None:
    both = [TARGET, {"path": "a.py", "start": 15, "end": 30}]
    assert ndcg([passage("a.py", 1, 40)], both) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_target_without_lines_is_hit_anywhere_in_its_file() -> None:
    assert score([passage("a.py", 500, 510)], [{"path": "a.py"}])["span@5"] == 1


def test_means_are_by_the_keys_asked_for() -> None:
    right, wrong = score([passage("a.py", 10, 20)], [TARGET]), score([], [TARGET])
    found = means([({"language": "en"}, right), ({"language": "en"}, wrong), ({"language": "es"}, right)], ["language"])
    assert {name: (row["n"], row["span@5"]) for name, row in found.items()} == {"en": (2, 0.5), "es": (1, 1.0)}


def outcome(status: str, answerable: bool = True, citations: int = 0, wrong: int = 0) -> Outcome:
    return Outcome("r", "q", "en", answerable, status, None, True, ("c",) * citations, wrong, 1.0, None)


def test_an_answer_is_right_when_none_of_its_citations_is_wrong() -> None:
    found = shares([outcome("answered", citations=2), outcome("answered", citations=2, wrong=1), outcome("unverified")])
    assert (found["right"], found["some right"]) == (0.5, 1.0)
    assert found["answered"] == pytest.approx(2 / 3)


def test_refusals_are_right_or_false_by_what_the_repository_answers() -> None:
    found = shares([outcome("no_se"), outcome("answered", citations=1), outcome("no_se", answerable=False)])
    assert (found["false NO_SE"], found["right NO_SE"]) == (0.5, 1.0)


def test_without_a_model_only_the_gate_has_figures() -> None:
    assert set(shares([outcome("passages"), outcome("no_se", answerable=False)])) == {
        "passage",
        "false NO_SE",
        "right NO_SE",
    }


def test_a_citation_outside_the_target_lines_is_wrong() -> None:
    assert is_right(passage("a.py", 1, 10), [TARGET])
    assert not is_right(passage("a.py", 21, 22), [TARGET])


@pytest.mark.parametrize("file", [NATURAL, HELD_OUT, ANSWERS], ids=lambda file: file.stem)
def test_every_target_of_a_question_has_its_lines(file: Path) -> None:
    for question in questions(file):
        for target in question["targets"]:
            assert 1 <= target["start"] <= target["end"], question["query"]


@pytest.mark.parametrize("file", [NATURAL, HELD_OUT, ANSWERS], ids=lambda file: file.stem)
def test_no_question_is_there_twice(file: Path) -> None:
    asked = Counter((question["repo"], question["query"]) for question in questions(file))
    assert [once for once, times in asked.items() if times > 1] == []


def test_the_sets_are_as_large_and_as_mixed_as_their_pages_say() -> None:
    natural = Counter(question["language"] for question in questions(NATURAL))
    assert (natural["en"], natural["es"], sum(natural.values())) == (290, 108, 440)
    held_out = Counter(question["language"] for question in questions(HELD_OUT))
    assert held_out == {"en": 39, "es": 12}
    answers = questions(ANSWERS)
    cannot = [question for question in answers if not question["targets"]]
    spanish = [question for question in answers if question["language"] == "es"]
    assert (len(answers), len(cannot), len(spanish)) == (82, 28, 23)


def test_natural_questions_name_no_identifier() -> None:
    both = questions(NATURAL) + questions(HELD_OUT)
    named = {name for question in both for name in Question(question["query"]).names}
    assert named <= {"java.io"}  # what the asker knows from elsewhere


def test_nothing_is_learned_from_the_repositories_held_out() -> None:
    learned = {question["repo"] for question in questions(NATURAL)}
    assert learned.isdisjoint(question["repo"] for question in questions(HELD_OUT))


def test_the_lines_of_an_agents_answer_are_those_behind_numbers() -> None:
    answer = "repo at 1a2b3c4 (HEAD)\n\nsrc/a.py:10-90@1a2b3c4  f\n10\tdef f():\n…\n42\t    x = 1\n\n"
    answer += "b.c:3@1a2b3c4\n3\tint b;"
    assert lines_of(answer) == {"src/a.py": {10, 42}, "b.c": {3}}
    assert holds({42}, {"path": "src/a.py", "start": 40, "end": 50})
    assert not holds({10, 51}, {"path": "src/a.py", "start": 40, "end": 50})
    assert holds({1}, {"path": "src/a.py"})


def test_who_greps_reads_around_the_rarest_word_of_a_question(repo: Repo) -> None:
    repo.write("a.py", "".join(f"common {n}\n" for n in range(100)) + "rare\n")
    repo.commit()
    size, lines = grepped(repo.path, "what is the rare common thing?")
    assert lines == {"a.py": set(range(81, 103))}
    assert size == sum(len(f"common {n}\n") for n in range(80, 100)) + len("rare\n") + len("\n")
