"""What a tool takes: its JSON Schema, and the check of what a client sent against it.

Small models send `"5"` for 5, a string where a list is wanted, and null or "" for what they leave out: what is meant
is clear, and taken. Anything else is a `UsageError` that says what the tool takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from itza_git.errors import UsageError

_NOTHING: tuple[object, ...] = (None, "", [], [""])


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool. choices are the strings that it may be, a number is brought between least and most.

    longest: the most characters of a string; a longer one is a mistake, and would keep a processor busy for minutes.
    """

    name: str
    kind: Literal["string", "strings", "integer"]
    told: str
    required: bool = False
    default: int | None = None
    least: int = 1
    most: int = 100
    choices: tuple[str, ...] = ()
    longest: int = 10_000

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        found: dict[str, Any] = {"type": "array" if self.kind == "strings" else self.kind, "description": self.told}
        if self.kind == "strings":
            found["items"] = {"type": "string"}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.default is not None:
            found["default"] = self.default
        return found

    def check(self, value: object) -> object:
        """The value as the tool takes it. Raises `UsageError`."""
        if self.kind == "strings":
            values = value if isinstance(value, list) else [value]
            return tuple(str(self._string(one)) for one in values)
        return self._integer(value) if self.kind == "integer" else self._string(value)

    def _string(self, value: object) -> str:
        if not isinstance(value, str):
            raise self._wrong(value, "a string")
        if len(value) > self.longest:
            raise UsageError(f"{self.name} has {len(value):,} characters, at most {self.longest:,} may be", self.told)
        if self.choices and value not in self.choices:
            raise self._wrong(value, f"one of {', '.join(self.choices)}")
        return value

    def _integer(self, value: object) -> int:
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(value, "a whole number")
        return min(max(value, self.least), self.most)

    def _wrong(self, value: object, wanted: str) -> UsageError:
        return UsageError(f"{self.name} is {value!r:.80}, not {wanted}", self.told)


def schema_of(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {one.name: one.schema() for one in parameters},
        "required": [one.name for one in parameters if one.required],
    }


def checked(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, Any]:
    """The arguments of a call, with the defaults filled in. Raises `UsageError`."""
    known = {one.name: one for one in parameters}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"there is no argument {unknown[0]!r:.80}", f"known are {', '.join(known)}")
    found: dict[str, Any] = {one.name: one.default for one in parameters if one.default is not None}
    found |= {name: known[name].check(value) for name, value in given.items() if value not in _NOTHING}
    lacking = [one for one in parameters if one.required and not found.get(one.name)]
    if lacking:
        raise UsageError(f"{lacking[0].name} is missing", lacking[0].told)
    return found
