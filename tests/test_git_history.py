"""What a repository says of its past: messages, ancestors and who last touched a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from itza_git.git import open_repository
from itza_git.records import Blamed
from tests.repository import EPOCH, Repo, existing
from tests.test_git import ODD

pytestmark = pytest.mark.usefixtures("object_format")


def raw(commit: str) -> bytes:
    return bytes.fromhex(commit)


def blamed(repo: Repo, path: bytes, first: int, last: int, *ignored: str) -> dict[int, str]:
    """The commit of each line that blame tells of."""
    opened = open_repository(repo.path)
    head = opened.resolve("HEAD").id
    found = opened.blame(head, path, [(first, last)], [raw(one) for one in ignored])
    return {line: one.commit.hex() for one in found for line in range(one.first, one.last + 1)}


# Messages


def test_a_message_is_its_subject_and_its_body(repo: Repo) -> None:
    first = repo.commit("Lower the limit\nfor everybody\n\nFive was too many.\n\nSigned-off-by: Ada <a@b>")
    second = repo.commit("Short")
    one, two, none = open_repository(repo.path).messages([raw(first), raw(second), b"\1" * 20])
    assert one and two and none is None
    assert (one.subject, two.subject, two.body) == ("Lower the limit for everybody", "Short", "")
    assert one.body == "Five was too many.\n\nSigned-off-by: Ada <a@b>"
    assert (two.parents, one.parents, one.time) == ((raw(first),), (), EPOCH)
    assert one.tree.hex() == repo.git("rev-parse", f"{first}^{{tree}}")


def test_a_message_without_text_has_an_empty_subject(repo: Repo) -> None:
    repo.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    (found,) = open_repository(repo.path).messages([raw(repo.git("rev-parse", "HEAD"))])
    assert found is not None
    assert (found.subject, found.body) == ("", "")


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "Shift_JIS", "UTF-8"])
def test_a_message_is_read_in_the_encoding_that_its_commit_names(repo: Repo, encoding: str) -> None:
    text = "日本の話" if encoding == "Shift_JIS" else "Café réglé"
    repo.git("config", "i18n.commitEncoding", encoding)
    repo.git("commit", "--quiet", "--allow-empty", "--file=-", stdin=text.encode(encoding))
    (found,) = open_repository(repo.path).messages([raw(repo.git("rev-parse", "HEAD"))])
    assert found is not None
    assert found.subject == text


def test_an_encoding_that_nobody_knows_ends_nothing(repo: Repo) -> None:
    tree = repo.git("write-tree")
    who = b"A <a@b> 1700000000 +0000"
    content = b"tree %s\nauthor %s\ncommitter %s\nencoding klingon-7\n\ncaf\xe9 \xc3\xa9\n" % (tree.encode(), who, who)
    id = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=content)
    (found,) = open_repository(repo.path).messages([raw(id)])
    assert found is not None
    assert found.subject == "caf\ufffd é"


def test_what_is_no_commit_is_none(repo: Repo) -> None:
    repo.write("f", "1\n")
    repo.commit()
    assert list(open_repository(repo.path).messages([raw(repo.git("rev-parse", "HEAD:f"))])) == [None]


# Ancestors


def test_ancestors_come_newest_first_and_only_so_many(repo: Repo) -> None:
    one, two, three = [repo.commit(str(number)) for number in range(3)]
    opened = open_repository(repo.path)

    def ids(commits: Sequence[bytes], most: int, without: bytes | None = None) -> list[str]:
        found = opened.ancestors(commits, most, without)
        assert found.is_whole
        assert found.times == [int(repo.git("log", "-1", "--format=%ct", one.hex())) for one in found.ids]
        return [id.hex() for id in found.ids]

    assert ids([raw(three)], 10) == [three, two, one]
    assert ids([raw(three)], 2) == [three, two]
    assert ids([raw(three)], 10, raw(one)) == [three, two]
    assert ids([b"\1" * 20], 10) == ids([], 10) == []
    assert opened.is_ancestor(raw(one), raw(three))
    assert opened.is_ancestor(raw(one), raw(one))
    assert not opened.is_ancestor(raw(three), raw(one))
    assert not opened.is_ancestor(b"\1" * 20, raw(one))


def test_the_merge_base_of_two_branches(repo: Repo) -> None:
    base = repo.commit("base")
    ours = repo.commit("ours")
    repo.git("checkout", "--quiet", "-b", "side", base)
    theirs = repo.commit("theirs")
    repo.git("checkout", "--quiet", "--orphan", "other")
    stranger = repo.commit("stranger")
    opened = open_repository(repo.path)
    assert opened.merge_base(raw(ours), raw(theirs)) == raw(base)
    assert opened.merge_base(raw(ours), raw(stranger)) is None


# What changed


def test_the_paths_that_a_commit_changed(repo: Repo) -> None:
    names = [b"a.py", b"dir/b.py", b"c" * 40, b":colon", *ODD]
    for name in names:
        repo.write(name, "1\n")
    root = repo.commit("root")
    repo.write("a.py", "2\n")
    repo.git("rm", "--quiet", "dir/b.py")
    two = repo.commit("change and delete")
    for name in names:
        repo.write(name, "3\n")
    all_of_them = repo.commit("all")
    repo.git("checkout", "--quiet", "-b", "side", two)
    repo.write("side.py", "1\n")
    repo.commit("side")
    repo.git("merge", "--quiet", "--strategy=ours", "--message=merge", "main")
    opened = open_repository(repo.path)
    commits = [raw(one) for one in (root, two, all_of_them, repo.git("rev-parse", "HEAD"))]
    two_paths: list[list[bytes]] = [[], [b"a.py", b"dir/b.py"]]
    all_paths = [*two_paths, sorted(names), []]
    assert opened.changed_paths(commits, 99) == dict(zip(commits, all_paths, strict=True))
    assert opened.changed_paths(commits, len(names)) == dict(zip(commits, all_paths, strict=True))
    assert opened.changed_paths(commits, len(names) - 1) == dict(zip(commits, [*two_paths, [], []], strict=True))


def test_commits_beside_a_lost_tree_are_left_out_and_no_others(repo: Repo) -> None:
    commits = []
    for number in range(6):
        repo.write("a.py", f"{number}\n")
        commits.append(repo.commit(str(number)))
    tree = repo.git("rev-parse", f"{commits[2]}^{{tree}}")
    (repo.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    told = open_repository(repo.path).changed_paths([raw(one) for one in reversed(commits)], 9)
    assert told == {raw(commits[0]): [], **{raw(commits[number]): [b"a.py"] for number in (1, 4, 5)}}


def test_what_the_oldest_commit_of_a_shallow_clone_changed_cannot_be_told(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.write("a.py", f"{number}\n")
        repo.commit(str(number))
    repo.git("clone", "--quiet", "--depth=2", repo.path.as_uri(), str(tmp_path / "shallow"))
    commits = [raw(one) for one in repo.git("rev-list", "-2", "HEAD").split()]
    assert open_repository(tmp_path / "shallow").changed_paths(commits, 9) == {commits[0]: [b"a.py"]}


def test_a_graft_changes_no_history(repo: Repo) -> None:
    commits = [repo.commit(str(number)) for number in range(3)]
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "grafts").write_text(f"{commits[2]}\n")
    assert len(open_repository(repo.path).ancestors([raw(commits[2])], 9).ids) == 3


def test_the_horizon_is_that_of_a_shallow_clone(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.commit(str(number))
    repo.git("clone", "--quiet", "--depth=1", repo.path.as_uri(), str(tmp_path / "shallow"))
    shallow = existing(tmp_path / "shallow")
    names = [open_repository(repo.path).horizon, open_repository(shallow.path).horizon]
    shallow.git("fetch", "--quiet", "--deepen=1")
    names.append(open_repository(shallow.path).horizon)
    assert len(set(names)) == 3
    assert names[0] == ""
    shallow.git("fetch", "--quiet", "--unshallow")
    assert open_repository(shallow.path).horizon == ""


def test_ancestors_behind_a_lost_commit_are_not_all(repo: Repo) -> None:
    one, two, three = [repo.commit(str(number)) for number in range(3)]
    (repo.path / ".git" / "objects" / two[:2] / two[2:]).unlink()
    found = open_repository(repo.path).ancestors([raw(three)], 10)
    assert not found.is_whole
    assert raw(one) not in found.ids


# Blame


def test_blame_names_the_commit_that_last_touched_each_line(repo: Repo) -> None:
    repo.write("f.py", "a\nb\nc\n")
    one = repo.commit()
    repo.write("f.py", "a\nB\nc\n")
    two = repo.commit()
    assert blamed(repo, b"f.py", 1, 3) == {1: one, 2: two, 3: one}
    assert blamed(repo, b"f.py", 2, 2) == {2: two}
    opened = open_repository(repo.path)
    assert opened.blame(raw(two), b"f.py", [(1, 1), (2, 2)]) == [Blamed(raw(two), 2, 2), Blamed(raw(one), 1, 1)]
    assert opened.blame(raw(one), b"f.py", [(2, 2)]) == [Blamed(raw(one), 2, 2)]


def test_blame_passes_over_white_space_renames_and_ignored_commits(repo: Repo) -> None:
    repo.write("f.py", "def f():\n  return limit\n")
    one = repo.commit()
    repo.write("f.py", "def f():\n    return limit\n")
    repo.commit("indent")
    repo.git("mv", "f.py", "g.py")
    repo.commit("rename")
    repo.write("g.py", "def f():\n    return LIMIT\n")
    shout = repo.commit("shout")
    assert blamed(repo, b"g.py", 1, 2) == {1: one, 2: shout}
    assert blamed(repo, b"g.py", 1, 2, shout) == {1: one, 2: one}
    assert blamed(repo, b"g.py", 1, 2, shout, "12" * 20) == {1: one, 2: one}


def test_blame_passes_over_what_the_configuration_names(repo: Repo) -> None:
    repo.write("f.py", "limit = 5\n")
    one = repo.commit()
    repo.write("f.py", "limit = 5;\n")
    two = repo.commit("reformat")
    repo.git("config", "blame.ignoreRevsFile", ".config/ignored")
    assert blamed(repo, b"f.py", 1, 1) == {1: two}  # git itself would give up: there is no such file
    repo.write(".config/ignored", f"# formatting\n{two}\n")
    assert blamed(repo, b"f.py", 1, 1) == {1: one}


def test_blame_tells_nothing_where_there_is_nothing(repo: Repo) -> None:
    repo.write("f.py", "a\n")
    repo.commit()
    for path, first, last in ((b"g.py", 1, 1), (b"f.py", 7, 9), (b"-Lx", 1, 1)):
        assert blamed(repo, path, first, last) == {}


@pytest.mark.parametrize("path", ODD)
def test_blame_of_a_path_with_odd_bytes(repo: Repo, path: bytes) -> None:
    repo.write(path, "a\n")
    commit = repo.commit()
    assert blamed(repo, path, 1, 1) == {1: commit}


def test_blame_never_takes_the_border_of_a_shallow_clone_for_an_author(repo: Repo, tmp_path: Path) -> None:
    repo.write("f.py", "a\nb\n")
    repo.commit()
    repo.write("f.py", "a\nB\n")
    repo.commit()
    repo.write("f.py", "a\nB\nc\n")
    newest = repo.commit()
    repo.git("clone", "--quiet", "--depth=2", repo.path.as_uri(), str(tmp_path / "shallow"))
    shallow = Repo.__new__(Repo)
    shallow.path = tmp_path / "shallow"
    assert blamed(shallow, b"f.py", 1, 3) == {3: newest}


def test_blame_runs_nothing_that_the_configuration_names(repo: Repo, tmp_path: Path) -> None:
    repo.write("f.py", "a\n")
    repo.write(".gitattributes", "f.py diff=evil\n")
    commit = repo.commit()
    repo.git("config", "diff.evil.textconv", f"touch {tmp_path / 'ran'}; cat")
    assert blamed(repo, b"f.py", 1, 1) == {1: commit}
    assert not (tmp_path / "ran").exists()


def test_blame_that_runs_out_of_time_tells_what_it_found(repo: Repo) -> None:
    repo.write("f.py", "a\n")
    commit = raw(repo.commit())
    assert open_repository(repo.path).blame(commit, b"f.py", [(1, 1)], seconds=0.0) in ([], [Blamed(commit, 1, 1)])
