"""What a definition looks like in each language: one table of node types a grammar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from itza_git.chunking import rules, rules_c
from itza_git.chunking.rules import Rule


@dataclass(frozen=True, slots=True)
class Table:
    """The node types of a grammar that matter; each list is a string of words.

    functions: definitions of functions; inside a type they are methods.
    types:     definitions of types; their members are definitions of their own.
    leaves:    definitions of types without members worth a name.
    scopes:    named places that are no type (a namespace, a module); their members are definitions.
    through:   nodes without a name whose children belong to the scope around them.
    wrappers:  nodes that hold one definition and more that belongs to it (decorators, `export`, `template <...>`).
    lead:      comments and attributes; directly above a definition they belong to it.
    rules:     node type -> function, for what a type of node alone does not tell.
    """

    functions: str = ""
    types: str = ""
    leaves: str = ""
    scopes: str = ""
    through: str = ""
    wrappers: str = ""
    lead: str = "comment"
    rules: Mapping[str, Rule] = field(default_factory=dict)
    roles: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        # A tree with errors still holds most of its definitions, some of them below the ERROR.
        self.roles["ERROR"] = "through"
        for role in ("functions", "types", "leaves", "scopes", "through", "wrappers", "lead"):
            self.roles.update(dict.fromkeys(getattr(self, role).split(), role))
        self.roles.update(dict.fromkeys(self.rules, "rules"))


_JAVASCRIPT = Table(
    functions="function_declaration generator_function_declaration method_definition function_signature",
    types="class_declaration class",
    wrappers="export_statement ambient_declaration",
    lead="comment decorator",
    rules={
        "lexical_declaration": rules.javascript_variable,
        "variable_declaration": rules.javascript_variable,
        "expression_statement": rules.javascript_expression,
        "field_definition": rules.javascript_field,
    },
)

_TYPESCRIPT = Table(
    functions=_JAVASCRIPT.functions + " abstract_method_signature",
    types="class_declaration class abstract_class_declaration",
    leaves="interface_declaration type_alias_declaration enum_declaration",
    scopes="module internal_module",
    wrappers=_JAVASCRIPT.wrappers,
    lead=_JAVASCRIPT.lead,
    rules={**_JAVASCRIPT.rules, "public_field_definition": rules.javascript_field},
)

_C = Table(
    through="preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification declaration_list",
    rules={
        "function_definition": rules_c.c_function,
        "preproc_function_def": rules_c.c_macro,
        "type_definition": rules_c.c_typedef,
        "declaration": rules_c.c_declaration,
        **dict.fromkeys(("struct_specifier", "union_specifier", "enum_specifier"), rules_c.c_type),
    },
)

TABLES: dict[str, Table] = {
    "python": Table(
        functions="function_definition",
        types="class_definition",
        through="if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement block",
        wrappers="decorated_definition",
        rules={"expression_statement": rules.python_assignment},
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": Table(
        functions="function_declaration",
        leaves="type_spec type_alias",
        through="type_declaration",
        rules={
            "method_declaration": rules.go_method,
            "var_declaration": rules.go_variable,
            "const_declaration": rules.go_variable,
        },
    ),
    "rust": Table(
        functions="function_item function_signature_item macro_definition",
        types="trait_item",
        leaves="struct_item enum_item union_item type_item",
        scopes="mod_item",
        through="foreign_mod_item declaration_list",
        lead="line_comment block_comment attribute_item",
        rules={
            "impl_item": rules.rust_impl,
            "const_item": rules.long_constant,
            "static_item": rules.long_constant,
        },
    ),
    "java": Table(
        functions="method_declaration constructor_declaration compact_constructor_declaration",
        types="class_declaration interface_declaration enum_declaration record_declaration",
        leaves="annotation_type_declaration",
        through="enum_body_declarations",
        lead="line_comment block_comment",
    ),
    "kotlin": Table(
        functions="function_declaration",
        types="class_declaration object_declaration companion_object",
        leaves="type_alias",
        lead="line_comment block_comment multiline_comment",
        rules={
            "secondary_constructor": rules.constructor,
            "property_declaration": rules.kotlin_property,
            "companion_object": rules.kotlin_companion,
        },
    ),
    "c": _C,
    "cpp": Table(
        leaves="concept_definition alias_declaration",
        scopes="namespace_definition",
        through=_C.through,
        wrappers="template_declaration friend_declaration",
        rules={
            **_C.rules,
            "class_specifier": rules_c.cpp_class,
            "struct_specifier": rules_c.cpp_class,
            "field_declaration": rules_c.cpp_field,
        },
    ),
    "csharp": Table(
        functions="method_declaration constructor_declaration destructor_declaration local_function_statement",
        types="class_declaration interface_declaration struct_declaration record_declaration",
        leaves="enum_declaration delegate_declaration",
        through="namespace_declaration declaration_list global_statement preproc_if preproc_else preproc_elif",
        rules={
            "property_declaration": rules.long_method,
            "operator_declaration": rules.long_method,
            "indexer_declaration": rules.long_method,
        },
    ),
    "ruby": Table(
        functions="method singleton_method",
        types="class",
        scopes="module",
        through="singleton_class body_statement",
        rules={"call": rules.ruby_call, "assignment": rules.ruby_assignment},
    ),
    "php": Table(
        functions="function_definition method_declaration",
        types="class_declaration interface_declaration trait_declaration enum_declaration",
        through="namespace_definition compound_statement if_statement",
    ),
    "swift": Table(
        functions="function_declaration protocol_function_declaration",
        types="class_declaration protocol_declaration",
        leaves="typealias_declaration",
        lead="comment multiline_comment attribute",
        rules={
            "init_declaration": rules.constructor,
            "deinit_declaration": rules.constructor,
            "subscript_declaration": rules.long_method,
            "property_declaration": rules.long_method,
        },
    ),
    "scala": Table(
        functions="function_definition function_declaration",
        types="class_definition object_definition trait_definition enum_definition package_object",
        leaves="type_definition",
        through="extension_definition",
        lead="comment block_comment annotation",
        rules={
            "given_definition": rules.scala_value,
            "val_definition": rules.scala_value,
            "package_clause": rules.scala_package,
        },
    ),
    "bash": Table(through="if_statement elif_clause else_clause", rules={"function_definition": rules.bash_function}),
    "lua": Table(
        rules={
            "function_declaration": rules.lua_function,
            "variable_declaration": rules.lua_assignment,
            "assignment_statement": rules.lua_assignment,
            "function_call": rules.lua_call,
        },
    ),
    "elixir": Table(lead="comment unary_operator", rules={"call": rules.elixir_call}),
    "haskell": Table(
        functions="function bind signature pattern_synonym",
        leaves="data_type newtype type_synonym type_family data_family type_instance kind_signature",
        through="declarations",
        lead="comment haddock pragma",
        rules={"class": rules.haskell_class, "instance": rules.haskell_class},
    ),
    "zig": Table(
        functions="function_declaration",
        rules={"variable_declaration": rules.zig_variable, "test_declaration": rules.zig_test},
    ),
}
