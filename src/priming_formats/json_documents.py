"""JSON files of exports: how one begins, what a damaged one still says, and the messages of a list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from priming.errors import ParamError
from priming.transfer.conversations import Conversation
from priming.transfer.importers import Skipped
from priming.transfer.reading import first_line, head_of, parse_json, read_text, skipping

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[][{},]', re.DOTALL)
T = TypeVar("T")
_CLOSING = {"{": "}", "[": "]"}


def sample(path: Path) -> Any:
    """Return the first JSON value of a file, or as much of it as its start has; None: it does not begin with any."""
    return _sample(path, stamp_of(path))


def stamp_of(path: Path) -> int:
    """Return when a file was changed, which is 0 for one that is missing or within a zip file."""
    try:
        return path.stat().st_mtime_ns if isinstance(path, Path) else 0
    except OSError:
        return 0


@lru_cache(maxsize=32)
def _sample(path: Path, _stamp: int) -> Any:
    head = head_of(path).lstrip()
    for text in (head, _closed(head)) if head.startswith(("{", "[")) else ():
        try:
            return json.JSONDecoder().raw_decode(text)[0]
        except (ValueError, RecursionError):
            continue
    return first_line(path) if path.suffix == ".jsonl" else None


def first_item(path: Path) -> Any:
    """Return the first item of the list that a file holds, or else its value itself."""
    value = sample(path)
    return value[0] if isinstance(value, list) and value else value


def _closed(text: str) -> str:
    """Return the start of a JSON document, up to the last value that is whole, with its brackets closed.

    >>> _closed('[{"a": [1, 2], "b": "not fini')
    '[{"a": [1, 2]}]'
    """
    end = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ",":
            end = token.start()
        elif token[0] in "}]":
            end = token.end()
    closers: list[str] = []
    for token in _TOKEN.finditer(text, 0, end):
        if token[0] in _CLOSING:
            closers.append(_CLOSING[token[0]])
        elif token[0] in "}]" and closers:
            closers.pop()
    return text[:end] + "".join(reversed(closers))


def document(path: Path) -> tuple[Any, list[Skipped]]:
    """Return the value of a JSON file; of a damaged one what stands before the damage, and that the rest is skipped.

    Raises:
        ParamError: it cannot be read, or nothing in it is whole.

    """
    text = read_text(path)
    try:
        return parse_json(text, str(path)), []
    except ParamError as error:
        cause = error.__context__
        whole = _closed(text[: cause.pos] if isinstance(cause, json.JSONDecodeError) else "")
        try:
            return json.loads(whole), [Skipped(error)]
        except (ValueError, RecursionError):
            raise error from None


def read_conversations(
    path: Path,
    read: Callable[[dict[str, Any], str], Iterable[Conversation]],
    items: Callable[[Any, str], list[Any]] = lambda value, _: value if isinstance(value, list) else [value],
) -> Iterator[Conversation | Skipped]:
    """Yield what a function reads of the only object of a file, or of each in its list; others are skipped."""
    value, damaged = document(path)
    yield from read_each(items(value, str(path)), str(path), read, "conversation")
    yield from damaged


def read_each(
    items: Any, where: str, read: Callable[[dict[str, Any], str], Iterable[T]], what: str = "message"
) -> Iterator[T | Skipped]:
    """Yield what a function reads of each item of a list; one that cannot be read is skipped."""
    if not isinstance(items, list):
        raise ParamError(where, items, f"must be a list of {what}s")
    for number, item in enumerate(items):
        place = f"{where}, {what} {number}"
        if isinstance(item, dict):
            yield from skipping(read(item, place))
        else:
            yield Skipped(ParamError(place, item, "must be an object"))


def file_notes(*lists: Iterable[Any], field: str) -> list[str]:
    """Return a line for each object in some lists that names a file in a field."""
    names = (each.get(field) for items in lists for each in items if isinstance(each, dict))
    return [f"(file: {name})" for name in names if isinstance(name, str) and name.strip()]


def text_or_none(value: Any) -> str | None:
    """Return a value if it is a text."""
    return value if isinstance(value, str) else None
