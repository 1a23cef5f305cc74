"""Names in German, where every noun has a capital: what tells a name from a noun."""

from __future__ import annotations

import re
from collections.abc import Sequence

from priming.text.word_lists import GERMAN_DETERMINERS, GERMAN_NOUNS, is_given_name, read_words

_BEFORE = re.compile(r"(?:([^\W\d_]{1,30}|\d[\d.,]{0,12})[ ]+)?([^\W\d_]{1,30}|\d[\d.,]{0,12})[ ]+\Z")
_LETTERS_BEFORE = 66
_NOUN_ENDINGS = tuple(read_words("german_noun_endings"))
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}(?:e|en|er|es|em)")
_CASES = ("", "s", "es", "e", "en", "n")
_PLACES = frozenset(
    ("berg", "dorf", "feld", "hafen", "haus", "land", "stadt", "stein", "stern", "wald", "insel")
)
"""Nouns in which names of places end: "Nürnberg"."""
_PREPOSITIONS = frozenset(("in", "aus", "nach", "von", "bei", "für", "gegen", "um", "über"))
_TITLES = frozenset(
    ("herr", "herrn", "frau", "dr.", "prof.", "firma", "projekt", "kollege", "kollegin", "stadt")
)


def names_in_german(words: Sequence[str], text: str, start: int) -> list[str]:
    """What of some capitalised words that stand in a German text at ``start`` is a name; nothing if they are nouns.

    A given name, what stands after a title, and words with a capital or digit inside or all in capitals are names.
    Another word is none after an article, a pronoun, a number or an adjective after these, nor if it is a noun by the
    list, by its end or by the noun that it ends in.

    >>> names_in_german(["Hamburg"], "steht in Hamburg", 10), names_in_german(["Speicher"], "mehr Speicher", 5)
    (['Hamburg'], [])
    >>> names_in_german(["Programm", "Kestrel"], "das Programm Kestrel", 4)
    ['Kestrel']
    """
    plain = 0
    while plain < len(words) and not _is_sure(words[plain]) and _leads(words[plain]):
        plain += 1
    names = [*words[plain:]]
    if not names or any(_is_sure(word) for word in names) or plain or len(names) > 1:
        return names
    before = _BEFORE.search(text, max(0, start - _LETTERS_BEFORE), start)
    if names[0].endswith("en") and not (before and before[2].lower() in _PREPOSITIONS):
        return []  # "liefert Schrauben", but "in Bremen"
    return [] if before and _makes_noun(before[1], before[2]) else names


def _is_sure(word: str) -> bool:
    """Tell whether a word is a name wherever it stands: a given name, or one with a capital or digit inside."""
    return is_given_name(word) or not (word[1:].islower() or not word[0].isalpha())


def _leads(word: str) -> bool:
    """Tell whether a word at the start of capitalised words is no part of a name: a noun, a title, a joining word."""
    return not word[0].isupper() or word.lower() in _TITLES or is_noun(word)


def is_noun(word: str) -> bool:
    """Tell whether a German word is a common noun, by a list and by its end.

    >>> is_noun("Datenbank"), is_noun("Verbindungen"), is_noun("Nürnberg"), is_noun("Kestrel")
    (True, True, False, False)
    """
    plain = word.casefold().replace("-", "")
    return any(_is_noun(plain.removesuffix(case)) for case in _CASES if plain.endswith(case))


def _is_noun(plain: str) -> bool:
    if plain in GERMAN_NOUNS or (len(plain) > 5 and plain.endswith(_NOUN_ENDINGS)):
        return True
    return any(
        plain[at:] in GERMAN_NOUNS and plain[at:] not in _PLACES for at in range(2, max(2, len(plain) - 3))
    )


def _makes_noun(first: str | None, second: str) -> bool:
    """Whether the two words before a word make it a noun."""
    if second.lower() in GERMAN_DETERMINERS or second[0].isdigit():
        return True
    described = first is not None and (first.lower() in GERMAN_DETERMINERS or first[0].isdigit())
    return described and _ADJECTIVE.fullmatch(second) is not None
