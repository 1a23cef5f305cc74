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


@dataclass(frozen=True, slots=True)
class Worth:
    """The worth of one term: the mean average precision with it minus that without it, and the 95 % interval.

    ``better`` and ``worse`` count the cues that the term helps and harms. ``weights`` are its current weights by
    name; a term without a weight has none.
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
    """Proposed weights, and their gain on held-out cues with its 95 % interval.

    ``weights`` are the weights that would change, ``before`` their current values. ``worst`` is the greatest loss of
    a cue, ``worse`` the number of held-out cues that lose. ``stands`` is whether the gain is certain: only then are
    the weights applied; ``reason`` explains it.
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
    """The result of replaying judged recalls: ``recalls`` is their number, ``cues`` the number of unlike cues.

    ``left_out`` counts the judged recalls that were not replayed, by reason. ``quality`` is the mean of ``measure``
    with every term, None if nothing was replayed. ``reason`` explains why there is no proposal; ``operation`` is the
    operation that applied the proposal.
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
