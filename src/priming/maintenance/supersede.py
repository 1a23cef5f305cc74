"""supersede: a memory gets a newer text, and what rests on the old one follows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from priming.core.arguments.checks import check_time
from priming.errors import Conflict, ParamError
from priming.history.undo import restored_vectors
from priming.index.document import packed_vectors, vectors_of
from priming.namespace import Namespace
from priming.remember.drafts import current_version, draft, succeeding_rows
from priming.remember.relink import relink_mentions
from priming.sleep.quotations import requote
from priming.storage.rows import MemoryRow, VersionRow, record
from priming.types import MemoryRecord

_NOT_SUPERSEDED = ("kind", "key")


def supersede(
    memory: Namespace, /, key: str, content: str, *, valid_from: datetime | None = None, **changes: Any
) -> MemoryRecord:
    """Give a memory a new version, valid from ``valid_from`` (now) on; the old version stays in its history.

    ``changes`` are arguments of ``remember`` except kind and key; the other arguments keep their values.

    Raises:
        NotFound: no such memory.
        ParamError: ``valid_from`` is before the start of the old version.
        Conflict: the memory is not active.

    """
    for name in _NOT_SUPERSEDED:
        if name in changes:
            raise ParamError(
                name, changes[name], "stays the same over versions: remember a new memory instead"
            )
    boundary = None if valid_from is None else check_time("valid_from", valid_from)
    with memory.changing() as now:
        current = memory.find(key, now)
        if current.status != "active":
            raise Conflict(f"{current.key!r} is {current.status}: restore it first")
        old = current_version(memory, current)
        new = draft({**_arguments(old, current.kind), **changes, "content": content})
        at = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
        rows, version = succeeding_rows(memory, old, new, at, boundary or _default_start(old, now, at))
        at_once = boundary is None or boundary <= at
        (vectors,) = vectors_of(memory.embedder, [new])
        rows += relink_mentions(memory, old, new, vectors.whole, at, at_once=at_once)
        gists = requote(memory, old, new, vectors.whole, at) if at_once else []
        rows += gists
        stored = restored_vectors(memory, gists)
        stored |= packed_vectors([(current.id, version.version)], [vectors])
        memory.write("supersede", at, rows, vectors=stored)
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[current.id])
        return record(memory.namespace, row, version)


def _default_start(old: VersionRow, now: datetime, at: datetime) -> datetime:
    """The start of a version without ``valid_from``: now, or the old version's start if the clock was set back."""
    start = old.valid_from or now
    return max(now, start) if start <= at else now


def _arguments(old: VersionRow, kind: str) -> dict[str, Any]:
    names = [
        "heading",
        "session",
        "speaker",
        "occurred_at",
        "tags",
        "metadata",
        "when",
        "importance",
        "outcome",
        "source",
        "trust",
    ]
    return {"kind": kind, **{name: getattr(old, name) for name in names}}
