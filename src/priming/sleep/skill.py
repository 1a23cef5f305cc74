"""The stage ``skill``: consolidates procedures with like steps into the one that worked best, and adds missing steps.

The others are deprecated and linked to it. It never joins procedures of different contexts or trust, or procedures
of which one forbids a step of the other. The steps of a procedure are read by ``steps_of``, at the end of the file.
"""

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
from priming.core.when import scope
from priming.index.document import ESTIMATE, ESTIMATED_FROM
from priming.maintenance.merge import CONSOLIDATED, merged_counts
from priming.remember.drafts import SENTENCE_END, Draft, gist_of
from priming.rules.trust import instructs, least
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
from priming.types import MemoryRecord, executions


@dataclass(frozen=True, slots=True)
class ProcedureCandidate:
    """One procedure: its record, its row and its steps."""

    record: MemoryRecord
    row: MemoryRow
    steps: tuple[str, ...]

    @property
    def executions(self) -> int:
        """The number of executions."""
        return executions(use_of(self.row))

    @property
    def rate(self) -> float:
        """The share of successful executions."""
        return float(success_rate(self.row.helped, self.executions))

    @property
    def rank(self) -> tuple[float, ...]:
        """A sort key: the best procedure has the least, and equals keep their order, the oldest first."""
        return -self.rate, -self.executions


def plan_skill(
    skills: Sequence[ProcedureCandidate],
    versions: Versions,
    embed: Embed,
    now: datetime,
    *,
    conflicts: Conflicts = frozenset(),
    restored: Collection[str] = (),
    params: SleepParams = SLEEP,
    step: ProgressStep | None = None,
) -> list[PlannedItem]:
    """Plan the consolidation of procedures with like steps, in the same context and with like trust.

    ``restored`` are the ids of procedures that somebody restored: they stay, and so do procedures with a set end of
    validity.
    """
    groups: dict[Any, list[ProcedureCandidate]] = defaultdict(list)
    for skill in skills:
        if skill.steps and skill.row.id not in restored and skill.record.valid_to is None:
            groups[_context(skill.record)].append(skill)
    planned_merges = []
    for group in groups.values():
        if len(group) < params.skills:
            continue
        vectors = embed(["\n".join(skill.steps) for skill in group])
        for rows in cluster_rows(vectors, params.skills, params, step):
            for rows_alike in _alike(rows.tolist(), vectors, params.alike):
                planned = _consolidate([group[row] for row in rows_alike], versions, now, conflicts, params)
                planned_merges += [] if planned is None else [planned]
    return planned_merges


def _alike(rows: Sequence[int], vectors: NDArray[Any], least: float) -> list[list[int]]:
    """Split a cluster so that every two rows of a part have at least the cosine ``least``.

    A procedure that is joined wrongly can no longer be recalled by its purpose; hence a stricter rule than in
    ``deep``.
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
    """A group key, equal for procedures that may be joined; those that may instruct never mix with others."""
    where = scope("when", record.when)
    return tuple(sorted((name, tuple(sorted(values))) for name, values in where.items())), instructs(
        record.trust
    )


def _consolidate(
    group: Sequence[ProcedureCandidate],
    versions: Versions,
    now: datetime,
    conflicts: Conflicts,
    params: SleepParams,
) -> PlannedItem | None:
    ranked = sorted(group, key=lambda skill: skill.rank)
    compatible_ids = set(without_conflicts([skill.row.id for skill in ranked], conflicts | _opposed(ranked)))
    best, *others = [skill for skill in ranked if skill.row.id in compatible_ids]
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
    changes += _rewrite(best, others, steps, estimate, versions, now)
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


def _rewrite(
    best: ProcedureCandidate,
    others: Sequence[ProcedureCandidate],
    steps: tuple[str, ...],
    estimate: float,
    versions: Versions,
    now: datetime,
) -> list[RowChange]:
    """The changes of the kept procedure: a new version with the added steps, or only a new success estimate."""
    rows = versions(best.row.id)
    old = current_row(rows, best.record.version)
    metadata = {**old.metadata, ESTIMATE: estimate, ESTIMATED_FROM: best.rate}
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
"""The metadata key that may list the steps of a procedure; without it they are read from the text."""
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
    r"""The text and the metadata of a procedure with these steps, kept in metadata if they were listed there.

    >>> steps_as_text("Stop the server.", ("Stop the server.", "Delete old builds."), {})
    ('1. Stop the server.\n2. Delete old builds.', {})
    """
    if metadata.get(STEPS):
        return content, {**metadata, STEPS: list(steps)}
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1)), dict(metadata)


def merge_steps(steps: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Add the missing steps of another procedure, each before the step that follows it in both.

    >>> merge_steps(("stop", "delete", "start"), ("Stop", "look", "start", "tell"))
    ('stop', 'delete', 'look', 'start', 'tell')
    """
    steps_so_far, waiting = list(steps), list[str]()
    first_spelling: dict[str, str] = {}
    for step in others:
        first_spelling.setdefault(_plain(step), step)
    for plain, step in first_spelling.items():
        place = next((i for i, step_before in enumerate(steps_so_far) if _plain(step_before) == plain), None)
        if place is None:
            waiting.append(step)
        else:
            steps_so_far[place:place] = waiting
            waiting = []
    return (*steps_so_far, *waiting)


def _plain(step: str) -> str:
    return " ".join(step.casefold().split()).rstrip(".;,!")
