"""Translation catalogs (gettext's .po and .mo) out of downloaded packages: pairs of a translation and its English."""

from __future__ import annotations

import gettext
import io
import re
import tarfile
import zipfile
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("es", "pt", "fr", "de", "it", "ru", "zh", "ja")

# `locale/pt_BR/LC_MESSAGES/x.mo`, `po/es.po`, `cups_ja.po`. Traditional Chinese has other characters, and is left out.
_LANGUAGE = re.compile(
    rf"(?:^|[/_-])({'|'.join(LANGUAGES)})(?:[_-](?!TW|HK|Hant)[A-Za-z]{{2,4}})?(?:/(?:LC_MESSAGES/)?[^/]*)?\.[pm]o$"
)
_FIELD = re.compile(r'^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)\s+(".*")$')
# A catalog can have a licence of its own, whatever that of its package.
_COPYLEFT = re.compile(rb"GPL|General Public|Affero|Creative Commons", re.IGNORECASE)
_HEAD = 2_000

# What is not language: placeholders, markup, addresses, the mark of a key to press.
_NOISE = re.compile(
    r"%\(\w+\)[-+#0-9.]*[a-z]|%[-+#0-9.*]*(?:l|ll|z|h)?[a-zA-Z]|\$?\{[^{}]*\}|<[^<>]*>|https?://\S+|&\w+;|\\[ntr]|[&_](?=\w)"
)
_KEY = re.compile(r"\w+(?:[._-]\w+)+")


@dataclass(frozen=True, slots=True)
class Pair:
    """One message: what it is in the other language, and in English."""

    language: str
    foreign: str
    english: str


def language_of(path: str) -> str | None:
    """The language of a catalog by its path, or None."""
    found = _LANGUAGE.search(path)
    return found[1] if found else None


def pairs(archive: Path) -> Iterator[Pair]:
    """All messages of the catalogs in an archive; of a .po and the .mo made of it only the .po is read."""
    catalogs = {path: data for path, data in _files(archive) if language_of(path)}
    for path, data in sorted(catalogs.items()):
        if path.endswith(".mo") and path[:-2] + "po" in catalogs:
            continue
        language = language_of(path) or ""
        if not _COPYLEFT.search(data[:_HEAD]):
            for english, foreign in read_mo(data) if path.endswith(".mo") else read_po(data.decode("utf-8", "replace")):
                if not _KEY.fullmatch(english):
                    yield Pair(language, plain(foreign), plain(english))


def plain(message: str) -> str:
    """A message without placeholders and markup."""
    return _NOISE.sub(lambda found: "" if found[0] in ("&", "_") else " ", message)


def _files(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                if info.filename.endswith((".po", ".mo")):
                    yield info.filename, opened.read(info)
    else:
        with tarfile.open(archive) as tar:
            for member in tar:
                handle = tar.extractfile(member) if member.isfile() and member.name.endswith((".po", ".mo")) else None
                if handle:
                    yield member.name, handle.read()


def read_mo(data: bytes) -> Iterator[tuple[str, str]]:
    """The messages of a compiled catalog, English first; nothing of one that cannot be read."""
    try:
        catalog = gettext.GNUTranslations(io.BytesIO(data))._catalog  # type: ignore[attr-defined]
    except (OSError, UnicodeDecodeError, ValueError):
        return
    for key, foreign in catalog.items():
        english = key[0] if isinstance(key, tuple) else key
        # What stands before the end-of-transmission is the context.
        english = english.rpartition("\x04")[2]
        if english and foreign:
            yield english, foreign


def read_po(text: str) -> Iterator[tuple[str, str]]:
    """The messages of a catalog's source, English first; fuzzy and obsolete ones are left out."""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        if re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE):
            continue
        fields = _fields(block)
        english = fields.get("msgid", "")
        foreign = fields.get("msgstr") or fields.get("msgstr[0]", "")
        if english and foreign:
            yield english, foreign


def _fields(block: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        found = _FIELD.match(line)
        quoted = found[2] if found else line
        if found:
            name = found[1]
        if name and quoted.startswith('"') and quoted.endswith('"'):
            fields[name] = fields.get(name, "") + _unquoted(quoted)
    return fields


def _unquoted(quoted: str) -> str:
    try:
        return str(literal_eval(quoted))
    except (SyntaxError, ValueError):
        return quoted[1:-1]
