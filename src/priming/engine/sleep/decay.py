"""decay: links that were learnt from use and faded since are let go."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from priming.config.params.laws import FORGETTING, PLASTICITY, PlasticityParams
from priming.core.forgetting import edge_decay
from priming.core.plasticity import edge_is_spent
from priming.engine.retention import days_between
from priming.engine.sleep.planned import Planned
from priming.store.rows import LinkRow, RowChange

RELATION = "co-activated"
HOURS_A_DAY = 24.0


def plan(links: Iterable[LinkRow], now: datetime, params: PlasticityParams = PLASTICITY) -> list[Planned]:
    """Remove those that have faded below the bar; what stays keeps its weight, since time is counted when it is read.

    Links that somebody gave by hand stay.
    """
    found = []
    for one in links:
        days = days_between(one.last_activated or one.created_at, now)
        hours = days * HOURS_A_DAY
        learnt = one.relation == RELATION and not one.given
        if learnt and edge_is_spent(one.weight, hours, below=params.prune_below):
            faded = float(edge_decay(one.weight, hours, FORGETTING.rho))
            reason = f"not active together for {days:.0f} days: {one.weight:.2f} faded to {faded:.4f}"
            evidence = {"weight": one.weight, "hours": hours, "faded": faded, "below": params.prune_below}
            rows = (RowChange(one, None),)
            found.append(Planned("fade", (one.source, one.target), None, reason, evidence, rows))
    return found
