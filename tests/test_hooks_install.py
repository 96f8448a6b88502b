"""Hooks are put where git looks, beside what is there, and taken out without a trace."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itza_git.errors import GitError
from itza_git.git import open_repository
from itza_git.hooks import scripts
from itza_git.hooks.health import _state
from itza_git.hooks.install import install, uninstall
from itza_git.hooks.scripts import EVENTS
from itza_git.hooks.state import HooksState, state_of
from tests.hooked import Hooked, hook_files, install_in, program_path, until
from tests.repository import Repo

FILES, CONFIG = (2, 39), (2, 54)
PYTHON = os.path.abspath(sys.executable)


def state(path: Path, version: tuple[int, int] = FILES) -> HooksState:
    return state_of(open_repository(path), version=version)


def states(path: Path, version: tuple[int, int] = FILES) -> set[str]:
    return {one.state for one in state(path, version).events}


def hooks_of(repo: Repo) -> Path:
    return Path(repo.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))


def foreign(path: Path, content: bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter that writes down which worker it was to start; its path needs quoting."""
    recorder = tmp_path / "it's an" / "interpreter"
    script = f'#!/bin/sh\n[ "$3" = -c ] || echo "$*" >>{shlex.quote(str(recorder))}.started\n'
    return str(foreign(recorder, script.encode()))


def put(path: Path, python: str, version: tuple[int, int] = FILES) -> None:
    install(open_repository(path), version=version, python=python)


def is_live(repo: Repo, python: str) -> bool:
    """Whether a real commit starts the worker, once."""
    started = Path(f"{python}.started")
    started.unlink(missing_ok=True)
    repo.commit("does the hook run?")
    until(started.exists, "the hook")
    return started.read_text() == "-E -P -m itza_git.hooks.worker post-commit\n"


# The block


MARKERS = (scripts.BEGIN, scripts.END)


@given(
    st.binary().map(lambda tail: tail.replace(b"git-itza", b"")),
    st.sampled_from([b"", b"#!/bin/sh", b"#!/bin/sh -e\n"]),
)
def test_a_block_that_is_taken_out_leaves_what_was_there(tail: bytes, head: bytes) -> None:
    content = head + tail
    ours = scripts.block("post-commit", "/usr/bin/python3")
    with_block = scripts.put_in(content, ours)
    assert scripts.find_block(with_block) is not None
    assert scripts.take_out(with_block) == content


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), min_size=1))
def test_any_interpreter_path_is_pinned_and_read_back(path: str) -> None:
    assert scripts.pin_of(scripts.block("post-commit", path)) == path


@pytest.mark.parametrize("event", EVENTS)
def test_the_shipped_scripts_are_shell_and_name_their_event(event: str) -> None:
    content = scripts.shipped(event)
    assert content.startswith(scripts.SHEBANG) and b"\r" not in content
    assert content.count(event.encode() + b"\n") == 2
    assert scripts.take_out(content) == scripts.SHEBANG
    for text in (content, scripts.command(event, "/a b/python").encode() + b' "$@"'):
        subprocess.run(["sh", "-n"], input=text, check=True)


@pytest.mark.parametrize(
    ("content", "shell"),
    [
        (b"#!/bin/sh\n", True),
        (b"#!/usr/bin/env bash\n", True),
        (b"#! /bin/dash -e\n", True),
        (b"#!/usr/bin/env -S bash -e\n", True),
        (b"no shebang\n", True),
        (b"", True),
        (b"#!/usr/bin/env python3\n", False),
        (b"#!/usr/bin/fish\n", False),
        (b"#!/bin/sh\r\n", False),
        (b"\x7fELF\0\0", False),
    ],
)
def test_only_shell_scripts_take_a_block(content: bytes, shell: bool) -> None:
    assert scripts.is_shell(content) is shell


# Beside other hooks


def test_install_and_uninstall_leave_nothing_behind(repo: Repo) -> None:
    before = sorted(path.name for path in hooks_of(repo).iterdir())
    install_in(repo.path, FILES)
    assert states(repo.path) == {"live"}
    assert all(os.access(hooks_of(repo) / event, os.X_OK) for event in EVENTS)
    installed = hook_files(hooks_of(repo))
    install_in(repo.path, FILES)
    assert hook_files(hooks_of(repo)) == installed
    assert len(uninstall(open_repository(repo.path))) == len(EVENTS)
    assert sorted(path.name for path in hooks_of(repo).iterdir()) == before
    assert states(repo.path) == {"not installed"}
    assert uninstall(open_repository(repo.path)) == []


@pytest.mark.parametrize(
    "content",
    [
        b"#!/bin/sh\necho other >>ran\nexit 0\n",
        b"#!/bin/sh -eu\nexec sh -c 'echo other >>ran'",
        b"#!/usr/bin/env bash\necho other >>ran #\r\n",
        b"echo other >>ran\n",
    ],
)
def test_a_shell_hook_goes_on_working_and_is_restored(repo: Repo, content: bytes, python: str) -> None:
    theirs = foreign(hooks_of(repo) / "post-commit", content, 0o750)
    put(repo.path, python)
    assert is_live(repo, python)
    assert (repo.path / "ran").read_text().split() == ["other"]
    uninstall(open_repository(repo.path))
    assert theirs.read_bytes() == content
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o750


def test_a_hook_that_waits_for_its_children_does_not_wait_for_ours(repo: Repo, python: str) -> None:
    foreign(hooks_of(repo) / "post-commit", b"#!/bin/sh\njobs -p >jobs\n")
    put(repo.path, python)
    assert is_live(repo, python)
    assert (repo.path / "jobs").read_text() == ""


def test_a_hook_in_another_language_is_chained_and_restored(repo: Repo) -> None:
    content = (
        f"#!{PYTHON}\nimport sys, os\nopen('ran', 'a').write(os.path.basename(sys.argv[0]))\nsys.exit(7)\n".encode()
    )
    theirs = foreign(hooks_of(repo) / "post-checkout", content, 0o755)
    install_in(repo.path, FILES)
    repo.commit()
    done = subprocess.run(["git", "switch", "-q", "-c", "new"], cwd=repo.path, env=repo.environment(), check=False)
    assert done.returncode == 1  # theirs to decide; git makes 1 of it
    assert (repo.path / "ran").read_text() == "post-checkout"
    Hooked(repo).settle()
    install_in(repo.path, FILES)
    assert states(repo.path) == {"live"}
    uninstall(open_repository(repo.path))
    assert theirs.read_bytes() == content
    assert not (hooks_of(repo) / scripts.CHAINED).exists()


def test_a_hook_that_git_does_not_run_stays_one(repo: Repo, python: str) -> None:
    theirs = foreign(hooks_of(repo) / "post-commit", b"#!/bin/sh\necho other >>ran\n", 0o644)
    put(repo.path, python)
    assert is_live(repo, python)
    assert not (repo.path / "ran").exists()
    uninstall(open_repository(repo.path))
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o644


def test_a_hook_with_crlf_is_no_shell_script_for_the_kernel(repo: Repo, python: str) -> None:
    content = b"#!/bin/sh\r\necho other\r\n"
    theirs = foreign(hooks_of(repo) / "post-commit", content)
    put(repo.path, python)
    assert is_live(repo, python)
    uninstall(open_repository(repo.path))
    assert theirs.read_bytes() == content


def test_what_others_add_to_our_file_is_kept(repo: Repo) -> None:
    install_in(repo.path, FILES)
    hook = hooks_of(repo) / "post-merge"
    hook.write_bytes(hook.read_bytes() + b"echo theirs\n")
    uninstall(open_repository(repo.path))
    assert hook.read_bytes() == b"#!/bin/sh\necho theirs\n"


LFS = (
    b'#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { printf >&2 "no git-lfs"; exit 2; }\ngit lfs post-commit "$@"\n'
)
LEFTHOOK = b'#!/bin/sh\nif [ "$LEFTHOOK" = "0" ]; then\n  exit 0\nfi\necho lefthook >>ran\n'
PRE_COMMIT = (
    b"#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"
    b'here=$(dirname "$0")\n[ -x "$here/post-commit.legacy" ] && "$here/post-commit.legacy" "$@"\n'
    b"echo pre-commit >>ran\n"
)


@pytest.fixture
def lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git-lfs that writes down that it ran."""
    foreign(tmp_path / "bin" / "git-lfs", b"#!/bin/sh\necho lfs >>ran\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("lfs")
@pytest.mark.parametrize(("content", "name"), [(LFS, "lfs"), (LEFTHOOK, "lefthook"), (PRE_COMMIT, "pre-commit")])
def test_other_installers_came_first(repo: Repo, content: bytes, name: str, python: str) -> None:  # C22
    theirs = foreign(hooks_of(repo) / "post-commit", content)
    put(repo.path, python)
    assert states(repo.path) == {"live"}
    assert is_live(repo, python)
    assert (repo.path / "ran").read_text().split() == [name]
    uninstall(open_repository(repo.path))
    assert theirs.read_bytes() == content


def test_pre_commit_moves_our_hook_and_goes_on_to_run_it(repo: Repo, python: str) -> None:  # C22
    put(repo.path, python)
    hooks = hooks_of(repo)
    os.replace(hooks / "post-commit", hooks / "post-commit.legacy")
    foreign(hooks / "post-commit", PRE_COMMIT)
    assert states(repo.path) == {"live"}
    put(repo.path, python)
    assert (hooks / "post-commit").read_bytes() == PRE_COMMIT  # ours runs once
    assert is_live(repo, python)
    assert (repo.path / "ran").read_text().split() == ["pre-commit"]
    uninstall(open_repository(repo.path))
    assert not (hooks / "post-commit.legacy").exists()


@pytest.mark.usefixtures("lfs")
@pytest.mark.parametrize(("content", "name"), [(LFS, "lfs"), (LEFTHOOK, "lefthook")])
def test_an_installer_that_replaces_our_hook_is_noticed(
    repo: Repo, content: bytes, name: str, python: str
) -> None:  # C22
    put(repo.path, python)
    hooks = hooks_of(repo)
    os.replace(hooks / "post-commit", hooks / "post-commit.old")
    foreign(hooks / "post-commit", content)
    assert [one.event for one in state(repo.path).events if one.state == "replaced"] == ["post-commit"]
    put(repo.path, python)
    assert states(repo.path) == {"live"}
    assert is_live(repo, python)
    assert (repo.path / "ran").read_text().split() == [name]


def test_husky_keeps_its_hooks_in_an_ignored_folder(repo: Repo, python: str) -> None:  # C22
    repo.write(".husky/_/.gitignore", "*")
    foreign(repo.path / ".husky/_/post-commit", b'#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
    foreign(repo.path / ".husky/_/h", b"#!/usr/bin/env sh\necho husky >>ran\n")
    repo.git("config", "core.hooksPath", ".husky/_")
    put(repo.path, python)
    assert is_live(repo, python)
    assert (repo.path / "ran").read_text().split() == ["husky"]
    assert ".husky" not in repo.git("ls-files")


# Where git looks. C19


def test_from_a_linked_worktree(repo: Repo, tmp_path: Path, python: str) -> None:
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    put(tmp_path / "linked", python)
    linked = Repo(tmp_path / "linked")
    assert set(hook_files(repo.path / ".git" / "hooks")) == set(EVENTS)
    assert is_live(repo, python) and is_live(linked, python)


def test_from_a_subfolder_with_a_relative_hooks_path(repo: Repo) -> None:
    (repo.path / "deep" / "er").mkdir(parents=True)
    repo.git("config", "core.hooksPath", "hk")
    subprocess.run(
        [PYTHON, "-m", "itza_git.cli", "hooks", "install"],
        cwd=repo.path / "deep" / "er",
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PATH": program_path()},
    )
    if states(repo.path) == {"live"}:  # a git that knows config hooks writes no files
        assert set(hook_files(repo.path / "hk")) in (set(EVENTS), set())
    repo.commit("is it live?")
    Hooked(repo).settle()


def test_in_a_submodule(repo: Repo, tmp_path: Path, python: str) -> None:
    outer = Repo(tmp_path / "outer")
    repo.commit()
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "inner")
    inner = Repo(outer.path / "inner")
    put(inner.path, python)
    assert set(hook_files(outer.path / ".git/modules/inner/hooks")) == set(EVENTS)
    assert is_live(inner, python)
    assert (outer.path / ".git/modules/inner/itza").exists()


def test_with_a_separate_git_directory(tmp_path: Path, python: str) -> None:
    repo = Repo(tmp_path / "work", f"--separate-git-dir={tmp_path / 'store.git'}")
    put(repo.path, python)
    assert set(hook_files(tmp_path / "store.git" / "hooks")) == set(EVENTS)
    assert is_live(repo, python)


def test_with_a_hooks_path_of_one_worktree(repo: Repo, tmp_path: Path, python: str) -> None:
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    repo.git("config", "extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.hooksPath", "own")
    put(linked.path, python)
    assert set(hook_files(linked.path / "own")) == set(EVENTS)
    assert is_live(linked, python)
    assert states(repo.path) == {"not installed"}


def test_an_absolute_hooks_path_inside_the_repository(repo: Repo, python: str) -> None:
    repo.git("config", "core.hooksPath", str(repo.path / ".git" / "own"))
    put(repo.path, python)
    assert is_live(repo, python)


def test_a_hooks_path_that_hides_ours_is_reported(repo: Repo) -> None:
    install_in(repo.path, FILES)
    repo.git("config", "core.hooksPath", "elsewhere")
    assert states(repo.path) == {"hidden"}
    assert "elsewhere" in state(repo.path).events[0].detail
    uninstall(open_repository(repo.path))
    assert hook_files(repo.path / ".git" / "hooks") == {}


def test_an_empty_hooks_path_is_refused(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "")
    with pytest.raises(GitError, match=r"core\.hooksPath is empty") as refused:
        install_in(repo.path, FILES)
    assert refused.value.hint == "git config --unset core.hooksPath"
    assert states(repo.path) == {"not installed"}


# What is not ours to write to. C20


def test_tracked_hooks_are_not_touched(repo: Repo) -> None:
    foreign(repo.path / ".githooks" / "post-commit", b"#!/bin/sh\n")
    repo.git("config", "core.hooksPath", ".githooks")
    repo.commit()
    with pytest.raises(GitError, match=r"\.githooks are tracked") as refused:
        install_in(repo.path, FILES)
    assert "git itza hook" in refused.value.hint
    assert repo.git("status", "--porcelain") == ""
    assert state(repo.path).refusal


def test_what_would_be_refused_is_not_recommended(repo: Repo) -> None:
    foreign(repo.path / ".githooks" / "post-commit", b"#!/bin/sh\n")
    repo.git("config", "core.hooksPath", ".githooks")
    repo.commit()
    found = state(repo.path)
    told = _state(replace(found, refusal="why not"))
    assert told == "not installed, and cannot be: why not"
    assert _state(replace(found, refusal="")) == "not installed: git itza hooks install"


@pytest.mark.parametrize("setting", ["~/hk", "/dev/null"])
def test_hooks_of_all_repositories_are_not_touched(repo: Repo, home: Path, setting: str) -> None:
    (home / "hk").mkdir()
    repo.git("config", "--global", "core.hooksPath", setting)
    with pytest.raises(GitError, match="outside of this repository"):
        install_in(repo.path, FILES)
    assert list((home / "hk").iterdir()) == []


def test_a_link_is_not_followed_and_nothing_is_written(repo: Repo, tmp_path: Path) -> None:
    template = foreign(tmp_path / "tpl" / "post-merge", b"#!/bin/sh\n")
    (hooks_of(repo) / "post-merge").symlink_to(template)
    with pytest.raises(GitError, match=f"is a link to {template}"):
        install_in(repo.path, FILES)
    assert template.read_bytes() == b"#!/bin/sh\n"
    assert "post-commit" not in hook_files(hooks_of(repo))


def test_half_a_block_is_refused(repo: Repo) -> None:
    foreign(hooks_of(repo) / "post-commit", b"#!/bin/sh\n" + scripts.BEGIN + b"\n")
    with pytest.raises(GitError, match="half of a git-itza block"):
        install_in(repo.path, FILES)


def test_a_clone_cannot_ship_code_that_the_hook_runs(repo: Repo) -> None:  # C17
    for name in ("itza_git/__init__.py", "itza_git/hooks/worker.py", "subprocess.py", "sitecustomize.py"):
        repo.write(name, "open('/'.join([__file__.rpartition('/')[0], 'executed']), 'w')\n")
    install_in(repo.path, FILES)
    repo.commit("is it live?")
    Hooked(repo).settle()
    assert list(repo.path.rglob("executed")) == []


# The interpreter. C17


def test_a_missing_interpreter_is_reported_and_repaired(repo: Repo, python: str) -> None:
    put(repo.path, python)
    assert is_live(repo, python)
    Path(python).unlink()
    repo.commit("the commit goes through")
    first = state(repo.path).events[0]
    assert (first.state, first.detail) == ("dead", f"interpreter missing: {python}")
    install_in(repo.path, FILES)
    assert states(repo.path) == {"live"}


def test_an_interpreter_without_the_package_is_not_pinned(repo: Repo, tmp_path: Path) -> None:
    other = foreign(tmp_path / "python", b"#!/bin/sh\nexit 1\n")
    with pytest.raises(GitError, match="interpreter lacks git-itza"):
        install(open_repository(repo.path), version=FILES, python=str(other))


def test_a_hook_that_lost_its_mode_or_its_line_ends_is_reported(repo: Repo) -> None:
    install_in(repo.path, FILES)
    (hooks_of(repo) / "post-commit").chmod(0o644)
    merge = hooks_of(repo) / "post-merge"
    merge.write_bytes(merge.read_bytes().replace(b"\n", b"\r\n"))
    found = {one.event: one.state for one in state(repo.path).events}
    assert (found["post-commit"], found["post-merge"]) == ("not executable", "dead")
    install_in(repo.path, FILES)
    assert states(repo.path) == {"live"}


# Hooks in git's configuration (git >= 2.54). C23: never both


def values(repo: Repo, key: str) -> list[str]:
    return repo.git("config", "--local", "--get-all", key).split("\n")


def test_a_newer_git_gets_config_hooks_and_no_files(repo: Repo) -> None:
    repo.commit()
    install_in(repo.path, CONFIG)
    install_in(repo.path, CONFIG)
    assert hook_files(hooks_of(repo)) == {}
    for event in EVENTS:
        assert values(repo, f"hook.itza-{event}.event") == [event]
        command = repo.git("config", "--local", "-z", "--get-all", f"hook.itza-{event}.command").split("\0")
        assert command == [scripts.command(event, PYTHON), ""]
    found = state(repo.path, CONFIG)
    assert found.live and found.mechanism == "config"
    run_as_git_does(repo, "post-checkout", "old", "new", "0")
    assert not Hooked(repo).waiting()
    run_as_git_does(repo, "post-checkout", "old", "new", "1")
    Hooked(repo).settle()
    uninstall(open_repository(repo.path))
    assert "hook" not in (repo.path / ".git" / "config").read_text()


def run_as_git_does(repo: Repo, event: str, *args: str) -> None:
    command = repo.git("config", f"hook.itza-{event}.command")
    subprocess.run(["sh", "-c", f'{command} "$@"', command, *args], cwd=repo.path, env=repo.environment(), check=True)


def test_an_upgrade_of_git_moves_the_hooks_and_a_downgrade_moves_them_back(repo: Repo) -> None:
    install_in(repo.path, FILES)
    install_in(repo.path, CONFIG)
    assert hook_files(hooks_of(repo)) == {}
    assert states(repo.path, FILES) == {"dead"}
    assert "need git 2.54" in state(repo.path, FILES).events[0].detail
    install_in(repo.path, FILES)
    assert set(hook_files(hooks_of(repo))) == set(EVENTS)
    assert state(repo.path, CONFIG).mechanism == "files"


def test_config_hooks_are_allowed_where_files_are_refused(repo: Repo, home: Path) -> None:
    repo.git("config", "--global", "core.hooksPath", "~/hk")
    install_in(repo.path, CONFIG)
    assert state(repo.path, CONFIG).live


def test_both_mechanisms_at_once_and_a_hook_switched_off_are_reported(repo: Repo) -> None:
    install_in(repo.path, FILES)
    saved = hook_files(hooks_of(repo))
    install_in(repo.path, CONFIG)
    for event, content in saved.items():
        foreign(hooks_of(repo) / event, content)
    assert state(repo.path, CONFIG).mechanism == "both"
    repo.git("config", "hook.itza-post-commit.enabled", "false")
    assert "off" in states(repo.path, CONFIG)


# The commands


def itza(repo: Repo, *args: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = repo.environment() | {"PATH": program_path()}
    return subprocess.run(
        ["git", "itza", *args], cwd=folder or repo.path, env=environment, capture_output=True, text=True, check=False
    )


def test_the_commands_say_one_line_an_event(repo: Repo) -> None:
    import json

    installed = itza(repo, "hooks", "install")
    assert (installed.returncode, installed.stderr) == (0, "")
    assert [line.split()[:2] for line in installed.stdout.splitlines()] == [[event, "live"] for event in EVENTS]
    repo.commit()
    Hooked(repo).settle()
    told = itza(repo, "hooks", "status")
    assert "last refresh" in told.stdout
    found = json.loads(itza(repo, "hooks", "status", "--json").stdout)
    assert (found["schema"], found["live"], found["last_pass"]["worktree"]) == (1, True, ".")
    assert itza(repo, "hooks", "uninstall").stdout.count("removed") == len(EVENTS)
    assert itza(repo, "hooks", "uninstall").stdout == "no hook of git-itza is installed\n"


def test_a_refusal_is_one_line_and_a_hint(repo: Repo) -> None:
    (hooks_of(repo) / "post-commit").symlink_to("/nowhere")
    done = itza(repo, "hooks", "install")
    if done.returncode:  # config hooks need no file
        assert done.returncode == 2
        first, second = done.stderr.splitlines()
        assert first.startswith("error: the hook ") and second.startswith("hint: ")


def test_the_hidden_command_serves_a_worktree_under_a_leaking_environment(repo: Repo, tmp_path: Path) -> None:  # C18
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.write("w.py", "def w():\n    pass\n")
    linked.commit()
    environment = repo.environment() | {
        "PATH": program_path(),
        "GIT_DIR": linked.git("rev-parse", "--absolute-git-dir"),
        "GIT_INDEX_FILE": "/nonexistent/index",
        "GIT_WORK_TREE": "/nonexistent",
    }
    subprocess.run(["git-itza", "hook", "post-commit"], cwd=linked.path, env=environment, check=True)
    done = Hooked(repo).settle(linked)
    assert (done.worktree, done.ref, done.total) == ("worktrees/linked", "refs/heads/side", 1)
    assert linked.git("status", "--porcelain") == repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict")


def test_installing_twice_and_uninstalling_gives_the_mode_back(repo: Repo) -> None:
    hook = repo.path / ".git/hooks/post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(b"#!/bin/sh\n:\n")
    hook.chmod(0o700)
    opened = open_repository(repo.path)
    install(opened)
    install(opened)
    uninstall(opened)
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (b"#!/bin/sh\n:\n", 0o700)


def test_a_program_that_sh_only_starts_goes_on_as_it_is(repo: Repo) -> None:
    hook = repo.path / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(b'#!/bin/sh\n"exec" "python3" "$0" "$@"\nopen("ran", "w")\n')
    hook.chmod(0o755)
    install(open_repository(repo.path))
    repo.git("commit", "-q", "--allow-empty", "-m", "x")
    assert (repo.path / "ran").exists()


def test_uninstall_also_takes_out_what_was_committed_since(repo: Repo) -> None:
    repo.commit()
    (repo.path / "hk").mkdir()
    repo.git("config", "core.hooksPath", "hk")
    opened = open_repository(repo.path)
    install(opened)
    repo.commit("hooks and all")
    uninstall(opened)
    assert not (repo.path / "hk/post-commit").exists()


def test_a_git_that_is_too_old_is_told_and_nothing_is_written(repo: Repo, python: str) -> None:
    before = sorted((repo.path / ".git").rglob("*"))
    with pytest.raises(GitError, match=r"git 2\.30 is too old") as caught:
        put(repo.path, python, (2, 30))
    assert caught.value.hint == "git 2.31 or later"
    assert sorted((repo.path / ".git").rglob("*")) == before
