"""Whether an item is what a memory was made of, and which memory of a source is now called otherwise."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.remember.drafts import FIELDS, Draft, bare_text
from priming.storage.filters import parse
from priming.storage.questions import StoredNamespace
from priming.storage.rows import VersionRow
from priming.text.quotation import one_line
from priming.transfer.importers import Entry
from priming.types import MemoryRecord

_APART = ("content", "kind", "key", "source", "files", "gist", "valid_from")
COMPARED = tuple(name for name in FIELDS if name not in _APART)
"""The arguments of ``remember`` in which an item may differ from its memory, beside its text and kind."""


def renamed(
    gone: Mapping[str, MemoryRecord], new: Mapping[str, MemoryRecord]
) -> Iterator[tuple[MemoryRecord, MemoryRecord]]:
    """Yield pairs of a memory that is gone and a new one: of its text, of its speaker and time, or at its place."""
    left, free = dict(gone), dict(new)
    for likeness in (_text_and_heading, _text, _moment, _place):
        candidates: dict[Any, list[MemoryRecord]] = {}
        for record in free.values():
            candidates.setdefault(likeness(record), []).append(record)
        for old in [*left.values()]:
            alike = likeness(old) is not None and candidates.get(likeness(old))
            if alike:
                record = alike.pop(0)
                del left[old.id], free[record.id]
                yield old, record


Renames = list[tuple[MemoryRecord, MemoryRecord]]
"""Memories, each with the new one that has its place or its text now."""


def resettled(
    gone: Mapping[str, MemoryRecord], left: Mapping[str, MemoryRecord], new: Mapping[str, MemoryRecord]
) -> tuple[Renames, dict[str, MemoryRecord]]:
    """Return the renames of what is gone and of what is left of folders with another name, and what has none.

    That has the place where it would be under the new name.
    """
    pairs = [*renamed(gone, new)]
    taken = {record.id for _, record in pairs}
    texts = {_text_and_heading(record): record for record in new.values() if record.id not in taken}
    moved = [(old, record) for old in left.values() if (record := texts.pop(_text_and_heading(old), None))]
    folders = [_folders(old, record) for old, record in moved]
    places = {(record.source, record.heading): record for record in texts.values()}
    rest = {**gone}
    for old in left.values():
        if at := _place_in(folders, old.source or ""):
            record = places.pop((at, old.heading), None)
            moved += [(old, record)] if record else []
            rest[old.id] = replace(old, source=at)
    for old, _ in (*pairs, *moved):
        rest.pop(old.id, None)
    return [*pairs, *moved], rest


def _place_in(folders: Iterable[tuple[str, str]], place: str) -> str | None:
    """Return a place under the new name of its folder; None if that has no other name."""
    named = (after + place.removeprefix(before) for before, after in folders if place.startswith(before))
    return next(named, None)


def _folders(old: MemoryRecord, new: MemoryRecord) -> tuple[str, str]:
    """Return the folders of the places of two memories, the last that differ in their names."""
    parts = (old.source or "").split("/"), (new.source or "").split("/")
    while all(parts) and parts[0][-1] == parts[1][-1]:
        for each in parts:
            each.pop()
    return "/".join([*parts[0], ""]), "/".join([*parts[1], ""])


def left_behind(
    memory: StoredNamespace, importer: str, present: Collection[str], now: datetime
) -> dict[str, MemoryRecord]:
    """Return the active memories of an importer, those of ``present`` ids aside, whose place has another name now."""
    condition = parse({"source": {"gte": f"{importer}:", "lt": f"{importer};"}})
    ids = [each for each in memory.names(condition=condition, at=now) if each not in present]
    return {
        name: record for name, record in memory.records(now, ids=ids).items() if not is_there(record.source)
    }


def is_same(new: Draft, stored: VersionRow | MemoryRecord) -> bool:
    """Tell whether a version says what an item says; that another place says it too makes no difference."""
    if bare_text(new.content) != bare_text(stored.content):
        return False
    return all(_comparable(getattr(new, name)) == _comparable(getattr(stored, name)) for name in COMPARED)


def _comparable(value: Any) -> Any:
    return json.dumps(dict(value), sort_keys=True, default=str) if isinstance(value, Mapping) else value


def is_there(source: str | None) -> bool:
    """Tell whether the place that a source names exists; one that is no place of an importer counts as there."""
    _, colon, place = (source or "").partition(":")
    return not colon or not Path(place).is_absolute() or Path(place).exists()


def _text_and_heading(record: MemoryRecord) -> Any:
    return bare_text(record.content), record.heading


def _text(record: MemoryRecord) -> Any:
    return bare_text(record.content)


def _moment(record: MemoryRecord) -> Any:
    """Return the speaker and the time: a commit that was amended keeps both."""
    return (record.speaker, record.occurred_at) if record.speaker and record.occurred_at else None


def _place(record: MemoryRecord) -> Any:
    """Return where an item stood that is known by its place and its text, such as a message without an id."""
    place, _, digest = record.key.rpartition("-")
    return place if len(digest) == 8 and place[-1:].isdigit() else None


def entry_name(entry: Entry) -> str:
    """Return the name of an entry in a message: its key, else its heading, its source or the start of its content."""
    names = map(entry.arguments.get, ("key", "heading", "source", "content"))
    name = next(filter(None, names), "")
    return repr(one_line(str(name), 60))
