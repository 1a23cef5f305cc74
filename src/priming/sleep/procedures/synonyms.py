"""The stems of the words of steps, and which words ask for the same.

Few verbs mean the same whatever their object: "complete" is "fill in" for a form, and "purge" is "clear" for a cache.
A line of the list may therefore name the objects for which it holds. Actions that are near each other and not the
same, such as to publish and to deploy, are in a list of their own, which has the last word over the groups that hold
for any object.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache

from priming.core.arguments.normal_forms import normalized
from priming.core.when import stem
from priming.text.word_lists import read_word_groups, read_words

_CACHED = 1 << 14
NUMBER = re.compile(r"^v?\d+(?:[.,:/x-]\d+)*(?:\.x|%|\+)?$")
CODE = re.compile(r"[\d_./\\@:+&=*#%]|^--?\w")
_SPELLING = re.compile(r"(?<=[a-z]{3})is(?=(?:e|es|ed|er|ing|ation|ations)$)")
_OUR = re.compile(r"(?<=[a-z]{3})our(?=s?$|ed$|ing$)")
ORDERING = frozenset(("before", "after", "until", "while", "during", "when", "if", "once"))
_FOR, _BUT = "@", "-"
"""The marks before the objects of a line of synonyms, and between the sides of a line of distinct actions."""
GOAL = "to"
"""Among the objects of a line: anything that is the goal of both steps."""


@lru_cache(maxsize=_CACHED)
def step_stem(token: str) -> str:
    """The stem of a word of a step; numbers, names and code are as they are, and phrases stay whole.

    >>> step_stem("analysed"), step_stem("v2.1"), step_stem("turn_off")
    ('analys', '2.1', 'turn_off')
    """
    if token[:1].isupper() or NUMBER.match(token) or (CODE.search(token) and "_" not in token):
        return token.casefold().removeprefix("v") if NUMBER.match(token) else token.casefold()
    if "_" in token or token in ORDERING:
        return token
    token = _irregular().get(token, token) if token.isascii() else _plain_letters(token)
    return stem(_SPELLING.sub("iz", _OUR.sub("or", token)))


def _plain_letters(token: str) -> str:
    """A word without its accents."""
    return "".join(letter for letter in normalized("NFKD", token) if not unicodedata.combining(letter))


@cache
def _irregular() -> dict[str, str]:
    """The base of each irregular form."""
    return {form: base for base, *forms in read_word_groups("step_forms") for form in forms}


def senses_of(root: str) -> frozenset[int]:
    """The groups of synonyms that a stem is in."""
    return _senses().get(root, frozenset())


def mean_the_same_for(left: str, right: str, ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether two stems ask for the same with the objects that are among the stems of either step.

    >>> mean_the_same_for("purg", "clear", {"cach"}, {"cach"}), mean_the_same_for("purg", "clear", {"log"}, {"log"})
    (True, False)
    """
    bound = (_objects().get(sense, frozenset()) for sense in senses_of(left) & senses_of(right))
    return any(not (objects.isdisjoint(ours) or objects.isdisjoint(theirs)) for objects in bound)


def ask_for_the_same(left: str, right: str) -> bool:
    """Whether two stems ask for the same, whatever the object.

    >>> ask_for_the_same("halt", "stop"), ask_for_the_same("publish", "deploi")
    (True, False)
    """
    shared = senses_of(left) & senses_of(right)
    is_exact = (left in irreversible_verbs()) != (right in irreversible_verbs())
    return (
        not is_exact and any(sense not in _objects() for sense in shared) and not _are_distinct(left, right)
    )


@cache
def _lines() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The words of each line of synonyms, and the stems of the objects for which alone it holds."""
    lines = []
    for words in [*read_word_groups("step_synonyms"), *read_word_groups("synonyms")]:
        end = words.index(_FOR) if _FOR in words else len(words)
        lines.append((frozenset(words[:end]), frozenset(map(step_stem, words[end + 1 :]))))
    return tuple(lines)


@cache
def _senses() -> dict[str, frozenset[int]]:
    senses: dict[str, set[int]] = {}
    for number, (words, _) in enumerate(_lines()):
        for word in words:
            senses.setdefault(step_stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in senses.items()}


@cache
def _objects() -> dict[int, frozenset[str]]:
    return {number: objects for number, (_, objects) in enumerate(_lines()) if objects}


def _are_distinct(left: str, right: str) -> bool:
    return any(
        left in ours and right in theirs
        for sides in _distinct()
        for place, ours in enumerate(sides)
        for other, theirs in enumerate(sides)
        if place != other
    )


@cache
def _distinct() -> tuple[tuple[frozenset[str], ...], ...]:
    """The sides of each line of distinct actions."""
    lines = []
    for words in read_word_groups("step_distinct"):
        sides: list[set[str]] = [set()]
        for word in words:
            if word == _BUT:
                sides.append(set())
            else:
                sides[-1].add(step_stem(word))
        lines.append(tuple(map(frozenset, sides)))
    return tuple(lines)


def phrasal_synonyms(particles: Collection[str]) -> frozenset[str]:
    """The synonyms that are a verb with one of these particles."""
    phrases = {word for words, _ in _lines() for word in words if word.count("_") == 1}
    return frozenset(phrase for phrase in phrases if phrase.partition("_")[2] in particles)


@cache
def observing_verbs() -> frozenset[str]:
    """The stems of verbs whose steps change nothing."""
    return frozenset(step_stem(word) for word in read_words("observing_verbs"))


@cache
def irreversible_verbs() -> frozenset[str]:
    """The stems of verbs that no other verb stands for, unless the object says so."""
    return frozenset(step_stem(word) for word in read_words("irreversible_verbs"))


@cache
def symmetric_verbs() -> frozenset[str]:
    """The stems of verbs for which the order of their objects does not matter."""
    return frozenset(step_stem(word) for word in read_words("symmetric_verbs"))


@cache
def programs() -> frozenset[str]:
    """Programs that a step may call."""
    return frozenset(read_words("step_programs"))


@cache
def kind_nouns() -> frozenset[str]:
    """The stems of nouns that only say what kind of thing the word before them names."""
    return frozenset(stem(word) for word in read_words("step_places"))
