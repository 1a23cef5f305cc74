"""decay: links that were learnt from use and faded since are let go."""

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
    """Remove those that have faded below the bar; what stays keeps its weight, since time is counted when it is read.

    Links that somebody gave by hand stay.
    """
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
