"""The stage ``decay``, the first of a night: removes co-activation links that have faded below a threshold.

It never changes a weight (weights decay when they are read), and never removes a link that somebody made by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from priming.config.params.laws import FORGETTING, PLASTICITY, PlasticityParams
from priming.core.forgetting import edge_decay
from priming.core.plasticity import edge_is_spent
from priming.sleep.plan import PlannedItem
from priming.storage.rows import LinkRow, RowChange
from priming.types import days_between

RELATION = "co-activated"
HOURS_A_DAY = 24.0


def plan_decay(
    links: Iterable[LinkRow], now: datetime, params: PlasticityParams = PLASTICITY
) -> list[PlannedItem]:
    """Plan the removal of co-activation links whose faded weight is below ``params.prune_below``."""
    planned = []
    for link in links:
        days = days_between(link.last_activated or link.created_at, now)
        hours = days * HOURS_A_DAY
        learnt = link.relation == RELATION and not link.given
        if learnt and edge_is_spent(link.weight, hours, below=params.prune_below):
            faded = float(edge_decay(link.weight, hours, FORGETTING.rho))
            reason = f"not active together for {days:.0f} days: {link.weight:.2f} faded to {faded:.4f}"
            evidence = {"weight": link.weight, "hours": hours, "faded": faded, "below": params.prune_below}
            rows = (RowChange(link, None),)
            planned.append(PlannedItem("fade", (link.source, link.target), None, reason, evidence, rows))
    return planned
