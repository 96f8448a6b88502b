"""What `search` prints for other programs: the forms are fixed to the letter."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from itza_git.excerpts import fitting, shortened
from tests.command import Run, itza
from tests.repository import Repo

HEAD = "import time\nimport random\n" + "COUNT = 3\n" * 30
DOCSTRING = '    """Try a request again when the server is busy."""\n'
RETRY = "def retry(times):\n" + DOCSTRING + "    time.sleep(random.random())\n" * 22 + "    return times\n"
OTHER = "def unrelated():\n" + "    print('something else')\n" * 24 + "    return None\n"
SOURCE = f"{HEAD}{RETRY}{OTHER}"
QUESTION = "try a request again when the server is busy"
BOTH = "try a request again or print something unrelated"


@pytest.fixture
def client(repo: Repo) -> Repo:
    repo.write("src/http.py", SOURCE)
    repo.commit()
    return repo


def cited(repo: Repo) -> str:
    return repo.git("rev-parse", "--short", "HEAD")


def test_vimgrep_is_path_line_column_text_of_the_line_that_holds_most_of_the_question(client: Repo, run: Run) -> None:
    done = run(client, "search", "-k1", "--format", "vimgrep", QUESTION)
    assert done.out == 'src/http.py:34:8:    """Try a request again when the server is busy."""\n'


def test_paths_are_named_from_the_current_folder_as_git_grep_does(client: Repo, run: Run) -> None:
    assert run(client.path / "src", "search", "--format", "paths", "retry a request").out == "http.py\n"
    (client.path / "docs").mkdir()
    assert run(client.path / "docs", "search", "--format", "paths", "retry a request").out == "../src/http.py\n"


def test_each_path_comes_once(client: Repo, run: Run) -> None:
    found = run(client, "search", "--json", BOTH).json
    assert len(found["hits"]) > 1
    assert run(client, "search", "--format", "paths", BOTH).out == "src/http.py\n"


@pytest.mark.skipif(os.name == "nt", reason="such names cannot exist there")
def test_an_odd_path_is_quoted_or_with_a_nul_behind_it_as_it_is(repo: Repo) -> None:
    repo.write("a\nb.py", SOURCE)
    repo.commit()
    assert itza(repo, "search", "--format", "paths", "retry").out == '"a\\nb.py"\n'
    assert itza(repo, "search", "--format", "paths", "-0", "retry").out == "a\nb.py\0"


def test_jsonl_is_the_hits_of_json_a_line_each(client: Repo, run: Run) -> None:
    hits = run(client, "search", "--json", "retry a request").json["hits"]
    lines = run(client, "search", "--format", "jsonl", "retry a request").out.splitlines()
    assert list(map(json.loads, lines)) == hits
    assert list(hits[0]) == [
        "path", "start_line", "end_line", "commit", "blob", "citation", "language", "symbol", "kind", "score", "text",
    ]  # fmt: skip


def test_context_shows_the_whole_passage_and_the_lines_around_it(client: Repo, run: Run) -> None:
    done = run(client, "search", "-k1", "-B1", "-A2", QUESTION)
    lines = done.out.splitlines()
    assert lines[0] == f"src/http.py:33-57@{cited(client)}  retry"
    assert lines[1:4] == ["  32- COUNT = 3", "  33  def retry(times):", f"  34  {RETRY.splitlines()[1]}"]
    assert lines[-3:] == ["  57      return times", "  58- def unrelated():", "  59-     print('something else')"]


def test_context_stops_at_the_ends_of_the_file_and_is_in_json_only_when_asked_for(client: Repo, run: Run) -> None:
    hit = run(client, "search", "-k1", "-C99", "--json", QUESTION).json["hits"][0]
    assert hit["before"] == HEAD.splitlines()
    assert hit["after"] == OTHER.splitlines()
    assert "before" not in run(client, "search", "-k1", "--json", "retry").json["hits"][0]


def test_max_chars_bounds_the_passages_and_says_how_many_are_left_out(client: Repo, run: Run) -> None:
    everything = run(client, "search", "-C0", BOTH)
    first, rest = everything.out.split("\n\nsrc/", 1)
    done = run(client, "search", "-C0", "--max-chars", str(len(first)), BOTH)
    assert done.out == first + "\n"
    assert done.error == ["note: 2 more passages did not fit into --max-chars"]
    assert rest.startswith("http.py:")


def test_a_passage_that_is_cut_cites_just_the_lines_that_are_left(client: Repo, run: Run) -> None:
    hit = run(client, "search", "-k1", "--json", "--max-chars", "100", QUESTION).json["hits"][0]
    assert hit["text"] == "\n".join(RETRY.split("\n")[:2])
    assert hit["citation"] == f"src/http.py:33-34@{cited(client)}"


def test_there_is_always_one_line_however_little_room_there_is(client: Repo, run: Run) -> None:
    hit = run(client, "search", "-k1", "--json", "--max-chars", "1", "retry a request").json["hits"][0]
    assert hit["start_line"] == hit["end_line"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--json", "--format", "paths"], "--json and --format paths cannot both be given"),
        (["-0"], "-0 goes with --format paths"),
        (["--max-chars", "0"], "Invalid value for '--max-chars': 0 is not in the range x>=1."),
    ],
)
def test_options_that_do_not_go_together_are_named(client: Repo, run: Run, args: list[str], told: str) -> None:
    done = run(client, "search", *args, "retry")
    assert (done.code, done.error[0]) == (2, f"error: {told}")


def test_nothing_found_prints_nothing_for_programs_and_ends_with_1(client: Repo, run: Run) -> None:
    for form in ("jsonl", "vimgrep", "paths"):
        done = run(client, "search", "--format", form, "zyzzyva quokka")
        assert (done.code, done.out) == (1, "")


def test_shortened_hits_keep_whole_lines(client: Repo) -> None:
    from itza_git import Itza

    with Itza.open(Path(client.path)) as opened:
        hit = opened.search("retry a request").hits[0]
    for lines in range(1, 26):
        part = shortened(hit, lines)
        assert part.text == "\n".join(hit.text.split("\n")[:lines])
        assert part.passage.last - part.passage.first == part.text.count("\n")
    assert fitting([hit], 10**6, lambda one: len(one.text)) == [hit]
    assert fitting([], 10, lambda one: len(one.text)) == []


def test_lines_that_may_not_be_those_of_the_working_tree_are_told(client: Repo, run: Run) -> None:
    client.write("src/http.py", SOURCE + "\n# another end\n")
    client.commit()
    client.git("branch", "topic", "HEAD~1")
    for form in ("vimgrep", "paths"):
        for tree in (["--rev", "HEAD~1"], ["--branch", "topic"], ["--rev", "HEAD~1..HEAD"]):
            done = run(client, "search", "-k1", "--format", form, *tree, QUESTION)
            assert "those of the working tree may be others" in done.err, tree
        assert "working tree" not in run(client, "search", "-k1", "--format", form, "--branch", "main", QUESTION).err
    assert "working tree" not in run(client, "search", "-k1", "--rev", "HEAD~1", QUESTION).err


def test_the_number_of_passages_has_the_name_that_other_programs_give_it(client: Repo, run: Run) -> None:
    assert run(client, "search", "-n1", QUESTION).out == run(client, "search", "-k1", QUESTION).out
