"""What ablation answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from priming.config.values import dataclass
from priming.types import EMPTY


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
