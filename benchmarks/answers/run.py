"""Answers and refusals over real repositories, with any model server or with none.

    python -m benchmarks.answers.run QUESTIONS DIR [--server ollama|openai --model NAME [--base URL]] [--json FILE]

QUESTIONS is a JSON-lines file of {"repo", "query", "language", "targets"}, where a target is {"path", "start", "end"};
a question without targets is one that its repository does not answer. DIR holds one git repository a name. Each is
asked through `Itza.ask`. Without a model only the gate is measured: whether retrieval by itself refuses.

Of the questions that can be answered: `passage` have a right one among the first five passages, `answered` got an
answer; of those answers `right` cite nothing but lines that overlap a right passage, and `some right` at least one such
place; `unverified` had no sentence that a passage supports, `false NO_SE` were refused. Of the questions that cannot be
answered, `right NO_SE` were refused. A citation is judged, never the sentence: a right place can be misread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from itza_git import Itza
from itza_git.answering.answer import Cited
from itza_git.records import Passage
from itza_git.results import AskResult

FIRST = 5
COLUMNS = ("passage", "answered", "right", "some right", "unverified", "false NO_SE", "right NO_SE")

Question = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of a question. status is the answer's, `passages` where the gate let it through to no model."""

    repo: str
    query: str
    language: str
    answerable: bool
    status: str
    no_se_by: str | None
    passage: bool
    citations: tuple[str, ...]
    wrong: int
    seconds: float
    note: str | None


def load(path: Path) -> dict[str, list[Question]]:
    """The questions by repository."""
    found: dict[str, list[Question]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        question = json.loads(line)
        found[question["repo"]].append(question)
    return found


def outcomes(
    folder: Path, questions: Sequence[Question], use_model: bool, settings: dict[str, Any]
) -> Iterator[Outcome]:
    """Ask one repository its questions."""
    with Itza.open(folder, **settings) as itza:
        itza.refresh()
        for question in questions:
            started = time.perf_counter()
            asked = itza.ask(question["query"], use_model=use_model)
            yield judged(itza, question, asked, time.perf_counter() - started)


def judged(itza: Itza, question: Question, asked: AskResult, seconds: float) -> Outcome:
    """The outcome of one question."""
    targets = question["targets"]
    cited = itza.citations(asked)
    return Outcome(
        question["repo"],
        question["query"],
        question["language"],
        bool(targets),
        asked.answer.status,
        asked.answer.no_se_by,
        any(is_right(hit.passage, targets) for hit in asked.result.hits[:FIRST]),
        tuple(rendered for _, rendered in cited),
        sum(not is_right(one, targets) for one, _ in cited),
        round(seconds, 2),
        asked.note,
    )


def is_right(place: Cited | Passage, targets: Sequence[dict[str, Any]]) -> bool:
    """Whether lines overlap those of a target."""
    path = place.path.decode("utf-8", "replace")
    return any(path == t["path"] and place.first <= t["end"] and t["start"] <= place.last for t in targets)


def shares(asked: Sequence[Outcome]) -> dict[str, float]:
    """The columns of the table, each a share; a column that nothing can be said of is absent."""
    can = [one for one in asked if one.answerable]
    spoke = any(one.status in ("answered", "unverified") for one in asked)
    told = can if spoke else []  # without a model nothing was said
    cannot = [one for one in asked if not one.answerable]
    answered = [one for one in can if one.status == "answered"]
    found = {
        "passage": [one.passage for one in can],
        "answered": [one.status == "answered" for one in told],
        "right": [one.wrong == 0 for one in answered],
        "some right": [one.wrong < len(one.citations) for one in answered],
        "unverified": [one.status == "unverified" for one in told],
        "false NO_SE": [one.status == "no_se" for one in can],
        "right NO_SE": [one.status == "no_se" for one in cannot],
    }
    return {name: statistics.mean(values) for name, values in found.items() if values}


def table(asked: Sequence[Outcome]) -> str:
    """The shares of all questions and by language, and the seconds a question."""
    lines = [f"| | can, cannot | {' | '.join(COLUMNS)} | seconds |", f"|---|---|{'---|' * len(COLUMNS)}---|"]
    for name in ("all", *sorted({one.language for one in asked})):
        ones = [one for one in asked if name in ("all", one.language)]
        can = sum(one.answerable for one in ones)
        row = shares(ones)
        cells = [f"{row[column]:.2f}" if column in row else "-" for column in COLUMNS]
        seconds = statistics.median(one.seconds for one in ones)
        lines.append(f"| {name} | {can}, {len(ones) - can} | {' | '.join(cells)} | {seconds:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--server", choices=("ollama", "openai"), default="ollama")
    parser.add_argument("--base", help="where it is: a host for ollama, a URL with /v1 for openai")
    parser.add_argument("--model", help="who answers; without it only the gate is measured")
    parser.add_argument("--json", type=Path, help="write what became of each question to this file")
    arguments = parser.parse_args()
    settings = {"server": arguments.server}
    if arguments.model:
        settings["answer_model"] = arguments.model
    if arguments.base:
        settings["ollama_host" if arguments.server == "ollama" else "openai_base"] = arguments.base
    asked: list[Outcome] = []
    for name, questions in load(arguments.questions).items():
        if arguments.repo and name not in arguments.repo:
            continue
        if not (arguments.dir / name).is_dir():
            print(f"{name}: absent, passed over")
            continue
        asked += outcomes(arguments.dir / name, questions, bool(arguments.model), settings)
    print(f"{arguments.model or 'no model: the gate alone'}\n\n{table(asked)}")
    refused = Counter(one.no_se_by for one in asked if one.status == "no_se")
    print("\nNO_SE: " + ", ".join(f"{number} by {by}" for by, number in refused.items()))
    for note, number in Counter(one.note for one in asked if one.note).items():
        print(f"{number} x {note}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in asked], ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
