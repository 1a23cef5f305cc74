"""Sleep: what a night would do, said before it is done, and when a night is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from priming.types import EMPTY, Change


@dataclass(frozen=True, slots=True)
class ProposedItem:
    """One thing that sleep proposes, with the reason and the evidence, and the rows that it changes.

    ``keys`` are the memories that it is about, ``into`` the one that stands for them afterwards. Items of one
    proposal never change the same row, so that each can be taken or left.
    """

    id: str
    stage: str
    action: str
    keys: tuple[str, ...]
    into: str | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    changes: tuple[Change, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class StageCheck:
    """A rule that the items of a stage were held against: how many stood, and why each of the others was dropped."""

    stage: str
    rule: str
    held: int
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a night does, or would do: ``operations`` are those of its stages, ``operation`` is the last of them.

    To undo ``operation`` takes the whole night back. ``items`` that were only proposed can be applied.
    """

    id: str
    at: datetime
    namespace: str
    stages: tuple[str, ...]
    items: tuple[ProposedItem, ...] = ()
    operation: str | None = None
    operations: tuple[str, ...] = ()
    checks: tuple[StageCheck, ...] = ()
    head: int = 0
    """The number of the operation that it was planned after: what came later may have changed what it rests on."""


def is_due(now: datetime, last: datetime, every: timedelta, fresh: int) -> bool:
    """Whether it is time for the next night: so long after the last one, or sooner after enough new memories.

    A clock that was set back does not put sleep off: it counts as time that passed.

    >>> from datetime import UTC
    >>> night = datetime(2026, 3, 1, 3, tzinfo=UTC)
    >>> hours = timedelta(hours=1)
    >>> is_due(night + 7 * hours, night, 8 * hours, 99), is_due(night + hours, night, 8 * hours, 100)
    (False, True)
    """
    from priming.config.params.sleep import SLEEP

    return not timedelta(0) <= now - last < every or fresh >= SLEEP.fresh
