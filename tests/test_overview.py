"""`git itza overview`: what others rest on, where a program begins, and what stands around the code."""

from __future__ import annotations

import json

import pytest

from itza_git import Itza, render_overview
from itza_git.answering.citation import parse
from itza_git.render import Style
from itza_git.search.imports import Imports
from itza_git.search.roles import test_folder as folder_of_tests
from itza_git.surroundings import build_kind, reading_order
from itza_git.survey import Overview, Spot
from tests.command import Run
from tests.repository import Repo

STORE = '''\
class PackStore:
    """Keeps packs."""

    def open_pack(self, name):
        return name


def read_header(data):
    return data[:8]
'''


def overview(repo: Repo, **options: object) -> Overview:
    with Itza.open(repo.path) as itza:
        return itza.overview(**options)  # type: ignore[arg-type]


def paths(spots: tuple[Spot, ...]) -> list[str]:
    return [spot.passage.path.decode() for spot in spots]


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("pyproject.toml", '[project]\nname = "keep"\n[project.scripts]\nkeep = "keep.cli:run"\n')
    repo.write("src/keep/__init__.py", "from keep.store import PackStore\n")
    repo.write("src/keep/store.py", STORE)
    repo.write("src/keep/cli.py", "from keep.store import PackStore\n\n\ndef run():\n    PackStore().open_pack('a')\n")
    repo.write("src/keep/check.py", "from .store import read_header\n\n\ndef check_all(data):\n    read_header(data)\n")
    repo.write("src/keep/lonely.py", "def nobody_calls_this():\n    pass\n")
    repo.write("tests/test_store.py", "from keep.store import PackStore\n\n\ndef test_it():\n    PackStore()\n")
    repo.write("docs/index.md", "# The book\n\nAll about packs.\n")
    repo.write("README.md", "# Keep\n\nKeeps packs.\n")
    repo.write("Makefile", "all:\n\tpython -m build\n")
    repo.write(".github/workflows/ci.yml", "on: push\n")
    repo.write(".github/workflows/tests.yml", "on: push\n")
    repo.commit()
    return repo


def test_what_is_in_a_repository_is_told_with_citations_that_hold(project: Repo) -> None:
    found = overview(project)
    assert (found.rev, found.commit) == ("HEAD", project.git("rev-parse", "HEAD"))
    assert next(one.name for one in found.languages if one.kind == "code") == "python"
    assert sum(one.lines for one in found.languages) == found.lines
    assert paths(found.central)[0] == "src/keep/store.py"
    assert (found.central[0].names[0], found.central[0].users) == ("PackStore", 3)
    assert "src/keep/lonely.py" not in paths(found.central)
    assert [(spot.what, spot.name) for spot in found.entry_points] == [("command", "keep"), ("library", "keep")]
    assert paths(found.docs) == ["README.md", "docs/index.md"]
    assert [spot.name for spot in found.docs] == ["Keep", "The book"]
    assert [(area.path, area.files) for area in found.tests] == [(b"tests/", 1)]
    assert {path.rpartition("/")[2] for path in paths(found.build)} == {
        "pyproject.toml",
        "Makefile",
        "ci.yml",
        "tests.yml",
    }
    assert found.areas[0].path == b"src/keep/" and "PackStore" in found.areas[0].names
    with Itza.open(project.path) as itza:
        for spot in [*found.central, *found.entry_points, *found.docs, *found.build]:
            assert itza.show(parse(spot.citation)).lines
        begins = itza.show(parse(found.entry_points[0].citation)).lines
    assert "def run():" in begins


def test_only_the_asked_tree_and_paths_are_looked_at(project: Repo) -> None:
    before = overview(project)
    project.git("checkout", "--quiet", "-b", "side")
    project.write("lib/other.go", "package lib\n\nfunc OtherThing() {}\n")
    project.commit()
    assert "go" in {one.name for one in overview(project).languages}
    assert overview(project, branch="main").central == before.central
    project.git("checkout", "--quiet", "main")
    assert overview(project, paths=["src"]).docs == ()
    assert overview(project, paths=["src"]).entry_points == before.entry_points


def test_a_name_that_everybody_defines_makes_nobody_central(repo: Repo) -> None:
    for letter in "abcde":
        repo.write(f"{letter}.py", f"def run_it():\n    pass\n\n\ndef only_{letter}_has_it():\n    run_it()\n")
    repo.commit()
    assert overview(repo).central == ()


def test_a_compound_name_that_everybody_holds_is_used_by_all_of_them(repo: Repo) -> None:
    repo.write("base.py", "class BaseThing:\n    pass\n")
    for number in range(24):
        repo.write(f"part{number}.py", f"def part_{number}(a: BaseThing):\n    pass\n")
    repo.commit()
    assert [(one.passage.path, one.users) for one in overview(repo).central] == [(b"base.py", 24)]


def test_a_name_counts_only_among_languages_that_know_each_other(repo: Repo) -> None:
    repo.write("thing.rs", "pub struct ObjectId {\n    id: u32,\n}\n")
    repo.write("a.rs", "fn first(id: ObjectId) {}\n")
    for number in range(3):
        repo.write(f"{number}.go", "package a\n\nfunc Find(id ObjectId) {}\n")
    repo.commit()
    (central,) = overview(repo).central
    assert (central.passage.path, central.users) == (b"thing.rs", 1)


def test_code_with_its_tests_beside_it_is_an_area_of_code(repo: Repo) -> None:
    repo.write("serve.go", "package serve\n\nfunc Serve() {\n}\n")
    repo.write("serve_test.go", "package serve\n\n" + "func TestServe(t *testing.T) {\n}\n\n" * 3)
    repo.commit()
    assert [(area.path, area.role) for area in overview(repo).areas] == [(b"", "code")]


def test_a_large_tree_is_read_in_part(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itza_git.search.centrality.MOST_READ", 3)
    found = overview(project)
    assert paths(found.central) == ["src/keep/store.py"]
    assert found.central[0].users == 3


def test_a_header_and_its_source_are_one_of_the_central_files(repo: Repo) -> None:
    repo.write("buf.h", "struct buf {\n    int size;\n};\nvoid buf_add(struct buf *b);\n")
    repo.write("buf.c", '#include "buf.h"\nvoid buf_add(struct buf *b)\n{\n    b->size++;\n}\n')
    for name in ("one", "two"):
        repo.write(f"{name}.c", f'#include "buf.h"\nvoid {name}_main(void)\n{{\n    buf_add(0);\n}}\n')
    repo.commit()
    assert [path.partition(".")[0] for path in paths(overview(repo).central)] == ["buf"]


def test_areas_and_tests_together_are_all_there_is(project: Repo) -> None:
    project.write("macros/src/lib.rs", "pub fn expand_all() {\n}\n" * 9)
    project.write("macros/tests/pass.rs", "fn passes() {\n}\n")
    project.write("macros/src/tests.rs", "fn inside() {\n}\n")
    project.commit()
    for options in ({}, {"paths": ["macros"]}, {"paths": [".github"]}):
        found = overview(project, **options)
        told = [*found.areas, *found.tests]
        assert (sum(one.files for one in told), sum(one.lines for one in told)) == (found.files, found.lines)
        assert not any(area.role == "tests" for area in found.areas)


def test_what_a_file_adds_to_a_type_of_others_is_not_what_it_declares(repo: Repo) -> None:
    convert = "impl {} for String {{\n    fn into_it(self) -> u8 {{\n        0\n    }}\n}}\n"
    repo.write("into.rs", "pub trait IntoIt {\n    fn into_it(self) -> u8;\n}\n\n" + convert.format("IntoIt"))
    repo.write("from.rs", "pub struct Mine;\n\nimpl From<Mine> for StatusCode {\n    fn from(m: Mine) -> u8 { 0 }\n}\n")
    for number in range(3):
        repo.write(f"use{number}.rs", f"fn use_{number}(a: String, b: StatusCode) -> u8 {{\n    0\n}}\n")
    repo.write("other.rs", "fn convert(a: impl IntoIt) {}\n")
    repo.write("text.swift", "extension Substring {\n    func trimmed() -> Int {\n        return 1\n    }\n}\n")
    repo.write("a.swift", "func first(a: Substring) {\n}\n")
    repo.commit()
    assert [(one.passage.path, one.names, one.users) for one in overview(repo).central] == [
        (b"into.rs", ("IntoIt",), 1)
    ]


def test_a_linked_document_is_read_under_the_name_that_the_link_gives_it(project: Repo, run: Run) -> None:
    project.git("mv", "README.md", "src/keep/README.md")
    (project.path / "README.md").symlink_to("src/keep/README.md")
    (project.path / "CONTRIBUTING.md").symlink_to("../outside.md")
    project.commit()
    assert paths(overview(project).docs) == ["src/keep/README.md", "docs/index.md"]
    told = run(project, "ask", "what does this project do?", "--no-model", "--json").json
    assert told["passages"][0]["path"] == "src/keep/README.md"


# Entrances


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"package.json": json.dumps({"name": "@x/tool", "bin": {"tool": "./bin/cli.js"}, "main": "lib"}),
             "bin/cli.js": "run()\n", "lib/index.js": "module.exports = 1\n"},
            [("command", "tool", "bin/cli.js"), ("library", "tool", "lib/index.js")],
        ),
        (
            {"Cargo.toml": '[package]\nname = "rg"\n[[bin]]\nname = "rg"\npath = "core/main.rs"\n',
             "core/main.rs": "fn main() {}\n", "build.rs": "fn main() {}\n",
             "crates/a/Cargo.toml": '[package]\nname = "a-b"\n', "crates/a/src/lib.rs": "pub fn a() {}\n"},
            [("command", "rg", "core/main.rs"), ("library", "a-b", "crates/a/src/lib.rs")],
        ),
        (
            {"cmd/serve/main.go": "package main\n\nfunc main() {\n}\n",
             "serve.go": "package serve\n\nfunc Serve() {}\n"},
            [("program", "main.go", "cmd/serve/main.go")],
        ),
        (
            {"go.mod": "module example.org/x/serve/v2\n", "serve.go": "package serve\n\nfunc Serve() {}\n",
             "doc.go": "// Package serve serves.\npackage serve\n"},
            [("library", "serve", "serve.go")],
        ),
        (
            {"tool.gemspec": 'spec.name = "tool"\n', "exe/tool": "#!/usr/bin/env ruby\nputs 1\n",
             "lib/tool.rb": "module Tool\nend\n"},
            [("command", "tool", "exe/tool"), ("library", "tool", "lib/tool.rb")],
        ),
        (
            {"setup.py": 'setup(entry_points={"console_scripts": ["go = pack.cli:start"]})\n',
             "pack/cli.py": "def start():\n    pass\n"},
            [("command", "go", "pack/cli.py")],
        ),
        (
            {"Dockerfile": "FROM scratch\nENTRYPOINT [\"/serve\"]\n", "Main.java": "class Main {}\n"},
            [("program", "Main.java", "Main.java"), ("image", '["/serve"]', "Dockerfile")],
        ),
        (
            {"composer.json": '{"bin": ["bin/run"]}', "bin/run": "#!/usr/bin/env php\n<?php run();\n",
             "manage.py": "import sys\n"},
            [("command", "run", "bin/run"), ("program", "manage.py", "manage.py")],
        ),
        (
            {"common.c": "int main(int argc, char **argv)\n{\n    return cmd_main(argc, argv);\n}\n",
             "tool.c": "int cmd_main(int argc, char **argv)\n{\n    return help_user(0) + ask_user(0);\n}\n",
             "help.c": "int help_user(int a)\n{\n    return 0;\n}\n",
             "ask.c": "int ask_user(int a)\n{\n    return 0;\n}\n"},
            [("program", "tool.c", "tool.c"), ("program", "common.c", "common.c")],
        ),
        (
            {"composer.json": '{"name": "a/thin", "autoload": {"psr-4": {"Thin\\\\": "src", "None\\\\": "none/"}}}',
             "src/Route.php": "<?php\nclass Route {\n}\n",
             "src/App.php": "<?php\nclass App {\n    function run() { new Route(); }\n}\n"},
            [("library", "thin", "src/Route.php")],
        ),
        (
            {"pom.xml": "<project><parent><artifactId>up</artifactId></parent><artifactId>io</artifactId></project>",
             "src/main/java/org/Pipe.java": "package org;\nclass Pipe {\n}\n",
             "serve/build.gradle.kts": 'plugins { id("application") }\n',
             "serve/src/main/kotlin/Serve.kt": "class Serve {\n}\n",
             "zip/build.gradle": "apply plugin: 'java-library'\n", "zip/src/main/kotlin/Zip.kt": "class Zip {\n}\n"},
            [("library", "io", "src/main/java/org/Pipe.java"), ("library", "zip", "zip/src/main/kotlin/Zip.kt")],
        ),
        ({"widget.py": "class Widget:\n    def main(self):\n        pass\n"}, []),
        ({"tests/run.c": "int main(void)\n{\n    return 0;\n}\n"}, []),
    ],
    ids=["node", "cargo", "go", "go.mod", "gem", "setup.py", "image", "bin", "shared", "php", "jvm", "method", "test"],
)  # fmt: skip
def test_where_a_program_begins(repo: Repo, files: dict[str, str], expected: list[tuple[str, str, str]]) -> None:
    for path, content in files.items():
        repo.write(path, content)
    repo.commit()
    found = overview(repo).entry_points
    assert [(spot.what, spot.name, spot.passage.path.decode()) for spot in found] == expected


@pytest.mark.parametrize("broken", ["{", "[]", '{"bin": 3}', "null", '{"exports": {"a": {"b": []}}}', "[" * 100_000])
def test_a_manifest_that_cannot_be_read_is_no_manifest(repo: Repo, broken: str) -> None:
    repo.write("package.json", broken)
    repo.write("Cargo.toml", broken)
    repo.write("pyproject.toml", '[project]\nscripts = "none"\n')
    repo.write("cli.js", "run()\n")
    repo.commit()
    assert overview(repo).entry_points == ()


def test_a_manifest_reaches_nothing_outside_the_tree(repo: Repo) -> None:
    repo.write("package.json", json.dumps({"bin": "../../etc/passwd", "main": "/etc/passwd"}))
    repo.commit()
    assert overview(repo).entry_points == ()


# Imports


@pytest.mark.parametrize(
    ("importer", "line", "expected"),
    [
        ("src/app/main.py", "from app.store import open", ["src/app/store.py"]),
        ("src/app/main.py", "from .store import open", ["src/app/store.py"]),
        ("src/app/main.py", "import json", []),
        ("web/index.js", "const x = require('./view')", ["web/view.js"]),
        ("web/index.js", "import { a } from './parts/view'", ["web/parts/view.ts"]),
        ("web/index.js", "const fs = require('fs')", []),
        ("c/main.c", '#include "buf.h"', ["c/buf.c", "c/buf.h"]),
        ("core/main.rs", "use crate::flags::{defs, hiargs};", ["core/flags/defs.rs", "core/flags/hiargs.rs"]),
        ("core/main.rs", "mod flags;", ["core/flags/mod.rs"]),
        ("j/org/x/App.java", "import org.x.io.Reader;", ["j/org/x/io/Reader.java"]),
        ("lib/tool.rb", "require 'tool/site'", ["lib/tool/site.rb"]),
        ("src/app/main.py", "x = 'from app.store import open'", []),
    ],
)
def test_what_a_line_imports(importer: str, line: str, expected: list[str]) -> None:
    known = ["src/app/main.py", "src/app/store.py", "web/index.js", "web/view.js", "web/parts/view.ts", "c/main.c"]
    known += ["c/buf.c", "c/buf.h", "core/main.rs", "core/flags/mod.rs", "core/flags/defs.rs", "core/flags/hiargs.rs"]
    known += ["j/org/x/App.java", "j/org/x/io/Reader.java", "lib/tool.rb", "lib/tool/site.rb"]
    imports = Imports([path.encode() for path in known])
    found = imports.of(known.index(importer), f"\n{line}\n".encode())
    assert sorted(known[number] for number in found) == expected


# Around the code


def test_what_stands_around_the_code_is_known_by_its_name() -> None:
    order = [b"README.md", b"docs/architecture.md", b"CONTRIBUTING.md", b"docs/index.rst", b"CHANGELOG.md"]
    ranked = [reading_order(path) for path in order]
    assert None not in ranked and ranked == sorted(ranked, key=lambda one: one or 0)
    assert reading_order(b"src/readme_parser.py") is None
    assert build_kind(b"Cargo.toml") == "package and dependencies"
    assert build_kind(b"examples/Cargo.toml") is None
    assert build_kind(b".github/workflows/ci.yml") == "checks"


@pytest.mark.parametrize(
    ("path", "language", "folder"),
    [
        (b"tests/unit/test_a.py", "python", b"tests/"),
        (b"crates/a/tests/b.rs", "rust", b"crates/a/tests/"),
        (b"pkg/server_test.go", "go", b"pkg/"),
        (b"server_test.go", "go", b""),
        (b"t/t0001-init.sh", "bash", b"t/"),
        (b"contrib/subtree/t/t7900.sh", "bash", b"contrib/subtree/t/"),
        (b"src/t/store_test.go", "go", b"src/t/"),
    ],
)
def test_where_tests_lie(path: bytes, language: str, folder: bytes) -> None:
    assert folder_of_tests(path, language) == folder


# The command


def test_the_screen_names_each_part_and_is_one_screen(project: Repo, run: Run) -> None:
    done = run(project, "overview")
    assert (done.code, done.err) == (0, "")
    titles = [line.partition("  (")[0] for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert titles[1:] == [
        "languages",
        "areas",
        "entry points",
        "central files",
        "read first",
        "tests",
        "build and checks",
    ]
    assert "used by   3: PackStore" in done.out
    assert len(done.out.splitlines()) < 60


def test_the_json_of_overview(project: Repo, run: Run) -> None:
    told = run(project, "overview", "--json").json
    assert list(told)[:6] == ["schema", "commit", "rev", "dirty", "recipe", "coverage"]
    assert (told["schema"], told["rev"], told["dirty"]) == (1, "HEAD", False)
    first = told["central"][0]
    assert (first["path"], first["users"], first["names"][0]) == ("src/keep/store.py", 3, "PackStore")
    assert first["citation"].startswith(f"src/keep/store.py:{first['start_line']}-{first['end_line']}@")
    assert {"path", "role", "files", "lines", "names"} == set(told["areas"][0])
    assert {one["kind"] for one in told["entry_points"]} == {"command", "library"}


def test_a_long_list_is_cut_and_v_shows_all(repo: Repo, run: Run) -> None:
    for number in range(12):
        repo.write(f"area{number}/code.py", f"def function_number_{number}():\n    pass\n")
    repo.commit()
    short, whole = run(repo, "overview").out, run(repo, "overview", "-v").out
    assert "areas  (4 more: -v)" in short and "area11/" in whole and "more: -v" not in whole


def test_what_is_told_of_places_stands_in_one_column(repo: Repo, run: Run) -> None:
    for number in range(14):
        folder = "deeper/" * (number // 4)
        repo.write(f"{folder}part{number}.py", f"def function_number_{number}():\n    pass\n")
    repo.write("all.py", "".join(f"function_number_{number}()\n" for number in range(14)))
    repo.commit()
    lines = run(repo, "overview", "-v").out.partition("central files")[2].partition("\n\n")[0].splitlines()[1:]
    assert len(lines) == 14 and len({line.index("  used by") for line in lines}) == 1


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_narrow_terminal_shows_what_is_told_of_a_place_below_it(project: Repo, width: int) -> None:
    project.write("src/keep/a_rather/long_path/to_the_file.py", "class LongNamed:\n    pass\n")
    project.write("src/keep/user.py", "LongNamed()\n")
    project.commit()
    lines = render_overview.overview(overview(project), Style(False, width)).splitlines()
    cited = next(line for line in lines if "to_the_file.py:" in line)
    below = lines[lines.index(cited) + 1]
    assert ("used by   1: LongNamed" in below) == (width < 120)
    assert ("used by   1: LongNamed" in cited) == (width == 120)
    assert not any(line.isspace() for line in lines)


def test_the_order_of_central_files_is_told(project: Repo, run: Run) -> None:
    assert "central files  (by use and size)\n" in run(project, "overview").out


def test_nothing_of_a_repository_steers_the_terminal(repo: Repo, run: Run) -> None:
    repo.write("README.md", "# \x1b]0;title\x07Evil\n")
    repo.write("a\x1b[31m/b.py", "def caf\u202e_x():\n    pass\n")
    repo.commit()
    out = run(repo, "overview", "-v").out
    assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out


@pytest.mark.parametrize("content", [None, ""])
def test_a_tree_without_text_has_nothing_to_show(repo: Repo, run: Run, content: str | None) -> None:
    if content is not None:
        repo.write("empty.py", content)
    repo.commit()
    done = run(repo, "overview")
    assert done.code == 1
    assert done.out.startswith("HEAD at ") and "0 files" in done.out


def test_an_unknown_path_is_told(project: Repo, run: Run) -> None:
    done = run(project, "overview", "--path", "nowhere")
    assert (done.code, done.error[0]) == (2, "error: no file of HEAD matches --path nowhere")
