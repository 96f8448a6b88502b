"""How git's command line is called: nothing of the caller's repository leaks in, nothing is written or fetched."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from itza_git.errors import GitError

GIT_MISSING = "install git, or put it on the PATH: git --version"

LOCAL_VARIABLES = frozenset(
    {
        # `git rev-parse --local-env-vars` of 2.39, and what later versions added.
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
        "GIT_REFERENCE_BACKEND",
        # Not in that list, yet they change what the commands that we use answer.
        "GIT_ATTR_SOURCE",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_NAMESPACE",
        "GIT_EXTERNAL_DIFF",
    }
)
"""Variables that tie a git process to one repository; a hook passes them on, and its children must not inherit them."""

OUT_OF_TIME = 124
"""The exit status of a command that was ended because it took too long, as `timeout` has it."""

FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",  # `status` would otherwise take index.lock and make the user's own git fail.
    # A partial clone would otherwise fetch behind the user's back. The first is what newer versions of git know (2.45,
    # and older ones with its security fixes); the second leaves no protocol to the fetch that others start.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    # libgit2 knows no replace refs; one repository must not have two contents, nor two histories.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "LC_ALL": "C",
}


def scrubbed() -> dict[str, str]:
    """The environment for a child git process: ours, without what ties it to a repository, never prompting."""
    return {name: value for name, value in os.environ.items() if name not in LOCAL_VARIABLES} | FIXED


def for_child() -> dict[str, str]:
    """The environment for a child that runs this very package, however its caller came to import it."""
    environment = scrubbed() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    home = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, environment.get("PYTHONPATH")]))
    return environment


def configured() -> dict[str, str]:
    """What `git -c KEY=VALUE itza` put into the environment; empty when nothing."""
    names = [name for name in os.environ if name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))]
    names += ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"]
    return {name: os.environ[name] for name in names if name in os.environ}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """git's command line on the repository at git_dir; variables come on top of the scrubbed environment."""

    git_dir: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        *args: str | bytes,
        folder: Path | None = None,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """The finished `git ARGS`, whatever its exit status; it runs in folder (default: git_dir).

        One that takes longer than seconds is ended; what it printed until then is there.
        """
        environment = self._environment() | dict(variables or {})
        command = self._command(args)
        try:
            return subprocess.run(
                command,
                cwd=folder or self.git_dir,
                env=environment,
                input=stdin,
                capture_output=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(command, OUT_OF_TIME, e.stdout or b"", b"")
        except (OSError, ValueError) as e:
            if folder and not folder.is_dir():
                raise GitError(f"there is no folder {folder}", "GIT_WORK_TREE or core.worktree may name it") from e
            raise GitError(f"cannot run git: {e}", GIT_MISSING) from e

    def fields(self, *args: str, stdin: bytes) -> Iterator[bytes]:
        """What `git ARGS` prints, field by field as NUL ends each, so that never all of it is in memory."""
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._command(args),
                    cwd=self.git_dir,
                    env=self._environment(),
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as e:
                raise GitError(f"cannot run git: {e}", GIT_MISSING) from e
            with process:
                rest = b""
                while process.stdout is not None and (block := process.stdout.read(1 << 16)):
                    *whole, rest = (rest + block).split(b"\0")
                    yield from whole

    def _command(self, args: Sequence[str | bytes]) -> list[str | bytes]:
        return ["git", f"--git-dir={self.git_dir}", *args]

    def _environment(self) -> dict[str, str]:
        return scrubbed() | dict(self.variables)
