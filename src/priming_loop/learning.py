"""The learn phase: the result of a task as verdicts on the memories that were shown, and as lessons for later tasks.

Each part is an operation whose id is made of the session, the task and the part: after a process was killed, the
operation is recognised in the log, and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from priming.config.values import dataclass
from priming.config.words import LEARNED_FROM
from priming.history.log import operation
from priming.namespace import Namespace
from priming.recall.records import get
from priming.remember.links import link_many
from priming.types import MemoryRecord, Operation
from priming_loop import knowledge, lessons
from priming_loop.knowledge import FAILURE, PATTERN, LessonMetadata, failure, pattern
from priming_loop.session import BLOCKED, DELIVERED, Attempt, LearningResult, Session, Task

_QUOTES = "[]`\"' "


@dataclass(frozen=True, slots=True)
class _ClosedTask:
    """A closed task, and the ids of the operations that learn from it."""

    memory: Namespace
    session: Session
    task: Task

    def id(self, part: str) -> str:
        """Return the id of an operation: always the same for a part of a task."""
        name = f"priming:{self.memory.namespace}:{self.session.id}:{self.task.seq}:{part}"
        return str(uuid5(NAMESPACE_OID, name))

    def operation(self, part: str) -> Operation | None:
        """Return the operation of a part, if it was carried out."""
        return operation(self.memory, self.id(part))

    def once(self, part: str, act: Callable[[], object]) -> tuple[str, ...]:
        """Carry out a part, unless that was done before; the id of its operation, if it makes one."""
        if self.operation(part) is None:
            with self.memory.identified(self.id(part)):
                act()
        return () if self.operation(part) is None else (self.id(part),)

    @property
    def reason(self) -> str:
        """The reason of an operation, for the log."""
        return f"task {self.task.seq} of session {self.session.id} was {self.task.status}"


def learn_from_task(memory: Namespace, session: Session, task: Task) -> LearningResult:
    """Learn from a closed task: credit the memories that were used, and store what the task taught.

    A memory that was used helped; if the task is blocked, a claim of use counts against it where the gate failed. A
    memory that applies here and was not used did not help. A blocked task leaves a failure; a delivered task leaves
    a pattern, and a failure too if it took more than one attempt. A lesson that is already stored is strengthened
    instead; a failure that recurs keeps how often, and is neither credited nor blamed. An unverified task teaches
    nothing.
    """
    closed = _ClosedTask(memory, session, task)
    wrong_lesson = failure(session, task)
    recurred = _recurred(closed, wrong_lesson)
    right_lesson = pattern(session, task)
    # A pattern that is repeated will be strengthened: it was not shown in vain.
    repeated = None if right_lesson is None else lessons.repeated_lesson(memory, right_lesson)
    credit = _credited(closed, recurred, repeated)
    wrong = _stored(closed, FAILURE, wrong_lesson, (*credit.helped, *recurred))
    right = _stored(closed, PATTERN, right_lesson, credit.helped)
    new = [_result(each) for each in (wrong, right) if each is not None and each.key not in recurred]
    linked: tuple[str, ...] = ()
    if wrong is not None and right is not None:
        link = {"source": right.key, "target": wrong.key, "relation": LEARNED_FROM}
        linked = closed.once(LEARNED_FROM, partial(link_many, memory, [link]))
    if task.status == DELIVERED:
        _overcome(closed)
    after = LearningResult(operations=linked, patterns=() if right is None else (right.key,))
    return LearningResult.of((credit, *new, after))


def store_patterns(memory: Namespace, session: Session) -> LearningResult:
    """Store a pattern for each delivered task of a session that has none yet."""
    stored = []
    for task in session.tasks:
        credited = () if task.learnt is None else task.learnt.helped
        closed = _ClosedTask(memory, session, task)
        if closed.operation(PATTERN) is None:
            stored.append(_stored(closed, PATTERN, pattern(session, task), credited))
    return LearningResult.of(_result(each) for each in stored if each is not None)


def _result(stored: lessons.StoredLesson) -> LearningResult:
    is_new = stored.status != lessons.STRENGTHENED
    return LearningResult(
        stored=(stored.key,) * is_new,
        strengthened=(stored.key,) * (not is_new),
        operations=tuple(filter(None, [stored.operation])),
    )


def _shown(closed: _ClosedTask, attempts: Iterable[Attempt]) -> dict[str, MemoryRecord]:
    """Return the memories that attempts with a result were shown, by the names of then; those that exist."""
    names = dict.fromkeys(name for attempt in attempts if attempt.acted for name in attempt.injected)
    records = {name: knowledge.existing(closed.memory, name) for name in names}
    return {name: record for name, record in records.items() if record is not None}


def _recurred(closed: _ClosedTask, failed: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the failures that happened again although an attempt that did not pass was shown them."""
    if failed is None:
        return ()
    attempts = closed.task.attempts[:-1] if closed.task.status == DELIVERED else closed.task.attempts
    keys = [record.key for record in _shown(closed, attempts).values()]
    return tuple(lessons.recurring(closed.memory, failed["metadata"]["trigger"], keys))


def _credited(closed: _ClosedTask, recurred: Sequence[str], repeated: str | None) -> LearningResult:
    """Return verdicts on the memories shown in attempts that have a result, and the names that match none of them.

    Blamed are only memories that apply to this task, and those that were used against the verdict of its gate; none
    that repeats the advice of a lesson that helped, and no wall without advice where the task is blocked: it stands.
    """
    memory, task, is_blocked = closed.memory, closed.task, closed.task.status == BLOCKED
    shown = _shown(closed, task.attempts)
    names = tuple(dict.fromkeys(name if name in shown else name.strip(_QUOTES) for name in task.utilized))
    keys = dict.fromkeys(shown[name].key for name in names if name in shown)
    claimed = tuple(key for key in keys if key not in recurred)
    used = () if is_blocked else claimed
    advice = [LessonMetadata.of(get(memory, key)).advice for key in (*used, repeated) if key]
    unused = [
        key
        for key, record in {record.key: record for record in shown.values()}.items()
        if key not in (*claimed, *recurred, repeated)
        and not (is_blocked and record.kind == FAILURE and not LessonMetadata.of(record).solved)
        and knowledge.applies(memory, record, task.plan.objective)
        and not knowledge.meaning_same(memory, LessonMetadata.of(record).advice, [*filter(None, advice)])
    ]
    if is_blocked and knowledge.failed_attempts(task.attempts):
        unused = [*claimed, *unused]
    judge = partial(lessons.judge_shown, memory, used, unused, closed.reason, closed.session.id)
    return LearningResult(
        helped=used,
        unused=tuple(unused),
        unknown=tuple(name for name in names if name not in shown),
        operations=closed.once("verdicts", judge),
        recurred=tuple(recurred),
    )


def _stored(
    closed: _ClosedTask, kind: str, arguments: dict[str, Any] | None, credited: Collection[str]
) -> lessons.StoredLesson | None:
    """Store a lesson of a task, once: if it was stored before, the result of that."""
    if arguments is None:
        return None
    earlier = closed.operation(kind)
    if earlier is not None:
        status = lessons.STORED if earlier.kind == "remember" else lessons.STRENGTHENED
        rows = [change for change in earlier.changes if change.table == "memories"]
        keys = [row.key for row in rows if row.after is not None and row.after.get("kind") == kind]
        return lessons.StoredLesson(keys[0], status, earlier.id) if keys else None
    with closed.memory.identified(closed.id(kind)):
        return lessons.store_lesson(closed.memory, arguments, reason=closed.reason, credited=credited)


def _overcome(closed: _ClosedTask) -> None:
    """Note of each failure that had blocked this task, whether it was shown or not, that it is overcome."""
    memory, objective = closed.memory, closed.task.plan.objective
    near = (record.key for record in lessons.nearest(memory, objective, FAILURE))
    shown = (record.key for record in _shown(closed, closed.task.attempts).values())
    for key in dict.fromkeys((*shown, *near)):
        closed.once(f"overcome {key}", partial(lessons.overcome, memory, key, objective))
