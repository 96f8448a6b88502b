"""`--rev A..B`: questions about a change, answered from both sides, each cited at its own commit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from itza_git import Itza
from itza_git.ranges import Range, range_of
from itza_git.results import SearchResult
from tests.asking import asking
from tests.command import Run, itza
from tests.counting import Counting
from tests.model_server import Script, serving
from tests.repository import Repo

STEPS = "".join(f"    step_{chr(97 + number)} = times\n" for number in range(26))
LIMIT = f'''def retry_limit(times):
    """How often a failed request is repeated."""
{STEPS}    return min(times, 10)


def backoff_seconds(attempt):
    """How long to wait before the next attempt."""
{STEPS}    return 2 ** attempt
'''
LOWER = LIMIT.replace("times, 10", "times, 3")
CACHE = '''class Cache:
    """Keeps what was asked for."""

    def evict(self, key):
        del self.entries[key]
'''
QUESTION = "how did the retry limit change?"


@pytest.fixture
def project(repo: Repo) -> Repo:
    """v1 has a limit of ten and a cache; v2 a limit of three, no cache, and colours."""
    repo.write("src/retry.py", LIMIT)
    repo.write("src/cache.py", CACHE)
    repo.write("src/same.py", "def retry_limit_of_nobody():\n    return 0\n")
    repo.commit("Begin")
    repo.git("tag", "v1")
    repo.write("src/retry.py", LOWER)
    repo.commit("Lower the retry limit\n\nThe gateway was busy.")
    (repo.path / "src/cache.py").unlink()
    repo.write("src/colours.py", "def to_hex(rgb):\n    return '#%02x%02x%02x' % rgb\n")
    repo.commit("Colours instead of a cache")
    repo.git("tag", "v2")
    repo.commit("Later")
    return repo


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(Script()) as script:
        yield script


def search(repo: Repo, query: str, rev: str, **options: object) -> SearchResult:
    with Itza.open(repo.path, {}) as opened:
        return opened.search(query, rev=rev, **options)  # type: ignore[arg-type]


def cited(repo: Repo, result: SearchResult) -> list[str]:
    """`path:first-last@tag` of each hit, after its text was held against what git says of that commit."""
    tags = {repo.git("rev-parse", f"{tag}^{{commit}}"): tag for tag in repo.git("tag").split()}
    found = []
    for hit in result.hits:
        path = hit.passage.path.decode()
        lines = repo.git("show", f"{hit.commit}:{path}").split("\n")
        assert hit.text.split("\n") == lines[hit.passage.first - 1 : hit.passage.last]
        found.append(f"{path}:{hit.passage.first}-{hit.passage.last}@{tags[hit.commit]}")
    return found


# What is a range


@pytest.mark.parametrize(
    ("rev", "expected"),
    [
        ("v1..v2", Range("v1", "v2", False)), ("v1...v2", Range("v1", "v2", True)),
        ("v1..", Range("v1", "HEAD", False)),
        ("..v2", Range("HEAD", "v2", False)), ("HEAD@{2}..HEAD~1", Range("HEAD@{2}", "HEAD~1", False)),
        ("v1^{/fix ..}..v2", Range("v1^{/fix ..}", "v2", False)), ("v1.0..v1.1", Range("v1.0", "v1.1", False)),
        ("HEAD", None), ("v1.0", None), (":/fix a..b", None), ("v1^{/a..b}", None), ("a....b", None),
    ],
)  # fmt: skip
def test_what_is_a_range(rev: str, expected: Range | None) -> None:
    assert range_of(rev) == expected


@pytest.mark.parametrize(
    "command",
    [
        ["index", "v1..v2"],
        ["verify", "src/same.py", "--rev", "v1..v2"],
        ["show", "src/retry.py:1@v1..v2"],
        ["similar", "src/retry.py:1", "--rev", "v1..v2"],
    ],
)
def test_what_asks_for_one_revision_says_so(project: Repo, run: Run, command: list[str]) -> None:
    done = run(project, *command)
    assert (done.code, done.error) == (
        2, ["error: v1..v2 is a range, and one revision is asked for here", "hint: give one of the two: v2"],
    )  # fmt: skip


def test_a_side_that_is_no_commit_is_named(project: Repo, run: Run) -> None:
    assert run(project, "search", "x", "--rev", "v1..nope").error[0] == "error: unknown revision 'nope'"
    assert run(project, "search", "x", "--rev", "v1..v2", "--worktree").code == 2


# What is found


def test_a_change_is_cited_on_both_sides(project: Repo) -> None:
    result = search(project, QUESTION, "v1..v2")
    assert cited(project, result)[:2] == ["src/retry.py:1-31@v2", "src/retry.py:1-60@v1"]
    assert not [one for one in cited(project, result) if "same.py" in one]
    assert result.commit == project.git("rev-parse", "v2")
    assert result.base == project.git("rev-parse", "v1")


def test_lines_that_changed_come_before_those_around_them(project: Repo) -> None:
    found = cited(project, search(project, "how long to wait before the next attempt", "v1..v2"))
    assert found.index("src/retry.py:1-31@v2") < found.index("src/retry.py:32-60@v2")
    assert "src/retry.py:32-60@v1" not in found


def test_what_is_gone_is_cited_where_it_was(project: Repo) -> None:
    assert cited(project, search(project, "evict a key of the cache", "v1..v2"))[0] == "src/cache.py:1-5@v1"
    assert cited(project, search(project, "evict a key of the cache", "v2..v1"))[0] == "src/cache.py:1-5@v1"


def test_what_is_new_is_cited_where_it_is(project: Repo) -> None:
    assert cited(project, search(project, "colours to hex", "v1..v2"))[0] == "src/colours.py:1-2@v2"


def test_a_question_that_names_nothing_shows_all_that_changed(project: Repo) -> None:
    for question in ("what changed?", "¿qué cambió?"):
        found = cited(project, search(project, question, "v1..v2"))
        assert set(found) == {
            "src/colours.py:1-2@v2", "src/cache.py:1-5@v1", "src/retry.py:1-31@v2", "src/retry.py:1-31@v1",
        }  # fmt: skip


def test_a_renamed_file_is_compared_with_what_it_was(project: Repo) -> None:
    project.git("mv", "src/retry.py", "src/again.py")
    project.git("mv", "src/same.py", "src/moved.py")
    project.write("src/again.py", LOWER.replace("2 ** attempt", "3 ** attempt"))
    project.commit("Rename")
    project.git("tag", "v3")
    found = cited(project, search(project, "what changed?", "v2..v3"))
    assert found == ["src/again.py:32-60@v3", "src/retry.py:32-60@v2"]


def test_three_dots_ask_since_the_common_commit(project: Repo) -> None:
    project.git("checkout", "--quiet", "-b", "side", "v1")
    project.write("src/same.py", "def retry_limit_of_nobody():\n    return 1\n")
    project.commit("Side")
    project.git("tag", "side-tag")
    found = cited(project, search(project, "what changed?", "v2...side-tag"))
    assert found == ["src/same.py:1-2@side-tag", "src/same.py:1-2@v1"]
    assert "src/cache.py:1-5@side-tag" in cited(project, search(project, "what changed?", "v2..side-tag"))


def test_without_a_common_commit_three_dots_mean_nothing(project: Repo, run: Run) -> None:
    project.git("checkout", "--quiet", "--orphan", "other")
    project.commit("Stranger")
    done = run(project, "search", "x", "--rev", "v1...other")
    assert (done.code, done.error[0]) == (2, "error: v1 and other have no commit in common")


def test_nothing_differs(project: Repo, run: Run) -> None:
    done = run(project, "ask", QUESTION, "--rev", "v2..v2", "--no-model")
    assert (done.code, done.error) == (1, ["note: no file differs in v2..v2", f"nothing found for: {QUESTION}"])
    empty = run(project, "ask", QUESTION, "--rev", "v2..HEAD", "--no-model")
    assert (empty.code, empty.error[0]) == (0, "note: no file differs in v2..HEAD")
    assert '"Later"' in empty.out


def test_a_range_embeds_only_what_the_store_lacks(project: Repo) -> None:
    with asking(project, Counting(is_local=False)) as opened:
        opened.search("x", rev="v1")
        assert isinstance(opened.embedder, Counting)
        before = len(opened.embedder.texts)
        opened.search("x", rev="v1..v2")
        assert len(opened.embedder.texts) - before == 3  # the changed file's two functions, and the new one's
        opened.search("x", rev="v2..v1")
        assert len(opened.embedder.texts) - before == 3


def test_files_and_languages_can_be_chosen_in_a_range(project: Repo) -> None:
    found = cited(project, search(project, "what changed?", "v1..v2", paths=["src/c*"]))
    assert set(found) == {"src/colours.py:1-2@v2", "src/cache.py:1-5@v1"}


# What is shown


def test_the_commits_of_the_range_are_evidence(project: Repo, run: Run) -> None:
    found = run(project, "ask", QUESTION, "--rev", "v1..v2", "--no-model", "--json").json
    assert [one["subject"] for one in found["commits"]] == ["Lower the retry limit", "Colours instead of a cache"]
    assert {one["by"] for one in found["commits"]} == {"range"}
    assert found["history"] == {"indexed": 2, "total": 2}
    assert (
        run(project, "ask", QUESTION, "--rev", "v1..v2", "--no-model", "--json", "--no-history").json["commits"] == []
    )


def test_the_json_of_a_range(project: Repo, run: Run) -> None:
    found = run(project, "search", QUESTION, "--rev", "v1..v2", "--json").json
    new, old = project.git("rev-parse", "v2"), project.git("rev-parse", "v1")
    assert (found["rev"], found["commit"], found["base"], found["changed"]) == ("v1..v2", new, old, 3)
    assert [(hit["path"], hit["commit"]) for hit in found["hits"][:2]] == [("src/retry.py", new), ("src/retry.py", old)]
    assert [hit["citation"] for hit in found["hits"][:2]] == [
        f"src/retry.py:1-31@{new[:7]}",
        f"src/retry.py:1-60@{old[:7]}",
    ]


def test_an_answer_about_a_change_cites_both_sides(project: Repo, server: Script) -> None:
    server.answer = "`retry_limit` returned at most 10 [2]. Now it returns at most 3 [1]."
    done = itza(project, "ask", QUESTION, "--rev", "v1..v2", "--no-history", OLLAMA_HOST=server.host)
    new, old = project.git("rev-parse", "--short", "v2"), project.git("rev-parse", "--short", "v1")
    assert done.code == 0
    said, _, sources = done.out.partition("\n\n")
    assert said == "`retry_limit` returned at most 10 [1]. Now it returns at most 3 [2]."
    assert sources == f"[1] src/retry.py:26-33@{old}\n[2] src/retry.py:23-29@{new}\n"
    (chat,) = server.chats
    prompt = chat["messages"][-1]["content"]
    assert "\n[1] src/retry.py lines 1-30 (after the change, at v2)\n" in prompt
    assert "\n[2] src/retry.py lines 1-40 (before it, at v1)\n" in prompt


def test_the_citations_of_a_change_hold_at_their_own_commits(project: Repo, server: Script) -> None:
    server.answer = "`retry_limit` returned at most 10 [2]. Now it returns at most 3 [1]."
    done = itza(project, "ask", QUESTION, "--rev", "v1..v2", "--json", OLLAMA_HOST=server.host).json
    for one in done["citations"]:
        if one["path"]:
            lines = project.git("show", f"{one['commit']}:{one['path']}").split("\n")
            limit = 10 if one["commit"] == done["base"] else 3
            assert f"min(times, {limit})" in "\n".join(lines[one["start_line"] - 1 : one["end_line"]])


@pytest.mark.parametrize("rev", ["HEAD^@", "HEAD^!", "HEAD^-", "main^-1"])
def test_a_revision_that_names_several_commits_is_called_so(repo: Repo, run: Run, rev: str) -> None:
    for n in range(2):
        repo.write("a.py", f"a = {n}\n")
        repo.commit()
    for command in (("search", "a", "--rev", rev), ("verify", "a.py", "--rev", rev)):
        told = f"error: revision '{rev}' names several commits, and one is asked for"
        assert run(repo, *command).error == [told, f"hint: git rev-parse '{rev}'"]
    assert run(repo, "search", "a", "--rev", f"no{rev}").error[0] == f"error: unknown revision 'no{rev}'"
