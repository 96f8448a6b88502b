"""Editing JSON with comments by splicing its text: what is not ours stays as it was, to the byte.

Comments and trailing commas are read, as VS Code, opencode and Gemini read them. Every error is a `ValueError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\n\r]*)?")
_BLANK_REST = re.compile(r"[ \t]*\r?\n")
DEFAULT_INDENT = "  "


@dataclass(slots=True)
class Node:
    """A value and where it stands; of an object also its members, and where the comma after each ends (0: none)."""

    start: int
    end: int
    value: Any
    members: list[Member] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        """Whether it has members that can be added to."""
        return isinstance(self.value, dict)

    def member(self, key: str) -> Member | None:
        """The member of a name; of several the last, which is the one that counts."""
        return next((one for one in reversed(self.members) if one.key == key), None)


@dataclass(slots=True)
class Member:
    """A member of an object; start is where its key begins, comma where the comma behind it ends (0: none)."""

    key: str
    start: int
    node: Node
    comma: int = 0


def parse(text: str) -> Node:
    """The one value that text holds."""
    node = _value(text, _skip(text, 0))
    if _skip(text, node.end) != len(text):
        raise _wrong(text, _skip(text, node.end))
    return node


def at(text: str, path: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON value
    """The value at a path of keys; None where there is none."""
    found = parse(text).value
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put(text: str, path: Sequence[str], value: Any) -> str:  # noqa: ANN401 - any JSON value
    """The text with a value at a path of keys, the objects on the way made where they lack; new members come last."""
    root = parse(text)
    node = root
    for depth, key in enumerate(path):
        if not node.is_object:
            raise ValueError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        member = node.member(key)
        if member is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            if node is not root and not text[node.start + 1 : node.end - 1].strip():
                return _filled(text, node, key, value)
            return _added(text, node, key, value, _indent(text, root))
        node = member.node
    if node.value == value:
        return text
    line = _indent_at(text, node.start)
    return text[: node.start] + _rendered(value, text, _indent(text, root), line) + text[node.end :]


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, and without the objects on the way that are left empty by it.

    An object that was there and empty before `put` stays so: the layout tells it, see `_filled`.
    """
    nodes = [parse(text)]
    for key in path:
        member = nodes[-1].member(key) if nodes[-1].is_object else None
        if member is None:
            return text
        nodes.append(member.node)
    for depth in range(len(path) - 1, -1, -1):
        holder = nodes[depth]
        member = holder.member(path[depth])
        assert member is not None
        alone = len(holder.members) == 1
        if alone and depth and text[holder.start + 1 : member.start] == " " and not member.comma:
            rest = text[member.node.end : holder.end - 1].removesuffix(" ")
            return text[: holder.start + 1] + rest + text[holder.end - 1 :]
        bare = alone and not text[holder.start + 1 : member.start].strip() and _is_bare(text, holder, member)
        if not bare or depth == 0:
            return _without(text, holder, member, bare)
    return text


def _is_bare(text: str, holder: Node, member: Member) -> bool:
    return not text[max(member.comma, member.node.end) : holder.end - 1].strip()


def _without(text: str, holder: Node, member: Member, bare: bool) -> str:
    if bare:
        return f"{text[: holder.start]}{{}}{text[holder.end :]}"
    at = holder.members.index(member)
    start = len(text[: member.start].rstrip(" \t"))
    if _BLANK_REST.match(
        text, member.comma or member.node.end
    ):  # else the line goes on, and a comment may end before it
        start -= 2 if text[:start].endswith("\r\n") else 1 if text[:start].endswith("\n") else 0
    if member.comma:
        return text[:start] + text[member.comma :]
    before = holder.members[at - 1] if at else None
    if before is None:
        return text[:start] + text[member.node.end :]
    return text[: before.comma - 1] + text[before.comma : start] + text[member.node.end :]


def _filled(text: str, node: Node, key: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    """The text with a first member in an empty object: on one line with spaces, unlike in one that we made."""
    inside = text[node.start + 1 : node.end - 1]
    entry = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
    return f"{text[: node.start + 1]} {entry}{inside} {text[node.end - 1 :]}"


def _added(text: str, node: Node, key: str, value: Any, unit: str) -> str:  # noqa: ANN401 - any JSON value
    newline = _newline(text)
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        line = _indent_at(text, node.start)
        kept = inside.rstrip() if inside.strip() else ""
        entry = f"{newline}{line}{unit}{json.dumps(key)}: {_rendered(value, text, unit, line + unit)}{newline}{line}"
        return text[: node.start + 1] + kept + entry + text[node.end - 1 :]
    last = node.members[-1]
    end = last.comma or last.node.end
    spread = "\n" in text[node.start : last.start]
    rest = _REST_OF_LINE.match(text, end)
    assert rest is not None
    at = rest.end() if rest[0].strip() else end
    head = text[: last.node.end] + ("" if last.comma else ",") + text[last.node.end : at]
    if not spread and "//" not in rest[0]:
        entry = f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
    else:
        line = _indent_at(text, last.start)
        entry = f"{newline}{line}{json.dumps(key)}: {_rendered(value, text, unit, line)}"
    return head + entry + ("," if last.comma else "") + text[at:]


def _rendered(value: Any, text: str, unit: str, line: str) -> str:  # noqa: ANN401 - any JSON value
    """A value on lines of its own, in the file's manner; lists of strings stay on one line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = line + unit
    members = [f"{inner}{json.dumps(key)}: {_rendered(one, text, unit, inner)}" for key, one in value.items()]
    newline = _newline(text)
    return "{" + newline + f",{newline}".join(members) + f"{newline}{line}}}"


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, root: Node) -> str:
    """How far a member stands in from its object, as the file has it."""
    for member in root.members:
        found = _indent_at(text, member.start)
        if found and not text[text.rfind("\n", 0, member.start) + 1 : member.start].strip():
            return found
    return DEFAULT_INDENT


def _indent_at(text: str, at: int) -> str:
    """The white space that the line begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    """The place after white space and comments."""
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _value(text: str, at: int) -> Node:
    if text.startswith("{", at):
        return _object(text, at)
    if text.startswith("[", at):
        return _list(text, at)
    found = _STRING.match(text, at) or _WORD.match(text, at)
    if found is None:
        raise _wrong(text, at)
    return Node(at, found.end(), _loaded(text, found[0], at))


def _object(text: str, start: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        if members and not members[-1].comma:
            raise _wrong(text, at)
        key = _STRING.match(text, at)
        if key is None:
            raise _wrong(text, at)
        colon = _skip(text, key.end())
        if not text.startswith(":", colon):
            raise _wrong(text, colon)
        member = Member(_loaded(text, key[0], at), at, _value(text, _skip(text, colon + 1)))
        members.append(member)
        at = _skip(text, member.node.end)
        if text.startswith(",", at):
            member.comma = at + 1
            at = _skip(text, member.comma)
    return Node(start, at + 1, {one.key: one.node.value for one in members}, members)


def _list(text: str, start: int) -> Node:
    values: list[Any] = []
    comma = True
    at = _skip(text, start + 1)
    while not text.startswith("]", at):
        if not comma:
            raise _wrong(text, at)
        node = _value(text, at)
        values.append(node.value)
        at = _skip(text, node.end)
        comma = text.startswith(",", at)
        at = _skip(text, at + 1) if comma else at
    return Node(start, at + 1, values)


def _loaded(text: str, literal: str, at: int) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(literal)
    except ValueError:
        raise _wrong(text, at) from None


def _wrong(text: str, at: int) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line} is not JSON" if at < len(text) else f"it ends in the middle, on line {line}")
