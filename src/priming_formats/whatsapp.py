"""A chat exported by WhatsApp: ``_chat.txt``, or a text file with the name of the chat.

A message begins with its local time and speaker, and may go on for lines: ``[12/03/2026, 14:05:01] Ada: text`` on
iOS, ``12/03/2026, 14:05 - Ada: text`` on Android; order and signs of the date, 12 hours and spaces follow the
phone's settings. A line without a speaker is the program's, as is a text in angle brackets, such as
``<Media omitted>``, or after a left-to-right mark. A message has no id: it is known by its minute or second, its
speaker, and its place among those of that time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from priming.errors import ParamError
from priming.transfer.conversations import Conversation, Message, conversation_format
from priming.transfer.importers import Skipped
from priming.transfer.reading import digest, head_of, read_text

_MARK = "\u200e"
_INVISIBLE = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u2068\u2069"))
_LINE = re.compile(
    r"[\u200e\u200f]*\[?(?P<date>\d{4}(?:/\d\d?/\d\d?,?|[.-]\d\d?[.-]\d\d?,)|\d\d?[./-]\d\d?[./-]\d{2,4},?)\s(?:[^\W\d]+\s)?"
    r"(?P<hour>\d\d?)[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?:\s?(?P<half>[AP])\.?\s?M\.?)?"
    r"(?:\]|\s[-–])\s(?P<rest>.*)",
    re.IGNORECASE,
)
_EDITED = re.compile(r"(?<!\s)\s*(?:\u200e<[^<>\n]+>|<[^\W\d]+(?: [^\W\d]+)+>)\s*\Z")
_ALONE = re.compile(r"<[^<>\n]+>")
_UNDECIDED = "the file does not tell the day from the month: the day was read first"
Start = tuple[str, re.Match[str]]
"""Where a message begins, and its first line."""


def read(path: Path) -> Iterator[Conversation | Skipped]:
    """Read a chat; the order of day and month is that of the whole file."""
    starts: list[Start] = []
    texts: list[list[str]] = []
    stray = list[Skipped]()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if (start := _LINE.match(line)) is not None:
            starts.append((f"{path}, line {number}", start))
            texts.append([start["rest"]])
        elif texts:
            texts[-1].append(line)
        elif line.strip():
            rule = "must begin with a date and a time, as the lines of a chat do"
            stray.append(Skipped(ParamError(f"{path}, line {number}", line, rule)))
    whole = Path(str(path))
    own = (whole.parent.name if whole.stem.startswith("_") else whole.stem).removesuffix(".zip")
    yield from stray
    yield Conversation(own, _messages(starts, texts), own)


def _messages(starts: Sequence[Start], texts: Sequence[list[str]]) -> Iterator[Message | Skipped]:
    dates = [_numbers(start) for _, start in starts]
    is_month_first = _is_month_first([date for date in dates if date[0] < 100])
    counts = Counter[str]()
    for (where, start), date, lines in zip(starts, dates, texts, strict=True):
        speaker, colon, first = lines[0].partition(":")
        try:
            at = _time(start, date, is_month_first=bool(is_month_first))
        except ValueError:
            rule = "must begin with a date that exists, in the order of the file's other dates"
            yield Skipped(ParamError(where, start[0], rule))
            continue
        if colon:
            place = f"{at:%Y-%m-%dT%H:%M:%S}-{digest(speaker)}"
            text = "\n".join(
                line for line in [first.removeprefix(" "), *lines[1:]] if not line.startswith(_MARK)
            )
            text = (
                "" if _ALONE.fullmatch(text.strip()) else _EDITED.sub("", text).translate(_INVISIBLE).strip()
            )
            is_unclear = is_month_first is None and date[0] != date[1] and max(date[:2]) <= 12
            metadata = {"date": _UNDECIDED} if is_unclear else {}
            own = f"{place}-{counts[place]}"
            counts[place] += 1
            yield Message("person", text, at.astimezone(UTC), own, speaker.translate(_INVISIBLE), metadata)


def _numbers(start: re.Match[str]) -> tuple[int, int, int]:
    first, second, third = map(int, re.split(r"[./-]", start["date"].rstrip(",")))
    return first, second, third


def _is_month_first(dates: Sequence[tuple[int, int, int]]) -> bool | None:
    """Tell whether the month stands first: no month is above 12, and time goes on; None: nothing tells."""
    if any(first > 12 for first, _, _ in dates):
        return False
    if any(second > 12 for _, second, _ in dates):
        return True
    back_by_day = sum(a[::-1] > b[::-1] for a, b in pairwise(dates))
    back_by_month = sum((a[2], a[0], a[1]) > (b[2], b[0], b[1]) for a, b in pairwise(dates))
    return None if back_by_day == back_by_month else back_by_month < back_by_day


def _time(start: re.Match[str], date: tuple[int, int, int], *, is_month_first: bool) -> datetime:
    """Return the time at which a message was sent, in the machine's zone."""
    first, second, third = date
    year, month, day = (
        date if first > 99 else (third, first, second) if is_month_first else (third, second, first)
    )
    hour = int(start["hour"])
    if start["half"]:
        hour = hour % 12 + (12 if start["half"] in "pP" else 0)
    moment = datetime(year if year > 99 else 2000 + year, month, day, hour, int(start["minute"]))
    return moment.replace(second=int(start["second"] or 0)).astimezone()


def _fits(path: Path) -> bool:
    return _LINE.match(head_of(path).lstrip().partition("\n")[0]) is not None


FORMAT = conversation_format("whatsapp", "a chat exported by WhatsApp: a text file", read, _fits, (".txt",))
