"""How a process uses a PostgreSQL database."""

from __future__ import annotations

from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class PostgresParams:
    """How a process uses a PostgreSQL database."""

    pool: int = 16
    """Most connections of one process, `?pool=` in the URL."""
    idle_after: float = 300.0
    """Time after which an idle connection is closed, in seconds."""
    connect_timeout: int = 5
    """Time limit for a connection to be made, in seconds."""
    retry_pause: float = 0.1
    """Longest pause before a lost connection is tried again, in seconds."""
    listening_interval: float = 1.0
    """Pause after which whoever listens looks whether it was closed, in seconds."""
    migration_wait: float = 1.5
    """Longest time for which a step of a migration makes others wait, in seconds; an automatic vacuum gives way
    after 1."""
    migration_batch: float = 0.1
    """Time after which a migration's batch of rows is halved, in seconds."""
    migration_patience: float = 600.0
    """Time for which a step of a migration is tried again, in seconds."""


POSTGRES = PostgresParams()
