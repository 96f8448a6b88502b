"""The prompt: which passages go in, and how they are written so that nothing in them is taken for anything else."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from itza_git.answering.examples import PREFIX
from itza_git.errors import UsageError
from itza_git.models.protocol import Message
from itza_git.paths import quote
from itza_git.records import Passage

# Tokens of the window that passages cannot have: the constant prefix, and the answer with some air.
PREFIX_TOKENS = 600
ANSWER_TOKENS = 256
NUM_PREDICT = 200
# 0.22 tokens a character were measured; a third is on the safe side for dense code.
CHARACTERS_A_TOKEN = 3
# Below this a real prompt was never seen; a server that reads fewer tokens has cut the prompt.
FEWEST_TOKENS_A_CHARACTER = 0.12

MOST_PASSAGES = 5
MOST_OF_A_FILE = 2
MOST_LINES = 40
FEWEST_LINES = 5
LONGEST_LINE = 240
SMALLEST_BUDGET = 600

# The kind of a passage that is a commit's message.
COMMIT = "commit"

Notes = Mapping[tuple[bytes, bytes], str]
"""What is to stand in the header of passages, by path and blob."""

NO_NOTES: Notes = {}

_INDENT = "    "
# What chat templates turn into borders of turns. A server reads them in the text of a message too.
_TEMPLATE_TOKEN = re.compile(
    r"<(?=[|\uff5c]\w|/?(?:s|bos|eos|think|start_of_turn|end_of_turn|tool_call|tool_response)>|</?SYS>)"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A passage as the model sees it: its number, and the lines first..last of the file, as the blob has them.

    A commit's message is one too; note then says which commit it is, and of lines something more about them.
    """

    n: int
    passage: Passage
    first: int
    last: int
    text: str
    note: str = ""

    @property
    def is_commit(self) -> bool:
        """Whether it is a commit's message, not lines of a file."""
        return self.passage.kind == COMMIT

    @property
    def header(self) -> str:
        """The line above the passage: `[n] path lines first-last`, `[n] commit id date subject`."""
        if self.is_commit:
            return f"[{self.n}] {plain(self.note)}"
        note = f" {plain(self.note)}" if self.note else ""
        return f"[{self.n}] {plain(quote(self.passage.path))} lines {self.first}-{self.last}{note}"

    @property
    def rendered(self) -> str:
        """Header and lines. Every line of the repository is indented, so only a header starts with `[`."""
        dedented = textwrap.dedent("\n".join(map(plain, self.text.split("\n"))))
        lines = [_INDENT + line[:LONGEST_LINE] if line.strip() else "" for line in dedented.split("\n")]
        return "\n".join([self.header, *lines])


def plain(text: str) -> str:
    """Text of a repository or a person as one line of a prompt: no control characters, no token of a chat template."""
    printable = "".join(c if c.isprintable() or c == "\t" else " " for c in text)
    return _TEMPLATE_TOKEN.sub(lambda token: f"{token[0]} ", printable.rstrip())


def budget(question: str, num_ctx: int) -> int:
    """How many characters of passages the window takes beside the question. Raises `UsageError` when too few."""
    question_tokens = -(-len(question) // CHARACTERS_A_TOKEN)
    characters = CHARACTERS_A_TOKEN * (num_ctx - PREFIX_TOKENS - ANSWER_TOKENS - question_tokens)
    if characters < SMALLEST_BUDGET:
        raise UsageError(
            f"a question of {len(question)} characters leaves no room for passages in a window of {num_ctx} tokens",
            "ask a shorter question",
        )
    return characters


def select(
    passages: Sequence[tuple[Passage, str]], characters: int, most: int = MOST_PASSAGES, notes: Notes = NO_NOTES
) -> list[Block]:
    """The best passages that fit, numbered from 1; at most two of a file, long ones cut at the end."""
    blocks: list[Block] = []
    of_file: Counter[bytes] = Counter()
    for passage, text in passages:
        if len(blocks) == most:
            break
        if passage.path and of_file[passage.path] == MOST_OF_A_FILE:
            continue
        note = notes.get((passage.path, passage.blob), "")
        block = _fit(Block(len(blocks) + 1, passage, passage.first, passage.last, text, note), characters)
        if block is not None:
            blocks.append(block)
            of_file[passage.path] += 1
            characters -= len(block.rendered) + 1
    return blocks


def _fit(whole: Block, characters: int) -> Block | None:
    """The block with as many lines as fit; None when those are too few to show anything."""
    lines = whole.text.removesuffix("\n").split("\n")[: min(MOST_LINES, whole.last - whole.first + 1)]
    fewest = 1 if whole.n == 1 else min(FEWEST_LINES, len(lines))
    for count in range(len(lines), fewest - 1, -1):
        block = replace(whole, last=whole.first + count - 1, text="\n".join(lines[:count]))
        # The best passage is worth any line of it.
        if len(block.rendered) <= characters or (whole.n == 1 and count == 1):
            return block
    return None


def messages(question: str, blocks: Sequence[Block]) -> list[Message]:
    """The whole prompt: rules and examples, then passages, then the question, and nothing after it."""
    turn = ["Passages:", *(block.rendered for block in blocks), f"Question: {one_line(question)}"]
    return [*PREFIX, Message("user", "\n".join(turn))]


def one_line(question: str) -> str:
    """The question as it stands in the prompt."""
    return " ".join(plain(" ".join(question.split())).split())


def fewest_tokens(prompt: Sequence[Message]) -> int:
    """How many tokens a server must report to have read this prompt; far below what it really has."""
    characters = sum(len(" ".join(message.content.split())) for message in prompt)
    return int(characters * FEWEST_TOKENS_A_CHARACTER)
