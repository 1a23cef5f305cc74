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
