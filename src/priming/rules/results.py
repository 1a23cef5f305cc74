"""Results of the verbs about rules: ``learn``, ``why``, ``deduplicate`` and packs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from priming.config.values import dataclass
from priming.results import Step
from priming.types import EMPTY, Link, MemoryRecord, Operation


@dataclass(frozen=True, slots=True)
class Learned:
    """The answer to ``learn``: the behaviour, its correction, and the reasons for its placement.

    With the placements ``merge``, ``widen`` and ``supersede``, id and key are those of the existing behaviour.
    ``content`` is the text of the behaviour as it is stored, ``previous`` the text that it superseded. ``beside`` is
    the key of the most similar behaviour, ``similarity`` its similarity in [0, 1], ``change`` how the correction
    relates to it: same, changes, wider, narrower, apart or unclear.
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
    content: str = ""
    previous: str | None = None
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition of a behaviour, and what a cue says about it: confirmed, contradicted or absent."""

    name: str
    wanted: Any
    present: Any
    finding: str


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
class LinkHistory:
    """How a recall returned a memory: the cue, its rank and score, its path, and the share of each link in it.

    ``shares`` are (source, relation, target, share of the activation, present weight of the link or None).
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
    """Where a memory comes from, and why recall returns it: its evidence, rules, verdicts and operations."""

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
    """Two near-duplicate behaviours: ``merged`` is merged into ``kept``."""

    kept: str
    merged: str
    similarity: float
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Pack:
    """A set of behaviours that can be shared; ``installed_at`` is None for a pack that was only created."""

    name: str
    version: str
    description: str
    behaviors: int
    links: int
    installed_at: datetime | None = None
    operation: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class ConflictingFact:
    """One of two conflicting facts or rules: its key, text and value, and the time of its statement."""

    key: str
    content: str
    value: str
    told_at: datetime | None


@dataclass(frozen=True, slots=True)
class Review:
    """Two facts that cannot both hold, and the commands that settle it: ``subject`` is what both say.

    Two rules that disagree have the subject "rules", their conditions as slot, and a ``reason`` that says which is
    told where both apply. A quiet rule, which was mostly overridden of late, has the ``kind`` quiet-rule and its
    ``key``; it is the older, there is no newer, and ``instead`` says what was done instead of it.
    """

    id: str
    subject: str
    slot: str
    older: ConflictingFact
    newer: ConflictingFact | None
    commands: tuple[str, ...]
    reason: str | None = None
    kind: str = "contradiction"
    key: str | None = None
    instead: tuple[str, ...] = ()
