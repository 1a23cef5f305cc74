"""Dates and times in a cue and in a memory, by rules for English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Floats
from priming.errors import ParamError
from priming.text.relative_dates import (
    MONTH_NAMES,
    SHORT_MONTH,
    WEEKDAYS,
    CueDate,
    bounded,
    is_marked,
    relative_dates,
)

_LEAP = 2000  # a year that has every day
_LIMIT = 1e14  # seconds; far beyond any date, and safe to convert
_RECALL = RecallParams()

_MONTHS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
_ANY_MONTH = rf"{'|'.join(MONTH_NAMES)}|{SHORT_MONTH}"
_MONTH = rf"\b(?P<month>{_ANY_MONTH})"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\w])(?![.,]\d)"
_SOME_YEAR = rf"(?:(?:,[ ]?|[ ])(?:of[ ])?{_YEAR})?"

_NUMERIC = re.compile(
    r"(?<![\w./-])(?P<year>(?:19|20)\d\d)[-/](?P<month>1[0-2]|0?[1-9])"
    r"(?:[-/](?P<day>3[01]|[12]\d|0?[1-9]))?(?:(?=T\d)|(?![\w-]))"
)
_SLASHED = re.compile(r"(?<![\w/.-])(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<year>(?:19|20)\d\d)(?!\w)")
_WRITTEN = (
    re.compile(rf"(?<![\w.,]){_DAY}[ ](?:of[ ])?{_MONTH}\b{_SOME_YEAR}", re.IGNORECASE),
    re.compile(rf"{_MONTH}[ ](?:the[ ])?{_DAY}(?![\w:%])(?!\.\d){_SOME_YEAR}", re.IGNORECASE),
    re.compile(rf"{_MONTH}\b(?:,[ ]?|[ ])(?:of[ ])?{_YEAR}", re.IGNORECASE),
)
_FIRST = r"(?P<first>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_UP_TO = r"(?:[ ](?:and|to|until|till|through)[ ](?:the[ ])?|[ ]?[-–][ ]?)"
_RANGES = (
    re.compile(
        rf"(?<![\w.,]){_FIRST}(?:[ ](?:of[ ])?(?P<other>{_ANY_MONTH}))?"
        rf"{_UP_TO}{_DAY}[ ](?:of[ ])?{_MONTH}\b{_SOME_YEAR}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_MONTH}[ ]{_FIRST}{_UP_TO}(?:(?P<other>{_ANY_MONTH})[ ])?{_DAY}(?![\w:%])(?!\.\d){_SOME_YEAR}",
        re.IGNORECASE,
    ),
)
"""Between 9 and 13 November, from 30 October to 5 November 2024, November 9-13."""
_NAMED = re.compile(rf"{_MONTH}\b", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:\b(since|until|till)|"
    + "".join(
        rf"(?<!{span})" for span in ("day", "days", "week", "weeks", "weekend", "month", "months", "night")
    )
    + r"[ ](after|before))[ ]$",
    re.IGNORECASE,
)
"""What makes a date the end or the beginning of a time; "the week before 3 May" is told on that day."""
_VERBS = ("may", "march", "mar")
_PRONOUN = r"(?:i|we|you|he|she|it|they|this|that|the|god)"
_VERB_NEXT = re.compile(rf"\s+{_PRONOUN}\b", re.IGNORECASE)
_MID_SENTENCE = re.compile(r"[^\W\d_],?\s")
_CENTURY = re.compile(r"(?:19|20)\d\d")
_BARE_YEAR = re.compile(rf"(?<![\w.,$€£#/+-]){_YEAR}")
_TIMES = ("yesterday", "today", "tonight", "tomorrow", "ago", "midnight", "noon", "o'clock")
_WHOLE_TIMES = frozenset(day + s for day in WEEKDAYS for s in ("", "s")).union(_TIMES, MONTH_NAMES) - {
    "may",
    "march",
}
_UNITS = ("second", "minute", "hour", "day", "night", "weekend", "week", "month", "year", "decade")
_PERIODS = (
    *_UNITS,
    "morning",
    "afternoon",
    "evening",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "season",
)
_HINTS = frozenset(unit + s for unit in _PERIODS for s in ("", "s"))
_LETTERS = re.compile(r"[a-z]+(?:'clock)?")
_DIGIT = re.compile(r"\d")
_SPANS = re.compile(
    r"\b(?:last|next|this|past|previous|following|coming|every|each|other|few|couple of|several|whole"
    r"|an?|many|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+)[ -]"
    rf"(?:{'|'.join(_PERIODS)})s?\b"
)
_FIGURES = re.compile(
    r"\b(?:(?:1[5-9]|20)\d\d(?:s|-(?:1[0-2]|0?[1-9])(?:-\d\d?)?)?"
    r"|[12]?\d:[0-5]\d|[01]?\d ?[ap]\.?m|[0-3]?\d[/.][0-3]?\d[/.](?:\d\d){1,2}"
    rf"|(?:may|march|{SHORT_MONTH}) [0-3]?\d|[0-3]?\d(?:st|nd|rd|th)? (?:of )?(?:may|march|{SHORT_MONTH}))(?!\w)"
)
_MAY = re.compile(r"\b(?:May|March)\b")
_CLOSING = " \t\r\n\"'”’»)]*_"


def cue_date(text: str, now: datetime | None = None) -> CueDate | None:
    """Find the date that a cue names; of several the most exact, then the first.

    Understood are "2023-05-07", "7 May 2023", "May 7, 2023", "May 7th", "May 2023", "in June", "2022", "between 9
    and 13 May", and with ``now`` also "yesterday", "last week", "on Monday", "three days ago", "on the 9th", "since
    Monday" and the like. "may" and "march" in small
    letters count with a day or a year beside them only.

    Parameters
    ----------
    text : the cue.
    now : the moment that "yesterday" refers to; without it such words are not read.

    Returns
    -------
    The parts that are named, or None.

    Raises
    ------
    ParamError : ``now`` is not a datetime.

    Examples
    --------
    >>> cue_date("What did she paint on 7 May, 2023?")
    CueDate(year=2023, month=5, day=7, days=1)
    >>> cue_date("Who may have come in June?"), cue_date("Who may come?")
    (CueDate(year=None, month=6, day=None, days=1), None)
    >>> cue_date("What broke last week?", datetime(2024, 5, 16))
    CueDate(year=2024, month=5, day=6, days=7)
    """
    if now is not None and not isinstance(now, datetime):
        raise ParamError("now", now, "must be a datetime or none")
    named = max(_candidates(text, now), key=lambda pair: _exactness(pair[1]), default=None)
    if named is None:
        return None
    match, cue = named
    bound = _BOUND.search(text, 0, match.start())
    if now is not None and bound is not None:
        cue = bounded(cue, bound[bound.lastindex or 0].lower(), now.date())
    return replace(cue, words=match[0])


def dates(text: str) -> list[tuple[int, int, str]]:
    """Find the days and months with a year that a text names, in one normal form.

    Understood are the forms of ``cue_date`` that name a month and a year; 5/7/2023, in which day and month may
    come in either order, is not.

    Parameters
    ----------
    text : any text; the work is linear in it.

    Returns
    -------
    Start and end in the text, and the date as "2024-05-17" or "2024-05", in order; none overlap.

    Examples
    --------
    >>> [day for _, _, day in dates("From 17 May 2024 to June 2024, and on 2024-05-17")]
    ['2024-05-17', '2024-06', '2024-05-17']
    """
    if _CENTURY.search(text) is None:
        return []
    spans: list[tuple[int, int, str]] = []
    end = 0
    for match, cue in sorted(_exact(text), key=lambda pair: (pair[0].start(), -pair[0].end())):
        if cue.year is not None and cue.month is not None and match.start() >= end:
            day = f"-{cue.day:02}" if cue.day else ""
            spans.append((match.start(), match.end(), f"{cue.year}-{cue.month:02}{day}"))
            end = match.end()
    return spans


def date_match(
    cue: CueDate, times: ArrayLike, fade: float = _RECALL.date_fade, ahead: timedelta = timedelta(0)
) -> Floats:
    """Score how well moments fit a date that was named.

    1 within the day, month or year that is named, and ½^(days since it / fade) afterwards, since what happened is
    often told later. The day before it counts as the day after it: elsewhere it was that day already. Any earlier: 0.

    Parameters
    ----------
    cue : the parts of the date that are named. Without a year, every year has the date. A day that its month does not
        have is the whole month.
    times : POSIX seconds or datetime64, shape (n,); NaN and NaT, an unknown time, score 0.
    fade : the days in which half of the score is lost, > 0.
    ahead : how far the zone whose days are meant is ahead of UTC.

    Returns
    -------
    float64 in [0, 1], shape (n,).

    Raises
    ------
    ParamError : times that are neither numbers nor datetime64.

    Examples
    --------
    >>> times = np.array(["2023-05-07", "2023-06-14", "2023-04-07"], "datetime64[s]")
    >>> date_match(CueDate(2023, 5), times, fade=14.0).tolist()
    [1.0, 0.5, 0.0]
    """
    moments = _moments(times) + np.timedelta64(round(ahead.total_seconds()), "s")
    dated = ~np.isnat(moments)
    days = np.where(dated, moments, np.datetime64(0, "s")).astype("datetime64[D]")
    first, last = _named_period(cue, days)
    since, until = (days - last).astype(np.int64), (first - days).astype(np.int64)
    away = np.where(until > 0, until, np.maximum(since, 0))
    return np.where(dated & (until <= 1), np.exp2(-away / fade), 0.0)


def _named_period(cue: CueDate, days: NDArray[np.datetime64]) -> tuple[Any, Any]:
    """The first and last day of what a cue names; without a year, the latest by the day after each of ``days``."""
    if cue.month is None:
        year = np.datetime64(f"{cue.year:04d}", "Y")
        return year.astype("datetime64[D]"), (year + 1).astype("datetime64[D]") - 1
    months = (days + 1).astype("datetime64[M]").astype(np.int64)  # whole months since January 1970
    latest = months - (months - (cue.month - 1)) % 12
    at = latest if cue.year is None else np.full(len(days), (cue.year - 1970) * 12 + cue.month - 1)
    month = at.astype("datetime64[M]")
    first, last = month.astype("datetime64[D]"), (month + 1).astype("datetime64[D]") - 1
    if cue.day is None:
        return first, last
    day = first + (cue.day - 1)
    return np.where(day <= last, day, first), np.where(day <= last, day + (cue.days - 1), last)


def has_time(text: str) -> bool:
    """Tell whether a text has an expression of time: a weekday, month, year, clock, "ago", "last week".

    Parameters
    ----------
    text : the text of a memory.

    Returns
    -------
    Whether there is one.

    Examples
    --------
    >>> has_time("I went last week"), has_time("I may go"), has_time("In May we met")
    (True, False, True)
    """
    lowered = text.lower().replace("’", "'")
    words = set(_LETTERS.findall(lowered))
    if not _WHOLE_TIMES.isdisjoint(words):
        return True
    if not _HINTS.isdisjoint(words) and _SPANS.search(lowered):
        return True
    if _DIGIT.search(lowered) and _FIGURES.search(lowered):
        return True
    if words.isdisjoint(("may", "march")):
        return False
    return any(_is_month(text, *match.span()) for match in _MAY.finditer(text))


def is_question(text: str) -> bool:
    """Tell whether a text ends in a question mark, closing quotes and brackets aside.

    Parameters
    ----------
    text : the text of a memory.

    Returns
    -------
    Whether its last sentence asks.

    Examples
    --------
    >>> is_question("Really?  "), is_question('"Why?" she said.')
    (True, False)
    """
    return text[-64:].rstrip(_CLOSING).endswith(("?", "？", "؟"))


def _exactness(cue: CueDate) -> int:
    """Rank by what is named: the month first, then the year, then the day."""
    return 4 * (cue.month is not None) + 2 * (cue.year is not None) + (cue.day is not None)


def _candidates(text: str, now: datetime | None) -> Iterator[tuple[re.Match[str], CueDate]]:
    """Yield the dates of a text and where they stand; a fuller form of a date comes before its parts."""
    yield from _ranges(text)
    for match in _SLASHED.finditer(text):
        if "." in match[0] and 1 <= int(match["b"]) <= 12:  # with dots the day comes first
            yield match, _date(match["year"], int(match["b"]), match["a"])
    yield from _exact(text)
    if now is not None:
        yield from relative_dates(text, now.date())
    for match in _NAMED.finditer(text):
        word = match["month"]
        if word.rstrip(".").lower() not in _VERBS or _is_month(text, *match.span("month")):
            yield match, CueDate(month=_MONTHS[word[:3].lower()], is_marked=is_marked(text, match))
    for match in _BARE_YEAR.finditer(text):
        yield match, CueDate(year=int(match["year"]), is_marked=is_marked(text, match))


def _exact(text: str) -> Iterator[tuple[re.Match[str], CueDate]]:
    """Yield the dates of which two parts at least are named, and where they stand."""
    for match in _NUMERIC.finditer(text):
        yield match, _date(match["year"], int(match["month"]), match["day"])
    for match in _SLASHED.finditer(text):
        yield match, _slashed(int(match["a"]), int(match["b"]), int(match["year"]))
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            yield match, _date(parts["year"], _MONTHS[parts["month"][:3].lower()], parts.get("day"))


def _ranges(text: str) -> Iterator[tuple[re.Match[str], CueDate]]:
    """Yield the days from one to another; none where the latter comes before the former."""
    for pattern in _RANGES:
        for match in pattern.finditer(text):
            parts = [match["month"], match["other"] or match["month"]]
            since, until = parts[::-1] if pattern is _RANGES[0] else parts
            start, end = (
                _date(match["year"], _MONTHS[name[:3].lower()], match[day])
                for name, day in ((since, "first"), (until, "day"))
            )
            days = _days_between(start, end)
            if days > 0:
                yield match, replace(start, days=days)


def _days_between(start: CueDate, end: CueDate) -> int:
    """The days from one date to another, both counted; 0 where one of them has no day."""
    first, last = (
        date(cue.year or _LEAP, cue.month, cue.day) if cue.month and cue.day else None for cue in (start, end)
    )
    if first is None or last is None:
        return 0
    if end.year is None and first.month > last.month:  # "between 30 December and 2 January"
        last = date(_LEAP + 1, last.month, min(last.day, 28) if last.month == 2 else last.day)
    return (last - first).days + 1


def _is_month(text: str, start: int, end: int) -> bool:
    """Tell whether "may" or "march" is a month: capitalised, and no verb that starts a sentence."""
    if text[start].islower():
        return False
    inside = _MID_SENTENCE.search(text[max(0, start - 3) : start])
    return inside is not None or _VERB_NEXT.match(text, end) is None


def _date(year: str | None, month: int, day: str | None) -> CueDate:
    """Put the parts together; a day that the month does not have is left out."""
    number = int(year) if year else None
    return CueDate(number, month, int(day) if day and _exists(number, month, int(day)) else None)


def _exists(year: int | None, month: int, day: int) -> bool:
    try:
        date(year or _LEAP, month, day)
    except ValueError:
        return False
    return True


def _slashed(a: int, b: int, year: int) -> CueDate:
    """Read 5/7/2023, in which day and month may come in either order: only the year is sure if both fit."""
    if a != b and max(a, b) <= 12:
        return CueDate(year)
    day, month = max(a, b), min(a, b)
    return _date(str(year), month, str(day)) if 1 <= month <= 12 else CueDate(year)


def _moments(times: ArrayLike) -> NDArray[np.datetime64]:
    array = np.asarray(times)
    if array.dtype.kind == "M":
        return array.astype("datetime64[s]")
    if array.dtype.kind not in "iuf":
        raise ParamError("times", array.dtype.name, "must be POSIX seconds or datetime64")
    seconds = array.astype(np.float64)
    finite = np.abs(seconds) < _LIMIT  # false for NaN
    whole = np.floor(np.where(finite, seconds, 0.0)).astype(np.int64).astype("datetime64[s]")
    return np.where(finite, whole, np.datetime64("NaT", "s"))
