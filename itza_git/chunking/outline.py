"""A syntax tree as a flat list of units: every definition, and what stands between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from itza_git.chunking.lines import TARGET
from itza_git.chunking.rules import Found, body_of, name_of
from itza_git.chunking.tables import Table

# Nested scopes that are walked; what lies deeper stays part of its definition. It also bounds the recursion.
DEEPEST = 16

# What a function or a constant is within a type.
_WITHIN_TYPE = {"function": "method", "module": "type"}


@dataclass(slots=True)
class Unit:
    """A definition, the head of a type, or a statement between them; first and last are 1-based lines.

    names are qualified; scope is the qualified name of what holds the unit. extent is the number of lines of the
    whole type, where the unit is only its head. commented is the last line of the comment above a definition.
    """

    first: int
    last: int
    kind: str
    scope: tuple[str, ...]
    names: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    extent: int = 0
    commented: int = 0


def rows(node: Node) -> tuple[int, int]:
    """The first and the last line that a node touches, 1-based; a newline at its end is not a line."""
    first, (last, column) = node.start_point[0], node.end_point
    return first + 1, last + 1 - (column == 0 and last > first)


def outline(root: Node, table: Table, source: bytes) -> list[Unit]:
    """The units below root in the order of their lines, overlaps joined; lines between them are in none."""
    walker = _Walker(table, source)
    walker.walk(root, (), "module", 0)
    walker.flush()
    return walker.units


class _Walker:
    """Walks scopes; a comment waits in `_lead` until it is known whether a definition follows directly below."""

    def __init__(self, table: Table, source: bytes) -> None:
        self.units: list[Unit] = []
        self._table = table
        self._source = source
        self._roles = table.roles
        self._lead: list[Node] = []
        self._lead_rows = (0, 0)
        self._lead_place: tuple[str, tuple[str, ...]] = ("module", ())

    def walk(self, parent: Node, scope: tuple[str, ...], kind: str, depth: int) -> None:
        """Adds the units of parent's children; kind is what a nameless unit of this scope is."""
        for node in parent.named_children:
            role = self._roles.get(node.type)
            if role == "lead":
                self._wait(node, scope, kind)
            elif role == "through" and depth < DEEPEST:
                self.walk(node, scope, kind, depth + 1)
            else:
                self._add(node, self._classify(node, role), scope, kind, depth)

    def _classify(self, node: Node, role: str | None) -> Found | None:
        if role is None:
            return None
        if role == "wrappers":
            return next(filter(None, (self._classify_plain(inner) for inner in node.named_children)), None)
        return self._classify_plain(node)

    def _classify_plain(self, node: Node) -> Found | None:
        role = self._roles.get(node.type)
        if role == "rules":
            return self._table.rules[node.type](node, self._source)
        if role == "functions":
            return Found("function", name_of(node, self._source))
        if role == "types":
            return Found("type", name_of(node, self._source), body_of(node))
        if role == "scopes":
            return Found("module", name_of(node, self._source), body_of(node))
        if role == "leaves":
            # `struct point p;` names a type and defines none; a body or a name of its own does.
            return Found("type", name_of(node, self._source))
        return None

    def _wait(self, node: Node, scope: tuple[str, ...], kind: str) -> None:
        first, last = rows(node)
        if self.units and not self._lead and first <= self.units[-1].last:
            # A comment behind code, on its line.
            self.units[-1].last = max(last, self.units[-1].last)
            return
        if self._lead and first > self._lead_rows[1] + 1:
            self.flush()
        self._lead_rows = (self._lead_rows[0] if self._lead else first, last)
        self._lead.append(node)
        self._lead_place = (kind, scope)

    def flush(self) -> None:
        """Makes the waiting comments a unit of their own."""
        if self._lead:
            kind, scope = self._lead_place
            self._append(Unit(*self._lead_rows, kind, scope, [], self._lead))
            self._lead = []

    def _reach(self, found: Found | None) -> int:
        """How far below the waiting comment the node may begin that it belongs to; `/**` allows a blank line."""
        start = self._lead[-1].start_byte
        return 2 if found and self._source.startswith(b"/**", start) else 1

    def _add(self, node: Node, found: Found | None, scope: tuple[str, ...], kind: str, depth: int) -> None:
        first, last = rows(node)
        nodes, commented = [node], 0
        if self._lead and first <= self._lead_rows[1] + self._reach(found):
            # A comment that ends on the declaration's own line leaves it one line less.
            commented = min(self._lead_rows[1], first - 1)
            first, nodes = min(first, self._lead_rows[0]), [*self._lead, node]
            self._lead = []
        self.flush()
        if found is None:
            self._append(Unit(first, last, kind, scope, [], nodes))
            return
        inner = (*scope, found.name) if found.name else scope
        defined = _WITHIN_TYPE.get(found.kind, found.kind) if kind == "type" and not found.body else found.kind
        names = [".".join(inner)] if found.name else []
        unit = Unit(first, last, defined, scope, names, nodes, commented=commented)
        if found.body is None or not found.body.named_child_count or depth >= DEEPEST:
            self._append(unit)
            return
        unit.extent = last - first + 1
        kind = found.kind if found.name else kind
        # Ruby's grammar puts the comments above the first member before the body, not into it.
        early = self._early_comments(node, found.body)
        unit.last = max(rows(node)[0], rows((*early, found.body.named_children[0])[0])[0] - 1)
        unit.nodes = nodes[:-1]
        self._append(unit)
        for comment in early:
            self._wait(comment, inner, kind)
        self.walk(found.body, inner, kind, depth + 1)
        self.flush()
        # The closing bracket.
        self.units[-1].last = max(self.units[-1].last, last)

    def _early_comments(self, node: Node, body: Node) -> list[Node]:
        if body.parent is None or body.start_point[0] == node.start_point[0]:
            return []
        return [
            child
            for child in body.parent.named_children
            if self._roles.get(child.type) == "lead"
            and "comment" in child.type
            and node.start_point[0] < child.start_point[0]
            and child.end_byte <= body.start_byte
        ]

    def _append(self, unit: Unit) -> None:
        previous = self.units[-1] if self.units else None
        if previous and (unit.first <= previous.last or _continues(previous, unit)):
            previous.last = max(previous.last, unit.last)
            previous.names += [name for name in unit.names if name not in previous.names]
            previous.nodes += unit.nodes
            return
        self.units.append(unit)


def _continues(previous: Unit, unit: Unit) -> bool:
    """Whether unit is another clause, overload or signature of the definition before it."""
    if not unit.names or unit.names != previous.names or unit.extent or previous.extent:
        return False
    return unit.last - previous.first < TARGET
