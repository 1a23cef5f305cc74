"""skill: procedures for the same thing become one, the one that worked best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import PLASTICITY
from priming.config.params.sleep import SLEEP, SleepParams
from priming.core.rules import contradicts, forbids
from priming.core.score import success_rate
from priming.core.trust import instructs, least
from priming.core.when import scope
from priming.engine.draft import Draft
from priming.engine.ids import gist_of
from priming.engine.merging import CONSOLIDATED, together
from priming.engine.retention import executions
from priming.engine.sleep.clusters import clusters
from priming.engine.sleep.planned import (
    Conflicts,
    Planned,
    Step,
    Versions,
    known,
    restated,
    succeeded,
    without_conflicts,
)
from priming.engine.sleep.steps import merged, written
from priming.engine.sleep.theme import Embed
from priming.store.rows import LinkRow, MemoryRow, RowChange, use_of
from priming.types import MemoryRecord

ESTIMATE = "success_estimate"


@dataclass(frozen=True, slots=True)
class Skill:
    """One procedure: its text, its state, its steps and how often it worked."""

    record: MemoryRecord
    row: MemoryRow
    steps: tuple[str, ...]

    @property
    def executions(self) -> int:
        """How often it was carried out."""
        return executions(use_of(self.row))

    @property
    def rate(self) -> float:
        """The share of its executions that succeeded."""
        return float(success_rate(self.row.helped, self.executions))

    @property
    def standing(self) -> tuple[float, ...]:
        """What decides which of several is kept, the least first; among equals the oldest, which comes first."""
        return -self.rate, -self.executions


def plan(
    skills: Sequence[Skill],
    versions: Versions,
    embed: Embed,
    now: datetime,
    *,
    conflicts: Conflicts = frozenset(),
    settled: Collection[str] = (),
    params: SleepParams = SLEEP,
    step: Step | None = None,
) -> list[Planned]:
    """Consolidate procedures that are alike, apply in the same context and are trusted alike.

    ``settled`` are the ids of those that somebody brought back: they stay. So does what is known to end, or to become
    another text, some day.
    """
    groups: dict[Any, list[Skill]] = defaultdict(list)
    for one in skills:
        if one.steps and one.row.id not in settled and one.record.valid_to is None:
            groups[_context(one.record)].append(one)
    found = []
    for group in groups.values():
        if len(group) < params.skills:
            continue
        vectors = embed(["\n".join(one.steps) for one in group])
        for rows in clusters(vectors, params.skills, params, step):
            for some in _alike(rows.tolist(), vectors, params.alike):
                planned = _consolidated([group[row] for row in some], versions, now, conflicts, params)
                found += [] if planned is None else [planned]
    return found


def _alike(rows: Sequence[int], vectors: NDArray[Any], least: float) -> list[list[int]]:
    """A cluster in parts of which every two are alike: clustering also joins what is merely less far apart.

    What joins the wrong procedure is no longer found by what it is for, so that here it takes more than in ``deep``.
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    parts: list[list[int]] = []
    for row in rows:
        near = (float((units[part] @ units[row]).min()) for part in parts)
        best, into = max(zip(near, parts, strict=True), key=lambda one: one[0], default=(-np.inf, []))
        if best >= least:
            into.append(row)
        else:
            parts.append([row])
    return parts


def _context(one: MemoryRecord) -> tuple[Any, bool]:
    """Equal for procedures that may become one: what may not instruct never mixes with what may."""
    where = scope("when", one.when)
    return tuple(sorted((name, tuple(sorted(wanted))) for name, wanted in where.items())), instructs(
        one.trust
    )


def _consolidated(
    group: Sequence[Skill], versions: Versions, now: datetime, conflicts: Conflicts, params: SleepParams
) -> Planned | None:
    ranked = sorted(group, key=lambda one: one.standing)
    kept_ids = set(without_conflicts([one.row.id for one in ranked], conflicts | _opposed(ranked)))
    best, *others = [one for one in ranked if one.row.id in kept_ids]
    if 1 + len(others) < params.skills:
        return None
    steps = best.steps
    for one in others:
        steps = merged(steps, one.steps)
    estimate = min(1.0, best.rate + params.skill_gain * len(others))
    row = best.row
    for one in others:
        row = together(row, one.row)
    changes = [RowChange(best.row, row)] if row != best.row else []
    changes += _rewritten(best, others, steps, estimate, versions, now)
    for one in others:
        link = LinkRow(one.row.id, best.row.id, CONSOLIDATED, PLASTICITY.start, now)
        changes += [RowChange(one.row, replace(one.row, status="deprecated")), RowChange(None, link)]
    evidence = {
        "rates": {one.row.id: one.rate for one in (best, *others)},
        "steps": list(steps),
        "added": [one for one in steps if one not in best.steps],
        "estimate": estimate,
    }
    reason = f"{best.row.key} worked best ({best.rate:.2f}) of {1 + len(others)} procedures with such steps"
    ids = tuple(one.row.id for one in others)
    return Planned("consolidate", ids, best.row.id, reason, evidence, tuple(changes))


def _opposed(group: Sequence[Skill]) -> Conflicts:
    """The pairs of procedures of which one forbids a step of the other."""
    forbidden = {one.row.id: [step for step in one.steps if forbids(step)] for one in group}
    return frozenset(
        frozenset((one.row.id, other.row.id))
        for one in group
        for other in group
        if any(contradicts(a, b, {}, {}) for a in forbidden[one.row.id] for b in other.steps)
    )


def _rewritten(
    best: Skill,
    others: Sequence[Skill],
    steps: tuple[str, ...],
    estimate: float,
    versions: Versions,
    now: datetime,
) -> list[RowChange]:
    """The text that is kept, with the steps that it lacked, which make it another version."""
    rows = versions(best.row.id)
    old = known(rows, best.record.version)
    metadata = {**old.metadata, ESTIMATE: estimate}
    if steps == best.steps:
        return restated(rows, old, now, metadata=metadata)
    text, metadata = written(old.content, steps, metadata)
    draft = Draft(text, old.heading, "procedure", None, old.session, old.speaker, old.occurred_at)
    trust = least([old.trust, *(one.record.trust for one in others)])
    return succeeded(
        rows,
        old,
        now,
        content=text,
        gist=gist_of(text),
        digest=draft.digest,
        metadata=metadata,
        trust=trust,
    )
