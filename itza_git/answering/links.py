"""Permalinks: where the lines of a citation are on the web, as far as the remote's URL tells it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from itza_git.errors import GitError
from itza_git.git import Repository

KNOWN = {"github.com": "github", "gitlab.com": "gitlab", "bitbucket.org": "bitbucket", "codeberg.org": "gitea"}
# A host of one's own is believed when its first label says what runs there.
NAMED = {"github": "github", "gitlab": "gitlab", "gitea": "gitea", "forgejo": "gitea"}
# Where the big ones take ssh through the port of https.
ALIASES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org"}

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")
_SCP = re.compile(r"(?:[^@/]*@)?(?P<host>[^:/@\[\]]+):(?P<path>(?!//).+)", re.DOTALL)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# These are shown as pages, where lines have no numbers, unless their source is asked for.
_PAGES = re.compile(rb"\.(?:md|markdown|mdown|rst|adoc|asciidoc|org|textile|ipynb|svg|csv|tsv)\Z", re.IGNORECASE)


def _github(place: str, first: int, last: int, is_page: bool) -> str:
    lines = f"L{first}" if first == last else f"L{first}-L{last}"
    return f"/blob/{place}{'?plain=1' if is_page else ''}#{lines}"


def _gitlab(place: str, first: int, last: int, is_page: bool) -> str:
    lines = f"L{first}" if first == last else f"L{first}-{last}"
    return f"/-/blob/{place}{'?plain=1' if is_page else ''}#{lines}"


def _bitbucket(place: str, first: int, last: int, is_page: bool) -> str:
    lines = f"{first}" if first == last else f"{first}:{last}"
    return f"/src/{place}{'?mode=view' if is_page else ''}#lines-{lines}"


def _gitea(place: str, first: int, last: int, is_page: bool) -> str:
    lines = f"L{first}" if first == last else f"L{first}-L{last}"
    return f"/src/commit/{place}{'?display=source' if is_page else ''}#{lines}"


FORGES: dict[str, Callable[[str, int, int, bool], str]] = {
    "github": _github,
    "gitlab": _gitlab,
    "bitbucket": _bitbucket,
    "gitea": _gitea,
}


COMMIT_PAGES = {"github": "/commit/", "gitlab": "/-/commit/", "bitbucket": "/commits/", "gitea": "/commit/"}


class Pages(Protocol):
    """Where a citation leads."""

    def url(self, path: bytes, first: int, last: int, commit: str) -> str | None:
        """The page that shows lines at a commit; None when there is none."""

    def commit_url(self, commit: str) -> str | None:
        """The page of a commit; None when there is none."""


@dataclass(frozen=True, slots=True)
class Links:
    """The web pages of a repository: base is its own, without a slash at the end; forge is what serves it."""

    base: str
    forge: str

    def url(self, path: bytes, first: int, last: int, commit: str) -> str | None:
        """The page that shows lines at a commit, in printable ASCII; None unless commit is a full hex id."""
        if not _COMMIT.fullmatch(commit):
            return None
        return self.base + FORGES[self.forge](f"{commit}/{quote(path)}", first, last, bool(_PAGES.search(path)))

    def commit_url(self, commit: str) -> str | None:
        """The page of a commit; None unless commit is a full hex id."""
        return f"{self.base}{COMMIT_PAGES[self.forge]}{commit}" if _COMMIT.fullmatch(commit) else None


def links_of(repository: Repository) -> Links | None:
    """The web pages of the remote that HEAD's branch follows, or of `origin`; None when neither is on a known host."""
    try:
        ref = repository.head().ref or ""
    except GitError:  # a broken HEAD is told where it matters
        ref = ""
    followed = repository.config(f"branch.{ref.removeprefix('refs/heads/')}.remote") if ref else []
    for remote in [*followed[-1:], "origin"]:
        urls = repository.config(f"remote.{remote}.url")
        # git fetches from the first of several.
        found = links_from(urls[0]) if urls else None
        if found:
            return found
    return None


def links_from(url: str) -> Links | None:
    """The web pages that belong to a remote's URL; None when that is no known host. User and password are dropped."""
    try:
        scheme, host, port, path = _parts(url)
        names = [_quoted(name) for name in path.removesuffix("/").removesuffix(".git").split("/") if name]
    except ValueError:
        return None
    host = ALIASES.get(host, host)
    forge = KNOWN.get(host) or NAMED.get(host.partition(".")[0])
    if forge is None or not _HOST.fullmatch(host) or not _is_repository(names, forge):
        return None
    own = host not in KNOWN
    at = f":{port}" if own and port and scheme in ("http", "https") else ""
    return Links(f"{'http' if own and scheme == 'http' else 'https'}://{host}{at}/{'/'.join(names)}", forge)


def _quoted(name: str) -> str:
    # Configuration that is not UTF-8 comes with its bytes escaped.
    return quote(unquote(name), safe="", errors="surrogateescape")


def _is_repository(names: list[str], forge: str) -> bool:
    # Only GitLab has groups within groups.
    is_deep = forge == "gitlab" and len(names) > 2
    return (len(names) == 2 or is_deep) and not {".", "..", ""} & set(names)


def _parts(url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path of a URL as git reads it. Raises `ValueError`."""
    if "://" in url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "ssh", "git", "git+ssh", "ssh+git"):
            raise ValueError(f"no web page belongs to {parts.scheme}")
        return parts.scheme, (parts.hostname or "").rstrip("."), parts.port, parts.path
    found = _SCP.fullmatch(url)
    if found is None:
        raise ValueError("a place on this machine")
    return "ssh", found["host"].lower(), None, found["path"]
