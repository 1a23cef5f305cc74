"""Lessons from work, each stored once: a lesson in other words strengthens the stored one instead of repeating it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priming.config.ids import uuid7
from priming.config.words import KINDS
from priming.core.plasticity import nudge
from priming.index.document import embedded_text
from priming.learning.retention import with_use
from priming.namespace import Namespace
from priming.recall import traces
from priming.remember.drafts import Draft, draft, free_key, slug
from priming.remember.remember import remember_draft
from priming.storage.rows import RowChange
from priming.types import MemoryRecord

STORED, STRENGTHENED = "stored", "strengthened"
_SOURCE = "conscious"
_NUMBERED = 100
"""Equal keys are numbered below this number; later ones end in a part of their id."""


@dataclass(frozen=True, slots=True)
class StoredLesson:
    """The memory that holds a lesson, whether it is new, and the operation."""

    key: str
    status: str
    operation: str | None
    cosine: float = 1.0
    """The cosine of the memory and the text of the lesson."""


def store_lesson(
    memory: Namespace,
    arguments: Mapping[str, Any],
    *,
    least: float,
    reason: str | None = None,
    credited: Collection[str] = (),
) -> StoredLesson:
    """Remember a lesson, or strengthen the nearest memory of its kind if its cosine is at least ``least``.

    Either is one operation. ``arguments`` are those of ``remember``. A memory in ``credited`` is not counted again:
    a verdict on the same work strengthens it.
    """
    lesson = draft(arguments)
    near = nearest_lesson(memory, embedded_text(lesson.title, lesson.content), lesson.kind)
    if near is not None and near[1] >= least:
        if near[0].key in credited:
            return StoredLesson(near[0].key, STRENGTHENED, None, near[1])
        return _strengthen(memory, *near, reason)
    with memory.lock:
        # A key of its own keeps the lesson from being taken for an echo of a recall.
        remembered = remember_draft(memory, replace(lesson, key=lesson.key or _free_key(memory, lesson)))
    return StoredLesson(remembered.key, STORED, remembered.operation)


def _free_key(memory: Namespace, lesson: Draft) -> str:
    """A key from the first words of a lesson, numbered where the key is in use."""
    key = slug(lesson.heading or lesson.content.partition("\n")[0])
    numbered = [key, *(f"{key}-{number}" for number in range(2, _NUMBERED))]
    taken = memory.store.keys(memory.namespace, numbered)
    free = next((candidate for candidate in numbered if candidate not in taken), None)
    return free or free_key(key, uuid7(memory.now()), taken)


def nearest_lesson(memory: Namespace, text: str, kind: str) -> tuple[MemoryRecord, float] | None:
    """The active memory of a kind whose text is nearest to ``text``, with the cosine of the two."""
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
            record = memory.store.records(memory.namespace, [memory_id], now).get(memory_id)
            if record is not None and record.status == "active":
                return record, float(min(1.0, cosines[place]))
    return None


def _strengthen(memory: Namespace, record: MemoryRecord, cosine: float, reason: str | None) -> StoredLesson:
    """Count that a lesson was repeated: the memory was used and helped, and its weight rises by a conscious step."""
    with memory.writing() as now:
        (row,) = memory.store.memories(memory.namespace, [record.id])
        p, step = memory.profile.plasticity, 0.0
        if memory.profile.learning.verdicts == "path":
            step = p.step("conscious")
        weight = float(nudge(row.weight, step, p.low, p.high))
        after = with_use(replace(row, helped=row.helped + 1, weight=weight), now)
        message = f"the lesson repeats {record.key}: cosine {cosine:.2f}"
        logged = memory.write(
            "strengthen", now, [RowChange(row, after)], source=_SOURCE, reason=reason, message=message
        )
    return StoredLesson(record.key, STRENGTHENED, logged.id, cosine)


def judged_keys(memory: Namespace, keys: Collection[str], verdict: str, session: str | None) -> set[str]:
    """The keys whose latest recall in the session already has this verdict, so that it would not count again."""
    with memory.lock:
        judged = set()
        for key in keys:
            record = memory.find(key)
            trace = traces.latest_trace(memory, record.id, session)
            if trace is None:
                continue
            rows = memory.store.verdicts(memory.namespace, [record.id], recall=trace.recall_id)
            if any(row.verdict == verdict for row in rows):
                judged.add(key)
        return judged
