"""Results about learning: verdicts, runs, and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from priming.config.values import dataclass
from priming.types import EMPTY


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict on one memory; ``cue`` is that of the recall, ``recall_id`` is None without a recall."""

    key: str
    verdict: str
    at: datetime
    tier: str
    operation: str
    recall_id: str | None = None
    session: str | None = None
    cue: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of work: recalls under its ``session`` belong to it, and ``shown`` are the keys that they returned.

    ``settled`` is "used" or "unused" once the use of its output has been reported, else None.
    """

    id: str
    session: str
    started_at: datetime
    ended_at: datetime | None = None
    settled: str | None = None
    shown: tuple[str, ...] = ()
    operation: str | None = None
