"""Lessons from work: the objective, the task, the trigger, what failed and what helped.

A lesson is stored once: told again it strengthens the stored lesson instead of repeating it.

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
from priming.errors import Conflict
from priming.index.document import embedded_text
from priming.learning.feedback import VerdictBatch, record_verdicts
from priming.learning.reviews import strengthen
from priming.maintenance.replacing import supersede
from priming.namespace import Namespace
from priming.recall.records import get
from priming.remember.drafts import Draft, draft
from priming.remember.remember import remember_draft
from priming.results import Remembered
from priming.text.quotation import label
from priming.text.statements.judge import judge
from priming.types import MemoryRecord, Operation
from priming_loop.codebase import CONTEXT
from priming_loop.knowledge import FAILURE, LessonMetadata, applies, closeness

STORED, STRENGTHENED, SUPERSEDED = "stored", "strengthened", "superseded"
_TRIES, _SESSIONS = 4, 100
"""Maximum number of tries and of sessions that a failure lists, the latest."""
_NEAREST = 8
"""Number of memories by the cosine of the whole text, of which the lessons are compared."""
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


def store_lesson(
    memory: Namespace,
    arguments: Mapping[str, Any],
    *,
    reason: str | None = None,
    credited: Collection[str] = (),
) -> StoredLesson:
    """Remember a lesson, unless a memory of its kind says the same: that one is strengthened. Each is one operation.

    A failure that happens again gets a new version, with another hit and what was tried; and with what helped as soon
    as that is known. A pattern that works again has helped, unless it is in ``credited``: a verdict on the same work
    judges it. A memory with the same trigger and the opposite resolution, or another value in it, gets a new version
    too, unless it is trusted more. ``arguments`` are those of ``remember``.
    """
    lesson = draft(arguments)
    match = _match(memory, lesson)
    if match is None:
        remembered = _remembered(memory, lesson)
        if remembered.status == STORED:
            return StoredLesson(remembered.key, STORED, remembered.operation)
        match = "same", get(memory, remembered.key), 1.0  # another process stored it meanwhile
    kind, record, cosine = match
    if kind == "changes":
        changes = {"metadata": lesson.metadata, "source": lesson.source, "trust": lesson.trust}
        done = _superseded(memory, record.key, lesson.content, changes)
        return StoredLesson(record.key, SUPERSEDED, done, cosine, _parts(record)[1])
    if lesson.kind == FAILURE:
        return StoredLesson(record.key, STRENGTHENED, _hit(memory, record, lesson), cosine)
    if record.key in credited:
        return StoredLesson(record.key, STRENGTHENED, None, cosine)
    message = f"the lesson repeats {label(record.key)}: cosine {cosine:.2f}"
    done = strengthen(memory, record, has_helped=True, reason=reason, message=message)
    return StoredLesson(record.key, STRENGTHENED, done, cosine)


def repeated_lesson(memory: Namespace, arguments: Mapping[str, Any]) -> str | None:
    """Return the key of the active memory that says the same as a lesson."""
    match = _match(memory, draft(arguments))
    return match[1].key if match is not None and match[0] == "same" else None


def _match(memory: Namespace, lesson: Draft) -> tuple[str, MemoryRecord, float] | None:
    """Return the nearest memory that says the ``same`` as a lesson, else ``changes`` what it says, and their cosine.

    Compared are trigger and resolution: lessons of one objective share its text without being the same. A failure
    without a resolution is the same as any of its trigger. A lesson does not take the place of what is trusted more:
    an agent's report does not correct a person.
    """
    when, what = _parts(lesson)
    records = nearest(memory, embedded_text(lesson.title, lesson.content), lesson.kind)
    pairs = [_parts(record) for record in records]
    wholes = closeness(memory, f"{when}\n{what}", [["\n".join(pair)] for pair in pairs])
    triggers = closeness(memory, _lasting(when), [[_lasting(trigger)] for trigger, _ in pairs])
    changed = None
    for whole, of_trigger, record in sorted(
        zip(wholes, triggers, records, strict=True), key=lambda each: -each[0]
    ):
        trigger, resolution = _parts(record)
        if max(whole, of_trigger) < CONTEXT.similar or not _same_occasion(trigger, when):
            continue
        kind = judge(resolution, what).kind
        is_solved = LessonMetadata.of(lesson).solved and LessonMetadata.of(record).solved
        if not is_solved or kind == "same":
            return "same", record, min(1.0, whole)
        is_trusted = TRUST.index(lesson.trust) >= TRUST.index(record.trust)
        if kind == "changes" and is_trusted and trigger and of_trigger >= CONTEXT.similar:
            changed = changed or (kind, record, min(1.0, whole))
    return changed


def _remembered(memory: Namespace, lesson: Draft) -> Remembered:
    """Store a lesson under a key of its own, whatever other processes store meanwhile."""
    while True:
        with memory.lock:
            # A key of its own keeps the lesson from being taken for an echo of a recall.
            key = lesson.key or _free_key(memory, lesson)
            try:
                return remember_draft(memory, replace(lesson, key=key))
            except Conflict:
                if lesson.key or key not in memory.ids_of([key]):
                    raise


def _superseded(memory: Namespace, key: str, content: str, changes: Mapping[str, Any]) -> str:
    """Give a lesson a new version; the id of the operation."""
    with memory.lock:
        operation_id = memory.requested_id or uuid7(memory.now())
        with memory.identified(operation_id):
            supersede(memory, key, content, **changes)
    return operation_id


def _hit(memory: Namespace, record: MemoryRecord, lesson: Draft) -> str:
    """Give a failure the version that counts another hit of its wall; with what helped, once that is known."""
    before, now = LessonMetadata.of(record), LessonMetadata.of(lesson)
    is_solved = now.solved and not before.solved
    blocked_in = list(dict.fromkeys((*before.blocked_in, *now.blocked_in)))
    solution = {**lesson.metadata, "trigger": before.trigger or now.trigger, "solved": True}
    metadata = {
        **record.metadata,
        **(solution if is_solved else {}),
        "hits": before.hits + now.hits,
        "blocked_in": blocked_in[-_SESSIONS:] if now.blocked_in else [],
        "tried": list(dict.fromkeys((*before.tries, *now.tries)))[-_TRIES:],
    }
    content = lesson.content if is_solved else record.content
    return _superseded(memory, record.key, content, {"metadata": metadata})


def overcome(memory: Namespace, key: str, text: str) -> None:
    """Note that a task was delivered at which a failure had blocked others, if it is about that task."""
    record = get(memory, key)
    if LessonMetadata.of(record).blocked_in and applies(memory, record, text):
        supersede(memory, key, record.content, metadata={**record.metadata, "blocked_in": []})


def recurring(memory: Namespace, trigger: str, keys: Collection[str]) -> list[str]:
    """Return the failures among these memories that have this trigger, or nearly so."""
    with memory.lock:
        records = [record for key in keys if (record := memory.find(key)).kind == FAILURE]
    own = [LessonMetadata.of(record).trigger for record in records]
    cosines = closeness(memory, _lasting(trigger), [[_lasting(each)] for each in own])
    return [
        record.key
        for record, each, cosine in zip(records, own, cosines, strict=True)
        if cosine >= CONTEXT.similar and _same_occasion(each, trigger)
    ]


def _free_key(memory: Namespace, lesson: Draft) -> str:
    """Return a key from the first words of a lesson, numbered where the key is in use."""
    key = slug(lesson.heading or lesson.content.partition("\n")[0])
    numbered = [key, *(f"{key}-{number}" for number in range(2, _NUMBERED))]
    taken = memory.ids_of(numbered)
    free = next((candidate for candidate in numbered if candidate not in taken), None)
    return free or free_key(key, uuid7(memory.now()), taken)


def _same_occasion(old: str, new: str) -> bool:
    """Tell whether two triggers say the same."""
    return judge(_lasting(old), _lasting(new)).kind == "same"


def _lasting(trigger: str) -> str:
    """Return a trigger without lines, durations and addresses."""
    return _VOLATILE.sub(" ", trigger)


def _parts(lesson: Draft | MemoryRecord) -> tuple[str, str]:
    """Return the trigger and the resolution of a lesson; of another memory its first line and the others."""
    own = LessonMetadata.of(lesson)
    first, _, rest = lesson.content.partition("\n")
    return (own.trigger, own.resolution) if own.trigger and own.resolution else (first, rest)


def nearest(memory: Namespace, text: str, kind: str) -> list[MemoryRecord]:
    """Return the active memories of a kind whose whole text is nearest to ``text``, nearest first."""
    (vector,) = memory.embedder.embed([text])
    with memory.lock:
        now = memory.now()
        working = memory.working(now)
        kinds = working.kind.values[working.row.values]
        fit = working.living.values & (kinds == KINDS.index(kind))
        near, cosines = working.neighbours.nearest(vector, 2 * _NEAREST, fit)
        ids = [working.ids[row] for row in working.row[near[cosines > 0.0]].tolist()]
        records = memory.records(now, ids=ids)
        active = [records[i] for i in ids if i in records and records[i].status == "active"]
        return active[:_NEAREST]


def judge_shown(
    memory: Namespace, used: Sequence[str], unused: Sequence[str], reason: str, session: str | None = None
) -> Operation | None:
    """Judge memories that were shown, as one operation.

    A verdict counts once for a recall, and two tasks may share a recall: the verdicts of the second task are then
    about the memories themselves.
    """
    verdicts = {"used": tuple(used), "not-useful": tuple(unused)}
    if not any(verdicts.values()):
        return None
    return record_verdicts(memory, VerdictBatch(verdicts, session=session, reason=reason, again=True))
