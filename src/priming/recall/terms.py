"""The terms of recall by name, and the weights that a namespace gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile
from priming.errors import Conflict, ParamError
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange, WeightsRow

TERMS = (
    *("words", "meaning", "near", "vocabulary", "size", "date", "named", "rest", "outdated"),
    *("other", "asks", "information", "session", "answered"),
    *("context", "feedback", "use", "spread", "next", "names"),
)
"""The terms that ``ablate`` can switch off."""

KIND = "ablate"
NAMES = tuple(field.name for field in fields(RecallParams) if field.type == "float")
"""The parameters that a namespace can set: the numbers of the recipe. Unknown names have no effect."""


def current_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Stored weights without those of terms that recall no longer has."""
    return {name: value for name, value in weights.items() if name in NAMES}


def with_weights(params: RecallParams, weights: Mapping[str, float]) -> RecallParams:
    """The recipe with some of its weights replaced; ``ParamError`` names those that are out of their range."""
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParamError(name, value, "must be a number")
    values: dict[str, Any] = {name: float(value) for name, value in current_weights(weights).items()}
    return replace(params, **values)


def weighted_profile(memory: Namespace, profile: Profile) -> Profile:
    """A profile with the weights that this namespace gives it."""
    rows = memory.rows(WeightsRow, profile=profile.name)
    weights = current_weights(rows[0].weights) if rows else {}
    return replace(profile, recall=with_weights(profile.recall, weights)) if weights else profile


def write_weights(
    memory: Namespace,
    profile: Profile,
    weights: Mapping[str, float],
    before: Mapping[str, float],
    now: datetime,
) -> Logged:
    """Set some weights of a profile, as one operation. A weight that equals the profile's own is not stored.

    Raises:
        Conflict: the present weights differ from ``before``.

    """
    row = next(iter(memory.rows(WeightsRow, profile=profile.name)), None)
    stored = {} if row is None else current_weights(row.weights)
    present = with_weights(profile.recall, stored)
    for name, value in before.items():
        if getattr(present, name) != value:
            raise Conflict(
                f"{name} is {getattr(present, name):g} by now, where {value:g} was measured: ablate again"
            )
    merged = {**stored, **weights}
    changed = {
        name: merged[name] for name in sorted(merged) if merged[name] != getattr(profile.recall, name, None)
    }
    after = WeightsRow(profile.name, changed) if changed else None
    moves = [f"{name} {before[name]:g} → {weights[name]:g}" for name in weights]
    message = f"weights of {profile.name}: {', '.join(moves)}"
    return memory.write(KIND, now, [RowChange(row, after)], message=message)
