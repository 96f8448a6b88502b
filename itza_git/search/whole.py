# ruff: noqa: RUF001 - Russian letters look like Latin ones
"""Questions about a whole repository: no few passages answer "explain this codebase".

Detection is narrow. A question counts only when all of it is one of these forms; one that names anything else is about
that, and retrieval answers it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# What a repository is called, by language; what stands before it; and the forms of whole questions, `{it}` for both.
_FORMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        r"repository|repo|code ?base|project|code|source code|program|application|app|library|package|tool|software",
        r"this|the|your|this whole|the whole|this entire|the entire|the structure of this|the structure of the"
        r"|the architecture of this|the architecture of the",
        (
            r"(?:explain|describe|summari[sz]e|introduce|tell (?:me|us) about|walk (?:me|us) through|show (?:me|us))"
            r"(?: to)?(?: me| us)?(?: about)? {it}"
            r"(?: to (?:me|us|(?:a|the) (?:new(?:comer| developer| contributor)?|beginner|developer)))?",
            r"(?:(?:give|show) (?:me|us) |i (?:need|want) )?(?:an? |the )?(?:short |brief |quick |high[- ]level )?"
            r"(?:overview|summary|tour|introduction|big picture)(?: (?:of|to) {it})?",
            r"what(?: does|'s| is) {it}(?: do| about| for| good for)?",
            r"what(?: does|'s| is) this(?: do| about| for| all about)?",
            r"what (?:design |architectural |architecture )?(?:patterns|technologies|languages|frameworks)"
            r" (?:are|is) (?:there|used)(?: (?:in|by) {it}| here)?",
            r"what (?:design |architectural )?(?:patterns|technologies|languages|frameworks) does {it} use",
            r"how (?:is|are) {it} (?:organi[sz]ed|structured|laid out|built|built up|designed)",
            r"how does {it} work",
            r"(?:what(?:'s| is) )?the (?:overall |general )?(?:architecture|structure|design)(?: of {it})?",
            r"where (?:should|do|can|could) (?:i|we|one) (?:start|begin)(?: reading| with)?(?: {it})?",
        ),
    ),
    (
        r"repositorio|repo|proyecto|codigo|codigo fuente|programa|aplicacion|biblioteca|libreria|paquete"
        r"|base de codigo|herramienta",
        r"este|esta|el|la|todo el|toda la|todo este|toda esta",
        (
            r"(?:me )?(?:explica|explicame|explique|describe|describeme|resume|resumeme|cuentame|hablame)"
            r"(?: de| sobre| como funciona)? {it}",
            r"(?:puedes|podrias) (?:explicar|explicarme|describir|resumir)(?:me)? {it}",
            r"(?:que|para que) (?:hace|es|sirve) {it}",
            r"de que (?:va|trata|se trata) {it}",
            r"que (?:patrones|tecnologias|lenguajes|frameworks)(?: de diseno| de arquitectura)?"
            r" (?:se usan|usa|se utilizan|utiliza|hay)(?: (?:en )?{it}| aqui)?",
            r"(?:dame |quiero |necesito )?(?:una? )?(?:breve )?(?:vision general|vista general|resumen|panorama"
            r"|introduccion)(?: (?:de|a) {it}| del (?:proyecto|repositorio|codigo))?",
            r"como (?:esta|se) (?:organizad[oa]|estructurad[oa]|organiza|estructura|disenad[oa]) {it}",
            r"como funciona {it}",
            r"(?:cual es )?la (?:arquitectura|estructura)(?: de {it}| del (?:proyecto|repositorio|codigo))?",
            r"por donde (?:empiezo|empezar|comienzo)(?: a leer)?(?: {it})?",
        ),
    ),
    (
        r"repositorio|repo|projeto|codigo|programa|aplicacao|aplicativo|biblioteca|pacote|base de codigo|ferramenta",
        r"este|esta|o|a|esse|essa|todo o|toda a",
        (
            r"(?:me )?(?:explique|explica|descreva|descreve|resuma|resume|fale sobre) {it}",
            r"(?:o que|para que)(?: e que)? (?:faz|e|serve) {it}",
            r"(?:que|quais) (?:padroes|tecnologias|linguagens)(?: de projeto)? (?:sao )?(?:usad[oa]s|usa|utilizad[oa]s)"
            r"(?: (?:em )?(?:{it}|neste projeto|nesse projeto)| aqui)?",
            r"(?:de-me |me de |quero )?(?:uma? )?(?:visao geral|resumo|panorama)(?: (?:do|deste|desse) \w+)?",
            r"como (?:esta|e) (?:organizad[oa]|estruturad[oa]) {it}",
            r"(?:qual e )?a (?:arquitetura|estrutura)(?: (?:do|deste|desse) (?:projeto|repositorio|codigo))?",
            r"por onde (?:comeco|comecar)",
        ),
    ),
    (
        r"depot|repo|projet|code|code source|programme|application|bibliotheque|base de code|logiciel|outil",
        r"ce|cet|cette|le|la|l'|tout ce|tout le|toute la",
        (
            r"(?:explique|expliquez|decris|decrivez|resume|resumez|presente)(?:-moi)? {it}",
            r"(?:que|qu'est-ce que|a quoi) (?:fait|sert|c'est que) {it}",
            r"quels? (?:motifs|patrons|design patterns|langages|technologies)(?: de conception)? sont utilisee?s"
            r"(?: (?:dans|par) {it}| ici)?",
            r"(?:donnez?-moi )?(?:un apercu|une vue d'ensemble|un resume)"
            r"(?: (?:de {it}|du projet|du depot|du code))?",
            r"comment (?:est|sont) (?:organisee?|structuree?) {it}",
            r"(?:quelle est )?(?:l'architecture|la structure)(?: (?:de {it}|du projet|du depot|du code))?",
            r"par ou commencer",
        ),
    ),
    (
        r"repository|repo|projekt|programm|code|quellcode|codebasis|anwendung|bibliothek|paket|software|werkzeug",
        r"dieses|diese|diesen|das|die|den|das ganze|die ganze|den ganzen",
        (
            r"(?:erklar|erklare|beschreib|beschreibe|fasse)(?: mir| uns)? {it}(?: zusammen)?",
            r"was (?:macht|ist|tut) {it}",
            r"(?:worum geht es|wozu dient|wozu ist)(?: in| bei)?(?: diesem \w+| {it})?",
            r"welche (?:entwurfs)?(?:muster|patterns|sprachen|technologien) (?:werden|sind)(?: hier| in diesem \w+)?"
            r" (?:verwendet|benutzt|genutzt|eingesetzt)",
            r"(?:gib mir |gib uns )?(?:einen |ein )?(?:uberblick|ubersicht|zusammenfassung)(?: uber {it})?",
            r"wie ist {it} (?:aufgebaut|strukturiert|organisiert|gegliedert)",
            r"wie (?:funktioniert) {it}",
            r"wo (?:fange ich an|soll ich anfangen|beginne ich)(?: zu lesen)?",
        ),
    ),
    (
        r"repository|repo|progetto|codice|programma|applicazione|libreria|pacchetto|software|strumento",
        r"questo|questa|il|la|l'|tutto il|tutta la",
        (
            r"(?:spiega|spiegami|descrivi|descrivimi|riassumi|presenta) {it}",
            r"(?:che )?cosa (?:fa|e) {it}",
            r"a (?:che )?cosa serve {it}",
            r"(?:quali|che) (?:pattern|schemi|modelli|tecnologie|linguaggi) (?:vengono|sono|si) (?:usati|usate|usano"
            r"|utilizzati|utilizzate)(?: (?:in )?{it}| qui)?",
            r"(?:dammi )?(?:una |un )?(?:panoramica|riassunto|visione d'insieme)"
            r"(?: (?:di {it}|del progetto|del codice))?",
            r"com(?:e |')e (?:organizzat[oa]|strutturat[oa]) {it}",
            r"da dove (?:comincio|inizio|cominciare|iniziare)",
        ),
    ),
    (
        r"репозитории|проект|код|программа|программу|приложение|библиотека|библиотеку|кодовая база|кодовую базу",
        r"этот|эта|эту|это|весь|всю|весь этот",
        (
            r"(?:объясни|объясните|опиши|опишите|расскажи про|расскажи о|расскажите про)(?: мне)? {it}",
            r"что (?:делает|такое|представляет собои) {it}",
            r"(?:о чем|для чего|зачем)(?: нужен| нужна)? {it}",
            r"какие (?:паттерны|шаблоны|технологии|языки)(?: проектирования)? (?:здесь )?(?:используются|применяются)"
            r"(?: здесь| в этом проекте)?",
            r"(?:даи|даите|сделаи)(?: мне)? (?:краткии )?обзор(?: (?:проекта|репозитория|кода))?",
            r"как (?:устроен|устроена|организован|организована|работает) {it}",
            r"(?:какая |какова )?архитектура(?: (?:этого )?проекта)?",
            r"с чего начать",
        ),
    ),
    (
        "仓库|项目|工程|代码库|代码|程序|软件|源码|库",
        "这个|该|本|整个|这份|此",
        (
            "(?:请)?(?:给我|帮我)?(?:解释|介绍|说明|概述|总结|讲解|描述)(?:一下|下)?{it}(?:的(?:架构|结构|代码))?",
            "{it}(?:主要)?(?:是)?(?:做什么|干什么|用来做什么|有什么用|是什么|什么)(?:的|用的)?",
            "{it}(?:中|里|里面)?(?:使用|用|采用)了?(?:哪些|什么)(?:设计)?(?:模式|技术|语言|框架)",
            "(?:使用|用|采用)了?(?:哪些|什么)(?:设计)?(?:模式|技术|框架)",
            "{it}(?:是)?(?:如何|怎么|怎样)(?:组织|构成|工作|设计)的?",
            "(?:请)?(?:给我)?(?:一个)?(?:{it}的?)?(?:概览|概述|总览|架构|整体架构)(?:是什么|是怎样的)?",
        ),
    ),
    (
        "リホシトリ|フロシェクト|コートヘース|コート|フロクラム|アフリ|ライフラリ|ソフトウェア|ツール",
        "この|本|全体の|この全体の|",
        (
            "{it}(?:全体)?(?:を|について|の(?:概要|構成|構造|設計)を?)(?:簡単に)?(?:説明|解説|要約|紹介|教え)"
            "(?:して|て)?(?:くたさい|ほしい|下さい)?",
            "{it}は(?:何|なに)(?:を(?:する|します|している)?(?:もの)?|てす|のため)?(?:の)?(?:てすか|ますか|か)?",
            "(?:{it}(?:て|に)は?)?(?:とんな|とのような|何の)(?:設計|テサイン)?(?:ハターン|技術|言語)"
            "(?:か|を)(?:使われ|使用され|使っ|使用し)て(?:いますか|いる|いるか)?",
            "(?:{it}の)?(?:全体)?概要(?:を)?(?:教えて|説明して)?(?:くたさい)?",
            "{it}は(?:とう|とのように)(?:構成|設計|作ら|動い|なっ)(?:され|れ)?て(?:いますか|いる|いるか)?",
        ),
    ),
)
_PLEASE = re.compile(
    r"^(?:please|could you(?: please)?|can you(?: please)?|por favor|s'il (?:te|vous) plait|bitte|per favore|"
    r"пожалуиста|请|hey|hi|hola)[,\s]*|[,\s]*(?:please|por favor|bitte|per favore|пожалуиста|briefly|in short)$"
)
_LONGEST = 120
# What stands for the repository's name in a form that is compared.
_IT = "\x00"


def asks_whole(question: str, names: Iterable[str] = ()) -> bool:
    """Whether a question is about the whole repository, in any of the languages that are understood.

    names are those that the repository goes by: "what does redis do?" is "what does this project do?" there.
    """
    if len(question) > _LONGEST:
        return False
    text = _plain(question)
    before = ""
    while before != text:
        before, text = text, _PLEASE.sub("", text).strip()
    return any(form.fullmatch(it.sub(_IT, text)) for it, forms in _patterns(_named(names)) for form in forms)


def _plain(text: str) -> str:
    text = re.sub(r"[¿?¡!。？！.\"«»„“”…]+", " ", _folded(text.casefold().replace("\u2019", "'")))
    return " ".join(text.split())


def _named(names: Iterable[str]) -> str:
    """A pattern of the names, whatever stands between their words; empty without any."""
    parts = {"[-_ ]".join(map(re.escape, re.split(r"[-_ ]+", _plain(name).strip("-_ ")))) for name in names}
    found = "|".join(sorted(parts - {""}, key=len, reverse=True))
    return f"(?<![a-z0-9_-])(?:{found})(?![a-z0-9_-])" if found else ""


def _folded(text: str) -> str:
    """The text without accents and voicing marks, as the forms are written."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


@lru_cache(8)
def _patterns(named: str) -> list[tuple[re.Pattern[str], list[re.Pattern[str]]]]:
    """Of each language what a repository is called, and the forms around it. Compiled at the first question.

    named is a pattern of the names that this repository goes by.
    """
    found = []
    for nouns, determiners, forms in _FORMS:
        longest = "|".join(sorted(nouns.split("|"), key=len, reverse=True))
        is_spaced = longest.isascii() or not re.search("[\u3040-\u9fff]", longest)
        it = rf"\b(?:{determiners})\s*\b(?:{longest})\b" if is_spaced else f"(?:{determiners})(?:{longest})"
        if named:
            it = rf"(?:\b(?:{determiners})\s*)?{named}\s*(?:{longest})|{named}|{it}"
        found.append((re.compile(it), [re.compile(form.replace("{it}", _IT)) for form in forms]))
    return found
