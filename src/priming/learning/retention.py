"""How well memories are retained: what uses and reviews change, and how much is left of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from priming.config.params.laws import BASE_LEVEL, FORGETTING
from priming.core.arguments.arrays import Floats
from priming.core.base_level import base_level_score, hybrid
from priming.core.forgetting import (
    AGAIN,
    GOOD,
    FsrsState,
    fsrs_retrievability,
    fsrs_update,
    power_retrievability,
    stability_after,
)
from priming.index.cue_feedback import Practice
from priming.serialization import stamp
from priming.storage.rows import MemoryRow
from priming.types import Retention, Use

REVIEW_RATINGS: Mapping[str, bool] = {
    "used": True,
    "confirmed": True,
    "not-useful": False,
    "overridden": False,
}
"""The verdicts that are reviews, and whether the recall succeeded. Of what is not relevant the route was wrong."""

_HOUR, _DAY = 3600.0, 86400.0


def days_between(earlier: datetime, later: datetime) -> float:
    """Days, fractional; none where the clock was set back."""
    return max(0.0, (later - earlier).total_seconds() / _DAY)


def executions(use: Use) -> int:
    """How often a procedure was carried out, as far as it is known how that went."""
    return use.helped + use.failed


def with_use(row: MemoryRow, now: datetime) -> MemoryRow:
    """A memory after one more use. One that was used before times were kept was first used at its last."""
    recent = sorted((stamp(now), *row.recent), reverse=True)[: BASE_LEVEL.recent]
    first = min(now, row.first_used_at or row.last_used_at or now)
    return replace(row, uses=row.uses + 1, last_used_at=now, first_used_at=first, recent=tuple(recent))


def is_due(reviewed_at: datetime | None, now: datetime, tier: str) -> bool:
    """Whether a verdict of a tier is a review: an automatic one only where none was for a day."""
    return (
        tier != "automatic"
        or reviewed_at is None
        or days_between(reviewed_at, now) >= FORGETTING.automatic_days
    )


def review(before: MemoryRow, recorded_at: datetime, now: datetime, *, recalled: bool) -> Retention:
    """What a review leaves of a memory that was as ``before`` until now; ``recorded_at`` is when it was told.

    FSRS counts from the last review; World Weaver from the last use or, before any, from when it was told.
    """
    state = None
    if before.stability is not None and before.difficulty is not None:
        state = FsrsState(before.stability, before.difficulty)
    since_review = days_between(before.reviewed_at or now, now)
    after = fsrs_update(state, GOOD if recalled else AGAIN, since_review)
    since_use = days_between(before.last_used_at or recorded_at, now)
    retrievability = power_retrievability(since_use, before.endurance)
    endurance = float(stability_after(before.endurance, retrievability, recalled))
    return Retention(after.stability, after.difficulty, endurance, now)


def with_retention(row: MemoryRow, retention: Retention) -> MemoryRow:
    """A memory with what a review left."""
    return replace(
        row,
        stability=retention.stability,
        difficulty=retention.difficulty,
        endurance=retention.endurance,
        reviewed_at=retention.reviewed_at,
    )


def retained_share(some: Sequence[Practice], now: datetime) -> Floats:
    """FSRS retrievability of each; 1 without a review, of which nothing is known to be forgotten."""
    stability = np.array([one.stability for one in some])
    since = np.array([max(0.0, now.timestamp() - one.reviewed) / _DAY for one in some])
    known = stability > 0
    values = np.asarray(fsrs_retrievability(since, np.where(known, stability, 1.0), FORGETTING.fsrs_decay))
    return np.where(known, values, 1.0)


def base_levels(some: Sequence[Practice], now: datetime) -> Floats:
    """Base level of each by its uses, the latest counted exactly, in (0, 1); 0 of one that was never used."""
    values = np.zeros(len(some))
    for count in {len(one.recent) for one in some} - {0}:
        at = [i for i, one in enumerate(some) if len(one.recent) == count]
        ages = np.array([[now.timestamp() - time for time in some[i].recent] for i in at]) / _HOUR
        life = np.array([now.timestamp() - some[i].first for i in at]) / _HOUR
        uses = np.array([some[i].uses for i in at], np.float64)
        levels = hybrid(np.maximum(ages, 0.0), uses, np.maximum(life, 0.0), BASE_LEVEL.d)
        values[at] = np.asarray(base_level_score(levels))
    return values
