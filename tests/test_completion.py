"""`git itza <TAB>` in bash, through git's own completion where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from itza_git.cli import COMMANDS
from tests.repository import Repo

COMPLETIONS = Path(__file__).parents[1] / "completions"
GITS_OWN = Path("/usr/share/bash-completion/completions/git")

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
needs_gits_own = pytest.mark.skipif(not GITS_OWN.exists(), reason="git's completion for bash is not installed")

# bash-completion's splitting of the line; plain words need no more than this.
THROUGH_GIT = f"""
. {GITS_OWN}
. {COMPLETIONS / "git-itza.bash"}
_get_comp_words_by_ref () {{
    words=("${{COMP_WORDS[@]}}"); cword=$COMP_CWORD; cur=${{COMP_WORDS[COMP_CWORD]}}; prev=${{COMP_WORDS[COMP_CWORD-1]}}
}}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
__git_wrap__git_main
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

ALONE = f"""
. {COMPLETIONS / "git-itza.bash"}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_git_itza_alone git-itza "${{COMP_WORDS[COMP_CWORD]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(repo: Repo, script: str, *line: str) -> list[str]:
    """The candidates for the last word of a line."""
    environment = repo.environment() | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *line],
        cwd=repo.path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [found.strip() for found in done.stdout.splitlines() if found.strip()]


@needs_bash
@needs_gits_own
def test_commands_options_and_branches_complete_through_git(repo: Repo) -> None:
    repo.commit()
    repo.git("branch", "feature")
    assert complete(repo, THROUGH_GIT, "git", "itza", "") == list(COMMANDS)
    assert complete(repo, THROUGH_GIT, "git", "-C", ".", "itza", "sea") == ["search"]
    assert complete(repo, THROUGH_GIT, "git", "itza", "hooks", "") == ["install", "status", "uninstall"]
    assert complete(repo, THROUGH_GIT, "git", "itza", "ask", "--no-m") == ["--no-model"]
    assert complete(repo, THROUGH_GIT, "git", "itza", "ask", "--branch", "f") == ["feature"]
    assert complete(repo, THROUGH_GIT, "git", "itza", "ask", "--branch=f") == ["feature"]
    assert complete(repo, THROUGH_GIT, "git", "itza", "ask", "--rev", "m") == ["main"]


@needs_bash
def test_the_program_itself_completes(repo: Repo) -> None:
    assert complete(repo, ALONE, "git-itza", "") == list(COMMANDS)
    assert complete(repo, ALONE, "git-itza", "hooks", "u") == ["uninstall"]


def test_zsh_gets_names_and_what_they_mean(repo: Repo) -> None:
    environment = repo.environment() | {
        "COMP_WORDS": "git-itza hooks ",
        "COMP_CWORD": "2",
        "_GIT_ITZA_COMPLETE": "zsh_complete",
    }
    command = [sys.executable, "-m", "itza_git.cli"]
    done = subprocess.run(command, cwd=repo.path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["plain", "install"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh on this machine")
def test_the_zsh_file_is_zsh() -> None:
    subprocess.run(["zsh", "-n", str(COMPLETIONS / "_git-itza")], check=True)


@needs_bash
def test_commands_complete_without_importing_them() -> None:
    script = "import sys, itza_git.cli as c\ntry: c.main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)\n"
    environment = os.environ | {"COMP_WORDS": "git-itza ", "COMP_CWORD": "1", "_GIT_ITZA_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert {"numpy", "pygit2", "httpx"}.isdisjoint(done.stderr.split())
