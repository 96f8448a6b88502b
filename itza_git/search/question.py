"""What a question asks for, read from its words alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from itza_git import words

# Words that say how is asked, not what about. English, and the Spanish of the first user.
_STOP = """
a about all also an and any are as at be been before being between both but by can code could did do does doing done
each find for from had has have how i if implementation implemented in into is it its itself just like made make me
mechanism my of on one or other our out over please same should show so some such take takes tell than that the their
them then there these they this those through to under up used uses using very want was way we were what when where
whether which while who why will with within without work works working would you your explain defined definition al
algo como con cual cuál cuando cuándo cómo de del dónde donde el ella en entre es esa ese eso esta este está esto
funciona hace hacer la las lo los más me mi para por porque qué que quién se si sin sobre son su sus tiene un una uno
usa y ya
"""
# Words that say how is asked, not what about. English, and the Spanish of the first user.
STOP_WORDS = frozenset(_STOP.split())

_NAME = re.compile(r"`([^`]+)`|\b(\w*(?:[a-z0-9][A-Z]|_\w|\w_)\w*|\w+(?:(?:\.|::|#|->)\w+)+(?:\(\))?|\w+\(\))")
_DEFINITION = re.compile(
    r"\b(?:where(?:'s| is| are| do we)?\b.*\b(?:defin|declar)|(?:d[oó]nde)\b.*\b(?:defin|declar)|definition of\b)", re.I
)
_MECHANISM = re.compile(
    r"^\W*(?:how (?:is|are|does|do|did|has|have)\b|how \w+ \w+s\b|what happens|c[oó]mo (?:funciona|se))"
    r"|\b(?:implement(?:ed|ation|s)?|internals?|algorithm|under the hood)\b",
    re.IGNORECASE,
)
# Only where the asker wants such files: "how is X tested?" does, "how does the test client work?" does not.
_ABOUT = {
    "tests": r"(?:unit|integration|regression|end-to-end|e2e)[- ]tests?|tests? (?:for|of|that|cases?|suites?|files?)"
    r"|(?:is|are|gets?) \w+ tested|tested\?|which tests?|the tests|pruebas",
    "docs": r"docs|documentation|documented|readme|tutorial|guide|changelog|release notes|installation|install"
    r"|licen[sc]e|contribut(?:e|ing)|how (?:do|can|should) (?:i|you|we)"
    r"|how to (?:use|configure|set|run|build|install|enable|write)"
    r"|gu[ií]a|instal\w+|documentaci[oó]n|c[oó]mo (?:uso|puedo|se usa|configuro)",
    "examples": r"examples?|samples?|demos?|ejemplos?",
}
# A word of an adjacent pair, written together (`rate limit` -> `ratelimit`), finds the identifier `RateLimit`.
PAIR_WEIGHT = 0.5
# A pasted page is searched by its first words: each costs a pass over all passages.
MOST_WORDS = 48


@dataclass(frozen=True)
class Question:
    """A question as the user wrote it."""

    text: str

    @cached_property
    def _words(self) -> list[str]:
        return words.words(self.text)

    @cached_property
    def content_words(self) -> list[str]:
        """The words that say what it is about, each once, in order; all words when nothing else is left."""
        found = list(dict.fromkeys(self._words))
        # A part of a name is not said in passing: `FromRequest` is about "from" too.
        named = {part for name in self.names for part in words.words(name)}
        kept = [word for word in found if word in named or word not in STOP_WORDS]
        return kept[:MOST_WORDS] or found[:MOST_WORDS]

    @cached_property
    def terms(self) -> dict[str, float]:
        """What a lexical search looks up, with weights: content words, compounds, pairs of adjacent words."""
        weights = dict.fromkeys(self.content_words, 1.0)
        split = self._words
        for first, second in pairwise(split):
            if first in weights and second in weights:
                weights.setdefault(first + second, PAIR_WEIGHT)
        for term in words.terms(self.text)[: 2 * MOST_WORDS]:
            if term not in STOP_WORDS and (term not in weights or weights[term] < 1) and term not in split:
                weights[term] = 1.0
        return weights

    @cached_property
    def content(self) -> str:
        """The content words with their repetitions, as the text to embed."""
        kept = set(self.content_words)
        return " ".join(word for word in self._words if word in kept)

    @cached_property
    def names(self) -> list[str]:
        """What looks like code in it: backticked, snake_case, camelCase, dotted or called."""
        return [first or second for first, second in _NAME.findall(self.text)]

    @property
    def asks_definition(self) -> bool:
        """Whether it asks where a name is defined, which a literal search answers."""
        return bool(_DEFINITION.search(self.text))

    @property
    def asks_mechanism(self) -> bool:
        """Whether it asks how something works inside, which the code shows better than what is written about it."""
        return bool(_MECHANISM.search(self.text))

    @property
    def literal(self) -> str | None:
        """The literal search that answers it better; None unless it asks where a name is defined."""
        if not self.asks_definition or not self.names:
            return None
        name = self.names[0].removesuffix("()").rpartition(".")[2].rpartition("::")[2]
        return f"git grep -nw -e '{name}'" if name.replace("_", "").isalnum() else None

    def is_about(self, role: str) -> bool:
        """Whether it asks for files of a role: tests, docs or examples."""
        return role in _ABOUT and bool(re.search(rf"\b(?:{_ABOUT[role]})(?!\w)", self.text, re.IGNORECASE))
