"""`--worktree`: what is not committed, on top of HEAD; read carefully, cited as what it is, and never recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from itza_git import Itza
from itza_git.answering.answer import Answer, Cited, Statement
from itza_git.answering.citation import parse
from itza_git.git import working_tree
from itza_git.render_json import ask_json
from itza_git.results import AskResult
from tests.asking import asking, embedded, found, places
from tests.command import Run
from tests.repository import Repo

BODY = "def {0}():\n    return '{0}'\n"
QUESTION = "def return kept modified staged renamed loose draft ours"


@pytest.fixture
def committed(repo: Repo) -> Repo:
    for name in ("kept", "modified", "deleted", "staged", "old"):
        repo.write(f"{name}.py", BODY.format(name))
    repo.write(".gitignore", "*.log\nbuild/\n")
    repo.commit()
    return repo


@pytest.fixture
def asked(committed: Repo) -> Iterator[Itza]:
    with asking(committed) as opened:
        yield opened


def seen(itza: Itza) -> dict[str, str]:
    """The paths that answer a question about the working tree, each with where it is cited."""
    return places(itza.search(QUESTION, worktree=True, limit=100))


ALL = dict.fromkeys(["kept.py", "modified.py", "deleted.py", "staged.py", "old.py"], "HEAD")


def test_each_kind_of_change_is_seen_and_cited_as_what_it_is(committed: Repo, asked: Itza) -> None:
    committed.write("modified.py", BODY.format("modified_again"))
    (committed.path / "deleted.py").unlink()
    committed.write("staged.py", BODY.format("staged_again"))
    committed.git("add", "staged.py")
    committed.git("mv", "old.py", "renamed.py")
    committed.write("loose/draft.py", BODY.format("draft"))
    committed.write("debug.log", BODY.format("ignored"))
    committed.write("build/out.py", BODY.format("ignored"))
    assert seen(asked) == {
        "kept.py": "HEAD",
        "modified.py": "worktree",
        "staged.py": "worktree",
        "renamed.py": "worktree",
        "loose/draft.py": "worktree",
    }
    assert places(asked.search(QUESTION, limit=100)) == ALL, "HEAD is as it was"


def test_only_new_content_is_embedded_and_only_once(committed: Repo, asked: Itza) -> None:
    asked.search("x")
    before = embedded(asked)
    committed.git("mv", "old.py", "renamed.py")
    committed.write("modified.py", BODY.format("modified_again"))
    for _ in range(2):
        seen(asked)
        assert embedded(asked) == before + 1
    committed.commit()
    asked.search("x")
    assert embedded(asked) == before + 1, "committing what was asked before embeds nothing"


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: None,
        lambda repo: (repo.path / "kept.py").chmod(0o755),
        lambda repo: os.utime(repo.path / "kept.py", (1, 1)),
        lambda repo: (repo.write("kept.py", "x\n"), repo.git("add", "."), repo.write("kept.py", BODY.format("kept"))),
        lambda repo: repo.git("rm", "--quiet", "--cached", "kept.py"),
        lambda repo: (repo.git("config", "core.autocrlf", "true"), repo.write("kept.py", crlf("kept"))),
        lambda repo: (repo.write("kept.py", crlf("kept")), (repo.path / "kept.py").chmod(0o755)),
        lambda repo: repo.git("update-index", "--chmod=+x", "kept.py"),
    ],
    ids=["nothing", "mode", "time", "staged and back", "untracked", "autocrlf", "line ends and mode", "staged mode"],
)
def test_what_has_the_content_of_head_is_cited_by_commit(
    committed: Repo, asked: Itza, change: Callable[[Repo], object]
) -> None:
    change(committed)
    result = asked.search(QUESTION, worktree=True, limit=100)
    assert places(result) == ALL
    assert result.uncommitted == frozenset()


def crlf(name: str) -> str:
    return BODY.format(name).replace("\n", "\r\n")


def test_changed_lines_among_other_line_ends_are_cited_with_their_numbers(committed: Repo, asked: Itza) -> None:
    committed.git("config", "core.autocrlf", "true")
    committed.write("kept.py", "# one\r\n\r\n" + crlf("draft"))
    result = asked.search("draft", worktree=True)
    assert result.hits[0].citation == "kept.py:1-4@worktree"
    assert asked.show(parse("kept.py:3@worktree")).lines[0].rstrip() == "def draft():"


def test_what_left_the_index_and_is_ignored_now_is_not_read(committed: Repo, asked: Itza) -> None:
    committed.git("rm", "--quiet", "--cached", "kept.py")
    committed.write(".gitignore", "*.log\nbuild/\nkept.py\n")
    committed.write("kept.py", BODY.format("zzsecret"))
    assert "kept.py" not in seen(asked)
    assert "zzsecret" not in found(asked.search("zzsecret", worktree=True))


def test_odd_names_are_seen_quoted_and_shown(committed: Repo, asked: Itza) -> None:
    names = [b"a b.py", b"caf\xe9.py", b"new\nline.py", b'quo"te.py', b"-dash.py", "日本.py".encode()]
    for name in names:
        committed.write(name, BODY.format("draft"))
    result = asked.search("draft", worktree=True, limit=100)
    assert {hit.passage.path for hit in result.hits} >= set(names)
    for hit in result.hits:
        if hit.passage.path in names:
            assert hit.citation.endswith(":1-2@worktree")
            assert asked.show(parse(hit.citation)).lines[0] == "def draft():"


# What is never read


def test_links_are_not_followed_wherever_they_stand(committed: Repo, tmp_path: Path, asked: Itza) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.py", "kept.py"):
        (outside / name).write_text(BODY.format("zzsecret"))
    committed.write("d/a.py", BODY.format("inner"))
    committed.commit()
    (committed.path / "d" / "a.py").unlink()
    (committed.path / "d").rmdir()
    (committed.path / "d").symlink_to(outside)  # git says: d/a.py deleted, d untracked
    (committed.path / "kept.py").unlink()
    (committed.path / "kept.py").symlink_to(outside / "kept.py")
    (committed.path / "loose").symlink_to(outside / "a.py")
    result = asked.search("zzsecret inner " + QUESTION, worktree=True, limit=100)
    assert set(places(result)) - {".gitignore"} == set(ALL) - {"kept.py"}
    assert "zzsecret" in result.found.unknown
    store = b"".join(path.read_bytes() for path in asked.space.root.rglob("*") if path.is_file())
    assert b"zzsecret" not in store
    assert "symlink" in {one.reason for one in result.coverage.skipped}


def test_a_repository_inside_is_not_content(committed: Repo, asked: Itza) -> None:
    inner = Repo(committed.path / "inner")
    inner.write("zzinner.py", BODY.format("zzinner"))
    inner.commit()
    (Repo(committed.path / "empty").path / "zzloose.py").write_text(BODY.format("zzloose"))
    result = asked.search("zzinner zzloose " + QUESTION, worktree=True, limit=100)
    assert places(result) == ALL
    assert {one.path for one in result.coverage.skipped} >= {b"inner"}
    committed.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    committed.git("commit", "--quiet", "--message", "as a submodule")
    inner.write("zzinner.py", BODY.format("zzmore"))
    assert places(asked.search("zzmore " + QUESTION, worktree=True, limit=100)) == ALL


def test_a_file_over_the_limit_is_never_opened(committed: Repo, asked: Itza, monkeypatch: pytest.MonkeyPatch) -> None:
    with committed.write("loose.dat").open("wb") as file:
        file.truncate(30_000_000)
    with committed.write("kept.py").open("wb") as file:
        file.truncate(30_000_000)
    opened: list[Path] = []
    real = working_tree._content

    def recording(place: Path) -> bytes:
        opened.append(place)
        return real(place)

    monkeypatch.setattr(working_tree, "_content", recording)
    result = asked.search(QUESTION, worktree=True, limit=100)
    assert opened == []
    skipped = {one.path: one.reason for one in result.coverage.skipped}
    assert skipped == {b"kept.py": "too large", b"loose.dat": "too large"}
    assert "kept.py" not in places(result)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(committed: Repo, asked: Itza) -> None:
    (committed.path / "kept.py").unlink()
    os.mkfifo(committed.path / "kept.py")
    assert "kept.py" not in seen(asked)


# What changes its kind


def test_a_file_that_became_a_folder_and_a_folder_that_became_a_file(committed: Repo, asked: Itza) -> None:
    committed.write("dir/inner.py", BODY.format("inner"))
    committed.commit()
    (committed.path / "kept.py").unlink()
    committed.write("kept.py/draft.py", BODY.format("draft"))
    (committed.path / "dir" / "inner.py").unlink()
    (committed.path / "dir").rmdir()
    committed.write("dir", "def ours():\n    return 'ours'\n")
    result = asked.search(QUESTION, worktree=True, limit=100)
    assert places(result) == {name: "HEAD" for name in ALL if name != "kept.py"} | {
        "kept.py/draft.py": "worktree",
        "dir": "worktree",
    }
    assert "kept.py" not in {one.path.decode() for one in result.coverage.skipped}


def test_a_file_that_became_a_repository(committed: Repo, asked: Itza) -> None:
    (committed.path / "kept.py").unlink()
    Repo(committed.path / "kept.py").commit()
    assert "kept.py" not in seen(asked)


def test_a_merge_with_conflicts_is_seen_with_its_marks(committed: Repo, asked: Itza) -> None:
    committed.git("switch", "--quiet", "--create", "side")
    committed.write("kept.py", BODY.format("theirs"))
    (committed.path / "staged.py").unlink()
    committed.commit()
    committed.git("switch", "--quiet", "main")
    committed.write("kept.py", BODY.format("ours"))
    committed.write("staged.py", BODY.format("staged_ours"))
    committed.commit()
    with pytest.raises(AssertionError, match="merge"):
        committed.git("merge", "--quiet", "side")
    cited = places(asked.search("ours theirs", worktree=True, limit=100))
    assert cited["kept.py"] == "worktree"
    assert "staged.py" in cited
    assert asked.show(parse("kept.py:1@worktree")).lines[0].startswith("<<<<<<<")
    assert places(asked.search("ours", limit=100))["kept.py"] == "HEAD"


@pytest.mark.parametrize("to", ["other", None])
def test_a_file_that_changes_while_it_is_read_is_left_out_and_named(
    committed: Repo, run: Run, monkeypatch: pytest.MonkeyPatch, to: str | None
) -> None:
    committed.write("kept.py", BODY.format("draft"))
    real = working_tree.uncommitted

    def then_changed(*args: Any) -> object:
        listed = real(*args)
        (committed.path / "kept.py").unlink()
        if to:
            committed.write("kept.py", BODY.format(to))
        return listed

    monkeypatch.setattr(working_tree, "uncommitted", then_changed)
    done = run(committed, "search", "draft def", "--worktree", "--json")
    assert "kept.py" not in {hit["path"] for hit in done.json["hits"]}
    assert {"path": "kept.py", "reason": "just changed"} in done.json["coverage"]["skipped"]
    assert done.error[0] == "note: kept.py is not searched, because it has just changed; ask again"


# Nothing is written


def test_git_is_left_alone_and_nothing_is_recorded(committed: Repo, asked: Itza) -> None:
    asked.search("x")
    index = committed.path / ".git" / "index"
    os.utime(committed.path / "kept.py", (1, 1))  # a plain `git status` would refresh the index
    committed.write("modified.py", BODY.format("draft"))
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    views = {path.name: path.read_bytes() for path in (asked.space.folder / "views").iterdir()}
    heads = asked.space.heads()
    objects = sorted((committed.path / ".git" / "objects").rglob("*"))
    seen(asked)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    assert not list((committed.path / ".git").rglob("*.lock"))
    assert {path.name: path.read_bytes() for path in (asked.space.folder / "views").iterdir()} == views
    assert asked.space.heads() == heads
    assert sorted((committed.path / ".git" / "objects").rglob("*")) == objects


def test_a_lock_of_another_git_is_no_obstacle(committed: Repo, asked: Itza) -> None:
    committed.write(".git/index.lock")
    committed.write("modified.py", BODY.format("draft"))
    assert seen(asked)["modified.py"] == "worktree"


def test_the_first_question_of_all_may_be_about_the_working_tree(committed: Repo, asked: Itza) -> None:
    committed.write("modified.py", BODY.format("draft"))
    assert len(seen(asked)) == len(ALL)
    assert asked.space.heads() == {}
    assert list((asked.space.folder / "views").iterdir()) == []


# Citations and the command line


def test_a_citation_of_the_working_tree_is_shown(committed: Repo, run: Run) -> None:
    committed.write("modified.py", BODY.format("draft"))
    (committed.path / "deleted.py").unlink()
    (committed.path / "link").symlink_to("kept.py")
    committed.write("large.txt", "x\n" * 600_000)
    done = run(committed, "search", "draft", "--worktree")
    assert done.out.startswith("modified.py:1-2@worktree  draft")
    shown = run(committed, "show", "modified.py:1-2@worktree")
    assert (shown.code, shown.out) == (0, "1  def draft():\n2      return 'draft'\n")
    assert run(committed, "show", "kept.py:1@worktree").out == "1  def kept():\n"
    assert run(committed, "show", "modified.py:1@worktree", "--json").json["commit"] == "worktree"
    for citation, message in (
        ("deleted.py:1", "deleted.py is no file of the working tree"),
        ("link:1", "link is no file of the working tree"),
        ("nowhere.py:1", "nowhere.py is no file of the working tree"),
        ("large.txt:1", "large.txt is too large"),
        ("modified.py:9", "modified.py has 2 lines at the working tree, not 9"),
    ):
        refused = run(committed, "show", f"{citation}@worktree")
        assert refused.code == 2
        assert refused.error[0] == f"error: {message}"
        assert len(refused.error) == 2


def test_ask_takes_the_working_tree(committed: Repo, run: Run) -> None:
    committed.write("loose.py", BODY.format("draft"))
    done = run(committed, "ask", "draft", "--worktree", "--no-model", "--json").json
    assert done["passages"][0]["citation"] == "loose.py:1-2@worktree"
    assert done["passages"][0]["commit"] == "worktree"
    assert done["commit"] == committed.git("rev-parse", "HEAD")


def test_an_answer_cites_each_file_as_what_it_is(committed: Repo, asked: Itza) -> None:
    committed.write("modified.py", BODY.format("draft"))
    result = asked.search("draft kept", worktree=True, limit=100)
    passages = {hit.passage.path: hit.passage for hit in result.hits}
    said = [
        Statement("It is so.", (Cited(n, path, passages[path].blob, 1, 2, "tool"),))
        for n, path in enumerate((b"modified.py", b"kept.py"), 1)
    ]
    answered = AskResult(result, Answer("answered", tuple(said)))
    cited = asked.citations(answered)
    short, commit = committed.git("rev-parse", "--short", "HEAD"), committed.git("rev-parse", "HEAD")
    assert [citation for _, citation in cited] == ["modified.py:1-2@worktree", f"kept.py:1-2@{short}"]
    assert [one["commit"] for one in ask_json(answered, cited, True)["citations"]] == ["worktree", commit]


def test_where_there_is_no_working_tree_or_no_commit_one_line_says_so(
    committed: Repo, run: Run, tmp_path: Path
) -> None:
    committed.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = run(tmp_path / "bare.git", "search", "x", "--worktree")
    assert bare.code == 2
    assert bare.error == [f"error: {tmp_path / 'bare.git'} has no working tree", "hint: ask a revision: --rev HEAD"]
    unborn = Repo(tmp_path / "unborn")
    unborn.write("a.py", BODY.format("draft"))
    done = run(unborn, "search", "draft", "--worktree")
    assert done.code == 2
    assert done.error == [f"error: {unborn.path} has no commit yet", "hint: git commit"]
    for place in (tmp_path / "bare.git", unborn.path):
        assert len(run(place, "show", "a.py:1@worktree").error) == 2
