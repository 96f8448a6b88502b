"""Several repositories: the registry, one ranking over all, citations pinned to the right one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from itza_git import Itza, registry
from itza_git.errors import UsageError
from itza_git.registry import Entry
from itza_git.several import Several
from tests.command import Run
from tests.model_server import Script, serving
from tests.repository import Repo

RETRY = "def retry(times):\n    '''Try a request again, a few times, when the server is busy.'''\n    return times\n"
CACHE = "def evict(entries):\n    '''Drop the oldest entry of the cache when it is full.'''\n    return entries[1:]\n"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Repo, Repo]:
    """Repositories `client` and `store`, both registered."""
    client, store = Repo(tmp_path / "client"), Repo(tmp_path / "store")
    client.write("src/http.py", RETRY)
    store.write("src/cache.py", CACHE)
    for one in (client, store):
        one.commit()
        registry.add(one.path)
    return client, store


# The registry


def test_names_are_the_last_parts_of_paths_made_unique() -> None:
    paths = [Path("/a/work/api"), Path("/b/home/api"), Path("/c/home/api"), Path("/srv/tools.git"), Path("/a/work/api")]
    assert [one.name for one in registry.named(paths)] == ["api", "home-api", "home-api-2", "tools"]


def test_a_repository_is_registered_once_by_the_top_of_its_tree(two: tuple[Repo, Repo], run: Run) -> None:
    client, _ = two
    assert run(client.path / "src", "repos", "add", ".").out == f"already there: client  {client.path}\n"
    assert [one.name for one in registry.entries()] == ["client", "store"]


def test_only_paths_are_kept_in_the_users_own_git_configuration(two: tuple[Repo, Repo], home: Path) -> None:
    listed = two[0].git("config", "--global", "--get-all", "itza.repo").splitlines()
    assert listed == [str(one.path) for one in two]


def test_a_repository_is_forgotten_by_name_or_by_path_even_when_it_is_gone(two: tuple[Repo, Repo], run: Run) -> None:
    client, store = two
    shutil.rmtree(store.path)
    assert run(client.path, "repos", "remove", str(store.path)).code == 0
    assert run(client.path, "repos", "remove", "client").code == 0
    assert registry.entries() == ()
    assert (client.path / ".git").is_dir()


def test_a_path_that_the_user_wrote_with_a_tilde_is_read_and_removed(two: tuple[Repo, Repo], home: Path) -> None:
    mine = Repo(home / "mine")
    mine.git("config", "--global", "--add", "itza.repo", "~/mine")
    assert registry.entries()[-1] == Entry("mine", home / "mine")
    registry.remove("mine")
    assert [one.name for one in registry.entries()] == ["client", "store"]


def test_what_cannot_be_added_is_named_and_the_others_are_added(tmp_path: Path, run: Run) -> None:
    one = Repo(tmp_path / "one")
    done = run(tmp_path, "repos", "add", str(tmp_path / "nothing"), str(one.path))
    assert (done.code, done.out) == (2, f"added one  {one.path}\n")
    assert done.error == [
        f"error: no such folder: {tmp_path / 'nothing'}",
        "hint: git itza repos add PATH",
    ]


def test_an_unknown_name_is_an_error_that_lists_the_known(two: tuple[Repo, Repo], run: Run) -> None:
    done = run(two[0].path, "search", "--repo", "sotre", "cache")
    assert done.code == 2
    assert done.error == [
        "error: no registered repository is named sotre",
        "hint: known are client, store: git itza repos",
    ]


def test_the_list_says_what_is_indexed_and_what_is_gone(two: tuple[Repo, Repo], run: Run) -> None:
    client, store = two
    run(client.path, "index")
    shutil.rmtree(store.path)
    listed = run(client.path, "repos", "--json").json["repositories"]
    assert [(one["name"], one["error"] is None) for one in listed] == [("client", True), ("store", False)]
    assert listed[0]["coverage"] == {"indexed": 1, "total": 1, "skipped": []}
    assert run(client.path, "repos").out.splitlines()[0].split()[:3] == [
        "client",
        client.git("rev-parse", "HEAD")[:12],
        "1/1",
    ]


def test_a_repository_that_is_gone_keeps_the_columns_and_is_told_how_to_be_forgotten(
    two: tuple[Repo, Repo], run: Run
) -> None:
    client, store = two
    shutil.rmtree(store.path)
    listed = run(client.path, "repos")
    lines = listed.out.splitlines()
    assert len({line.index(str(one.path)) for line, one in zip(lines, two, strict=True)}) == 1
    told = [f"error: store: {store.path} is gone", "hint: git itza repos remove store"]
    assert listed.error == [line.replace("store: ", "", 1) for line in told]
    assert run(client.path, "repos", "index", "store").error == listed.error


def test_what_cannot_be_registered_is_said_with_what_to_type(two: tuple[Repo, Repo], tmp_path: Path, run: Run) -> None:
    client, _ = two
    done = run(client.path, "repos", "add", "nope")
    assert (done.code, done.error) == (2, ["error: no such folder: nope", "hint: git itza repos add PATH"])
    (tmp_path / "plain").mkdir()
    assert run(tmp_path, "repos", "add", "plain").error[1] == "hint: git -C plain init"


def test_one_repository_that_fails_does_not_stop_the_others(two: tuple[Repo, Repo], run: Run) -> None:
    client, store = two
    shutil.rmtree(client.path / ".git")
    done = run(store.path, "repos", "index", "--json")
    assert done.code == 2
    assert [(one["name"], one["error"] is None) for one in done.json["repositories"]] == [
        ("client", False),
        ("store", True),
    ]
    assert done.json["repositories"][1]["new"] == 1


def test_nothing_registered_is_said_with_the_next_command(tmp_path: Path, run: Run) -> None:
    assert run(tmp_path, "repos").error == ["no repository is registered", "hint: git itza repos add PATH..."]
    done = run(tmp_path, "search", "--all-repos", "cache")
    assert (done.code, done.error) == (2, ["error: no repository is registered", "hint: git itza repos add PATH"])


def test_a_name_does_not_change_when_another_one_goes(tmp_path: Path, run: Run) -> None:
    for parent in ("work", "home"):
        registry.add(Repo(tmp_path / parent / "api").path)
    assert [one.name for one in registry.entries()] == ["api", "home-api"]
    registry.remove("api")
    assert [one.name for one in registry.entries()] == ["home-api"]
    assert run(tmp_path, "repos", "remove", "api").code == 2


def test_a_user_may_give_names_by_hand(tmp_path: Path) -> None:
    mine = Repo(tmp_path / "a=b")
    mine.git("config", "--global", "--add", "itza.repo", f"web={mine.path}")
    assert registry.entries() == (Entry("web", mine.path),)
    registry.remove("web")
    registry.add(mine.path)
    assert registry.entries() == (Entry("a=b", mine.path),)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="such names cannot exist there")
def test_a_folder_of_odd_bytes_has_a_name_and_a_path_that_can_be_printed(tmp_path: Path, run: Run) -> None:
    odd = Repo(tmp_path / os.fsdecode(b"inv\xff\n"))
    odd.write("cache.py", CACHE)
    odd.commit()
    registry.add(odd.path)
    found = run(tmp_path, "search", "--all-repos", "--json", "oldest entry of the cache").json
    assert found["hits"][0]["repo"] == "inv__"
    assert found["repositories"][0]["path"].endswith('inv\\377\\n"')
    assert run(tmp_path, "repos", "--json").json["repositories"][0]["name"] == "inv__"


# Searching


def test_a_folder_that_is_called_like_the_repository_is_not_mixed_up_with_it(tmp_path: Path, run: Run) -> None:
    repo = Repo(tmp_path / "click")
    repo.write("README.md", "# Click top\n")
    repo.write("click/README.md", "# Inner\n")
    repo.commit()
    registry.add(repo.path)
    best = run(repo, "search", "--all-repos", "--json", "click top").json["hits"][0]
    assert (best["path"], best["citation"].rpartition("@")[0]) == ("README.md", "click//README.md:1")
    assert run(repo, "show", best["citation"]).out == "1  # Click top\n"
    assert run(tmp_path, "show", best["citation"]).out == "1  # Click top\n"


def test_one_ranking_goes_over_all_and_each_citation_names_its_repository_and_commit(
    two: tuple[Repo, Repo], run: Run
) -> None:
    client, store = two
    found = run(client.path, "search", "--all-repos", "--json", "drop the oldest entry when the cache is full").json
    best = found["hits"][0]
    commit = store.git("rev-parse", "HEAD")
    assert (best["repo"], best["path"], best["commit"]) == ("store", "src/cache.py", commit)
    assert best["citation"] == f"store//src/cache.py:1-3@{commit[:7]}"
    assert found["commit"] is None
    assert [one["name"] for one in found["repositories"]] == ["client", "store"]


def test_the_current_repository_is_searched_along_though_it_is_not_registered(
    two: tuple[Repo, Repo], tmp_path: Path
) -> None:
    here = Repo(tmp_path / "here")
    here.write("a.py", "def flush_pending_writes():\n    pass\n")
    here.commit()
    with Several.open(here=here.path) as several:
        assert list(several.members) == ["here", "client", "store"]
        assert several.search("flush pending writes").hits[0].citation.startswith("here//a.py:1-2@")


def test_scores_are_those_of_one_corpus(two: tuple[Repo, Repo], tmp_path: Path) -> None:
    # The same files in one repository rank alike: no repository's own statistics move a hit.
    one = Repo(tmp_path / "one")
    one.write("client/src/http.py", RETRY)
    one.write("store/src/cache.py", CACHE)
    one.commit()
    question = "when is an entry of the cache dropped, and a request retried?"
    with Several.open(["client", "store"]) as several, Itza.open(one.path) as itza:
        apart, together = several.search(question), itza.search(question)
    assert [hit.passage.path.replace(b"//", b"/") for hit in apart.hits] == [hit.passage.path for hit in together.hits]
    assert apart.found.coverage == pytest.approx(together.found.coverage)


def test_one_repository_alone_is_named(two: tuple[Repo, Repo], run: Run) -> None:
    found = run(two[0].path, "search", "--repo", "store", "--json", "retry a request").json
    assert {hit["repo"] for hit in found["hits"]} <= {"store"}


def test_a_repository_that_is_gone_or_empty_is_named_and_the_others_are_searched(
    two: tuple[Repo, Repo], tmp_path: Path, run: Run
) -> None:
    client, store = two
    registry.add(Repo(tmp_path / "empty").path)
    shutil.rmtree(store.path)
    done = run(client.path, "search", "--all-repos", "retry a request")
    assert done.code == 0
    assert done.out.startswith("client//src/http.py:1-3@")
    told = [line for line in done.error if "is not searched" in line]
    assert [line.split()[1] for line in told] == ["empty", "store"]


def test_trees_of_one_repository_are_refused_for_several(two: tuple[Repo, Repo], run: Run) -> None:
    done = run(two[0].path, "search", "--all-repos", "--rev", "HEAD~1", "cache")
    assert done.code == 2
    assert done.error[0] == "error: --rev is a tree of one repository; leave out --all-repos"


def test_damage_in_one_of_them_is_healed(two: tuple[Repo, Repo], run: Run) -> None:
    client, store = two
    run(client.path, "repos", "index")
    pack = next((store.path / ".git" / "itza").rglob("pack-*.itza"))
    data = bytearray(pack.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    pack.chmod(0o600)
    pack.write_bytes(data)
    done = run(client.path, "search", "--all-repos", "--json", "drop the oldest entry of the cache")
    assert done.code == 0
    assert done.json["hits"][0]["repo"] == "store"


# Asking and citing


def test_an_answer_cites_the_repository_that_bears_it_out(two: tuple[Repo, Repo], run: Run) -> None:
    client, store = two
    with serving(Script("`evict` drops the oldest entry of the cache when it is full [1].")) as server:
        client.git("config", "--global", "itza.ollamaHost", server.host)
        done = run(client.path, "ask", "--all-repos", "--json", "what happens when the cache is full?")
    cited = done.json["citations"][0]
    commit = store.git("rev-parse", "HEAD")
    assert (cited["repo"], cited["path"], cited["commit"]) == ("store", "src/cache.py", commit)
    assert cited["citation"].startswith("store//src/cache.py:")


def test_that_no_history_is_looked_at_is_said_where_a_reason_is_asked_for(two: tuple[Repo, Repo], run: Run) -> None:
    told = "note: over several repositories no commit is looked at for the reason; ask in one of them"
    for question, is_told in (("why is the oldest entry dropped?", True), ("how is an entry dropped?", False)):
        done = run(two[0].path, "ask", "--all-repos", "--no-model", question)
        assert (told in done.err.splitlines()) == is_told


def test_what_each_of_them_is_is_told_by_its_readme(two: tuple[Repo, Repo], run: Run) -> None:
    for one, name in zip(two, ("client", "store"), strict=True):
        one.write("README.md", f"# The {name}\n\nWhat this is.\n")
        one.write("CODE_OF_CONDUCT.md", "# What does this project do?\n\nWhat this project does is kind.\n")
        one.write("src/use.py", "from http import retry\nfrom cache import evict\n\nretry(evict([]))\n")
        one.commit()
    told = run(two[0], "ask", "what does this project do?", "--all-repos", "--no-model", "--json").json
    found = [one["citation"].rpartition(":")[0] for one in told["passages"]]
    assert found[:2] == ["client//README.md", "store//README.md"]
    assert not any("CONDUCT" in path for path in found)
    citation = told["passages"][1]["citation"]
    assert run(two[0], "show", citation).out == "1  # The store\n2\n3  What this is.\n"
    done = run(two[0], "ask", "what does this project do?", "--repo", "store", "--no-model", "-k", "1")
    assert (done.code, done.out.partition(":")[0]) == (0, "store//README.md")


def test_such_a_citation_is_shown_and_verified_from_anywhere(two: tuple[Repo, Repo], run: Run, tmp_path: Path) -> None:
    client, store = two
    citation = f"store//src/cache.py:1-1@{store.git('rev-parse', 'HEAD')[:7]}"
    assert run(client.path, "show", citation).out == "1  def evict(entries):\n"
    text = tmp_path / "notes.md"
    text.write_text(f"Eviction is in {citation}.\n")
    assert run(client.path, "verify", str(text)).code == 0
    store.write("src/cache.py", "import os\n\n\n" + CACHE)
    store.commit()
    assert run(client.path, "verify", "--fix", str(text)).code == 0
    assert text.read_text() == f"Eviction is in store//src/cache.py:4@{store.git('rev-parse', 'HEAD')[:7]}.\n"


def test_an_unknown_repository_in_open_is_an_error(two: tuple[Repo, Repo]) -> None:
    with pytest.raises(UsageError, match="no registered repository is named nowhere"):
        Several.open(["nowhere"])


def test_an_empty_name_is_not_the_current_folder(repo: Repo, run: Run) -> None:
    repo.write("a.py", "a = 1\n")
    repo.commit()
    added = run(repo, "repos", "add", "")
    assert (added.code, added.error) == (
        2,
        ["error: the path of a repository is empty", "hint: git itza repos add PATH"],
    )
    assert run(repo, "repos", "add", ".").code == 0
    for command in (["search", "a", "--repo", ""], ["repos", "remove", ""], ["repos", "index", ""]):
        done = run(repo, *command)
        assert (done.code, done.error[0]) == (2, "error: the name of a repository is empty")
    assert len(run(repo, "repos", "--json").json["repositories"]) == 1


def test_ten_repositories_of_mixed_sizes_are_indexed_once_and_ranked_as_one(tmp_path: Path, run: Run) -> None:
    for number in range(10):
        repo = Repo(tmp_path / f"service{number}")
        for file in range(1 + number * 4):
            repo.write(f"src/part{file}.py", f"def part_{number}_{file}(value):\n    return value + {file}\n")
        if number == 7:
            repo.write("src/cache.py", CACHE)
        repo.commit()
        assert run(repo, "repos", "add", ".").code == 0
    first = run(tmp_path, "repos", "index", "--json").json["repositories"]
    assert [one["coverage"]["indexed"] for one in first] == [1 + 4 * n + (n == 7) for n in range(10)]
    assert all(one["new"] == 0 for one in run(tmp_path, "repos", "index", "--json").json["repositories"])
    found = run(tmp_path, "search", "--all-repos", "--json", "drop the oldest entry when the cache is full").json
    assert (found["hits"][0]["repo"], found["hits"][0]["path"]) == ("service7", "src/cache.py")
    assert len(found["repositories"]) == 10
    assert found["coverage"]["indexed"] == sum(1 + 4 * n for n in range(10)) + 1
