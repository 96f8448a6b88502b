"""Permalinks from remotes of all forms, and that nothing can be smuggled into one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git import Itza
from itza_git.answering.answer import Answer, Cited, Statement
from itza_git.answering.links import Links, links_from
from itza_git.render import Style, hits, sources
from itza_git.render_json import ask_json
from itza_git.results import AskResult
from tests.command import Run
from tests.repository import Repo

COMMIT = "1a2b3c4d" * 5
TERMINAL = Style(colour=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/repo.git",
        "https://github.com/owner/repo",
        "https://github.com/owner/repo/",
        "https://user:secret@github.com/owner/repo.git",
        "https://ghp_secret@github.com:443/owner/repo.git",
        "git@github.com:owner/repo.git",
        "github.com:owner/repo",
        "git@github.com:/owner/repo.git",
        "ssh://git@github.com/owner/repo.git",
        "ssh://git@github.com:22/owner/repo",
        "ssh://git@ssh.github.com:443/owner/repo.git",
        "git://github.com/owner/repo.git",
        "HTTPS://GitHub.com/owner/repo.git",
        "http://github.com/owner/repo",
    ],
)
def test_every_form_of_a_github_remote(url: str) -> None:
    links = links_from(url)
    assert links == Links("https://github.com/owner/repo", "github")
    assert links.url(b"a/b.py", 3, 9, COMMIT) == f"https://github.com/owner/repo/blob/{COMMIT}/a/b.py#L3-L9"
    assert links.url(b"a/b.py", 3, 3, COMMIT) == f"https://github.com/owner/repo/blob/{COMMIT}/a/b.py#L3"


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("git@gitlab.com:group/sub/repo.git", "https://gitlab.com/group/sub/repo/-/blob/{}/a.py#L3-9"),
        ("ssh://git@altssh.gitlab.com:443/g/repo.git", "https://gitlab.com/g/repo/-/blob/{}/a.py#L3-9"),
        ("ssh://git@gitlab.example.com:2222/g/repo.git", "https://gitlab.example.com/g/repo/-/blob/{}/a.py#L3-9"),
        ("https://gitlab.example.com:8443/g/repo", "https://gitlab.example.com:8443/g/repo/-/blob/{}/a.py#L3-9"),
        ("http://gitea.lan.example/o/repo.git", "http://gitea.lan.example/o/repo/src/commit/{}/a.py#L3-L9"),
        ("https://codeberg.org/o/repo.git", "https://codeberg.org/o/repo/src/commit/{}/a.py#L3-L9"),
        ("git@bitbucket.org:o/repo.git", "https://bitbucket.org/o/repo/src/{}/a.py#lines-3:9"),
        ("https://me@bitbucket.org/o/repo.git", "https://bitbucket.org/o/repo/src/{}/a.py#lines-3:9"),
        ("git@github.example.com:o/repo.git", "https://github.example.com/o/repo/blob/{}/a.py#L3-L9"),
    ],
)
def test_each_forge_has_its_own_pages(url: str, page: str) -> None:
    links = links_from(url)
    assert links is not None
    assert links.url(b"a.py", 3, 9, COMMIT) == page.format(COMMIT)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/repo.git",
        "../repo",
        "C:\\code\\repo",
        "file:///srv/github.com/owner/repo",
        "https://example.com/owner/repo.git",
        "https://notgithub.com/owner/repo.git",
        "https://github.com.evil.example@/owner/repo",
        "https://github.com/owner",
        "https://github.com/a/b/c",
        "https://github.com/../repo",
        "https://gitlab/owner/repo",
        "https://git hub.com/owner/repo",
        "https://github.com:99999/owner/repo",
        "https://[::1/owner/repo",
        "ext::sh -c evil github.com:owner/repo",
        "git@[github.com:22]:owner/repo",
        "https://github.com/\ud800/repo",
    ],
)
def test_no_page_is_made_up_for_what_is_not_known(url: str) -> None:
    assert links_from(url) is None


def test_a_page_that_hides_its_lines_is_asked_for_as_text() -> None:
    places = {
        "git@github.com:o/r": f"https://github.com/o/r/blob/{COMMIT}/README.md?plain=1#L3",
        "git@gitlab.com:o/r": f"https://gitlab.com/o/r/-/blob/{COMMIT}/README.md?plain=1#L3",
        "git@codeberg.org:o/r": f"https://codeberg.org/o/r/src/commit/{COMMIT}/README.md?display=source#L3",
    }
    for url, page in places.items():
        links = links_from(url)
        assert links is not None
        assert links.url(b"README.md", 3, 3, COMMIT) == page


def test_only_a_full_commit_is_linked() -> None:
    links = Links("https://github.com/o/r", "github")
    assert links.url(b"a", 1, 1, "worktree") is None
    assert links.url(b"a", 1, 1, "1a2b3c4") is None


SECRET = "s3cr3tWord"


@given(st.text(st.characters(exclude_characters="/@"), max_size=8), st.binary(min_size=1, max_size=20))
def test_no_credential_and_no_control_character_gets_into_a_link(name: str, path: bytes) -> None:
    for url in (
        f"https://u:{SECRET}@github.com/{name}/r.git",
        f"{SECRET}@github.com:{name}/r",
        f"ssh://u:{SECRET}@gitlab.com/{name}/r",
    ):
        links = links_from(url)
        if links is None:
            continue
        page = links.url(path, 1, 2, COMMIT)
        assert page is not None
        assert SECRET not in page
        assert re.fullmatch(r"https://(github|gitlab)\.com/[!-~]+", page)


CITED = Cited(1, b"a.py", b"\1" * 20, 1, 2, "tool")


def test_a_link_is_written_on_a_terminal_only() -> None:
    url = "https://github.com/o/r"
    assert TERMINAL.link("text", url) == f"\x1b]8;;{url}\x1b\\text\x1b]8;;\x1b\\"
    assert Style().link("text", url) == "text"
    assert TERMINAL.link("text", None) == "text"
    linked = sources([(CITED, "a.py:1-2@1a2b3c4")], TERMINAL, {1: url})
    assert f"]8;;{url}\x1b\\" in linked
    assert sources([(CITED, "a.py:1-2@1a2b3c4")], Style(), {1: url}) == "[1] a.py:1-2@1a2b3c4"


@pytest.mark.parametrize("evil", ["\x1b\\", "\x07", "\x9c", " ", "\n", "\u202e", "\x00"])
def test_nothing_breaks_out_of_the_escape_sequence(evil: str) -> None:
    assert TERMINAL.link("text", f"https://github.com/{evil}x") == "text"


def test_the_followed_remote_comes_before_origin(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()

    def base() -> str | None:
        with Itza.open(repo.path) as itza:
            return itza.links.base if itza.links else None

    assert base() is None
    repo.git("config", "remote.origin.url", "git@github.com:o/origin.git")
    assert base() == "https://github.com/o/origin"
    repo.git("config", "remote.up.stream.url", "git@gitlab.com:o/upstream.git")
    repo.git("config", "branch.main.remote", "up.stream")
    assert base() == "https://gitlab.com/o/upstream"
    repo.git("config", "branch.main.remote", ".")
    assert base() == "https://github.com/o/origin"
    repo.git("checkout", "--quiet", "--detach")
    assert base() == "https://github.com/o/origin"


def test_an_answer_in_json_and_hits_on_a_terminal_lead_to_their_lines(repo: Repo) -> None:
    repo.write("a.py", "def retry_with_backoff():\n    return 1\n")
    commit = repo.commit()
    repo.git("config", "remote.origin.url", f"https://me:{SECRET}@github.com/o/r.git")
    page = f"https://github.com/o/r/blob/{commit}/a.py#L1-L2"
    with Itza.open(repo.path) as itza:
        result, links = itza.search("retry"), itza.links
    citations = [(CITED, "a.py:1-2@1a2b3c4")]
    for uncommitted, url in ((frozenset[bytes](), page), (frozenset([b"a.py"]), None)):
        asked = AskResult(
            replace(result, uncommitted=uncommitted), Answer("answered", (Statement("It is.", (CITED,)),))
        )
        (found,) = ask_json(asked, citations, False, links)["citations"]
        assert found["url"] == url
        assert ask_json(asked, citations, False)["citations"][0]["url"] is None
    assert hits(result, TERMINAL, links=links).startswith(f"\x1b]8;;{page}\x1b\\")
    assert "]8;" not in hits(result, TERMINAL)
    assert "]8;" not in hits(result, Style(), links=links)


def test_output_that_is_no_terminal_has_no_links(repo: Repo, run: Run) -> None:
    repo.write("a.py", "def retry_with_backoff():\n    return 1\n")
    repo.commit()
    repo.git("config", "remote.origin.url", "git@github.com:o/r.git")
    for args in (["search", "retry"], ["ask", "--no-model", "how does retry work?"]):
        assert "\x1b" not in run(repo, *args).out
