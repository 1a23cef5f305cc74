"""Word lists: text files in ``words/``, a list in each; among them words that are no names although capitalised."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).with_name("words")


def read_words(name: str) -> list[str]:
    """Read the words of ``words/<name>.txt``, in order; lines that begin with "#" are comments.

    >>> read_words("pronouns_and_numerals")[:2]
    ['anybody', 'anyone']
    """
    return [word for line in read_lines(name) for word in line.split()]


def read_word_groups(name: str) -> list[list[str]]:
    """Read the lines of ``words/<name>.txt`` as groups of words; lines that begin with "#" are comments.

    >>> read_word_groups("alternatives")[0]
    ['tab', 'space']
    """
    return [line.split() for line in read_lines(name)]


def read_lines(name: str) -> list[str]:
    """Read the lines of ``words/<name>.txt`` that are neither blank nor comments, which begin with "#".

    >>> read_lines("alternatives")[0]
    'tab space'
    """
    text = (_FOLDER / f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


SENTENCE_OPENERS = frozenset(read_words("sentence_openers"))
"""Words that begin sentences and are hardly ever names: interjections, verbs, adverbs."""

LONE_OPENERS = frozenset(read_words("lone_openers"))
"""Sentence openers that are part of a name where another capitalised word follows: "New York", "Big Ben"."""

PRONOUNS_AND_NUMERALS = frozenset(read_words("pronouns_and_numerals"))
"""Words that are no names wherever they occur."""

DAYS = frozenset(
    f"{day}day{s}" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun") for s in ("", "s")
)
MONTHS = frozenset(read_words("months"))
MONTHS_AS_NAMES = frozenset(("april", "august", "june", "may"))
"""Months that are also given names."""

COMMON_WORDS = frozenset(read_words("common_words"))
"""Common words in their plain form: one that begins a sentence is no name by its capital."""

GERMAN_NOUNS = frozenset(read_words("german_nouns"))
GERMAN_DETERMINERS = frozenset(read_words("german_determiners"))
"""Words after which a German word has its capital for being a noun."""

NAMES_LIKE_WORDS = frozenset(read_words("names_like_words"))

UNITS = frozenset(read_words("units"))
GENERIC_ACRONYMS = frozenset(read_words("generic_acronyms"))
"""Acronyms that are common nouns: "API", "CPU"."""

SOFTWARE = frozenset(read_words("software"))
"""Names of software that are often written in small letters."""

COMPONENT_NOUNS = frozenset(read_words("component_nouns"))
"""Nouns that make a name with the words before them: "service", "queue"."""

PLAIN_MODIFIERS = frozenset(read_words("plain_modifiers"))
"""Words before such a noun that name nothing: "slow", "restarted"."""

MEASURED_NOUNS = frozenset(read_words("measured_nouns"))
"""Words after which a number is a measure, and no version of a thing."""

COMPOUND_PARTS = frozenset(read_words("compound_parts"))
"""First parts, with a hyphen, and last parts of compounds that are no names: "well-", "level"."""

INDEFINITE_WORDS = frozenset(read_words("indefinite_words"))
"""Words before a noun that mean no particular thing."""

PREFIXES = frozenset(read_words("prefixes"))
"""First parts of compounds that are no names, whatever follows."""

SOURCE_FOLDERS = frozenset(read_words("source_folders"))
"""Folders of a checkout."""

COUNTED_NOUNS = frozenset(read_words("counted_nouns"))
"""Words that with a number count or date something: "top-10", "mid-2023"."""

SHORT_FORMS = {
    name: tuple(short for short in shorts.split(",") if short)
    for name, shorts in (entry.split(":") for entry in dict.fromkeys(read_words("given_names")))
}
"""Given names, each with its short forms."""

_OTHER_GIVEN_NAMES = frozenset(read_words("other_given_names"))

PLACES_AND_INSTITUTIONS = frozenset(read_words("places_and_institutions"))
"""Last words of names of places and institutions, which may begin with a given name: "Victoria Park"."""

_FORMED = re.compile(r"[a-z]{3,}(?:ing|ings|ed|ly|tions?|ness|ments?)|[a-z]{4,}ies")
_NAMES_SO_FORMED = frozenset(read_words("names_like_verbs"))
_ADJECTIVES_OF_NAMES = frozenset(read_words("adjectives_of_names"))


def is_formed(word: str) -> bool:
    """Tell whether a word ends like a verb, an adverb or an abstract noun, so that a capital makes it no name.

    >>> is_formed("Researching"), is_formed("Deployed"), is_formed("Beijing"), is_formed("Bob")
    (True, True, False, False)
    """
    plain = word.lower()
    return _FORMED.fullmatch(plain) is not None and plain not in _NAMES_SO_FORMED


def is_past_form(word: str) -> bool:
    """Tell whether a word ends like the past form of a verb, and is no adjective that names begin with.

    >>> is_past_form("Deployed"), is_past_form("United"), is_past_form("Jared")
    (True, False, False)
    """
    plain = word.lower()
    is_name = plain in _ADJECTIVES_OF_NAMES or is_given_name(word)
    return plain.endswith("ed") and is_formed(word) and not is_name


def is_common(word: str) -> bool:
    """Tell whether a word, or the word that it is the plural or third person of, is common.

    >>> is_common("Deploys"), is_common("Queries"), is_common("Boxes"), is_common("Redis")
    (True, True, True, False)
    """
    plain = word.casefold()
    return any(form in COMMON_WORDS or form in SENTENCE_OPENERS for form in _plain_forms(plain))


def _plain_forms(word: str) -> tuple[str, ...]:
    if len(word) < 4 or not word.endswith("s"):
        return (word,)
    return word, word[:-1], word.removesuffix("es"), f"{word[:-3]}y" if word.endswith("ies") else word


def is_given_name(word: str) -> bool:
    """Tell whether the tables of given names list a word.

    >>> is_given_name("Robert"), is_given_name("Łukasz"), is_given_name("Bob"), is_given_name("York")
    (True, True, True, False)
    """
    return word.casefold() in SHORT_FORMS or word.casefold() in _OTHER_GIVEN_NAMES


def is_short_for(short: str, name: str) -> bool:
    """Tell whether a word is a short form of a given name.

    >>> is_short_for("Bob", "Robert"), is_short_for("Bob", "Melanie")
    (True, False)
    """
    return short.casefold() in SHORT_FORMS.get(name.casefold(), ())
