"""The vocabulary: one frozen value for each thing that Priming speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from priming.checks import check_time
from priming.words import RULES

EMPTY: Mapping[str, Any] = MappingProxyType({})


class Clock(Protocol):
    """Where the present comes from."""

    def now(self) -> datetime:
        """The present, as an aware datetime."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The present."""
        return datetime.now(UTC)


@dataclass(slots=True)
class FixedClock:
    """A clock that stands where it is put: for tests and simulations."""

    at: datetime

    def now(self) -> datetime:
        """The instant that the clock was set to."""
        return self.at


@dataclass(frozen=True, slots=True)
class Use:
    """What became of a memory so far: counts of verdicts, and when it was last used."""

    uses: int = 0
    last_used_at: datetime | None = None
    helped: int = 0
    failed: int = 0
    confirmed: int = 0
    followed: int = 0
    overridden: int = 0
    first_used_at: datetime | None = None
    recent: tuple[datetime, ...] = ()
    """When it was used lately, newest first; earlier uses are counted only."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How well a memory is retained: what reviews, that is verdicts on it, have left (LAWS §4).

    ``stability``, in days, and ``difficulty`` are FSRS-6's, None before the first review; ``endurance`` is World
    Weaver's stability, in days.
    """

    stability: float | None = None
    difficulty: float | None = None
    endurance: float = 1.0
    reviewed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One remembered thing, in its present version."""

    id: str
    namespace: str
    key: str
    kind: str
    content: str
    gist: str
    heading: str | None = None
    session: str | None = None
    speaker: str | None = None
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    source: str | None = None
    trust: str = "user"
    importance: float = 0.5
    outcome: str | None = None
    occurred_at: datetime | None = None
    recorded_at: datetime | None = None
    retired_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    version: int = 1
    status: str = "active"
    priority: float = 0.0
    weight: float = 0.5
    confidence: float = 1.0
    use: Use = field(default_factory=Use)
    retention: Retention = field(default_factory=Retention)

    @property
    def title(self) -> str | None:
        """What the memory is indexed under beside its text: its heading, else its speaker."""
        return self.heading or self.speaker

    @property
    def rule(self) -> str | None:
        """What kind of rule somebody said that it is: one of ``RULES``."""
        rule = self.metadata.get("rule")
        return rule if isinstance(rule, str) and rule in RULES else None


Version = MemoryRecord
"""A version is the record as it was: its ``version``, its recorded and its valid interval."""


@dataclass(frozen=True, slots=True)
class Link:
    """A weighted link between two memories, named by their keys."""

    source: str
    target: str
    relation: str
    weight: float
    created_at: datetime
    last_activated: datetime | None = None
    given: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One row that an operation changed: ``before`` is None for a new row, ``after`` for a removed one."""

    table: str
    key: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the log."""

    id: str
    kind: str
    at: datetime
    actor: str | None = None
    source: str | None = None
    reason: str | None = None
    changes: tuple[Change, ...] = ()
    undone_by: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """What recall starts from: a text, a context, or both. Of a list of values any will do."""

    text: str | None = None
    file: str | Sequence[str] | None = None
    language: str | Sequence[str] | None = None
    task: str | Sequence[str] | None = None
    environment: str | Sequence[str] | None = None
    project: str | Sequence[str] | None = None
    speaker: str | Sequence[str] | None = None
    at: datetime | None = None
    other: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def __init__(
        self,
        text: str | None = None,
        file: str | Sequence[str] | None = None,
        language: str | Sequence[str] | None = None,
        task: str | Sequence[str] | None = None,
        environment: str | Sequence[str] | None = None,
        project: str | Sequence[str] | None = None,
        speaker: str | Sequence[str] | None = None,
        at: datetime | None = None,
        **other: Any,
    ) -> None:
        values = (
            text,
            file,
            language,
            task,
            environment,
            project,
            speaker,
            at,
            MappingProxyType(dict(other)),
        )
        for f, value in zip(dataclass_fields(self), values, strict=True):
            object.__setattr__(self, f.name, value)
        if at is not None:
            check_time("at", at)

    def context(self) -> dict[str, Any]:
        """The predicates that the cue carries, by name, without its text and time."""
        named = {
            name: getattr(self, name)
            for name in ("file", "language", "task", "environment", "project", "speaker")
            if getattr(self, name) is not None
        }
        return {**self.other, **named}


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer to ``remember``: ``duplicate`` and ``echo`` name the memory that was already there."""

    id: str
    key: str
    status: str
    links: tuple[Link, ...] = ()
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the path that brought a hit up, in the direction that activation moved."""

    source: str
    relation: str
    target: str
    amount: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that recall returns, with the evidence for it."""

    memory: MemoryRecord
    score: float
    components: Mapping[str, float]
    path: tuple[Step, ...] = ()
    distance: int = 0
    origin: str | None = None
    """The store that it is from, where several are read together: None is the one asked."""
    superseded_by: int | None = None
    """The version that followed; None for what holds at the time asked about."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A hit that did not fit the token budget, and why."""

    key: str
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Recall:
    """What came up, and why; ``reason`` says why nothing did."""

    recall_id: str
    hits: tuple[Hit, ...]
    reason: str | None = None
    degraded: tuple[str, ...] = ()
    text: str = ""
    omitted: tuple[Omitted, ...] = ()
    profile: str = "priming"
    confidence: float | None = None
    """How sure the best hit is, in [0, 1] (``core.confidence``); None where the profile does not say."""
    timings: Mapping[str, float] = field(default_factory=lambda: EMPTY)
    spread: tuple[Mapping[str, float], ...] = ()
    """Of a trace: the activation of each memory that was met, by key; first of the anchors, then after each step."""
    carried: tuple[Step, ...] = ()
    """Of a trace: what the links on the way to hits carried, over all steps; most first."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a purge erased, by table. It cannot be undone."""

    key: str
    erased: Mapping[str, int]
    operation: str


@dataclass(frozen=True, slots=True)
class Stats:
    """What a namespace holds."""

    namespace: str
    memories: Mapping[str, Mapping[str, int]]
    links: Mapping[str, int]
    operations: int
    traces: int
    bytes: int
    generation: str | None
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: EMPTY)
    """By profile, the weights that this namespace has of its own."""


@dataclass(frozen=True, slots=True)
class Status:
    """What one asks first: which Priming this is, where it works, and how much there is."""

    version: str
    namespace: str
    profile: str
    memories: int
    """Active ones, entities made by rule left out."""
    links: int
    operations: int
    generation: str
    """Of the embedder at work: model, dimension and preparation."""


@dataclass(frozen=True, slots=True)
class Exported:
    """An export as text: JSON Lines, which ``import_`` reads, and how many memories they hold."""

    memories: int
    lines: str


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory that matters and is about to be forgotten.

    ``retrievability`` now and ``later``, a week on, by the profile's law, which counts from ``since``; ``lost`` is
    the difference times ``worth``, how much the memory matters.
    """

    key: str
    kind: str
    gist: str
    worth: float
    retrievability: float
    later: float
    lost: float
    since: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that ``validate`` found wrong, and what mends it."""

    rule: str
    subject: str
    detail: str
    remedy: str
