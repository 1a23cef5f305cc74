"""The terms of recall, and the weights that a namespace gives them: read with each recall."""

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
    "bm25",
    "cosine",
    "near",
    "pairs",
    "named",
    "date",
    "time",
    "length",
    "question",
    "window",
    "session",
    "gist",
    "answer",
    "details",
    "news",
    "context",
    "proved",
    "refused",
    "retention",
    "base",
    "coverage",
    "spread",
    "next",
    "names",
    "titled",
    "idf",
    "prior",
    "bridge",
    "covered",
    "repeated",
)
"""What ``ablate`` can switch off."""


KIND = "ablate"
NAMES = tuple(one.name for one in fields(RecallParams) if one.type == "float")
"""What may be set: the numbers of the recipe. A name that another version knew counts for nothing."""


def in_force(memory: Namespace, profile: Profile) -> Profile:
    """A profile as this namespace weighs it."""
    own = namespace_weights(memory, profile.name)
    return replace(profile, recall=with_weights(profile.recall, own)) if own else profile


def namespace_weights(memory: Namespace, profile: str) -> Mapping[str, float]:
    """The weights that this namespace has of its own for a profile; empty where it has none."""
    rows = memory.store.weights(memory.namespace, profile)
    return rows[0].weights if rows else {}


def with_weights(params: RecallParams, weights: Mapping[str, float]) -> RecallParams:
    """The recipe with some of its weights replaced; ``ParamError`` names those that are out of their range."""
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParamError(name, value, "must be a number")
    known: dict[str, Any] = {name: float(value) for name, value in weights.items() if name in NAMES}
    return replace(params, **known)


def write_weights(
    memory: Namespace,
    profile: Profile,
    weights: Mapping[str, float],
    before: Mapping[str, float],
    now: datetime,
) -> Logged:
    """Set some weights of a profile, as one operation. A weight that is the profile's own is no longer kept.

    ``Conflict`` where the weights are not those of ``before`` any more.
    """
    row = next(iter(memory.store.weights(memory.namespace, profile.name)), None)
    there = with_weights(profile.recall, {} if row is None else row.weights)
    for name, value in before.items():
        if getattr(there, name) != value:
            raise Conflict(
                f"{name} is {getattr(there, name):g} by now, where {value:g} was measured: ablate again"
            )
    merged = {**({} if row is None else row.weights), **weights}
    own = {
        name: merged[name] for name in sorted(merged) if merged[name] != getattr(profile.recall, name, None)
    }
    after = WeightsRow(profile.name, own) if own else None
    moves = [f"{name} {before[name]:g} → {weights[name]:g}" for name in weights]
    message = f"weights of {profile.name}: {', '.join(moves)}"
    return memory.write(KIND, now, [RowChange(row, after)], message=message)
