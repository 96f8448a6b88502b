"""What stands around the code of a tree: documents to read first, and the files that build, check and configure it."""

from __future__ import annotations

import re

# What is read first comes first.
_DOCUMENTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"readme(?:\.\w+)?",
        r"(?:docs?/)?(?:architecture|design|overview|internals)(?:[-_/]\w+)?\.\w+",
        r"(?:docs?/)?(?:contributing|hacking|development|developer|developers)(?:[-_]\w+)?(?:\.\w+)?",
        r"(?:docs?|documentation|guide)/(?:readme|index|introduction|intro|getting[-_]started|quickstart"
        r"|tutorial|guide)\.\w+",
        r"(?:\.github/)?contributing\.\w+",
        r"(?:changelog|changes|history|news|releases)(?:\.\w+)?",
    )
]
_BUILD = {
    "package and dependencies": r"pyproject\.toml|setup\.(?:py|cfg)|requirements[\w-]*\.txt|package\.json|Cargo\.toml"
    r"|go\.mod|go\.work|composer\.json|Gemfile|[^/]+\.gemspec|pom\.xml|build\.gradle(?:\.kts)?"
    r"|settings\.gradle(?:\.kts)?|mix\.exs|[^/]+\.cabal|stack\.yaml|Package\.swift|build\.sbt|[^/]+\.(?:csproj|sln)"
    r"|build\.zig|[^/]+\.rockspec|environment\.ya?ml",
    "build": r"(?:GNU)?[Mm]akefile(?:\.(?:am|in))?|CMakeLists\.txt|meson\.build|configure(?:\.ac)?|[Rr]akefile"
    r"|[Jj]ustfile|BUILD(?:\.bazel)?|WORKSPACE|MODULE\.bazel|noxfile\.py|tox\.ini|Taskfile\.ya?ml|build\.sh|webpack\.config\.\w+"
    r"|vite\.config\.\w+|rollup\.config\.\w+|tsconfig\.json",
    "image": r"Dockerfile(?:\.\w+)?|Containerfile|(?:docker-)?compose\.ya?ml",
    "checks": r"\.github/workflows/[^/]+|\.gitlab-ci\.yml|\.circleci/config\.yml|\.travis\.yml|Jenkinsfile"
    r"|\.cirrus\.yml|azure-pipelines\.yml|\.pre-commit-config\.yaml|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|\.rubocop\.yml"
    r"|ruff\.toml|\.golangci\.ya?ml|phpunit\.xml(?:\.dist)?|phpstan\.neon(?:\.dist)?|\.clang-format|rustfmt\.toml|pytest\.ini",
}
_KINDS = {kind: re.compile(pattern) for kind, pattern in _BUILD.items()}
BUILD_KINDS = tuple(_BUILD)


def reading_order(path: bytes) -> int | None:
    """The place of a document among those to be read first; None for one that is not."""
    text = path.decode("utf-8", "replace")
    return next((at for at, pattern in enumerate(_DOCUMENTS) if pattern.fullmatch(text)), None)


def build_kind(path: bytes) -> str | None:
    """What a file at the top of a tree is for, one of BUILD_KINDS; None where it builds and checks nothing."""
    text = path.decode("utf-8", "replace")
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(text)), None)
