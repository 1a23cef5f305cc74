"""Words of statements: their stems, their opposites, and the type of those that are values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from priming.text.tokens import terms
from priming.text.word_lists import read_word_groups

_QUANTITY = re.compile(r"^(\d+(?:[.,]\d+)*)([a-z%]+)$")
_NUMBER = re.compile(r"^v?\d+(?:[.,:/x-]\d+)*(?:\.x|\+)?$")
_PLAIN_NUMBER = re.compile(r"^\d+(?:\.\d+)?$")
_CLOCK = re.compile(r"^\d{1,2}(?::\d\d)?[ap]m$")
_BASE_QUANTITY = re.compile(r"^[\d.]+ \S+$")
_CODE = re.compile(r"[_*./\\$@:#=<>&|()]|^--?\w|\d")
_VERSIONED = re.compile(r"([a-z][a-z+#.]*?)[-/@:_=]*v?\d+(?:[.]\d+)*")
"""A name with the number of its version: "http/2", "python3.12", "es2020"."""
_HYPHENED = re.compile(r"[a-z]+(?:-[a-z]+)+|\d+-[a-z]+(?:-[a-z]+)*")
_UNITS_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_FIGURES = {word: str(number) for number, word in enumerate(_UNITS_TO_TWENTY.split())} | {
    word: str(10 * number) for number, word in enumerate(_TENS.split(), 1)
}
_ORDINALS = {
    form: ordinal
    for ordinal, *forms in (
        *(
            (word, word, figure)
            for word, figure in zip(
                "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),  # noqa: SIM905
                "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th".split(),  # noqa: SIM905
                strict=True,
            )
        ),
        *((word, word) for word in "next early mid late".split()),  # noqa: SIM905
        ("last", "last", "final"),
        ("mid", "middle"),
    )
    for form in forms
}
"""Words that say which of several days, weeks or months, with the word that stands for each."""
_DATES = frozenset("day weekday week weekend workday half sprint iteration".split())  # noqa: SIM905
"""Stretches of time that are counted: "the last week", "the second half"."""
_TIMES = {"once": ("1", "times"), "twice": ("2", "times"), "thrice": ("3", "times")}
_UNITS = {
    unit: (factor, base)
    for units, factor, base in (
        ("ms msec msecs millisecond milliseconds", 1.0, "ms"),
        ("s sec secs second seconds", 1e3, "ms"),
        ("m min mins minute minutes", 6e4, "ms"),
        ("h hr hrs hour hours", 3.6e6, "ms"),
        ("d day days", 8.64e7, "ms"),
        ("w week weeks", 6.048e8, "ms"),
        ("month months", 1.0, "months"),
        ("y yr yrs year years", 12.0, "months"),
        ("b byte bytes", 1.0, "bytes"),
        ("kb kib kilobyte kilobytes", 1e3, "bytes"),
        ("mb mib megabyte megabytes", 1e6, "bytes"),
        ("gb gib gigabyte gigabytes", 1e9, "bytes"),
        ("tb tib terabyte terabytes", 1e12, "bytes"),
        ("% percent pct", 1.0, "percent"),
        ("px pixel pixels", 1.0, "px"),
    )
    for unit in units.split()
}
"""For each unit, its size in a base unit, so that 90 seconds are 1.5 minutes."""

ORDERING = frozenset({"before", "after"})
_WHOLE = ORDERING | {"max", "min"}


def spread(tokens: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each token as what it says and as it was written: numbers as figures, a number and its unit as a quantity.

    Words joined by hyphens come apart unless they have alternatives as a whole.

    >>> list(spread(["wait", "1.5", "minutes"]))
    [('wait', 'wait'), ('90000 ms', '1.5 minutes')]
    >>> list(spread(["four-space", "twice"]))
    [('4', 'four'), ('space', 'space'), ('2', 'twice'), ('times', '')]
    """
    written = [pair for token in tokens for pair in _apart(token.strip("'"))]
    place = 0
    while place < len(written):
        figure, text = written[place]
        unit = written[place + 1][0] if place + 1 < len(written) else ""
        if text in _ORDINALS and _is_date(unit):
            yield f"{_ORDINALS[text]} {stem_of(unit)}", f"{text} {written[place + 1][1]}"
            place += 2
        elif _PLAIN_NUMBER.match(figure) and unit in _UNITS:
            factor, base = _UNITS[unit]
            yield f"{float(figure) * factor:.15g} {base}", f"{text} {written[place + 1][1]}".strip()
            place += 2
        else:
            yield figure, text
            place += 1


def _is_date(word: str) -> bool:
    """Whether a word is a day, a month or another stretch of time: "the first Monday", "late March"."""
    stem = stem_of(word)
    calendar = _groups().get(stem_of("monday"), frozenset()) | _groups().get(stem_of("january"), frozenset())
    return stem in _DATES or not calendar.isdisjoint(_groups().get(stem, frozenset()))


def _apart(token: str) -> list[tuple[str, str]]:
    quantity = _QUANTITY.match(token)
    if quantity and quantity[2] in _UNITS:
        return [(quantity[1].replace(",", ""), quantity[1]), (quantity[2], quantity[2])]
    if token in _TIMES:
        figure, times = _TIMES[token]
        return [(figure, token), (times, "")]
    if "-" in token and token not in _groups() and _HYPHENED.fullmatch(token):
        return [(_FIGURES.get(part, part), part) for part in token.split("-")]
    return [(_FIGURES.get(token, token), token)]


@cache
def _groups() -> dict[str, frozenset[int]]:
    """For each word with alternatives, the groups of them that it belongs to, by the word and by its stem."""
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(read_word_groups("alternatives")):
        for word in group:
            for form in {word, f"{word}s", bare_stem(word), stem_of(word)}:
                groups.setdefault(form, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


@cache
def _targets() -> frozenset[str]:
    return frozenset(
        form for group in read_word_groups("targets") for word in group for form in (word, stem_of(word))
    )


@cache
def _representatives() -> dict[str, str]:
    """For each stem with synonyms, and each irregular form, the stem that stands for it."""
    groups = read_word_groups("synonyms")
    stands = {bare_stem(word): bare_stem(group[0]) for group in groups for word in group}
    for verb, *forms in read_word_groups("irregular_forms"):
        stem = stands.get(bare_stem(verb), bare_stem(verb))
        stands |= {bare_stem(form): stem for form in forms if bare_stem(form) != stem}
    return stands


@cache
def _antonyms() -> frozenset[tuple[str, str]]:
    """Pairs of stems that say the opposite, both ways."""
    pairs = set()
    for group in read_word_groups("antonyms"):
        dash = group.index("-")
        for left in group[:dash]:
            for right in group[dash + 1 :]:
                pairs |= {(stem_of(left), stem_of(right)), (stem_of(right), stem_of(left))}
    return frozenset(pairs)


def bare_stem(word: str) -> str:
    """The stem of a word; the word itself where it has none, or several.

    >>> bare_stem("reviews"), bare_stem("os.path")
    ('review', 'os.path')
    """
    stems = terms(word)
    return stems[0] if len(stems) == 1 and "-" not in word else word


@lru_cache(maxsize=1 << 15)
def stem_of(token: str) -> str:
    """The stem of a token: numbers and code as they are, a synonym as the word that stands for its group.

    >>> stem_of("v1.2"), stem_of("written"), stem_of("npm.cmd")
    ('1.2', 'write', 'npm.cmd')
    """
    if _NUMBER.match(token):
        return token.lstrip("v")
    if _CODE.search(token) or token in _WHOLE:
        return token
    stem = bare_stem(token)
    return _representatives().get(stem, stem)


@lru_cache(maxsize=1 << 15)
def are_antonyms(a: str, b: str) -> bool:
    """Tell whether two stems say the opposite: by the word list, or by a prefix such as un-, dis-, non-, de-.

    >>> are_antonyms("enabl", "disabl"), are_antonyms("cach", "uncach"), are_antonyms("tab", "space")
    (True, True, False)
    """
    if (a, b) in _antonyms():
        return True
    short, long = sorted((a, b), key=len)
    prefixes = ("un", "dis", "non", "de", "in", "im", "ir", "mis")
    return len(short) >= 3 and any(long == prefix + short for prefix in prefixes)


@cache
def _periods() -> frozenset[str]:
    """The stems of words for how often, which "every 90 days" says in a number."""
    words = (
        "hourly",
        "daily",
        "nightly",
        "weekly",
        "fortnightly",
        "biweekly",
        "monthly",
        "quarterly",
        "yearly",
    )
    return frozenset(map(stem_of, words))


@lru_cache(maxsize=1 << 15)
def value_types(stem: str) -> frozenset[str]:
    """The types of a word: number, target, the groups of alternatives that it belongs to, else code or other.

    >>> value_types("90000 ms"), value_types("tab") == value_types("space")
    (frozenset({'number'}), True)
    """
    if _NUMBER.match(stem) or _BASE_QUANTITY.match(stem) or _CLOCK.match(stem):
        return frozenset({"number"})
    ordinal, _, date = stem.partition(" ")
    if ordinal in _ORDINALS.values() and date:
        return value_types(date) - {"other"} or frozenset({"date"})
    if stem in _targets():
        return frozenset({"target"})
    if groups := _groups().get(stem):
        period = ("number",) if stem in _periods() else ()
        return frozenset((*(f"alternatives {group}" for group in groups), *period))
    if version := _VERSIONED.fullmatch(stem):
        return frozenset({f"version of {version[1]}"})
    return frozenset({"code" if _CODE.search(stem) else "other"})
