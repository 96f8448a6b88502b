"""Questions in the asker's language: which one it is, and that they find English code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from itza_git.answering.ask import missing
from itza_git.search import languages
from itza_git.search.corpus import Corpus
from itza_git.search.question import Question
from itza_git.search.retrieval import Found, search
from tests.counting import Index
from tests.repository import Repo
from training.catalogs import LANGUAGES, language_of, plain, read_po
from training.fetch_corpus import listed
from training.translations import SOURCES, align, distinct, table, written

PERMISSIVE = re.compile(r"MIT|BSD(?:-\d-Clause)?|Apache-2\.0|ISC|PostgreSQL|Unlicense|public-domain|0BSD")
LARGEST = 300_000


def find(index: Index, query: str) -> Found:
    return search(Corpus(index.space, index.refresh().view), Question(query), index.embedder, 10)


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/auth.py", "def check_password(user, password):\n    return user.hash == digest(password)\n")
    repo.write("src/settings.py", "def load_settings(path):\n    # reads the configuration of the server\n    pass\n")
    repo.write("src/cache.py", "def evict_oldest(cache):\n    cache.pop(next(iter(cache)))\n")
    repo.write("src/network.go", "package network\n\n// Retry opens the connection again.\nfunc Retry() error\n")
    repo.commit()
    return repo


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿Dónde se comprueba la contraseña?"),
        ("es", "donde se leen los archivos de configuracion"),
        ("es", "lectura del archivo"),
        ("es", "¿cómo funciona?"),
        ("es", "como funciona evict_oldest"),
        ("pt", "onde são validadas as senhas"),
        ("pt", "como funciona o cache"),
        ("fr", "où est lu le fichier de configuration ?"),
        ("fr", "gestion des erreurs"),
        ("de", "Wie funktioniert die Authentifizierung?"),
        ("it", "come funziona la cache"),
        ("it", "gestione degli errori"),
        ("ru", "где читается конфигурация"),
        ("zh", "在哪里读取配置"),
        ("zh", "evict_oldest 是如何工作的"),
        ("ja", "設定はどこで読み込まれますか"),
    ],
)
def test_the_language_of_a_short_question(language: str, question: str) -> None:
    assert Question(question).language == language


@pytest.mark.parametrize(
    "question",
    [
        "how does the cache work?",
        "evict_oldest",
        "die on error",
        "del key",
        "del item from list",
        "comment parsing",
        "no such file or directory",
        "de facto standard encoding",
        "use serde to de serialize",
        "i18n fr de es it",
        "la la land",
        "per user son process",
        "uma numa node",
        "where is the string 检索 used",
        "how does the año parser work",
        "what does `configuración de la red` mean",
        "ListenAndServe",
        "guardar",
        "mi casa",
        "",
        "???",
        "gdzie jest konfiguracja serwera",
    ],
)
def test_english_code_and_unknown_languages_stay_as_they_are(question: str) -> None:
    asked = Question(question)
    assert asked.language == "en"
    assert asked.asked == {word: [word] for word in asked.content_words}


@pytest.mark.parametrize("word", ["configuración", "configuracion", "CONFIGURACIÓN"])
def test_accents_may_be_left_out(word: str) -> None:
    meanings = Question(f"dónde se lee la {word} de la red").asked
    assert meanings[word.lower()][0].startswith("config")


def test_a_form_that_the_table_lacks_has_the_meaning_of_its_relatives() -> None:
    known = languages.Table({"generado": "generated", "general": "general", "generar": "generate"})
    assert "generate" in known.meanings("generaremos")
    assert known.meanings("generaremos", only_exact=True) == []
    assert known.meanings("gen") == []


def test_identifiers_stay() -> None:
    asked = Question("¿dónde se llama a `guardar_archivo` y a parseArchivo?").asked
    assert asked["guardar"] == ["guardar"]
    assert asked["archivo"] == ["archivo"]
    assert Question("¿cómo funciona el archivo?").asked["archivo"] == ["file"]


def test_words_that_the_tree_speaks_stay_too() -> None:
    spanish = Question("¿cómo se guarda el archivo?", lambda word: {"archivo": 40, "file": 20}.get(word, 0))
    assert spanish.terms["archivo"] == 1.0
    assert "archivo" not in Question("¿cómo se guarda el archivo?").terms


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("¿Dónde se comprueba la contraseña del usuario?", "src/auth.py"),
        ("donde se lee la configuracion del servidor", "src/settings.py"),
        ("¿cómo se abre otra vez la conexión?", "src/network.go"),
        ("onde é lida a configuração do servidor?", "src/settings.py"),
        ("où vérifie-t-on le mot de passe de l'utilisateur ?", "src/auth.py"),
        ("Wo wird das Passwort des Benutzers geprüft?", "src/auth.py"),
        ("dove viene letta la configurazione del server?", "src/settings.py"),
        ("где проверяется пароль пользователя?", "src/auth.py"),
        ("用户的密码在哪里检查", "src/auth.py"),
        ("サーバーの設定はどこで読み込まれますか", "src/settings.py"),
        ("¿qué hace `evict_oldest`?", "src/cache.py"),
    ],
)
def test_a_question_finds_english_code(project: Repo, question: str, path: str) -> None:
    found = find(Index(project.path), question)
    assert found.passages[0].path.decode() == path


def test_translated_words_are_not_missing(project: Repo) -> None:
    found = find(Index(project.path), "¿dónde se comprueba la contraseña de la cebra?")
    assert "contraseña" not in found.lacking + found.unknown
    assert found.unknown == ["cebra"]
    assert not found.weak
    assert missing("¿dónde está la contraseña?", [(found.passages[0], "password")]) == (
        "no passage is close enough to the question"
    )


def test_a_name_is_not_translated_by_guess() -> None:
    question = Question("¿cuál es la capital de Francia?")
    assert question.asked["francia"] == ["francia"]
    assert question.proper == {"francia"}
    assert Question("Wo wird die Datei gelesen?").proper == frozenset()  # German writes every noun so


def test_missing_words_are_said_as_they_were_written() -> None:
    assert missing("what is the capital of France?", []) == "no passage mentions capital, France"
    assert missing("what does this do", []) == "the question names nothing to look for"


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_are_small_and_of_permissive_origin(language: str) -> None:
    path = languages.TABLES / f"{language}.tsv"
    assert path.stat().st_size < LARGEST
    head = [line for line in path.read_text("utf-8").split("\n") if line.startswith("# ")]
    assert head[0].startswith(f"# {language} {len(languages.table(language))} words")
    stated = re.search(r"licences of those: ([^;]+);", head[1])
    assert stated and all(PERMISSIVE.fullmatch(one) for one in stated[1].split(", "))
    known = {f"{package.name}={package.version}" for package in listed(SOURCES)}
    assert set(head[2].split()) - {"#"} <= known


def test_listed_packages_are_permissive() -> None:
    assert {one.licence for one in listed(SOURCES) if not PERMISSIVE.fullmatch(one.licence)} == set()


def test_an_unknown_language_has_an_empty_table() -> None:
    assert len(languages.table("xx")) == 0
    assert languages.stop_words("xx") == frozenset()


# The script that makes the tables


def test_catalogs_are_read() -> None:
    text = (
        'msgid ""\nmsgstr "Language: es"\n\n#, fuzzy\nmsgid "Dog"\nmsgstr "Gato"\n\n'
        '#~ msgid "Old"\n#~ msgstr "Viejo"\n\n'
        'msgctxt "menu"\nmsgid "Open "\n"file"\nmsgstr "Abrir "\n"archivo"\n\n'
        'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d archivo"\nmsgstr[1] "%d archivos"\n'
    )
    assert list(read_po(text)) == [("Open file", "Abrir archivo"), ("%d file", "%d archivo")]
    assert plain("Open %(name)s <b>&File</b>").split() == ["Open", "File"]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("django/conf/locale/es/LC_MESSAGES/django.mo", "es"),
        ("x/locale/pt_BR/LC_MESSAGES/x.po", "pt"),
        ("postgresql/src/psql/po/zh_CN.po", "zh"),
        ("cups/locale/cups_ja.po", "ja"),
        ("x/locale/zh_TW/LC_MESSAGES/x.po", None),
        ("x/locale/zh_Hant/LC_MESSAGES/x.po", None),
        ("x/locale/nl/LC_MESSAGES/x.po", None),
        ("x/es/module.py", None),
    ],
)
def test_the_language_of_a_catalog(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_words_are_aligned() -> None:
    found = align([(["abrir", "archivo"], ["open", "file"]), (["archivo"], ["file"]), (["abrir"], ["open"])] * 3)
    assert {(one.word, one.english) for one in found if one.probability > 0.8} == {
        ("abrir", "open"),
        ("archivo", "file"),
    }
    chosen = table("es", found)
    assert chosen == {"abrir": ["open"], "archivo": ["file"]}
    assert written("es", chosen, [], 3).endswith("\nabrir\topen\narchivo\tfile\n")
    assert distinct(found, 2.0) == []


def test_the_head_of_a_table_is_no_word(tmp_path: Path) -> None:
    assert not any(word.startswith("#") for word in languages.table("es")._words)
