"""Classes of words in statements: values, times, targets, verbs that say little, verbs that make something."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from priming.text.corrections.polarity import SignedText, Word
from priming.text.word_lists import read_words
from priming.text.word_values import stem_of, value_types


def makes_a_kind(rest: Collection[Word], word: Word, statement: SignedText) -> bool:
    """Whether words of a rest beside a word make another thing of it: "smaller pull requests", "test coverage"."""
    after = [other for other in rest if other.place == word.place + 1 and other.part == word.part]
    if not statement.chooses and any(not other.lead and other.role == "plain" for other in after):
        return True
    before = [other for other in statement.words if other.place < word.place and other.part == word.part]
    lead = word.lead
    for other in reversed(before):
        if lead or other.sign != word.sign or other.role in ("head", "scope"):
            return False
        if other in rest:
            return True
        lead = other.lead
    return False


def types_of(words: Sequence[Word]) -> frozenset[str]:
    """The types of the values among some words."""
    return frozenset(kind for word in words for kind in value_types(word.stem))


def rivals_of(word: Word) -> frozenset[str]:
    """The groups of alternatives that a word belongs to."""
    return value_types(word.stem) - {"number", "target", "code", "other"}


def has_target(words: Sequence[Word]) -> bool:
    """Whether some words name a place to which something is brought, such as an environment."""
    return "target" in types_of(words)


@cache
def times() -> frozenset[str]:
    """The types of times: days, months, parts of a day, how often."""
    words = ("monday", "january", "daily", "morning", "first week")
    return frozenset(kind for word in words for kind in value_types(stem_of(word)))


@cache
def expressions() -> frozenset[str]:
    """The types of what is expressed in: languages that people speak, currencies, units."""
    words = ("german", "euro", "kilometre", "celsius", "milliseconds", "gram", "uppercase")
    return frozenset(kind for word in words for kind in value_types(stem_of(word))) - {"other"}


def is_light(word: Word, statement: SignedText) -> bool:
    """Whether a word is a verb that says little, not the first of a compound: "the write timeout"."""
    if word.stem not in _light_verbs() or word.role in ("scope", "value"):
        return False
    after = [other for other in statement.words if other.place == word.place + 1 and other.part == word.part]
    return word.role == "head" or not after or bool(after[0].lead)


def without_plain_purpose(words: Sequence[Word], statement: SignedText) -> list[Word]:
    """Words without a purpose that says nothing, since it is what the thing is for: "spaces for indentation"."""
    purpose = [word for word in statement.words if word.under == "for" and not word.contrasted]
    plain = all(word.stem in _plain_purposes() for word in purpose)
    return [word for word in words if word not in purpose] if plain else list(words)


@cache
def _plain_purposes() -> frozenset[str]:
    return frozenset(map(stem_of, read_words("plain_purposes")))


@cache
def _light_verbs() -> frozenset[str]:
    return frozenset(map(stem_of, read_words("light_verbs")))


@cache
def makes_verbs() -> frozenset[str]:
    """The stems of verbs whose object comes about by them, or is put somewhere: "write", "return", "put"."""
    return _light_verbs() | frozenset(map(stem_of, read_words("making_verbs")))


@cache
def placing_verbs() -> frozenset[str]:
    """The stems of verbs that need a place, or a way, and have it once: "put", "sort"."""
    return frozenset(map(stem_of, read_words("placing_verbs")))
