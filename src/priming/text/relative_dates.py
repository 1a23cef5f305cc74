"""Dates that are told from the day on which they are read, by rules for English: "yesterday", "on Monday"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from datetime import UTC, date, datetime, timedelta

from priming.config.values import dataclass
from priming.text.word_lists import read_words

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The names of the days of the week, from Monday."""
MONTH_NAMES = read_words("months")
"""The names of the months, from January."""
SHORT_MONTH = r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
"""The pattern of the short names of months."""

_WEEKDAY = "|".join(WEEKDAYS)
_MONTH_NEXT = rf"(?:{'|'.join(MONTH_NAMES)}|{SHORT_MONTH})\b"
_GOES_ON = (
    rf"[ ]of\b|,?[ ](?:the[ ])?(?:\d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?[ ](?:of[ ])?)?{_MONTH_NEXT}|(?:19|20)\d\d-)"
)
"""What makes a date of its own of the words before it: "on Monday, 5 May", "last week of June"."""
_COUNTS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
_PERIOD = "day|week|month|year"
_EARLIEST = date(1900, 1, 1)
_NEAR = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1}
_TODAY = ("today", "tonight", "this morning", "this afternoon", "this evening")
_NO_DAY = "".join(
    rf"(?<!\b{word}[ ])" for word in ("every", "each", "any", "a", "by", "until", "before", "after")
)
_RELATIVE = re.compile(
    rf"\b(?:(?P<near>{'|'.join((*_NEAR, *_TODAY))})"
    rf"|(?P<step>last|this|next|on)[ ](?P<unit>week|weekend|month|year|{_WEEKDAY})(?!{_GOES_ON})"
    rf"|(?P<count>{_COUNT})[ ](?P<units>{_PERIOD})s?[ ]ago"
    rf"|(?:last|past)[ ](?P<last>{_COUNT})[ ]days|past[ ](?P<past>week|month|year)"
    rf"|(?:on[ ]|(?<=since[ ])|(?:{_WEEKDAY}),?[ ])the[ ](?P<nth>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)"
    rf"(?![ ]of\b|[ ]{_MONTH_NEXT}|[ ](?!(?:in|at|with|and|to)\b)[a-z])"
    rf"|{_NO_DAY}(?P<bare>{_WEEKDAY})(?=\W*$))\b",
    re.IGNORECASE,
)
"""The forms; "on the 9th floor" is none, and a day without "on" is one only at the end."""

_BEFORE = 16
"""The letters before a date that are looked at."""
_MARK = re.compile(
    r"\b(?:in|during|of|for|since|before|after|until|till|by|last|this|next|early|late|mid)[ -](?:the[ ])?$",
    re.IGNORECASE,
)
"""What before a month or a year alone shows it to be one."""
_ASKS = re.compile(
    r"\b(?:happen(?:s|ed)?|do|did|done|new|changed|broke|said|went on|going on)[ ]$", re.IGNORECASE
)
"""What before a bare weekday shows it to be one: "what happened Monday?"."""


@dataclass(frozen=True, slots=True)
class CueDate:
    """The parts of a date that a cue names: at least a month or a year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    days: int = 1
    """So many days from the one that is named: a week has seven."""
    words: str = field(default="", compare=False, repr=False)
    """The words of the cue that name it."""
    is_marked: bool = field(default=True, compare=False, repr=False)
    """Whether the cue shows it to be a date: "in April"; "what about April?" may ask for a person."""


def local_time(at: datetime) -> datetime:
    """A moment in the zone whose days it means: its own, or this machine's for one in UTC, as clocks tell it.

    >>> local_time(datetime.fromisoformat("2026-11-10T03:00+09:00")).hour
    3
    """
    return at.astimezone() if at.tzinfo is UTC else at


def is_marked(text: str, match: re.Match[str]) -> bool:
    """Whether what stands before a month or a year alone shows it to be one."""
    return _stands_before(_MARK, text, match)


def _stands_before(words: re.Pattern[str], text: str, match: re.Match[str]) -> bool:
    return words.search(text, max(0, match.start() - _BEFORE), match.start()) is not None


def relative_dates(text: str, today: date) -> Iterator[tuple[re.Match[str], CueDate]]:
    """Yield the dates that a text tells from today, and where they stand.

    Parameters
    ----------
    text : any text; the work is linear in it.
    today : the day that "yesterday" is the day before of.

    Examples
    --------
    >>> [cue for _, cue in relative_dates("Was it on Monday or the day before yesterday?", date(2024, 5, 16))]
    [CueDate(year=2024, month=5, day=13, days=1), CueDate(year=2024, month=5, day=14, days=1)]
    """
    for match in _RELATIVE.finditer(text):
        cue = _read(match, today)
        if cue is not None:
            marked = match["bare"] is None or _stands_before(_ASKS, text, match)
            yield match, replace(cue, is_marked=marked)


def period(cue: CueDate, today: date) -> tuple[date, date]:
    """The first and the last day of a date; without a year, the latest that has begun.

    >>> period(CueDate(month=2), date(2024, 5, 16))
    (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    """
    year = cue.year or today.year - ((cue.month or 1, cue.day or 1) > (today.month, today.day))
    year = min(max(year, date.min.year), date.max.year - 1)
    first = date(year, cue.month or 1, 1)
    if cue.day and _has(first, cue.day):
        first = first.replace(day=cue.day)
        return first, first + timedelta(days=cue.days - 1)
    after = date(year + cue.month // 12, cue.month % 12 + 1, 1) if cue.month else date(year + 1, 1, 1)
    return first, after - timedelta(days=1)


def bounded(cue: CueDate, word: str, today: date) -> CueDate:
    """The days that "since", "after", "before" or "until" a date means; the date itself where there are none.

    >>> bounded(CueDate(2024, 5, 13), "since", date(2024, 5, 16))
    CueDate(year=2024, month=5, day=13, days=4)
    >>> bounded(CueDate(2024, 5, 13), "after", date(2024, 5, 16))
    CueDate(year=2024, month=5, day=14, days=3)
    """
    first, last = period(cue, today)
    if word in ("since", "after"):
        first, last = (last + timedelta(days=1) if word == "after" else first), today
    else:
        first, last = _EARLIEST, (first - timedelta(days=1) if word == "before" else last)
    return cue if first > last else days_of(first, last)


def days_of(first: date, last: date) -> CueDate:
    """The days from one to another."""
    return _day(first, (last - first).days + 1)


def _read(match: re.Match[str], today: date) -> CueDate | None:
    near, step, unit, count, units, last, past, nth, bare = (part and part.lower() for part in match.groups())
    if near:
        return _day(today + timedelta(days=_NEAR.get(near, 0)))
    if units:
        return _away(today, -_number(count), units)
    if last or past:
        number = _number(last) if last else {"week": 7, "month": 30, "year": 365}[past]
        return _day(today - timedelta(days=number - 1), number)
    if nth:
        return _latest(today, int(nth))
    if bare or unit in WEEKDAYS:
        return _weekday(today, step or "on", WEEKDAYS.index(bare or unit))
    return None if step == "on" else _away(today, {"last": -1, "next": 1}.get(step, 0), unit)


def _number(count: str) -> int:
    return int(count) if count.isdigit() else max(1, _COUNTS.index(count))


def _away(today: date, number: int, unit: str) -> CueDate | None:
    """The day, week, weekend, month or year that is so many away from the present one; None before the first year."""
    if unit == "year":
        return CueDate(today.year + number) if today.year + number > 0 else None
    if unit == "month":
        months = today.year * 12 + today.month - 1 + number
        return CueDate(months // 12, months % 12 + 1) if months >= 12 else None
    if unit == "day":
        return _day(today + timedelta(days=number))
    monday = today + timedelta(days=7 * number - today.weekday())
    return _day(monday, 7) if unit == "week" else _day(monday + timedelta(days=5), 2)


def _weekday(today: date, step: str, weekday: int) -> CueDate:
    """A day of this week, the next one of its name, or the last one before today, which "on Monday" means as well."""
    ahead = weekday - today.weekday()
    if step != "this":
        ahead = (ahead - 1) % 7 + 1 if step == "next" else ahead % 7 - 7
    return _day(today + timedelta(days=ahead))


def _latest(today: date, day: int) -> CueDate:
    """The latest day of this number, of this month or the last one that has it."""
    first = today.replace(day=1)
    while not _has(first, day) or first + timedelta(days=day - 1) > today:
        first = (first - timedelta(days=1)).replace(day=1)
    return _day(first.replace(day=day))


def _has(first: date, day: int) -> bool:
    return (first + timedelta(days=day - 1)).month == first.month


def _day(day: date, days: int = 1) -> CueDate:
    return CueDate(day.year, day.month, day.day, days)
