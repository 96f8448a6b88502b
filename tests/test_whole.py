# ruff: noqa: RUF001 - scripts whose signs look like those of others
"""Questions about a whole repository are told from those about something in it."""

from __future__ import annotations

import pytest

from itza_git.search.whole import asks_whole

WHOLE = """
explain this codebase
Explain the project to a new developer.
What does this project do?
what is this repository about?
what's this?
what patterns are used?
What design patterns are used in this codebase?
give me an overview
Give me a high-level overview of the project
overview
how is this repo organized?
How is the code structured?
what is the architecture of this project?
where should I start reading?
Could you please describe this repository?
walk me through the code base
summarize this repo
explícame este proyecto
¿Qué hace este proyecto?
¿qué hace este repositorio?
¿De qué va este proyecto?
¿Qué patrones se usan?
¿qué patrones de diseño se usan en este proyecto?
Dame una visión general
dame un resumen del proyecto
¿Cómo está organizado este repositorio?
explica el código
¿cuál es la arquitectura del proyecto?
¿por dónde empiezo?
explique este projeto
o que faz este projeto?
quais padrões são usados?
visão geral do projeto
explique-moi ce projet
que fait ce projet ?
à quoi sert ce dépôt ?
donne-moi une vue d'ensemble
quels motifs de conception sont utilisés ?
Erkläre dieses Projekt
Was macht dieses Programm?
Welche Entwurfsmuster werden hier verwendet?
Gib mir einen Überblick über das Projekt
wie ist das Projekt aufgebaut?
spiegami questo progetto
cosa fa questo progetto?
quali pattern sono usati?
dammi una panoramica del progetto
объясни этот проект
Что делает этот проект?
какие паттерны здесь используются?
дай обзор проекта
как устроен этот проект?
解释这个项目
这个项目是做什么的？
介绍一下这个代码库
使用了哪些设计模式？
このプロジェクトを説明してください
このリポジトリは何をするものですか？
このコードベースの概要を教えて
どんなデザインパターンが使われていますか？
"""

PART = """
how does the cache work?
explain the retry logic in this codebase
explain this function
what does this function do?
what does the project file contain?
what does parse_header do?
what is the project id used for?
where is the project defined?
explain the code of Store.open
how is the code of conduct enforced?
how is this repo cloned?
what patterns does the router match?
what patterns are used to match paths?
give me an overview of the cache
overview of indexing
where should I add a new command?
how are projects stored?
describe the architecture of the cache
what languages are supported by the tokenizer?
¿qué hace la función main?
¿cómo funciona la caché en este proyecto?
¿qué patrones de ruta se usan?
explica el código de barras
que fait la fonction main ?
Was macht die Funktion main?
cosa fa la funzione main?
что делает функция main?
这个函数是做什么的？
この関数を説明してください
why is this project slow?
project
code
this
"""


@pytest.mark.parametrize("question", [line for line in WHOLE.splitlines() if line])
def test_a_question_about_the_whole_repository_is_one(question: str) -> None:
    assert asks_whole(question)


@pytest.mark.parametrize("question", [line for line in PART.splitlines() if line])
def test_a_question_about_something_in_it_is_none(question: str) -> None:
    assert not asks_whole(question)


@pytest.mark.parametrize("question", ["", "?", "explain " * 1000 + "this codebase", "explain this codebase" + " " * 90])
def test_what_is_no_question_is_none(question: str) -> None:
    assert asks_whole(question) == (question.strip() == "explain this codebase" and len(question) <= 120)


@pytest.mark.parametrize(
    "question",
    [
        "what does redis do?",
        "What is Redis?",
        "how does redis work?",
        "explain the redis codebase",
        "give me an overview of redis",
        "what is next.js?",
        "what does git itza do?",
        "explain git-itza",
        "¿Qué hace redis?",
        "was macht Redis?",
        "redis是做什么的？",
        "redis项目是做什么的？",
    ],
)
def test_a_repository_may_be_called_by_its_name(question: str) -> None:
    assert asks_whole(question, ["redis", "next.js", "git-itza"])
    assert not asks_whole(question, ["other"])
    assert not asks_whole(question)


@pytest.mark.parametrize(
    "question",
    [
        "what does redis-cli do?",
        "what does the redis cluster do?",
        "how does redis evict keys?",
        "how does redis_connect work?",
        "explain the redis protocol",
        "what is predis?",
        "redis",
        "why is redis slow?",
    ],
)
def test_a_question_about_something_of_that_name_is_none(question: str) -> None:
    assert not asks_whole(question, ["redis"])


def test_nothing_in_a_name_steers_the_detection() -> None:
    for name in ("", ".", "-", ".*", "(", "[a-z]+", "\\"):
        assert not asks_whole("what does anything do?", [name])
        assert asks_whole("what does this project do?", [name])
