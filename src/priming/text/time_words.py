"""The words that may tell a time, each with a class of a letter and a value, from ``words/calendar``; and Easter."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any, NamedTuple

from priming.core.arguments.normal_forms import normalized
from priming.text.word_lists import read_word_groups, read_words

LANGUAGES = ("english", "german", "french", "spanish")
_TOKEN = re.compile(
    r"(?P<x>[^\W\d_](?:[\u0300-\u036f]*[^\W_])*[\u0300-\u036f]*)|(?P<I>(?<![\w./-])(?:19|20)\d\d(?:-?W[0-5]?\d|[-/](?:1[0-2]|0?[1-9])(?:[-/](?:3[01]|[12]\d|0?[1-9]))?)"
    r"(?:(?=T\d)|(?![\w-])))|['’]s(?P<possessive>(?!\w))"
    r"|(?P<S>(?<![\w/.-])\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.)(?:19|20)\d\d(?!\w))"
    r"|(?P<G>(?<![\w/.-])\d{1,2}\.\d{1,2}\.(?!\w))"
    r"|(?P<H>(?<!\w)(?:[012]?\d:[0-5]\d(?!\w)|[01]?\d[ ]?[ap]\.?m\b))"
    r"|(?P<y>(?:(?<![\w.,$€£#/+-])|(?<=^[12]\d{3}-)|(?<=[\s(][12]\d{3}-))(?:19|20)\d\d(?![\w%]|[.,/]\d))|(?P<Y>(?<=,)(?:19|20)\d\d(?!\w|[.,]\d)|(?<=\s['’])\d\d(?!\w))"
    r"|(?P<o>(?<![\w.,])(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|er|[eº]|\.(?=[ ][^\W\d_]))(?!\w))"
    r"|(?P<n>(?<![\w.,:$€£#/])\d{1,3}(?![\w%:/]|\.\d|,(?!(?:19|20)\d\d\b)\d))"
    r"|(?P<E>(?<![\w.,$€£#/+-])(?:(?:19|20)\d\ds|1[5-8]\d\ds?)(?!\w|[.,]\d))"
    r"|\w+|[^\w\s'’]"
)
_MARKS = re.compile("[\u0300-\u036f]")
_WORDS = re.compile(r"[^\W_]+")
_FIGURES = re.compile(r"(?:1[5-9]|20)\d\d|\d(?:[:/.]\d|[ ]?[ap]\.?m|st\b|nd\b|rd\b|th\b)", re.IGNORECASE)
"""Numbers that may be a time without a word beside them."""
_SIGNS = dict.fromkeys(".!?;", ".") | dict.fromkeys("-–", "-") | {",": ","}


class TimeToken(NamedTuple):
    """A word, number or date of a text: its class, its value, and its place."""

    kind: str
    value: Any
    start: int
    end: int


def _folded(word: str) -> str:
    """Return a word in small letters without its accents, which are often left out."""
    return word.lower() if word.isascii() else _MARKS.sub("", normalized("NFD", word.lower()))


@cache
def _calendar(language: str) -> dict[str, list[tuple[list[str], str, Any]]]:
    """Map first words to a language's entries, long ones first: their words, class, and value, numbers or a name."""
    entries: dict[str, list[tuple[list[str], str, Any]]] = {}
    for kind, text, *names in read_word_groups(f"calendar/{language}"):
        numbers = [int(number) for number in re.findall(r"^-?\d+|(?<=\d-)\d+$", text)]
        value = text if not numbers or "+" in text else tuple(numbers) if len(numbers) > 1 else numbers[0]
        for name in names:
            words = [_folded(word) for word in re.findall(r"[^\W_]+|-", name)]
            entries.setdefault(words[0], []).append((words, kind, value))
    return {first: sorted(group, key=lambda entry: -len(entry[0])) for first, group in entries.items()}


@cache
def _common(language: str) -> frozenset[str]:
    """Return the words by which a text is known to be of a language: its function words, and its calendar's."""
    own = read_words("stop_words" if language == "english" else f"function_words/{language}")
    return frozenset(map(_folded, own)) | _calendar(language).keys()


@cache
def _telling() -> frozenset[str]:
    """Return the words without which no text tells a time, but for figures."""
    entries = (entry for language in LANGUAGES for group in _calendar(language).values() for entry in group)
    telling = {words[-1] for words, kind, _ in entries if kind in "WRDmvfqpABdkuUjJQ"}
    return frozenset(telling - {*read_words("stop_words")})


@lru_cache(maxsize=4)
def tokens(text: str, likely: str | None) -> tuple[TimeToken, ...]:
    """Read a text in the language that has most of its words, of equals the ``likely`` one, if it may tell a time."""
    if _FIGURES.search(text) is None and _telling().isdisjoint(_WORDS.findall(_folded(text))):
        return ()
    matches = [match for match in _TOKEN.finditer(text) if match.lastgroup != "possessive"]
    words = [_folded(match[0]) if match.lastgroup == "x" else match[0] for match in matches]
    order = sorted(LANGUAGES, key=lambda language: language != likely)
    distinct = {*words}
    language = max(
        order, key=lambda name: [len(distinct & own) for own in (_common(name), _calendar(name).keys())]
    )
    result: list[TimeToken] = []
    end = 0
    for at, match in enumerate(matches):
        if at < end:
            continue
        entries = _calendar(language).get(words[at], ())
        entry = next((entry for entry in entries if words[at : at + len(entry[0])] == entry[0]), None)
        end = at + len(entry[0]) if entry else at + 1
        kind, value = entry[1:] if entry else _number(match, words[at] in _common(language), language)
        kind = "V" if kind == "v" and match[0].islower() else kind
        result.append(TimeToken(kind, value, match.start(), matches[end - 1].end()))
    return tuple(result)


def _number(match: re.Match[str], is_common: bool, language: str) -> tuple[str, Any]:
    """Return the class and value of what no calendar has; only in German "3." is the third, and "3.5." one of May."""
    text, kind = match[0], match.lastgroup or "x"
    kind = "x" if kind == "G" and language != "german" else kind
    if kind in "noyY" and (language == "german" or not text.endswith(".")):
        value = int(re.sub(r"\D", "", text))
        return kind, value + (1900 if value > 69 else 2000) if kind == "Y" and len(text) == 2 else value
    return _SIGNS.get(
        text, "_" if not text[0].isalnum() else "x" if kind in "ox" else kind
    ) if not is_common else "l", text


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar, by J. Oudin's algorithm of 1940.

    >>> easter(2024)
    datetime.date(2024, 3, 31)
    """
    century, golden = year // 100, year % 19
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= moon // 28 * (1 - moon // 28 * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    return date(year, 3, 1) + timedelta(days=27 + moon - weekday)
