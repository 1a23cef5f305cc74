"""The parameters of stores: limits, patience, and how long traces are kept."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreParams(Checked):
    """Limits and patience of a store."""

    busy_timeout: float = param(
        30.0, low=0.0, unit="seconds", doc="time limit for waiting for another writer"
    )
    turn_after: float = param(
        1.0,
        low=0.0,
        unit="seconds",
        doc="time after which a waiting writer of a SQLite file goes before those that come later",
    )
    content_limit: int = param(1_048_576, low=1, unit="characters", doc="longest memory")
    tags: int = param(256, low=1, unit="tags", doc="most tags of a memory")
    files: int = param(1_000, low=1, unit="files", doc="most files that a memory touches")
    conditions: int = param(64, low=1, unit="conditions", doc="most conditions of a memory, in `when`")
    condition_values: int = param(100, low=1, unit="values", doc="most values of a condition")
    condition_letters: int = param(
        512, low=1, unit="characters", doc="longest value of a condition: a glob pattern, a phrase"
    )
    batch: int = param(
        500, low=1, unit="memories", doc="number of memories in one transaction of a bulk load"
    )
    trace_days: float = param(30.0, low=0.0, unit="days", doc="time for which traces are kept")
    copy_days: float = param(
        30.0,
        low=0.0,
        unit="days",
        source="docs/security.md",
        doc="time for which backups made unasked are kept",
    )
    trace_count: int = param(10_000, low=0, unit="traces", doc="maximum number of traces kept")
    flow_count: int = param(
        1_000, low=0, unit="traces", doc="number of traces that keep their flow, the latest first"
    )
    echo_hours: float = param(
        24.0, low=0.0, unit="hours", doc="time for which returning text counts as an echo"
    )
    echo_traces: int = param(
        500, low=0, unit="recalls", doc="number of recalls, the latest first, whose text can be an echo"
    )
    echo_words: int = param(4, low=1, unit="words", doc="minimum length of an echo")
    line_bytes: int = param(
        33_554_432,
        low=1,
        unit="bytes",
        doc="longest line of a file that is imported, and longest message of a commit",
    )
    file_bytes: int = param(
        268_435_456,
        low=1,
        unit="bytes",
        doc="largest file that is imported as a whole: a note, a JSON document",
    )
    pack_bytes: int = param(8_388_608, low=1, unit="bytes", doc="maximum size of a pack")
    why_operations: int = param(
        10, low=1, unit="operations", doc="number of operations that `why` shows, the latest first"
    )


STORE = StoreParams()


@dataclass(frozen=True, slots=True)
class PostgresParams(Checked):
    """How a process uses a PostgreSQL database."""

    pool: int = param(
        16, low=1, unit="connections", doc="most connections of one process, `?pool=` in the URL"
    )
    idle_after: float = param(
        300.0, low=1.0, unit="seconds", doc="time after which an idle connection is closed"
    )
    connect_timeout: int = param(5, low=1, unit="seconds", doc="time limit for a connection to be made")
    retry_pause: float = param(
        0.1, low=0.0, unit="seconds", doc="longest pause before a lost connection is tried again"
    )
    listening_interval: float = param(
        1.0, low=0.01, unit="seconds", doc="pause after which whoever listens looks whether it was closed"
    )
    migration_wait: float = param(
        1.5,
        low=0.001,
        unit="seconds",
        doc="longest time for which a step of a migration makes others wait; an automatic vacuum gives way after 1",
    )
    migration_batch: float = param(
        0.1, low=0.001, unit="seconds", doc="time after which a migration's batch of rows is halved"
    )
    migration_patience: float = param(
        600.0, low=1.0, unit="seconds", doc="time for which a step of a migration is tried again"
    )


POSTGRES = PostgresParams()
