"""Words of statements: the stem that stands for each, numbers with their units, opposites and alternatives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from priming.text.tokens import terms
from priming.text.word_lists import is_past_form, read_word_groups

NUMBER = re.compile(
    r"nightly|fortnightly|quarterly|[a-z]{3}/\d{1,2}|[-+]?[v~]?\d+(?:[.,:/x-]\d+)*(?:\.x|\+|%|[ap]m)?"
    r"|\d{1,2}(?:st|nd|rd|th)|[-+]?[\d.]+ [a-z%]+"
)
"""A number, with its unit if it has one, a date as "may/3", or how often something is."""
_QUANTITY = re.compile(r"([-+]?\d+(?:[.,]\d+)*)([a-z%]+)")
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
_HYPHENED = re.compile(r"[A-Za-z]+(?:-[a-z]+)+|\d+-[a-z]+")
_PREFIXES = ("non-", "un-", "re-", "pre-", "multi-")
_PRICE = re.compile(r"([$€£])(\d+(?:[.,]\d+)*)")
_COMMAS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}")
_DOTS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_CODE = re.compile(r"[_*./\\$@:#=<>&|()+]|^--?\w|\d|^[a-z]+[A-Z]")
_VERSIONED = re.compile(r"([a-z][a-z+#.]*?)[-/@:_=]*v?\d+(?:[.]\d+)*")
"""A name with the number of its version: "python3.12", "es2020", "db-07"."""
_AMERICAN_OR = re.compile(r"(?<=\w{3})our(?=s?$|ed$|ings?$|al$|able$)")
_AMERICAN_IZE = re.compile(r"(?<=\w{3})is(?=(?:e|es|ed|er|ing|ation)$)")
"""Endings that are spelled in two ways: colour, color; organise, organize."""
_NUMBERS = {word: figure for figure, *words in read_word_groups("figures") for word in words}
_FIGURES = {word: figure for word, figure in _NUMBERS.items() if figure.isdigit()}
_ORDINALS = {word: figure for word, figure in _NUMBERS.items() if word not in _FIGURES}
_TIMES = {"once": "1", "twice": "2", "thrice": "3"}
_UNITS = {unit: (float(size), base) for size, base, *units in read_word_groups("measures") for unit in units}
"""For each unit, its size in a base unit, so that 90 seconds are 1.5 minutes."""
_MONEY = ("eur", "usd", "gbp")
_HALVES = {"am": 0, "in_morning": 0, "pm": 12, "in_afternoon": 12, "in_evening": 12}
"""The hours before each half of a day."""
_OFTEN = {"daily": "day", "annually": "year"} | {
    f"{unit}ly": unit for unit in ("hour", "week", "month", "year")
}
"""How often, as a stretch of time."""


@cache
def _synonyms() -> dict[str, str]:
    """Map each stem with synonyms and each irregular form to the stem that stands for it."""
    stands = {}
    for group in read_word_groups("synonyms"):
        for word in group:
            stands[bare_stem(word)] = bare_stem(group[0])
    for verb, *forms in read_word_groups("irregular_forms"):
        stem = stands.get(bare_stem(verb), bare_stem(verb))
        stands |= {bare_stem(form): stem for form in forms if bare_stem(form) != stem}
    return stands


@cache
def _past_forms() -> frozenset[str]:
    forms = (form for _, *others in read_word_groups("irregular_forms") for form in others)
    return frozenset(form for form in forms if not form.endswith(("ing", "s")))


def is_past(word: str) -> bool:
    """Tell whether a word is the past form of a verb, or may be: "ran", "deployed"."""
    plain = word.lower()
    return plain in _past_forms() or (is_past_form(word) and bare_stem(plain) != plain)


@lru_cache(maxsize=1 << 15)
def bare_stem(word: str) -> str:
    """Return the stem of a word; the word itself where it has none, or several."""
    stems = terms(word)
    return stems[0] if len(stems) == 1 and "-" not in word else word


def is_plural(word: str) -> bool:
    """Tell whether a word ends in an "s" that its stem lacks: "errors", beside "process"."""
    return word.endswith("s") and not word.endswith("ss") and bare_stem(word.lower()) != word.lower()


@lru_cache(maxsize=1 << 15)
def stem_of(word: str) -> str:
    """Return the stem of a word: numbers and code as they are, a synonym as the word that stands for its group."""
    if NUMBER.fullmatch(word.lower()):
        return word.lower().lstrip("v~")
    if _CODE.search(word):
        return word.rstrip(".")
    word = _AMERICAN_OR.sub("or", _AMERICAN_IZE.sub("iz", word.lower()))
    stem = bare_stem(word)
    return _synonyms().get(stem, stem)


@lru_cache(maxsize=1 << 15)
def is_number(stem: str) -> bool:
    """Tell whether a stem is a number, with its unit if it has one, or how often something is."""
    return NUMBER.fullmatch(stem) is not None


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = set()
    for group in read_word_groups("antonyms"):
        dash = group.index("-")
        pairs |= {(stem_of(left), stem_of(right)) for left in group[:dash] for right in group[dash + 1 :]}
    return frozenset(pairs | {(right, left) for left, right in pairs})


@lru_cache(maxsize=1 << 15)
def opposite(a: str, b: str) -> bool:
    """Tell whether two stems say the opposite: by the word list, or by a prefix such as un-, dis-, non-, ir-."""
    if (a, b) in _opposites():
        return True
    short, long = sorted((a, b), key=len)
    long, short = long.replace("-", ""), short.replace("-", "")
    return len(short) >= 3 and any(
        long == prefix + short for prefix in ("un", "dis", "non", "de", "in", "im", "ir", "il", "a")
    )


def is_transfer(verb: str) -> bool:
    """Tell whether a stem says which way something is brought, and undoes nothing: "push", beside "add"."""
    return opposite(verb, "read") or opposite(verb, "write")


@cache
def _alternatives() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(read_word_groups("alternatives")):
        for word in group:
            for form in (word, stem_of(word)):
                groups.setdefault(form, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


def questions(stem: str) -> list[str]:
    """Return names of the questions that a stem answers: what day, which language."""
    return [f"question {number}" for number in _alternatives().get(stem.lower(), ())]


@cache
def _places() -> frozenset[str]:
    return frozenset(
        form for group in read_word_groups("targets") for word in group for form in (word, stem_of(word))
    )


def are_places(a: str, b: str) -> bool:
    """Tell whether two stems name where something applies, so that a statement of one says nothing of the other."""
    return a.lower() in _places() and b.lower() in _places()


def answers_a_question(stem: str) -> bool:
    """Tell whether a stem answers a question that others answer too: a day, a language, a tool for an end."""
    return stem.lower() in _alternatives()


def alternatives(a: str, b: str) -> bool:
    """Tell whether two stems answer the same question: two days, two languages, two versions of one thing."""
    if a == b:
        return False
    version, other = (_VERSIONED.fullmatch(stem.lower()) for stem in (a, b))
    if version is not None and other is not None and version[1] == other[1]:
        return True
    groups, others = (_alternatives().get(stem.lower(), frozenset()) for stem in (a, b))
    return not groups.isdisjoint(others)


def figures(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return each word in its normal form and as it was written, a number with its unit as one in the base unit.

    >>> figures(["wait", "1.5", "minutes"]), figures(["twice"])
    ([('wait', 'wait'), ('90000 ms', '1.5 minutes')], [('2 times', 'twice')])
    >>> figures(["1.450", "€"]), figures(["€1450,00"])
    ([('1450 eur', '1.450 €')], [('1450 eur', '€1450,00')])
    """
    result: list[tuple[str, str]] = []
    for form, written in (pair for word in words for pair in _apart(word)):
        before, so_far = result[-1] if result else ("", "")
        both = f"{so_far} {written}".strip()
        unit = _UNITS.get(form.lower())
        thousands = unit is not None and unit[1] in _MONEY and _DOTS.fullmatch(before)
        number = before.replace(".", "") if thousands else before
        if form in _HALVES and before[:1].isdigit() and before.replace(":", "").isdecimal():
            hour, colon, minute = before.partition(":")
            result[-1] = f"{int(hour) % 12 + _HALVES[form]}{colon}{minute}", both
        elif form == "times" and before.isdigit():
            result[-1] = f"{before} times", both
        elif unit and _PLAIN.fullmatch(number):
            result[-1] = f"{float(number) * unit[0]:.12g} {unit[1]}", both
        elif form.lower() in _ORDINALS and not _PLAIN.fullmatch(before):
            result.append((_ORDINALS[form.lower()], written))
        else:
            result.append((form, written))
    return result


@lru_cache(maxsize=1 << 15)
def _apart(word: str) -> list[tuple[str, str]]:
    """Return a word as the parts that are read on their own: "30s", "four-space", "twice"."""
    word = word[:-2] if word[:1].isdigit() and word.endswith(("'s", "’s")) else word
    lower = word.lower()
    quantity = _QUANTITY.fullmatch(lower)
    if quantity and quantity[2] in _UNITS:
        return [(_decimal(quantity[1]), quantity[1]), (quantity[2], quantity[2])]
    half = lower[-2:] if lower[-2:] in _HALVES else ""
    hour = lower.removesuffix(half).removesuffix(":00")
    if hour != lower and hour[:1].isdigit() and hour.replace(":", "").isdecimal():
        return [(hour, word), (half, "")] if half else [(hour, word)]
    if price := _PRICE.fullmatch(lower):
        return [(_decimal(price[2]), word), (price[1], "")]
    if lower in _OFTEN:
        return [("1", word), (_OFTEN[lower], "")]
    if lower in _TIMES:
        return [(_TIMES[lower], word), ("times", "")]
    if (number := _decimal(lower)) != lower:
        return [(number, word)]
    if _HYPHENED.fullmatch(word) and lower not in _alternatives() and not lower.startswith(_PREFIXES):
        return [(_FIGURES.get(part, part), part) for part in word.split("-")]
    return [(_FIGURES.get(lower, word), word)]


def _decimal(number: str) -> str:
    """Return a number without what divides its thousands, with a point before its decimals: 1,450 and 13,99."""
    if _COMMAS.fullmatch(number):
        return number.replace(",", "")
    return number.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.fullmatch(number) else number
