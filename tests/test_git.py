"""Both backends against real repositories, with git itself as the judge."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from itza_git.errors import GitError, NotARepository, UnbornHead, UnknownRevision, UnreadableObject
from itza_git.git import open_repository
from itza_git.git.environment import FIXED, LOCAL_VARIABLES, scrubbed
from itza_git.records import GITLINK, SYMLINK, Attributes, Change, Entry
from tests.repository import Repo

pytestmark = pytest.mark.usefixtures("object_format")


def digits(repo: Repo) -> int:
    """Hex digits of an id."""
    return {"sha1": 40, "sha256": 64}[repo.git("rev-parse", "--show-object-format")]


ODD = (b"caf\xe9.py", b"tab\there", b"new\nline", b'quo"te', b"back\\slash", b" lead", "日本.py".encode(), b"-dash")


def root_tree(repo: Repo, revision: str = "HEAD") -> bytes:
    return bytes.fromhex(repo.git("rev-parse", f"{revision}^{{tree}}"))


def loose(repo: Repo, id: str) -> Path:
    return repo.path / ".git" / "objects" / id[:2] / id[2:]


def listed(repo: Repo, revision: str = "HEAD") -> list[Entry]:
    """What `git ls-tree -r` says."""
    found = []
    for line in os.fsencode(repo.git("ls-tree", "-r", "-z", revision)).split(b"\0")[:-1]:
        head, path = line.split(b"\t", 1)
        mode, _, id = head.split(b" ")
        found.append(Entry(path, int(mode, 8), bytes.fromhex(id.decode())))
    return found


def many_commits(repo: Repo, count: int) -> list[str]:
    """So many commits in one go; their ids."""
    commits = (
        f"commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx\nM 644 inline f\ndata {len(str(n))}\n{n}\n"
        for n in range(count)
    )
    repo.git("fast-import", "--quiet", stdin="".join(commits).encode())
    return repo.git("rev-list", "main").split()


# Opening


def test_it_opens_from_a_folder_below(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("a/b/c.py")
    repo.commit()
    monkeypatch.chdir(repo.path / "a" / "b")
    for opened in (open_repository(), open_repository(repo.path / "a"), open_repository(repo.path / "a/b/c.py")):
        assert (opened.git_dir, opened.common_dir) == (repo.path / ".git", repo.path / ".git")
        assert opened.worktree == repo.path
        assert opened.id_length == digits(repo) // 2


def test_a_bare_repository(tmp_path: Path, repo: Repo) -> None:
    commit = repo.commit()
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    opened = open_repository(tmp_path / "bare.git")
    assert opened.worktree is None
    assert opened.git_dir == opened.common_dir == tmp_path / "bare.git"
    assert opened.resolve("HEAD").id.hex() == commit
    assert not opened.is_dirty()


def test_a_linked_worktree_shares_the_common_dir(tmp_path: Path, repo: Repo) -> None:
    repo.write("f", "1")
    repo.write(".gitattributes", "f linguist-generated\n")
    commit = bytes.fromhex(repo.commit())
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    opened = open_repository(tmp_path / "side")
    assert opened.attributes(commit, [b"f"]) == {b"f": Attributes(generated=True)}
    assert opened.git_dir == repo.path / ".git" / "worktrees" / "side"
    assert opened.common_dir == repo.path / ".git"
    assert opened.worktree == tmp_path / "side"
    assert opened.head().ref == "refs/heads/side"
    assert not opened.is_dirty()
    (tmp_path / "side" / "f").write_text("2")
    assert opened.is_dirty()
    assert not open_repository(repo.path).is_dirty()


def test_a_separate_git_dir(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "work", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    repo.commit()
    opened = open_repository(repo.path)
    assert (opened.git_dir, opened.worktree) == (tmp_path / "elsewhere", repo.path)


def test_a_submodule_is_a_gitlink_and_a_repository_of_its_own(tmp_path: Path, repo: Repo) -> None:
    inner = Repo(tmp_path / "inner")
    inner.write("x.py", "x = 1\n")
    inner.write(".gitattributes", "*.py linguist-vendored\n")
    pinned = inner.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit()
    opened = open_repository(repo.path)
    assert Entry(b"sub", GITLINK, bytes.fromhex(pinned)) in opened.tree(root_tree(repo))
    assert not opened.is_dirty()
    below = open_repository(repo.path / "sub")
    assert below.git_dir == below.common_dir == repo.path / ".git" / "modules" / "sub"
    assert below.worktree == repo.path / "sub"
    assert below.resolve("HEAD").id.hex() == below.resolve("HEAD@{0}").id.hex() == pinned
    assert below.attributes(bytes.fromhex(pinned), [b"x.py"]) == {b"x.py": Attributes(vendored=True)}
    assert not below.is_dirty()


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("work_tree", [None, "other"])
def test_git_dir_and_work_tree_of_the_environment(
    repo: Repo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    relative: bool,
    work_tree: str | None,
) -> None:
    (tmp_path / "other").mkdir()
    commit = repo.commit()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_DIR", "repo/.git" if relative else str(repo.path / ".git"))
    if work_tree:
        monkeypatch.setenv("GIT_WORK_TREE", work_tree if relative else str(tmp_path / work_tree))
    opened = open_repository()
    assert opened.resolve("HEAD").id.hex() == commit
    assert opened.git_dir == repo.path / ".git"
    judge = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, check=True, text=True)
    assert str(opened.worktree) == judge.stdout.strip()


def test_a_named_path_beats_the_environment(tmp_path: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("one")
    other = Repo(tmp_path / "other")
    commit = other.commit("two")
    monkeypatch.setenv("GIT_DIR", str(repo.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'itza.embedder'='ollama'")
    opened = open_repository(other.path)
    assert opened.resolve("HEAD@{0}").id.hex() == opened.resolve("HEAD").id.hex() == commit
    assert opened.config("itza.embedder") == []
    assert not opened.is_dirty()


def test_git_dir_of_a_linked_worktree_as_hooks_get_it(
    tmp_path: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit()
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    monkeypatch.chdir(tmp_path / "side")
    monkeypatch.setenv("GIT_DIR", str(repo.path / ".git/worktrees/side"))
    opened = open_repository()
    assert opened.head().ref == "refs/heads/side"
    assert (opened.common_dir, opened.worktree) == (repo.path / ".git", tmp_path / "side")


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NotARepository, match=f"not a git repository: {tmp_path}") as caught:
        open_repository(tmp_path)
    assert caught.value.hint == "run it inside a git repository, or git init"
    with pytest.raises(NotARepository, match="no such folder"):
        open_repository(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_DIR", "nothing.git")
    with pytest.raises(NotARepository, match=r"nothing\.git"):
        open_repository()


def test_a_repository_of_another_owner(repo: Repo, home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    repo.commit()
    for place in [repo.path, *repo.path.rglob("*")]:
        os.chown(place, 1234, 1234)
    with pytest.raises(GitError, match="belongs to another user") as caught:
        open_repository(repo.path)
    assert caught.value.hint == f"git config --global --add safe.directory {repo.path}"
    subprocess.run(caught.value.hint.split(), check=True)
    assert open_repository(repo.path).head().commit is not None


# HEAD, branches, revisions


def test_an_unborn_head(repo: Repo) -> None:
    opened = open_repository(repo.path)
    head = opened.head()
    assert (head.ref, head.commit) == ("refs/heads/main", None)
    assert opened.branches() == []
    for revision in ("HEAD", "@", "HEAD~1"):
        with pytest.raises(UnbornHead, match="has no commit yet") as caught:
            opened.resolve(revision)
        assert caught.value.hint == "git commit"
    assert not opened.is_dirty()
    repo.write("new")
    assert opened.is_dirty()


def test_a_detached_head(repo: Repo) -> None:
    first = repo.commit("one")
    repo.commit("two")
    repo.git("switch", "--quiet", "--detach", "HEAD~1")
    opened = open_repository(repo.path)
    head = opened.head()
    assert head.ref is None
    assert head.commit is not None
    assert head.commit.id.hex() == first
    assert [branch.name for branch in opened.branches()] == ["main"]


@pytest.mark.parametrize("content", ["garbage\n", "", "0" * 39 + "\n", "0" * 64 + "x\n"])
def test_a_head_that_names_a_broken_ref(repo: Repo, content: str) -> None:
    repo.commit()
    repo.git("branch", "fine")
    repo.write(".git/refs/heads/main", content)
    opened = open_repository(repo.path)
    with pytest.raises(GitError, match="HEAD"):
        opened.head()
    assert [branch.name for branch in opened.branches()] == ["fine"]


def test_a_head_whose_commit_is_missing(repo: Repo) -> None:
    repo.commit()
    missing = "1" * digits(repo)
    repo.write(".git/refs/heads/main", missing + "\n")
    opened = open_repository(repo.path)
    with pytest.raises(UnreadableObject, match=missing):
        opened.head()
    with pytest.raises(GitError, match=missing):
        opened.resolve("HEAD")


def test_branches_are_sorted_and_odd_names_survive(repo: Repo) -> None:
    first = repo.commit("one")
    for name in ("zeta", "feature/b@2", "日本", "HEADLINE"):
        repo.git("branch", name)
    second = repo.commit("two")
    opened = open_repository(repo.path)
    found = {branch.name: branch.commit.id.hex() for branch in opened.branches()}
    assert list(found) == sorted(found)
    assert found == {"main": second, "zeta": first, "feature/b@2": first, "日本": first, "HEADLINE": first}
    for name, id in found.items():
        assert opened.resolve(name).id.hex() == id


def test_revisions_mean_what_git_says(repo: Repo) -> None:
    repo.write("f", "1")
    repo.commit("first steps")
    repo.git("tag", "light")
    repo.write("f", "2")
    repo.commit("second")
    repo.git("tag", "--annotate", "--message", "t", "heavy")
    repo.git("tag", "--annotate", "--message", "t", "nested", "heavy")
    repo.git("switch", "--quiet", "--create", "side", "HEAD~1")
    repo.write("g")
    repo.commit("third")
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--message", "merged", "side")
    repo.git("branch", "--quiet", "--set-upstream-to=main", "side")
    repo.write("f", "stashed")
    repo.git("stash", "--quiet")
    opened = open_repository(repo.path)
    revisions = "HEAD @ main heads/main refs/heads/main light heavy nested heavy^{} heavy^0 HEAD~2 HEAD^2 HEAD^^ @~1"
    searching = "HEAD^{commit} stash stash@{0} stash^2 HEAD@{0} HEAD@{1} main@{1} @{-1} side@{u} HEAD^{/second} :/third"
    spaced = [":/first steps", "HEAD@{1 day ago}", "HEAD@{yesterday}", "main@{2001-01-01}"]
    for revision in [*revisions.split(), *searching.split(), *spaced]:
        found = opened.resolve(revision)
        peeled = repo.git("rev-parse", f"{repo.git('rev-parse', revision)}^{{commit}}")
        assert found.id.hex() == peeled, revision
        assert found.tree == root_tree(repo, peeled)
        assert found.time == int(repo.git("show", "-s", "--format=%ct", peeled))
    full = repo.git("rev-parse", "HEAD")
    for length in (6, 12, digits(repo)):
        assert opened.resolve(full[:length]).id.hex() == full
    described = repo.git("describe", "--long", "heavy")
    assert opened.resolve(described).id.hex() == repo.git("rev-parse", "heavy^0")


NONE = [
    "",
    "nope",
    "HEAD~99",
    "-x",
    "--all",
    "--help",
    "^HEAD",
    "HEAD..HEAD",
    "HEAD^@",
    "a\0b",
    "bad\udcff",
    "stash@{0}",
]
NONE += ["1" * 40, "1" * 64, "HEAD@{99}", "nope@{u}", ":/no such text", "a b", "~", "HEAD^{nonsense}", "\n", "x" * 5000]


@pytest.mark.parametrize("revision", NONE)
def test_a_revision_that_is_none(repo: Repo, revision: str) -> None:
    repo.commit()
    opened = open_repository(repo.path)
    with pytest.raises(UnknownRevision) as caught:
        opened.resolve(revision)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_blob_and_a_tree_are_no_commits(repo: Repo) -> None:
    repo.write("d/f", "content")
    repo.commit()
    repo.git("tag", "file", repo.git("rev-parse", "HEAD:d/f"))
    opened = open_repository(repo.path)
    for revision, kind in {"file": "blob", "HEAD:d/f": "blob", "HEAD:d": "tree", "HEAD^{tree}": "tree"}.items():
        with pytest.raises(UnknownRevision, match=f"is a {kind}, not a commit"):
            opened.resolve(revision)


def test_an_ambiguous_short_id(repo: Repo) -> None:
    commits = many_commits(repo, 1200)
    starts = Counter(id[:4] for id in commits)
    opened = open_repository(repo.path)
    twice = next(start for start, count in starts.items() if count > 1)
    with pytest.raises(UnknownRevision, match=f"'{twice}' is ambiguous .* commit") as caught:
        opened.resolve(twice)
    assert caught.value.hint == "use more digits: git log --oneline"
    # Ambiguous among all objects, but only one of them is a commit: git takes it.
    once = {start for start, count in starts.items() if count == 1}
    hashed = hashlib.sha1 if digits(repo) == 40 else hashlib.sha256
    named = ((str(n), hashed(f"blob {len(str(n))}\0{n}".encode()).hexdigest()[:4]) for n in range(10**6))
    text, start = next((text, start) for text, start in named if start in once)
    repo.git("hash-object", "-w", "--stdin", stdin=text.encode())
    assert open_repository(repo.path).resolve(start).id.hex() == repo.git("rev-parse", f"{start}^{{commit}}")


# Trees and differences


def test_a_tree_with_everything(repo: Repo) -> None:
    for name in ODD:
        repo.write(name, name)
        repo.write(b"dir/" + name, name)
    repo.write("a", "1")
    repo.write("a.b", "2")
    repo.write("a0/x", "3")
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (repo.path / "link").symlink_to("a")
    (repo.path / "loop").symlink_to(".")
    repo.write("one/two/three/four/five", "deep")
    repo.commit()
    entries = open_repository(repo.path).tree(root_tree(repo))
    assert entries == listed(repo)
    assert [entry.path for entry in entries if entry.mode == SYMLINK] == [b"link", b"loop"]


def test_an_empty_tree(repo: Repo) -> None:
    commit = repo.commit("nothing")
    opened = open_repository(repo.path)
    assert opened.tree(opened.resolve(commit).tree) == []
    assert opened.diff(opened.resolve(commit).tree, opened.resolve(commit).tree) == []


def test_a_very_deep_tree(repo: Repo) -> None:
    tree = repo.git("mktree")
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"deep")
    tree = repo.git("mktree", stdin=f"100644 blob {blob}\tf\n".encode())
    for _ in range(60):
        tree = repo.git("mktree", stdin=f"040000 tree {tree}\td\n".encode())
    opened = open_repository(repo.path)
    (entry,) = opened.tree(bytes.fromhex(tree))
    assert entry.path == b"d/" * 60 + b"f"


def test_a_missing_subtree_is_named(repo: Repo) -> None:
    repo.write("a/b/c", "1")
    repo.commit()
    loose(repo, repo.git("rev-parse", "HEAD:a/b")).unlink()
    with pytest.raises(UnreadableObject, match="at a/b cannot be read"):
        open_repository(repo.path).tree(root_tree(repo))


def test_a_blob_is_no_tree(repo: Repo) -> None:
    repo.write("f", "1")
    repo.commit()
    with pytest.raises(UnreadableObject, match="is not a tree"):
        open_repository(repo.path).tree(bytes.fromhex(repo.git("rev-parse", "HEAD:f")))


def delete(repo: Repo) -> None:
    (repo.path / "d" / "gone").unlink()


def to_symlink(repo: Repo) -> None:
    (repo.path / "f").unlink()
    (repo.path / "f").symlink_to("g")


def to_folder(repo: Repo) -> None:
    (repo.path / "f").unlink()
    repo.write("f/inside", "x")
    repo.write("f.txt", "x")


def to_executable(repo: Repo) -> None:
    (repo.path / "f").chmod(0o755)


def odd_names(repo: Repo) -> None:
    for name in ODD:
        repo.write(b"odd/" + name, "changed")


@pytest.mark.parametrize("change", [delete, to_symlink, to_folder, to_executable, odd_names, lambda repo: None])
def test_differences_are_those_of_git(repo: Repo, change: Callable[[Repo], None]) -> None:
    for name in ("f", "g", "f0", "d/gone", "d/stays", "deep/a/b/c"):
        repo.write(name, name)
    repo.commit()
    change(repo)
    repo.commit()
    opened = open_repository(repo.path)
    for old, new in (("HEAD~1", "HEAD"), ("HEAD", "HEAD~1")):
        before = {entry.path: entry for entry in listed(repo, old)}
        after = {entry.path: entry for entry in listed(repo, new)}
        paths = os.fsencode(repo.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)).split(b"\0")
        expected = [Change(path, before.get(path), after.get(path)) for path in paths[:-1]]
        assert opened.diff(root_tree(repo, old), root_tree(repo, new)) == expected


# Blobs


def test_blobs_are_read_in_the_order_asked(repo: Repo) -> None:
    contents = [b"", b"\0\xff\r\n", b"text\n" * 1000]
    for number, content in enumerate(contents):
        repo.write(f"{number}", content)
    repo.commit()
    repo.git("gc", "--quiet")
    opened = open_repository(repo.path)
    ids = [entry.id for entry in opened.tree(root_tree(repo))]
    asked = [ids[2], ids[0], ids[1], ids[2]]
    assert list(opened.read_many(asked)) == [(id, contents[ids.index(id)]) for id in asked]
    assert [opened.size(id) for id in ids] == [len(content) for content in contents]
    assert [opened.read(id) for id in ids] == contents


def test_missing_and_corrupt_blobs(repo: Repo) -> None:
    for name in ("corrupt", "lying", "missing", "sound"):
        repo.write(name, name * 100)
    repo.commit()
    ids = {entry.path: entry.id for entry in listed(repo)}
    loose(repo, ids[b"missing"].hex()).unlink()
    for broken, content in ((b"corrupt", b"rubbish"), (b"lying", loose(repo, ids[b"sound"].hex()).read_bytes())):
        loose(repo, ids[broken].hex()).chmod(0o644)
        loose(repo, ids[broken].hex()).write_bytes(content)
    opened = open_repository(repo.path)
    contents = dict(opened.read_many(ids.values()))
    assert [contents[id] for id in ids.values()] == [None, None, None, b"sound" * 100]
    for broken in (b"corrupt", b"lying", b"missing"):
        with pytest.raises(UnreadableObject, match=ids[broken].hex()):
            opened.read(ids[broken])
    with pytest.raises(UnreadableObject):
        opened.size(ids[b"missing"])
    tree = root_tree(repo)
    assert list(opened.read_many([tree])) == [(tree, None)]
    with pytest.raises(UnreadableObject, match="not a blob"):
        opened.size(tree)
    with pytest.raises(UnreadableObject):
        opened.read(b"short")


@pytest.mark.parametrize("packed", [False, True])
def test_the_size_of_a_huge_blob_is_not_read_from_its_content(repo: Repo, packed: bool) -> None:
    size = 64 * 2**20
    with repo.write("huge", "").open("wb") as file:
        file.truncate(size)
    repo.git("-c", "core.compression=1", "add", "huge")
    repo.commit()
    if packed:
        repo.git("repack", "-q", "-a", "-d")
    (entry,) = listed(repo)
    # A process of its own: the high-water mark of this one says nothing.
    program = (
        "import resource, sys; from pathlib import Path; from itza_git.git import open_repository\n"
        "opened = open_repository(Path(sys.argv[1])); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(opened.size(bytes.fromhex(sys.argv[2])))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, repo.path, entry.id.hex()], capture_output=True, check=True, text=True
    )
    told, grown = map(int, done.stdout.split())
    assert told == size
    assert grown * 1024 < size / 4


def test_a_partial_clone_never_fetches(tmp_path: Path, repo: Repo) -> None:
    repo.write("f.py", "x = 1\n")
    repo.write(".gitattributes", "*.py linguist-generated\n")
    repo.commit()
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", str(partial))
    objects = sorted((partial / ".git" / "objects").rglob("*"))
    opened = open_repository(partial)
    commit = opened.resolve("HEAD")
    entries = opened.tree(commit.tree)
    assert all(content is None for _, content in opened.read_many(entry.id for entry in entries))
    assert opened.attributes(commit.id, [entry.path for entry in entries]) == {}
    with pytest.raises(UnreadableObject):
        opened.size(entries[0].id)
    with pytest.raises(UnknownRevision):
        opened.resolve("2" * digits(repo))
    assert sorted((partial / ".git" / "objects").rglob("*")) == objects


# Attributes, configuration, and the rest


def test_attributes(repo: Repo) -> None:
    repo.write(".gitattributes", "*.pb.py linguist-generated\n*.min.js linguist-generated=true linguist-vendored\n")
    repo.write("lib/.gitattributes", "* linguist-vendored\nours.py -linguist-vendored\nb.py linguist-vendored=false\n")
    repo.write("lib/deep/.gitattributes", "*.bin filter=lfs -text\n*.raw binary\n*.txt text\n")
    paths = ["a.pb.py", "a.py", "x.min.js", "lib/a.py", "lib/ours.py", "lib/b.py", "lib/deep/m.bin", "lib/deep/m.raw"]
    paths += ["lib/deep/m.txt", "lib\nodd.pb.py"]
    for path in paths:
        repo.write(path, "x")
    commit = repo.commit()
    for place in (".gitattributes", "lib/.gitattributes"):
        repo.write(place, "* linguist-generated\n")
    repo.commit()
    expected = {
        b"a.pb.py": Attributes(generated=True),
        b"x.min.js": Attributes(generated=True, vendored=True),
        b"lib/a.py": Attributes(vendored=True),
        b"lib/ours.py": Attributes(vendored=False),
        b"lib/b.py": Attributes(vendored=False),
        b"lib/deep/m.bin": Attributes(vendored=True, lfs=True),
        b"lib/deep/m.raw": Attributes(vendored=True, binary=True),
        b"lib/deep/m.txt": Attributes(vendored=True),
        b"lib\nodd.pb.py": Attributes(generated=True),
    }
    opened = open_repository(repo.path)
    files = sorted(path for path in (repo.path / ".git").rglob("*"))
    assert opened.attributes(bytes.fromhex(commit), [path.encode() for path in paths]) == expected
    assert opened.attributes(bytes.fromhex(commit), [b"lib/a.py", b"a.py"]) == {b"lib/a.py": Attributes(vendored=True)}
    assert opened.attributes(bytes.fromhex(commit), []) == {}
    assert sorted(path for path in (repo.path / ".git").rglob("*")) == files


def test_attributes_in_a_bare_repository_and_in_info(tmp_path: Path, repo: Repo) -> None:
    repo.write("m.dat", "x")
    repo.write(".gitattributes", "[attr]pointer filter=lfs\n*.dat pointer\n")
    commit = bytes.fromhex(repo.commit())
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = open_repository(tmp_path / "bare.git")
    assert bare.attributes(commit, [b"m.dat"]) == {b"m.dat": Attributes(lfs=True)}
    (tmp_path / "bare.git" / "info" / "attributes").write_text("*.dat -filter binary\n")
    assert bare.attributes(commit, [b"m.dat"]) == {b"m.dat": Attributes(binary=True)}


def test_attributes_of_info_alone(repo: Repo) -> None:
    repo.write("m.dat", "x")
    commit = bytes.fromhex(repo.commit())
    repo.write(".git/info/attributes", "*.dat binary\n")
    assert open_repository(repo.path).attributes(commit, [b"m.dat"]) == {b"m.dat": Attributes(binary=True)}


def test_no_process_runs_where_attributes_can_say_nothing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(".gitattributes", "*.py text eol=lf diff=python\n")
    commit = bytes.fromhex(repo.commit())
    opened = open_repository(repo.path)
    assert opened.attributes(commit, []) == {}  # from now on nothing needs to be started to read objects
    monkeypatch.setenv("PATH", "")
    assert opened.attributes(commit, [b"a.py"]) == {}


def test_configuration_in_the_precedence_of_git(repo: Repo, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    included = home / "more"
    included.write_text("[itza]\n\texclude = included\n")
    (home / ".gitconfig").write_text(f"[itza]\n\texclude = global\n[include]\n\tpath = {included}\n")
    repo.git("config", "--add", "itza.exclude", "repository")
    repo.git("config", "--add", "ITZA.Exclude", "second\nline")
    repo.git("config", "itza.some.SubSection.key", "v")
    with (repo.path / ".git" / "config").open("a") as file:
        file.write("[itza]\n\thistory\n\tempty =\n")
    local = ["global", "included", "repository", "second\nline"]
    monkeypatch.chdir(repo.path)
    assert open_repository().config("itza.exclude") == open_repository().config("Itza.EXCLUDE") == local
    assert open_repository().config("itza.history") == ["true"]
    assert open_repository().config("itza.empty") == [""]
    assert open_repository().config("itza.some.SubSection.KEY") == ["v"]
    assert open_repository().config("itza.some.subsection.key") == []
    assert open_repository().config("itza.absent") == open_repository().config("nonsense") == []
    options = ["-c", "itza.exclude=it's -c", "-c", "itza.history=no", "--config-env=itza.model=M", "-c", "itza.bare"]
    monkeypatch.setenv("M", "a=b")
    # What a program that git starts finds in its environment.
    given = repo.git(*options, "-c", 'alias.given=!printf %s "$GIT_CONFIG_PARAMETERS"', "given")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", given)
    opened = open_repository()
    assert opened.config("itza.exclude") == [*local, "it's -c"]
    assert opened.config("itza.history") == ["true", "no"]
    assert (opened.config("itza.model"), opened.config("itza.bare")) == (["a=b"], ["true"])


def test_configuration_of_numbered_variables(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    for name, value in {"COUNT": "1", "KEY_0": "itza.embedder", "VALUE_0": "ollama"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert open_repository().config("itza.embedder") == ["ollama"]


def test_a_broken_configuration_is_named(repo: Repo, home: Path) -> None:
    (home / ".gitconfig").write_text("[itza\n")
    with pytest.raises(GitError, match="config"):
        open_repository(repo.path).config("itza.embedder")


@pytest.mark.parametrize("setting", [None, "auto", "no", "4", "12", "40"])
def test_abbreviations_are_those_of_git(repo: Repo, setting: str | None) -> None:
    commits = many_commits(repo, 300)
    if setting:
        repo.git("config", "core.abbrev", setting)
    opened = open_repository(repo.path)
    for commit in commits[:5]:
        short = opened.abbreviate(bytes.fromhex(commit))
        assert short == repo.git("rev-parse", "--short", commit)
        assert opened.resolve(short).id.hex() == commit


def test_dirty(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write("f", "1")
    repo.commit()
    opened = open_repository(repo.path)
    repo.write("debug.log")
    assert not opened.is_dirty()
    repo.write("new")
    assert opened.is_dirty()
    (repo.path / "new").unlink()
    repo.write("f", "2")
    assert opened.is_dirty()
    repo.git("add", "f")
    assert opened.is_dirty()
    repo.git("reset", "--quiet", "--hard")
    os.utime(repo.path / "f", (1, 1))
    index = (repo.path / ".git" / "index").read_bytes()
    assert not opened.is_dirty()
    assert (repo.path / ".git" / "index").read_bytes() == index


def test_dirty_while_another_git_holds_the_lock(repo: Repo) -> None:
    repo.write("f", "1")
    repo.commit()
    repo.write(".git/index.lock")
    assert not open_repository(repo.path).is_dirty()


def test_no_monitor_program_is_started(repo: Repo) -> None:
    repo.write("f", "1")
    repo.commit()
    repo.git("config", "core.fsmonitor", "touch started; false")
    open_repository(repo.path).is_dirty()
    assert not (repo.path / "started").exists()


def test_the_environment_of_children_knows_no_other_repository(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    local = repo.git("rev-parse", "--local-env-vars").split()
    assert set(local) <= LOCAL_VARIABLES
    for name in local:
        monkeypatch.setenv(name, "x")
    environment = scrubbed()
    assert not (set(local) - FIXED.keys()) & environment.keys()
    assert environment["GIT_GRAFT_FILE"] == os.devnull
    assert environment["GIT_OPTIONAL_LOCKS"] == environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["GIT_NO_LAZY_FETCH"] == "1"


def test_git_is_missing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit()
    opened = open_repository(repo.path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="cannot run git") as caught:
        opened.config("itza.embedder")
    assert "git --version" in caught.value.hint
    # What libgit2 reads can be searched without it; the others cannot even be opened.
    if opened.id_length == 20:
        assert opened.resolve("HEAD").id
    else:
        with pytest.raises(GitError, match="cannot run git, which alone can open"):
            open_repository(repo.path)
