"""What the verbs answer: frozen values that carry their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from priming.types import EMPTY, Link, MemoryRecord


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


@dataclass(frozen=True, slots=True)
class MemoryMove:
    """What became of a memory; ``before`` and ``after`` are its gists, None where it was not known.

    ``what`` is "known", "gone" (what made it was undone), "superseded", "reverted" (that was undone), "restored", or
    the status that it took.
    """

    key: str
    kind: str
    what: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class LinkMove:
    """What became of a link: its weights, None where it was not there. ``what`` is "made", "removed" or "moved"."""

    source: str
    relation: str
    target: str
    what: str
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class RankMove:
    """What became of a hit: its ranks from 1, scores and gists, None where it did not come up.

    ``what`` is "new", "gone", "up", "down", "restated" (where it stood, with another text) or "same".
    """

    key: str
    what: str
    rank_before: int | None = None
    rank_after: int | None = None
    score_before: float | None = None
    score_after: float | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """What was done after ``since`` and up to ``until``, as it stands at the end.

    Names that rules found are left out of ``memories``. ``answers`` compares the answers to ``question``, in the
    order of the later one and what is gone from it last.
    """

    since: datetime
    until: datetime
    memories: tuple[MemoryMove, ...] = ()
    links: tuple[LinkMove, ...] = ()
    question: str | None = None
    answers: tuple[RankMove, ...] = ()


@dataclass(frozen=True, slots=True)
class AliasEvidence:
    """A sentence of a memory that speaks for something."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names for one thing: the entity ``alias`` goes into ``name``.

    ``reason`` is "said" where a text says so, "part" where the part of a full name is used in its session.
    """

    alias: str
    name: str
    reason: str
    evidence: tuple[AliasEvidence, ...]
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictingFact:
    """What one of two facts says: its key, its text, its value, and when it was told."""

    key: str
    content: str
    value: str
    told_at: datetime | None


@dataclass(frozen=True, slots=True)
class Review:
    """Two facts that give one subject different values in one slot, and the commands that settle it."""

    id: str
    subject: str
    slot: str
    older: ConflictingFact
    newer: ConflictingFact
    commands: tuple[str, ...]
