"""link: failures and patterns that are the same become one, and what nothing is linked to finds its like."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.learning import LINKING, LinkParams
from priming.config.params.sleep import SLEEP, SleepParams
from priming.core.when import scope
from priming.maintenance.merge import MergePlan
from priming.rules.trust import instructs
from priming.sleep.plan import Conflicts, PlannedItem, ProgressStep
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.rule_kinds import forbids
from priming.types import MemoryRecord

SIMILAR = "similar-to"
MERGED_KINDS = ("failure", "pattern")
"""Kinds of which one stands for all that say the same (A7)."""
NOT_LINKED = ("behavior", "correction", "entity")
"""Kinds whose likeness is not that of vectors: rules have a law of their own, and entities their mentions."""
_BLOCK = 256


@dataclass(frozen=True, slots=True)
class MergeCandidate:
    """A memory that may be merged: what it says, its state, and its vector of length 1."""

    record: MemoryRecord
    row: MemoryRow
    vector: NDArray[Any]


def plan_merges(
    twins: Sequence[MergeCandidate],
    merging: Callable[[Collection[str]], MergePlan],
    now: datetime,
    *,
    conflicts: Conflicts = frozenset(),
    params: SleepParams = SLEEP,
) -> list[PlannedItem]:
    """Merge memories of a kind and a context that are as good as the same, unless they contradict each other.

    The one with the best standing is kept: what may instruct, then what helped most, then the oldest. What is known
    to end, or to become another text, some day stays.
    """
    groups: dict[Any, list[MergeCandidate]] = defaultdict(list)
    for twin in twins:
        if twin.record.kind in MERGED_KINDS and twin.record.valid_to is None and np.any(twin.vector):
            where = scope("when", twin.record.when)
            context = tuple(sorted((name, tuple(sorted(values))) for name, values in where.items()))
            groups[twin.record.kind, context, forbids(twin.record.content)].append(twin)
    return [
        _merged(survivor, others, merging, now)
        for group in groups.values()
        for survivor, others in _same(sorted(group, key=_standing), conflicts, params.merge)
    ]


def _standing(twin: MergeCandidate) -> tuple[float, ...]:
    return -instructs(twin.record.trust), -twin.row.helped


def _same(
    ranked: Sequence[MergeCandidate], conflicts: Conflicts, bar: float
) -> Iterator[tuple[MergeCandidate, list[tuple[MergeCandidate, float]]]]:
    """Each that is kept, with those that are merged into it and how near they are."""
    vectors = np.array([twin.vector for twin in ranked], np.float32)
    free = np.ones(len(ranked), np.bool_)
    for here, survivor in enumerate(ranked):
        if not free[here]:
            continue
        cosines = vectors[here + 1 :] @ vectors[here]
        others: list[tuple[MergeCandidate, float]] = []
        for i in np.flatnonzero((cosines >= bar) & free[here + 1 :]).tolist():
            twin = ranked[here + 1 + i]
            together = [survivor.row.id, *(other.row.id for other, _ in others)]
            if not any(frozenset((twin.row.id, other)) in conflicts for other in together):
                others.append((twin, float(cosines[i])))
                free[here + 1 + i] = False
        if others:
            yield survivor, others


def _merged(
    survivor: MergeCandidate,
    others: Sequence[tuple[MergeCandidate, float]],
    merging: Callable[[Collection[str]], MergePlan],
    now: datetime,
) -> PlannedItem:
    ids = tuple(twin.row.id for twin, _ in others)
    work = merging([survivor.row.id, *ids])
    for twin in ids:
        work.merge(twin, survivor.row.id, now)
    least = min(cosine for _, cosine in others)
    reason = f"{survivor.row.key} says the same: {least:.2f} alike"
    evidence = {"cosines": {twin.row.id: cosine for twin, cosine in others}, "left_out": work.left_out}
    return PlannedItem("merge", ids, survivor.row.id, reason, evidence, tuple(work.changes()))


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """All memories with a text by position: their ids, kinds and vectors, rows of zeros where there is none."""

    ids: Sequence[str]
    kinds: Sequence[str]
    vectors: NDArray[Any]


def plan_links(
    space: VectorSpace,
    linked: Collection[str],
    now: datetime,
    *,
    params: SleepParams = SLEEP,
    linking: LinkParams = LINKING,
    step: ProgressStep | None = None,
) -> list[PlannedItem]:
    """Link memories that have no ``similar-to`` link to their nearest, as if they had been remembered one by one.

    Where more are waiting than a night looks at, it takes some at random, by its time: what has no like must not
    hold up the rest for ever.
    """
    fit = np.any(space.vectors != 0.0, axis=1) & np.array(
        [kind not in NOT_LINKED for kind in space.kinds], np.bool_
    )
    waiting = np.array([i for i in np.flatnonzero(fit).tolist() if space.ids[i] not in linked], np.int64)
    if len(waiting) > params.linked:
        chance = np.random.default_rng(abs(int(now.timestamp())))
        waiting = np.sort(chance.choice(waiting, params.linked, replace=False))
    planned: list[PlannedItem] = []
    paired: set[frozenset[str]] = set()
    for first in range(0, len(waiting), _BLOCK):
        block = waiting[first : first + _BLOCK]
        cosines = space.vectors @ space.vectors[block].T
        for here, column in zip(block, cosines.T, strict=True):
            near = _nearest(int(here), column, fit, linking)
            fresh = [i for i in near if frozenset((space.ids[here], space.ids[i])) not in paired]
            paired |= {frozenset((space.ids[here], space.ids[i])) for i in fresh}
            if fresh:
                planned.append(_linked(space, int(here), fresh, column, now))
        if step is not None:
            step(first + len(block), len(waiting))
    return planned


def _nearest(here: int, cosines: NDArray[Any], fit: NDArray[np.bool_], linking: LinkParams) -> list[int]:
    close = np.flatnonzero((cosines >= linking.similarity) & fit)
    close = close[close != here]
    return [int(i) for i in close[np.argsort(-cosines[close], kind="stable")][: linking.nearest]]


def _linked(
    space: VectorSpace, here: int, near: Sequence[int], cosines: NDArray[Any], now: datetime
) -> PlannedItem:
    weights = {space.ids[i]: min(1.0, float(cosines[i])) for i in near}
    rows = tuple(
        RowChange(None, LinkRow(space.ids[here], other, SIMILAR, weight, now))
        for other, weight in weights.items()
    )
    others = "1 other" if len(weights) == 1 else f"{len(weights)} others"
    reason = f"nothing like it was linked, and {others} {'is' if len(weights) == 1 else 'are'}"
    reason += f" at least {min(weights.values()):.2f} alike"
    return PlannedItem("link", (space.ids[here], *weights), None, reason, {"cosines": weights}, rows)
