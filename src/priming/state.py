"""What a memory had become elsewhere: what it brings along when it is imported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from priming.checks import check_time
from priming.errors import ParamError
from priming.words import STATUSES

_COUNTS = ("uses", "confirmed", "followed", "overridden")


@dataclass(frozen=True, slots=True)
class State:
    """Standing and use of a memory; all that is wrong with it is one ``ParamError``.

    ``priority`` is any number, ``confidence`` in [0, 1]; ``uses`` is how often it came up, the other counts are
    what became of it then.
    """

    status: str = "active"
    priority: float = 0.0
    confidence: float = 1.0
    uses: int = 0
    confirmed: int = 0
    followed: int = 0
    overridden: int = 0
    last_used_at: datetime | None = None

    def __post_init__(self) -> None:
        violations = []
        if self.status not in STATUSES:
            violations.append(f"status = {self.status!r}: must be one of {', '.join(STATUSES)}")
        if not _is_number(self.priority):
            violations.append(f"priority = {self.priority!r}: must be a finite number")
        if not _is_number(self.confidence) or not 0 <= self.confidence <= 1:
            violations.append(f"confidence = {self.confidence!r}: must be in [0, 1]")
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                violations.append(f"{name} = {value!r}: must be a whole number ≥ 0")
        if violations:
            raise ParamError.of(violations)
        if self.last_used_at is not None:
            object.__setattr__(self, "last_used_at", check_time("last_used_at", self.last_used_at))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
