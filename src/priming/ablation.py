"""Ablation: what each term of recall is worth on recalls that were judged, and other weights for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from priming.types import EMPTY


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
