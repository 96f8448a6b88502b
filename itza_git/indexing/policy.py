"""Which paths of a tree are searched, and the reason for each that is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from itza_git.config import Settings
from itza_git.errors import NotLocal, UnreadableObject
from itza_git.pathspec import matcher
from itza_git.records import GITLINK, SYMLINK, Attributes, Entry
from itza_git.store.recipe import digest

# The reasons of what git's object database does not give: now perhaps, and perhaps later.
UNREADABLE = "unreadable"
NOT_LOCAL = "not local: partial clone"
LACKING = frozenset({UNREADABLE, NOT_LOCAL})
# That of a file of the working tree that was written to while it was read.
JUST_CHANGED = "just changed"
# Written by tools for tools; a question about dependencies is answered by the manifests beside them.
_GENERATED = re.compile(
    rb"(?:.*/)?(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|Cargo\.lock|poetry\.lock"
    rb"|uv\.lock|Pipfile\.lock|pdm\.lock|Gemfile\.lock|composer\.lock|go\.sum|mix\.lock|flake\.lock|Package\.resolved"
    rb"|Podfile\.lock|pubspec\.lock|.*\.min\.(?:js|css)|.*\.(?:js|css|ts)\.map|.*\.svg)"
)


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides beside the tree. max_file_size is in bytes; attributes are those of the repository's own file."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    max_file_size: int
    attributes: str = ""

    @classmethod
    def of(cls, settings: Settings, common_dir: Path) -> Policy:
        """The policy that settings and `info/attributes` ask for."""
        try:
            attributes = (common_dir / "info" / "attributes").read_text("utf-8", "surrogateescape")
        except OSError:
            attributes = ""
        return cls(settings.include, settings.exclude, settings.max_file_size, attributes)

    @property
    def name(self) -> str:
        """Part of a view's file name: 8 hex digits."""
        return digest(asdict(self), 4)

    def judge(self) -> Callable[[Entry, Attributes | None, Callable[[bytes], int]], str]:
        """A function from an entry, its attributes and a way to learn a blob's size to the reason to skip it, or "".

        The way to learn a size raises `UnreadableObject` where there is none.
        """
        included, excluded = matcher(self.include), matcher(self.exclude)

        def reason(entry: Entry, attributes: Attributes | None, size_of: Callable[[bytes], int]) -> str:
            if entry.mode in (SYMLINK, GITLINK):
                return "symlink" if entry.mode == SYMLINK else "submodule"
            if excluded(entry.path) or (self.include and not included(entry.path)):
                return "excluded"
            if found := _by_attributes(attributes):
                return found
            if _GENERATED.fullmatch(entry.path) and not (attributes and attributes.generated is False):
                return "generated"
            try:
                size = size_of(entry.id)
            except NotLocal:
                return NOT_LOCAL
            except UnreadableObject:
                return UNREADABLE
            return "too large" if size > self.max_file_size else ""

        return reason


def _by_attributes(attributes: Attributes | None) -> str:
    if attributes is None:
        return ""
    named = {"generated": attributes.generated, "vendored": attributes.vendored, "binary": attributes.binary}
    return next((name for name, value in named.items() if value), "")
