"""Where a program of a tree begins, and what of a library others load: as manifests declare it, else as files tell."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = COMMAND, PROGRAM, IMAGE, LIBRARY = "command", "program", "image", "library"

# What a file is called that is started or loaded as it is.
_STARTED = re.compile(
    r"(?:.*/)?(?:__main__\.py|manage\.py|wsgi\.py|asgi\.py|config\.ru|src/main\.rs|src/bin/[^/]+\.rs"
    r"|(?:Main|Program|Application)\.(?:java|cs|kt|scala))"
)
_SCRIPT = re.compile(r"(?:bin|exe|sbin)/[^/.]+")
_LOADED = re.compile(r"(?:.*/)?src/lib\.rs|(?:src/|lib/|python/)?[^/]+/__init__\.py")
_IN_IMAGE = re.compile(rb"^[ \t]*(?:ENTRYPOINT|CMD)[ \t]+(.+)$", re.MULTILINE | re.IGNORECASE)
_CONSOLE_SCRIPTS = re.compile(
    rb"console_scripts[\"']?\s*[:=]\s*\[?\s*((?:[\"']?\s*[\w.-]+\s*=\s*[\w.]+:\w+[\"',\s]*)+)"
)
_SCRIPT_LINE = re.compile(rb"([\w.-]+)\s*=\s*([\w.]+):(\w+)")
_GEM_NAME = re.compile(rb"\.name\s*=\s*[\"']([\w-]+)[\"']")
_GO_MODULE = re.compile(rb"^module[ \t]+([\w./~-]+)", re.MULTILINE)
_MAJOR = re.compile(r"/v\d+$")
_ARTIFACT = re.compile(rb"<artifactId>\s*([\w.-]+)\s*<")
_PARENT = re.compile(rb"<parent>.*?</parent>", re.DOTALL)
_JVM_PROGRAM = re.compile(rb"\bmainClass(?:Name)?\b|spring-boot|springframework\.boot|[\"'.]application[\"']")
_JVM_ROOTS = tuple(
    f"src/{part}/{language}" for part in ("main", "commonMain") for language in ("java", "kotlin", "scala", "groovy")
)
_ENDINGS = ("", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts")


@dataclass(frozen=True, slots=True)
class Entrance:
    """A way in: its kind, the name that it is called by, the file, and the name of the function there, or nothing.

    Where a whole folder is loaded, path is that folder, with a slash at its end.
    """

    kind: str
    name: str
    path: bytes
    symbol: str = ""


def declared(paths: Sequence[bytes], read: Callable[[bytes], bytes]) -> Iterator[Entrance]:
    """The entrances that the manifests among paths name, and that are there. read gives the bytes of a path."""
    known = frozenset(paths)
    for path in paths:
        folder, _, name = path.rpartition(b"/")
        find = _FINDERS.get(name.decode("utf-8", "replace")) or _by_ending(name)
        if find is not None:
            try:
                yield from find(read(path), folder.decode("utf-8", "surrogateescape"), known)
            except (ValueError, AttributeError, TypeError, RecursionError):
                continue  # no manifest that its own tool could read


def told(path: bytes) -> Entrance | None:
    """The entrance that a path is by its name alone."""
    text = path.decode("utf-8", "replace")
    if _STARTED.fullmatch(text):
        return Entrance(PROGRAM, _called(text), path)
    if _SCRIPT.fullmatch(text):
        return Entrance(COMMAND, text.rpartition("/")[2], path)
    if _LOADED.fullmatch(text):
        return Entrance(LIBRARY, _called(text), path)
    return None


def _called(path: str) -> str:
    """What a file that is started or loaded is known by: its folder's name, where its own says nothing."""
    folder, _, name = path.removesuffix("/src/lib.rs").removesuffix("/src/main.rs").rpartition("/")
    if name.startswith(("__", "lib.", "main.")):
        return folder.rpartition("/")[2] or name
    return name


def _python(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    manifest = tomllib.loads(data.decode("utf-8", "replace"))
    project = manifest.get("project", {})
    poetry = manifest.get("tool", {}).get("poetry", {})
    for scripts in (project.get("scripts", {}), project.get("gui-scripts", {}), poetry.get("scripts", {})):
        for name, target in scripts.items():
            yield from _python_function(name, str(target), folder, known)


def _setup(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    for group in _CONSOLE_SCRIPTS.finditer(data):
        for name, module, function in _SCRIPT_LINE.findall(group[1]):
            yield from _python_function(name.decode(), f"{module.decode()}:{function.decode()}", folder, known)


def _python_function(name: str, target: str, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    module, _, function = target.partition(":")
    stem = module.replace(".", "/")
    for root in ("", "src", "lib", "python"):
        for ending in (".py", "/__init__.py", "/__main__.py"):
            path = posixpath.normpath(posixpath.join(folder, root, stem + ending)).encode("utf-8", "surrogateescape")
            if path in known:
                yield Entrance(COMMAND, name, path, function.partition(".")[0].strip())
                return


def _node(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    manifest = json.loads(data)
    commands = manifest.get("bin", {})
    name = str(manifest.get("name", "")).rpartition("/")[2]
    if isinstance(commands, str):
        commands = {name: commands}
    for command, target in commands.items():
        yield from _file(COMMAND, command, str(target), folder, known)
    exported = _first_text(manifest.get("exports"))
    main = manifest.get("main") or exported or manifest.get("module")
    if main or commands == {}:
        yield from _file(LIBRARY, name or folder, str(main or "index"), folder, known)


def _first_text(exports: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """The first file of package.json's nested `exports`."""
    if isinstance(exports, str):
        return exports
    if isinstance(exports, dict):
        ordered = [exports.get(".", None), *exports.values()]
        return next((found for found in map(_first_text, ordered) if found), None)
    return None


def _cargo(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    manifest = tomllib.loads(data.decode("utf-8", "replace"))
    for kind, tables in ((COMMAND, manifest.get("bin", [])), (LIBRARY, [manifest.get("lib", {})])):
        for table in tables:
            if "path" in table:
                name = table.get("name") or manifest.get("package", {}).get("name", "")
                yield from _file(kind, str(name), str(table["path"]), folder, known)
    name = str(manifest.get("package", {}).get("name", ""))
    if name and not manifest.get("bin"):
        yield from _file(COMMAND, name, "src/main.rs", folder, known)
    if name:
        yield from _file(LIBRARY, name, "src/lib.rs", folder, known)


def _go(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    found = _GO_MODULE.search(data)
    name = _MAJOR.sub("", found[1].decode("utf-8", "replace")).rpartition("/")[2] if found else ""
    # By custom the package's own file has its name, or nothing but what is said about it.
    places = [one for file in (f"{name}.go", "doc.go") for one in _file(LIBRARY, name, file, folder, known)]
    yield from places[:1]


def _composer(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    manifest = json.loads(data)
    for target in _list(manifest.get("bin", [])):
        yield from _file(COMMAND, posixpath.basename(target), target, folder, known)
    name = str(manifest.get("name", "")).rpartition("/")[2]
    for roots in manifest.get("autoload", {}).get("psr-4", {}).values():
        for root in _list(roots):
            yield from _folder(name, root, folder, known)


def _list(value: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    return [value] if isinstance(value, str) else [str(one) for one in value]


def _jvm(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    if _JVM_PROGRAM.search(data):
        return
    named = _ARTIFACT.search(_PARENT.sub(b"", data))
    name = named[1].decode("utf-8", "replace") if named else posixpath.basename(folder)
    for root in _JVM_ROOTS:
        yield from _folder(name, root, folder, known)


def _gem(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    found = _GEM_NAME.search(data)
    if found:
        name = found[1].decode()
        for place in ("exe", "bin"):
            yield from _file(COMMAND, name, f"{place}/{name}", folder, known)
        yield from _file(LIBRARY, name, f"lib/{name.replace('-', '/')}.rb", folder, known)


def _image(data: bytes, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    started = _IN_IMAGE.findall(data)
    if started:
        path = posixpath.join(folder, "Dockerfile").encode("utf-8", "surrogateescape")
        yield Entrance(IMAGE, started[-1].decode("utf-8", "replace").strip()[:60], path)


def _file(kind: str, name: str, target: str, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    for ending in _ENDINGS:
        path = posixpath.normpath(posixpath.join(folder, target + ending)).encode("utf-8", "surrogateescape")
        if path in known:
            yield Entrance(kind, name, path)
            return


def _folder(name: str, target: str, folder: str, known: frozenset[bytes]) -> Iterator[Entrance]:
    """A folder that is loaded as a whole, with a slash at its end."""
    path = posixpath.normpath(posixpath.join(folder, target)).encode("utf-8", "surrogateescape") + b"/"
    if any(one.startswith(path) for one in known):
        yield Entrance(LIBRARY, name, path)


_Finder = Callable[[bytes, str, frozenset[bytes]], Iterator[Entrance]]
_FINDERS: Mapping[str, _Finder] = {
    "pyproject.toml": _python,
    "setup.py": _setup,
    "setup.cfg": _setup,
    "package.json": _node,
    "Cargo.toml": _cargo,
    "composer.json": _composer,
    "pom.xml": _jvm,
    "build.gradle": _jvm,
    "build.gradle.kts": _jvm,
    "go.mod": _go,
    "Dockerfile": _image,
}


def _by_ending(name: bytes) -> _Finder | None:
    return _gem if name.endswith(b".gemspec") else None
