"""The stages by which links and memories lose their weight: ``decay``, ``light`` and ``prune``. None erases a memory.

``decay``, the first of a night, lets unused links fade, by the law of the profile (``LearningParams``):

- ``exponential``: co-activation links decay when they are read; here those are removed that have faded away. A link
  that somebody made by hand is never removed.
- ``linear``: learned links lose a share of their weight for every day without use, as World Weaver has it. No link is
  removed.
- ``none``: nothing fades.

``light`` marks episodes that repeat an earlier one word for word, and sets their importance to 0. It reads the latest
episodes, and never merges or removes a memory.

``prune`` archives memories that rarely helped, and duplicates that ``light`` marked long ago. ``restore`` undoes it,
and it never archives entities, constraints or restored memories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import FORGETTING, PLASTICITY, ForgettingParams, PlasticityParams
from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.core.forgetting import edge_decay
from priming.core.score import effectiveness
from priming.history.inverse import faded_weight, fades, last_use
from priming.history.movements import link_identity
from priming.learning.coactivation import RELATION, has_faded, idle_hours
from priming.recall.formatting import rule_kind
from priming.remember.drafts import current_row, restate
from priming.sleep.plan import (
    DUPLICATE_OF,
    Conflicts,
    Planned,
    PlannedItem,
    Versions,
    is_duplicate,
    without_conflicts,
)
from priming.storage.protocol import Logged
from priming.storage.rows import LinkIdentity, LinkRow, MemoryRow, RowChange
from priming.text.quotation import label
from priming.types import LeftAlone, MemoryRecord, days_between

_LEAST = 5e-5
"""The least loss of weight that a night stores: any less does not show in four decimals."""


def plan_decay(
    links: Iterable[LinkRow],
    now: datetime,
    params: PlasticityParams = PLASTICITY,
    forgetting: ForgettingParams = FORGETTING,
) -> list[PlannedItem]:
    """Plan the removal of co-activation links whose faded weight is below ``params.prune_below``."""
    planned = []
    for link in links:
        if link.relation == RELATION and has_faded(link, now, params, forgetting.rho):
            days, hours = days_between(last_use(link), now), idle_hours(link, now)
            faded = float(edge_decay(link.weight, hours, forgetting.rho))
            reason = f"not active together for {days:.0f} days: {link.weight:.2f} faded to {faded:.4f}"
            evidence = {"weight": link.weight, "hours": hours, "faded": faded, "below": params.prune_below}
            rows = (RowChange(link, None),)
            planned.append(PlannedItem("fade", (link.source, link.target), None, reason, evidence, rows))
    return planned


def plan_linear_decay(
    links: Iterable[LinkRow],
    now: datetime,
    faded_at: Mapping[LinkIdentity, datetime],
    forgetting: ForgettingParams = FORGETTING,
) -> list[PlannedItem]:
    """Plan the fading of unused links: of the weight at the last use, ``linear_rate`` a day is lost.

        w = edge_decay_linear(w at the last use, days since) = max(0, w · (1 − rate · days))

    ``faded_at`` has the time of the last fading of links that faded since their last use. However many nights there
    are, the weight is that of one night at the end.
    """
    planned = []
    for link in links:
        faded = faded_weight(link, faded_at.get(link_identity(link)), now, forgetting.linear_rate)
        if faded >= link.weight:
            continue
        if faded > 0.0 and link.weight - faded < _LEAST:
            continue  # a later night counts from the same time, so that nothing is lost
        days = days_between(last_use(link), now)
        counted = f"{days:.0f} day{'' if round(days) == 1 else 's'}"
        reason = f"unused for {counted}: {link.weight:.4f} faded to {faded:.4f}"
        evidence = {"weight": link.weight, "days": days, "faded": faded, "rate": forgetting.linear_rate}
        rows = (RowChange(link, replace(link, weight=faded)),)
        planned.append(PlannedItem("fade", (link.source, link.target), None, reason, evidence, rows))
    return planned


def fadings(nights: Iterable[Logged], links: Collection[LinkRow]) -> dict[LinkIdentity, datetime]:
    """Return the time of the last fading of each link that faded since its last use; ``nights`` are newest first."""
    waiting = {link_identity(link): last_use(link) for link in links}
    faded: dict[LinkIdentity, datetime] = {}
    for night in nights:
        if not waiting or night.at <= min(waiting.values()):
            break
        for change in night.rows if night.undone_by is None else ():
            if isinstance(change.row, LinkRow) and fades(night, change):
                name = link_identity(change.row)
                if name in waiting and waiting[name] < night.at:
                    del waiting[name]
                    faded[name] = night.at
    return faded


def plan_light(
    episodes: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts = frozenset()
) -> list[Planned]:
    """Plan the marks of exact duplicates among ``episodes``, oldest first; the oldest copy stays as it is.

    The same text with another outcome, or under another title, is left alone.
    """
    same: dict[tuple[str | None, ...], list[MemoryRecord]] = defaultdict(list)
    for episode in episodes:
        same[episode.title, episode.content, episode.outcome].append(episode)
    marked = (_marked(group, versions, now, conflicts) for group in same.values() if len(group) > 1)
    return [
        *(item for item in marked if item is not None),
        *_otherwise([group[0] for group in same.values()]),
    ]


def _otherwise(originals: Sequence[MemoryRecord]) -> Iterator[LeftAlone]:
    """Yield the episodes with the text of an earlier one but another outcome or title."""
    first: dict[str, MemoryRecord] = {}
    for episode in originals:
        earlier = first.setdefault(episode.content, episode)
        if earlier is episode or is_duplicate(episode):
            continue
        what, values = "titles", (earlier.title, episode.title)
        if earlier.outcome != episode.outcome:
            what, values = "outcomes", (earlier.outcome, episode.outcome)
        words = tuple(value or "none" for value in values)
        yield LeftAlone((earlier.id, episode.id), f"the same text, but their {what} differ", words)


def _marked(
    group: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts
) -> PlannedItem | None:
    original = next((copy for copy in group if not is_duplicate(copy)), None)
    if original is None:
        return None
    unopposed = set(without_conflicts([original.id, *(copy.id for copy in group)], conflicts)) - {original.id}
    fresh = [copy for copy in group if copy.id in unopposed and not is_duplicate(copy)]
    if not fresh:
        return None
    rows = []
    for copy in fresh:
        rows_of_copy = versions(copy.id)
        metadata = {**copy.metadata, DUPLICATE_OF: original.key}
        rows += restate(
            rows_of_copy, current_row(rows_of_copy, copy.version), now, importance=0.0, metadata=metadata
        )
    reason = f"says word for word what {label(original.key)} says"
    evidence = {"text": original.gist, "copies": len(fresh)}
    ids = tuple(copy.id for copy in fresh)
    return PlannedItem("mark", ids, original.id, reason, evidence, tuple(rows))


ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A memory, its row, and for a marked duplicate when its version got the mark."""

    record: MemoryRecord
    row: MemoryRow
    marked_at: datetime | None = None


def plan_prune(
    candidates: Iterable[PruneCandidate],
    now: datetime,
    *,
    originals: Collection[str] = (),
    restored: Collection[str] = (),
) -> list[PlannedItem]:
    """Plan the archiving of ineffective memories and old duplicates.

    ``originals`` are keys of active memories: a duplicate is archived only if its original stays. ``restored`` are
    the ids of memories that somebody restored: they stay.
    """
    eligible = [
        candidate
        for candidate in candidates
        if candidate.row.status == "active"
        and candidate.row.id not in restored
        and not _is_protected(candidate.record)
    ]
    planned_by_key = {
        candidate.row.key: planned
        for candidate in eligible
        if (planned := _ineffective(candidate, now)) is not None
    }
    staying = set(originals).difference(planned_by_key)
    for candidate in eligible:
        planned = None if candidate.row.key in planned_by_key else _old_duplicate(candidate, staying, now)
        if planned is not None:
            planned_by_key[candidate.row.key] = planned
            staying.discard(candidate.row.key)
    return list(planned_by_key.values())


def _is_protected(record: MemoryRecord) -> bool:
    """Tell whether a memory is never pruned: entities, and constraints, whose success leaves no trace."""
    return record.kind == "entity" or (record.kind == "behavior" and rule_kind(record) == "constraint")


def is_ineffective(row: MemoryRow) -> bool:
    """Tell whether enough verdicts report that a memory rarely helps."""
    return rarely_helps(row.helped, row.failed)


def rarely_helps(helped: int, failed: int) -> bool:
    """Tell whether these verdicts are enough, and too few of them good."""
    return helped + failed >= SLEEP.uses and float(effectiveness(helped, failed)) < SLEEP.effectiveness


def _ineffective(candidate: PruneCandidate, now: datetime) -> PlannedItem | None:
    if (
        not is_ineffective(candidate.row)
        or days_between(candidate.record.recorded_at or now, now) < SLEEP.days
    ):
        return None
    helped, judged = candidate.row.helped, candidate.row.helped + candidate.row.failed
    share = float(effectiveness(candidate.row.helped, candidate.row.failed))
    reason = f"helped {helped} of {judged} times: {share:.2f} is below {SLEEP.effectiveness:g}"
    evidence = {"helped": helped, "failed": candidate.row.failed, "effectiveness": share}
    return _archived(candidate, reason, evidence)


def _old_duplicate(
    candidate: PruneCandidate, originals: Collection[str], now: datetime
) -> PlannedItem | None:
    original = candidate.record.metadata.get(DUPLICATE_OF)
    if not isinstance(original, str) or original not in originals or candidate.record.importance > 0.0:
        return None
    days = days_between(candidate.marked_at or candidate.record.recorded_at or now, now)
    if days <= SLEEP.duplicate_days:
        return None
    reason = f"marked as a duplicate of {original} {days:.0f} days ago"
    return _archived(candidate, reason, {DUPLICATE_OF: original, "days": days})


def _archived(candidate: PruneCandidate, reason: str, evidence: Mapping[str, object]) -> PlannedItem:
    change = RowChange(candidate.row, replace(candidate.row, status=ARCHIVED))
    return PlannedItem("archive", (candidate.row.id,), None, reason, evidence, (change,))
