"""Branches are asked as they are, however HEAD came to where it is, and coming back to one costs nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.git.pygit2_backend import Pygit2Repository
from itza_git.indexing import views
from tests.asking import asking, cites, embedded, found
from tests.command import Run
from tests.counting import Counting
from tests.hooked import Hooked, install_in
from tests.repository import Repo

FILES = 20


@pytest.fixture
def two(repo: Repo) -> Repo:
    """`main` with twenty files; on `other` all of them are rewritten, three deleted and one added."""
    for number in range(FILES):
        repo.write(f"f{number}.py", f"def main_{number}():\n    return {number}\n")
    repo.commit("main")
    repo.git("switch", "--quiet", "--create", "other")
    for number in range(FILES):
        repo.write(f"f{number}.py", f"\n\ndef other_{number}():\n    return {number}\n")
    for number in range(3):
        (repo.path / f"f{number}.py").unlink()
    repo.write("added.py", "def other_added():\n    return 0\n")
    repo.commit("other")
    repo.git("switch", "--quiet", "main")
    return repo


@pytest.fixture
def asked(two: Repo) -> Iterator[Itza]:
    with asking(two) as opened:
        yield opened


def everything(itza: Itza, branch: str | None = None) -> set[str]:
    """All symbols that one question finds."""
    return found(itza.search("main other def return", limit=100, branch=branch))


MAIN = {f"main_{number}" for number in range(FILES)}
OTHER = {f"other_{number}" for number in range(3, FILES)} | {"other_added"}


# --branch


def test_a_branch_is_asked_without_a_checkout_and_only_it_answers(two: Repo, asked: Itza) -> None:
    for branch, symbols in (("other", OTHER), ("main", MAIN), ("other", OTHER)):
        result = asked.search("main other return", branch=branch, limit=100)
        assert cites(two, result, branch) == symbols
        assert result.rev == branch
    assert two.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert two.git("status", "--porcelain") == ""


def test_ask_and_search_take_a_branch(two: Repo, run: Run) -> None:
    commit = two.git("rev-parse", "--short", "other")
    for args in (["search", "other added"], ["ask", "--no-model", "other added"]):
        done = run(two, *args, "--branch", "other")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"added.py:1-2@{commit}")
        missing = run(two, *args, "--branch", "nowhere")
        assert missing.code == 2
        assert missing.error == ["error: no local branch is named nowhere", "hint: git branch --list"]


@pytest.mark.parametrize(
    "args",
    [["--branch", "other", "--rev", "main"], ["--branch", "other", "--worktree"], ["--rev", "main", "--worktree"]],
)
def test_two_trees_at_once_are_refused(two: Repo, run: Run, args: list[str]) -> None:
    for name in ("ask", "search"):
        done = run(two, name, "x", *args)
        assert done.code == 2
        assert done.error[0].endswith("name two trees; give one of them")
    assert not (two.path / ".git" / "itza").exists()


def test_a_tag_of_the_same_name_is_not_the_branch(two: Repo, asked: Itza) -> None:
    two.git("tag", "other", "main")
    assert cites(two, asked.search("main other return", branch="other", limit=100), "refs/heads/other") == OTHER


@pytest.mark.parametrize("name", ["feature/deep/x", "ünï", "a'b", "-dash"])
def test_any_name_of_a_branch_will_do(two: Repo, asked: Itza, name: str) -> None:
    two.git("update-ref", f"refs/heads/{name}", "other")
    assert everything(asked, branch=name) == OTHER
    assert name in {branch.name for branch in asked.status().branches}


# C11: to and fro


def test_switching_to_and_fro_embeds_each_blob_once(two: Repo, asked: Itza) -> None:
    assert cites(two, asked.search("main other return", limit=100)) == MAIN
    assert embedded(asked) == FILES
    two.git("checkout", "--quiet", "other")
    assert cites(two, asked.search("main other return", limit=100)) == OTHER
    assert embedded(asked) == FILES + len(OTHER)
    for place in ("-", "-", "main~0", "other"):
        two.git("checkout", "--quiet", place)
        with asking(two) as again:  # a new process knows no more than the store
            cites(two, again.search("main other return", limit=100))
            assert embedded(again) == 0


@pytest.mark.parametrize("hooks", [True, False])
def test_a_switched_branch_answers_with_and_without_hooks(two: Repo, hooks: bool) -> None:
    install_in(two.path)
    hooked = Hooked(two)
    if not hooks:
        two.git("config", "core.hooksPath", "/dev/null")
    for branch, symbols in (("other", OTHER), ("main", MAIN), ("other", OTHER)):
        two.git("checkout", "--quiet", branch)
        if hooks:
            assert hooked.settle().ref == f"refs/heads/{branch}"
        with Itza.open(two.path, {}) as itza:
            report = itza.refresh()
            assert not (hooks and report.new), "the hook has indexed it"
            assert cites(two, itza.search("main other return", limit=100)) == symbols
    two.git("checkout", "--quiet", "main")
    with Itza.open(two.path, {}) as itza:
        assert itza.refresh().new == 0


# C12: moves that no hook sees


def test_moves_that_no_hook_sees_are_answered_right(two: Repo, asked: Itza, tmp_path: Path) -> None:
    everything(asked)
    patch = two.git("format-patch", "--stdout", "main..other")
    two.write("f5.py", "def stashed():\n    pass\n")
    moves = (
        ["stash"],
        ["reset", "--quiet", "--hard", "other"],
        ["reset", "--quiet", "--soft", "HEAD~1"],
        ["reset", "--quiet", "--hard", "HEAD@{2}"],
        ["update-ref", "HEAD", "other"],
        ["read-tree", "HEAD"],
        ["checkout", "--quiet", "--force", "main~0"],
        ["symbolic-ref", "HEAD", "refs/heads/other"],
        ["branch", "--force", "main", "other"],
    )
    for move in moves:
        two.git(*move)
        cites(two, asked.search("main other stashed return", limit=100))
    two.git("reset", "--quiet", "--hard", "other~1")
    assert everything(asked) == MAIN
    two.git("am", "--quiet", stdin=f"{patch}\n".encode())
    assert cites(two, asked.search("main other return", limit=100)) == OTHER
    assert embedded(asked) == FILES + len(OTHER), "nothing of it is new"


def test_a_rewound_commit_is_answered_for_and_status_is_fresh(repo: Repo, run: Run) -> None:
    repo.write("a.py", "def alpha():\n    pass\n")
    repo.commit("A")
    repo.write("a.py", "def beta():\n    pass\n")
    repo.commit("B")
    assert run(repo, "index").code == 0
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    short = repo.git("rev-parse", "--short", "HEAD")
    stale = run(repo, "status").out
    assert "stale: git itza index" in stale
    assert run(repo, "search", "alpha").out.startswith(f"a.py:1-2@{short}  alpha")
    assert "beta" not in run(repo, "search", "beta").out
    assert "fresh" in run(repo, "status").out


def test_a_hint_that_is_shown_clears_what_it_is_shown_for(two: Repo, run: Run) -> None:
    assert "stale: git itza index" in run(two, "status").out
    assert run(two, "index").code == 0
    assert "stale" not in run(two, "status").out


def test_a_stash_and_what_was_fetched_are_cited_as_themselves(two: Repo, tmp_path: Path, asked: Itza) -> None:
    clone = Repo(tmp_path / "clone")
    clone.write("far.py", "def far():\n    pass\n")
    clone.commit()
    two.git("fetch", "--quiet", str(clone.path), "main")
    assert cites(two, asked.search("far", rev="FETCH_HEAD"), "FETCH_HEAD") == {"far"}
    two.git("checkout", "--quiet", "FETCH_HEAD")
    assert cites(two, asked.search("far main")) == {"far"}
    two.git("checkout", "--quiet", "main")
    two.write("f5.py", "def stashed():\n    pass\n")
    two.git("stash")
    assert "stashed" in cites(two, asked.search("stashed", rev="stash@{0}"), "stash@{0}")
    assert "stashed" not in cites(two, asked.search("stashed"))


def test_each_step_of_a_bisection_is_answered_for(repo: Repo) -> None:
    for number in range(8):
        repo.write("f.py", f"def step_{number}():\n    pass\n")
        repo.commit(str(number))
    with asking(repo) as itza:
        repo.git("bisect", "start", "HEAD", "HEAD~7")
        for verdict in ("good", "good", "good"):
            (symbol,) = cites(repo, itza.search("step"))
            assert symbol == f"step_{repo.git('show', '--no-patch', '--format=%s')}"
            status = itza.status()
            assert status.fresh
            assert status.head is not None
            assert (status.head.name, status.head.is_head) == ("HEAD", True)
            assert not any(branch.is_head for branch in status.branches)
            repo.git("bisect", verdict)


def test_in_the_middle_of_a_rebase_the_commit_it_stands_on_answers(two: Repo, asked: Itza) -> None:
    two.git("switch", "--quiet", "--create", "topic", "main")
    two.write("f5.py", "def topic_5():\n    pass\n")
    two.commit("topic")
    with pytest.raises(AssertionError, match="rebase"):
        two.git("rebase", "--quiet", "other")
    assert cites(two, asked.search("main other topic return", limit=100), "other") == OTHER
    two.git("rebase", "--abort")
    assert cites(two, asked.search("main other topic return", limit=100), "topic") == MAIN - {"main_5"} | {"topic_5"}


# Status


def test_status_lists_branches_with_commit_coverage_and_age(two: Repo, run: Run) -> None:
    run(two, "index")
    run(two, "search", "x", "--branch", "other")
    lines = run(two, "status").out.splitlines()
    at = lines.index("branches")
    main, other = (two.git("rev-parse", name)[:12] for name in ("main", "other"))
    told = [line.rpartition("  ") for line in lines[at + 1 : at + 3]]
    assert [line for line, _, _ in told] == [f"  * main {main}  20/20 files", f"    other {other}  18/18 files"]
    assert all(age.startswith("indexed ") and age.endswith(" s ago") for _, _, age in told)
    found = run(two, "status", "--json").json
    assert [(b["name"], b["current"], b["indexed_commit"] == b["commit"]) for b in found["branches"]] == [
        ("main", True, True),
        ("other", False, True),
    ]


def test_a_branch_that_moved_says_what_of_it_was_indexed(two: Repo, run: Run) -> None:
    run(two, "index")
    old = two.git("rev-parse", "HEAD")[:12]
    two.write("new.py", "x = 1\n")
    two.commit()
    line = next(line for line in run(two, "status").out.splitlines() if line.startswith("  * main"))
    assert "20/21 files" in line
    assert f"indexed at {old} " in line


def test_the_coverage_of_each_branch_is_what_a_view_of_it_says(two: Repo, asked: Itza) -> None:
    """Told from branch to branch, and from scratch, also over attributes, settings, links and skipped files."""
    written: list[tuple[str, str]] = [
        (".gitattributes", "f1*.py linguist-generated\n"),
        (".itzaconfig", "[itza]\n\texclude = f2.py\n"),
        ("bin.dat", "\0\1"),
        ("package-lock.json", "{}\n"),
        ("sub/x.py", "x = 1\n"),
        ("sub/.gitattributes", "* linguist-vendored\n"),
    ]
    for number, (path, content) in enumerate(written):
        two.git("switch", "--quiet", "--create", f"b{number}")
        two.write(path, content)
        two.commit()
    (two.path / "link").symlink_to("f1.py")
    two.commit()
    for branch in ("main", "other", *(f"b{number}" for number in range(len(written)))):
        asked.search("x", branch=branch)
    told = {branch.name: branch.coverage for branch in asked.status().branches}
    assert {one.reason for one in told["b5"].skipped} >= {"generated", "excluded", "binary", "symlink", "vendored"}
    assert told == {name: asked.corpus(name).coverage for name in told}


def test_many_branches_cost_what_they_differ_by(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        repo.write(f"d{number % 6}/f{number}.py", f"value = {number}\n")
    repo.commit()
    for number in range(30):
        repo.git("switch", "--quiet", "--create", f"b{number}", "main")
        repo.write(f"d{number % 6}/f{number}.py", f"changed = {number}\n")
        repo.commit()
    sized: list[bytes] = []
    real = Pygit2Repository.size

    def counting(self: Pygit2Repository, blob: bytes) -> int:
        sized.append(blob)
        return real(self, blob)

    monkeypatch.setattr(Pygit2Repository, "size", counting)
    monkeypatch.setattr(views, "_assemble", None)  # no view is built
    with asking(repo, Counting(is_local=True)) as itza:
        status = itza.status()
        assert [branch.coverage.total for branch in status.branches] == [60] * 31
        assert len(sized) <= 60 + 2 * 30
        assert embedded(itza) == 0, "no path is embedded either"


# What cannot be read


@pytest.mark.parametrize("how", ["deleted", "torn"])
def test_status_names_what_cannot_be_read_and_gives_no_hint_that_cannot_help(two: Repo, run: Run, how: str) -> None:
    # So long that its header can be read when its end is torn.
    two.write("f5.py", "".join(f"v{number} = '{sha256(b'%d' % number).hexdigest()}'\n" for number in range(400)))
    two.commit()
    blob = two.git("rev-parse", "HEAD:f5.py")
    file = two.path / ".git" / "objects" / blob[:2] / blob[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    if how == "deleted":
        file.unlink()
    else:
        file.write_bytes(whole[:-8] + bytes(8))
    note = "note: f5.py is not searched, because its object cannot be read: git fsck"
    before = run(two, "status")
    assert "stale: git itza index" in before.out
    assert run(two, "index").error == [note]
    after = run(two, "status")
    assert "19/19 files  fresh" in after.out
    assert "skipped   1 unreadable" in after.out
    assert after.error == [note]
    assert json.loads(run(two, "status", "--json").out)["fresh"] is True
    file.write_bytes(whole)
    assert "19/20 files  stale: git itza index" in run(two, "status").out
    run(two, "index")
    healed = run(two, "status")
    assert "20/20 files  fresh" in healed.out
    assert healed.error == []
