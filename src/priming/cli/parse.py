"""What people type, as values, and what the shell completes it with."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta
from importlib import import_module
from typing import Any

from priming.errors import ParamError

STDIN = "-"
_MAX_DEPTH, _MOST_VALUES = 100, 1 << 20
_BYTES_PER_CHARACTER = 4
_AGO = re.compile(r"(\d{1,6})([mhdw])")
_SPAN = re.compile(r"(\d{1,6})([smhdw])")
_TIME_OF_DAY = re.compile(r"\d{2}:\d{2}(?::\d{2})?")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def text_or_stdin(argument: str, name: str = "content") -> str:
    """Return a text as typed; ``-`` reads it from stdin, as UTF-8, without the newline at its end."""
    if argument != STDIN:
        return argument
    from priming.config.params.limits import STORE

    limit = STORE.content_limit * _BYTES_PER_CHARACTER
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        rule = f"must be at most {STORE.content_limit:,} characters: split it into parts"
        raise ParamError(name, STDIN, rule)
    try:
        return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        rule = f"must be UTF-8 text: stdin has the byte 0x{data[error.start]:02x} at {error.start}"
        raise ParamError(name, STDIN, rule) from None


def session_or_stdin(argument: str | None) -> str | None:
    """Return the id of a session as typed; ``-`` reads it from stdin, so that no shell reads it."""
    return None if argument is None else text_or_stdin(argument, "session").strip()


def optional_text(argument: str | None, name: str) -> str | None:
    """Return a text as typed or from stdin, if any."""
    return None if argument is None else text_or_stdin(argument, name)


def only_text(argument: str | None, option: str | None, name: str) -> str:
    """Return a text that may be typed as an argument or as an option, once."""
    if argument is not None and option is not None and argument != option:
        raise ParamError(name, option, f"must be typed once: {argument!r} is the text already")
    text = option if argument is None else argument
    if text is None:
        raise ParamError(name, None, 'must be given: the text of the rule, as in priming learn "Use tabs"')
    return text_or_stdin(text, name)


_MOMENT_RULE = (
    "must be a date or time, such as 2026-03-01, 2026-03-01T09:30+01:00, 09:30 or yesterday, or how long ago, as 10m"
    " for ten minutes"
)


def moment(name: str, text: str) -> datetime:
    """Return a time in ISO 8601, how long ago, such as ``10m``, ``2h`` or ``3d``, or a day in words.

    Without a zone it is this machine's local time, a day alone is its midnight, a time of day alone is today's.
    """
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
        if _TIME_OF_DAY.fullmatch(text.strip()):
            text = f"{datetime.now().astimezone():%Y-%m-%d}T{text.strip()}"
        return datetime.fromisoformat(text.strip().upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        day = _day_in_words(text.strip())
        if day is None:
            raise ParamError(name, text, _MOMENT_RULE) from None
        return day


def _day_in_words(text: str) -> datetime | None:
    """Return the midnight that "yesterday", "last Monday" or "5 March" begins with, or the present for "now"."""
    from priming.text.dates import cue_date
    from priming.text.time_grammar import period

    now = datetime.now().astimezone()
    if text.lower() == "now":
        return now.astimezone(UTC)
    day = cue_date(text, now)
    if day is None or day.words != text or not (day.month and day.day) or day.days > 1:
        return None
    first, _ = period(day, now.date())
    return datetime.combine(first, time()).astimezone(UTC) if first.day == day.day else None


def optional_moment(name: str, text: str | None) -> datetime | None:
    """Return a time, if any."""
    return None if text is None else moment(name, text)


def duration(name: str, text: str) -> timedelta:
    """Return a length of time, such as ``90s``, ``30m``, ``8h`` or ``1d``."""
    match = _SPAN.fullmatch(text.strip())
    span = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if not span:
        raise ParamError(name, text, "must be a number > 0 with s, m, h, d or w, such as 8h")
    return span


def optional_duration(name: str, text: str | None) -> timedelta | None:
    """Return a length of time, if any."""
    return None if text is None else duration(name, text)


def json_object(name: str, text: str) -> dict[str, Any]:
    """Return a JSON object, nested as deeply as people nest."""
    value = _json(name, text)
    if not isinstance(value, dict):
        raise ParamError(name, text, 'must be a JSON object, such as {"language": "python"}')
    return value


def json_texts(name: str, text: str) -> list[str]:
    """Return a JSON array of texts."""
    try:
        value = _json(name, text)
    except ParamError:
        value = None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ParamError(name, text, 'must be a JSON array of texts, such as ["a", "b"]')
    return value


def _json(name: str, text: str) -> Any:
    from priming.core.arguments.checks import parse_json

    return parse_json(name, text.encode("utf-8", "surrogateescape"), _MAX_DEPTH, _MOST_VALUES)


def filters(text: str | None) -> Any:
    """Return the filter of a recall, its times parsed."""
    if text is None:
        return None
    from priming.serialization import with_times

    return with_times(json_object("filter", text), moment)


def predicates(name: str, items: Sequence[str]) -> dict[str, Any]:
    """Return JSON objects and KEY=VALUE pairs in one mapping; a key that is repeated has all its values."""
    pairs: dict[str, Any] = {}
    for item in items:
        if item.lstrip().startswith("{"):
            pairs.update(json_object(name, item))
            continue
        key, equals, value = item.partition("=")
        if not (key.strip() and equals):
            raise ParamError(name, item, "must be KEY=VALUE or a JSON object")
        before = pairs.get(key.strip())
        if before is not None:
            pairs[key.strip()] = [*(before if isinstance(before, list) else [before]), value]
        else:
            pairs[key.strip()] = value
    return pairs


def complete(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the shell completion from a fixed list."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


def constants(texts: list[str] | None) -> dict[str, tuple[str, str]]:
    """Return constants of profiles that ``--set`` sets, by name, each with the option; the last of equals holds."""
    values = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ParamError("--set", text, "must be NAME.SECTION.KEY=VALUE, such as poc.spread.gain=0.9")
        values[name.strip()] = (value.strip(), "--set")
    return values


def complete_from(place: str) -> Callable[[str], list[str]]:
    """Return the shell completion from the names at ``module:name``, which is imported once somebody asks."""

    def completed(incomplete: str) -> list[str]:
        module, _, name = place.partition(":")
        return complete(tuple(getattr(import_module(module), name)))(incomplete)

    return completed


complete_profiles = complete_from("priming.config.profiles:ALL")
complete_embedders = complete_from("priming.embedding.registry:NAMES")
complete_terms = complete_from("priming.recall.candidates:TERMS")


def complete_importers(incomplete: str) -> list[str]:
    """Return the shell completion of importers."""
    from priming.transfer.importers import OWN, names

    return complete((OWN, *names()))(incomplete)
