"""Answers as text that a person would want to read, within a budget, with what is left and how to get it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from priming.text.quotation import bracketed, conditions_text, json_text, label, quote_text, visible
from priming.verbs.op import Op, declaration

BUDGET = 6_000
"""Most characters of an answer."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00:00|Z)")
_FIRST = ("key", "kind", "status", "name", "at")
"""What a line about a thing begins with."""
_TEXTS = ("content", "gist", "text", "message", "reason", "detail")
"""What ends it."""
_HEAD = ("key", "source", "relation", "target")
"""What names a thing."""
_INTERNAL = ("namespace", "changes", "digest")
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def readable(op: Op, answer: Any, budget: int = BUDGET, limit: int | None = None) -> str:
    """Return an answer as lines: one for each thing or field; those beyond the budget are counted.

    A list as long as its ``limit`` may go on.

    >>> from priming.verbs.rows import named
    >>> versions = [{"version": n, "trust": "user", "content": text} for n, text in ((1, "Two."), (2, "Three."))]
    >>> print(readable(named("history"), versions))
    each: trust user
    - version 1: "Two."
    - version 2: "Three."
    """
    lines = list(_lines(_pruned(answer)))
    whole = "\n".join(lines) or "nothing"
    things = answer if isinstance(answer, list) else []
    is_cut = bool(things) and limit is not None and len(things) >= limit
    if len(whole) <= budget and not is_cut:
        return whole
    starts = [place for place, line in enumerate(lines) if line.startswith("- ")] if things else []
    shown = len(things)
    while shown > 0:
        # What is as old as the last that is told would be left out by the call that goes on before that time.
        text = "\n".join(lines[: [*starts, len(lines)][shown]])
        rest = _rest(op, things[shown - 1], things[shown] if shown < len(things) else None)
        left = f"{len(things) - shown:,} more" if shown < len(things) else "there may be more"
        if (
            rest
            and len(text := f"{text}\n… {left}{' or others' * (is_cut and shown < len(things))}: {rest}")
            <= budget
        ):
            return text
        shown -= 1
    tail = f" …\n… {len(whole):,} characters in all: {_whole(op)}"
    return whole[: budget - len(tail)] + tail


def _rest(op: Op, last: Any, following: Any) -> str:
    """Tell how to get what is left after the last thing that is told; empty where only the whole would have it."""
    arguments = declaration(op.method).arguments
    if isinstance(last, Mapping) and "after" in arguments and "key" in last:
        return f"call {op.name} with after = {label(last['key'])}"
    if isinstance(last, Mapping) and "until" in arguments and "at" in last:
        is_same = isinstance(following, Mapping) and following.get("at") == last["at"]
        return "" if is_same else f"call {op.name} with until = {last['at']}"
    return f"call {op.name} with a higher limit" if following is None else _whole(op)


def _whole(op: Op) -> str:
    """Return how to get less, or all."""
    arguments = declaration(op.method).arguments
    narrower = [
        name
        for name in ("key", "keys", "kinds", "relation", "limit", "below")
        if name in arguments and not arguments[name].is_required
    ]
    whole = f"call {op.name} with explain = true for all of it, as data"
    return f"name {' or '.join(narrower)} for less, or {whole}" if narrower else whole


def _pruned(value: Any) -> Any:
    """Return a value without what tells a reader nothing: what is empty, and the id of what has a key."""
    if isinstance(value, list):
        return [_pruned(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    hidden = (
        *_INTERNAL,
        *(("id",) if value.get("key") else ()),
        *(("gist",) if value.get("content") else ()),
    )
    parts = {name: _pruned(part) for name, part in value.items() if name not in hidden}
    if not any(part for part in parts.values()):
        return {}
    order = [
        name
        for name in (*_FIRST, *(name for name in parts if name not in (*_FIRST, *_TEXTS)), *_TEXTS)
        if name in parts
    ]
    return {name: parts[name] for name in order if parts[name] not in _EMPTY}


def _lines(answer: Any) -> Iterator[str]:
    """Yield the lines of a whole answer."""
    if isinstance(answer, str):
        yield from visible(answer).splitlines()
    elif isinstance(answer, list):
        yield from _list(answer)
    elif isinstance(answer, Mapping):
        for name, value in answer.items():
            yield from _field(name, value)
    elif answer is not None:
        yield _scalar(answer)


def _list(things: Sequence[Any], indent: str = "") -> Iterator[str]:
    """Yield a line for each thing, after one for what all of them have."""
    alike = len(things) > 1 and all(isinstance(thing, Mapping) for thing in things)
    fields = (
        [{(name, _in_line(name, part)) for name, part in thing.items()} for thing in things] if alike else []
    )
    every = set.intersection(*fields) if fields else set()
    common = {name for name, text in every if text is not None and name not in _HEAD}
    if common:
        yield f"{indent}each: {', '.join(_named(name, things[0][name]) for name in things[0] if name in common)}"
    for thing in things:
        own = thing if not common else {name: part for name, part in thing.items() if name not in common}
        yield from (f"{indent}{line}" for line in _item(own))


def _field(name: str, value: Any, indent: str = "") -> Iterator[str]:
    """Yield a field: on its line what is short, else what it has in the lines below."""
    words = label(name.replace("_", "-")).replace("-", " ")
    if (line := _in_line(name, value)) is not None:
        yield f"{indent}{words}: {line}"
        return
    yield f"{indent}{words}:"
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _field(inner, part, f"{indent}  ")
    else:
        yield from _list(value, f"{indent}  " if indent else "")


def _item(thing: Any) -> Iterator[str]:
    """Yield a thing of a list: its name, what is short of it, and its text in a line; below that what has parts."""
    if not isinstance(thing, Mapping):
        yield f"- {_in_line('', thing) or json_text(thing)}"
        return
    head = [bracketed(thing["key"])] if isinstance(thing.get("key"), str) else []
    if {"source", "relation", "target"} <= thing.keys():
        head = [label(str(thing[name])) for name in ("source", "relation", "target")]
    rest = {name: value for name, value in thing.items() if not head or name not in _HEAD}
    short = {name: value for name, value in rest.items() if _in_line(name, value) is not None}
    parts = [_named(name, value) for name, value in short.items() if name not in _TEXTS]
    about = " ".join([*head, ", ".join(parts)]).strip()
    texts = " ".join(_named(name, value) for name, value in short.items() if name in _TEXTS)
    yield f"- {': '.join(part for part in (about, texts) if part)}"
    for name, value in rest.items():
        if name not in short:
            yield from _field(name, value, "  ")


def _named(name: str, value: Any) -> str:
    """Return a field in a line; what a line begins or ends with needs no name."""
    line = _in_line(name, value) or ""
    return line if name in (*_FIRST, *_TEXTS) else f"{label(name).replace('_', ' ')} {line}"


def _in_line(name: str, value: Any) -> str | None:
    """Return a value that fits in a line; None for what has parts of its own."""
    if name in _TEXTS and isinstance(value, str):
        return quote_text(value)
    if isinstance(value, Mapping):
        if name in ("when", "cue") and value:
            return visible(conditions_text(value))
        if all(not isinstance(part, (Mapping, list)) for part in value.values()):
            return ", ".join(
                f"{label(inner).replace('_', ' ')} {_scalar(part)}" for inner, part in value.items()
            )
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (
            None
            if any(isinstance(part, (Mapping, list)) for part in value)
            else ", ".join(map(_scalar, value))
        )
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Return a number, a time to the second, a name as it stands, or a text as one string."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}"
    if not isinstance(value, str):
        return f"{value:,}" if isinstance(value, int) else json_text(value)
    time = _TIME.fullmatch(value)
    return f"{time[1]} {time[2]}" if time else label(value)
