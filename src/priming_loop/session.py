"""The values of a session: its objective, its tasks with their attempts, and what each phase returned.

The store keeps a session as JSON with the names of these fields. ``parse`` reads the names of version 0.1.0 too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import astuple, replace
from datetime import datetime
from itertools import chain
from typing import Any, cast

from priming.config.values import dataclass
from priming.core.metacognition import Assessment, assess
from priming.serialization import decode, encode, json_text

DELIVERED, BLOCKED, UNVERIFIED = "delivered", "blocked", "unverified"
"""How a task can end; the first two are also how an agent says that its attempt ended."""
_RENAMED = {"asked": "gates_requested"}
"""Fields of a session by their names in version 0.1.0."""
_BEGIN = re.compile(r"(?:^|(?<=[.!?] ))\w")
"""The first letter of a sentence."""


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One thing to do: ``delta`` are the files it changes, ``verify`` the command that checks whether it is done."""

    objective: str
    delta: tuple[str, ...] = ()
    verify: str | None = None


@dataclass(frozen=True, slots=True)
class Impasse:
    """Why planning is stuck, as one of ``words.IMPASSES``, and the subgoal that would resolve it."""

    type: str
    subgoal: str


@dataclass(frozen=True, slots=True)
class PlanningResult:
    """What the reason phase returned; ``assessment`` is one of ``words.ASSESSMENTS``."""

    assessment: str
    tasks: tuple[TaskPlan, ...] = ()
    question: str | None = None
    impasse: Impasse | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The report on a carried-out task: ``status`` is "delivered" or "blocked" in the reporter's view.

    ``utilized`` are the keys of memories that they say they used, whether these exist or not.
    """

    status: str
    details: str = ""
    utilized: tuple[str, ...] = ()
    obstacle: str | None = None
    learning: str | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a gate: what the command printed, shortened.

    ``status`` is passed, failed, late, or unverified for a task that has no gate.
    """

    command: str | None
    status: str
    exit_status: int | None = None
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory as a prompt shows it."""

    key: str
    kind: str
    text: str
    trust: str = "user"


@dataclass(frozen=True, slots=True)
class Codebase:
    """The files of a folder: languages and frameworks, most used first, tests, and files about the objective."""

    languages: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    files: int = 0


@dataclass(frozen=True, slots=True)
class Complexity:
    """How much an objective seems to require, and the words of it that indicate so."""

    level: str = "simple"
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectiveContext:
    """The context of an objective: memories by their role, the codebase, and the estimated complexity.

    ``fired`` are the keys of the memories that apply in this context: they are shown first. ``failed`` is how many
    sessions were blocked at this, until it was overcome, and ``ways`` are the tasks at which, with what was tried.
    """

    objective: str
    failures: tuple[ShownMemory, ...] = ()
    patterns: tuple[ShownMemory, ...] = ()
    connected: tuple[ShownMemory, ...] = ()
    fired: tuple[str, ...] = ()
    failed: int = 0
    ways: tuple[str, ...] = ()
    codebase: Codebase = Codebase()
    complexity: Complexity = Complexity()

    @property
    def shown(self) -> tuple[ShownMemory, ...]:
        """All memories, each once, those that fire first."""
        memories = (*self.patterns, *self.failures, *self.connected)
        shown: dict[str, ShownMemory] = {}
        for memory in sorted(memories, key=lambda memory: memory.key not in self.fired):
            shown.setdefault(memory.key, memory)
        return tuple(shown.values())

    @property
    def injected(self) -> tuple[str, ...]:
        """The keys of all memories that are shown."""
        return tuple(memory.key for memory in self.shown)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task. ``acted`` is None until a result is reported, ``verified`` until the gate has run.

    ``injected`` are the keys of the memories that were shown; ``error`` is why the agent gave no answer.
    """

    number: int
    at: datetime
    injected: tuple[str, ...] = ()
    acted: ActionResult | None = None
    verified: Verification | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LearningResult:
    """What a task taught: the memories that were credited, stored or strengthened, and the operations that did so.

    ``unknown`` are names that were reported as used although no memory of that name was shown. ``recurred`` are the
    failures that happened again although they were shown, ``patterns`` those that hold what worked.
    """

    helped: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    strengthened: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    recurred: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Iterable[LearningResult | None]) -> LearningResult:
        """Return what several results taught together, each name once."""
        parts = zip(*map(astuple, filter(None, results)), strict=True)
        return cls(*(tuple(dict.fromkeys(chain.from_iterable(part))) for part in parts))


@dataclass(frozen=True, slots=True)
class Task:
    """A plan and its attempts: ``learnt`` follows once it is closed.

    ``status`` is pending, delivered if its gate passed, unverified if it had none, or blocked.
    """

    seq: int
    plan: TaskPlan
    status: str = "pending"
    attempts: tuple[Attempt, ...] = ()
    gathered: ObjectiveContext | None = None
    learnt: LearningResult | None = None
    closed_at: datetime | None = None

    @property
    def utilized(self) -> tuple[str, ...]:
        """The keys that were reported as used, in any attempt."""
        return tuple(dict.fromkeys(key for result in self.results for key in result.utilized))

    @property
    def injected(self) -> tuple[str, ...]:
        """The keys that were shown, in any attempt."""
        return tuple(dict.fromkeys(key for attempt in self.attempts for key in attempt.injected))

    @property
    def results(self) -> tuple[ActionResult, ...]:
        """The results that were reported, in the order of the attempts."""
        return tuple(attempt.acted for attempt in self.attempts if attempt.acted is not None)

    def with_last(self, **changes: Any) -> Task:
        """Return the task with changes of its latest attempt."""
        *before, last = self.attempts
        return replace(self, attempts=(*before, replace(last, **changes)))

    @property
    def summary(self) -> str:
        """How the task ended, in words."""
        last = self.results[-1] if self.results else ActionResult(DELIVERED)
        details = (last.obstacle if self.status == BLOCKED else None) or last.details
        return f"{self.status}: {self.plan.objective}" + (f": {details}" if details else "")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """Whether a task succeeded, for metacognition: one record for each ``seq``."""

    seq: int
    success: bool
    at: datetime
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run: ``minutes`` None means no limit, ``timeout`` is in seconds, for one gate or answer."""

    attempts: int
    tasks: int
    depth: int
    timeout: float
    minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """What a session needs from a person: approval, answer, or destructive with ``questions`` of the guard."""

    what: str
    about: str
    seq: int | None = None
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """One objective with everything that was done about it: enough to resume after the process is gone.

    ``folder`` is empty for a session that another program drives from elsewhere: no command is run for it. ``state``
    is the step in progress or the next: INIT, CONTEXT, REASON, UNCLEAR, ASK, ACT, NEXT, DONE, LEARN, SUMMARY. At the
    end, ``ended`` is delivered, unverified, blocked, incomplete (tasks of an earlier plan were never begun), impasse,
    pivot or limit. ``stopped`` is interrupt, minutes or agent if it stopped before, and goes on when it is resumed.
    ``why`` gives the reason.
    """

    id: str
    objective: str
    folder: str
    limits: Limits
    created_at: datetime
    updated_at: datetime
    state: str = "INIT"
    parent: str | None = None
    depth: int = 0
    project: str | None = None
    fresh_context: bool = False
    gathered: ObjectiveContext | None = None
    reasoned: PlanningResult | None = None
    gates_requested: bool = False
    """Whether the agent was asked for the gates that its tasks lacked."""
    tasks: tuple[Task, ...] = ()
    left_out: int = 0
    """Number of planned tasks beyond the limit."""
    answered: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    """How the subgoals ended, in words."""
    dropped: tuple[int, ...] = ()
    """Tasks that were not delivered, of plans that a person's answer replaced."""
    outcomes: tuple[TaskOutcome, ...] = ()
    begun_with: int = 0
    """Number of outcomes that belong to an approach a person has abandoned."""
    children: tuple[str, ...] = ()
    below: str | None = None
    """The session of the subgoal that this session waits for."""
    earlier: int = 0
    """Number of tasks that belong to earlier rounds: a session that ended may be resumed as a new round."""
    approved: bool = False
    yes: bool = False
    """Whether a person agreed to every plan of the session beforehand."""
    deliberate: bool = False
    """Whether the agent is to reason even about what succeeded often."""
    proven: int = 0
    """Number of earlier runs that succeeded with this plan, which was therefore not reasoned about."""
    without_progress: bool = False
    """Whether an impasse led back to a subgoal that was open already."""
    yeses: tuple[str, ...] = ()
    """Questions of the guard to which a person has said yes."""
    waits: Wait | None = None
    stopped: str | None = None
    ended: str | None = None
    why: str | None = None
    alternatives: tuple[ShownMemory, ...] = ()
    learnt: LearningResult | None = None
    """What the session as a whole taught."""
    seconds: float = 0.0
    """Time worked so far, in all processes."""

    @property
    def round_tasks(self) -> tuple[Task, ...]:
        """The tasks of the latest plan."""
        return self.tasks[self.earlier :]

    @property
    def open_tasks(self) -> tuple[Task, ...]:
        """The latest task of each objective, of all plans that no answer replaced, if it is not delivered."""
        latest = {plain_objective(task.plan.objective): task for task in self.counted}
        return tuple(task for task in self.counted if task in latest.values() and task.status != DELIVERED)

    @property
    def counted(self) -> tuple[Task, ...]:
        """The tasks, but for those that were dropped."""
        return tuple(task for task in self.tasks if task.seq not in self.dropped)

    @property
    def tally(self) -> tuple[int, int]:
        """The number of delivered tasks and of all: those of the same objective count once, dropped ones are open."""
        objectives = {plain_objective(task.plan.objective) for task in self.counted}
        still_open = {plain_objective(task.plan.objective) for task in self.open_tasks}
        return len(objectives - still_open), len(objectives) + self.left_out

    @property
    def next_task(self) -> Task | None:
        """The first pending task of the latest plan."""
        return next((task for task in self.round_tasks if task.status == "pending"), None)

    @property
    def assessment(self) -> Assessment:
        """The metacognitive assessment, from the outcomes of the tasks and the impasses."""
        assessment = assess(outcome.success for outcome in self.outcomes[self.begun_with :])
        if not self.without_progress:
            return assessment
        return replace(assessment, state="failing", advice="pivot_now", confidence="high")

    def failed_approach(self, now: datetime) -> Task:
        """Return the whole of an approach that failed, as a blocked task with a number of its own for each round."""
        failures = "; ".join(task.summary for task in self.tasks if task.status == BLOCKED) or self.why
        advice = f"take another approach than this: {failures}"
        attempt = Attempt(1, now, acted=ActionResult(BLOCKED, "", (), self.why, advice))
        return Task(-self.earlier, TaskPlan(self.objective), BLOCKED, (attempt,), closed_at=now)

    def task(self, seq: int | None) -> Task | None:
        """Return the task of a number."""
        return next((task for task in self.tasks if task.seq == seq), None)

    def with_task(self, task: Task) -> Session:
        """Return the session with a new version of one of its tasks."""
        return replace(self, tasks=tuple(task if other.seq == task.seq else other for other in self.tasks))

    def with_outcome(self, outcome: TaskOutcome) -> Session:
        """Return the session with the outcome of a task, which replaces an earlier one in its place."""
        outcomes = {each.seq: each for each in (*self.outcomes, outcome)}
        return replace(self, outcomes=tuple(outcomes.values()))


def plain_objective(text: str) -> str:
    """Free an objective of what makes no difference: white space, the sign at its end, capitals that begin sentences.

    Other capitals count, because names differ in them.

    >>> plain_objective("Open the tin. ") == plain_objective("open  the tin")
    True
    >>> plain_objective("Deploy to US") == plain_objective("Deploy to us")
    False
    """
    return _BEGIN.sub(lambda match: match[0].lower(), " ".join(text.split()).rstrip(" .!"))


def dump(session: Session) -> str:
    """Return the JSON of a session."""
    return json_text(encode(session))


def parse(body: str) -> Session:
    """Return the session of a JSON text, whichever version wrote it."""
    record: dict[str, Any] = {_RENAMED.get(name, name): value for name, value in json.loads(body).items()}
    return cast(Session, decode(Session, record))
