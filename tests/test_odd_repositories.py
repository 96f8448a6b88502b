"""Repositories in states that nobody plans: each command ends in one clear line, or does what the state allows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import Done, Run
from tests.repository import Repo, existing

pytestmark = pytest.mark.usefixtures("object_format")

LIMIT = "def limit(count):\n    return count < 3\n"


@pytest.fixture
def repo(repo: Repo) -> Repo:
    """Two commits of two files."""
    repo.write("net/limit.py", LIMIT)
    repo.write("net/parse.py", "def parse(line):\n    return line\n")
    repo.commit("one")
    repo.write("README.md", "# Words\n")
    repo.commit("two")
    return repo


def drop(repo: Repo, revision: str) -> str:
    """Deletes an object; its id."""
    id = repo.git("rev-parse", revision)
    (repo.path / ".git" / "objects" / id[:2] / id[2:]).unlink()
    return id


def finds(done: Done) -> bool:
    """Whether a search found the function."""
    assert "Traceback" not in done.err
    return (done.code, done.out.partition("@")[0]) == (0, "net/limit.py:1-2")


def refused(done: Done) -> list[str]:
    """The error and the hint of a command that did not do it."""
    assert (done.code, done.out) == (2, ""), done
    assert len(done.error) == 2
    return [line.partition(": ")[2] for line in done.error]


# Broken from within


def test_broken_packed_refs(repo: Repo, run: Run) -> None:
    run(repo, "index")
    repo.git("branch", "side")
    repo.git("pack-refs", "--all")
    with (repo.path / ".git" / "packed-refs").open("a") as file:
        file.write("rubbish\n")
    for command in (("status",), ("search", "limit", "--branch", "side"), ("gc",)):
        assert "cannot be read" in refused(run(repo, *command))[0]


def broken_commit(repo: Repo) -> str:
    return f"commit {drop(repo, 'HEAD')} cannot be read: it is missing"


def broken_tree(repo: Repo) -> str:
    return f"tree {drop(repo, 'HEAD^{tree}')} cannot be read: it is missing"


def broken_folder(repo: Repo) -> str:
    return f"tree {drop(repo, 'HEAD:net')} at net cannot be read: it is missing"


def broken_pack(repo: Repo) -> str:
    repo.git("gc", "--quiet")
    (pack,) = (repo.path / ".git" / "objects" / "pack").glob("*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:40])
    return f"commit {(repo.path / '.git' / 'packed-refs').read_text().split()[-2]} cannot be read: it is missing"


@pytest.mark.parametrize("damage", [broken_commit, broken_tree, broken_folder, broken_pack])
def test_missing_objects_are_named(repo: Repo, run: Run, damage: Callable[[Repo], str]) -> None:
    told = damage(repo)
    for command in (("index",), ("search", "limit"), ("status",)):
        assert refused(run(repo, *command)) == [told, "git fsck"]


def test_a_missing_blob_costs_only_its_file(repo: Repo, run: Run) -> None:
    drop(repo, "HEAD:net/parse.py")
    for options in ((), ("--worktree",)):
        done = run(repo, "search", "limit", *options)
        assert finds(done)
        assert "note: net/parse.py is not searched, because its object cannot be read: git fsck" in done.error


def test_objects_that_were_borrowed_from_a_repository_that_is_gone(repo: Repo, tmp_path: Path, run: Run) -> None:
    borrower = tmp_path / "borrower"
    repo.git("clone", "--quiet", "--shared", ".", str(borrower))
    assert finds(run(borrower, "search", "limit"))
    repo.path.rename(tmp_path / "moved")
    told = refused(run(borrower, "index"))
    assert f"borrowed from {repo.path / '.git' / 'objects'}, which is not there" in told[0]
    assert told[1] == f"{borrower / '.git' / 'objects' / 'info' / 'alternates'} names it"


@pytest.mark.parametrize("content", ["ref: refs/heads/loop\n", "rubbish\n"])
def test_a_head_that_leads_nowhere(repo: Repo, run: Run, content: str) -> None:
    repo.write(".git/refs/heads/loop", "ref: refs/heads/back\n")
    repo.write(".git/refs/heads/back", "ref: refs/heads/loop\n")
    repo.write(".git/refs/heads/main", content)
    for command in ("index", "status"):
        assert f"HEAD of {repo.path} cannot be read" in refused(run(repo, command))[0]
    assert "no local branch is named loop" in refused(run(repo, "search", "limit", "--branch", "loop"))[0]


def test_a_head_on_a_branch_that_is_not_there(repo: Repo, run: Run) -> None:
    repo.git("symbolic-ref", "HEAD", "refs/heads/new")
    assert refused(run(repo, "index")) == [f"the branch of HEAD has no commit yet: {repo.path}", "--rev main"]
    assert finds(run(repo, "search", "limit", "--rev", "main"))


# Not where it was


def test_a_worktree_whose_repository_moved(repo: Repo, tmp_path: Path, run: Run) -> None:
    side = tmp_path / "side"
    repo.git("worktree", "add", "--quiet", "-b", "side", str(side))
    moved = existing(repo.path.rename(tmp_path / "moved"))
    lost = repo.path / ".git" / "worktrees" / "side"
    assert refused(run(side, "index")) == [
        f"the repository of {side} is not where its .git file says: {lost}",
        f"in the main worktree: git worktree repair {side}",
    ]
    for command in ("index", "status", "gc"):
        assert run(moved, command).code == 0
    moved.git("worktree", "repair", str(side))
    assert finds(run(side, "search", "limit"))
    shutil.rmtree(side)
    assert run(moved, "gc").code == run(moved, "status").code == 0


@pytest.mark.parametrize("content", [b"", b"gitdir:\n", b"rubbish\xff\0"])
def test_a_git_file_that_is_none(tmp_path: Path, run: Run, content: bytes) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_bytes(content)
    assert str(tmp_path / "odd") in refused(run(tmp_path / "odd", "index"))[0]


def test_submodules_that_are_gone_or_never_came(repo: Repo, tmp_path: Path, run: Run) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit("inside")
    for name in ("gone", "empty"):
        repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), name)
    repo.commit("submodules")
    repo.git("submodule", "--quiet", "deinit", "--force", "empty")
    shutil.rmtree(repo.path / ".git" / "modules" / "gone")
    assert finds(run(repo, "search", "limit", "--worktree"))
    assert run(repo, "search", "limit", "--json").json["dirty"] is False
    told = refused(run(repo.path / "gone", "index"))
    assert told[1] == "in the repository around it: git submodule update --init"
    assert finds(run(repo.path / "empty", "search", "limit"))  # an empty folder is one of the outer repository


def test_a_folder_that_variables_name_and_that_is_not_there(
    repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_WORK_TREE", "/nowhere")
    assert finds(run(repo, "search", "limit"))
    assert refused(run(repo, "search", "limit", "--worktree"))[0] == "there is no folder /nowhere"
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    assert refused(run(repo, "index"))[0] == "not a git repository: /nowhere/.git"


def test_the_variables_of_a_hook_point_elsewhere(
    repo: Repo, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(repo.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repo.path))
    for name in ("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert finds(run(other, "search", "limit"))
    assert finds(run(other, "search", "limit", "--worktree", "--path", "net/*.py"))


@pytest.mark.parametrize("named", [False, True])
def test_a_repository_of_another_owner(repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    for place in [repo.path, *repo.path.rglob("*")]:
        os.chown(place, 1234, 1234)
    if named:  # git then looks at no owner; we do
        monkeypatch.setenv("GIT_DIR", str(repo.path / ".git"))
    assert refused(run(repo, "index")) == [
        f"the repository at {repo.path} belongs to another user",
        f"git config --global --add safe.directory {repo.path}",
    ]
    repo.git("config", "--global", "--add", "safe.directory", str(repo.path))
    assert finds(run(repo, "search", "limit"))


def test_an_owner_that_only_this_command_trusts(repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    for place in [repo.path, *repo.path.rglob("*")]:
        os.chown(place, 1234, 1234)
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": str(repo.path)}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert finds(run(repo, "search", "limit"))


# What git allows


def test_objects_that_are_replaced_and_grafts_do_not_count(repo: Repo, run: Run) -> None:
    other = repo.git("hash-object", "-w", "--stdin", stdin=b"def replaced():\n    pass\n")
    repo.git("replace", repo.git("rev-parse", "HEAD:net/limit.py"), other)
    repo.git("replace", "--graft", "HEAD")
    repo.write(".git/info/grafts", repo.git("rev-parse", "HEAD") + "\n")
    assert finds(run(repo, "search", "limit"))
    assert run(repo, "search", "replaced").code == 1


@pytest.mark.parametrize("option", ["--no-sparse-index", "--sparse-index"])
def test_a_sparse_checkout_is_searched_whole(repo: Repo, run: Run, option: str) -> None:
    repo.write("doc/words.md", "# Words\n")
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", option, "doc")
    assert not (repo.path / "net").exists()
    assert finds(run(repo, "search", "limit"))
    assert finds(run(repo, "search", "limit", "--worktree"))


def test_a_shallow_clone_ends_where_it_ends(repo: Repo, tmp_path: Path, run: Run) -> None:
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    assert finds(run(tmp_path / "shallow", "search", "limit"))
    assert refused(run(tmp_path / "shallow", "search", "limit", "--rev", "HEAD~1"))[0] == "unknown revision 'HEAD~1'"


def test_a_bare_repository(repo: Repo, tmp_path: Path, run: Run) -> None:
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", ".", str(bare))
    assert finds(run(bare, "search", "limit"))
    assert refused(run(bare, "search", "limit", "--worktree"))[0] == f"{bare} has no working tree"
    assert run(bare, "hooks", "install").code == run(bare, "status").code == 0


def test_branches_with_the_names_of_other_things(repo: Repo, run: Run) -> None:
    head = repo.git("rev-parse", "--short", "HEAD")
    before = repo.git("rev-parse", "--short", "HEAD~1")
    for name in ("HEAD", "-x", "--all", "main@2"):
        repo.git("update-ref", f"refs/heads/{name}", before)
    for options, commit in {
        ("--branch", "HEAD"): before,
        ("--branch=-x",): before,
        ("--branch=--all",): before,
        ("--rev", "refs/heads/HEAD"): before,
        ("--rev", "HEAD"): head,
        (): head,
    }.items():
        done = run(repo, "search", "limit", *options)
        assert finds(done)
        assert f"@{commit} " in done.out.splitlines()[0]
    told = refused(run(repo, "search", "limit", "--rev", "HEAD:net"))
    assert told[0] == "revision 'HEAD:net' is a tree, not a commit"
    assert run(repo, "gc").code == run(repo, "status").code == 0


def test_tags_of_what_is_no_commit(repo: Repo, run: Run) -> None:
    repo.git("tag", "file", repo.git("rev-parse", "HEAD:net/limit.py"))
    repo.git("tag", "folder", repo.git("rev-parse", "HEAD:net"))
    repo.git("tag", "--annotate", "--message", "t", "signed", "file")
    for name, kind in {"file": "blob", "folder": "tree", "signed": "tag of a blob"}.items():
        told = refused(run(repo, "search", "limit", "--rev", name))
        assert told == [f"revision '{name}' is a {kind}, not a commit", "git log --oneline --all"]


def test_names_that_differ_in_case_only(repo: Repo, run: Run) -> None:
    other = repo.git("hash-object", "-w", "--stdin", stdin=b"def upper():\n    pass\n")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{other},net/LIMIT.py")
    repo.git("commit", "--quiet", "--message", "both")
    repo.git("config", "core.ignoreCase", "true")
    assert finds(run(repo, "search", "limit"))
    assert run(repo, "search", "upper").out.startswith("net/LIMIT.py:1-2@")


def test_an_empty_repository(tmp_path: Path, run: Run) -> None:
    empty = Repo(tmp_path / "empty")
    for command in (("index",), ("search", "x"), ("ask", "x"), ("search", "x", "--worktree")):
        assert refused(run(empty, *command)) == [f"{empty.path} has no commit yet", "git commit"]
    for command in (("status",), ("gc",)):
        assert run(empty, *command).code == 0


# Objects that git itself would not write


def raw(repo: Repo, kind: str, content: bytes) -> bytes:
    """The id of an object with any content."""
    return bytes.fromhex(repo.git("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=content))


def branch(repo: Repo, name: str, tree: bytes, who: bytes = b"a <a@b> 1 +0000") -> None:
    """A branch with one commit of a root tree's content."""
    id = raw(repo, "tree", tree)
    commit = raw(repo, "commit", b"tree %s\nauthor %s\ncommitter %s\n\nm\n" % (id.hex().encode(), who, who))
    repo.write(f".git/refs/heads/{name}", commit.hex() + "\n")


@pytest.mark.parametrize("path", [b"../../etc/passwd", b"/etc/passwd", b".git", b"a\n\x1b]0;x\x07.py"])
def test_paths_that_lead_out_of_the_tree_are_only_names(repo: Repo, run: Run, path: bytes) -> None:
    blob = bytes.fromhex(repo.git("rev-parse", "HEAD:net/limit.py"))
    branch(repo, "evil", b"100644 " + path + b"\0" + blob)
    done = run(repo, "search", "limit count", "--rev", "evil")
    assert (done.code, done.err) == (0, "")
    assert "return count < 3" in done.out
    assert "\x1b" not in done.out
    repo.git("symbolic-ref", "HEAD", "refs/heads/evil")
    # None of these is in git's index, so for the working tree they are deleted: nothing is looked up at such a path.
    done = run(repo, "search", "limit count", "--worktree")
    cited = [line.split("  ")[0] for line in done.out.splitlines() if "@" in line]
    assert cited[0] == "net/limit.py:1-2@worktree"
    assert set(cited) <= {"net/limit.py:1-2@worktree", "net/parse.py:1-2@worktree"}


@pytest.mark.parametrize("content", [b"\xff" * 50, b"100644 \0%s", b"40000 d\0%s"])
def test_a_tree_that_is_none_is_named_and_ends_only_its_branch(repo: Repo, run: Run, content: bytes) -> None:
    blob = bytes.fromhex(repo.git("rev-parse", "HEAD:net/limit.py"))
    branch(repo, "evil", content.replace(b"%s", blob))
    assert refused(run(repo, "search", "limit", "--rev", "evil"))[1] == "git fsck"
    assert finds(run(repo, "search", "limit"))
    status = run(repo, "status", "--json").json
    assert [one["name"] for one in status["branches"]] == ["main"]
    assert status["damaged"][0].startswith("branch evil: tree ")


@pytest.mark.parametrize("content", [b"", b"tree abcd\n\n"])
def test_a_commit_that_is_none(repo: Repo, run: Run, content: bytes) -> None:
    repo.write(".git/refs/heads/evil", raw(repo, "commit", content).hex() + "\n")
    assert refused(run(repo, "search", "limit", "--rev", "evil")) == ["revision 'evil' is a broken commit", "git fsck"]
    assert run(repo, "status").code == 0


@pytest.mark.parametrize("who", [b"a", b"a <a@b> 99999999999999999999999 +0000"])
def test_a_commit_by_nobody_in_particular_is_read(repo: Repo, run: Run, who: bytes) -> None:
    blob = bytes.fromhex(repo.git("rev-parse", "HEAD:net/limit.py"))
    branch(repo, "old", b"100644 limit.py\0" + blob, who)
    done = run(repo, "search", "limit", "--rev", "old")
    assert (done.code, done.out.partition("@")[0]) == (0, "limit.py:1-2")
    assert run(repo, "status").code == 0
