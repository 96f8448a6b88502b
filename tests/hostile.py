"""A repository whose every name, line and setting tries to steer the terminal."""

from __future__ import annotations

import re
from pathlib import Path

from tests.repository import Repo

# Moves the cursor, sets the title, makes a link, reorders the line, hides text, ends the line early.
ESCAPES = "\x1b[2J\x1b]0;title\x07\x1b]8;;http://x\x1b\\\x9b2J\r\b\x7f\u202e\u2066\u200b\u2028\u2029\ufeff\x85\u00ad"
# What a branch may be called.
REF_ESCAPES = "\x9b2J\u202e\u2066\u200b\u2028\x85"

# All that a terminal, or a person who reads it, may be misled by.
RAW = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
# What we write ourselves: colours, links of printable ASCII, and the progress bar's return.
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\|\r\x1b\[K|\r(?=\n)")


def hostile(folder: Path) -> Repo:
    """The repository, in a folder whose name is no better."""
    repo = Repo(folder / f"r{ESCAPES}".replace("/", "_"))
    evil = ESCAPES.replace("/", "_")
    code = f"def load{ESCAPES}settings(path):  # {ESCAPES}\n    '''{ESCAPES}'''\n    return path\n"
    repo.write(f"src/{evil}/{evil}.py", code)
    repo.write("src/plain.py", code + f"class Settings{ESCAPES}:\n    name = 1\n")
    repo.write("src/moved.py", "def moved_function(argument):\n    value = argument\n    return value * 2\n" * 3)
    repo.write(b"src/\xff\x9b\x1b[2J.py", code)
    repo.write("docs/guide.md", f"# Load settings {ESCAPES}\n\nload settings {ESCAPES}\n")
    repo.write("docs/lossy.txt", b"load settings \xff\x9b\x80\n")
    repo.write(f"{evil}.bin", b"\0")
    repo.write(".itzaconfig", '[itza]\n\tanswerModel = "a"\n\texclude = "' + "\u202e\x9b" + '"\n\tx\u202e = 1\n')
    repo.commit(f"message {ESCAPES}")
    repo.git("branch", f"b{REF_ESCAPES}")
    repo.git("tag", f"t{REF_ESCAPES}")
    repo.git("config", f"remote.o{REF_ESCAPES}.url", f"https://github.com/a/{REF_ESCAPES}b")
    repo.git("config", "remote.origin.url", f"https://github.com/a{REF_ESCAPES}/b{ESCAPES.replace(chr(13), '')}")
    repo.git("config", "itza.answerModel", f"model{ESCAPES}")
    repo.git("config", "itza.include", ":/*")
    repo.git("mv", "src/moved.py", f"src/{evil}/moved.py")
    repo.commit("moved")
    repo.write(f"untracked{evil}.py", code)
    repo.write("src/plain.py", code + "uncommitted = 1\n")
    return repo


def raw(text: str) -> list[str]:
    """What in a text would reach a terminal raw, with a little of what is around it."""
    bare = OURS.sub("", text)
    return [bare[max(found.start() - 20, 0) : found.end() + 5] for found in RAW.finditer(bare)]
