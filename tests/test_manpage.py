"""The manual page is that of the commands as they are, and `git itza --help` shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from itza_git import config
from itza_git.cli import COMMANDS, HIDDEN
from itza_git.manpage import manpage

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "share" / "man" / "man1" / "git-itza.1"

needs_man = pytest.mark.skipif(shutil.which("man") is None, reason="no man on this machine")


def test_the_page_is_made_from_the_commands_as_they_are() -> None:
    made = manpage()
    assert PAGE.read_text() == made, "python -m itza_git.manpage > share/man/man1/git-itza.1"


def test_every_command_and_every_setting_is_in_it() -> None:
    page = manpage().replace("\\-", "-")
    for name in COMMANDS:
        assert f"git itza {name}\\fR" in page
    for name in HIDDEN:
        assert f"git itza {name}\\fR" not in page
    assert "git itza hooks install\\fR" in page
    for field in config.NAMES:
        key = "itza." + re.sub(r"_(\w)", lambda found: found[1].upper(), field)
        assert key in page


@needs_man
def test_roff_has_nothing_to_complain_about() -> None:
    command = ["man", "--warnings", "--local-file", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"MANPAGER": "cat"})
    assert done.stderr == ""
    assert "git itza hooks install" in done.stdout


@needs_man
@pytest.mark.parametrize("command", [["git", "itza", "--help"], ["git", "help", "itza"]])
def test_git_finds_the_page_beside_the_program(tmp_path: Path, command: list[str]) -> None:  # C37
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git-itza").symlink_to(Path(sys.executable).parent / "git-itza")
    shutil.copytree(ROOT / "share", tmp_path / "share")
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "MANPAGER": "cat"}
    git = Path(shutil.which("git") or "git").parent
    environment["PATH"] += f":{git}"
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "git itza hooks install" in done.stdout


@pytest.mark.parametrize("arguments", [["-h"], ["ask", "--help"], ["ask", "-h"], ["hooks", "install", "-h"]])
def test_help_without_a_manual_page(arguments: list[str]) -> None:  # C37
    command = [sys.executable, "-m", "itza_git.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: git itza")
