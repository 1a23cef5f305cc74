"""skill: procedures for the same thing become one, the one that worked best."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import PLASTICITY
from priming.config.params.sleep import SLEEP, SleepParams
from priming.core.score import success_rate
from priming.core.trust import instructs, least
from priming.core.when import scope
from priming.learning.retention import executions
from priming.maintenance.merge import CONSOLIDATED, merged_counts
from priming.remember.drafts import SENTENCE_END, Draft, gist_of
from priming.sleep.clustering import cluster_rows
from priming.sleep.gist import Embed
from priming.sleep.plan import (
    Conflicts,
    PlannedItem,
    ProgressStep,
    Versions,
    current_row,
    restate,
    supersede_rows,
    without_conflicts,
)
from priming.storage.rows import LinkRow, MemoryRow, RowChange, use_of
from priming.text.rule_kinds import contradicts, forbids
from priming.types import MemoryRecord

ESTIMATE = "success_estimate"


@dataclass(frozen=True, slots=True)
class ProcedureCandidate:
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


def plan_skill(
    skills: Sequence[ProcedureCandidate],
    versions: Versions,
    embed: Embed,
    now: datetime,
    *,
    conflicts: Conflicts = frozenset(),
    settled: Collection[str] = (),
    params: SleepParams = SLEEP,
    step: ProgressStep | None = None,
) -> list[PlannedItem]:
    """Consolidate procedures that are alike, apply in the same context and are trusted alike.

    ``settled`` are the ids of those that somebody brought back: they stay. So does what is known to end, or to become
    another text, some day.
    """
    groups: dict[Any, list[ProcedureCandidate]] = defaultdict(list)
    for skill in skills:
        if skill.steps and skill.row.id not in settled and skill.record.valid_to is None:
            groups[_context(skill.record)].append(skill)
    planned_merges = []
    for group in groups.values():
        if len(group) < params.skills:
            continue
        vectors = embed(["\n".join(skill.steps) for skill in group])
        for rows in cluster_rows(vectors, params.skills, params, step):
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
    group: Sequence[ProcedureCandidate],
    versions: Versions,
    now: datetime,
    conflicts: Conflicts,
    params: SleepParams,
) -> PlannedItem | None:
    ranked = sorted(group, key=lambda skill: skill.standing)
    kept_ids = set(without_conflicts([skill.row.id for skill in ranked], conflicts | _opposed(ranked)))
    best, *others = [skill for skill in ranked if skill.row.id in kept_ids]
    if 1 + len(others) < params.skills:
        return None
    steps = best.steps
    for skill in others:
        steps = merge_steps(steps, skill.steps)
    estimate = min(1.0, best.rate + params.skill_gain * len(others))
    row = best.row
    for skill in others:
        row = merged_counts(row, skill.row)
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
    return PlannedItem("consolidate", ids, best.row.id, reason, evidence, tuple(changes))


def _opposed(group: Sequence[ProcedureCandidate]) -> Conflicts:
    """The pairs of procedures of which one forbids a step of the other."""
    forbidden = {skill.row.id: [step for step in skill.steps if forbids(step)] for skill in group}
    return frozenset(
        frozenset((skill.row.id, other.row.id))
        for skill in group
        for other in group
        if any(contradicts(a, b, {}, {}) for a in forbidden[skill.row.id] for b in other.steps)
    )


def _rewritten(
    best: ProcedureCandidate,
    others: Sequence[ProcedureCandidate],
    steps: tuple[str, ...],
    estimate: float,
    versions: Versions,
    now: datetime,
) -> list[RowChange]:
    """The text that is kept, with the steps that it lacked, which make it another version."""
    rows = versions(best.row.id)
    old = current_row(rows, best.record.version)
    metadata = {**old.metadata, ESTIMATE: estimate}
    if steps == best.steps:
        return restate(rows, old, now, metadata=metadata)
    text, metadata = steps_as_text(old.content, steps, metadata)
    draft = Draft(text, old.heading, "procedure", None, old.session, old.speaker, old.occurred_at)
    trust = least([old.trust, *(other.record.trust for other in others)])
    return supersede_rows(
        rows,
        old,
        now,
        content=text,
        gist=gist_of(text),
        digest=draft.digest,
        metadata=metadata,
        trust=trust,
    )


STEPS = "steps"
"""Where metadata may list the steps of a procedure; else they are read from its text."""
_NUMBER = re.compile(r"^\s*(?:step\s+)?\d{1,3}[.):]\s+|^\s*[-*•]\s+", re.IGNORECASE)
_INLINE = re.compile(r"(?:^|(?<=\s))\d{1,2}[.)]\s+")


def steps_of(content: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The steps that metadata lists, else the numbered parts of the text, else its lines or sentences.

    >>> steps_of("1. Stop the server. 2. Delete old builds.", {})
    ('Stop the server.', 'Delete old builds.')
    """
    listed = metadata.get(STEPS)
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(part, str) for part in listed):
        return tuple(part.strip() for part in listed if part.strip())
    numbered = [part.strip() for part in _INLINE.split(content)]
    if len(numbered) > 2 and not numbered[0]:
        return tuple(part for part in numbered if part)
    parts = (_NUMBER.sub("", part).strip() for part in SENTENCE_END.split(content))
    return tuple(part for part in parts if part)


def steps_as_text(
    content: str, steps: Sequence[str], metadata: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    r"""The text and the metadata of a procedure with these steps: they stand where they stood before.

    >>> steps_as_text("Stop the server.", ("Stop the server.", "Delete old builds."), {})
    ('1. Stop the server.\n2. Delete old builds.', {})
    """
    if metadata.get(STEPS):
        return content, {**metadata, STEPS: list(steps)}
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1)), dict(metadata)


def merge_steps(steps: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Steps with those of another procedure that they lack, each before the step that follows it in both.

    >>> merge_steps(("stop", "delete", "start"), ("Stop", "look", "start", "tell"))
    ('stop', 'delete', 'look', 'start', 'tell')
    """
    steps_so_far, waiting = list(steps), list[str]()
    once: dict[str, str] = {}
    for step in others:
        once.setdefault(_plain(step), step)
    for plain, step in once.items():
        place = next((i for i, step_before in enumerate(steps_so_far) if _plain(step_before) == plain), None)
        if place is None:
            waiting.append(step)
        else:
            steps_so_far[place:place] = waiting
            waiting = []
    return (*steps_so_far, *waiting)


def _plain(step: str) -> str:
    return " ".join(step.casefold().split()).rstrip(".;,!")
