"""Which language a file is in, by its name, its extension or its shebang; nothing is guessed from the text.

A `.h` file counts as C: most are readable by either grammar, and a header that is C++ alone still splits well enough.
"""

from __future__ import annotations

import re

# Language -> the extensions that mean it. One line a language; a name in PROSE or DATA is not code.
_EXTENSIONS: dict[str, str] = {
    # Programming languages with a grammar (see syntax.py).
    "python": "py pyi pyw pyx pxd",
    "javascript": "js mjs cjs jsx es6",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp cu cuh ino",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru podspec jbuilder rbi",
    "php": "php phtml php3 php4 php5",
    "swift": "swift",
    "scala": "scala sc sbt",
    "bash": "sh bash zsh ksh bats ebuild",
    "lua": "lua",
    "elixir": "ex exs",
    "haskell": "hs",
    "zig": "zig zon",
    # Programming languages without.
    "ada": "adb ads",
    "assembly": "s asm nasm",
    "awk": "awk",
    "batch": "bat cmd",
    "bazel": "bzl bazel star",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl",
    "coffeescript": "coffee",
    "crystal": "cr",
    "d": "d",
    "dart": "dart",
    "dockerfile": "dockerfile containerfile",
    "elm": "elm",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f f77 f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "gdscript": "gd",
    "glsl": "glsl vert frag geom comp hlsl wgsl metal",
    "graphql": "graphql gql",
    "groovy": "groovy gradle gvy",
    "hack": "hack",
    "haxe": "hx",
    "julia": "jl",
    "just": "just",
    "lisp": "lisp lsp el scm ss rkt",
    "make": "mk mak make",
    "mojo": "mojo",
    "nim": "nim nims",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml mli mll mly",
    "odin": "odin",
    "pascal": "pas pp dpr lpr",
    "perl": "pl pm t pod perl",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "prolog": "prolog",
    "proto": "proto",
    "purescript": "purs",
    "r": "r rmd",
    "reason": "re rei",
    "sml": "sml sig",
    "solidity": "sol",
    "sql": "sql ddl dml psql",
    "svelte": "svelte",
    "tcl": "tcl",
    "terraform": "tf tfvars hcl",
    "thrift": "thrift",
    "vala": "vala vapi",
    "verilog": "v sv svh vh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "visualbasic": "vb vbs bas",
    "vue": "vue",
    "webassembly": "wat wast",
    "astro": "astro",
    "template": "erb ejs hbs mustache jinja jinja2 j2 njk liquid haml slim pug jade tmpl gotmpl heex eex leex twig",
    "html": "html htm xhtml",
    "css": "css scss sass less styl",
    # Data.
    "json": "json jsonc json5 webmanifest geojson jsonl ndjson",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties editorconfig desktop service",
    "xml": "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets resx xaml pom wsdl rss",
    "csv": "csv tsv",
    "gettext": "po pot",
    "diff": "diff patch",
    # Prose.
    "markdown": "md markdown mdx mdown mkd qmd livemd",
    "rst": "rst",
    "asciidoc": "adoc asciidoc asc",
    "org": "org",
    "tex": "tex ltx sty bib",
    "texinfo": "texi texinfo",
    "man": "1 2 3 4 5 6 7 8 man roff mdoc",
    "notebook": "ipynb",
    "text": "txt text log",
}

# Whole file names, lower-case.
_NAMES: dict[str, str] = {
    "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile .envrc pkgbuild apkbuild configure",
    "bazel": "build workspace build.bazel workspace.bazel module.bazel tiltfile",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "groovy": "jenkinsfile",
    "ini": ".editorconfig .gitconfig .gitmodules .npmrc .pylintrc .flake8 .coveragerc pip.conf .env",
    "json": ".babelrc .eslintrc .prettierrc composer.lock pipfile.lock .jshintrc flake.lock",
    "just": "justfile .justfile",
    "make": "makefile gnumakefile makefile.am makefile.in bsdmakefile",
    "meson": "meson.build meson_options.txt meson.options",
    "python": "sconstruct sconscript wscript snakefile",
    "ruby": "gemfile rakefile guardfile vagrantfile capfile brewfile podfile fastfile dangerfile thorfile appraisals",
    "text": "readme license copying authors notice install changes changelog news todo contributors maintainers "
    "codeowners .gitignore .gitattributes .dockerignore .npmignore requirements.txt go.sum version",
    "toml": "pipfile cargo.lock poetry.lock uv.lock pdm.lock gopkg.lock",
    "vim": ".vimrc _vimrc .gvimrc",
    "yaml": ".clang-format .clang-tidy .yamllint pubspec.lock .gemrc",
}

_SHEBANGS: dict[str, str] = {
    "python": "python pypy",
    "javascript": "node nodejs deno bun",
    "ruby": "ruby jruby",
    "perl": "perl",
    "php": "php",
    "bash": "sh bash dash zsh ksh ash bats",
    "lua": "lua luajit",
    "elixir": "elixir",
    "haskell": "runhaskell runghc stack",
    "fish": "fish",
    "awk": "awk gawk mawk",
    "tcl": "tclsh wish expect",
    "r": "rscript",
    "julia": "julia",
    "groovy": "groovy",
    "scala": "scala amm",
    "swift": "swift",
    "make": "make",
    "erlang": "escript",
    "powershell": "pwsh",
    "clojure": "bb clojure",
    "ocaml": "ocaml",
    "lisp": "sbcl guile racket emacs",
}

# What people type after --lang beyond the names and the extensions above.
_ALIASES: dict[str, str] = {
    "python": "python2 python3 cython",
    "javascript": "ecmascript",
    "go": "golang",
    "csharp": "c#",
    "fsharp": "f#",
    "cpp": "cplusplus",
    "objc": "objective-c objectivec",
    "bash": "shell",
    "rst": "restructuredtext",
    "notebook": "jupyter",
    "make": "makefile",
    "dockerfile": "docker",
    "proto": "protobuf",
    "terraform": "hashicorp",
    "lisp": "elisp emacs-lisp scheme racket common-lisp",
    "visualbasic": "vb.net",
    "text": "plain plaintext",
    "vim": "vimscript viml",
    "assembly": "assembler",
    "tex": "latex",
}

_DATA = frozenset({"json", "yaml", "toml", "ini", "xml", "csv", "gettext", "diff"})
_PROSE = frozenset({"markdown", "rst", "asciidoc", "org", "tex", "texinfo", "man", "text"})
_NOT_CODE = _DATA | _PROSE | {"", "html", "notebook"}


def _inverse(table: dict[str, str]) -> dict[str, str]:
    return {word: language for language, words in table.items() for word in words.split()}


_BY_EXTENSION = _inverse(_EXTENSIONS)
_BY_NAME = _inverse(_NAMES)
_BY_INTERPRETER = _inverse(_SHEBANGS)
_CANONICAL = {
    **_BY_EXTENSION,
    **_inverse(_ALIASES),
    **{language: language for table in (_EXTENSIONS, _NAMES, _SHEBANGS) for language in table},
}

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(\S+)(?:[ \t]+(.*))?")


def language_of(path: bytes, head: bytes = b"") -> str:
    """The language of the file at path, in lower case; "text" where nothing is known.

    head is the beginning of the file's content; its shebang counts only where the name has no extension.
    """
    name = path.rpartition(b"/")[2].decode("utf-8", "replace").lower()
    stem, _, extension = name.rpartition(".")
    if not stem:
        return _by_shebang(head) or _BY_NAME.get(name, "text")
    if extension.isdigit() and stem[-1].isdigit():
        # `git.1` is a manual page, `LGPL-2.1` and `v1.2.3` are not.
        extension = ""
    return _BY_NAME.get(name) or _BY_EXTENSION.get(extension) or _by_prefix(stem) or "text"


def _by_prefix(stem: str) -> str:
    """`Dockerfile.dev` and `Makefile.linux` are what they are called, whatever follows the dot."""
    language = _BY_NAME.get(stem.partition(".")[0], "")
    return language if language in ("dockerfile", "make") else ""


def _by_shebang(head: bytes) -> str:
    found = _SHEBANG.match(head)
    if not found:
        return ""
    interpreter, arguments = found[1], (found[2] or b"").split()
    if interpreter == b"env":
        # `env -S VAR=1 python3 -u`: the first word that is neither an option nor an assignment.
        interpreter = next((word for word in arguments if word[:1] != b"-" and b"=" not in word), b"")
    name = interpreter.rpartition(b"/")[2].decode("ascii", "replace")
    return _BY_INTERPRETER.get(name.rstrip("0123456789.-"), "")


def canonical(name: str) -> str | None:
    """The language that a person means by name (`py`, `C++`, `sh`); None for a name that means none."""
    return _CANONICAL.get(name.strip().lower().lstrip("."))


def is_code(language: str) -> bool:
    """Whether the language is one that programs are written in; markup, data, notebooks and prose are not."""
    return language not in _NOT_CODE


def is_prose(language: str) -> bool:
    """Whether the language is one that documents are written in."""
    return language in _PROSE
