"""Whether a question asks for reasons or for history, in each language that questions come in, and what gives some."""

from __future__ import annotations

import re
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itza_git.search.corpus import Corpus
from itza_git.search.lexical import bm25f, greatest

# By language: en, es, pt, fr, de, it, ru, zh and ja.
_REASONS = (
    r"\bwhy\b|\bhow come\b|\bsince when\b|\brationale\b|\bmotivat(?:ion|ed|es?)\b|\b(?:what|which)\b.*\breasons?\b",
    r"\breason(?:s|ing)? (?:for|why|behind|that|to)\b|\bwhat (?:led|prompted) to\b|\bwhich commit\b",
    r"\bhistory (?:of|behind) (?:this|that|the)\b|\bwho (?:added|introduced|removed|changed|wrote)\b",
    r"\bwhen (?:was|were|did)\b.*\b(?:add|introduc|remov|chang|delet|drop|deprecat|replac|renam|becom?)",
    r"\bpor\s?qu[eéê]\b|^\W*porqu[eéê]\b|\braz[oó]n(?:es)? (?:de|por|para|detr[aá]s)|\bmotivo\b|\bdesde cu[aá]ndo\b",
    r"\bcu[aá]l (?:es|fue) la raz[oó]n|\bcu[aá]ndo se (?:a[ñn]adi|agreg|introdu|cambi|elimin|quit|renombr|dej)",
    r"\bqual (?:é|e|foi) a raz[aã]o|\braz[aã]o (?:de|para|pela)\b|\bdesde quando\b",
    r"\bquando foi (?:adicionad|introduzid|removid|alterad)",
    r"\bpourquoi\b|\bpour quelles? raisons?\b|\braisons? (?:de|pour)\b|\braisons? d'|\bdepuis quand\b",
    r"\bquand .*\b(?:ajout|introdui|supprim|chang|retir)",
    r"\bwarum\b|\bwieso\b|\bweshalb\b|\bweswegen\b|\baus welche[mn] gr[uü]nde?n?\b|\bgrund (?:für|warum|dafür)\b",
    r"\bseit wann\b|\bwann wurden?\b.*\b(?:hinzugef|eingef|entfernt|ge[aä]ndert|ersetzt)",
    r"\bperch[eéè]\b|\bcome mai\b|\bper quale (?:motivo|ragione)\b|\bragion[ei] (?:per|di|del)\b|\bda quando\b",
    r"\bquando (?:è|e) stat[oa] (?:aggiunt|introdott|rimoss|cambiat)",
    r"\bпочему\b|\bзачем\b|\bотчего\b|\bпричин\w*|\bс каких пор\b",  # noqa: RUF001 (Russian)
    r"\bкогда .*\b(?:добав|появ|удал|измен)",  # noqa: RUF001 (Russian)
    r"为什么|為什麼|为何|為何|为啥|原因|何时|什么时候",
    r"なぜ|何故|どうして|理由|いつから|経緯",
)


# Who says why, says it with one of these.
_GIVING = "avoid because ensure instead necessary otherwise prevent rather reason workaround"
# The same for every question.
_given: WeakKeyDictionary[Corpus, NDArray[np.floating]] = WeakKeyDictionary()


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(_REASONS), re.IGNORECASE | re.DOTALL)


def asks_reason(text: str) -> bool:
    """Whether a question is about why something is as it is, or since when: what commit messages tell."""
    return bool(_pattern().search(text))


def giving_reasons(corpus: Corpus) -> NDArray[np.floating]:
    """How much each passage has of the words that give reasons: their BM25, 1 for the one with most."""
    found = _given.get(corpus)
    if found is None:
        score = bm25f(corpus, dict.fromkeys(_GIVING.split(), 1.0))
        found = _given[corpus] = score / greatest(score)
    return found
