"""The relevance of a rule in a context: which of its conditions hold, and its score by floop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from priming.config.ids import time_of
from priming.config.profiles import FLOOP, Profile
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import check_text
from priming.core.base_level import base_level_score, optimized
from priming.core.score import (
    Score,
    context_score,
    feedback_ratio,
    floop,
    partial_activation,
    priority_score,
    rule_boost,
)
from priming.core.when import CueValue, findings, read
from priming.recall.formatting import rule_kind
from priming.text.languages import language_of, languages_in, task_of
from priming.types import Cue, MemoryRecord, days_between

_HOURS = 24.0
"""Hours in a day."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The conditions of a memory that a context confirms, by name, and the number of all its conditions."""

    confirmed: tuple[str, ...]
    total: int

    @property
    def share(self) -> float:
        """The share of conditions that hold; .5 without conditions."""
        return float(context_score(len(self.confirmed), self.total))

    @property
    def is_seed(self) -> bool:
        """Whether activation starts here: a condition holds, or there is none."""
        return bool(self.confirmed) or not self.total

    @property
    def is_whole(self) -> bool:
        """Whether every condition holds."""
        return len(self.confirmed) == self.total

    @property
    def start(self) -> float:
        """The activation that a seed starts with."""
        return float(partial_activation(len(self.confirmed), self.total))


def words(value: Any) -> str:
    """A value of a cue as text to match words against; a list is joined."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def context_of(cue: Cue, text: str | None = None) -> Mapping[str, Any]:
    """The context of a cue, its text included, with the language that a file or the text names if it gives none.

    ``text`` replaces that of the cue.
    """
    context = cue.context()
    for name, value in context.items():
        check_text(f"cue.{name}", words(value))
    text = cue.text if text is None else text
    if text is not None and check_text("cue.text", text).strip():
        context["text"] = text
    return _with_language(context)


def _with_language(context: dict[str, Any]) -> dict[str, Any]:
    if context.get("language"):
        return context
    named = [language_of(file) for file in _files(context)]
    languages = [language for language in named if language] or languages_in(context.get("text", ""))
    return {**context, "language": languages} if languages else context


def _files(context: Mapping[str, Any]) -> list[str]:
    """The files of a context."""
    files = context.get("file") or ()
    return [files] if isinstance(files, str) else [str(file) for file in files]


class ReadContext(NamedTuple):
    """A context, read once for the conditions of many memories, and the texts that hint at its task."""

    context: Mapping[str, CueValue]
    hints: CueValue


def read_context(context: Mapping[str, Any]) -> ReadContext:
    """Read a context. Its text or a test file may confirm a task; neither contradicts any."""
    hints = [context["text"]] if "text" in context else []
    hints += [task for file in _files(context) if (task := task_of(file))]
    return ReadContext(read(context), CueValue(hints))


def fit_of(when: Mapping[str, Any], reading: ReadContext) -> Fit | None:
    """How conditions fit a context; None where it contradicts any of them."""
    results = findings(when, reading.context)
    if results.get("task") == "absent" and findings(when, {"task": reading.hints})["task"] == "confirmed":
        results["task"] = "confirmed"
    if "contradicted" in results.values():
        return None
    return Fit(tuple(name for name, finding in results.items() if finding == "confirmed"), len(results))


def fits_of(whens: Iterable[Mapping[str, Any]], context: Mapping[str, Any]) -> list[Fit | None]:
    """How the conditions of many memories fit a context, in their order."""
    read_once = read_context(context)
    return [fit_of(when, read_once) for when in whens]


def cue_relevance(
    records: list[MemoryRecord],
    values: Floats,
    fit: Floats,
    active: Mapping[str, int],
    now: datetime,
    profile: Profile = FLOOP,
) -> Score:
    """The score of floop for memories with activation ``values``, which replace a ``fit`` of NaN as the context.

    ``active`` counts by id how often each was active so far.
    """
    law = profile.base_level_params
    # Before activations were counted, and where another store counted them, each use was an activation.
    counts = np.array([max(active.get(record.id, 0), record.use.uses) for record in records], np.float64)
    ages = np.maximum(_lives(now, records), law.min_age)
    return floop(
        np.where(np.isnan(fit), values, fit),
        base_level_score(np.asarray(optimized(counts, ages, law.d)), counts),
        feedback_ratio(*(counts_of(records, name) for name in ("confirmed", "followed", "overridden"))),
        priority_score(np.array([record.priority for record in records], np.float64)),
        boost=np.array(
            [rule_boost(rule_kind(record), profile.scoring.boosts) for record in records], np.float64
        ),
        weights=profile.scoring.floop,
    )


def _lives(now: datetime, records: list[MemoryRecord]) -> Floats:
    """The age of each memory in hours."""
    return np.array([days_between(_born(record, now), now) * _HOURS for record in records])


def _born(record: MemoryRecord, now: datetime) -> datetime:
    """When a memory was made. An imported rule was made when it was first learned."""
    learned = record.occurred_at if record.kind == "behavior" else None
    times = (
        time_of(record.id),
        record.recorded_at,
        learned,
        record.use.first_used_at,
        record.use.last_used_at,
    )
    return min((at for at in times if at is not None), default=now)


def counts_of(records: list[MemoryRecord], name: str) -> Floats:
    """A count of the use of each memory."""
    return np.array([getattr(record.use, name) for record in records], np.float64)
