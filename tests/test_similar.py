"""`git itza similar`: what is like a passage comes first, copies are marked, a wrong place is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.errors import UsageError
from itza_git.results import Similar
from tests.command import Run
from tests.repository import Repo

RETRY = '''\
def fetch_with_retry(url, attempts=5):
    """Fetch a page, and try again when the connection fails."""
    for attempt in range(attempts):
        try:
            return connect(url).read()
        except ConnectionError:
            sleep(2 ** attempt)
    raise FetchError(url)
'''
SEND = (
    RETRY.replace("fetch_with_retry", "send_with_retry").replace("Fetch a page", "Send a form").replace("read", "send")
)
COLOURS = "def to_hex(name):\n" + "".join(
    f'    if name == "shade {n}":\n        return "#{n:06x}"\n' for n in range(20)
)


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/net.py", f"{RETRY}\n\n{COLOURS}")
    repo.write("src/form.py", SEND)
    repo.write("old/net.py", RETRY)
    repo.write("paint.js", "export function paint(canvas) {\n  canvas.fill();\n}\n")
    repo.write("logo.bin", b"\0")
    repo.commit()
    return repo


def like(repo: Repo, path: str, first: int, last: int | None = None, **options: object) -> Similar:
    with Itza.open(repo.path) as itza:
        return itza.similar(path, first, last, **options)  # type: ignore[arg-type]


def places(found: Similar) -> list[str]:
    return [hit.citation.rpartition("@")[0] for hit in found.hits]


def test_a_copy_comes_first_then_what_is_like_it_and_never_the_passage_itself(project: Repo) -> None:
    found = like(project, "src/net.py", 4)
    assert found.of.passage.symbol == "fetch_with_retry"
    assert places(found)[:2] == ["old/net.py:1-8", "src/form.py:1-8"]
    assert [found.is_copy(hit) for hit in found.hits[:2]] == [True, False]
    assert not any(place.startswith("src/net.py:1-") for place in places(found))
    assert found.hits[0].passage.score > found.hits[1].passage.score > 0


def test_a_range_takes_in_every_definition_that_it_touches(project: Repo) -> None:
    found = like(project, "src/net.py", 8, 12)
    assert found.of.passage.symbol == "fetch_with_retry, to_hex"
    assert (found.of.passage.first, found.of.passage.last) == (1, 29)
    assert not any(
        place.startswith("src/net.py") and hit.passage.first <= 29
        for place, hit in zip(places(found), found.hits, strict=True)
    )


def test_a_definition_that_was_cut_into_pieces_is_compared_whole(repo: Repo) -> None:
    steps = "".join(f"    total += step_{n}(total, {n})\n    log_{n}(total)\n" for n in range(120))
    repo.write("long.py", f"def compute(total):\n{steps}    return total\n")
    repo.write("again.py", f"def compute(total):\n{steps}    return total\n")
    repo.commit()
    found = like(repo, "long.py", 100)
    assert (found.of.passage.first, found.of.passage.last) == (1, 242)
    assert {hit.passage.path for hit in found.hits} == {b"again.py"}


def test_a_long_comment_belongs_to_its_definition(repo: Repo) -> None:
    repo.write("long.py", "# A remark.\n" * 50 + "def long():\n    return 1\n")
    repo.commit()
    of = like(repo, "long.py", 3).of.passage
    assert (of.first, of.last, of.kind) == (1, 52, "function")


def test_filters_choose_what_is_found_and_not_what_it_is_like(project: Repo) -> None:
    assert places(like(project, "src/net.py", 4, paths=["old"])) == ["old/net.py:1-8"]
    with pytest.raises(UsageError, match="no file of HEAD matches --lang go"):
        like(project, "src/net.py", 4, languages=["go"])


def test_any_tree_can_be_asked(project: Repo) -> None:
    project.git("rm", "--quiet", "-r", "old")
    project.commit()
    project.write("src/new.py", RETRY)
    assert places(like(project, "src/net.py", 4))[0] == "src/form.py:1-8"
    assert places(like(project, "src/net.py", 4, rev="HEAD~1"))[0] == "old/net.py:1-8"
    uncommitted = like(project, "src/net.py", 4, worktree=True)
    assert uncommitted.hits[0].citation == "src/new.py:1-8@worktree"


def test_trees_that_are_not_asked_change_nothing(project: Repo) -> None:
    before = like(project, "src/net.py", 4)
    project.git("checkout", "--quiet", "-b", "noise")
    for number in range(20):
        project.write(f"noise/{number}.py", RETRY.replace("attempt", f"attempt_{number}"))
    project.commit()
    like(project, "src/net.py", 4)
    project.git("checkout", "--quiet", "main")
    assert like(project, "src/net.py", 4) == before


@pytest.mark.parametrize(
    ("place", "told", "hint"),
    [
        ((" src/nett.py", 3, None), "is not in HEAD", "git itza similar src/net.py:3"),
        (("lib/form.py", 3, None), "lib/form.py is not in HEAD", "git itza similar src/form.py:3"),
        (("src/net.py", 900, None), "src/net.py has 51 lines at HEAD, not 900", "git itza similar src/net.py:51"),
        (("src/net.py", 3, 900), "src/net.py has 51 lines at HEAD, not 900", "git itza similar src/net.py:51"),
        (("src/net.py", 9, 3), "src/net.py has no lines 9-3", "git itza similar src/net.py:1"),
        (("logo.bin", 1, None), "logo.bin is not searched: binary", "git itza index -v lists what is skipped, and why"),
    ],
)
def test_a_wrong_place_is_told_with_the_right_one(
    project: Repo, place: tuple[str, int, int | None], told: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        like(project, *place)
    assert raised.value.hint == hint


# The command


def test_the_command_prints_citations_that_hold(project: Repo, run: Run) -> None:
    project.write("old/other.py", RETRY.replace("attempts=5", "attempts=6"))
    project.commit()
    done = run(project, "similar", "src/net.py:4", "-v")
    assert (done.code, done.err) == (0, "")
    first, copy, near, *_ = done.out.split("\n\n")
    assert "  (nearly a copy)" in near.partition("\n")[0]
    assert first.startswith("like src/net.py:1-10@") and first.endswith("  fetch_with_retry")
    assert "  (a copy)" in copy.partition("\n")[0] and "cosine=" in copy
    assert run(project, "show", copy.split()[0]).out.split("\n")[0].endswith("def fetch_with_retry(url, attempts=5):")


def test_a_citation_names_its_own_tree(project: Repo, run: Run) -> None:
    commit = project.git("rev-parse", "HEAD")
    project.git("rm", "--quiet", "-r", "src")
    project.commit()
    told = run(project, "similar", f"src/net.py:4@{commit[:8]}", "--json").json
    assert (told["schema"], told["commit"], told["of"]["symbol"]) == (1, commit, "fetch_with_retry")
    hit = told["hits"][0]
    assert (hit["path"], hit["copy"], hit["commit"]) == ("old/net.py", True, commit)
    assert run(project, "similar", f"src/net.py:4@{commit[:8]}", "--rev", "HEAD").code == 0
    done = run(project, "similar", f"src/net.py:4@{commit[:8]}", "--branch", "main")
    assert done.code == 2 and "name two trees" in done.err


def test_a_citation_and_an_option_that_name_two_trees_are_refused(project: Repo, run: Run) -> None:
    old = project.git("rev-parse", "HEAD")
    project.write("new.py", "new = 1\n")
    project.commit()
    for place, option, named in (
        (f"src/net.py:4@{old[:8]}", ("--rev", "main"), "--rev"),
        ("src/net.py:4@HEAD~1", ("--rev", "HEAD~0"), "--rev"),
        ("src/net.py:4@worktree", ("--rev", "HEAD~1"), "--rev"),
        (f"src/net.py:4@{old[:8]}", ("--branch", "main"), "--branch"),
        (f"src/net.py:4@{old[:8]}", ("--worktree",), "--worktree"),
    ):
        done = run(project, "similar", place, *option)
        assert done.code == 2
        assert f"the citation and {named} name two trees; give one of them" in done.error[0]
        assert done.error[1].startswith("hint: ")
    assert run(project, "similar", "src/net.py:4@HEAD~1", "--rev", "nowhere").code == 2


def test_a_citation_and_an_option_that_name_one_tree_agree(project: Repo, run: Run) -> None:
    old = project.git("rev-parse", "HEAD")
    project.write("new.py", "new = 1\n")
    project.commit()
    assert run(project, "similar", f"src/net.py:4@{old[:8]}", "--rev", "HEAD~1", "--json").json["commit"] == old
    assert run(project, "similar", "src/net.py:4@worktree", "--worktree").code == 0


def test_a_path_is_taken_from_here_and_from_the_top(project: Repo, run: Run) -> None:
    here = project.path / "src"
    assert run(here, "similar", "net.py:4").out == run(here, "similar", "src/net.py:4").out
    assert run(here, "similar", "../paint.js:1").code == 1


def test_a_path_of_odd_bytes_can_be_asked(project: Repo, run: Run) -> None:
    project.write(b"a b\xff.py", RETRY)
    project.commit()
    told = run(project, "similar", '"a b\\377.py":4', "--json").json
    assert told["of"]["path"] == '"a b\\377.py"'
    assert told["hits"][0]["copy"]


def test_nothing_alike_ends_with_1(project: Repo, run: Run) -> None:
    done = run(project, "similar", "paint.js:2")
    assert done.code == 1
    assert done.error == [f"nothing is like paint.js:1-3@{project.git('rev-parse', '--short', 'HEAD')}"]


@pytest.mark.parametrize("place", ["", "src/net.py", "src/net.py:", "src/net.py:0", ":3", "src/net.py:a"])
def test_what_is_no_place_is_refused(project: Repo, run: Run, place: str) -> None:
    done = run(project, "similar", place)
    assert done.code == 2
    assert done.error[-1].startswith("hint: ")


def test_a_bare_repository_is_asked_too(project: Repo, tmp_path: Path, run: Run) -> None:
    subprocess.run(["git", "clone", "--quiet", "--bare", project.path, tmp_path / "bare"], check=True)
    assert "old/net.py:1-8@" in run(tmp_path / "bare", "similar", "src/net.py:4").out


@pytest.mark.parametrize("revision", ["main", "HEAD", "v1.0", "main@{0}", "HEAD^{/pool: first}"])
def test_a_place_may_name_any_revision(project: Repo, run: Run, revision: str) -> None:
    project.git("tag", "v1.0")
    project.git("commit", "--quiet", "--allow-empty", "-m", "pool: first")
    commit = project.git("rev-parse", revision)
    for lines in ("4", "4-5"):
        told = run(project, "similar", f"src/net.py:{lines}@{revision}", "--json").json
        assert told["commit"] == commit
    assert run(project, "show", f"src/net.py:4@{revision}").code == 0


def test_a_place_at_no_revision_is_told(project: Repo, run: Run) -> None:
    done = run(project, "similar", "src/net.py:4@nowhere")
    assert done.code == 2 and "nowhere" in done.error[0]
    assert run(project, "similar", "nonsense@main").error[0] == "error: not a place: 'nonsense@main'"


@pytest.mark.parametrize("command", ["similar", "show", "overview"])
@pytest.mark.parametrize("place", [[], ["src/net.py:4"]])
def test_an_unknown_option_is_told_as_one(project: Repo, run: Run, command: str, place: list[str]) -> None:
    for arguments in (["--foo", *place], [*place, "--foo"]):
        done = run(project, command, *arguments)
        assert done.code == 2
        assert done.error[0].startswith("error: No such option") and "--foo" in done.error[0]
        assert done.error[1] == f"hint: git itza {command} -h"


def test_a_place_may_begin_with_a_dash(project: Repo, run: Run) -> None:
    project.write("-odd.py", RETRY)
    project.commit()
    commit = project.git("rev-parse", "HEAD")
    for arguments in (["-odd.py:4"], ["--", "-odd.py:4"], ["-k", "3", "-odd.py:4"], ["-odd.py:4", "-k", "3"]):
        assert run(project, "similar", "--json", *arguments).json["of"]["path"] == "-odd.py"
    for arguments in ([f"-odd.py:4@{commit}"], ["--", f"-odd.py:4@{commit}"], [f"-odd.py:4@{commit}", "--json"]):
        assert run(project, "show", *arguments).code == 0


def test_only_what_takes_a_range_offers_one(project: Repo, run: Run) -> None:
    for command, takes in {"ask": True, "search": True, "similar": False, "overview": False, "index": False}.items():
        assert ("A..B" in run(project, command, "-h").out) == takes
