"""JSON that somebody else wrote: what it says, or ValueError, whatever the bytes are."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, TypeVar

Record = TypeVar("Record")

_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
_LARGEST = 1e15


def parse(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a document. Raises ValueError, for one that is nested too deep too."""
    try:
        return json.loads(text)
    except RecursionError as e:
        raise ValueError("nested too deep") from e


def record(kind: type[Record], value: Any) -> Record:  # noqa: ANN401 - any JSON value
    """An object as a flat dataclass of strings and numbers; raises ValueError unless each field is there and fits."""
    wanted = {field.name: _TYPES[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type] # a dataclass
    if not isinstance(value, dict) or value.keys() != wanted.keys():
        raise ValueError(f"no {kind.__name__}")
    for name, types in wanted.items():
        if type(value[name]) not in types:
            raise ValueError(f"{name} of a {kind.__name__}")
        # NaN fails this comparison, as it should.
        if not isinstance(value[name], str) and not abs(value[name]) < _LARGEST:
            raise ValueError(f"{name} of a {kind.__name__}")
    return kind(**value)
