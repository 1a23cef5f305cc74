"""Rules that agents learn from corrections: the values that speak of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from priming.learning.results import Verdict
from priming.results import Step
from priming.types import EMPTY, Link, MemoryRecord, Operation


@dataclass(frozen=True, slots=True)
class Learned:
    """The answer to ``learn``: the behaviour, the correction it comes from, and why it was placed as it was.

    With the placement ``merge``, id and key are those of the behaviour that was there; ``beside`` is the key of the
    behaviour it was compared with, ``similarity`` how alike they are.
    """

    id: str
    key: str
    correction: str
    placement: str
    rule: str
    when: Mapping[str, Any]
    confidence: float
    beside: str | None = None
    similarity: float | None = None
    reasons: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition of a behaviour, and what a cue says of it: confirmed, contradicted or absent."""

    name: str
    wanted: Any
    present: Any
    finding: str


@dataclass(frozen=True, slots=True)
class LinkHistory:
    """How a recall came upon a memory: what was asked, what it scored, its path, and each link's share in it.

    ``shares`` are (source, relation, target, share of the activation, the link's weight today or None).
    """

    recall_id: str
    at: datetime
    session: str | None
    profile: str
    cue: Mapping[str, Any]
    rank: int
    score: float
    path: tuple[Step, ...] = ()
    shares: tuple[tuple[str, str, str, float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory is what it is and comes up as it does."""

    memory: MemoryRecord
    route: LinkHistory | None
    reasons: tuple[str, ...]
    predicates: tuple[Predicate, ...] = ()
    learned_from: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Two behaviours so alike that one can stand for both: ``merged`` goes into ``kept``."""

    kept: str
    merged: str
    similarity: float
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Pack:
    """A set of behaviours that can be handed on; ``installed_at`` is None for one that was only made."""

    name: str
    version: str
    description: str
    behaviors: int
    links: int
    installed_at: datetime | None = None
    operation: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
