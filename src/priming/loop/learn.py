"""The learn phase: what came of a task, as verdicts on the memories that were shown, and as lessons for the next.

Each part is an operation with an id made of the session, the task and the part: done again after a crash, it is found
in the log, and nothing is counted twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from priming.config.params.loop import CONTEXT, ContextParams
from priming.engine import lessons
from priming.errors import NotFound, ParamError
from priming.loop.context import DELTA, RESOLUTION, TRIGGER, cut
from priming.loop.prompting import plain
from priming.looping import Attempt, Learnt, Session, Task, Verified
from priming.memory import Memory
from priming.types import Operation

FAILURE, PATTERN, LEARNED_FROM = "failure", "pattern", "learned-from"
_BY = "agent"
"""How far a lesson is trusted: no more than who said it."""
_TELLS = re.compile(r"error|exception|fail|assert|not found|denied|refused|expected", re.IGNORECASE)
_SYMPTOM = re.compile(r"^E\s+(\S.*)$")
"""How pytest marks what went wrong."""
_RAISED = re.compile(r"[\w.]*(?:Error|Exception)\b")
"""How Python tells of an exception."""
_QUOTES = "[]`\"' "


@dataclass(frozen=True, slots=True)
class _Closed:
    """A task that is closed, and the operations that learn from it."""

    memory: Memory
    session: Session
    task: Task

    def id(self, part: str) -> str:
        """The id of an operation: the same whenever the same part of the same task is learnt from."""
        name = f"priming:{self.memory.namespace}:{self.session.id}:{self.task.seq}:{part}"
        return str(uuid5(NAMESPACE_OID, name))

    def done(self, part: str) -> Operation | None:
        """The operation of a part, if it was carried out."""
        return self.memory.operation(self.id(part))

    @property
    def reason(self) -> str:
        """Why something is written, for the log."""
        return f"task {self.task.seq} of session {self.session.id} was {self.task.status}"


def learnt(
    memory: Memory,
    session: Session,
    task: Task,
    *,
    project: str | None = None,
    params: ContextParams = CONTEXT,
) -> Learnt:
    """Learn from a task that is closed: credit the memories that were used, and keep what it taught.

    A memory that was used helped; one that was shown and not used did not. What is blocked leaves a failure; what is
    delivered a pattern, and a failure too where it took more than one attempt. A lesson that is there already is
    strengthened instead. What has passed no gate teaches nothing.
    """
    closed = _Closed(memory, session, task)
    found = _credited(closed)
    wrong = _kept(closed, FAILURE, failure(session, task, project, params), params, found.helped)
    right = _kept(closed, PATTERN, pattern(session, task, project, params), params, found.helped)
    told = _told([one for one in (wrong, right) if one is not None])
    linked = () if wrong is None or right is None else _linked(closed, right.key, wrong.key)
    operations = (*found.operations, *told.operations, *linked)
    return replace(found, stored=told.stored, strengthened=told.strengthened, operations=operations)


def chunk(
    memory: Memory, session: Session, *, project: str | None = None, params: ContextParams = CONTEXT
) -> Learnt:
    """Make patterns of what a session delivered, those that are not made yet."""
    found = []
    for task in session.tasks:
        credited = () if task.learnt is None else task.learnt.helped
        told = pattern(session, task, project, params)
        found.append(_kept(_Closed(memory, session, task), PATTERN, told, params, credited))
    return _told([one for one in found if one is not None])


def _told(kept: Sequence[lessons.Kept]) -> Learnt:
    """What became of some lessons."""
    return Learnt(
        stored=tuple(one.key for one in kept if one.status == lessons.STORED),
        strengthened=tuple(one.key for one in kept if one.status == lessons.STRENGTHENED),
        operations=tuple(one.operation for one in kept if one.operation),
    )


def lesson(
    kind: str, trigger: str, resolution: str, *, params: ContextParams = CONTEXT, **about: Any
) -> dict[str, Any]:
    """The arguments of ``remember`` for a lesson; ``about`` are more of its metadata, and its session and source."""
    when, what = cut(trigger, params.lesson), cut(resolution, params.lesson)
    own = {name: about.pop(name) for name in ("session", "source", "trust") if about.get(name) is not None}
    told = {name: value for name, value in about.items() if value not in (None, [], "")}
    metadata = {TRIGGER: when, RESOLUTION: what, **told}
    return {"content": f"{when}\n{what}", "kind": kind, "metadata": metadata, **own}


def failure(
    session: Session, task: Task, project: str | None = None, params: ContextParams = CONTEXT
) -> dict[str, Any] | None:
    """What went wrong in a task, and what to do instead: of one that is blocked, or took more than one attempt."""
    wrong = [one for one in task.attempts if (one.verified and one.verified.status in ("failed", "late"))]
    if task.status == "blocked":
        tried = task.attempts[-1] if task.attempts else None
        said = _obstacle(tried) if tried else None
        what = _learning(task.attempts)
        resolution = what or f"not solved; tried: {_details(tried) or 'nothing'}"
    elif task.status == "delivered" and wrong:
        tried, said = wrong[0], None
        resolution = _learning(task.attempts[-1:]) or _details(task.attempts[-1]) or ""
    else:
        return None
    said = said or (symptom(tried.verified) if tried and tried.verified else None)
    if not resolution or (said is None and not task.attempts):
        return None
    trigger = task.plan.objective if said is None else f"{task.plan.objective}: {said}"
    return _about(FAILURE, trigger, resolution, session, task, project, params)


def pattern(
    session: Session, task: Task, project: str | None = None, params: ContextParams = CONTEXT
) -> dict[str, Any] | None:
    """What worked in a task: of one that passed its gate, and of which it is known how."""
    if task.status != "delivered" or not task.attempts:
        return None
    how = _learning(task.attempts[-1:]) or _details(task.attempts[-1])
    return _about(PATTERN, task.plan.objective, how, session, task, project, params) if how else None


def symptom(verified: Verified) -> str | None:
    r"""The line of a gate's output that tells most of what went wrong.

    >>> symptom(Verified("pytest", "failed", 1, "E   NameError: x\n1 failed in 0.1s"))
    'NameError: x'
    """
    lines = [one.strip() for one in plain(verified.output).splitlines() if one.strip()]
    marked = [found[1] for one in lines if (found := _SYMPTOM.match(one))]
    raised = [one for one in lines if _RAISED.match(one)]
    telling = [one for one in lines if _TELLS.search(one)]
    # Pytest's first mark, Python's last line of a traceback, a compiler's first error, anything's last word.
    return next(iter((*marked[:1], *raised[-1:], *telling[:1], *lines[-1:])), None)


def _about(
    kind: str,
    trigger: str,
    resolution: str,
    session: Session,
    task: Task,
    project: str | None,
    params: ContextParams,
) -> dict[str, Any]:
    return lesson(
        kind,
        trigger,
        resolution,
        params=params,
        session=session.id,
        source=f"{session.id}-{task.seq}",
        trust=_BY,
        **{DELTA: list(task.plan.delta)},
        verify=task.plan.verify,
        attempts=len(task.attempts),
        project=project,
    )


def _obstacle(one: Attempt) -> str | None:
    if one.error is not None:
        return one.error
    return one.acted.obstacle if one.acted else None


def _learning(attempts: Sequence[Attempt]) -> str | None:
    """The latest thing that an agent says it learnt."""
    said = (one.acted.learning for one in reversed(attempts) if one.acted)
    return next((one for one in said if one), None)


def _details(one: Attempt | None) -> str | None:
    return one.acted.details or None if one and one.acted else None


def _credited(closed: _Closed) -> Learnt:
    """Verdicts on what the agent was shown in attempts that it answered, and the names that it made up."""
    task = closed.task
    answered = [one for one in task.attempts if one.acted is not None]
    shown = dict.fromkeys(key for one in answered for key in one.injected)
    keys = {name: key for name in shown if (key := _key(closed.memory, name)) is not None}
    names = list(dict.fromkeys(_plain(one, shown) for one in task.utilized))
    used = tuple(dict.fromkeys(keys[one] for one in names if one in keys))
    unused = tuple(dict.fromkeys(key for key in keys.values() if key not in used))
    return Learnt(
        helped=used,
        unused=unused,
        unknown=tuple(one for one in names if one not in keys),
        operations=tuple(one.id for one in _verdicts(closed, used, unused)),
    )


def _verdicts(closed: _Closed, used: Sequence[str], unused: Sequence[str]) -> list[Operation]:
    """The operations of the verdicts; two where some were given on the same recall before.

    A verdict counts once on a recall, and tasks may share one: the second task's is then given on no recall, by a
    session that has none.
    """
    first = closed.done("verdicts")
    if first is None:
        fresh = (_fresh(closed, used, "used"), _fresh(closed, unused, "not-useful"))
        first = _judge(closed, "verdicts", *fresh, closed.session.id)
    covered = {one.key for one in first.changes if one.table == "memories"} if first else set()
    again = closed.done("again")
    if again is None:
        rest = [[key for key in some if key not in covered] for some in (used, unused)]
        again = _judge(closed, "again", rest[0], rest[1], f"{closed.session.id}-{closed.task.seq}")
    return [one for one in (first, again) if one is not None]


def _plain(name: str, shown: Collection[str]) -> str:
    """A name as an agent writes it, without what it put around."""
    return name if name in shown else name.strip(_QUOTES)


def _key(memory: Memory, name: str) -> str | None:
    """The key of a memory by its key or id; None where there is none, or the name could be none."""
    try:
        return memory.get(name).key
    except (NotFound, ParamError):
        return None


def _fresh(closed: _Closed, keys: Sequence[str], verdict: str) -> list[str]:
    before = lessons.judged(closed.memory, keys, verdict, closed.session.id)
    return [key for key in keys if key not in before]


def _judge(
    closed: _Closed, part: str, used: Sequence[str], unused: Sequence[str], under: str
) -> Operation | None:
    """One operation of verdicts, on recalls of the session ``under``; None where there is nothing to say."""
    if not used and not unused:
        return None
    with closed.memory.identified(closed.id(part)):
        return closed.memory.feedback(used=used, not_useful=unused, session=under, reason=closed.reason)


def _kept(
    closed: _Closed,
    kind: str,
    told: dict[str, Any] | None,
    params: ContextParams,
    credited: Collection[str],
) -> lessons.Kept | None:
    """A lesson of a task, kept once: where it was kept before, what became of it then."""
    if told is None:
        return None
    before = closed.done(kind)
    if before is not None:
        status = lessons.STRENGTHENED if before.kind == "strengthen" else lessons.STORED
        rows = [one for one in before.changes if one.table == "memories"]
        mine = [one.key for one in rows if one.after is not None and one.after.get("kind") == kind]
        return lessons.Kept(mine[0], status, before.id) if mine else None
    with closed.memory.identified(closed.id(kind)):
        return lessons.keep(
            closed.memory, told, least=params.similar, reason=closed.reason, credited=credited
        )


def _linked(closed: _Closed, source: str, target: str) -> tuple[str, ...]:
    """The way that worked, linked with what went wrong before; nothing where they are linked already."""
    if closed.done(LEARNED_FROM) is None:
        with closed.memory.identified(closed.id(LEARNED_FROM)):
            closed.memory.link_many([{"source": source, "target": target, "relation": LEARNED_FROM}])
    done = closed.done(LEARNED_FROM)
    return () if done is None else (done.id,)
