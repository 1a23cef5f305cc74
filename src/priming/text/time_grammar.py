"""A grammar of dates in English, German, French and Spanish, which tells a date from what only looks like one.

A text is a string of the classes of its words, a letter each: ``n`` a number, ``u`` a unit, ``W`` a weekday, ``F`` a
direction such as "last", ``A`` "ago". A rule is a pattern over those letters. What it matches becomes an ``@`` with
its date, of which later rules make larger ones. A date beside words of time that no rule joins to it is
another day than it says alone, and is not read.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import field, replace
from datetime import date, datetime, timedelta
from typing import Any

from priming.config.values import dataclass
from priming.text.time_words import TimeToken, easter, tokens

_TELLING = "ISG@omvVWDdkuUjJQqfy"
_EARLIEST, _LEAP, _DAY = date(1900, 1, 1), 2000, timedelta(days=1)
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "weekend": 7, "fortnight": 14}


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


ReadDate = CueDate | date | tuple[date, date] | int | None
"""What a rule reads: a date, a day, days from one to another, a year that may stand beside a month, or nothing."""


class Parts(dict[str, Any]):
    """The values of a rule's groups, and ``now``; None for the others. A group "n2" gives what "n" does."""

    def __getattr__(self, name: str) -> Any:
        if name == "today":
            return self.now.date() if self.now else date.max
        return self.get(name)


def days_of(first: date, last: date) -> CueDate:
    """Return the days from one to another."""
    return CueDate(first.year, first.month, first.day, (last - first).days + 1)


def period(cue: CueDate, today: date) -> tuple[date, date]:
    """Return the first and the last day of a date; without a year, the latest that has begun.

    >>> period(CueDate(month=2), date(2024, 5, 16))
    (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    """
    year = cue.year or today.year - ((cue.month or 1, cue.day or 1) > (today.month, today.day))
    year, month = min(max(year, date.min.year), date.max.year - 1), cue.month or 1
    last = monthrange(year, month)[1]
    if cue.day and cue.day <= last:
        first = date(year, month, cue.day)
        return first, first + timedelta(days=cue.days - 1)
    return date(year, month, 1), date(year, month, last) if cue.month else date(year, 12, 31)


def _of_month(p: Parts) -> ReadDate:
    """Return a month, its day, or the days from one to another; a day that the month does not have is left out."""
    last, day, until = monthrange(p.year or _LEAP, p.month)[1], p.day or 0, p.until or 0
    if 0 < day < until <= last:
        return CueDate(p.year, p.month, day, until - day + 1)
    return CueDate(p.year, p.month, (until or day) if 0 < (until or day) <= last else None)


def _numeric(p: Parts) -> ReadDate:
    """2023-05-07, 2023-W10 and 5/7/2023; with dots the day comes first, else only the year is sure if both fit."""
    a, b, c = (*map(int, re.findall(r"\d+", p.text)), 0, 0)[:3]
    if a > 31:
        return _week(a, b) if "W" in p.text else _of_month(Parts(year=a, month=b, day=c))
    day_first = True if "." in p.text else p.day_first
    if max(a, b) > 12 or a == b:
        day_first = a >= b
    day, month = (a, b) if day_first else (b, a)
    is_read = day_first is not None and 0 < month <= 12
    return _of_month(Parts(year=c or None, month=month, day=day)) if is_read else CueDate(c or None)


def _week(year: int, number: int) -> ReadDate:
    return date.fromisocalendar(year, number, 1), date.fromisocalendar(year, number, 7)


def _months(first: int, number: int = 1) -> ReadDate:
    """So many months from one, which is counted from the first year."""
    (year, month), (end, last) = divmod(first, 12), divmod(first + number - 1, 12)
    span = date(year, month + 1, 1), date(end, last + 1, monthrange(end, last + 1)[1])
    return span if number > 1 else CueDate(year, month + 1)


def _yearly(p: Parts, of: Callable[[int], ReadDate]) -> ReadDate:
    """Return what comes once a year: of a year, or the last, this, the next, else the latest that has begun."""
    if p.year is not None or p.now is None:
        return of(p.year) if p.year else None
    this, frame = p.today.year, p.frame or 0
    cues: list[CueDate] = [cue for year in range(this + 1, max(this - 9, 0), -1) if (cue := _read(of, year))]
    spans = [(cue, *period(cue, p.today)) for cue in cues]
    if frame > 0:
        return [cue for cue, first, _ in spans[::-1] if first > p.today][frame - 1]
    past = [cue for cue, first, last in spans if (last < p.today if frame else first <= p.today)]
    return of(this) if p.frame == 0 else past[max(0, -frame - 1)]


def _feast(p: Parts) -> ReadDate:
    """Return a feast on a fixed day, such as 12-24+3 of three days, or so many days from Easter Sunday."""
    start, days = p.feast.rsplit("+", 1)
    offset = start.removeprefix("easter")

    def of(year: int) -> tuple[date, date]:
        fixed = offset == start
        first = date(year, *map(int, start.split("-"))) if fixed else easter(year) + int(offset) * _DAY
        return first, first + (int(days) - 1) * _DAY

    if p.now is None and p.year is None and offset == start:
        return replace(days_of(*of(_LEAP)), year=None)
    return _yearly(p, of)


def _moved(at: datetime, number: int, unit: str) -> datetime:
    """Return the moment so many units from one; of months on the same day, or the last one."""
    if unit in _DAYS:
        return at + number * _DAYS[unit] * _DAY
    year, month = divmod(at.year * 12 + at.month - 1 + number * _MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def _away(now: datetime, number: int, unit: str) -> ReadDate:
    """Return the day, week, weekend, month or year that is so many away from the present one."""
    if unit in _MONTHS and _MONTHS[unit] < 12:
        months = now.year * 12 + now.month - 1
        return _months(months - months % _MONTHS[unit] + number * _MONTHS[unit], _MONTHS[unit])
    day = _moved(now, number, unit).date()
    monday = day - day.weekday() * _DAY
    if unit in _MONTHS:
        return CueDate(day.year)
    return day if _DAYS[unit] <= 1 else (monday + 5 * (unit == "weekend") * _DAY, monday + 6 * _DAY)


def _distant(p: Parts) -> ReadDate:
    """Return what is so many units ago, or ahead; of a vague number, from the one to the other."""
    sign, numbers = (1 if p.ahead else -1), p.n if isinstance(p.n, tuple) else (p.n,)
    spans = [cue for number in numbers if (cue := _read(_away, p.now, sign * number, p.unit))]
    ends = [end for cue in spans for end in period(cue, p.today)]
    return (min(ends), max(ends)) if len(spans) > 1 else spans[0]


def _rolling(p: Parts) -> ReadDate:
    """Return the last or the next so many days, weeks, months; the last ones with today."""
    if p.unit == "weekend" and p.n is None:
        return _framed(Parts(p, frame=-1))
    number, sign = (p.n[1] if isinstance(p.n, tuple) else p.n or 1), -1 if p.frame in (None, "-") else p.frame
    end, step = _moved(p.now, sign * number, p.unit).date(), (_DAYS.get(p.unit, 1) >= 1) * _DAY
    return {-1: (end + step, p.today), 1: (p.today + step, end)}.get(sign)


def _framed(p: Parts) -> ReadDate:
    """Return the last, this or the next week, weekend, month, quarter or year of the calendar."""
    return _away(p.now, p.frame, p.unit)


def _weekday(p: Parts) -> date:
    """Return a day of this week, the next of its name, or the last before today, which "on Monday" means as well."""
    ahead, frame = p.weekday - p.today.weekday(), -1 if p.frame is None else p.frame
    if frame:
        ahead = ahead % 7 + 7 * frame if frame < 0 else (ahead - 1) % 7 + 1 + 7 * (frame - 1)
    return p.today + ahead * _DAY  # type: ignore[no-any-return]


def _nth_day(p: Parts) -> ReadDate:
    """Return the latest day of this number, of this month or the last one that has it."""
    first = p.today.replace(day=1)
    while monthrange(first.year, first.month)[1] < p.nth or first.replace(day=p.nth) > p.today:
        first = (first - _DAY).replace(day=1)
    return first.replace(day=p.nth)  # type: ignore[no-any-return]


def _nth_weekday(p: Parts) -> ReadDate:
    """Return the first Monday of May 2024, the last Friday of March."""
    if p.of.day or not p.of.month or (p.of.year is None and p.now is None) or p.nth < -1:
        return None
    first, last = period(p.of, p.today)
    after = first + ((p.weekday - first.weekday()) % 7 + 7 * (p.nth - 1)) * _DAY
    day = after if p.nth > 0 else last - (last.weekday() - p.weekday) % 7 * _DAY
    return day if first <= day <= last else None


def _day_of_week(p: Parts) -> ReadDate:
    """Return the day of a week, as in Monday of last week; a weekday beside a day only says it again."""
    if p.of.day and p.of.days == 1:
        return p.of  # type: ignore[no-any-return]
    first = date(p.of.year, p.of.month, p.of.day) if p.of.year and p.of.days == 7 else None
    return first + p.weekday * _DAY if first and not first.weekday() else None


def _beside(p: Parts) -> ReadDate:
    """Return the week before Easter, two days after 3 May, the Monday before Christmas."""
    is_after = p.bound == "after"
    at = datetime.combine(period(p.of, p.today)[is_after], p.now.timetz())
    if p.weekday is not None or not p.of.day:
        return _weekday(Parts(now=at, weekday=p.weekday, frame=1 if is_after else -1)) if p.of.day else None
    return _distant(Parts(now=at, n=p.n or 1, unit=p.unit, ahead=is_after))


def _within(p: Parts) -> ReadDate:
    """Return a day or month of the year that stands beside it: "last year on 3 October", "in May two years ago"."""
    pairs: tuple[tuple[CueDate, CueDate], ...] = ((p.last, p.first), (p.first, p.last))
    for part, of in pairs:
        if of.year and part.month and not (of.month or part.year):
            return replace(part, year=of.year)
    return None


def _bounded(p: Parts) -> ReadDate:
    """Return the days that "since", "after", "before" or "until" a date means; the date itself if there are none."""
    first, last = period(p.of, p.today)
    if p.bound in ("since", "after"):
        first, last = (last + _DAY if p.bound == "after" else first), p.today
    else:
        first, last = _EARLIEST, (first - _DAY if p.bound == "before" else last)
    return (first, last) if first <= last else replace(p.of, is_marked=True)


def _range(p: Parts) -> ReadDate:
    """Return the days from one date to another, which may say the year of both; without one and days, no range."""
    dated, days = p.first.year or p.last.year, p.first.day and p.last.day
    if not (dated or days or p.now):
        return None
    later = _LEAP + ((p.last.month or 12) < (p.first.month or 1))
    year = dated or (period(p.last, p.today)[0].year if p.now else later)
    end = period(replace(p.last, year=p.last.year or year), date.max)[1]
    start = period(p.first if p.first.year else replace(p.first, year=end.year), date.max)[0]
    if start > end and p.first.year is None:
        start = start.replace(year=start.year - 1)
    cue = days_of(start, end)
    return None if start > end or p.first == p.last else cue if dated or not days else replace(cue, year=None)


_WHOLE = "(?<!N)(?<!N-)(?<!Nc)"
"""A number is not the end of a longer one: "twenty-two", "a hundred and two"."""
_UNIT, _N = "(?P<unit>[dukQjJU])", f"{_WHOLE}(?:(?P<n>[naN])|a(?P<n2>N))"
_UNIT3, _N3 = "(?P<unit3>[dukQjJU])", "(?:(?P<n3>[naN])|a(?P<n4>N))"
_YEAR = "(?:,?w?t?(?P<year>[yYz]))"
_MARKED = "(?:(?<=[iOwZsPTFB])|(?<=i-)|(?<=[iwP]t))"
_END = "(?=[.,_-]*$)"
_TO = "(?:[cT]O?|-)t?"
_UNTIL = f"(?:,?{_TO}(?:W,?)?t?(?P<until>[no]))?"
ABSOLUTE: tuple[tuple[str, str, Callable[[Parts], ReadDate]], ...] = (
    ("", "I|S|(?<=[OZTW])G|(?<=W,|[ZT]t)G", _numeric),
    (
        "",
        rf"(?:W,?)?t?{_WHOLE}(?P<day>[no]){_UNTIL}w?(?:(?P<month>[mv])|(?P<month2>V)(?![xl]))\.?{_YEAR}?",
        _of_month,
    ),
    ("", rf"(?:W,?)?(?P<month>[mv]|V(?=t?[no](?![xl])))\.?t?(?P<day>[no]){_UNTIL}{_YEAR}?", _of_month),
    ("", rf"(?P<month>[mvV])\.?{_YEAR}|(?P<year2>z)i?(?P<month2>[mv])", _of_month),
)
"""Dates with two parts at least."""
# fmt: off
RULES = (
    ("n", "(?P<frame>B)(?P<unit>[ukQj])(?!w)", lambda p: _rolling(p) if p.frame == -1 else None),
    ("n", f"t?(?P<frame>[FB])j(?!w)|t?j(?P<frame2>[bB])|{_WHOLE}(?P<n>[naN])[jJ]A(?!D)|(?<!D)[gP](?P<n2>[naN])[jJ]",
     lambda p: p.now.year + (-p.n if p.frame is None else p.frame)),
    *ABSOLUTE,
    ("", f"(?:(?P<nth>o)Q|(?P<nth2>q)){_YEAR}|(?P<year3>y)(?P<nth3>q)|(?P<year5>z),?i?t?(?:(?P<nth7>o)Q|(?P<nth8>q))"
     f"|(?P<nth6>q)(?=[cT-]t?q(?P<year4>[yYz])?)"
     f"|(?:(?P<nth4>o)Q|(?:{_MARKED}|(?<=q[cT-]))(?P<nth5>q))(?!w)",
     lambda p: _yearly(p, lambda year: _months(year * 12 + 3 * p.nth - 3, 3)) if p.nth <= 4 else None),
    ("", f"(?<![naNoFBrU])k(?P<week>n)(?:{_YEAR}|(?!w|-?[dukUjJQp]))"
     "|(?P<year2>z),?i?k(?P<week2>n)",
     lambda p: _yearly(p, lambda year: _week(year, p.week))),
    ("", f"(?P<frame>[FB])(?P<feast>f)|(?P<feast2>f)(?:(?P<frame2>[bB])|{_YEAR})"
     "|(?P<year2>z),?[iO+]?t?(?P<feast3>f)", _feast),
    ("", f"(?:{_MARKED}|(?<=[+cU]))(?P<feast>f)", _feast),
    ("u", f"(?<![et])(?P<feast>f){_END}", _feast),
    ("nd", f"{_N}{_UNIT}A(?P<day>D)|(?P<day2>D)[gP]{_N3}{_UNIT3}",
     lambda p: _moved(p.now, -p.n, p.unit).date() + p.day * _DAY),
    ("nd", f"{_N}{_UNIT}AF(?P<weekday>W)",
     lambda p: _moved(datetime.combine(_weekday(p), p.now.timetz()), -p.n, p.unit).date()),
    ("nd", f"{_N}{_UNIT}(?:A|(?P<ahead>h))|(?:[gP]|(?P<ahead2>h)){_N3}{_UNIT3}", _distant),
    ("n", f"(?:t?(?P<frame>[FBr]){_N}{_UNIT}|(?P<n3>[nN])(?P<frame2>B){_UNIT3})(?!wt?[@mvVy])"
     "|r(?P<unit2>[ukQj])(?!w)", _rolling),
    ("n", "t?(?P<frame>[FB])(?P<unit>[ukQ])(?!w)|t?(?P<unit2>[ukQj])(?P<frame2>[bB])",
     lambda p: None if p.unit == "decade" else (_rolling if p.unit == "fortnight" else _framed)(p)),
    ("n", "[O+]t?(?P<unit>u)(?!t?[wsZPTiF])", lambda p: _rolling(p) if p.unit == "weekend" else None),
    ("nd", "(?<![tae])(?P<day>D)p?", lambda p: _away(p.now, p.day, "day")),
    ("", f"(?:{_WHOLE}(?P<day>o)|(?<=t)(?P<day3>n))w(?P<of>@)|(?P<of2>@),?Ot?(?P<day2>o)(?=[icTOZs+.,_-]|$)",
     lambda p: None if p.of.day else _of_month(Parts(year=p.of.year, month=p.of.month, day=p.day))),
    ("n", "(?:W,?t?|Ot?|(?<=Z)t?)(?P<nth>o)(?=[icTOZs+.,_-]|$)", _nth_day),
    ("n", f"(?P<weekday>W){_TO}(?P<until>W)",
     lambda p: ((last := _weekday(Parts(p, weekday=p.until))) - (p.until - p.weekday) % 7 * _DAY, last)),
    ("nd", "O?t?(?P<frame>[FB])(?P<weekday>W)p?(?!w|i[mvV@])|t?(?P<weekday2>W)(?P<frame2>[bB])p?", _weekday),
    ("n", f"(?<!@)(?:O|(?<=Z))(?P<weekday>W)p?(?!,?[wOsP]?t?@|w)|(?<=x)(?P<weekday2>W)p?{_END}", _weekday),
    ("nu", f"(?<![eaNnPsciTtO@-])(?P<weekday>W)p?{_END}", _weekday),
    ("n", "(?P<frame>[FB])(?P<month>[mv])(?!w)|(?P<month2>[mv])(?P<frame2>B)",
     lambda p: _yearly(p, lambda year: CueDate(year, p.month))),
    ("", f"(?:{_MARKED}|(?<=[mv][cT-]))(?:(?P<month>m)|(?P<month2>v)|(?P<month3>V){_END})(?!w)"
     f"|(?P<month4>v)(?={_TO}[mv@])", _of_month),
    ("u", "(?<!e)(?P<month>m)", _of_month),
    ("", f"{_MARKED}(?P<year>y)|(?P<year2>z)", lambda p: CueDate(p.year)),
    ("u", "(?P<year>y)", lambda p: CueDate(p.year)),
    ("", "(?P<nth>[oFB])(?P<weekday>W)[iw]t?(?P<of>@)", _nth_weekday),
    ("", "O?t?(?P<weekday>W),?[wiO]?t?(?P<of>@)|(?P<of2>@),?O?t?(?P<weekday2>W)", _day_of_week),
    ("", "[oFBr]?(?P<unit>[uk])w[tO]?(?P<of>@)|(?P<unit2>j)w?(?P<of2>@)",
     lambda p: _week(*period(p.of, p.today)[0].isocalendar()[:2])
     if p.unit == "week" and p.of.day and (p.now or p.of.year) else p.of),
    ("n", f"(?:t(?P<unit3>[dukQj])|{_N}{_UNIT})(?P<bound>[sP])t?(?P<of>@)"
     "|t?(?P<weekday>W)(?P<bound2>[sP])t?(?P<of2>@)", _beside),
    ("", "(?P<first>@),?[Oi]?t?(?P<last>@)", _within),
    ("", f"(?P<first>@){_TO}(?P<last>@)", _range),
    ("n", "(?P<bound>[ZsPT])t?(?P<of>@)", _bounded),
)
# fmt: on
"""The rules in their order; "n": told from the present; "u": may be no date; "d": the same day in every tense."""
TOLD = tuple(rule for rule in RULES if "d" in rule[0])
"""The rules that tell a day from the day on which it is told, whatever the tense."""
_BEFORE = re.compile("(?:[oFrgdkuUjJQ!]|[nNao][dukUjJQ][ic]?t?)$")
_AFTER = re.compile("[!kuUjJQAhbB]|i?t?[naN][dukUjJ]")
"""What beside a date makes another one of it."""
_BOUND = re.compile(f"{_BEFORE.pattern}|[ZsPT]t?$")
"""The same of a day that is told: what holds since or before it is not of that day."""


def _read(reader: Callable[..., ReadDate], *arguments: Any) -> Any:
    """Return what a reader makes of its arguments, as a date or a year; None for what no calendar has."""
    try:
        span = reader(*arguments)
        span = (span, span) if isinstance(span, date) else span
        span = days_of(*span) if isinstance(span, tuple) else span
        return None if isinstance(span, int) and span < 1 else span
    except (ValueError, OverflowError, IndexError, KeyError, TypeError):
        return None


def parsed(
    text: str, now: datetime | None = None, likely: str | None = None, **options: Any
) -> list[TimeToken]:
    """Read a text as tokens, its dates as those of class "@".

    Parameters
    ----------
    text : any text; the work is linear in it.
    now : the moment that "yesterday" refers to; without it such words are no dates.
    likely : the language that it is read in where its words speak for several.
    options : ``day_first``, whether a day comes before its month in 5/7/2023; ``rules``, if not all.
    """
    read = list(tokens(text, likely))
    kinds = "".join(token.kind for token in read)
    for flags, pattern, reader in (
        options.pop("rules", RULES) if any(token.kind in _TELLING for token in read) else ()
    ):
        if now is None and "n" in flags:
            continue
        rewritten: list[TimeToken] = []
        end = 0
        for match in re.finditer(pattern, kinds):
            groups = ((name, match.start(name)) for name, kind in match.groupdict().items() if kind)
            values = {name.rstrip("2345678"): read[at].value for name, at in groups}
            first, last = read[match.start()], read[match.end() - 1]
            cue = _read(reader, Parts(options, now=now, text=first.value, **values))
            if cue is not None:
                is_year = isinstance(cue, int)
                cue = replace(cue, is_marked=False) if "u" in flags else cue
                rewritten += (
                    *read[end : match.start()],
                    TimeToken("z" if is_year else "@", cue, first.start, last.end),
                )
                end = match.end()
        if end:
            read = rewritten + read[end:]
            kinds = "".join(token.kind for token in read)
    return read


def dates_in(text: str, *context: Any, **options: Any) -> list[tuple[int, int, CueDate]]:
    """Start, end and parts of the dates of a text that ``parsed`` reads, without those that mean another day."""
    before = _BOUND if options.get("rules") is TOLD else _BEFORE
    read = parsed(text, *context, **options)
    kinds = "".join(token.kind for token in read)
    return [
        (token.start, token.end, token.value)
        for at, token in enumerate(read)
        if token.kind == "@" and not (before.search(kinds, max(0, at - 5), at) or _AFTER.match(kinds, at + 1))
    ]
