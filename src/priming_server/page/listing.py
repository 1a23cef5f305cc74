"""What the page lists: memories, and the operations of the log; the latest first, by a filter, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from priming.config.words import KINDS, TEXT_KINDS
from priming.core.arguments.checks import PAGE_LIMIT, check_choice, check_count
from priming.namespace import Namespace
from priming.serialization import encode
from priming.storage.filters import parse
from priming.verbs.op import Op

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
            ids = [*memory.store.names(memory.namespace, condition=condition, at=at)]
        else:  # without a pass over the store
            working = memory.working(now)
            numbers = [KINDS.index(kind) for kind in listed]
            living = working.alive.values & np.isin(working.kind.values, numbers)
            ids = [working.ids[row] for row in np.flatnonzero(living)]
        last = len(ids) if end is None else check_count("end", end, 0, PAGE_LIMIT)
        first = max(0, last - limit)
        page = memory.store.records(memory.namespace, at, ids=ids[first:last][::-1])
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
    """Return operations without their changes, and the number ``before`` which the next page begins."""
    which: Any = {"kind": kind, "source": source, "until": until, "before": before}
    which["limit"] = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading():
        memory_id = None if key is None else memory.find(key).id
        page = memory.store.operations(memory.namespace, memory_id=memory_id, rows=False, **which)
        operations = [encode(memory.to_operation(logged)) for logged in page]
    return {"operations": operations, "before": page[-1].number if len(page) == limit else None}
