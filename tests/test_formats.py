"""Repositories that libgit2 does not open, or not all of: SHA-256, reftable, partial clones, newer formats (C38)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from itza_git.git import open_repository
from itza_git.git.cli_backend import CliRepository
from itza_git.git.environment import FIXED
from itza_git.git.pygit2_backend import Pygit2Repository
from tests.command import Run, itza
from tests.hooked import Hooked
from tests.repository import Repo, existing

LIMIT = "def limit_retries(count):\n    return count < 3  # give up after the third\n"
PARSE = "def parse_header(line):\n    return line.split(':')\n"


def git_version() -> tuple[int, ...]:
    said = subprocess.run(["git", "version"], capture_output=True, check=True, text=True).stdout
    return tuple(int(part) for part in said.split()[2].split(".")[:2])


reftable = pytest.param(
    "--ref-format=reftable", id="reftable", marks=pytest.mark.skipif(git_version() < (2, 45), reason="git before 2.45")
)
FORMATS = [pytest.param("--object-format=sha256", id="sha256"), reftable]


@pytest.fixture(params=FORMATS)
def strange(request: pytest.FixtureRequest, tmp_path: Path) -> Repo:
    """A repository of a format that only git itself reads, with two files."""
    repo = Repo(tmp_path / "strange", request.param)
    repo.write("net/retry.py", LIMIT)
    repo.write("net/header.py", PARSE)
    repo.commit("first")
    return repo


def cited(repo: Repo, path: str, lines: str = "1-2") -> str:
    return f"{path}:{lines}@{repo.git('rev-parse', '--short', 'HEAD')}"


# Every command


def test_the_formats_are_read_by_git_itself(strange: Repo, repo: Repo) -> None:
    assert isinstance(open_repository(strange.path), CliRepository)
    assert isinstance(open_repository(repo.path), Pygit2Repository)


def test_a_question_is_answered_with_citations_that_hold(strange: Repo, run: Run) -> None:
    done = run(strange, "index")
    assert done.code == 0, done.err
    assert run(strange, "search", "limit retries").out.startswith(cited(strange, "net/retry.py"))
    asked = run(strange, "ask", "how are retries limited?", "--no-model", "--json").json
    head = strange.git("rev-parse", "HEAD")
    assert asked["commit"] == head
    assert asked["passages"][0]["citation"] == cited(strange, "net/retry.py")
    assert asked["passages"][0]["blob"] == strange.git("rev-parse", "HEAD:net/retry.py")
    assert run(strange, "show", cited(strange, "net/retry.py")).out == "".join(
        f"{n}  {line}\n" for n, line in enumerate(LIMIT.splitlines(), 1)
    )
    status = run(strange, "status", "--json").json
    assert (status["fresh"], status["head"]["name"], status["head"]["commit"]) == (True, "main", head)


def test_citations_are_followed_when_the_lines_move(strange: Repo, run: Run) -> None:
    strange.write("answer.md", f"Retries end after the third: {cited(strange, 'net/retry.py')}\n")
    strange.write("net/retry.py", "import time\n\n\n" + LIMIT)
    strange.commit("moved")
    done = run(strange, "verify", "answer.md", "--json").json
    (found,) = done["citations"]
    assert (found["status"], found["now"]) == ("moved", cited(strange, "net/retry.py", "4-5"))


def test_branches_worktrees_and_uncommitted_content(strange: Repo, tmp_path: Path, run: Run) -> None:
    run(strange, "index")
    strange.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = existing(tmp_path / "side")
    side.write("net/jitter.py", "def add_jitter(delay):\n    return delay * 2\n")
    side.commit("jitter")
    assert run(side, "index").code == 0
    assert run(side, "search", "jitter").out.startswith(cited(side, "net/jitter.py"))
    assert "net/jitter.py" in run(strange, "search", "jitter", "--branch", "side").out
    assert "net/jitter.py" not in run(strange, "search", "jitter").out
    strange.write("net/backoff.py", "def exponential_backoff(n):\n    return 2**n\n")
    assert "net/backoff.py:1-2@worktree" in run(strange, "search", "exponential backoff", "--worktree").out
    assert run(strange, "gc").code == 0
    names = [branch["name"] for branch in run(strange, "status", "--json").json["branches"]]
    assert names == ["main", "side"]


def test_a_commit_fires_the_hook(strange: Repo) -> None:
    assert itza(strange, "hooks", "install").code == 0
    strange.write("net/pool.py", "def borrow_connection():\n    pass\n")
    strange.commit("pool")
    hooked = Hooked(strange)
    done = hooked.settle()
    assert (done.indexed, done.total) == (3, 3)


def test_an_empty_repository_says_what_is_missing(tmp_path: Path, run: Run) -> None:
    empty = Repo(tmp_path / "empty", "--object-format=sha256")
    done = run(empty, "index")
    assert done.code == 2
    assert done.error == [f"error: {empty.path} has no commit yet", "hint: git commit"]
    empty.commit("nothing in it")
    assert run(empty, "index").code == 0
    assert run(empty, "status").code == 0


def test_a_format_that_git_itself_does_not_know(repo: Repo, run: Run) -> None:
    repo.commit()
    repo.git("config", "core.repositoryformatversion", "1")
    repo.git("config", "extensions.tomorrow", "true")
    done = run(repo, "index")
    assert done.code == 2
    assert done.error == [
        f"error: the repository at {repo.path} uses git's extension tomorrow, which the installed git is too old for",
        "hint: a newer git; git --version",
    ]


@pytest.mark.parametrize("extension", ["worktreeConfig", "preciousObjects", "noop"])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_extensions_that_change_nothing_for_a_reader(
    tmp_path: Path, run: Run, extension: str, object_format: str
) -> None:
    repo = Repo(tmp_path / "repo", f"--object-format={object_format}")
    repo.write("net/retry.py", LIMIT)
    repo.commit()
    repo.git("config", "core.repositoryformatversion", "1")
    repo.git("config", f"extensions.{extension}", "true")
    if extension == "worktreeConfig":
        repo.git("config", "--worktree", "itza.exclude", "net")
    done = run(repo, "search", "limit retries")
    assert done.out.startswith("net/retry.py:1-2@") is (extension != "worktreeConfig")


def test_an_extension_that_only_libgit2_knows(repo: Repo, run: Run) -> None:
    if git_version() >= (2, 48):
        pytest.skip("this git knows it too")
    repo.commit()
    repo.git("config", "core.repositoryformatversion", "1")
    repo.git("config", "extensions.relativeWorktrees", "true")
    done = run(repo, "index")
    assert (done.code, len(done.error)) == (2, 2)
    assert "uses git's extension relativeworktrees" in done.error[0]


# Partial clones


@pytest.fixture
def origin(repo: Repo) -> Repo:
    """A repository that serves partial clones."""
    repo.write("old.py", "def only_in_the_past():\n    pass\n")
    repo.write("net/retry.py", "def first_version():\n    pass\n")
    repo.commit("first")
    repo.git("rm", "--quiet", "old.py")
    repo.write("net/retry.py", LIMIT)
    repo.commit("second")
    repo.git("config", "uploadpack.allowFilter", "true")
    return repo


class Partial:
    """A partial clone that notes when its remote is contacted."""

    def __init__(self, origin: Repo, folder: Path, *options: str) -> None:
        origin.git("clone", "--quiet", *options, f"file://{origin.path}", str(folder))
        self.repo = existing(folder)
        self.contacted = folder.parent / "contacted"
        self.repo.git("config", "remote.origin.uploadpack", f"touch '{self.contacted}'; git-upload-pack")

    def objects(self) -> list[Path]:
        return sorted((self.repo.path / ".git" / "objects").rglob("*"))


NOT_LOCAL = "not local: partial clone"
# As git was before it could be told not to fetch: only the second of our two ways then works.
OLD = pytest.mark.parametrize("old", [False, True])


@OLD
@pytest.mark.parametrize("options", [("--filter=blob:none",), ("--filter=blob:none", "--no-checkout")])
@pytest.mark.parametrize("extension", [False, True])
def test_nothing_is_fetched_into_a_partial_clone(
    origin: Repo,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    old: bool,
    options: tuple[str, ...],
    extension: bool,
) -> None:
    partial = Partial(origin, tmp_path / "partial", *options)
    if extension:  # as older versions of git noted it; libgit2 then refuses
        partial.repo.git("config", "extensions.partialClone", "origin")
    if old:
        monkeypatch.delitem(FIXED, "GIT_NO_LAZY_FETCH")
    trace, objects = tmp_path / "trace", partial.objects()
    monkeypatch.setenv("GIT_TRACE", str(trace))
    lacking = {True: {"net/retry.py"}, False: set()}["--no-checkout" in options]
    for rev, missing in (("HEAD", lacking), ("HEAD~1", {"net/retry.py", "old.py"})):
        report = run(partial.repo, "index", rev)
        assert report.code == 0, report.err
        found = run(partial.repo, "search", "version limit past", "--json", "--rev", rev)
        skipped = {one["path"]: one["reason"] for one in found.json["coverage"]["skipped"]}
        assert skipped == dict.fromkeys(missing, NOT_LOCAL)
        if missing:
            files = "1 file is" if len(missing) == 1 else "2 files are"
            assert f"note: {files} not searched, because this partial clone lacks" in found.err
            assert "hint: git fetch --refetch --no-filter" in found.err
    assert run(partial.repo, "status").code == run(partial.repo, "gc").code == 0
    blob = origin.git("rev-parse", "HEAD~1:old.py")
    shown = run(partial.repo, "show", f"old.py:1@{origin.git('rev-parse', '--short', 'HEAD~1')}")
    assert shown.code == 2 and "is not local: this is a partial clone" in shown.err
    for revision in (blob, "1" * 40, ":/nowhere", "HEAD:old.py"):
        assert run(partial.repo, "search", "x", "--rev", revision).code == 2
    assert partial.objects() == objects
    assert not partial.contacted.exists()
    assert "rev-parse" in trace.read_text()
    if not old:
        assert "upload-pack" not in trace.read_text()


def test_what_is_fetched_later_is_indexed(origin: Repo, tmp_path: Path, run: Run) -> None:
    partial = Partial(origin, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    assert run(partial.repo, "search", "limit retries").code == 1
    partial.repo.git("fetch", "--quiet", "--refetch", "--no-filter")
    assert partial.contacted.exists()
    assert run(partial.repo, "search", "limit retries").out.startswith(cited(partial.repo, "net/retry.py"))
    assert run(partial.repo, "status", "--json").json["fresh"]


def test_what_is_not_local_is_said_of_its_citation_and_the_others_are_checked(
    origin: Repo, tmp_path: Path, run: Run
) -> None:
    lines = "".join(f"def number_{n}():\n    return {n} * {n}\n" for n in range(20))
    origin.write("kept.py", lines)
    origin.write("lost.py", "def lost():\n    return 1\n")
    origin.write("moved.py", f"A = 1\n{lines.replace('number', 'digit')}")
    origin.commit("three")
    at = origin.git("rev-parse", "--short", "HEAD")
    origin.git("rm", "--quiet", "lost.py")
    origin.write("moved.py", lines.replace("number", "digit"))
    origin.write("else.py", "def other():\n    return 2\n")
    origin.commit("one less")
    partial = Partial(origin, tmp_path / "partial", "--filter=blob:none")
    objects = partial.objects()
    partial.repo.write("answer.md", f"kept.py:1-2@{at}\nlost.py:1-2@{at}\nmoved.py:2-5@{at}\nkept.py:900@{at}\n")
    done = run(partial.repo, "verify", "answer.md", "--json")
    assert (done.code, done.err) == (1, "")
    told = [(one["status"], one["reason"]) for one in done.json["citations"]]
    assert told == [
        ("same", None),
        ("gone", NOT_LOCAL),
        ("gone", NOT_LOCAL),
        ("gone", "its commit never had these lines"),
    ]
    assert partial.objects() == objects
    # A file that could have what is looked for, and is not there to be read.
    origin.git("rm", "--quiet", "kept.py")
    origin.write("far.py", f"B = 2\n{lines}")
    origin.commit("moved away")
    partial.repo.git("fetch", "--quiet")
    told = run(partial.repo, "verify", "answer.md", "--rev", "FETCH_HEAD", "--json").json["citations"][0]
    assert told["reason"] == f"file deleted; not all files could be searched ({NOT_LOCAL})"


@OLD
def test_a_clone_without_trees(
    origin: Repo, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    if old:
        monkeypatch.delitem(FIXED, "GIT_NO_LAZY_FETCH")
    partial = Partial(origin, tmp_path / "partial", "--filter=tree:0", "--no-checkout")
    done = run(partial.repo, "index")
    tree = origin.git("rev-parse", "HEAD^{tree}")
    assert done.code == 2
    assert done.error == [
        f"error: tree {tree} is not local: this is a partial clone",
        "hint: git fetch --refetch --no-filter",
    ]
    assert not partial.contacted.exists()


def test_the_hook_fetches_nothing(origin: Repo, tmp_path: Path) -> None:
    partial = Partial(origin, tmp_path / "partial", "--filter=blob:none")
    assert itza(partial.repo, "hooks", "install").code == 0
    partial.repo.write("new.py", PARSE)
    partial.repo.commit("new")
    done = Hooked(partial.repo).settle()
    assert (done.indexed, done.total) == (2, 2)
    assert not partial.contacted.exists()
