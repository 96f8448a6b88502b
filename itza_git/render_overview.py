"""From an overview to one screen of text, and to JSON. Pure; what comes from the repository is cleaned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any

from itza_git.paths import quote
from itza_git.render import BOLD, DIM, GREEN, Style, clean, columns, fitting
from itza_git.render_json import SCHEMA, coverage_json, path_json

if TYPE_CHECKING:  # records that are only read
    from itza_git.answering.links import Pages
    from itza_git.survey import Area, LanguageShare, Overview, Spot

# What fits one screen; `-v` shows all.
MOST_SHOWN = {"languages": 4, "areas": 8, "entry points": 6, "central files": 10, "read first": 4, "tests": 3}
# In what order a list is, where that is not plain.
ORDERS = {"central files": "by use and size"}
SHOWN_NAMES = 4
# Less of what is told of a place says too little.
_LEAST_ROOM = 24
_INDENT = " " * 6
_LONGEST_NAME = 40
_WIDEST = 80


def overview(result: Overview, style: Style, verbose: bool = False, links: Pages | None = None) -> str:
    """The overview for people: each list under its name, cut to what fits one screen unless verbose."""
    areas = [area for area in result.areas if area.role != "tests"]
    sections: dict[str, tuple[Sequence[Any], Callable[[Any], list[str]]]] = {
        "languages": (_languages(result.languages, style), list),
        "areas": (areas, lambda shown: _areas(shown, style)),
        "entry points": (result.entry_points, lambda shown: _spots(shown, style, links)),
        "central files": (result.central, lambda shown: _spots(shown, style, links)),
        "read first": (result.docs, lambda shown: _spots(shown, style, links)),
        "tests": (result.tests, lambda shown: _areas(shown, style)),
        "build and checks": (_build(result.build), list),
    }
    lines = [f"{clean(result.rev)} at {result.commit[:12]}: {result.files:,} files, {result.lines:,} lines"]
    for name, (items, rows) in sections.items():
        most = len(items) if verbose else MOST_SHOWN.get(name, len(items))
        left = f"{len(items) - most} more: -v" if len(items) > most else ""
        if items:
            beside = "; ".join(filter(None, (ORDERS.get(name), left)))
            title = style.paint(name, BOLD) + style.paint(f"  ({beside})" if beside else "", DIM)
            lines += ["", title, *(f"  {row}" for row in rows(items[:most]))]
    return "\n".join(lines)


def _languages(languages: Sequence[LanguageShare], style: Style) -> list[str]:
    """The languages of code, most first, and in one line what else there is."""
    code = [one for one in languages if one.kind == "code"]
    total = max(sum(one.lines for one in code), 1)
    rows = [
        f"{one.name:<12} {_files(one.files):>12} {one.lines:>10,} lines  {100 * one.lines / total:.0f} % of the code"
        for one in code
        if 200 * one.lines >= total
    ]
    others = [f"{one.name} {_files(one.files)}" for one in languages if one.kind != "code"]
    if others:
        last = MOST_SHOWN["languages"] - 1
        rows.insert(min(len(rows), last), style.paint("beside: " + ", ".join(others[:5]), DIM))
    return rows


def _areas(areas: Sequence[Area], style: Style) -> list[str]:
    paths = [quote(area.path) if area.path else "(at the top)" for area in areas]
    sizes = [f"{_files(area.files):>12} {area.lines:>9,} lines" for area in areas]
    width = min(max(map(columns, paths), default=0), _WIDEST, style.width - max(map(columns, sizes), default=0) - 3)
    rows = []
    for area, path, size in zip(areas, paths, sizes, strict=True):
        told = area.role if area.role not in ("code", "tests") else _listed(area.names)
        row = style.paint(path, GREEN) + " " * max(width - columns(path), 0)
        if columns(path) > width:
            row += f"\n{' ' * (width + 2)}"
        rows.append(_with(f"{row} {size}", width + columns(size) + 1, told, style, BOLD))
    return rows


def _spots(spots: Sequence[Spot], style: Style, links: Pages | None) -> list[str]:
    width = min(max((columns(spot.citation) for spot in spots), default=0), _WIDEST, style.width * 2 // 3)
    rows = []
    for spot in spots:
        passage = spot.passage
        url = links.url(passage.path, passage.first, passage.last, spot.commit) if links else None
        cited = style.link(style.paint(spot.citation, GREEN), url) + " " * max(width - columns(spot.citation), 0)
        is_wider = columns(spot.citation) > width
        rows.append(_with(cited, style.width if is_wider else width, _told(spot), style))
    return rows


def _with(row: str, taken: int, told: str, style: Style, code: str = "") -> str:
    """A row of so many columns and what is told of it: beside it, or on a line of its own where there is no room."""
    room = style.width - taken - 4
    if told and room < min(_LEAST_ROOM, columns(told)):
        return f"{row.rstrip()}\n{_INDENT}{style.paint(fitting(told, style.width - len(_INDENT)), code)}"
    return f"{row}  {style.paint(fitting(told, room), code)}".rstrip()


def _told(spot: Spot) -> str:
    """What is said of a place: how it is used, or what it is and is called."""
    if spot.users:
        return f"used by {spot.users:>3}: {_listed(spot.names)}".rstrip(": ")
    return f"{spot.what} {spot.name}".strip()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(fitting(name, _LONGEST_NAME) for name in names[:SHOWN_NAMES])


def _build(spots: Iterable[Spot]) -> list[str]:
    """The files of each purpose in one line, those of one folder together."""
    by_kind: dict[str, Counter[str]] = {}
    for spot in spots:
        folder, _, name = spot.passage.path.rpartition(b"/")
        by_kind.setdefault(spot.what, Counter())[quote(folder + b"/") if folder else quote(name)] += 1
    return [f"{kind}: {', '.join(starmap(_counted, found.items()))}" for kind, found in by_kind.items()]


def _counted(name: str, count: int) -> str:
    return f"{name} ({_files(count)})" if name.endswith("/") else name


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"


def overview_json(result: Overview, dirty: bool) -> dict[str, Any]:
    """The object that `overview --json` prints."""
    return {
        "schema": SCHEMA,
        "commit": result.commit,
        "rev": result.rev,
        "dirty": dirty,
        "recipe": result.recipe,
        "coverage": coverage_json(result.coverage),
        "files": result.files,
        "lines": result.lines,
        "languages": [
            {"name": one.name, "kind": one.kind, "files": one.files, "lines": one.lines, "share": one.share}
            for one in result.languages
        ],
        "areas": [_area_json(area) for area in result.areas],
        "entry_points": [_spot_json(spot) | {"kind": spot.what, "name": spot.name} for spot in result.entry_points],
        "central": [_spot_json(spot) | {"users": spot.users, "names": list(spot.names)} for spot in result.central],
        "docs": [_spot_json(spot) | {"title": spot.name} for spot in result.docs],
        "tests": [_area_json(area) for area in result.tests],
        "build": [_spot_json(spot) | {"kind": spot.what} for spot in result.build],
    }


def _area_json(area: Area) -> dict[str, Any]:
    return path_json(area.path) | {
        "role": area.role,
        "files": area.files,
        "lines": area.lines,
        "names": list(area.names),
    }


def _spot_json(spot: Spot) -> dict[str, Any]:
    passage = spot.passage
    return path_json(passage.path) | {
        "start_line": passage.first,
        "end_line": passage.last,
        "commit": spot.commit,
        "blob": passage.blob.hex(),
        "citation": spot.citation,
        "language": passage.language,
    }
