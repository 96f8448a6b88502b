"""What a model gets to read: arguments as small models write them, and answers within a budget."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git import Itza
from itza_git.errors import StoreError, UnbornHead, UsageError
from itza_git.mcp import finding, texts
from itza_git.mcp.arguments import Parameter, checked, schema_of
from itza_git.mcp.citations import READ, VERIFY
from itza_git.mcp.finding import SEARCH, _plain
from itza_git.mcp.places import Places
from itza_git.mcp.stopgap import by_words
from itza_git.mcp.texts import Piece
from itza_git.mcp.tools import TOOLS
from itza_git.records import Coverage
from itza_git.render import visible
from tests.repository import Repo, existing

PARAMETERS = (
    Parameter("query", "string", "What you look for.", required=True),
    Parameter("path", "strings", "Only these."),
    Parameter("kind", "string", "Only such.", choices=("function", "type")),
    Parameter("limit", "integer", "Most.", default=8, most=50),
)
LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=90), min_size=1, max_size=60)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search waits for its index: within the half second of a real call a slow machine may have nothing yet."""
    monkeypatch.setattr(finding, "SEARCH_SECONDS", 120.0)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"query": "x"}, {"query": "x", "limit": 8}),
        ({"query": "x", "limit": "5", "path": "src", "kind": None}, {"query": "x", "limit": 5, "path": ("src",)}),
        ({"query": "x", "limit": 3.0, "path": ["a", "b"]}, {"query": "x", "limit": 3, "path": ("a", "b")}),
        ({"query": "x", "kind": "", "path": [""], "limit": ""}, {"query": "x", "limit": 8}),
        ({"query": "x", "limit": 9999}, {"query": "x", "limit": 50}),
        ({"query": "x", "limit": 0}, {"query": "x", "limit": 1}),
    ],
)
def test_what_is_meant_is_taken(given: dict[str, object], found: dict[str, object]) -> None:
    assert checked(PARAMETERS, given) == found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "query is missing"),
        ({"query": 7}, "query is 7, not a string"),
        ({"query": "x", "limit": True}, "limit is True, not a whole number"),
        ({"query": "x", "limit": "many"}, "limit is 'many', not a whole number"),
        ({"query": "x", "path": [1]}, "path is 1, not a string"),
        ({"query": "x", "kind": "class"}, "kind is 'class', not one of function, type"),
        ({"query": "x" * 10_001}, "query has 10,001 characters, at most 10,000 may be"),
        ({"query": "x", "top_k": 3}, "there is no argument 'top_k'"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_right(given: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)) as raised:
        checked(PARAMETERS, given)
    assert raised.value.hint


def test_a_schema_says_what_the_check_holds() -> None:
    schema = schema_of(PARAMETERS)
    assert schema["required"] == ["query"]
    assert schema["properties"]["path"]["items"] == {"type": "string"}
    assert schema["properties"]["limit"] == {"type": "integer", "description": "Most.", "default": 8}
    assert schema["properties"]["kind"]["enum"] == ["function", "type"]


@given(st.lists(LINES, min_size=1, max_size=12), st.integers(300, 8000))
def test_an_answer_keeps_to_its_budget_and_says_what_it_leaves_out(passages: list[list[str]], budget: int) -> None:
    pieces = [Piece(f"a/{at}.py:1-{len(lines)}@1a2b3c4", "", 1, tuple(lines)) for at, lines in enumerate(passages)]
    text = texts.passages(pieces, "where is it?", budget)
    assert len(text) <= budget
    shown = [piece for piece in pieces if piece.citation in text]
    assert shown == pieces[: len(shown)]
    left = re.search(r"(\d+) more passages? did not fit", text)
    assert (int(left[1]) if left else 0) == len(pieces) - len(shown)


@given(LINES, st.integers(100, 2000))
def test_every_line_stands_behind_its_own_number(lines: list[str], room: int) -> None:
    for line in texts.numbered(10, lines, frozenset({"word"}), room):
        if line == texts.CUT:
            continue
        number, tab, rest = line.partition("\t")
        assert tab
        wanted = visible(lines[int(number) - 10].rstrip())
        assert rest == wanted or (rest.endswith(texts.CUT) and wanted.startswith(rest[:-1]))


def test_a_cut_passage_keeps_its_first_line_and_the_lines_with_the_words() -> None:
    lines = ["def work():", *(f"    step({n})" for n in range(80)), "    retry()", *("    rest()" for _ in range(80))]
    shown = texts.numbered(1, lines, frozenset({"retry"}), 300)
    assert shown[:2] == ["1\tdef work():", texts.CUT]
    assert "82\t    retry()" in shown
    assert shown[-1] == texts.CUT


@given(LINES, st.integers(300, 2000))
def test_lines_within_a_budget_keep_to_it_and_say_how_many_are_left(lines: list[str], budget: int) -> None:
    text = texts.fitted(budget, "head", lambda room: texts.within(lines, room), "(a note)")
    assert len(text) <= budget
    assert text.startswith("head\n\n")
    assert text.endswith("\n\n(a note)")


def test_the_budget_bounds_the_whole_answer_of_every_tool(repo: Repo) -> None:
    folder = "a folder with a long name of its own/" * 2
    body = "".join(f"    retry({n})  # {'again and ' * (n % 40)}again\n" for n in range(60))
    for at in range(12):
        repo.write(f"{folder}retry{at}.py", f"def retry_{at}(limit):\n{body}")
    repo.write("main.py", "import this\n\nif __name__ == '__main__':\n    print('x' * 9)\n" + f"# {'y' * 900}\n" * 3)
    head = repo.commit("A subject\n\n" + "A line of the message that says why.\n" * 90)
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()
    where = f'"{folder}retry0.py":1-60'
    calls: dict[str, dict[str, object]] = {
        "search_codebase": {"query": "how is a retry limited?"},
        "ask_codebase": {"question": "how is a retry limited?"},
        "find_similar_patterns": {"where": where, "limit": 12},
        "get_repo_overview": {},
        "list_indexed_repos": {},
        "read_citation": {"citation": f"{where}@HEAD"},
        "verify_citations": {"text": f"{where}@{head[:10]} and main.py:1-2@{head[:10]}, " * 20},
    }
    assert calls.keys() == TOOLS.keys()
    calls_with_budgets = [(name, given | {"budget": n}) for name, given in calls.items() for n in (300, 500, 2500)]
    for citation in ("main.py:5-7@HEAD", f"commit {head[:10]}"):
        calls_with_budgets.append(("read_citation", {"citation": citation, "budget": 300}))
    for name, arguments in calls_with_budgets:
        tool = TOOLS[name]
        text = tool.answer(Quiet(), Places(repo.path), **checked(tool.parameters, arguments))
        assert 20 < len(text) <= int(str(arguments["budget"])), (name, text)
        assert "\n" in text or name == "list_indexed_repos"


def test_what_is_not_indexed_is_told_with_the_reason() -> None:
    assert texts.coverage(Coverage(3, 3), True, "") == ""
    assert texts.coverage(Coverage(41, 310), True, "").startswith(
        "only 41 of 310 files indexed so far, indexing goes on"
    )
    assert texts.coverage(Coverage(0, 3), False, "no space (df)") == "only 0 of 3 files indexed: no space (df)"


def test_words_alone_find_the_file_that_holds_the_rare_ones(repo: Repo) -> None:
    for number in range(8):
        repo.write(f"src/common{number}.py", "def common(value):\n    return value  # the value of the cache\n")
    repo.write("src/evict.py", "\n" * 30 + "def evict(cache):\n    while cache.is_full():\n        cache.pop()\n")
    repo.write("lib/evict.c", "/* evict the cache */\n")
    repo.write('odd "name".py', "def evict_odd(cache): ...\n")
    repo.commit()
    with Itza.open(repo.path, {}) as itza:
        head = itza.resolve()
        found = by_words(itza, head, "when does the cache evict a value?", ["src"], ["python"], 3)
        assert found[0].citation.startswith("src/evict.py:31-33@")
        assert found[0].lines[0] == "def evict(cache):"
        everywhere = by_words(itza, head, "evicting", [], [], 9)
        assert len(everywhere) == 3
        for piece in everywhere:
            itza.show(itza.citation(piece.citation))
        assert by_words(itza, head, "zebra", [], [], 3) == []
        assert by_words(itza, head, "?", [], [], 3) == []


def test_a_place_hands_out_one_open_repository_a_call_and_takes_it_back(repo: Repo) -> None:
    repo.write("a.py", "def f(): ...\n")
    repo.commit()
    place = Places(repo.path).find(None, [])
    with place.itza() as one, place.itza() as other:
        assert one is not other
    with place.itza() as again:
        assert again in (one, other)
    with pytest.raises(ZeroDivisionError), place.itza():
        raise ZeroDivisionError
    with place.itza() as kept:
        assert kept in (one, other)


def test_a_working_folder_inside_of_a_repository_is_that_repository(repo: Repo, tmp_path: Path) -> None:
    repo.write("src/deep/a.py", "")
    repo.commit()
    places = Places(repo.path / "src" / "deep")
    assert places.find(None, []).path == repo.path
    assert places.find("repo", []).path == repo.path
    assert [place.name for place in places.all([repo.path, repo.path / "src"])] == ["repo"]
    with pytest.raises(UsageError, match="no git repository"):
        Places(tmp_path / "nowhere").find(None, [])


def test_the_documentation_lists_the_arguments_of_every_tool() -> None:
    text = (Path(__file__).parents[1] / "docs" / "agents.md").read_text()
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*?) ?\|", text, re.MULTILINE))
    for name, tool in TOOLS.items():
        own = [one.name for one in tool.parameters if one.name not in ("repo", "budget")]
        assert re.findall(r"`(\w+)`", listed[name]) == own


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("central files  (by use and size; 5 more: -v)", "central files  (by use and size)"),
        ("areas  (3 more: -v)", "areas"),
        ("  a.py:1-2@1a2b3c4    used by  11: one, two, th…", "  a.py:1-2@1a2b3c4  used by 11 files: one, two"),
    ],
)
def test_a_line_of_the_overview_keeps_nothing_that_is_for_terminals(line: str, plain: str) -> None:
    assert _plain(line) == plain


class Quiet:
    """A call of a client that says nothing of its folders and wants no progress."""

    roots: tuple[Path, ...] = ()

    def tell(self, done: int, total: int, what: str) -> None:
        """Nothing."""


def search(folder: Path, query: str, **arguments: object) -> str:
    given = checked(SEARCH.parameters, {"query": query} | arguments)
    return SEARCH.answer(Quiet(), Places(folder), **given)


def test_a_linked_worktree_answers_for_its_own_head(repo: Repo, tmp_path: Path) -> None:  # C33
    repo.write("a.py", "def here():\n    pass\n")
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = existing(tmp_path / "side")
    side.write("b.py", "def beside():\n    pass\n")
    head = side.commit()
    with Itza.open(side.path, {}) as itza:
        itza.refresh()
    found = search(side.path, "beside")
    assert found.startswith(f"side at {head[:10]} (HEAD)")
    assert "b.py:1-2@" in found
    assert "b.py" not in search(repo.path, "beside", limit=50)


def test_a_bare_repository_is_searched_and_one_without_a_commit_says_so(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", "def here():\n    pass\n")
    repo.commit()
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "b.git"))
    assert "a.py:1-2@" in search(tmp_path / "b.git", "here")
    unborn = Repo(tmp_path / "unborn")
    with pytest.raises(UnbornHead):
        search(unborn.path, "here")


def test_an_index_that_cannot_be_written_is_told_beside_what_words_find(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "def here():\n    pass\n")
    repo.commit()

    def full(*args: object, **options: object) -> None:
        raise StoreError("cannot write the index: no space left on the device", "df -h")

    monkeypatch.setattr(Itza, "refresh", full)
    found = search(repo.path, "where is here?")
    assert "a.py:1-2@" in found
    assert "(only 0 of 1 files indexed: cannot write the index: no space left on the device (df -h))" in found


def test_all_repositories_are_searched_as_one_and_their_citations_read_again(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "def retry_here():\n    pass\n")
    repo.commit()
    other = Repo(tmp_path / "other")
    other.write("b.py", "def retry_there():\n    pass\n")
    other.commit()
    gone = Repo(tmp_path / "gone")
    for one in (other, gone):
        one.git("config", "--global", "--add", "itza.repo", str(one.path))
    shutil.rmtree(gone.path)
    for one in (repo, other):
        with Itza.open(one.path, {}) as itza:
            itza.refresh()
    found = search(repo.path, "where is the retry?", repo="all")
    assert found.startswith("2 repositories at their HEADs\n")
    assert "(not searched: gone: the repository gone is gone: " in found
    for path in ("repo//a.py", "other//b.py"):
        citation = re.findall(rf"^{path}:1-2@[0-9a-f]+", found, re.MULTILINE)[0]
        read = READ.answer(Quiet(), Places(repo.path), citation=citation, budget=500)
        assert "1\tdef retry_" in read
    checked_again = VERIFY.answer(Quiet(), Places(repo.path), text=f"see {citation}.", budget=500)
    assert checked_again.endswith(f": 1 same\nsame {citation}")
    assert "nothing found" in search(repo.path, "retry", repo="all", kind="section")
    with pytest.raises(UsageError, match="at their HEADs"):
        search(repo.path, "retry", repo="all", rev="main")


def test_the_citation_of_a_commit_is_read_as_its_message_and_its_change(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    head = repo.commit("Begin with one")
    read = READ.answer(Quiet(), Places(repo.path), citation=f"commit {head[:10]}", budget=2000)
    assert "Begin with one" in read
    assert "a.py" in read


def test_filters_by_path_language_kind_and_revision(repo: Repo) -> None:
    repo.write("src/net.py", "def fetch_retry(url):\n    pass\n")
    repo.write("docs/cache.md", "# Cache\n\nIt keeps a retry.\n")
    repo.commit()
    with Itza.open(repo.path, {}) as itza:
        itza.refresh()
    repo.write("src/net.py", "def get_retry(url):\n    pass\n")
    repo.write("src/new.py", "def uncommitted_retry():\n    pass\n")
    assert "src/" not in search(repo.path, "retry", language="markdown")
    assert "src/" not in search(repo.path, "retry", path="docs")
    functions = search(repo.path, "retry", kind="function")
    assert "fetch_retry" in functions
    assert "docs/" not in functions
    edited = search(repo.path, "retry", rev="worktree")
    assert "src/new.py:1-2@worktree" in edited
    assert "get_retry" in edited
    assert "worktree" not in search(repo.path, "retry")
    read = READ.answer(Quiet(), Places(repo.path), citation="src/net.py:1-2@worktree", budget=500)
    assert "def get_retry" in read


def test_hidden_characters_of_a_repository_are_shown_as_what_they_are(repo: Repo) -> None:
    repo.write("odd.py", "def retry_odd():\n\treturn '\u202e\x1b[31m \u200b'\n")
    repo.commit()
    assert "2\t\treturn '<U+202E><U+001B>[31m <U+200B>'\n" in search(repo.path, "retry odd") + "\n"


def test_outside_of_a_repository_the_registered_ones_can_be_asked(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", "def here():\n    pass\n")
    repo.commit()
    with pytest.raises(UsageError, match="no git repository at"):
        search(tmp_path, "here")
    assert TOOLS["list_indexed_repos"].answer(Quiet(), Places(tmp_path), budget=500).startswith("no repository")
    repo.git("config", "--global", "itza.repo", str(repo.path))
    assert "a.py:1-2@" in search(tmp_path, "here")
    assert "a.py:1-2@" in search(tmp_path, "here", repo="repo")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted")
def test_a_working_folder_that_was_deleted_leaves_the_registered_repositories(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "def here():\n    pass\n")
    repo.commit()
    repo.git("config", "--global", "itza.repo", str(repo.path))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert TOOLS["list_indexed_repos"].answer(Quiet(), Places(gone), budget=500).startswith("repo  ")


def test_roots_without_a_repository_leave_the_working_folder(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", "")
    repo.commit()
    places = Places(repo.path)
    assert places.find(None, [tmp_path]).path == repo.path
