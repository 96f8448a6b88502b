"""Citations in a text: that all are found, and what became of the lines that they name."""

from __future__ import annotations

import io
import json
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git import Itza
from itza_git.answering import verification
from itza_git.answering.citation import Citation, render
from itza_git.answering.finding import Found, find_all
from itza_git.answering.following import Versions, matching
from itza_git.answering.verdicts import Verdict, fixed
from itza_git.git import pygit2_backend
from tests.command import Run, itza
from tests.repository import Repo
from tests.test_citation import citations

# Finding

BEFORE = [
    "",
    "see ",
    "(",
    "[",
    "`",
    "**",
    '"',
    "\u201c",
    "|",
    "- ",
    "a.py:1, ",
    "x@example.org ",
    "=",
    "[1] ",
    "\n\n",
    "\u2014",
]
AFTER = ["", ".", ", and", ")", "](x)", "`", "**", '"', "\u201d", "|", ":", ";", "?", "!", "\r\n", "...", " - ", "'s"]


@given(citations(), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_a_citation_is_found_in_any_surroundings(citation: Citation, before: str, after: str) -> None:
    text = before + render(citation) + after
    (found,) = find_all(text)
    assert found.citation == citation
    assert text[found.start : found.end] == render(citation)


@given(st.lists(st.tuples(citations(), st.sampled_from([" ", ", ", ") (", "`\n`", "|"])), max_size=5))
def test_all_on_a_line_are_found_in_order(several: list[tuple[Citation, str]]) -> None:
    text = "".join(render(citation) + separator for citation, separator in several)
    assert [found.citation for found in find_all(text)] == [citation for citation, _ in several]


@given(st.lists(citations(), min_size=1, max_size=3), st.booleans(), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_all_are_found_in_json_and_can_be_rewritten_there(
    several: list[Citation], in_ascii: bool, before: str, after: str
) -> None:
    value = {"answer": "".join(before + render(one) + after + "\n" for one in several), "n": [1, None]}
    text = json.dumps(value, ensure_ascii=in_ascii)
    found = find_all(text)
    assert [one.citation for one in found] == several
    new = Citation(b'odd "name"\n', 1, 2, "abcd")
    one = found[0]
    changed = json.loads(text[: one.start] + one.written(new) + text[one.end :])
    assert changed["answer"].startswith(before + render(new) + after)


@given(st.text(), st.text())
def test_any_text_is_read(before: str, after: str) -> None:
    for text in (before + ":3@1a2b" + after, json.dumps({before: ["a:3@1a2b" + after]})):
        for found in find_all(text):
            assert 0 <= found.start < found.end <= len(text)


def path_of(found: Found) -> bytes:
    """The path of a citation of lines."""
    assert isinstance(found.citation, Citation)
    return found.citation.path


@pytest.mark.parametrize(
    "text",
    [
        "foo:80@host",
        "https://user:8080@cafe.example/x",
        "https://user:8080@cafe/x",
        "https://user:8080@cafe",
        "ssh://git@host:2222@dead",
        "package@1.2.3",
        "npm:4@1234.5.6",
        "me@example.org:22@face",
        "/etc/passwd:3@1a2b3c4",
        "image:12@1024x768",
        "a.py:3@dead-branch",
        "a.py:3@abc",
        "a.py:0@1a2b",
        "a.py:9-3@1a2b",
        f"a.py:{'9' * 5000}@1a2b",
        "10:30:45@beef",
        " :3@1a2b",
        '":3@1a2b',
        "C:\\code\\a.py:3@1a2b",
        "3@1a2b3c4",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert find_all(text) == []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("app/[id]/page.tsx:3@1a2b", [b"app/[id]/page.tsx"]),
        ("(app/(group)/page.tsx:3@1a2b)", [b"app/(group)/page.tsx"]),
        ("[a.py:3@1a2b](a.py:3@1a2b)", [b"a.py", b"a.py"]),
        ('"a b.py":3@1a2b, "c.py:4@1a2b"', [b"a b.py", b"c.py"]),
        ('he said "so" and "a b.py":3@1a2b', [b"a b.py"]),
        ('"a\\"b.py":3@1a2b', [b'a"b.py']),
        ("git itza show a.py:3@1a2b", [b"a.py"]),
        ("- a.py:3@1a2b\n-b.py:4@1a2b", [b"a.py", b"b.py"]),
        ("{a.py:3@1a2b", [b"a.py"]),
    ],
)
def test_where_a_path_begins(text: str, paths: list[bytes]) -> None:
    assert [path_of(found) for found in find_all(text)] == paths


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    begun = time.thread_time()
    for text in (
        '\\"' * 100_000,
        '":3@1a2b' * 20_000,
        "(" * 100_000 + "a:3@1a2b",
        "a" * 200_000 + ":3@1a2b",
        "a)" * 50_000,
    ):
        find_all(text)
    assert time.thread_time() - begun < 5  # a tenth of a second, and an hour if it were the square


def test_the_code_in_our_own_json_is_no_claim() -> None:
    text = json.dumps({"schema": 1, "passages": [{"citation": "a.py:1@1a2b", "text": "# see b.py:1@1a2b"}]})
    assert [path_of(found) for found in find_all(text)] == [b"a.py"]
    lines = "\n".join([text, text])
    assert len(find_all(lines)) == 2


# Following lines

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"}", b"", b"unique one", b"unique two"]), max_size=12)


@given(LINES, LINES)
def test_a_matching_is_true_and_rises(old: list[bytes], new: list[bytes]) -> None:
    found = matching(old, new)
    places = [at for at in found if at is not None]
    assert places == sorted(set(places))
    assert all(at is None or old[index] == new[at] for index, at in enumerate(found))
    assert matching(old, old) == list(range(len(old)))


@given(LINES, LINES, st.data())
def test_what_moved_is_the_same_text(old: list[bytes], new: list[bytes], data: st.DataObject) -> None:
    if not old:
        return
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    followed = Versions(old, new).follow(first, last)
    if followed.status in ("same", "moved"):
        assert new[followed.first - 1 : followed.last] == old[first - 1 : last]
    elif followed.status == "changed":
        assert 1 <= followed.first <= followed.last <= len(new)


# Verifying

FUNCTIONS = [
    f"def function_{n}(argument):\n    value = argument * {n}\n    if value:\n        return value\n"
    "    return None\n\n\n"
    for n in range(6)
]
MODULE = "".join(FUNCTIONS)


@pytest.fixture
def cited(repo: Repo) -> Repo:
    """A repository with a module of six functions of five lines, one every seven lines."""
    repo.write("src/module.py", MODULE)
    repo.write("other.txt", "nothing\n")
    repo.commit()
    return repo


def cite(repo: Repo, lines: str, path: str = "src/module.py", rev: str = "HEAD") -> str:
    return f"{path}:{lines}@{repo.git('rev-parse', '--short', rev)}"


def verdict(repo: Repo, citation: str, rev: str = "HEAD") -> Verdict:
    with Itza.open(repo.path) as itza:
        (checked,) = itza.verify(f"see `{citation}`.", rev).checked
    return checked.verdict


def now(repo: Repo, citation: str) -> str:
    found = verdict(repo, citation)
    assert found.status == "moved"
    assert found.now is not None
    return render(found.now)


def test_lines_that_stay(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    assert verdict(cited, citation) == Verdict("same")
    cited.write("src/module.py", MODULE + "# more\n")
    cited.commit()
    assert verdict(cited, citation) == Verdict("same")


def test_an_edit_above(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", "import os\n\n" + MODULE)
    cited.commit()
    assert now(cited, citation) == cite(cited, "10-14")


def test_a_line_that_occurs_often_is_followed_within_its_surroundings(cited: Repo) -> None:
    citation = cite(cited, "12")  # `return None`, once in each function
    cited.write("src/module.py", "import os\n\n" + "".join(FUNCTIONS[1:]))
    cited.commit()
    assert now(cited, citation) == cite(cited, "7")


def test_an_edit_inside(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", "import os\n" + MODULE.replace("argument * 1", "argument + 1"))
    cited.commit()
    found = verdict(cited, citation)
    assert (found.status, found.reason) == ("changed", "")
    assert found.now and render(found.now) == cite(cited, "9-13")
    assert found.before[1] == b"    value = argument * 1"
    assert found.after[1] == b"    value = argument + 1"


def test_a_line_put_in_between_is_a_change(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write(
        "src/module.py", MODULE.replace("    value = argument * 1\n", "    value = argument * 1\n    print()\n")
    )
    cited.commit()
    assert verdict(cited, citation).status == "changed"


@pytest.mark.parametrize("change", [("    value", "\tvalue"), ("\n", "\r\n"), ("value\n", "value \n")])
def test_a_change_of_white_space_alone_is_told_as_such(cited: Repo, change: tuple[str, str]) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", MODULE.replace(*change))
    cited.commit()
    found = verdict(cited, citation)
    assert (found.status, found.reason) == ("changed", "only in white space")


def test_carriage_returns_end_no_line(cited: Repo) -> None:
    cited.write("dos.txt", "one\r\ntwo\r\nthree and some more\r\n")
    cited.write("mac.txt", "one\rtwo\rthree\r")
    cited.commit()
    citation = cite(cited, "3", "dos.txt")
    assert verdict(cited, cite(cited, "3", "mac.txt")).reason == "its commit never had these lines"
    cited.write("dos.txt", "zero\r\none\r\ntwo\r\nthree and some more")
    cited.commit()
    assert verdict(cited, citation).status == "changed"  # its last line lost the \r


def test_deleted_lines(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[2:]))
    cited.commit()
    found = verdict(cited, citation)
    assert (found.status, found.reason, found.now) == ("gone", "lines deleted", None)


def test_a_deleted_file(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("rm", "--quiet", "src/module.py")
    cited.commit()
    found = verdict(cited, citation)
    assert (found.status, found.reason) == ("gone", "file deleted")


def test_a_rename(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("mv", "src/module.py", "a name.py")
    cited.commit()
    assert now(cited, citation) == cite(cited, "8-12", '"a name.py"')


def test_a_rename_with_an_edit_above_and_below(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("mv", "src/module.py", "renamed.py")
    cited.write("renamed.py", "import os\n" + MODULE.replace("* 4", "* 40"))
    cited.commit()
    assert now(cited, citation) == cite(cited, "9-13", "renamed.py")
    inside = cite(cited, "29-33", rev="HEAD~1")
    found = verdict(cited, inside)
    assert (found.status, found.reason) == ("changed", "file renamed")
    assert found.now and render(found.now) == cite(cited, "30-34", "renamed.py")


def test_a_rename_whose_old_name_holds_another_file(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("mv", "src/module.py", "src/core.py")
    cited.write("src/module.py", "from src.core import *  # kept for older callers\n")
    cited.commit()
    assert now(cited, citation) == cite(cited, "8-12", "src/core.py")


def test_two_files_that_change_names(cited: Repo) -> None:
    cited.write("b.py", "".join(f"unlike {n}\n" for n in range(30)))
    cited.commit()
    citation = cite(cited, "8-12")
    cited.git("mv", "b.py", "c.py")
    cited.git("mv", "src/module.py", "b.py")
    cited.git("mv", "c.py", "src/module.py")
    cited.commit()
    assert now(cited, citation) == cite(cited, "8-12", "b.py")


def test_lines_moved_to_another_file(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[2:]))
    cited.write("other.txt", "nothing\n" + FUNCTIONS[1])
    cited.commit()
    assert now(cited, citation) == cite(cited, "2-6", "other.txt")


def test_lines_found_in_several_files_are_in_none_of_them(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[2:]))
    cited.write("one.txt", FUNCTIONS[1])
    cited.write("two.txt", FUNCTIONS[1])
    cited.commit()
    assert verdict(cited, citation).status == "gone"


def test_lines_that_say_nothing_are_not_sought_elsewhere(cited: Repo) -> None:
    citation = cite(cited, "5")
    cited.git("rm", "--quiet", "src/module.py")
    cited.write("other.py", "    return None\n")
    cited.commit()
    assert verdict(cited, citation).status == "gone"


def test_a_copy_that_was_there_before_is_no_move(cited: Repo) -> None:
    cited.write("copy.txt", FUNCTIONS[1])
    cited.commit()
    citation = cite(cited, "8-12")
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[2:]))
    cited.write("copy.txt", FUNCTIONS[1] + "more\n")
    cited.commit()
    assert verdict(cited, citation).reason == "lines deleted"


def test_lines_moved_within_their_file(cited: Repo) -> None:
    citation = cite(cited, "1-5")
    cited.write("src/module.py", "".join(FUNCTIONS[1:]) + FUNCTIONS[0])
    cited.commit()
    assert now(cited, citation) == cite(cited, "36-40")


def test_lines_that_are_there_twice_are_in_neither_place(cited: Repo) -> None:
    first, last = cite(cited, "1-5"), cite(cited, "36-40")
    cited.write("src/module.py", "".join(FUNCTIONS[1:]) + FUNCTIONS[0] + "\n# again\n" + FUNCTIONS[0])
    cited.commit()
    assert verdict(cited, first).status == "gone"
    assert now(cited, last) == cite(cited, "29-33")
    twice = cite(cited, "36-40")  # and again in 45-49
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[1:]))
    cited.commit()
    assert verdict(cited, twice).status == "gone"


def test_lines_that_are_twice_in_another_file_are_not_followed_there(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", FUNCTIONS[0] + "".join(FUNCTIONS[2:]))
    cited.write("other.txt", FUNCTIONS[1] + FUNCTIONS[1])
    cited.commit()
    assert verdict(cited, citation).status == "gone"


def test_what_was_put_behind_a_change_is_no_part_of_it(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    changed = FUNCTIONS[1].replace("* 1", "* 11").replace("return None\n", "return None\n\n\nMORE = 1\n")
    cited.write("src/module.py", MODULE.replace(FUNCTIONS[1], "# put before\n" + changed))
    cited.commit()
    found = verdict(cited, citation)
    assert found.now and render(found.now) == cite(cited, "9-13")


def test_an_exact_copy_and_the_same_name_count_more_than_likeness(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("rm", "--quiet", "src/module.py")
    cited.write("a/almost.py", MODULE.replace("    ", "\t"))
    cited.write("b/exact.py", MODULE)
    cited.commit()
    assert now(cited, citation) == cite(cited, "8-12", "b/exact.py")
    cited.write("c/module.py", MODULE)
    cited.commit()
    assert now(cited, citation) == cite(cited, "8-12", "c/module.py")


def test_a_file_that_was_there_before_is_no_rename(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("rm", "--quiet", "src/module.py")
    cited.write("other.txt", MODULE.replace("* 1", "* 11"))
    cited.commit()
    assert verdict(cited, citation) == Verdict("gone", "file deleted")


def test_a_file_that_became_a_submodule_is_gone(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    head = cited.git("rev-parse", "HEAD")
    cited.git("rm", "--quiet", "src/module.py")
    cited.git("update-index", "--add", "--cacheinfo", f"160000,{head},src/module.py")
    cited.git("update-index", "--add", "--cacheinfo", f"160000,{head},another")
    cited.git("commit", "--quiet", "--message", "submodule")
    assert verdict(cited, citation) == Verdict("gone", "file deleted")
    assert verdict(cited, cite(cited, "8-12")).reason == "its commit never had this file"


def test_a_file_written_anew(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", "".join(f"nothing of it {n}\n" for n in range(200)))
    cited.commit()
    found = verdict(cited, citation)
    assert (found.status, found.reason, found.now, found.after) == ("changed", "written anew", None, ())


def test_a_huge_file_is_not_searched(cited: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    citation = cite(cited, "8-12")
    cited.git("mv", "src/module.py", "renamed.py")
    cited.commit()
    monkeypatch.setattr(verification, "LARGEST", len(MODULE) - 1)
    assert verdict(cited, citation).reason == "file deleted"


def test_a_merge_and_a_rename_on_the_other_side(cited: Repo) -> None:
    citation = cite(cited, "8-12")
    cited.git("checkout", "--quiet", "-b", "side")
    cited.git("mv", "src/module.py", "moved.py")
    cited.commit()
    cited.git("checkout", "--quiet", "main")
    cited.write("src/module.py", "import os\n" + MODULE)
    cited.commit()
    cited.git("merge", "--quiet", "--no-edit", "side")
    assert now(cited, citation) == cite(cited, "9-13", "moved.py")
    assert verdict(cited, citation, "side~1").status == "same"


@pytest.mark.parametrize(
    ("citation", "reason"),
    [
        ("src/module.py:1@deadbeef", "unknown commit"),
        ("src/module.py:1@{tree}", "unknown commit"),
        ("src/module.py:1-999@{head}", "its commit never had these lines"),
        ("no/such.py:1@{head}", "its commit never had this file"),
        ("src:1@{head}", "its commit never had this file"),
    ],
)
def test_what_never_was(cited: Repo, citation: str, reason: str) -> None:
    ids = {"head": cited.git("rev-parse", "HEAD"), "tree": cited.git("rev-parse", "HEAD^{tree}")}
    found = verdict(cited, citation.format(**ids))
    assert (found.status, found.reason) == ("gone", reason)


def test_a_branch_that_is_called_like_an_id_is_none(cited: Repo) -> None:
    cited.git("branch", "beef")
    assert verdict(cited, "src/module.py:1@beef").reason == "unknown commit"


def test_what_is_not_committed_is_said_to_be(cited: Repo) -> None:
    assert verdict(cited, "src/module.py:1@worktree").status == "uncommitted"


def test_an_empty_file_and_a_path_of_odd_bytes(cited: Repo) -> None:
    cited.write("empty", "")
    cited.write(b"odd \xff.txt", "one line of odd text\n")
    cited.commit()
    assert verdict(cited, cite(cited, "1", "empty")).reason == "its commit never had these lines"
    citation = cite(cited, "1", '"odd \\377.txt"')
    assert verdict(cited, citation).status == "same"
    cited.git("mv", b"odd \xff.txt", b"odd\n\xfe.txt")
    cited.commit()
    assert now(cited, citation) == cite(cited, "1", '"odd\\n\\376.txt"')


def test_many_citations_read_each_blob_and_tree_once(cited: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cited.git("rev-parse", "HEAD")
    cited.git("mv", "src/module.py", "renamed.py")
    cited.write("renamed.py", "import os\n" + MODULE)
    for n in range(40):
        cited.write(f"files/{n}.txt", f"file {n}\n")
    cited.commit()
    calls: list[str] = []
    for name in ("read", "tree", "diff", "resolve"):
        whole = getattr(pygit2_backend.Pygit2Repository, name)

        def counted(self: object, *args: object, name: str = name, whole: object = whole) -> object:
            calls.append(name)
            return whole(self, *args)  # type: ignore[operator]

        monkeypatch.setattr(pygit2_backend.Pygit2Repository, name, counted)
    text = "\n".join(f"src/module.py:{1 + n % 40}@{first[: 7 + n % 30]}" for n in range(1000))
    with Itza.open(cited.path) as itza:
        checked = itza.verify(text).checked
    assert [one.line for one in checked] == list(range(1, 1001))
    assert {one.verdict.status for one in checked} == {"moved"}
    assert calls.count("tree") == 2
    assert calls.count("diff") == 1
    assert calls.count("read") <= 45
    assert calls.count("resolve") <= 31


# The command


def test_the_lines_that_people_read(cited: Repo, run: Run) -> None:
    old = cite(cited, "8-12"), cite(cited, "1-5"), cite(cited, "15-19")
    cited.write("src/module.py", "import os\n\n" + MODULE.replace("* 0", "* 10"))
    cited.commit()
    page = cited.write("page.md", f"# Page\n\nSee {old[0]} and ({old[1]}).\n\n`{old[2]}` x.py:1@deadbeef.\n")
    done = run(cited, "verify", "page.md")
    assert done.code == 1
    assert done.out.splitlines() == [
        f"page.md:3: moved {old[0]} -> {cite(cited, '10-14')}",
        f"page.md:3: changed {old[1]}",
        f"page.md:5: moved {old[2]} -> {cite(cited, '17-21')}",
        "page.md:5: gone x.py:1@deadbeef (unknown commit)",
        "4 citations: 2 moved, 1 changed, 1 gone",
    ]
    told = run(cited, "verify", "-v", str(page)).out
    assert f"  --- {old[1]}\n  +++ {cite(cited, '3-7')}\n  @@ -1,5 +3,5 @@\n   def function_0" in told
    assert "  -    value = argument * 0\n  +    value = argument * 10\n" in told
    quiet = run(cited, "verify", "-q", "page.md")
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")
    assert run(cited, "verify", "--rev", "HEAD~1", "-q", "page.md").code == 1


def test_exit_codes(cited: Repo, run: Run) -> None:
    cited.write("good.md", f"{cite(cited, '8-12')}\n")
    cited.write("none.md", "nothing to check\n")
    assert run(cited, "verify", "good.md", "none.md").code == 0
    assert run(cited, "verify", "none.md").out == "0 citations\n"
    for args in (["absent.md"], ["src"], ["good.md", "--rev", "nowhere"]):
        done = run(cited, "verify", *args)
        assert done.code == 2
        assert done.error[0].startswith("error: ")
        assert done.error[1].startswith("hint: ")


def test_fix_rewrites_what_moved_and_nothing_else(cited: Repo, run: Run) -> None:
    moved, gone = cite(cited, "8-12"), "x.py:1@deadbeef"
    cited.git("mv", "src/module.py", "a b.py")
    cited.commit()
    text = f"\ufeffA {moved}, {gone}\r\nand `{moved}`\xff\t".encode("latin-1", "ignore") + b"\xff\xfe\0 no end"
    page = cited.write("page.md", text)
    page.chmod(0o640)
    link = cited.path / "link.md"
    link.symlink_to("page.md")
    done = run(cited, "verify", "--fix", "link.md")
    assert done.code == 1
    new = cite(cited, "8-12", '"a b.py"')
    assert page.read_bytes() == text.replace(moved.encode(), new.encode())
    assert stat.S_IMODE(page.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert not list(cited.path.glob(".*.md*"))
    page.write_bytes(moved.encode())
    assert run(cited, "verify", "--fix", "-q", "page.md").code == 0
    assert run(cited, "verify", "-q", "page.md").code == 0


def test_fix_says_what_it_has_rewritten(cited: Repo, run: Run) -> None:
    old = cite(cited, "8-12"), cite(cited, "1-5")
    cited.write("src/module.py", "import os\n\n" + MODULE.replace("* 0", "* 10"))
    cited.commit()
    cited.write("page.md", f"{old[0]}\n{old[1]}\n")
    assert "rewritten" not in run(cited, "verify", "page.md").out
    assert run(cited, "verify", "--fix", "page.md").out.splitlines() == [
        f"page.md:1: moved {old[0]} -> {cite(cited, '10-14')} (rewritten)",
        f"page.md:2: changed {old[1]}",
        "2 citations: 1 moved and rewritten, 1 changed",
    ]


def test_what_is_marked_as_an_example_is_passed_over(cited: Repo, run: Run) -> None:
    text = """x.py:1@deadbeef
<!-- itza: examples -->

    x.py:2@deadbeef, commit deadbeef "what"
<!-- itza: end -->
x.py:3@deadbeef and x.py:4@HEAD <!-- itza: example -->
x.py:5@deadbeef after `<!-- itza: examples -->` in words
<!-- itza: examples -->
x.py:6@deadbeef, since nothing ends this
"""
    assert [found.citation for found in find_all(text)] == [Citation(b"x.py", n, n, "deadbeef") for n in (1, 5, 6)]
    cited.write("page.md", text.replace("x.py:1", "x.py:9"))
    done = run(cited, "verify", "page.md")
    assert [line.split()[0] for line in done.out.splitlines()] == ["page.md:1:", "page.md:7:", "page.md:9:", "3"]
    assert done.err == ""


def test_a_citation_of_a_name_is_told_not_to_be_checked(cited: Repo, run: Run) -> None:
    cited.git("branch", "topic")
    cited.write("page.md", "See\nsrc/module.py:8-12@HEAD, `src/module.py:3@topic`.\nmail:25@example.org a:1@nowhere\n")
    done = run(cited, "verify", "page.md")
    assert (done.code, done.out) == (0, "0 citations\n")
    assert done.err.splitlines() == [
        f"note: page.md:2: src/module.py:{what} is not pinned to a commit, so it is not checked"
        for what in ("8-12@HEAD", "3@topic")
    ]
    assert run(cited, "verify", "-q", "page.md").err == ""


def test_outside_of_a_repository_those_of_registered_ones_are_checked(cited: Repo, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "page.md").write_text(f"repo//{cite(cited, '8-12')} other.py:1@deadbeef\n")
    done = run(folder, "verify", "page.md")
    assert done.code == 2
    assert "not a git repository" in done.err
    assert run(cited, "repos", "add", ".").code == 0
    done = run(folder, "verify", "page.md")
    assert done.code == 1
    assert done.out.splitlines()[0] == f"page.md:1: same repo//{cite(cited, '8-12')}"
    assert done.out.splitlines()[1].startswith("page.md:1: gone other.py:1@deadbeef (")
    assert run(folder, "verify", "--json", "page.md").json["commit"] is None


def test_the_citations_of_this_project_hold(run: Run) -> None:
    top = Path(__file__).parents[1]
    if not (top / ".git").exists():
        pytest.skip("not in a git checkout")
    pages = [top / "README.md", *sorted((top / "docs").glob("*.md"))]
    done = run(top, "verify", *map(str, pages))
    assert (done.code, done.err) == (0, ""), done.out


def test_fix_leaves_a_file_alone_that_needs_nothing(cited: Repo, run: Run) -> None:
    page = cited.write("page.md", cite(cited, "8-12"))
    before = page.stat()
    assert run(cited, "verify", "--fix", "page.md").code == 0
    assert (page.stat().st_ino, page.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def with_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("args", [[], ["-"]])
def test_stdin(cited: Repo, run: Run, monkeypatch: pytest.MonkeyPatch, args: list[str]) -> None:
    citation = cite(cited, "8-12")
    cited.write("src/module.py", "import os\n" + MODULE)
    cited.commit()
    with_stdin(monkeypatch, citation.encode())
    done = run(cited, "verify", *args)
    assert done.code == 1
    assert done.out.startswith(f"-:1: moved {citation} -> ")
    with_stdin(monkeypatch, b"see " + citation.encode() + b" \xff")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out := io.BytesIO()))
    fix = run(cited, "verify", "--fix", *args)
    assert fix.code == 0
    assert out.getvalue() == f"see {cite(cited, '9-13')} ".encode() + b"\xff"
    assert "1 moved" in fix.err
    assert run(cited, "verify", "--fix", "--json", *args).code == 2


def test_json(cited: Repo, run: Run) -> None:
    old = cite(cited, "8-12"), cite(cited, "1-5")
    cited.write("src/module.py", "import os\n\n" + MODULE.replace("* 0", "* 10"))
    head = cited.commit()
    cited.write("page.md", f"\n{old[0]} {old[1]} x.py:1@worktree\n")
    done = run(cited, "verify", "--json", "--fix", "page.md")
    assert done.code == 1
    moved, changed, uncommitted = done.json["citations"]
    assert moved == {
        "file": "page.md",
        "line": 2,
        "citation": old[0],
        "status": "moved",
        "reason": None,
        "now": cite(cited, "10-14"),
        "diff": None,
        "fixed": True,
    }
    assert (changed["status"], changed["now"], changed["fixed"]) == ("changed", cite(cited, "3-7"), False)
    assert changed["diff"].startswith(f"--- {old[1]}\n+++ ")
    assert (uncommitted["status"], uncommitted["now"]) == ("uncommitted", None)
    del done.json["citations"]
    assert {key: value for key, value in done.json.items() if key != "citations"} == {
        "schema": 1,
        "rev": "HEAD",
        "commit": head,
        "summary": {"same": 0, "moved": 1, "changed": 1, "gone": 0, "uncommitted": 1},
    }


def test_our_own_json_is_checked_and_fixed(cited: Repo, run: Run) -> None:
    found = run(cited, "search", "--json", "function_3").json
    page = cited.write("answer.json", json.dumps(found))
    cited.git("mv", "src/module.py", "a b.py")
    cited.git("rm", "--quiet", "--cached", "answer.json", "--ignore-unmatch")
    cited.git("commit", "--quiet", "--message", "rename")
    assert run(cited, "verify", "--fix", "answer.json").code == 0
    rewritten = json.loads(page.read_text())
    assert {one["citation"].partition(":")[0] for one in rewritten["hits"]} <= {'"a b.py"', "other.txt"}
    assert found["hits"][0]["text"] == rewritten["hits"][0]["text"]


def test_nothing_in_a_changed_line_reaches_the_terminal(cited: Repo, run: Run) -> None:
    cited.write("evil.txt", "harmless line number one\nb\n")
    cited.commit()
    cited.write("page.md", cite(cited, "1", "evil.txt"))
    cited.write("evil.txt", "\x1b]0;evil\x07 line number one\nb\n")
    cited.commit()
    done = run(cited, "verify", "-v", "page.md")
    assert "\x1b" not in done.out
    assert "<U+001B>" in done.out


def test_a_shallow_clone_says_that_it_lacks_commits(cited: Repo, run: Run, tmp_path: Path) -> None:
    citation = cite(cited, "8-12")
    cited.commit()
    cited.git("clone", "--quiet", "--depth=1", f"file://{cited.path}", str(tmp_path / "clone"))
    page = cited.write("page.md", citation)
    done = run(tmp_path / "clone", "verify", str(page))
    assert "(unknown commit)" in done.out
    assert done.err == "note: this clone lacks the older commits: git fetch --unshallow\n"
    assert run(tmp_path / "clone", "verify", "-q", str(page)).err == ""


def test_it_runs_as_a_command_of_git(cited: Repo, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(cite(cited, "8-12"))
    assert itza(cited, "verify", str(tmp_path / "page.md")).code == 0


def test_a_program_fixes_a_text(cited: Repo) -> None:
    text = f"see {cite(cited, '8-12')}."
    cited.git("mv", "src/module.py", "new.py")
    cited.commit()
    with Itza.open(cited.path) as itza:
        found = itza.verify(text)
    assert not found.holds
    assert fixed(text, found) == f"see {cite(cited, '8-12', 'new.py')}."
