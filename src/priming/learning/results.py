"""Results about learning: verdicts, runs, the movements of links, and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from priming.config.values import dataclass
from priming.types import EMPTY


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict on one memory; ``cue`` is that of the recall, ``recall_id`` is None without a recall."""

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
    """A piece of work: recalls under its ``session`` belong to it, and ``shown`` are the keys that they returned.

    ``settled`` is "used" or "unused" once the use of its output has been reported, else None.
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
    """One weight that an operation moved: of a link (``edge`` is source, relation, target) or of a memory.

    ``old`` is None for a new link, ``new`` for a removed one; ``delta`` is the difference, where None counts as 0.
    ``operation`` is None for a change that was only proposed. ``actor`` is who asked for it, ``via`` by what, and
    ``source`` the tier: conscious, automatic or manual, ``linker`` for links that a rule makes as a memory is stored.
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
    actor: str | None = field(default=None, compare=False)
    via: str | None = field(default=None, compare=False)
    session: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Strengths:
    """The distribution of the weights of links at a time; ``bins`` counts them in tenths of [0, 1]."""

    at: datetime
    links: int
    mean: float | None
    median: float | None
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Oscillation:
    """A link whose weight moved up and down: how often the direction turned, and the total and net movement."""

    source: str
    relation: str
    target: str
    turns: int
    moves: int
    travelled: float
    net: float
    weight: float | None
