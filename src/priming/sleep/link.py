"""The stage ``link``, the last of a night: merges equal failures and patterns, then adds ``similar-to`` links.

``plan_merges`` keeps one memory of each group; ``plan_links`` links memories without a ``similar-to`` link to their
nearest. It never merges episodes, facts or rules, and never merges memories that contradict each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import SLEEP
from priming.config.params.recall import LINKING, LinkParams
from priming.config.values import dataclass
from priming.config.words import instructs
from priming.core.when import scope
from priming.graph.merge_plan import MergePlan
from priming.index.document import embedded_text
from priming.index.topology import SIMILAR
from priming.sleep.plan import Conflicts, Planned, PlannedItem, ProgressStep
from priming.sleep.procedures import differing
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.quotation import count_text, label
from priming.text.statements.judge import judge
from priming.types import LeftAlone, MemoryRecord

MERGED_KINDS = ("failure", "pattern")
"""The kinds whose equal memories are merged."""
NOT_LINKED = ("behavior", "correction", "entity")
"""The kinds that are not linked by their vectors: rules have their own links, entities those of their mentions."""
_BLOCK = 256
_EXAMINED = 10
"""How many memories are examined for names for each that may get links in a night."""


@dataclass(frozen=True, slots=True)
class MergeCandidate:
    """A memory that may be merged: its record, its row, and its unit vector."""

    record: MemoryRecord
    row: MemoryRow
    vector: NDArray[Any]


def plan_merges(
    candidates: Sequence[MergeCandidate],
    merge_plan: Callable[[Collection[str]], MergePlan],
    now: datetime,
    *,
    conflicts: Conflicts = frozenset(),
) -> list[Planned]:
    """Plan merges of memories of a kind and context that are nearly equal, mean the same and do not contradict.

    The best memory of a group is kept: one that may instruct, then the one that helped most, then the oldest.
    Memories with a set end of validity are not merged.
    """
    groups: dict[Any, list[MergeCandidate]] = defaultdict(list)
    for candidate in candidates:
        if (
            candidate.record.kind in MERGED_KINDS
            and candidate.record.valid_to is None
            and np.any(candidate.vector)
        ):
            where = scope("when", candidate.record.when)
            context = tuple(sorted((name, tuple(sorted(values))) for name, values in where.items()))
            groups[candidate.record.kind, context].append(candidate)
    planned: list[Planned] = []
    for group in groups.values():
        apart: list[LeftAlone] = []
        planned += [
            _merge(survivor, others, merge_plan, now)
            for survivor, others in _duplicates(sorted(group, key=_rank), conflicts, SLEEP.merge, apart)
        ]
        planned += apart
    return planned


def _rank(candidate: MergeCandidate) -> tuple[float, ...]:
    return -instructs(candidate.record.trust), -candidate.row.helped


def _duplicates(
    ranked: Sequence[MergeCandidate], conflicts: Conflicts, bar: float, apart: list[LeftAlone]
) -> Iterator[tuple[MergeCandidate, list[tuple[MergeCandidate, float]]]]:
    """Yield each memory that stays, with the memories to merge into it and their cosines.

    Those of which the words differ go to ``apart``.
    """
    vectors = np.array([candidate.vector for candidate in ranked], np.float32)
    free = np.ones(len(ranked), np.bool_)
    for here, survivor in enumerate(ranked):
        if not free[here]:
            continue
        cosines = vectors[here + 1 :] @ vectors[here]
        others: list[tuple[MergeCandidate, float]] = []
        for i in np.flatnonzero((cosines >= bar) & free[here + 1 :]).tolist():
            candidate = ranked[here + 1 + i]
            together = [survivor.row.id, *(other.row.id for other, _ in others)]
            if any(frozenset((candidate.row.id, other)) in conflicts for other in together):
                continue
            left, right = (
                embedded_text(each.record.heading, each.record.content) for each in (survivor, candidate)
            )
            judgement = judge(left, right)
            if judgement.kind != "same":
                words = differing([left], [right])
                apart.append(LeftAlone((survivor.row.id, candidate.row.id), judgement.reason, words))
            else:
                others.append((candidate, float(cosines[i])))
                free[here + 1 + i] = False
        if others:
            yield survivor, others


def _merge(
    survivor: MergeCandidate,
    others: Sequence[tuple[MergeCandidate, float]],
    merge_plan: Callable[[Collection[str]], MergePlan],
    now: datetime,
) -> PlannedItem:
    ids = tuple(candidate.row.id for candidate, _ in others)
    plan = merge_plan([survivor.row.id, *ids])
    for candidate in ids:
        plan.merge(candidate, survivor.row.id, now)
    least = min(cosine for _, cosine in others)
    reason = f"{label(survivor.row.key)} says the same: {least:.2f} alike"
    evidence = {
        "cosines": {candidate.row.id: cosine for candidate, cosine in others},
        "left_out": plan.left_out,
    }
    return PlannedItem("merge", ids, survivor.row.id, reason, evidence, tuple(plan.changes()))


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The ids, kinds and vectors of all memories with a text, by position; rows of zeros without a vector."""

    ids: Sequence[str]
    kinds: Sequence[str]
    vectors: NDArray[Any]


def plan_links(
    space: VectorSpace,
    linked: Collection[str],
    now: datetime,
    *,
    linking: LinkParams = LINKING,
    step: ProgressStep | None = None,
) -> list[PlannedItem]:
    """Plan ``similar-to`` links from memories without one to their nearest, as ``remember`` would have made them.

    If more memories wait than ``SLEEP.linked``, a random sample is taken, seeded by the time, so that memories
    without a neighbour do not block the others every night.
    """
    fit = np.any(space.vectors != 0.0, axis=1) & np.array(
        [kind not in NOT_LINKED for kind in space.kinds], np.bool_
    )
    waiting = np.array([i for i in np.flatnonzero(fit).tolist() if space.ids[i] not in linked], np.int64)
    if len(waiting) > SLEEP.linked:
        rng = np.random.default_rng(abs(int(now.timestamp())))
        waiting = np.sort(rng.choice(waiting, SLEEP.linked, replace=False))
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
                planned.append(_link(space, int(here), fresh, column, now))
        if step is not None:
            step(first + len(block), len(waiting))
    return planned


def _nearest(here: int, cosines: NDArray[Any], fit: NDArray[np.bool_], linking: LinkParams) -> list[int]:
    close = np.flatnonzero((cosines >= linking.similarity) & fit)
    close = close[close != here]
    return [int(i) for i in close[np.argsort(-cosines[close], kind="stable")][: linking.nearest]]


def _link(
    space: VectorSpace, here: int, near: Sequence[int], cosines: NDArray[Any], now: datetime
) -> PlannedItem:
    weights = {space.ids[i]: min(1.0, float(cosines[i])) for i in near}
    rows = tuple(
        RowChange(None, LinkRow(space.ids[here], other, SIMILAR, weight, now))
        for other, weight in weights.items()
    )
    others = count_text(len(weights), "other")
    reason = f"no similar memory was linked, and {others} {'is' if len(weights) == 1 else 'are'}"
    reason += f" at least {min(weights.values()):.2f} alike"
    return PlannedItem("link", (space.ids[here], *weights), None, reason, {"cosines": weights}, rows)


def plan_mentions(
    ids: Sequence[str],
    missing: Callable[[Sequence[str], int], tuple[Sequence[str], Sequence[RowChange]]],
    now: datetime,
) -> list[PlannedItem]:
    """Plan links from memories to the names in their texts that they lack; ``missing`` makes their rows.

    All are one item, since several memories may name what has no entity yet. Of a large namespace a random sample is
    examined, seeded by the time.
    """
    most = SLEEP.linked * _EXAMINED
    if len(ids) > most:
        rng = np.random.default_rng(abs(int(now.timestamp())))
        ids = [ids[i] for i in np.sort(rng.choice(len(ids), most, replace=False)).tolist()]
    changed, rows = missing(ids, SLEEP.linked)
    if not changed:
        return []
    count = sum(isinstance(row.after, LinkRow) for row in rows)
    reason = f"{count} {'name in the text was' if count == 1 else 'names in the texts were'} not linked"
    return [PlannedItem("link", tuple(changed), None, reason, {}, tuple(rows))]
