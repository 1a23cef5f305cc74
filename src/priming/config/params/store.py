"""The parameters of stores: limits, patience, and how long traces are kept."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class StoreParams(Checked):
    """Limits and patience of a store."""

    busy_timeout: float = param(30.0, low=0.0, unit="seconds", doc="patience with another writer")
    content_limit: int = param(1_048_576, low=1, unit="characters", doc="longest memory")
    batch: int = param(500, low=1, unit="memories", doc="memories in one transaction of a bulk load")
    trace_days: float = param(30.0, low=0.0, unit="days", doc="traces are kept this long")
    trace_count: int = param(10_000, low=0, unit="traces", doc="and at most so many")
    flow_count: int = param(1_000, low=0, unit="traces", doc="latest traces that keep their flow")
    echo_hours: float = param(24.0, low=0.0, unit="hours", doc="how long recalled text counts as an echo")
    echo_traces: int = param(500, low=0, unit="recalls", doc="latest recalls whose text can come back")
    echo_words: int = param(4, low=1, unit="words", doc="shortest text that can be an echo")
    pack_bytes: int = param(8_388_608, low=1, unit="bytes", doc="largest pack that is read")
    why_operations: int = param(10, low=1, unit="operations", doc="latest operations that `why` shows")


STORE = StoreParams()
