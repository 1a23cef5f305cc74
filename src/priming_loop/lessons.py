"""Lessons from work: the objective, the task, the trigger, what failed and what helped.

A lesson is stored once: told again it strengthens the stored lesson instead of repeating it. Each of its texts is
matched on its own, and the best match counts: a long failure is recalled by its short objective.

The judge of statements, and not a cosine, decides whether two lessons say the same: "deploy to staging" is nearer to
"deploy to production" than most paraphrases are. Only lessons shown for their content are blamed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from priming.config.ids import uuid7
from priming.config.values import dataclass
from priming.config.words import KINDS, TRUST
from priming.core.arguments.normal_forms import free_key, slug
from priming.history.log import log
from priming.index.document import embedded_text
from priming.learning.reviews import strengthen
from priming.maintenance.replacing import supersede
from priming.namespace import Namespace
from priming.recall import traces
from priming.remember.drafts import Draft, draft
from priming.remember.remember import remember_draft
from priming.storage.questions import ids_of
from priming.storage.rows import VerdictRow
from priming.text.quotation import label
from priming.text.statements.judge import judge
from priming.types import MemoryRecord

OBJECTIVE, TASK, TRIGGER, FAILED, RESOLUTION = "objective", "task", "trigger", "failed", "resolution"
"""The texts of a lesson, in its metadata: the objective, the task, when it applies, what failed, what helped."""
SOLVED = "solved"
"""Metadata of a failure: whether its resolution is known to help."""
STORED, STRENGTHENED, SUPERSEDED = "stored", "strengthened", "superseded"
_CAUSE = ": "
"""Separates the task from its obstacle in a trigger."""
_NEAREST = 8
"""Number of memories by the cosine of the whole text, of which the lessons are compared."""
_VERSION = re.compile(r"\bv(?=\d)", re.IGNORECASE)
_VOLATILE = re.compile(
    r"\bline \d+|(?<=\.\w\w):\d+(:\d+)?|(?<=\.\w):\d+(:\d+)?|\bin \d+(\.\d+)? ?m?s(econds)?\b|\b0x[0-9a-f]+",
    re.IGNORECASE,
)
"""What differs from one occurrence of the same failure to the next: lines, durations, addresses."""
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
    replaced: str | None = None
    """The resolution that the lesson took the place of."""


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
    """Remember a lesson, or strengthen the memory of its kind that says the same at a cosine of at least ``least``.

    A memory with the same trigger and the opposite resolution, or another value in it, gets a new version instead,
    unless it is trusted more. Each is one operation. ``arguments`` are those of ``remember``. A memory in
    ``credited`` is not counted again: a verdict on the same work judges it. ``has_helped`` False: that the lesson is
    repeated does not mean that it helped. A failure that was not solved gets a new version as soon as a resolution
    of it is known.
    """
    lesson = draft(arguments)
    unsolved = _unsolved(memory, lesson, least)
    if unsolved is not None:
        return _solve(memory, unsolved, lesson)
    near = _comparable(memory, lesson)
    same = _same(lesson, near, least)
    if same is not None:
        if same[0].key in credited:
            return StoredLesson(same[0].key, STRENGTHENED, None, same[1])
        return _strengthen(memory, *same, reason, has_helped=has_helped)
    contrary = _contrary(memory, lesson, near, least)
    if contrary is not None:
        return _supersede(memory, *contrary, lesson)
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
    trigger = str(lesson.metadata[TRIGGER])
    return next((r for r in solved if _same_occasion(_text(r, TRIGGER), trigger)), None)


def _solve(memory: Namespace, record: MemoryRecord, lesson: Draft) -> StoredLesson:
    """Give a failure a new version that states what helped."""
    with memory.lock:
        metadata = {**lesson.metadata, TRIGGER: record.metadata[TRIGGER]}
        supersede(memory, record.key, lesson.content, metadata=metadata)
        (latest,) = log(memory, limit=1)
    return StoredLesson(record.key, STRENGTHENED, latest.id)


def _supersede(memory: Namespace, record: MemoryRecord, cosine: float, lesson: Draft) -> StoredLesson:
    """Give a lesson a new version with the resolution that takes the place of its own."""
    replaced = _parts(record.metadata, record.content)[1]
    with memory.lock:
        changes: dict[str, Any] = {
            "metadata": lesson.metadata,
            "source": lesson.source,
            "trust": lesson.trust,
        }
        supersede(memory, record.key, lesson.content, **changes)
        (latest,) = log(memory, limit=1)
    return StoredLesson(record.key, SUPERSEDED, latest.id, cosine, replaced)


def recurring(memory: Namespace, trigger: str, keys: Collection[str], *, least: float) -> list[str]:
    """The failures among these memories that have this trigger, or nearly so."""
    with memory.lock:
        records = [record for key in keys if (record := memory.find(key)).kind == "failure"]
    cosines = closeness(memory, trigger, [[_text(record, TRIGGER)] for record in records])
    near = [record for record, cosine in zip(records, cosines, strict=True) if cosine >= least]
    return [r.key for r in near if _same_occasion(_text(r, TRIGGER), trigger)]


def is_said_by(memory: Namespace, text: str, others: Sequence[str], *, least: float) -> bool:
    """Whether one of some other texts says the same, in these words or in others."""
    return any(
        judge(other, text).kind not in ("changes", "apart") and closeness(memory, text, [[other]])[0] >= least
        for other in others
    )


def _free_key(memory: Namespace, lesson: Draft) -> str:
    """A key from the first words of a lesson, numbered where the key is in use."""
    key = slug(lesson.heading or lesson.content.partition("\n")[0])
    numbered = [key, *(f"{key}-{number}" for number in range(2, _NUMBERED))]
    taken = ids_of(memory.store, memory.namespace, numbered)
    free = next((candidate for candidate in numbered if candidate not in taken), None)
    return free or free_key(key, uuid7(memory.now()), taken)


def repeated_lesson(memory: Namespace, lesson: Draft, *, least: float) -> tuple[MemoryRecord, float] | None:
    """The active memory that says the same as a lesson, and the cosine of the two."""
    return _same(lesson, _comparable(memory, lesson), least)


def _comparable(memory: Namespace, lesson: Draft) -> list[tuple[MemoryRecord, float]]:
    """The active memories of the lesson's kind that are nearest in meaning, with their cosines, nearest first.

    Compared are trigger and resolution: lessons of one objective share its text without being the same.
    """
    candidates = _candidates(memory, embedded_text(lesson.title, lesson.content), lesson.kind)
    solved = lesson.metadata.get(SOLVED)
    candidates = [record for record in candidates if record.metadata.get(SOLVED, solved) == solved]
    own = _statement(lesson.metadata, lesson.content)
    cosines = closeness(memory, own, [[_statement(record.metadata, record.content)] for record in candidates])
    pairs = zip(candidates, (min(1.0, cosine) for cosine in cosines), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def _same(
    lesson: Draft, near: Sequence[tuple[MemoryRecord, float]], least: float
) -> tuple[MemoryRecord, float] | None:
    """The nearest memory whose trigger and resolution both mean what those of the lesson mean."""
    when, what = _parts(lesson.metadata, lesson.content)
    for record, cosine in near:
        if cosine < least:
            break
        trigger, resolution = _parts(record.metadata, record.content)
        unsolved = lesson.metadata.get(SOLVED) is False
        if _same_occasion(trigger, when) and (unsolved or judge(resolution, what).kind == "same"):
            return record, cosine
    return None


def _contrary(
    memory: Namespace, lesson: Draft, near: Sequence[tuple[MemoryRecord, float]], least: float
) -> tuple[MemoryRecord, float] | None:
    """The nearest memory of the same trigger that resolves it the opposite way, or with another value.

    A lesson does not take the place of what is trusted more: an agent's report does not correct a person.
    """
    if lesson.metadata.get(SOLVED) is False:
        return None
    when, what = _parts(lesson.metadata, lesson.content)
    for record, cosine in near:
        trigger, resolution = _parts(record.metadata, record.content)
        if TRUST.index(lesson.trust) < TRUST.index(record.trust) or not trigger or not resolution:
            continue
        alike = closeness(memory, when, [[trigger]])[0] >= least
        if alike and _same_occasion(trigger, when) and judge(resolution, what).kind == "changes":
            return record, cosine
    return None


def _same_occasion(old: str, new: str) -> bool:
    """Whether two triggers say the same, whatever lines, durations and addresses are in them."""
    return judge(_VOLATILE.sub(" ", old), _VOLATILE.sub(" ", new)).kind == "same"


def _parts(metadata: Mapping[str, Any], content: str) -> tuple[str, str]:
    """The trigger and the resolution of a lesson; of another memory its first line and the others."""
    when, what = (metadata.get(name) for name in (TRIGGER, RESOLUTION))
    if isinstance(when, str) and isinstance(what, str):
        return when, what
    first, _, rest = content.partition("\n")
    return first, rest


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
        kinds = working.kind.values[working.row.values]
        fit = working.living.values & (kinds == KINDS.index(kind))
        nearest, cosines = working.neighbours.nearest(vector, 2 * _NEAREST, fit)
        ids = [working.ids[row] for row in working.row[nearest[cosines > 0.0]].tolist()]
        records = memory.store.records(memory.namespace, now, ids=ids)
        active = [records[i] for i in ids if i in records and records[i].status == "active"]
        return active[:_NEAREST]


def _strengthen(
    memory: Namespace, record: MemoryRecord, cosine: float, reason: str | None, *, has_helped: bool
) -> StoredLesson:
    """Count a repeated lesson as used, and helpful if it helped; raise its weight where verdicts do so."""
    message = f"the lesson repeats {label(record.key)}: cosine {cosine:.2f}"
    operation = strengthen(memory, record, has_helped=has_helped, reason=reason, message=message)
    return StoredLesson(record.key, STRENGTHENED, operation, cosine)


def judged_keys(memory: Namespace, keys: Collection[str], verdict: str, session: str | None) -> set[str]:
    """The keys whose latest recall in the session already has this verdict, so that it would not count again."""
    with memory.lock:
        judged = set()
        for key in keys:
            record = memory.find(key)
            trace = traces.latest_trace(memory, record.id, session)
            if trace is None:
                continue
            rows = memory.store.rows(memory.namespace, VerdictRow, ids=[record.id], recall=trace.recall_id)
            if any(row.verdict == verdict for row in rows):
                judged.add(key)
        return judged
