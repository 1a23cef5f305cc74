"""Lessons from work: the objective, the task, the trigger, what failed and what helped.

A lesson is stored once: in other words it strengthens the stored lesson instead of repeating it. Each of its texts is
matched on its own, and the best match counts: a long failure is recalled by its short objective.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priming.config.ids import uuid7
from priming.config.words import KINDS
from priming.core.plasticity import nudge
from priming.history.log import log, supersede
from priming.index.document import embedded_text
from priming.learning.retention import with_use
from priming.namespace import Namespace
from priming.recall import traces
from priming.remember.drafts import Draft, draft, free_key, slug
from priming.remember.remember import remember_draft
from priming.storage.rows import RowChange
from priming.types import MemoryRecord

OBJECTIVE, TASK, TRIGGER, FAILED, RESOLUTION = "objective", "task", "trigger", "failed", "resolution"
"""The texts of a lesson, in its metadata: the objective, the task, when it applies, what failed, what helped."""
SOLVED = "solved"
"""Metadata of a failure: whether its resolution is known to help."""
STORED, STRENGTHENED, RECURRED = "stored", "strengthened", "recurred"
_SOURCE = "conscious"
_CAUSE = ": "
"""Separates the task from its obstacle in a trigger."""
_NEAREST = 8
"""Number of memories by the cosine of the whole text, of which the lessons are compared."""
_VERSION = re.compile(r"\bv(?=\d)", re.IGNORECASE)
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


def lesson_texts(record: MemoryRecord) -> tuple[str, ...]:
    """The texts of a memory; for a lesson its objective, task, trigger, failure and resolution."""
    texts = {name: _text(record, name) for name in (OBJECTIVE, TASK, TRIGGER, FAILED, RESOLUTION)}
    if not texts[TASK] and _CAUSE in texts[TRIGGER]:
        texts[TASK] = texts[TRIGGER].partition(_CAUSE)[0]
    if record.metadata.get(SOLVED) is False:
        texts[RESOLUTION] = ""
    return tuple(dict.fromkeys(text for text in texts.values() if text)) or (record.content,)


def triggers(record: MemoryRecord) -> tuple[str, ...]:
    """The texts of a lesson that state when it applies: its trigger, its task and its objective."""
    trigger, task = _text(record, TRIGGER), _text(record, TASK)
    if not task:
        task = trigger.partition(_CAUSE)[0]
    return tuple(dict.fromkeys(text for text in (trigger, task, _text(record, OBJECTIVE)) if text))


def nearer_elsewhere(
    memory: Namespace, records: Sequence[MemoryRecord], text: str, others: Sequence[str]
) -> list[bool]:
    """Whether the task of each lesson is nearer to one of some other texts than to ``text``."""
    tasks = [_text(record, TASK) or _text(record, TRIGGER).partition(_CAUSE)[0] for record in records]
    pairs = [closeness(memory, task, [[text], others]) if task and others else [0.0, 0.0] for task in tasks]
    return [other > own for own, other in pairs]


def resolution_of(record: MemoryRecord) -> str:
    """What helped, if the lesson says so; otherwise an empty text."""
    return "" if record.metadata.get(SOLVED) is False else _text(record, RESOLUTION)


def closeness(memory: Namespace, text: str, groups: Sequence[Sequence[str]]) -> list[float]:
    """The cosine of a text and the nearest text of each group, "v2" read as "version 2"; 0 for an empty group."""
    distinct = list(dict.fromkeys(other for group in groups for other in group))
    if not distinct:
        return [0.0] * len(groups)
    vectors = memory.embedder.embed([_VERSION.sub("version ", each) for each in (text, *distinct)])
    cosines = dict(zip(distinct, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    return [max((cosines[other] for other in group), default=0.0) for group in groups]


def _text(record: MemoryRecord, name: str) -> str:
    value = record.metadata.get(name)
    return value.strip() if isinstance(value, str) else ""


def store_lesson(
    memory: Namespace,
    arguments: Mapping[str, Any],
    *,
    least: float,
    reason: str | None = None,
    credited: Collection[str] = (),
    has_helped: bool = True,
) -> StoredLesson:
    """Remember a lesson, or strengthen the nearest memory of its kind if their cosine is at least ``least``.

    Either is one operation. ``arguments`` are those of ``remember``. A memory in ``credited`` is not counted again:
    a verdict on the same work judges it. ``has_helped`` False: that the lesson is repeated does not mean that it
    helped. A failure that was not solved gets a new version as soon as a resolution of it is known.
    """
    lesson = draft(arguments)
    unsolved = _unsolved(memory, lesson, least)
    if unsolved is not None:
        return _solve(memory, unsolved, lesson)
    near = nearest_lesson(memory, lesson)
    if near is not None and near[1] >= least:
        if near[0].key in credited:
            return StoredLesson(near[0].key, STRENGTHENED, None, near[1])
        return _strengthen(memory, *near, reason, has_helped=has_helped)
    with memory.lock:
        # A key of its own keeps the lesson from being taken for an echo of a recall.
        remembered = remember_draft(memory, replace(lesson, key=lesson.key or _free_key(memory, lesson)))
    return StoredLesson(remembered.key, STORED, remembered.operation)


def _unsolved(memory: Namespace, lesson: Draft, least: float) -> MemoryRecord | None:
    """The stored failure that a lesson solves, if there is such a failure."""
    if not lesson.metadata.get(SOLVED):
        return None
    candidates = _candidates(memory, embedded_text(lesson.title, lesson.content), lesson.kind)
    candidates = [record for record in candidates if record.metadata.get(SOLVED) is False]
    cosines = closeness(memory, str(lesson.metadata[TRIGGER]), [[_text(r, TRIGGER)] for r in candidates])
    solved = [record for record, cosine in zip(candidates, cosines, strict=True) if cosine >= least]
    return solved[0] if solved else None


def _solve(memory: Namespace, record: MemoryRecord, lesson: Draft) -> StoredLesson:
    """Give a failure a new version that states what helped."""
    with memory.lock:
        metadata = {**lesson.metadata, TRIGGER: record.metadata[TRIGGER]}
        supersede(memory, record.key, lesson.content, metadata=metadata)
        (latest,) = log(memory, limit=1)
    return StoredLesson(record.key, STRENGTHENED, latest.id)


def recurring(memory: Namespace, trigger: str, keys: Collection[str], *, least: float) -> list[str]:
    """The failures among these memories that have this trigger, or nearly so."""
    with memory.lock:
        records = [record for key in keys if (record := memory.find(key)).kind == "failure"]
    cosines = closeness(memory, trigger, [[_text(record, TRIGGER)] for record in records])
    return [record.key for record, cosine in zip(records, cosines, strict=True) if cosine >= least]


def _free_key(memory: Namespace, lesson: Draft) -> str:
    """A key from the first words of a lesson, numbered where the key is in use."""
    key = slug(lesson.heading or lesson.content.partition("\n")[0])
    numbered = [key, *(f"{key}-{number}" for number in range(2, _NUMBERED))]
    taken = memory.store.keys(memory.namespace, numbered)
    free = next((candidate for candidate in numbered if candidate not in taken), None)
    return free or free_key(key, uuid7(memory.now()), taken)


def nearest_lesson(memory: Namespace, lesson: Draft) -> tuple[MemoryRecord, float] | None:
    """The active memory of the lesson's kind with the most similar meaning, and the cosine of the two.

    Compared are trigger and resolution: lessons of one objective share its text without being the same.
    """
    candidates = _candidates(memory, embedded_text(lesson.title, lesson.content), lesson.kind)
    solved = lesson.metadata.get(SOLVED)
    candidates = [record for record in candidates if record.metadata.get(SOLVED, solved) == solved]
    if not candidates:
        return None
    own = _statement(lesson.metadata, lesson.content)
    cosines = closeness(memory, own, [[_statement(record.metadata, record.content)] for record in candidates])
    best = int(np.argmax(cosines))
    return candidates[best], float(min(1.0, cosines[best]))


def _statement(metadata: Mapping[str, Any], content: str) -> str:
    """The trigger and the resolution of a lesson; of another memory its content."""
    texts = [metadata.get(name) for name in (TRIGGER, RESOLUTION)]
    return "\n".join(map(str, texts)) if all(isinstance(text, str) for text in texts) else content


def _candidates(memory: Namespace, text: str, kind: str) -> list[MemoryRecord]:
    """The active memories of a kind whose whole text is nearest to ``text``, nearest first."""
    (vector,) = memory.embedder.embed([text])
    with memory.lock:
        now = memory.now()
        working = memory.working(now)
        if not np.any(vector) or not working.documents:
            return []
        kinds = working.kind.values[working.row.values]
        fit = working.living.values & (kinds == KINDS.index(kind))
        cosines = np.where(fit, working.vectors.dot(vector), 0.0)
        nearest = np.argsort(-cosines, kind="stable").tolist()[: 2 * _NEAREST]
        ids = [working.ids[working.row[place]] for place in nearest if cosines[place] > 0.0]
        records = memory.store.records(memory.namespace, ids, now)
        active = [records[i] for i in ids if i in records and records[i].status == "active"]
        return active[:_NEAREST]


def _strengthen(
    memory: Namespace, record: MemoryRecord, cosine: float, reason: str | None, *, has_helped: bool
) -> StoredLesson:
    """Count a repeated lesson as used, and helpful if it helped; raise its weight where verdicts do so."""
    with memory.writing() as now:
        (row,) = memory.store.memories(memory.namespace, [record.id])
        p = memory.profile.plasticity
        step = p.step("conscious") if memory.profile.learning.verdicts == "path" else 0.0
        weight = float(nudge(row.weight, step, p.low, p.high))
        repeated = replace(row, helped=row.helped + has_helped, weight=weight)
        message = f"the lesson repeats {record.key}: cosine {cosine:.2f}"
        logged = memory.write(
            "strengthen",
            now,
            [RowChange(row, with_use(repeated, now))],
            source=_SOURCE,
            reason=reason,
            message=message,
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
