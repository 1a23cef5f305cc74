"""How much an objective seems to ask for, by its whole words: "standard" has no "and" in it."""

from __future__ import annotations

import re

from priming.config.params.loop import CONTEXT, ContextParams
from priming.looping import Complexity

PARTS = ("and", "then", "also", "plus")
"""Words that say that there is more than one thing to do."""
PLACES = ("file", "files", "module", "modules", "class", "classes", "function", "functions")
"""Words that name parts of a program."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def complexity(objective: str, params: ContextParams = CONTEXT) -> Complexity:
    """The level of an objective, and what says so (Arc).

    More than 40 words, or several parts that name places in a program, are complex; more than 20 words, or several
    parts, moderate; anything else is simple.

    >>> complexity("Standardise the plush handler")
    Complexity(level='simple', signals=())
    >>> complexity("Fix the parser and then the printer")
    Complexity(level='moderate', signals=('and', 'then'))
    """
    words = [one.casefold() for one in _WORD.findall(objective)]
    parts = [one for one in PARTS if one in words]
    places = [one for one in PLACES if one in words]
    signals = [*parts, *places]
    if len(words) > params.many_words:
        signals.append(f"{len(words)} words")
    if len(words) > params.most_words or (parts and places):
        return Complexity("complex", tuple(signals))
    if len(words) > params.many_words or parts:
        return Complexity("moderate", tuple(signals))
    return Complexity("simple", tuple(signals))
