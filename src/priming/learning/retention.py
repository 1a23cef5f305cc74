"""Retention of memories: how uses and reviews change it, and how much of it is left later.

Each verdict that reports success or failure is a review: a rating *good* or *again* in FSRS-6, and a success or
failure in the power law of forgetting (``docs/laws.md``).

One review counts for a memory and an operation, and fails if any of its verdicts does. An automatic verdict is
a review only if there was none for a day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, FORGETTING, ForgettingParams
from priming.core.forgetting import AGAIN, GOOD, FsrsState, fsrs_update, power_retrievability, stability_after
from priming.serialization import stamp
from priming.storage.rows import MemoryRow
from priming.types import Retention, days_between

REVIEW_RATINGS: Mapping[str, bool] = {
    "used": True,
    "confirmed": True,
    "not-useful": False,
    "overridden": False,
}
"""The verdicts that are reviews, and whether each is a success. ``not-relevant`` blames the path, not the memory."""


def with_use(row: MemoryRow, now: datetime) -> MemoryRow:
    """A memory after one more use; without a recorded first use, its last use counts as the first."""
    recent = sorted((stamp(now), *row.recent), reverse=True)[: BASE_LEVEL.recent]
    first = min(now, row.first_used_at or row.last_used_at or now)
    return replace(row, uses=row.uses + 1, last_used_at=now, first_used_at=first, recent=tuple(recent))


def is_due(
    reviewed_at: datetime | None, now: datetime, tier: str, params: ForgettingParams = FORGETTING
) -> bool:
    """Whether a verdict of a tier is a review: an automatic one only a day or more after the last review."""
    return (
        tier != "automatic" or reviewed_at is None or days_between(reviewed_at, now) >= params.automatic_days
    )


def review(
    before: MemoryRow,
    recorded_at: datetime,
    now: datetime,
    *,
    recalled: bool,
    params: ForgettingParams = FORGETTING,
) -> Retention:
    """The retention of a memory after a review; ``before`` is its row, ``recorded_at`` the time it was recorded.

    FSRS counts from the last review; the power law counts from the last use or, without any, from ``recorded_at``.
    """
    state = None
    if before.stability is not None and before.difficulty is not None:
        state = FsrsState(before.stability, before.difficulty)
    since_review = days_between(before.reviewed_at or now, now)
    after = fsrs_update(state, GOOD if recalled else AGAIN, since_review)
    since_use = days_between(before.last_used_at or recorded_at, now)
    retrievability = power_retrievability(since_use, before.endurance, params.factor, params.exponent)
    endurance = float(
        stability_after(before.endurance, retrievability, recalled, params.growth, params.shrink)
    )
    return Retention(after.stability, after.difficulty, endurance, now)


def with_retention(row: MemoryRow, retention: Retention) -> MemoryRow:
    """A memory with its retention after a review."""
    return replace(
        row,
        stability=retention.stability,
        difficulty=retention.difficulty,
        endurance=retention.endurance,
        reviewed_at=retention.reviewed_at,
    )
