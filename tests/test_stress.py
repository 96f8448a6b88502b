"""Many processes at once (C24), and processes killed at any moment (C25); `python -m tests.stress` runs longer.

C numbers as in test_cases.py. C25 with a slow server is in test_recipes.py, with Ctrl-C in test_interrupt.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def stress(*args: str) -> dict[str, Any]:
    command = [sys.executable, "-W", "error", "-m", "tests.stress", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stderr == ""
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["wrong"] == [], told["wrong"][0]
    return told


def test_a_kill_at_any_moment_loses_nothing_that_was_finished() -> None:
    told = stress("kills", "100")
    assert told["kills"] + told["finished"] == 100
    assert told["kills"] > 20
    assert told["gc"] > 10


def test_a_crowd_of_writers_and_readers_is_answered_rightly_while_commits_go_on() -> None:
    told = stress("crowd", "6")
    assert min(told["commits"], told["reading"], told["writing"], told["collecting"]) > 0
