"""Definitions of C and C++: names hide at the bottom of declarators, and macros mislead the grammar."""

from __future__ import annotations

from tree_sitter import Node

from itza_git.chunking.rules import LONG_CONSTANT, Found, child, height, name_of, text


def c_function(node: Node, source: bytes) -> Found | None:
    """The name is at the bottom of the declarator: `int (*f(void))(int)`, `ns::Class<T>::method`.

    A macro makes the grammar read `class API Store {...}` or `BEGIN_NAMESPACE namespace detail {...}` as a function.
    """
    declarator = node.child_by_field_name("declarator")
    name = _declared(declarator, source)
    if declarator is None or not name:
        return None
    parts = name.partition("//")[0].split() or [name]
    if declarator.type != "identifier" and (len(parts) == 1 or "operator" in name):
        return Found("function", name)
    parents = (node.child_by_field_name("type"), child(node, "ERROR"))
    words = [*parts[:-1], *(word for parent in parents for word in text(parent, source).split())]
    body = node.child_by_field_name("body")
    if "class" in words or "struct" in words:
        return Found("type", parts[-1], body)
    return Found("module", words[-1] if "namespace" in words[:-1] else "", body)


def c_type(node: Node, source: bytes) -> Found | None:
    """`struct s {...}`; without a body nothing is defined."""
    body = node.child_by_field_name("body")
    return Found("type", name_of(node, source)) if body is not None else None


def cpp_class(node: Node, source: bytes) -> Found | None:
    """`class C {...}`, whose members are walked."""
    body = node.child_by_field_name("body")
    return Found("type", _without_arguments(name_of(node, source)), body) if body is not None else None


def _declared(node: Node | None, source: bytes) -> str:
    for _ in range(20):
        if node is None:
            return ""
        if node.type.endswith("identifier") or node.type in ("destructor_name", "operator_name", "template_function"):
            return _without_arguments(text(node, source))
        if node.type == "operator_cast":
            return text(node, source).partition("(")[0].strip()
        inner = node.child_by_field_name("declarator")
        node = inner or next(
            (c for c in node.named_children if "declarator" in c.type or c.type.endswith("name")), None
        )
    return ""


def _without_arguments(name: str) -> str:
    """`Map<K, V>.at` is `Map.at`; `operator<` stays."""
    if "operator" in name or "<" not in name:
        return name
    kept, depth = [], 0
    for character in name:
        depth += character == "<"
        if not depth:
            kept.append(character)
        depth -= character == ">"
    return "".join(kept)


def cpp_field(node: Node, source: bytes) -> Found | None:
    """A class within a class."""
    inner = child(node, "class_specifier", "struct_specifier")
    return cpp_class(inner, source) if inner is not None else None


def c_macro(node: Node, source: bytes) -> Found:
    """`#define MIN(a, b) ...`."""
    return Found("function", name_of(node, source))


def c_typedef(node: Node, source: bytes) -> Found | None:
    """`typedef struct {...} T`; a typedef of one line has nothing to show."""
    body = child(node, "struct_specifier", "union_specifier", "enum_specifier")
    if body is None or height(body) < 2:
        return None
    return Found("type", _declared(node.child_by_field_name("declarator"), source))


def c_declaration(node: Node, source: bytes) -> Found | None:
    """`static struct option table[] = {...}`, if long, and prototypes that are documented: headers explain there."""
    declarator = node.child_by_field_name("declarator")
    if declarator is None:
        return None
    if declarator.type == "init_declarator":
        return Found("module", _declared(declarator, source)) if height(node) >= LONG_CONSTANT else None
    above = node.prev_named_sibling
    if above is None or above.type != "comment" or above.end_point[0] + 1 != node.start_point[0]:
        return None
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    is_function = declarator is not None and declarator.type == "function_declarator"
    return Found("function", _declared(declarator, source)) if is_function else None
