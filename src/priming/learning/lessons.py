"""Lessons: what work taught, kept once. One that is told again in other words strengthens the one that is there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priming.config.words import KINDS
from priming.core.plasticity import CONSCIOUS, nudge
from priming.index.document import embedded_text
from priming.learning.retention import with_use
from priming.namespace import Namespace
from priming.recall import traces
from priming.remember.drafts import Draft, draft, free_key, slug
from priming.remember.remember import remember_draft
from priming.storage.rows import RowChange
from priming.types import MemoryRecord, uuid7

STORED, STRENGTHENED = "stored", "strengthened"
_SOURCE = "conscious"
_NUMBERED = 100
"""Keys that begin alike are numbered below this; the next have the end of an id."""


@dataclass(frozen=True, slots=True)
class StoredLesson:
    """What became of a lesson: the memory that stands for it, whether it is new, and the operation."""

    key: str
    status: str
    operation: str | None
    cosine: float = 1.0
    """How near it is to the text that was told."""


def store_lesson(
    memory: Namespace,
    arguments: Mapping[str, Any],
    *,
    least: float,
    reason: str | None = None,
    credited: Collection[str] = (),
) -> StoredLesson:
    """Remember a lesson, or strengthen the nearest of its kind from the cosine ``least`` on, as one operation.

    ``arguments`` are those of ``remember``. What is ``credited`` for the same work by a verdict is strengthened by
    that: nothing more is counted.
    """
    wanted = draft(arguments)
    near = nearest_lesson(memory, embedded_text(wanted.title, wanted.content), wanted.kind)
    if near is not None and near[1] >= least:
        if near[0].key in credited:
            return StoredLesson(near[0].key, STRENGTHENED, None, near[1])
        return _strengthened(memory, *near, reason)
    with memory.lock:
        # What has a key of its own is no echo of a recall: it is told by us, of what came of it.
        done = remember_draft(memory, replace(wanted, key=wanted.key or _free_key(memory, wanted)))
    return StoredLesson(done.key, STORED, done.operation)


def _free_key(memory: Namespace, wanted: Draft) -> str:
    """The first words of a lesson as its key, with a number where others begin so."""
    key = slug(wanted.heading or wanted.content.partition("\n")[0])
    numbered = [key, *(f"{key}-{number}" for number in range(2, _NUMBERED))]
    taken = memory.store.keys(memory.namespace, numbered)
    free = next((one for one in numbered if one not in taken), None)
    return free or free_key(key, uuid7(memory.now()), taken)


def nearest_lesson(memory: Namespace, text: str, kind: str) -> tuple[MemoryRecord, float] | None:
    """The active memory of a kind whose text is nearest to ``text``, with their cosine."""
    (vector,) = memory.embedder.embed([text])
    with memory.lock:
        now = memory.now()
        working = memory.working(now)
        if not np.any(vector) or not working.documents:
            return None
        kinds = working.kind.values[working.row.values]
        fit = working.living.values & (kinds == KINDS.index(kind))
        cosines = np.where(fit, working.vectors.dot(vector), 0.0)
        for place in np.argsort(-cosines, kind="stable").tolist():
            if cosines[place] <= 0.0:
                return None
            memory_id = working.ids[working.row[place]]
            there = memory.store.records(memory.namespace, [memory_id], now).get(memory_id)
            if there is not None and there.status == "active":
                return there, float(min(1.0, cosines[place]))
    return None


def _strengthened(memory: Namespace, there: MemoryRecord, cosine: float, reason: str | None) -> StoredLesson:
    """Count that a memory held once more: it helped, was used, and weighs a conscious step more."""
    with memory.writing() as now:
        (row,) = memory.store.memories(memory.namespace, [there.id])
        after = with_use(replace(row, helped=row.helped + 1, weight=float(nudge(row.weight, CONSCIOUS))), now)
        said = f"{there.key} was met again: {cosine:.2f} alike"
        logged = memory.write(
            "strengthen", now, [RowChange(row, after)], source=_SOURCE, reason=reason, message=said
        )
    return StoredLesson(there.key, STRENGTHENED, logged.id, cosine)


def judge_lessons(memory: Namespace, keys: Collection[str], verdict: str, session: str | None) -> set[str]:
    """Those of which the latest recall of a session has this verdict already: it would count no more."""
    with memory.lock:
        found = set()
        for key in keys:
            record = memory.find(key)
            trace = traces.latest_trace(memory, record.id, session)
            if trace is None:
                continue
            rows = memory.store.verdicts(memory.namespace, [record.id], recall=trace.recall_id)
            if any(row.verdict == verdict for row in rows):
                found.add(key)
        return found
