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
    for skill in skills:
        if skill.steps and skill.row.id not in settled and skill.record.valid_to is None:
            groups[_context(skill.record)].append(skill)
    planned_merges = []
    for group in groups.values():
        if len(group) < params.skills:
            continue
        vectors = embed(["\n".join(skill.steps) for skill in group])
        for rows in clusters(vectors, params.skills, params, step):
            for rows_alike in _alike(rows.tolist(), vectors, params.alike):
                planned = _consolidated([group[row] for row in rows_alike], versions, now, conflicts, params)
                planned_merges += [] if planned is None else [planned]
    return planned_merges


def _alike(rows: Sequence[int], vectors: NDArray[Any], least: float) -> list[list[int]]:
    """A cluster in parts of which every two are alike: clustering also joins what is merely less far apart.

    What joins the wrong procedure is no longer found by what it is for, so that here it takes more than in ``deep``.
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    parts: list[list[int]] = []
    for row in rows:
        near = (float((units[part] @ units[row]).min()) for part in parts)
        best, into = max(zip(near, parts, strict=True), key=lambda pair: pair[0], default=(-np.inf, []))
        if best >= least:
            into.append(row)
        else:
            parts.append([row])
    return parts


def _context(record: MemoryRecord) -> tuple[Any, bool]:
    """Equal for procedures that may become one: what may not instruct never mixes with what may."""
    where = scope("when", record.when)
    return tuple(sorted((name, tuple(sorted(values))) for name, values in where.items())), instructs(
        record.trust
    )


def _consolidated(
    group: Sequence[Skill], versions: Versions, now: datetime, conflicts: Conflicts, params: SleepParams
) -> Planned | None:
    ranked = sorted(group, key=lambda skill: skill.standing)
    kept_ids = set(without_conflicts([skill.row.id for skill in ranked], conflicts | _opposed(ranked)))
    best, *others = [skill for skill in ranked if skill.row.id in kept_ids]
    if 1 + len(others) < params.skills:
        return None
    steps = best.steps
    for skill in others:
        steps = merged(steps, skill.steps)
    estimate = min(1.0, best.rate + params.skill_gain * len(others))
    row = best.row
    for skill in others:
        row = together(row, skill.row)
    changes = [RowChange(best.row, row)] if row != best.row else []
    changes += _rewritten(best, others, steps, estimate, versions, now)
    for skill in others:
        link = LinkRow(skill.row.id, best.row.id, CONSOLIDATED, PLASTICITY.start, now)
        changes += [RowChange(skill.row, replace(skill.row, status="deprecated")), RowChange(None, link)]
    evidence = {
        "rates": {skill.row.id: skill.rate for skill in (best, *others)},
        "steps": list(steps),
        "added": [skill for skill in steps if skill not in best.steps],
        "estimate": estimate,
    }
    reason = f"{best.row.key} worked best ({best.rate:.2f}) of {1 + len(others)} procedures with such steps"
    ids = tuple(skill.row.id for skill in others)
    return Planned("consolidate", ids, best.row.id, reason, evidence, tuple(changes))


def _opposed(group: Sequence[Skill]) -> Conflicts:
    """The pairs of procedures of which one forbids a step of the other."""
    forbidden = {skill.row.id: [step for step in skill.steps if forbids(step)] for skill in group}
    return frozenset(
        frozenset((skill.row.id, other.row.id))
        for skill in group
        for other in group
        if any(contradicts(a, b, {}, {}) for a in forbidden[skill.row.id] for b in other.steps)
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
    trust = least([old.trust, *(other.record.trust for other in others)])
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
