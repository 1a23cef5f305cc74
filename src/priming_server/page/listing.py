"""What the page lists: memories, and the operations of the log; the latest first, by a filter, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from priming.config.words import KINDS, TEXT_KINDS
from priming.core.arguments.checks import PAGE_LIMIT, check_choice, check_count
from priming.graph.drawing import ENTITY
from priming.namespace import Namespace
from priming.serialization import encode
from priming.storage.filters import parse
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, Row, VerdictRow, VersionRow, ends_of
from priming.verbs.op import Op

R = TypeVar("R", bound=Row)
_SUBJECTS = 4
"""How many memories an entry names."""
LISTING, ENTRIES = (Op(name, f"{__name__}:{name}", "care") for name in ("listing", "entries"))


def listing(
    memory: Namespace,
    *,
    filters: Mapping[str, Any] | None = None,
    kinds: Collection[str] | None = None,
    end: int | None = None,
    limit: int = 50,
) -> dict[str, Any]:
    """Return active memories, the last remembered first: ``memories``, and ``total``, how many match.

    ``end`` in the answer is that of the next page: how many of them, the oldest first, come up to it. What is
    remembered meanwhile does not move it.
    """
    limit = check_count("limit", limit, 1, PAGE_LIMIT)
    listed = [check_choice("kinds", kind, KINDS) for kind in kinds or TEXT_KINDS]
    with memory.reading() as now:
        at = memory.valid_time(now)
        if filters:
            condition = parse({"and": [{"kind": {"in": listed}}, filters]})
            ids = [*memory.names(condition=condition, at=at)]
        else:  # without a pass over the store
            working = memory.working(now)
            numbers = [KINDS.index(kind) for kind in listed]
            living = working.alive.values & np.isin(working.kind.values, numbers)
            ids = [working.ids[row] for row in np.flatnonzero(living)]
        last = len(ids) if end is None else check_count("end", end, 0, PAGE_LIMIT)
        first = max(0, last - limit)
        page = memory.records(at, ids=ids[first:last][::-1])
    return {"memories": [encode(record) for record in page.values()], "total": len(ids), "end": first}


def entries(
    memory: Namespace,
    *,
    key: str | None = None,
    kind: str | None = None,
    source: str | None = None,
    until: datetime | None = None,
    before: int | None = None,
    limit: int = 50,
) -> dict[str, Any]:
    """Return operations without their changes, and the number ``before`` which the next page begins.

    Each has ``subjects``: the first few memories that it is about, with the first words of a text that it changed.
    """
    which: Any = {"kind": kind, "source": source, "until": until, "before": before}
    which["limit"] = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading():
        memory_id = None if key is None else memory.find(key).id
        page = memory.operations(memory_id=memory_id, first=True, **which)
        about = [_about(logged) for logged in page]
        named = memory.names(ids={each for subjects in about for each in subjects})
        operations = []
        for logged, subjects in zip(page, about, strict=True):
            named |= {row.id: row.key for row in _rows(logged, MemoryRow)}
            listed = [{"key": named[each], "text": text} for each, text in subjects.items() if each in named]
            whole = memory.to_operation(replace(logged, rows=()))
            operations.append({**encode(whole), "subjects": listed})
    return {"operations": operations, "before": page[-1].number if len(page) == limit else None}


def _rows(logged: Logged, kind: type[R]) -> list[R]:
    """Return rows of a kind that an operation changed, as they were after it, or before it where it removed them."""
    return [change.row for change in logged.rows if isinstance(change.row, kind)]


def _about(logged: Logged) -> dict[str, str | None]:
    """Return the ids of the first memories that an operation is about, with the beginning of a text that it changed.

    They are those that it judged, else those that it wrote or whose state it changed, else the ends of links; names
    only where there is nothing else.
    """
    memories, texts = _rows(logged, MemoryRow), {row.id: row.gist for row in _rows(logged, VersionRow)}
    ranked: list[Sequence[Row]] = [_rows(logged, VerdictRow), memories]
    ranked += [_rows(logged, VersionRow), _rows(logged, LinkRow)]
    ends = dict.fromkeys(end for row in next(filter(None, ranked), ()) for end in ends_of(row))
    names = {row.id for row in memories if row.kind == ENTITY}
    first = [end for end in ends if end not in names] or [*ends]
    return {end: texts.get(end) for end in first[:_SUBJECTS]}
