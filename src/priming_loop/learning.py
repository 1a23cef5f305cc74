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
from priming.types import Operation
from priming_loop import knowledge, lessons
from priming_loop.knowledge import FAILURE, PATTERN, LessonMetadata, failure, pattern
from priming_loop.session import BLOCKED, DELIVERED, LearningResult, Session, Task

_QUOTES = "[]`\"' "


@dataclass(frozen=True, slots=True)
class _ClosedTask:
    """A closed task, and the ids of the operations that learn from it."""

    memory: Namespace
    session: Session
    task: Task

    def id(self, part: str) -> str:
        """The id of an operation: always the same for a part of a task."""
        name = f"priming:{self.memory.namespace}:{self.session.id}:{self.task.seq}:{part}"
        return str(uuid5(NAMESPACE_OID, name))

    def operation(self, part: str) -> Operation | None:
        """The operation of a part, if it was carried out."""
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
    linked = () if wrong is None or right is None else _linked(closed, right.key, wrong.key)
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


def _recurred(closed: _ClosedTask, failed: dict[str, Any] | None) -> tuple[str, ...]:
    """The failures that happened again although an attempt that did not pass was shown them."""
    if failed is None:
        return ()
    task = closed.task
    attempts = task.attempts[:-1] if task.status == DELIVERED else task.attempts
    shown = dict.fromkeys(key for attempt in attempts if attempt.acted for key in attempt.injected)
    keys = list(_keys(closed.memory, shown).values())
    trigger = failed["metadata"]["trigger"]
    return tuple(lessons.recurring(closed.memory, trigger, keys))


def _not_told_by(memory: Namespace, keys: Sequence[str], helpful: Sequence[str]) -> list[str]:
    """The keys without lessons that repeat the resolution of a lesson that helped."""
    advice = [text for key in helpful if (text := LessonMetadata.of(get(memory, key)).advice)]
    texts = {key: LessonMetadata.of(get(memory, key)).advice for key in keys}
    return [key for key in keys if not knowledge.meaning_same(memory, texts[key], advice)]


def _credited(
    closed: _ClosedTask, recurred: Sequence[str] = (), repeated: str | None = None
) -> LearningResult:
    """Verdicts on the memories shown in attempts that have a result, and the names that match none of them.

    Blamed are only memories that apply to this task, and those that were used against the verdict of its gate.
    """
    task = closed.task
    shown = dict.fromkeys(key for attempt in task.attempts if attempt.acted for key in attempt.injected)
    keys = _keys(closed.memory, shown)
    names = list(dict.fromkeys(_unquoted(name, shown) for name in task.utilized))
    claimed = list(dict.fromkeys(keys[name] for name in names if name in keys and keys[name] not in recurred))
    is_blocked = task.status == BLOCKED
    used = () if is_blocked else tuple(claimed)
    rest = [key for key in dict.fromkeys(keys.values()) if key not in (*claimed, *recurred, repeated)]
    unused = [
        key for key in rest if knowledge.applies(closed.memory, get(closed.memory, key), task.plan.objective)
    ]
    unused = _not_told_by(closed.memory, unused, [*used, *([repeated] if repeated else [])])
    if is_blocked and knowledge.failed_attempts(task.attempts):
        unused = [*claimed, *unused]
    judge = partial(lessons.judge_shown, closed.memory, used, unused, closed.reason, closed.session.id)
    return LearningResult(
        helped=used,
        unused=tuple(unused),
        unknown=tuple(name for name in names if name not in keys),
        operations=closed.once("verdicts", judge),
        recurred=tuple(recurred),
    )


def _unquoted(name: str, shown: Collection[str]) -> str:
    """A name without the brackets or quotes that an agent may write around it."""
    return name if name in shown else name.strip(_QUOTES)


def _keys(memory: Namespace, names: Iterable[str]) -> dict[str, str]:
    """The keys of the memories of some names, those that exist."""
    records = {name: knowledge.existing(memory, name) for name in names}
    return {name: record.key for name, record in records.items() if record is not None}


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
    for key in dict.fromkeys((*_keys(memory, closed.task.injected).values(), *near)):
        closed.once(f"overcome {key}", partial(lessons.overcome, memory, key, objective))


def _linked(closed: _ClosedTask, source: str, target: str) -> tuple[str, ...]:
    """Link the pattern with the failure before it, unless they are linked already."""
    link = {"source": source, "target": target, "relation": LEARNED_FROM}
    return closed.once(LEARNED_FROM, partial(link_many, closed.memory, [link]))
