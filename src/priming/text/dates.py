"""Dates and times in a cue and in a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Floats
from priming.errors import ParamError
from priming.text.time_grammar import ABSOLUTE, TOLD, CueDate, dates_in, parsed, period
from priming.text.time_words import tokens

_LIMIT = 1e14  # seconds; far beyond any date, and safe to convert
_RECALL = RecallParams()
_YEAR, _LEAP_DAY, _LONG = 10_000, date(2000, 12, 31), 364
Days = tuple[int, int]
"""The first and the last of some days, as 20240517, or where they are of each year as 517."""
_CENTURY = re.compile(r"(?:19|20)\d\d")
_TIME = re.compile("[WRDmfqHEAyz@SIG]|[naNFBroe!-]-?[dkuUjJQp]")
"""The classes of words that tell a time: a weekday, a month, a clock, a unit beside its number or direction."""
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})/(\d{1,2})/(?:19|20)\d\d(?!\w)")
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice"
_DETAIL = re.compile(
    r"[A-Z](?:(?<=[a-z0-9] .)|(?<=[a-z0-9][,;:] .))\w+"
    rf"|[\"“]|\d[\d.,:]*|\b(?:{_NUMBERS})\b"
)
"""A name inside a sentence, a quotation mark, a number."""
_QUOTES = "\"'“”„‘’«»"
_CLOSING = " \t\r\n\"'”’»)]*_"


def cue_date(
    text: str, now: datetime | None = None, likely: str | None = None, day_first: bool | None = None
) -> CueDate | None:
    """Find the date that a cue names; of several the most exact, then the first; None without one.

    Parameters
    ----------
    text : the cue.
    now : the moment that "yesterday" refers to; without it such words are not read.
    likely : the language of a cue whose words speak for several.
    day_first : whether a day comes before its month in 5/7/2023; if None, only the year of such a date is read.

    Raises
    ------
    ParamError : ``now`` is not a datetime.

    Examples
    --------
    >>> cue_date("What did she paint on 7 May, 2023?"), cue_date("Who may come?")
    (CueDate(year=2023, month=5, day=7, days=1), None)
    >>> cue_date("What broke the week before last?", datetime(2024, 5, 16))
    CueDate(year=2024, month=4, day=29, days=7)
    """
    if now is not None and not isinstance(now, datetime):
        raise ParamError("now", now, "must be a datetime or none")
    named = max(
        dates_in(text, now, likely, day_first=day_first), key=lambda place: _exactness(place[2]), default=None
    )
    return None if named is None else replace(named[2], words=text[named[0] : named[1]])


def dates(text: str) -> list[tuple[int, int, str]]:
    """Start and end of each day or month with a year that a text names in figures or words, and its normal form.

    >>> [day for _, _, day in dates("From 17 May 2024 to June 2024, and on 2024-05-17")]
    ['2024-05-17', '2024-06', '2024-05-17']
    """
    if _CENTURY.search(text) is None:
        return []
    return [
        (start, end, f"{cue.year}-{cue.month:02}{f'-{cue.day:02}' if cue.day else ''}")
        for start, end, cue in dates_in(text, rules=ABSOLUTE)
        if cue.year is not None and cue.month is not None
    ]


def named_days(text: str, told_at: datetime | None = None) -> tuple[Days, ...]:
    """Return the days and months that a text names in figures or words, each once, as its first and its last day.

    Parameters
    ----------
    text : the text of a memory; the work is linear in it.
    told_at : when it was told, if it tells what happened: a day without a year is then the last or the next one.

    Examples
    --------
    >>> named_days("Closed on 24 December, and from 3 to 7 May 2026")
    ((1224, 1224), (20260503, 20260507))
    >>> named_days("We met on 24 December", datetime(2026, 1, 9))
    ((20251224, 20251224), (20261224, 20261224))
    """
    named = [cue for _, _, cue in dates_in(text, rules=ABSOLUTE) if cue.month is not None]
    if told_at is not None:
        last = {cue: period(cue, told_at.date())[0].year for cue in named}
        named = [
            replace(cue, year=year)
            for cue in named
            for year in ([cue.year] if cue.year else [last[cue], last[cue] + 1])
        ]
    return tuple(dict.fromkeys(map(_days, named)))


def _days(cue: CueDate) -> Days:
    """Return the first and last day of a date; of each year if it has none."""
    first, last = (int(f"{day:%Y%m%d}") for day in period(cue, _LEAP_DAY))
    return (first, last) if cue.year else (first % _YEAR, last % _YEAR)


def naming(days: Mapping[int, Iterable[Days]], cue: CueDate) -> Iterator[tuple[int, float]]:
    """Yield by number the texts that name a day of a date: 1 for each, ½ of a year or for the next of its name.

    Parameters
    ----------
    days : the days that texts name, by the number of a text.
    cue : the date that a cue names, with its words: "on Friday" may be the last one, or the next.
    """
    names, share = _namer(cue), 0.5 if cue.year and not cue.month else 1.0
    following = _next_of_its_name(cue)
    names_next = None if following is None else _namer(following)
    for number, own in days.items():
        if any(map(names, own)):
            yield number, share
        elif names_next is not None and any(map(names_next, own)):
            yield number, 0.5


def _next_of_its_name(cue: CueDate) -> CueDate | None:
    """Return the next day that a weekday alone, "the weekend", "the 20th" or a feast may be, beside the last."""
    kinds = {token.kind for token in tokens(cue.words, None)} - {*"O+tp,"}
    if not (cue.year and cue.month and len(kinds) == 1):
        return None
    match kinds.pop():
        case "W" | "u":
            day = period(cue, date.max)[0] + timedelta(days=7)
            return CueDate(day.year, day.month, day.day, cue.days)
        case "o":
            return CueDate(cue.year + cue.month // 12, cue.month % 12 + 1, cue.day)
        case "f":
            return replace(cue, year=cue.year + 1)
        case _:
            return None


def _namer(cue: CueDate) -> Callable[[Days], bool]:
    """Return what tells whether days a text names are of a date; those of each year are of no year as a whole."""
    start, end = _days(cue)
    begin, finish = start % _YEAR, end % _YEAR
    first, last = period(cue, _LEAP_DAY)
    is_year = (last - first).days >= _LONG

    def names(days: Days) -> bool:
        first, last = days
        if first >= _YEAR <= start:
            return first <= end and start <= last
        if is_year:
            return False
        first, last = first % _YEAR, last % _YEAR
        begins = begin <= first <= finish if begin <= finish else not finish < first < begin
        return begins or (first <= begin <= last if first <= last else not last < begin < first)

    return names


def day_told(text: str, told_at: datetime) -> datetime | None:
    """Return the moment a day or more away that a text names from when told; None if it names none, or several days.

    >>> day_told("Yesterday the boiler leaked.", datetime(2024, 3, 1, 9)), day_told("It leaks.", datetime(2024, 3, 1))
    (datetime.datetime(2024, 2, 29, 9, 0), None)
    """
    read = dates_in(text, local_time(told_at), rules=TOLD)
    days = {cue for start, end, cue in read if not _is_quoted(text, start, end)}
    if len(days) != 1 or (cue := days.pop()).days > 1 or not (cue.year and cue.month and cue.day):
        return None
    day = local_time(told_at).replace(year=cue.year, month=cue.month, day=cue.day)
    return None if day == told_at else day


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Tell whether quotation marks are around a part of a text: then it is a name, such as that of a song."""
    return all(mark in _QUOTES and mark for mark in (text[start - 1 : start], text[end : end + 1]))


def day_order(text: str) -> int:
    """Return how often a text writes the day before the month, as in 25/3/2024, less how often after it."""
    return sum((int(a) > 12) - (int(b) > 12) for a, b in _SLASHED.findall(text))


def local_time(at: datetime) -> datetime:
    """Return a moment in the zone whose days it means: its own, or this machine's for one in UTC, as clocks tell it.

    >>> local_time(datetime.fromisoformat("2026-11-10T03:00+09:00")).hour
    3
    """
    return at.astimezone() if at.tzinfo is UTC else at


def date_match(
    cue: CueDate, times: ArrayLike, fade: float = _RECALL.date_fade, now: datetime | None = None
) -> Floats:
    """Score how well moments fit a date that was named.

    1 within the day, month or year that is named, and ½^(days since it / fade) afterwards, since what happened is
    often told later. The day before it counts as the day after it: elsewhere it was that day already. Any earlier: 0.
    A day that lies ahead has been nowhere, and nobody has told of it afterwards: nothing but that day counts.

    Parameters
    ----------
    cue : the parts of the date that are named. Without a year, every year has the date. A day that its month does not
        have is the whole month.
    times : POSIX seconds or datetime64, shape (n,); NaN and NaT, an unknown time, score 0.
    fade : the days in which half of the score is lost, > 0.
    now : the present moment in the zone whose days are meant; None: no day lies ahead, in UTC.

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
    ahead = (now.utcoffset() if now else None) or timedelta(0)
    moments = _moments(times) + np.timedelta64(round(ahead.total_seconds()), "s")
    dated = ~np.isnat(moments)
    days = np.where(dated, moments, np.datetime64(0, "s")).astype("datetime64[D]")
    first, last = _named_period(cue, days)
    since, until = (days - last).astype(np.int64), (first - days).astype(np.int64)
    away = np.where(until > 0, until, np.maximum(since, 0))
    has_been = now is None or first <= np.datetime64(now.date())
    return np.where(dated & (until <= 1) & ((away == 0) | has_been), np.exp2(-away / fade), 0.0)


def _named_period(cue: CueDate, days: NDArray[np.datetime64]) -> tuple[Any, Any]:
    """Return first and last day of what a cue names; without a year, the latest by the day after each of ``days``."""
    if cue.year is not None or cue.month is None:
        first_day, last_day = period(cue, date.max)
        return np.datetime64(first_day), np.datetime64(last_day)
    day_long = np.timedelta64(1, "D")
    months = (days + day_long).astype("datetime64[M]").astype(np.int64)  # whole months since January 1970
    month = (months - (months - (cue.month - 1)) % 12).astype("datetime64[M]")
    following = (month + np.timedelta64(1, "M")).astype("datetime64[D]")
    first, last = month.astype("datetime64[D]"), following - day_long
    day = first + ((cue.day or 1) - 1) * day_long
    exists = (day <= last) & (cue.day is not None)
    return np.where(exists, day, first), np.where(exists, day + (cue.days - 1) * day_long, last)


def has_time(text: str) -> bool:
    """Tell whether a text has an expression of time: a weekday, month, year, clock, "ago", "last week".

    >>> has_time("I went last week"), has_time("I may go"), has_time("In May we met")
    (True, False, True)
    """
    kinds = "".join(token.kind for token in tokens(text, None))
    return bool(_TIME.search(kinds)) or (
        "v" in kinds.lower() and any(token.kind == "@" for token in parsed(text))
    )


def specificity(text: str) -> int:
    """Count the details of a text: names inside its sentences, quotation marks, numbers, and one for a time.

    Parameters
    ----------
    text : the text of a memory; the work is linear in it.

    Returns
    -------
    The count, repeats included. A capital at the beginning of a sentence is not counted.

    Examples
    --------
    >>> specificity("Thanks, that is so kind!"), specificity("We saw two otters in Oslo last week.")
    (0, 3)
    """
    return sum(1 for _ in _DETAIL.finditer(text)) + has_time(text)


def is_question(text: str) -> bool:
    """Tell whether a text ends in a question mark, closing quotes and brackets aside.

    >>> is_question("Really?  "), is_question('"Why?" she said.')
    (True, False)
    """
    return text[-64:].rstrip(_CLOSING).endswith(("?", "？", "؟"))


def _exactness(cue: CueDate) -> int:
    """Rank by what is named: the month first, then the year, then the day."""
    return 4 * (cue.month is not None) + 2 * (cue.year is not None) + (cue.day is not None)


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
