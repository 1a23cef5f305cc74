"""The loop: what is gathered, reasoned, done, verified and learnt, and the session that keeps all of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One thing to do: ``delta`` are the files that it is about, ``verify`` the command that says if it is done."""

    objective: str
    delta: tuple[str, ...] = ()
    verify: str | None = None


@dataclass(frozen=True, slots=True)
class Impasse:
    """Why reasoning got stuck, as one of ``words.IMPASSES``, and what would have to be found out first."""

    type: str
    subgoal: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What the reason phase answered; ``assessment`` is one of ``words.ASSESSMENTS``."""

    assessment: str
    tasks: tuple[TaskPlan, ...] = ()
    question: str | None = None
    impasse: Impasse | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Acted:
    """What the act phase answered: ``status`` is "delivered" or "blocked", as the agent sees it.

    ``utilized`` are the keys of memories that it says it used, known or not.
    """

    status: str
    details: str = ""
    utilized: tuple[str, ...] = ()
    obstacle: str | None = None
    learning: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """What a gate found: ``status`` is one of ``words.GATES``, ``output`` what the command printed, cut."""

    command: str | None
    status: str
    exit_status: int | None = None
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory as it is put before the agent."""

    key: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Codebase:
    """What stands in the folder: languages and frameworks, most used first, tests, and files about the objective."""

    languages: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    files: int = 0


@dataclass(frozen=True, slots=True)
class Complexity:
    """How much an objective seems to ask for, and the words of it that say so."""

    level: str = "simple"
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """The context of an objective: memories by their part in it, the codebase, and how complex it looks.

    ``fired`` are the keys of the patterns that fire in this context: they are shown first.
    """

    objective: str
    failures: tuple[Shown, ...] = ()
    patterns: tuple[Shown, ...] = ()
    connected: tuple[Shown, ...] = ()
    fired: tuple[str, ...] = ()
    codebase: Codebase = Codebase()
    complexity: Complexity = Complexity()

    @property
    def shown(self) -> tuple[Shown, ...]:
        """All memories, those of fired patterns first, each once."""
        ranked = sorted(
            (*self.patterns, *self.failures, *self.connected), key=lambda one: one.key not in self.fired
        )
        first: dict[str, Shown] = {}
        for one in ranked:
            first.setdefault(one.key, one)
        return tuple(first.values())

    @property
    def injected(self) -> tuple[str, ...]:
        """The keys of all memories that are put before the agent."""
        return tuple(one.key for one in self.shown)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a task. ``acted`` is None until the agent has answered, ``verified`` until the gate has.

    ``injected`` are the keys of the memories that the agent was shown; ``error`` is why it gave no answer.
    """

    number: int
    at: datetime
    injected: tuple[str, ...] = ()
    acted: Acted | None = None
    verified: Verified | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a task taught: who was credited, what was stored or strengthened, and by which operations.

    ``unknown`` are names that the agent said it used and that no memory shown to it has.
    """

    helped: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    strengthened: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A plan and what became of it: ``status`` is one of ``words.TASK_STATUSES``; ``learnt`` once it is closed."""

    seq: int
    plan: TaskPlan
    status: str = "pending"
    attempts: tuple[Attempt, ...] = ()
    gathered: Gathered | None = None
    learnt: Learnt | None = None
    closed_at: datetime | None = None

    @property
    def utilized(self) -> tuple[str, ...]:
        """The keys that the agent says it used, in any attempt."""
        said = (key for one in self.attempts if one.acted is not None for key in one.acted.utilized)
        return tuple(dict.fromkeys(said))

    @property
    def injected(self) -> tuple[str, ...]:
        """The keys that the agent was shown, in any attempt."""
        return tuple(dict.fromkeys(key for one in self.attempts for key in one.injected))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended, for metacognition: one for each ``seq``."""

    seq: int
    success: bool
    at: datetime
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may not go beyond: ``minutes`` None is as long as it takes, ``timeout`` is seconds of one gate."""

    attempts: int
    tasks: int
    depth: int
    timeout: float
    minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """What a session waits for from a person: one of ``words.WAITS``, and what it is about, in words."""

    what: str
    about: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One objective and all that was done about it: enough to go on after the process is gone.

    ``state`` is one of ``words.STATES``: what is being done, or is to be done next. ``ended`` is one of
    ``words.ENDS`` once that is known, ``stopped`` one of ``words.STOPS`` where it stopped before, and ``why`` says
    why.
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
    gathered: Gathered | None = None
    reasoned: Reasoned | None = None
    asked: bool = False
    """Whether reasoning was asked for the gates that its tasks lacked."""
    tasks: tuple[Task, ...] = ()
    left_out: int = 0
    """Planned tasks that were more than the limit."""
    answered: tuple[tuple[str, str], ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    begun_with: int = 0
    """How many outcomes belong to an approach that a person has given up."""
    children: tuple[str, ...] = ()
    below: str | None = None
    """The subgoal's session that it is waiting for."""
    earlier: int = 0
    """How many tasks belong to rounds before this one: a session that ended may be gone on with."""
    approved: bool = False
    allowed: tuple[int, ...] = ()
    """Tasks that do what is called destructive, and that a person allowed."""
    waits: Wait | None = None
    stopped: str | None = None
    ended: str | None = None
    why: str | None = None
    alternatives: tuple[Shown, ...] = ()
    learnt: Learnt | None = None
    """What the session as a whole taught."""
    seconds: float = 0.0
    """How long it has worked so far, in all processes."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A session as a store keeps it: ``body`` is the whole of it, as JSON."""

    id: str
    parent: str | None
    state: str
    objective: str
    created_at: datetime
    updated_at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a session stands, in a line of a list."""

    session: str
    parent: str | None
    objective: str
    state: str
    stands: str
    tasks: int
    delivered: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """What a session came to: what was tried, what was learnt, which memories helped, and how it is going."""

    session: str
    objective: str
    state: str
    ended: str | None
    stopped: str | None
    why: str | None
    status: int | None
    tasks: tuple[Task, ...]
    helped: tuple[str, ...]
    unused: tuple[str, ...]
    unknown: tuple[str, ...]
    stored: tuple[str, ...]
    strengthened: tuple[str, ...]
    alternatives: tuple[Shown, ...]
    waits: Wait | None
    advice: str
    line: str
    """The metacognitive assessment, in words."""
    seconds: float
    children: tuple[Report, ...] = ()
