"""Setting up agents and editors: our entry in files that belong to somebody else."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.agents import install as installing
from itza_git.agents import instructions, jsonc, toml
from itza_git.agents.clients import CLIENTS
from itza_git.commands import mcp as mcp_command
from tests.command import Run
from tests.repository import Repo

ENTRY = {"command": "git-itza", "args": ["mcp"]}
PATH = ("mcpServers", "itza")

# From each client's own documentation of its file, as far as it is about servers on standard input and output.
STRINGS = {"type": "array", "items": {"type": "string"}}
STDIO = {
    "type": "object",
    "properties": {"type": {"const": "stdio"}, "command": {"type": "string"}, "args": STRINGS},
    "required": ["command"],
    "additionalProperties": False,
}
SCHEMAS = {
    "claude": ("mcpServers", STDIO),
    "cursor": ("mcpServers", STDIO),
    "gemini": ("mcpServers", STDIO),
    "codex": ("mcp_servers", STDIO),
    "vscode": ("servers", STDIO | {"required": ["type", "command"]}),
    "opencode": (
        "mcp",
        {
            "type": "object",
            "properties": {"type": {"const": "local"}, "command": STRINGS | {"minItems": 1}},
            "required": ["type", "command"],
            "additionalProperties": False,
        },
    ),
}
FILES = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "opencode": "opencode.json",
    "gemini": ".gemini/settings.json",
}


def loaded(path: Path) -> Any:  # noqa: ANN401 - any JSON or TOML value
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.parse(text).value


@pytest.mark.parametrize("client", FILES)
def test_each_client_gets_what_its_documentation_asks_for_and_gives_it_back(repo: Repo, run: Run, client: str) -> None:
    assert FILES.keys() == SCHEMAS.keys() == CLIENTS.keys()
    path = repo.path / FILES[client]
    done = run(repo, "agent", "install", "--client", client)
    assert (done.code, done.out) == (0, f"created  {path}\n")
    table, schema = SCHEMAS[client]
    jsonschema.validate(loaded(path)[table]["itza"], schema)
    written = path.read_bytes()
    assert run(repo, "agent", "install", "--client", client).out == f"unchanged  {path}\n"
    assert path.read_bytes() == written
    assert run(repo, "agent", "uninstall", "--client", client).out == f"deleted  {path}\n"
    assert {one.name for one in repo.path.iterdir()} == {".git"}
    assert run(repo, "agent", "uninstall", "--client", client).out == f"unchanged  {path}\n"


@pytest.mark.parametrize("client", FILES)
def test_the_users_own_file_is_edited_only_when_asked(repo: Repo, run: Run, home: Path, client: str) -> None:
    run(repo, "agent", "install", "--client", client, "--global")
    assert {one.name for one in repo.path.iterdir()} == {".git"}
    expected = {
        "claude": ".claude.json",
        "codex": ".codex/config.toml",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "opencode": ".config/opencode/opencode.json",
        "gemini": ".gemini/settings.json",
    }
    path = home / expected[client]
    entry = loaded(path)[SCHEMAS[client][0]]["itza"]
    jsonschema.validate(entry, SCHEMAS[client][1])
    started = entry["command"] if isinstance(entry["command"], str) else entry["command"][0]
    # Found on the PATH, or named in full: a client is not started from a shell.
    assert started == "git-itza" or Path(started).is_absolute()
    run(repo, "agent", "uninstall", "--client", client, "--global")
    assert not path.exists()


def test_comments_order_mode_and_line_ends_of_a_file_stay(repo: Repo, run: Run) -> None:
    before = (
        b'\xef\xbb\xbf// what our team uses\r\n{\r\n\t"inputs": [],  // none\r\n\t"servers": {\r\n'
        b'\t\t"github": {"type": "http", "url": "https://example.org"}, // remote\r\n\t},\r\n}\r\n'
    )
    path = repo.write(".vscode/mcp.json", before)
    path.chmod(0o640)
    assert run(repo, "agent", "install", "--client", "vscode").code == 0
    after = path.read_bytes()
    lines = (b'"itza": {', b'\t"type": "stdio",', b'\t"command": "git-itza",', b'\t"args": ["mcp"]', b"},")
    added = b"".join(b"\t\t" + line + b"\r\n" for line in lines)
    at = before.index(b"\t},\r\n}")
    assert after == before[:at] + added + before[at:]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    run(repo, "agent", "uninstall", "--client", "vscode")
    assert path.read_bytes() == before


def test_a_link_stays_a_link(repo: Repo, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text('{"a": 1}')
    (repo.path / ".mcp.json").symlink_to(target)
    run(repo, "agent", "install", "--client", "claude")
    assert (repo.path / ".mcp.json").is_symlink()
    assert jsonc.parse(target.read_text()).value["mcpServers"]["itza"]["command"] == "git-itza"
    run(repo, "agent", "uninstall", "--client", "claude")
    assert target.read_text() == '{"a": 1}'


def test_dry_run_prints_the_change_and_writes_nothing(repo: Repo, run: Run) -> None:
    path = repo.write(".mcp.json", '{\n  "mcpServers": {}\n}\n')
    done = run(repo, "agent", "install", "--client", "claude", "--dry-run")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [f"--- {path}", f"+++ {path}"]
    entry = '"itza": {"type": "stdio", "command": "git-itza", "args": ["mcp"]}'
    assert f'+  "mcpServers": {{ {entry} }}' in done.out.splitlines()
    assert path.read_text() == '{\n  "mcpServers": {}\n}\n'
    assert run(repo, "agent", "uninstall", "--client", "claude", "--dry-run").out == ""


@pytest.mark.parametrize(
    ("client", "text", "told"),
    [
        ("claude", '{"mcpServers": {', "it ends in the middle, on line 1"),
        ("claude", '{\n"a": 1,\n"b" 2}', "line 3 is not JSON"),
        ("claude", "[]", "the file is not an object"),
        ("claude", '{"mcpServers": []}', "mcpServers is not an object"),
        ("claude", "[" * 100_000, "it is nested too deeply"),
        ("codex", "[mcp_servers\n", "at line 1"),
        ("codex", 'mcp_servers = {other = {command = "x"}}\n', "its layout is unusual"),
    ],
)
def test_a_broken_file_is_refused_in_one_line_and_left_alone(
    repo: Repo, run: Run, client: str, text: str, told: str
) -> None:
    path = repo.write(FILES[client], text)
    done = run(repo, "agent", "install", "--client", client)
    assert done.code == 2
    assert done.error[0].startswith(f"error: cannot edit {path}: ")
    assert told in done.error[0]
    assert len(done.error) == 2
    assert path.read_text() == text


def test_opencode_with_its_newer_layout_or_its_commented_file(repo: Repo, run: Run) -> None:
    path = repo.write(
        "opencode.jsonc", '{\n  // two\n  "mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}\n}\n'
    )
    assert run(repo, "agent", "install", "--client", "opencode").out == f"changed  {path}\n"
    assert jsonc.at(path.read_text(), ("mcp", "servers", "itza", "command")) == ["git-itza", "mcp"]
    assert "// two" in path.read_text()
    run(repo, "agent", "uninstall", "--client", "opencode")
    assert "itza" not in path.read_text()


def test_what_a_user_added_to_our_entry_stays(repo: Repo, run: Run) -> None:
    entry = {"command": "/old/bin/git-itza", "args": ["mcp"], "env": {"ITZA_SERVER": "openai"}}
    path = repo.write(".mcp.json", json.dumps({"mcpServers": {"itza": entry}}, indent=4))
    run(repo, "agent", "install", "--client", "claude")
    assert loaded(path)["mcpServers"]["itza"] == entry | {"type": "stdio", "command": "git-itza"}


FOREIGN = {
    "claude": '{"mcpServers": {"itza": {"command": "mine"}}}',
    "codex": '[mcp_servers."itza"]\ncommand = "/opt/itza"\n\n[mcp_servers.itza.env]\nA = "1"\n',
    "cursor": '{"mcpServers": {"itza": {"command": "npx", "args": ["itza", "mcp"]}}}',
    "vscode": '{"servers": {"itza": {"type": "http", "url": "https://example.org"}}}',
    "opencode": '{"mcp": {"itza": {"type": "local", "command": ["itza"]}}}',
    "gemini": '{"mcpServers": {"itza": "mine"}}',
}


@pytest.mark.parametrize("client", FILES)
def test_somebody_elses_entry_of_our_name_is_refused_and_left_alone(repo: Repo, run: Run, client: str) -> None:
    assert FOREIGN.keys() == CLIENTS.keys()
    path = repo.write(FILES[client], FOREIGN[client])
    done = run(repo, "agent", "install", "--client", client)
    assert done.code == 2
    assert done.error[0] == f"error: {path} has an entry `itza` that is not ours"
    assert done.error[1].startswith("hint: rename that entry")
    assert run(repo, "agent", "uninstall", "--client", client).out == f"unchanged  {path}\n"
    assert path.read_text() == FOREIGN[client]


def test_an_entry_that_starts_us_by_another_way_is_ours(repo: Repo, run: Run) -> None:
    for entry in (
        {"command": "uvx", "args": ["--from", "itza-git", "git-itza", "mcp"]},
        {"command": "git", "args": ["itza", "mcp"]},
        {"command": "C:\\Tools\\git-itza.exe", "args": ["mcp"], "timeout": 9},
    ):
        path = repo.write(".mcp.json", json.dumps({"mcpServers": {"itza": entry}, "a": 1}))
        assert run(repo, "agent", "install", "--client", "claude").code == 0
        assert loaded(path)["mcpServers"]["itza"] == {**entry, "type": "stdio", **ENTRY}
        assert run(repo, "agent", "uninstall", "--client", "claude").code == 0
        assert loaded(path) == {"a": 1}


def test_what_a_user_added_to_our_toml_table_stays(repo: Repo, run: Run) -> None:
    path = repo.write(
        ".codex/config.toml",
        '[mcp_servers."itza"] # mine\ncommand = "/old/git-itza"\nargs = [\n  "mcp",\n  "-v"\n]\n'
        'timeout = 9\n\n[mcp_servers.itza.env]\nA = "1"\n',
    )
    assert run(repo, "agent", "install", "--client", "codex").code == 0
    assert path.read_text() == (
        '[mcp_servers."itza"] # mine\ncommand = "git-itza"\nargs = ["mcp"]\n'
        'timeout = 9\n\n[mcp_servers.itza.env]\nA = "1"\n'
    )
    run(repo, "agent", "uninstall", "--client", "codex")
    assert path.read_text() == ""


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude", '{\n  "mcpServers": {}\n}\n'),
        ("claude", '{"mcpServers": {}, "a": 1}'),
        ("claude", '{\n  "mcpServers": {\n  }\n}'),
        ("claude", '{"a": {}}'),
        ("opencode", '{"mcp": { }}'),
        ("codex", 'model = "x"'),
        ("codex", "# no end\n[a]\nb = 1\r\n\r\n\r\n"),
        ("codex", 'text = """\n[mcp_servers.itza]\n"""\n'),
        ("codex", "list = [\n[\n\"a\"]]\n[z]\nt = '''\n[mcp_servers.itza]\ncommand = \"git-itza\"\n'''\n"),
        ("codex", "# a line \u2028[mcp_servers.itza]\n"),
    ],
)
def test_uninstalling_gives_a_file_back_to_the_byte(repo: Repo, run: Run, client: str, text: str) -> None:
    path = repo.write(FILES[client], text.encode())
    assert run(repo, "agent", "install", "--client", client).out == f"changed  {path}\n"
    assert "itza" in loaded(path)[SCHEMAS[client][0]]
    assert run(repo, "agent", "uninstall", "--client", client).out == f"changed  {path}\n"
    assert path.read_bytes() == text.encode()


def test_a_link_that_leads_nowhere_keeps_what_it_leads_to(repo: Repo, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mcp.json"
    path = repo.path / ".mcp.json"
    path.symlink_to(target)
    assert run(repo, "agent", "install", "--client", "claude").code == 0
    assert jsonc.at(target.read_text(), PATH)["command"] == "git-itza"
    assert run(repo, "agent", "uninstall", "--client", "claude").code == 0
    assert path.is_symlink()
    assert target.read_text() == "{}\n"


def test_what_is_no_regular_file_or_endless_is_refused(repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.path / ".mcp.json"
    for make in (os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")):
        make(path)
        for command in ("install", "uninstall"):
            done = run(repo, "agent", command, "--client", "claude")
            assert (done.code, done.error[0]) == (2, f"error: cannot read {path}: it is no regular file")
            assert done.error[1] == f"hint: ls -l {path}"
        path.rmdir() if path.is_dir() else path.unlink()
    monkeypatch.setattr(installing, "LARGEST", 10)
    path.write_text("{}" + " " * 20)
    assert "it is larger than" in run(repo, "agent", "install", "--client", "claude").error[0]


MINE = """\
# mine
model = "x"

[mcp_servers.other]
command = "o" # why

# about profiles
[profiles.a]
model = "y"
"""
OURS = """\
[mcp_servers.itza]
command = "git-itza"
args = ["mcp"]
"""


def test_toml_keeps_its_comments_and_its_other_tables(repo: Repo, run: Run) -> None:
    path = repo.write(".codex/config.toml", MINE)
    run(repo, "agent", "install", "--client", "codex")
    assert path.read_text() == f"{MINE}\n{OURS}"
    run(repo, "agent", "uninstall", "--client", "codex")
    assert path.read_text() == MINE
    # As a user may have moved and extended it.
    extended = OURS.replace(".itza]", '."itza"]') + '[mcp_servers.itza.env]\nA = "1"\n\n'
    path.write_text(MINE.replace("# about", extended + "# about"))
    run(repo, "agent", "install", "--client", "codex")
    assert tomllib.loads(path.read_text())["mcp_servers"]["itza"]["env"] == {"A": "1"}
    run(repo, "agent", "uninstall", "--client", "codex")
    assert path.read_text().replace("\n\n\n", "\n\n") == MINE


def test_instructions_are_printed_added_once_and_taken_out(repo: Repo, run: Run) -> None:
    assert run(repo, "agent", "instructions").out == instructions.PARAGRAPH + "\n"
    path = repo.write("AGENTS.md", "# Rules\n\nBe kind.\n")
    for _ in range(2):
        assert run(repo, "agent", "install", "--instructions").code == 0
    assert path.read_text() == f"# Rules\n\nBe kind.\n\n{instructions.BLOCK}"
    path.write_text(path.read_text().replace("git grep", "grep") + "\nMore.\n")
    run(repo, "agent", "install", "--instructions")
    assert path.read_text() == f"# Rules\n\nBe kind.\n\n{instructions.BLOCK}\nMore.\n"
    run(repo, "agent", "uninstall", "--instructions")
    assert path.read_text() == "# Rules\n\nBe kind.\n\nMore.\n"


def test_what_is_lacking_is_said(repo: Repo, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(repo, "agent", "install").error[-1].startswith("hint: --client claude|")
    assert run(repo, "agent", "install", "--client", "emacs").code == 2
    bare = Repo(tmp_path / "bare", "--bare")
    assert run(bare, "agent", "install", "--client", "claude").error[-1] == "hint: --global"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "not on your PATH" in run(repo, "agent", "install", "--client", "claude").err
    monkeypatch.setattr(mcp_command, "_is_installed", lambda name: False)
    for options in ([], ["--dry-run"]):
        done = run(repo, "agent", "install", "--client", "claude", *options)
        assert done.code == 0
        assert "a package that is not installed: pip install 'itza-git[mcp]'" in done.err
    assert run(repo, "agent", "install").error[-1].startswith("hint: --client claude|")
    assert run(repo, "agent", "uninstall", "--client", "claude").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_named(repo: Repo, run: Run) -> None:
    repo.path.chmod(0o555)
    done = run(repo, "agent", "install", "--client", "claude")
    repo.path.chmod(0o755)
    assert done.error[0].startswith("error: cannot write ")


# The splice itself, over files as people lay them out

KEYS = st.text('ab "\\é{}[],:/*', min_size=1, max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\/{}[],:*\u2028é', max_size=6)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
BIT = st.integers(0, 1)
GAPS = st.sampled_from(["", " ", "\n", "\r\n", "\t", " // a {\n", "/* , } */", '\n  /* " */ // ]\n  '])


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str, list[str]]:
    """An object, a text of it in any layout, and the comments in that."""
    value = draw(OBJECTS)
    comments: list[str] = []

    def gap() -> str:
        found = draw(GAPS)
        if found.strip():
            comments.append(found.strip())
        return found

    def written(one: Any) -> str:  # noqa: ANN401 - any JSON value
        if not isinstance(one, dict | list):
            return json.dumps(one, ensure_ascii=bool(draw(BIT)))
        parts = [
            (f"{json.dumps(key)}{gap()}:{gap()}{written(inner)}" if key is not None else written(inner))
            for key, inner in (one.items() if isinstance(one, dict) else [(None, inner) for inner in one])
        ]
        comma = "," if draw(BIT) and parts else ""
        body = ",".join(gap() + part + gap() for part in parts)
        opening, closing = "{}" if isinstance(one, dict) else "[]"
        return f"{opening}{body}{comma}{gap()}{closing}"

    return value, gap() + written(value) + gap(), comments


@given(documents())
def test_any_layout_is_read_and_an_added_entry_is_the_only_difference(document: tuple[Any, str, list[str]]) -> None:
    value, text, comments = document
    assert jsonc.parse(text).value == value
    put = jsonc.put(text, PATH, ENTRY)
    assert jsonc.parse(put).value == value | {"mcpServers": {"itza": ENTRY}}
    assert all(comment in put for comment in comments)
    assert jsonc.put(put, PATH, ENTRY) == put
    back = jsonc.remove(put, PATH)
    assert jsonc.parse(back).value == value
    assert all(comment in back for comment in comments)


@given(OBJECTS.filter(bool), st.sampled_from([None, 1, 2, 4, "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_adding_and_removing_gives_a_tidy_file_back_to_the_byte(
    value: dict[str, Any], indent: int | str | None, newline: str, ended: bool
) -> None:
    text = (json.dumps(value, indent=indent) + "\n" * ended).replace("\n", newline)
    assert jsonc.remove(jsonc.put(text, PATH, ENTRY), PATH) == text


@given(documents(), st.data())
def test_any_member_can_be_removed(document: tuple[Any, str, list[str]], data: st.DataObject) -> None:
    value, text, _ = document
    if value:
        key = data.draw(st.sampled_from(list(value)))
        found = jsonc.parse(jsonc.remove(text, [key])).value
        assert found == {name: one for name, one in value.items() if name != key}


TABLES = st.lists(
    st.sampled_from(
        ["# note\n", "\n", "[a]\nx = 1\n", "[mcp_servers.b]\ncommand = 'b'\n", '[c]\ntext = """\n[d]\n"""\n', "[[e]]\n"]
    ),
    max_size=6,
).map("".join)


@given(TABLES.filter(lambda text: all(text.count(name) < 2 for name in ("[a]", "servers.b]", "[c]"))), st.booleans())
def test_a_toml_table_comes_and_goes_and_nothing_else_changes(text: str, windows: bool) -> None:
    text = text.replace("\n", "\r\n") if windows else text
    put = toml.put(text, ("mcp_servers", "itza"), ENTRY)  # type: ignore[arg-type]
    assert toml.parse(put)["mcp_servers"]["itza"] == ENTRY
    assert put.startswith(text)
    assert toml.put(put, ("mcp_servers", "itza"), ENTRY) == put  # type: ignore[arg-type]
    back = toml.remove(put, ("mcp_servers", "itza"))
    assert toml.parse(back) == toml.parse(text)
    assert back.rstrip() == text.rstrip()
    assert ("\n" in back.replace("\r\n", "")) is False if windows else "\r" not in back
