"""What commits tell of the files that they changed: evidence for questions in words, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from itza_git import Itza
from itza_git.api import UNWATCHED
from itza_git.git import open_repository
from itza_git.indexing import Watch, history
from itza_git.store.lineages import MOST_LINEAGES
from tests.asking import asking
from tests.counting import Counting
from tests.repository import Repo, existing

QUESTION = "how are abandoned carts emptied?"
KEY_WORDS = "sweep rows"
# Two files that no word tells apart; the one that commits do not speak of comes first by its name.
SWEEPS = "def sweep{0}(rows):\n    return [row for row in rows if row.age < {0}]\n"


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("a.py", SWEEPS.format(1))
    repo.write("b.py", SWEEPS.format(2))
    repo.write("c.py", "def carts():\n    return []\n")
    repo.commit("Begin")
    repo.write("b.py", SWEEPS.format(3))
    repo.commit("Empty the carts that were abandoned")
    return repo


def order(repo: Repo | Path, query: str = QUESTION, **options: object) -> list[str]:
    with Itza.open(repo.path if isinstance(repo, Repo) else repo, {}) as opened:
        hits = opened.search(query, nearest=True, **options).hits  # type: ignore[arg-type]
        return [hit.passage.path.decode() for hit in hits if hit.passage.path != b"c.py"]


def told(repo: Repo, query: str = QUESTION, **options: object) -> dict[str, float]:
    with Itza.open(repo.path, {}) as opened:
        hits = opened.search(query, nearest=True, **options).hits  # type: ignore[arg-type]
        parts = {hit.passage.path.decode(): hit.passage.parts.get("told") for hit in hits}
        return {path: part for path, part in parts.items() if part}


def test_a_file_is_found_by_what_was_said_when_it_changed(project: Repo) -> None:
    assert order(project, history=False) == ["a.py", "b.py"]
    assert order(project) == ["b.py", "a.py"]
    assert list(told(project)) == ["b.py"]


def test_key_words_are_not_looked_for_in_messages(project: Repo) -> None:
    assert told(project, KEY_WORDS) == {}
    assert order(project, "abandoned carts") == order(project, "abandoned carts", history=False)


def test_no_commit_counts_where_history_is_off(project: Repo) -> None:
    project.git("config", "itza.history", "false")
    assert told(project) == {}
    assert not list(project.path.glob(".git/itza/spaces/*/history"))


def test_only_what_led_to_the_revision_counts(project: Repo) -> None:
    project.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    project.write("a.py", SWEEPS.format(4))
    project.commit("Abandoned carts are emptied here")
    assert order(project) == ["a.py", "b.py"]
    assert list(told(project)) == ["a.py"]
    assert order(project, branch="main") == ["b.py", "a.py"]
    assert told(project, rev="main~1") == {}


def test_who_changes_everything_tells_nothing(repo: Repo) -> None:
    names = [f"f{number:02}.py" for number in range(history.MOST_FILES + 1)]
    repo.write("a.py", SWEEPS.format(1))
    repo.commit("Begin")
    for name in names:
        repo.write(name, SWEEPS.format(2))
    repo.commit("Empty the carts that were abandoned")
    assert told(repo, limit=100) == {}
    repo.git("rm", "--quiet", names[0])
    repo.git("commit", "--quiet", "--amend", "--no-edit")
    assert len(told(repo, limit=100)) == history.MOST_FILES


def test_a_question_in_words_indexes_the_messages_that_are_missing(project: Repo) -> None:
    with asking(project, Counting(is_local=True)) as opened:
        opened.search(KEY_WORDS)
        assert not opened.space.history.packs()
        opened.search(QUESTION, watch=Watch(patience=0))
        assert not opened.space.history.packs()
        seen: list[tuple[int, int]] = []
        opened.search(QUESTION, watch=Watch(remembering=lambda *counts: seen.append(counts)))
        assert seen == [(0, 2), (2, 2)]
        assert opened.remember() == (2, 2)
        assert len(seen) == 2


def test_no_question_waits_longer_for_another_process_than_it_says(project: Repo) -> None:
    with asking(project, Counting(is_local=True)) as opened, asking(project, Counting(is_local=True)) as other:
        opened.refresh()
        with other.space.writer():
            hits = opened.search(QUESTION, watch=Watch(wait=0.05)).hits
        assert hits
        assert not opened.space.history.packs()


def test_no_question_waits_for_a_server_to_embed_messages(project: Repo) -> None:
    with asking(project, Counting(is_local=False)) as opened:
        opened.search(QUESTION)
        assert not opened.space.history.packs()
        opened.remember()
        hits = opened.search(QUESTION).hits
        assert [hit.passage.path for hit in hits if "told" in hit.passage.parts] == [b"b.py"]


def test_an_index_of_before_gets_the_paths(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before, Itza.open(project.path, {}) as opened:
        before.setattr(type(opened.repository), "changed_paths", lambda *args: {})
        assert opened.remember() == (2, 2)
        assert told(project) == {}
    (lineage,) = lineages(project)
    lineage.unlink()  # there were none
    assert list(told(project)) == ["b.py"]
    with Itza.open(project.path, {}) as opened:
        assert opened.collect().messages == 2
        assert opened.fsck().faults == ()
    assert list(told(project)) == ["b.py"]


def test_paths_that_could_not_be_told_are_looked_for_again(project: Repo) -> None:
    project.write("a.py", SWEEPS.format(5))
    project.commit("Sweep more")
    tree = project.git("rev-parse", "HEAD^{tree}")
    lost = project.path / ".git" / "objects" / tree[:2] / tree[2:]
    content = lost.read_bytes()
    with Itza.open(project.path, {}) as opened:
        opened.refresh()
        lost.unlink()
        assert opened.remember() == (3, 3)
        lost.write_bytes(content)
        assert opened.remember() == (3, 3)
    assert list(told(project)) == ["b.py"]
    assert list(told(project, "how is more swept?")) == ["a.py"]


def test_a_deepened_clone_learns_what_its_oldest_commit_changed(project: Repo, tmp_path: Path) -> None:
    project.git("clone", "--quiet", "--depth=1", project.path.as_uri(), str(tmp_path / "shallow"))
    shallow = existing(tmp_path / "shallow")
    with Itza.open(shallow.path, {}) as opened:
        assert not [one for one in opened.search(QUESTION, nearest=True).hits if one.passage.parts.get("told")]
        shallow.git("fetch", "--quiet", "--unshallow")
        found = [one.passage.path for one in opened.search(QUESTION).hits if one.passage.parts.get("told")]
    assert found == [b"b.py"]
    assert list(told(shallow)) == ["b.py"]


def test_a_history_that_cannot_be_read_stops_no_question(project: Repo) -> None:
    with Itza.open(project.path, {}) as opened:
        opened.refresh()
        opened.space.history.folder.write_text("in the way")
    assert order(project) == order(project, history=False)


# Reasons


def test_what_gives_reasons_counts_for_who_asks_why(repo: Repo) -> None:
    repo.write("a.py", "def limit():\n    # three\n    return 3  # of the retries\n")
    repo.write("b.py", "def limit():\n    # three, because\n    return 3  # of the retries\n")
    repo.commit()
    with Itza.open(repo.path, {}) as opened:
        for question, expected in (
            ("why are the retries three?", [b"b.py"]),
            ("how are the retries three?", []),
            ("retries three", []),
        ):
            hits = opened.search(question).hits
            assert [hit.passage.path for hit in hits if hit.passage.parts.get("reasons", 0) > 0] == expected


# Lineages


def lineages(repo: Repo) -> list[Path]:
    return sorted(repo.path.glob(".git/itza/spaces/*/history/lineages/*"))


def ancestors(repo: Repo, revision: str = "HEAD") -> set[str]:
    """The commits that the messages of a revision are of, by the store."""
    with Itza.open(repo.path, {}) as opened:
        corpus = opened.trees.messages(opened.resolve(revision).id, UNWATCHED)
        return {id_.tobytes().hex() for id_ in corpus.view.id}


def test_the_ancestors_of_a_commit_are_kept_and_those_of_the_next_made_of_them(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ancestors(project) == set(project.git("rev-list", "HEAD").split())
    asked: list[bytes | None] = []
    listing = type(open_repository(project.path)).ancestors

    def listed(self: object, commits: object, most: int, without: bytes | None = None) -> object:
        asked.append(without)
        return listing(self, commits, most, without)  # type: ignore[arg-type]

    monkeypatch.setattr(type(open_repository(project.path)), "ancestors", listed)
    assert ancestors(project) == set(project.git("rev-list", "HEAD").split())
    assert asked == []
    project.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    side = project.commit("Beside it")
    project.git("merge", "--quiet", "--no-edit", "main")
    main = bytes.fromhex(project.git("rev-parse", "main"))
    assert ancestors(project) == set(project.git("rev-list", "HEAD").split())
    assert ancestors(project, side) == set(project.git("rev-list", side).split())
    assert asked == [main, None]


def test_where_only_so_many_count_they_are_the_newest(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_COMMITS", 4)
    project.commit("Newer")
    ancestors(project)
    project.git("checkout", "--quiet", "--orphan", "old")
    project.clock -= 10_000
    for number in range(3):
        project.commit(f"Old {number}")
    project.clock += 20_000
    project.git("checkout", "--quiet", "main")
    project.git("merge", "--quiet", "--allow-unrelated-histories", "--strategy=ours", "--message=merge", "old")
    assert ancestors(project) == set(project.git("rev-list", "--max-count=4", "HEAD").split())


def test_only_those_used_last_are_kept(project: Repo) -> None:
    for number in range(MOST_LINEAGES + 1):
        project.commit(str(number))
        ancestors(project)
    assert len(lineages(project)) == MOST_LINEAGES
    assert any(path.name.startswith(project.git("rev-parse", "HEAD")) for path in lineages(project))


def test_gc_drops_those_of_commits_that_nothing_reaches(project: Repo) -> None:
    ancestors(project)
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    ancestors(project)
    project.git("reflog", "expire", "--expire=now", "--all")
    with Itza.open(project.path, {}) as opened:
        opened.collect()
    (left,) = lineages(project)
    assert left.name.startswith(project.git("rev-parse", "HEAD"))


def test_a_deepened_clone_has_more_ancestors(project: Repo, tmp_path: Path) -> None:
    project.git("clone", "--quiet", "--depth=1", project.path.as_uri(), str(tmp_path / "shallow"))
    shallow = existing(tmp_path / "shallow")
    assert len(ancestors(shallow)) == 1
    shallow.git("fetch", "--quiet", "--unshallow")
    assert len(ancestors(shallow)) == 2


def test_what_could_not_be_read_whole_is_asked_again(project: Repo) -> None:
    begin = project.git("rev-parse", "HEAD~1")
    lost = project.path / ".git" / "objects" / begin[:2] / begin[2:]
    content = lost.read_bytes()
    lost.unlink()
    assert begin not in ancestors(project)
    assert lineages(project) == []
    lost.write_bytes(content)
    assert begin in ancestors(project)


def test_a_damaged_lineage_is_told_of_and_made_anew(project: Repo) -> None:
    ancestors(project)
    (path,) = lineages(project)
    data = bytearray(path.read_bytes())
    data[data.index(bytes.fromhex(project.git("rev-parse", "HEAD")))] ^= 0xFF
    path.write_bytes(data)
    with Itza.open(project.path, {}) as opened:
        assert [fault.path for fault in opened.fsck().faults] == [path]
    assert order(project) == ["b.py", "a.py"]
    with Itza.open(project.path, {}) as opened:
        assert opened.fsck().faults == ()
