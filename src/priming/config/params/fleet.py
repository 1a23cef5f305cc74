"""The parameters of a fleet: how much runs at once, and how often it is tried."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class FleetParams(Checked):
    """What `priming fleet` does at once, and when it gives a namespace up."""

    at_once: int = param(
        8, low=1, high=10_000, unit="namespaces", doc="maximum at work in a database at once"
    )
    window: int = param(
        256,
        low=1,
        high=100_000,
        unit="namespaces",
        doc="maximum handed to a cluster at once, of all databases",
    )
    attempts: int = param(
        3,
        low=1,
        high=100,
        unit="attempts",
        doc="number of times that a namespace is tried before it has failed",
    )
    runs: int = param(
        20,
        low=1,
        high=10_000,
        unit="runs",
        doc="number of unfinished runs whose records stay, the latest first",
    )


FLEET = FleetParams()
