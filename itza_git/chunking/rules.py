"""Definitions that the type of a node alone does not give away: what they are called and where their members are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from itza_git.chunking.lines import CEILING

# A constant of fewer lines is found with what stands around it; a longer one (a table of commands) is a place.
LONG_CONSTANT = 5
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Found:
    """A definition. Its members are walked where there is a body; a name of "" makes no scope of its own."""

    kind: str
    name: str
    body: Node | None = None


Rule = Callable[[Node, bytes], Found | None]


def text(node: Node | None, source: bytes) -> str:
    """The text of a name, on one line and with `.` for every kind of qualification.

    Not `node.text`: it crashes on a tree that was parsed through a callback (tree-sitter 0.26).
    """
    if node is None:
        return ""
    name = " ".join(source[node.start_byte : node.end_byte].decode("utf-8", "replace").split())
    return name.replace("::", ".").replace("\\", ".").strip(".")[:LONGEST_NAME]


def name_of(node: Node, source: bytes) -> str:
    """The text of the field `name`, else of the first child that is an identifier."""
    found = node.child_by_field_name("name")
    if found is None:
        found = next((c for c in node.named_children if c.type.endswith("identifier")), None)
    return text(found, source)


def body_of(node: Node) -> Node | None:
    """Where the members of a type are; None where it has none."""
    body = node.child_by_field_name("body")
    if body is None:
        body = next((c for c in node.named_children if c.type.endswith(("body", "declaration_list"))), None)
    return body if body is not None and body.named_child_count else None


def height(node: Node) -> int:
    """How many lines a node touches."""
    return node.end_point[0] - node.start_point[0] + 1


def child(node: Node | None, *types: str) -> Node | None:
    """The first named child of one of the types."""
    return None if node is None else next((c for c in node.named_children if c.type in types), None)


def long_constant(node: Node, source: bytes) -> Found | None:
    """A constant or variable with a `name`, if it is long."""
    return Found("module", name_of(node, source)) if height(node) >= LONG_CONSTANT else None


def long_method(node: Node, source: bytes) -> Found | None:
    """A property, an operator or a subscript of more than one line: it does something."""
    if height(node) < 2:
        return None
    name = name_of(node, source) or text(node.child_by_field_name("operator"), source)
    return Found("method", name or node.type.partition("_")[0])


def constructor(node: Node, source: bytes) -> Found:
    """`init`, `deinit` or `constructor`: named by its keyword."""
    keyword = node.children[0] if node.children[0].type != "modifiers" else node.children[1]
    return Found("function", text(keyword, source))


def python_assignment(node: Node, source: bytes) -> Found | None:
    """`TABLE = {...}`, if long."""
    if height(node) < LONG_CONSTANT:
        return None
    assignment = child(node, "assignment")
    left = assignment.child_by_field_name("left") if assignment else None
    return Found("module", text(left, source)) if left is not None and left.type == "identifier" else None


_JS_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")


def javascript_variable(node: Node, source: bytes) -> Found | None:
    """`const f = () => {}` is a function, `const A = class {}` a type, `const table = {...}` a long constant."""
    declarator = child(node, "variable_declarator")
    if declarator is None:
        return None
    value = declarator.child_by_field_name("value")
    return _javascript_value(name_of(declarator, source), value)


def _javascript_value(name: str, value: Node | None) -> Found | None:
    if value is None or not name:
        return None
    if value.type in _JS_FUNCTIONS:
        return Found("function", name)
    if value.type == "class":
        return Found("type", name, body_of(value))
    if value.type == "object" and any(c.type in ("method_definition", "pair") for c in value.named_children):
        return Found("module", name, value) if height(value) > CEILING else Found("module", name)
    # `memo(function () {...})`, `styled.div`, a call of many lines.
    return Found("module", name) if height(value) >= LONG_CONSTANT else None


def javascript_expression(node: Node, source: bytes) -> Found | None:
    """`exports.f = function () {}`, and calls with a long function inside (`describe`, `define`, `(function () {})()`).

    TypeScript's `namespace N {}` is an expression too.
    """
    inner = node.named_children[0] if node.named_child_count else None
    if inner is None:
        return None
    if inner.type == "internal_module":
        return Found("module", name_of(inner, source), body_of(inner))
    if inner.type == "assignment_expression":
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        name = text(left, source).removeprefix("module.").removeprefix("exports.").replace(".prototype.", ".")
        return _javascript_value(name, right)
    if height(node) <= CEILING:
        return None
    return _called_function(inner, "statement_block")


def _called_function(node: Node, body_type: str) -> Found | None:
    """The body of the function that a call is given or that is called on the spot; no deeper than ten nodes."""
    for _ in range(10):
        tall = max(node.named_children, key=height, default=None)
        if tall is None or height(tall) <= CEILING:
            return None
        if tall.type == body_type:
            return Found("module", "", tall)
        node = tall
    return None


def javascript_field(node: Node, source: bytes) -> Found | None:
    """`handle = () => {}` in a class is a method."""
    value = node.child_by_field_name("value")
    if value is None or value.type not in _JS_FUNCTIONS:
        return None
    return Found("function", text(node.child_by_field_name("property") or node.child_by_field_name("name"), source))


def go_method(node: Node, source: bytes) -> Found:
    """`func (s *Store[T]) Open()` is `Store.Open`."""
    receiver = node.child_by_field_name("receiver")
    found = child(receiver, "parameter_declaration")
    name = text(found.child_by_field_name("type") if found else None, source)
    owner = name.lstrip("*( ").partition("[")[0].rstrip(") ")
    return Found("method", f"{owner}.{name_of(node, source)}" if owner else name_of(node, source))


def go_variable(node: Node, source: bytes) -> Found | None:
    """`var table = map[...]...{...}`, if long; a group of several has no name."""
    if height(node) < LONG_CONSTANT:
        return None
    specs = [c for c in node.named_children if c.type in ("var_spec", "const_spec")]
    return Found("module", name_of(specs[0], source)) if len(specs) == 1 else None


def rust_impl(node: Node, source: bytes) -> Found:
    """`impl<T> fmt::Display for Store<T>` belongs to `Store`."""
    owner = node.child_by_field_name("type")
    return Found("type", text(owner, source).partition("<")[0].lstrip("&").strip(), body_of(node))


def kotlin_property(node: Node, source: bytes) -> Found | None:
    """A property of several lines: it has a getter, a delegate or a long value."""
    if height(node) < LONG_CONSTANT:
        return None
    return Found("module", name_of(child(node, "variable_declaration") or node, source))


def kotlin_companion(node: Node, source: bytes) -> Found:
    """A companion's members are called through the class, so it adds no name."""
    return Found("type", name_of(node, source), body_of(node))


def bash_function(node: Node, source: bytes) -> Found:
    """A shell function, or a Bats test, which the parser was shown as one."""
    if source.startswith(b"@test", node.start_byte):
        return Found("function", _first_line(source, node).removeprefix("@").rstrip(" {"))
    return Found("function", name_of(node, source))


def _first_line(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].partition(b"\n")[0].decode("utf-8", "replace")[:LONGEST_NAME]


def ruby_call(node: Node, source: bytes) -> Found | None:
    """`RSpec.describe ... do` and the like, if long; `private def m` is the method."""
    if height(node) > CEILING:
        return _called_function(node, "body_statement")
    arguments = node.child_by_field_name("arguments")
    method = child(arguments, "method", "singleton_method")
    return Found("function", name_of(method, source)) if method is not None else None


def ruby_assignment(node: Node, source: bytes) -> Found | None:
    """`Point = Struct.new(:x) do ... end` and long constants."""
    left = node.child_by_field_name("left")
    if left is None or left.type != "constant" or height(node) < LONG_CONSTANT:
        return None
    return Found("module", text(left, source))


def scala_value(node: Node, source: bytes) -> Found | None:
    """A `val` or a `given`, if long."""
    if height(node) < LONG_CONSTANT:
        return None
    body = child(node, "with_template_body", "template_body")
    return Found("module", text(node.child_by_field_name("pattern"), source) or name_of(node, source), body)


def scala_package(node: Node, source: bytes) -> Found | None:
    """`package a { ... }`; without braces it is a line like any other."""
    body = node.child_by_field_name("body")
    return Found("module", "", body) if body is not None else None


def lua_function(node: Node, source: bytes) -> Found:
    """`function M:open()` is `M.open`."""
    return Found("function", name_of(node, source).replace(":", "."))


def lua_assignment(node: Node, source: bytes) -> Found | None:
    """`M.f = function() end` and `local f = function() end`; long tables keep their name."""
    assignment = node if node.type == "assignment_statement" else child(node, "assignment_statement")
    target, values = child(assignment, "variable_list"), child(assignment, "expression_list")
    if target is None or values is None or not values.named_child_count:
        return None
    value = values.named_children[0]
    if value.type == "function_definition":
        return Found("function", text(target, source))
    return Found("module", text(target, source)) if height(node) >= LONG_CONSTANT else None


def lua_call(node: Node, source: bytes) -> Found | None:
    """`describe("...", function() ... end)`, if long."""
    return _called_function(node, "block") if height(node) > CEILING else None


_ELIXIR = {
    "def": "function",
    "defp": "function",
    "defmacro": "function",
    "defmacrop": "function",
    "defguard": "function",
    "defguardp": "function",
    "defdelegate": "function",
    "defmodule": "module",
    "defprotocol": "type",
    "defimpl": "type",
}


def elixir_call(node: Node, source: bytes) -> Found | None:
    """Everything in Elixir is a call: def and its kin define, a long `describe ... do` holds definitions."""
    kind = _ELIXIR.get(text(node.child_by_field_name("target"), source), "")
    body = child(node, "do_block")
    if not kind:
        return Found("module", "", body) if body is not None and height(node) > CEILING else None
    arguments = child(node, "arguments")
    head = arguments.named_children[0] if arguments is not None and arguments.named_child_count else None
    if kind != "function":
        return Found(kind, text(head, source), body)
    return Found(kind, _elixir_name(head, source))


def _elixir_name(head: Node | None, source: bytes) -> str:
    """`f(a) when a > 1` is f; `a + b` is +."""
    for _ in range(3):
        if head is None or head.type != "binary_operator":
            break
        operator = text(head.child_by_field_name("operator"), source)
        if operator not in ("when", "//"):
            return operator
        head = head.child_by_field_name("left")
    if head is not None and head.type == "call":
        head = head.child_by_field_name("target")
    return text(head, source)


def haskell_class(node: Node, source: bytes) -> Found:
    """`class C a where` is C, and so is `instance C D`, followed by what it is for."""
    name = name_of(node, source)
    if node.type == "instance":
        name = f"{name} {text(node.child_by_field_name('patterns'), source)}".strip()
    return Found("type", name)


_ZIG_TYPES = ("struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration")


def zig_variable(node: Node, source: bytes) -> Found | None:
    """`const Store = struct {...}` is a type."""
    value = child(node, *_ZIG_TYPES, "error_set_declaration")
    if value is None:
        return long_constant(node, source)
    return Found("type", name_of(node, source), value if value.type in _ZIG_TYPES and value.named_child_count else None)


def zig_test(node: Node, source: bytes) -> Found:
    """`test "reads" {}` is named by its string."""
    label = child(node, "string", "identifier")
    return Found("function", f"test {text(label, source)}".strip())
