"""What a question asks for, read from its words alone."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from itza_git import words
from itza_git.search import languages
from itza_git.search.forms import forms

# Words that say how is asked, not what about. English, and the Spanish of the first user.
_STOP = """
a about all also an and any anything are as at be been before being between both but by can code could defined
definition did do does doing done each ever explain find for from had happen happens has have how i if implementation
implemented in into is it its itself just like made make many me mechanism much my of often on one or other our out
over please same should show so some something such take takes tell than that the their them then there these they
thing things this those through to under up used uses using very want was way we were what when where whether which
while who why will with within without work working works would you your al algo como con cual cuál cuando cuándo cómo
de del dónde donde el ella en entre es esa ese eso esta este está esto funciona hace hacer la las lo los más me mi
para por porque qué que quién se si sin sobre son su sus tiene un una uno usa y ya
"""
# Words that say how is asked, not what about. English, and the Spanish of the first user.
STOP_WORDS = frozenset(_STOP.split())

_NAME = re.compile(r"`([^`]+)`|\b(\w*(?:[a-z0-9][A-Z]|_\w|\w_)\w*|\w+(?:(?:\.|::|#|->)\w+)+(?:\(\))?|\w+\(\))")
_DEFINITION = re.compile(
    r"\b(?:where(?:'s| is| are| do we)?\b.*\b(?:defin|declar)|(?:d[oó]nde)\b.*\b(?:defin|declar)|definition of\b)"
    r"|\b(?:onde|où|dove|wo)\b.*\b(?:d[eé]fin|d[eé]clar|dichiar|deklar)|\bгде\b.*\b(?:определ|объявл)"  # noqa: RUF001 (Russian)
    r"|哪.*(?:定义|声明)|(?:定义|声明).*哪|どこ.*(?:定義|宣言)",
    re.IGNORECASE,
)
_DEFINING = re.compile("d[eé]fin|d[eé]clar|dichiar|deklar|определ|объявл", re.IGNORECASE)
# Words that begin no sentence, and the language that writes every noun with a capital.
_WITHIN = re.compile(r"(?<=[\w,] )[^\W\d_]\w*")
_CAPITALISING = "de"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
# What a name may be said to be where its definition is asked for.
_KINDS = """
class constant enum field function interface macro method module package struct symbol trait type variable
clase constante función funcion interfaz metodo método modulo módulo tipo
classe fonction função interface méthode klasse funktion methode typ konstante funzione costante
класс функция метод тип
"""
_KINDS_OF_NAMES = frozenset(_KINDS.split())
_MECHANISM = re.compile(
    r"^\W*(?:how (?:is|are|does|do|did|has|have)\b|how \w+ \w+s\b|what happens|c[oó]mo (?:funciona|se)"
    r"|como (?:é|são|funciona)\b|comment (?:est|sont|fonctionne|se|les?|la)\b"
    r"|wie (?:wird|werden|funktioniert|ist|sind)\b"
    r"|come (?:viene|vengono|funziona|si|sono)\b|как\b)"
    r"|\b(?:implement(?:ed|ation|s)?|internals?|algorithm|under the hood)\b"
    r"|如何|怎么|怎样|どのように|どうやって",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"[?？]|^\W*(?:(?:at|by|for|from|in|on|to|with) )?(?:why|where|which|who|what|when)\b"  # noqa: RUF001 (the question mark of Chinese and Japanese)
    r"|^\W*(?:\w+ ){0,2}how (?:is|are|was|were|does|do|did|has|have|can|could|should|to|much|many|long|often)\b",
    re.IGNORECASE,
)
# The asker speaks of what is his own: how it is used, not how it is made.
_USAGE = re.compile(
    r"\b(?:(?-i:I)|my|me|we|our|us|puedo|podemos|debo|quiero|necesito|mi|mis|nuestr[oa]s?|posso|quero|preciso|meus?|minhas?"
    r"|je|mon|mes|nous|ich|meine?[nrms]?|wir|voglio|devo|mi[oae]i?|я|мне|мо[йяеи]|мы)\b|我|したい|するには",
    re.IGNORECASE,
)
# Only where the asker wants such files: "how is X tested?" does, "how does the test client work?" does not.
_ABOUT = {
    # A test framework is asked how it finds test files.
    "tests": r"(?:unit|integration|regression|end-to-end|e2e)[- ]tests?|tests? (?:for|of|that)"
    r"|^(?!how\b).*\btests? (?:cases?|suites?|files?)"
    r"|(?:is|are|gets?) \w+ tested|tested\?|which tests?|the tests|pruebas"
    r"|testes|tests unitaires|[dl]es tests|die tests|тест\w*",
    "news": r"changelog|release notes|(?:what(?:'s| is| has)? )?(?:new|changed) (?:in|since)|(?:last|latest) release"
    r"|upgrad(?:e|ing) to|migrat\w+ (?:from|to)|novedades|notas de la versión",
    "docs": r"docs|documentation|documented|readme|tutorial|guide|installation|install"
    r"|licen[sc]e|contribut(?:e|ing)|how (?:do|can|should) (?:i|you|we)"
    r"|how to (?:use|configure|set|run|build|install|enable|write)"
    r"|gu[ií]a|instal[aeoóé]\w*|documentaci[oó]n|c[oó]mo (?:uso|puedo|se usa|configuro)"
    r"|documentação|dokumentation|documentazione|документац\w+|anleitung|руководств\w+|installazion[ei]|установ(?:к\w+|ить)",
    "examples": r"examples?|samples?|demos?|ejemplos?|exemplos?|exemples?|beispiele?|esempio?|пример\w*",
}
# A word of an adjacent pair, written together (`rate limit` -> `ratelimit`), finds the identifier `RateLimit`.
PAIR_WEIGHT = 0.5
# Another word for one that is asked weighs so much; of several each that divided by the root of their number.
SYNONYM_WEIGHT = 0.5
# What a word of another language weighs at least, beside its English words, where the tree has it at all.
TRANSLATED_WEIGHT = 0.2
_SHARES = {1: (1.0,), 2: (2 / 3, 1 / 3)}
# A pasted page is searched by its first words: each costs a pass over all passages.
MOST_WORDS = 48


@dataclass(frozen=True)
class Question:
    """A question as the user wrote it. holding: in how many passages the tree has a word, where there is a tree."""

    text: str
    holding: Callable[[str], int] = field(default=lambda word: 0, compare=False, repr=False)

    @cached_property
    def _words(self) -> list[str]:
        return words.words(self.text)

    @cached_property
    def language(self) -> str:
        """The language it is asked in; English when in doubt."""
        return languages.detect(self.text, words.words(_NAME.sub(" ", self.text)))

    @cached_property
    def _named(self) -> set[str]:
        return {part for name in self.names for part in words.words(name)}

    @cached_property
    def _asked_words(self) -> list[str]:
        found = list(dict.fromkeys(self._words))
        if self.asks_definition:
            found = [word for word in found if word in self._named or not _DEFINING.match(word)] or found
        # A part of a name is not said in passing: `FromRequest` is about "from" too.
        stop = STOP_WORDS if self.language == languages.ENGLISH else STOP_WORDS | languages.stop_words(self.language)
        kept = [word for word in found if word in self._named or word not in stop]
        return kept[:MOST_WORDS] or found[:MOST_WORDS]

    @cached_property
    def asked(self) -> dict[str, list[str]]:
        """The words that say what it is about, in order, each with its English words, itself when it is English.

        All words when nothing else is left.
        """
        if self.language == languages.ENGLISH:
            return {word: [word] for word in self._asked_words}
        known = languages.table(self.language)
        stays = {word for word in self._named if word.isascii()}
        found = {
            word: [word] if word in stays else known.meanings(word, only_exact=self._is_itself(word)) or [word]
            for word in self._asked_words
        }
        said = {word: english for word, english in found.items() if self._is_said(word, english)}
        return said or found

    def _is_itself(self, word: str) -> bool:
        """Whether only the table's own entry translates it: a word of the tree, a name."""
        return self.holding(word) > 0 or word in self.proper

    @cached_property
    def proper(self) -> frozenset[str]:
        """The words that are names of something, `Francia`: with a capital within a sentence, unless it is German."""
        if self.language == _CAPITALISING:
            return frozenset()
        names = [name for name in _WITHIN.findall(self.text) if name[0].isupper()]
        return frozenset(word for name in names for word in words.words(name))

    @cached_property
    def says_something(self) -> bool:
        """Whether any word says what it is about: `what does this do` has none."""
        stop = STOP_WORDS | languages.stop_words(self.language)
        return any(word in self._named or word not in stop for word in self.asked)

    def as_written(self, word: str) -> str:
        """A word of it, with the capitals that it was written with."""
        return next((name for name in words.identifiers(self.text) if words.split(name) == [word]), word)

    def _is_said(self, word: str, english: list[str]) -> bool:
        """Whether it is a word. Two letters of a script without spaces are one when the table or the tree has them."""
        if not languages.is_unspaced(word) or self.holding(word) > 0:
            return True
        return english != [word] and not languages.is_grammar(word)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The words to look up. Two English words for one share its weight, two thirds for the likelier."""
        weights: dict[str, float] = {}
        for word, english in self.asked.items():
            for one, share in zip(english, _SHARES[len(english)], strict=True):
                weights[one] = max(weights.get(one, 0.0), share)
            if word not in english and self.holding(word):
                weights.setdefault(word, self._own_weight(word, english))
        return weights

    def _own_weight(self, word: str, english: list[str]) -> float:
        """What a translated word itself weighs: as much as one that is not, where the tree speaks its language."""
        most = max(map(self.holding, english))
        return min(1.0, max(TRANSLATED_WEIGHT, self.holding(word) / max(most, 1)))

    @cached_property
    def content_words(self) -> list[str]:
        """The words that say what it is about, each once, in order, in English as far as there are tables."""
        return list(dict.fromkeys(one for english in self.asked.values() for one in english))

    @cached_property
    def terms(self) -> dict[str, float]:
        """What a lexical search looks up, with weights: content words, compounds, pairs of adjacent words."""
        weights = dict(self._weights)
        split = self._words
        for first, second in pairwise(split):
            if first in weights and second in weights:
                weights.setdefault(first + second, PAIR_WEIGHT)
        for term in words.terms(self.text)[: 2 * MOST_WORDS]:
            if term not in STOP_WORDS and (term not in weights or weights[term] < 1) and term not in split:
                weights[term] = 1.0
        return {**self._synonym_weights, **weights}

    @cached_property
    def _synonym_weights(self) -> dict[str, float]:
        """The synonyms of all words."""
        found = list(self.synonyms.values())
        return {other: SYNONYM_WEIGHT / math.sqrt(len(others)) for others in found for other in others}

    @cached_property
    def synonyms(self) -> dict[str, list[str]]:
        """What else the code may call a word. Key words are its own, and a translation has other words already."""
        if not self.is_sentence or self.language != languages.ENGLISH:
            return {}
        return {word: others for word in self.content_words if (others := languages.synonyms(word))}

    @cached_property
    def forms(self) -> dict[str, list[str]]:
        """Other forms of the content words, which a lexical search looks up too."""
        return {word: forms(word) for word in self.content_words}

    @cached_property
    def content(self) -> str:
        """The content words with their repetitions, as the text to embed."""
        return " ".join(one for word in self._words for one in self.asked.get(word, ()))

    @cached_property
    def names(self) -> list[str]:
        """What looks like code in it: backticked, snake_case, camelCase, dotted or called."""
        return [first or second for first, second in _NAME.findall(self.text)]

    @property
    def is_sentence(self) -> bool:
        """Whether it is a question, in words that describe; else it is key words or names, which stand in the code."""
        return self.language != languages.ENGLISH or bool(_SENTENCE.search(self.text))

    @property
    def asks_definition(self) -> bool:
        """Whether it asks where a name is defined, which a literal search answers."""
        return bool(_DEFINITION.search(self.text))

    @property
    def asks_mechanism(self) -> bool:
        """Whether it asks how something works inside, which the code shows better than what is written about it."""
        return bool(_MECHANISM.search(self.text))

    @property
    def asks_usage(self) -> bool:
        """Whether it asks what the asker can do, which documents and examples tell."""
        return bool(_USAGE.search(self.text))

    def literal(self, texts: Iterable[str], rev: str, untracked: bool) -> str | None:
        """The `git grep` over a revision that finds as well where a name is defined.

        None unless that is asked, and one of the texts that were found has the name to the letter.
        """
        name = self.defined_name
        if not name.replace("_", "").isalnum() or not any(re.search(rf"\b{name}\b", text) for text in texts):
            return None
        where = "" if rev == "HEAD" else f" {shlex.quote(rev)}"
        return f"git grep -nw {'--untracked ' if untracked else ''}-e '{name}'{where}"

    @cached_property
    def defined_name(self) -> str:
        """The name whose definition it asks for, without what qualifies it; empty when it asks for none."""
        if not self.asks_definition:
            return ""
        if self.names:
            return self.names[0].removesuffix("()").rpartition(".")[2].rpartition("::")[2]
        # `where is the class Corpus defined?`: a plain word is a name when nothing else is said.
        plain = words.identifiers(_UNSPACED.sub(" ", self.text))
        stop = STOP_WORDS | _KINDS_OF_NAMES | languages.stop_words(self.language)
        left = [name for name in plain if name.casefold() not in stop and not _DEFINING.match(name)]
        return left[0] if len(left) == 1 else ""

    def is_about(self, role: str) -> bool:
        """Whether it asks for files of a role: tests, docs or examples."""
        return role in _ABOUT and bool(re.search(rf"\b(?:{_ABOUT[role]})(?!\w)", self.text, re.IGNORECASE))
