"""The stage ``decay``, the first of a night: lets unused links fade, by the law of the profile (``LearningParams``).

- ``exponential``: co-activation links decay when they are read; here those are removed that have faded away. A link
  that somebody made by hand is never removed.
- ``linear``: learned links lose a share of their weight for every day without use, as World Weaver has it. No link is
  removed.
- ``none``: nothing fades.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import FORGETTING, PLASTICITY, ForgettingParams, PlasticityParams
from priming.core.forgetting import edge_decay, edge_decay_linear
from priming.core.plasticity import edge_is_spent
from priming.sleep.plan import PlannedItem
from priming.storage.protocol import Logged
from priming.storage.rows import LinkIdentity, LinkRow, RowChange
from priming.types import days_between

RELATION = "co-activated"
HOURS_A_DAY = 24.0
STAGE, PROPOSAL = "decay", "proposal"
"""The reasons of the operations in which links fade: a night's own stage, or a proposal that was applied."""


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
        days = days_between(last_use(link), now)
        hours = days * HOURS_A_DAY
        learnt = link.relation == RELATION and not link.given
        if learnt and edge_is_spent(link.weight, hours, forgetting.rho, params.prune_below):
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
        used, identity = last_use(link), (link.source, link.target, link.relation)
        days, before = days_between(used, now), days_between(used, faded_at.get(identity, used))
        left, left_before = (
            float(edge_decay_linear(1.0, span, forgetting.linear_rate)) for span in (days, before)
        )
        if link.weight <= 0.0 or left_before <= 0.0 or left >= left_before:
            continue
        faded = link.weight * left / left_before
        if faded > 0.0 and link.weight - faded < _LEAST:
            continue  # a later night counts from the same time, so that nothing is lost
        counted = f"{days:.0f} day{'' if round(days) == 1 else 's'}"
        reason = f"unused for {counted}: {link.weight:.4f} faded to {faded:.4f}"
        evidence = {"weight": link.weight, "days": days, "faded": faded, "rate": forgetting.linear_rate}
        rows = (RowChange(link, replace(link, weight=faded)),)
        planned.append(PlannedItem("fade", (link.source, link.target), None, reason, evidence, rows))
    return planned


def last_use(link: LinkRow) -> datetime:
    """When a link was last active; one that never was counts from when it was made."""
    return link.last_activated or link.created_at


def fadings(nights: Iterable[Logged], links: Collection[LinkRow]) -> dict[LinkIdentity, datetime]:
    """The time of the last fading of each link that faded since its last use; ``nights`` are newest first."""
    waiting = {(link.source, link.target, link.relation): last_use(link) for link in links}
    faded: dict[LinkIdentity, datetime] = {}
    for night in nights:
        if not waiting or night.at <= min(waiting.values()):
            break
        if night.reason not in (STAGE, PROPOSAL) or night.undone_by is not None:
            continue
        for change in night.rows:
            row = change.after
            if isinstance(row, LinkRow) and isinstance(change.before, LinkRow):
                used = waiting.get((row.source, row.target, row.relation))
                if used is not None and used < night.at and row.weight < change.before.weight:
                    del waiting[row.source, row.target, row.relation]
                    faded[row.source, row.target, row.relation] = night.at
    return faded
