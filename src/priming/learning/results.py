"""What came of what was recalled, and what that changed: verdicts, runs, and how strengths moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from priming.types import EMPTY


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict on one memory; ``cue`` is what the recall was asked, ``recall_id`` None without a recall."""

    key: str
    verdict: str
    at: datetime
    tier: str
    operation: str
    recall_id: str | None = None
    session: str | None = None
    cue: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of work: recalls under its ``session`` belong to it, ``shown`` are the keys that they brought up.

    ``settled`` is "used" or "unused" once it is known what became of its output.
    """

    id: str
    session: str
    started_at: datetime
    ended_at: datetime | None = None
    settled: str | None = None
    shown: tuple[str, ...] = ()
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class StrengthEvent:
    """One weight that an operation moved: of a link (``edge`` has three parts: source, relation, target) or a node.

    ``old`` is None for a new link, ``new`` for a removed one; ``delta`` is the difference, absent counting as 0.
    ``operation`` is None for what was only proposed.
    """

    ts: datetime
    event: str
    source: str | None
    edge: tuple[str, ...]
    old: float | None
    new: float | None
    delta: float
    reason: str | None
    operation: str | None


@dataclass(frozen=True, slots=True)
class Strengths:
    """How the weights of the links were distributed at a time: ``bins`` counts them in tenths of [0, 1]."""

    at: datetime
    links: int
    mean: float | None
    median: float | None
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Oscillation:
    """A link that was pulled both ways: how often its direction turned, and what all the pulling came to."""

    source: str
    relation: str
    target: str
    turns: int
    moves: int
    travelled: float
    net: float
    weight: float | None


@dataclass(frozen=True, slots=True)
class Worth:
    """What one term is worth: the mean average precision with it, less that without it, and its 95 % interval.

    ``better`` and ``worse`` count the cues that it helps and harms. ``weights`` are those that it has now, by name;
    a term that no weight goes with has none.
    """

    term: str
    worth: float
    low: float
    high: float
    better: int
    worse: int
    weights: Mapping[str, float] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Reweighing:
    """Other weights, and what they gain on cues that they were not fitted to, with its 95 % interval.

    ``weights`` holds those that would change, ``before`` what they are now. ``worst`` is the most that a cue loses by
    them, ``worse`` how many cues lost while they were held out. Only one that ``stands`` is applied; ``reason``
    says why it does or not.
    """

    weights: Mapping[str, float]
    before: Mapping[str, float]
    gain: float
    low: float
    high: float
    worst: float
    worse: int
    stands: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Ablation:
    """What came of replaying judged recalls: ``recalls`` of them, of ``cues`` that are unlike each other.

    ``left_out`` counts the judged recalls that were not replayed, by reason. ``quality`` is the mean of ``measure``
    with every term in force, None where nothing was replayed. ``reason`` says why nothing was proposed, where nothing
    was; ``operation`` is the one that applied the proposal.
    """

    at: datetime
    namespace: str
    profile: str
    measure: str
    recalls: int
    cues: int
    left_out: Mapping[str, int]
    quality: float | None
    terms: tuple[Worth, ...] = ()
    proposal: Reweighing | None = None
    reason: str | None = None
    operation: str | None = None
