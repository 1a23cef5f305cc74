"""Sessions of the loop: begun, kept after every step, and found again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import cast

from priming.checks import PAGE_LIMIT, check_count, check_text, check_time
from priming.config.params.loop import LOOP, LoopParams
from priming.core.metacognition import Assessment, assess
from priming.engine.loops import Loops
from priming.errors import NotFound, ParamError
from priming.ids import uuid7
from priming.looping import Kept, Limits, Outcome, Session, Task
from priming.memory import Memory
from priming.serialization import decode, encode

_DEEPEST = 10
"""Of subgoals, whatever is asked for: each is a session within a session."""


class Sessions:
    """The sessions of a memory's namespace, as values."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.loops = Loops(memory)

    def begin(
        self,
        objective: str,
        folder: Path | str,
        limits: Limits,
        *,
        parent: Session | None = None,
        session_id: str | None = None,
        state: str = "INIT",
        fresh_context: bool = False,
        params: LoopParams = LOOP,
    ) -> Session:
        """Begin a session, and keep it."""
        now = check_time("clock.now()", self.loops.now())
        place = Path(folder).absolute()
        if not place.is_dir():
            raise ParamError("folder", str(folder), "must be a folder that is there")
        session = Session(
            id=session_id or uuid7(now),
            objective=_objective(objective, params),
            folder=str(place),
            limits=limits,
            created_at=now,
            updated_at=now,
            state=state,
            parent=None if parent is None else parent.id,
            depth=0 if parent is None else parent.depth + 1,
            project=place.name or None,
            fresh_context=fresh_context,
        )
        self.loops.add(kept(session))
        return session

    def keep(self, session: Session) -> Session:
        """Keep a session as it is now."""
        told = replace(session, updated_at=check_time("clock.now()", self.loops.now()))
        self.loops.keep(kept(told))
        return told

    def get(self, session_id: str) -> Session:
        """A session by its id."""
        return read(self.loops.get(session_id))

    def root(self, session_id: str) -> Session:
        """The session that a session is a step of, or itself."""
        session = self.get(session_id)
        return session if session.parent is None else self.root(session.parent)

    def latest(self) -> Session:
        """The session that began last, of those that are no step of another."""
        found = next((one for one in self.loops.list(PAGE_LIMIT) if one.parent is None), None)
        if found is None:
            raise NotFound("there is no session of the loop yet: 'priming loop run' begins one")
        return read(found)

    def list(self, limit: int) -> list[Session]:
        """Sessions, those first that began last."""
        return [read(one) for one in self.loops.list(limit)]


def kept(session: Session) -> Kept:
    """A session as a store keeps it."""
    body = json.dumps(encode(session), ensure_ascii=False, separators=(",", ":"))
    return Kept(
        session.id,
        session.parent,
        session.state,
        session.objective,
        session.created_at,
        session.updated_at,
        body,
    )


def read(one: Kept) -> Session:
    """A session from what a store kept."""
    return cast(Session, decode(Session, json.loads(one.body)))


def how_it_goes(session: Session) -> Assessment:
    """Whether the approach of a session works, by how its tasks ended."""
    return assess(one.success for one in session.outcomes[session.begun_with :])


def recorded(session: Session, outcome: Outcome) -> Session:
    """A session with the outcome of a task: one of the same task is replaced, where it stands."""
    others = {one.seq: one for one in session.outcomes}
    return replace(session, outcomes=tuple({**others, outcome.seq: outcome}.values()))


def with_task(session: Session, task: Task) -> Session:
    """A session with a task as it is now."""
    return replace(session, tasks=tuple(task if one.seq == task.seq else one for one in session.tasks))


def of_this_round(session: Session) -> tuple[Task, ...]:
    """The tasks of the latest plan."""
    return session.tasks[session.earlier :]


def pending(session: Session) -> Task | None:
    """The task that is next."""
    return next((one for one in of_this_round(session) if one.status == "pending"), None)


def limits(
    attempts: int | None = None,
    tasks: int | None = None,
    depth: int | None = None,
    timeout: float | None = None,
    minutes: float | None = None,
    params: LoopParams = LOOP,
) -> Limits:
    """Limits, those of ``params`` where None is given; ``minutes`` None is as long as it takes."""
    for name, value in (("timeout", timeout), ("budget_minutes", minutes)):
        if value is not None and not 0 < value < math.inf:
            raise ParamError(name, value, "must be a number > 0")
    return Limits(
        attempts=params.attempts
        if attempts is None
        else check_count("max_attempts", attempts, 1, PAGE_LIMIT),
        tasks=params.tasks if tasks is None else check_count("max_tasks", tasks, 1, PAGE_LIMIT),
        depth=params.depth if depth is None else check_count("depth", depth, 0, _DEEPEST),
        timeout=params.timeout if timeout is None else timeout,
        minutes=minutes,
    )


def _objective(text: str, params: LoopParams) -> str:
    if not check_text("objective", text).strip():
        raise ParamError("objective", text, "must say what is to be done")
    if len(text) > params.objective:
        raise ParamError(
            "objective", text, f"must be at most {params.objective:,} characters: say it shorter"
        )
    return text.strip()
