"""The stage ``skill``: keeps the best of procedures that mean the same, and makes families of similar ones.

Titles and steps must mean the same, word by word (``procedures``). The others are deprecated and linked to the one
that is kept, which takes over steps that only look or report. Procedures that are alike and not the same stay, under
one entity, and the report names the words that make the difference.

Each keeps its own counts. The estimate of the survivor rises by .05 for each procedure that joins it, up to 1:
the best is not punished for the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

import numpy as np

from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import CONSOLIDATED, instructs, least
from priming.core.arguments.arrays import unit_rows
from priming.core.when import scope
from priming.index.document import ESTIMATE, ESTIMATED_FROM, success_estimate
from priming.remember.drafts import Draft, current_row, restate, supersede_rows
from priming.sleep.entities import KnownEntity, plan_families
from priming.sleep.gist import Embed
from priming.sleep.plan import Conflicts, Planned, PlannedItem, ProgressStep, Versions
from priming.sleep.procedures import (
    ProcedureCandidate,
    ProcedureChange,
    align,
    compare_procedures,
    steps_as_text,
)
from priming.storage.rows import LinkRow, RowChange
from priming.text.gists import gist_of
from priming.text.quotation import label
from priming.types import LeftAlone

_BLOCK = 512


@dataclass
class SkillStage:
    """The plan of a night for ``skills``, all active procedures.

    ``restored`` are the ids of procedures that somebody restored: they stay, and so do procedures with a set end of
    validity. ``families`` are those of earlier nights; ``taken`` tells whether a key is in use.
    """

    skills: Sequence[ProcedureCandidate]
    versions: Versions
    embed: Embed
    now: datetime
    conflicts: Conflicts = frozenset()
    restored: Collection[str] = ()
    families: Sequence[KnownEntity] = ()
    taken: Callable[[str], bool] = field(default=lambda _: False)
    step: ProgressStep | None = None

    def plan(self) -> list[Planned]:
        """Plan the consolidation of procedures that mean the same, and families of similar ones."""
        ranked = sorted((skill for skill in self.skills if skill.text.steps), key=lambda skill: skill.rank)
        changes = self._changes(ranked)
        same = [pair for pair, change in changes.items() if change.likeness in ("same", "part")]
        planned: list[Planned] = []
        stands_for: dict[int, int] = {}
        for best, *others in _groups(range(len(ranked)), same):
            stands_for |= dict.fromkeys(others, best)
            if others:
                planned.append(self._consolidate(ranked[best], [ranked[other] for other in others]))
        apart = _apart(changes, stands_for)
        alike = [pair for pair, change in apart.items() if change.likeness == "alike"]
        by_age = sorted(range(len(ranked)), key=lambda place: ranked[place].row.id)
        kin = [[ranked[place] for place in group] for group in _groups(by_age, alike) if len(group) > 1]
        planned += plan_families(kin, self.families, self.now, self.taken)
        planned += [
            LeftAlone((ranked[a].row.id, ranked[b].row.id), change.reason, change.words)
            for (a, b), change in apart.items()
        ]
        return planned

    def _changes(self, ranked: Sequence[ProcedureCandidate]) -> dict[tuple[int, int], ProcedureChange]:
        """Compare each procedure with those of similar meaning, by their positions; others are left out."""
        changes = {}
        for a, b in self._near(ranked):
            change = compare_procedures(ranked[a].text, ranked[b].text)
            if change.likeness in ("same", "part"):
                hindrance = self._hindrance(ranked[a], ranked[b], change)
                change = change if hindrance is None else hindrance
            if change.likeness != "other":
                changes[a, b] = change
        return changes

    def _near(self, ranked: Sequence[ProcedureCandidate]) -> Iterator[tuple[int, int]]:
        """Yield the places of procedures whose texts have at least the cosine ``alike``, the nearest of each only."""
        if len(ranked) < 2:
            return
        texts = ["\n".join([skill.text.title, *skill.text.steps]).strip() for skill in ranked]
        units = unit_rows(self.embed(texts).astype(np.float64))
        for first in range(0, len(units), _BLOCK):
            cosines = units[first : first + _BLOCK] @ units.T
            for place, row in enumerate(cosines, start=first):
                later = np.flatnonzero(row >= SLEEP.alike)
                later = later[later > place]
                nearest = later[np.argsort(-row[later], kind="stable")][: SLEEP.compared]
                yield from ((place, int(other)) for other in np.sort(nearest))
            if self.step is not None:
                self.step(min(first + _BLOCK, len(units)), len(units))

    def _hindrance(
        self, a: ProcedureCandidate, b: ProcedureCandidate, change: ProcedureChange
    ) -> ProcedureChange | None:
        """Return why two procedures that mean the same must stay apart; None if they may be merged."""
        where = [scope("when", skill.record.when) for skill in (a, b)]
        if where[0] != where[1]:
            values = [
                f"{name}={value}" for each in where for name in sorted(each) for value in sorted(each[name])
            ]
            return ProcedureChange("hindered", "they apply elsewhere", tuple(dict.fromkeys(values)))
        if instructs(a.record.trust) != instructs(b.record.trust):
            return ProcedureChange("hindered", "they differ in trust", (a.record.trust, b.record.trust))
        if frozenset((a.row.id, b.row.id)) in self.conflicts:
            return ProcedureChange("hindered", "they contradict each other")
        for skill in (a, b):
            if skill.row.id in self.restored:
                return ProcedureChange("hindered", f"somebody restored {label(skill.row.key)}")
            if skill.record.valid_to is not None:
                return ProcedureChange("hindered", f"{label(skill.row.key)} has an end of validity")
        if change.added and b.row.failed > b.row.helped:
            reason = f"{label(b.row.key)} failed more often than it helped, and has steps of its own"
            return ProcedureChange("alike", reason, change.added)
        return None

    def _consolidate(self, best: ProcedureCandidate, others: Sequence[ProcedureCandidate]) -> PlannedItem:
        """Return the best replaces the others; each keeps its own counts, and the best gains by the original law."""
        steps = best.text.steps
        for skill in others:
            steps = merge_steps(steps, skill.text.steps)
        estimate = min(1.0, success_estimate(best.record) + SLEEP.skill_gain * len(others))
        changes = self._rewrite(best, others, steps, estimate)
        for skill in others:
            link = LinkRow(skill.row.id, best.row.id, CONSOLIDATED, PLASTICITY.start, self.now)
            changes += [RowChange(skill.row, replace(skill.row, status="deprecated")), RowChange(None, link)]
        evidence = {
            "rates": {skill.row.id: skill.rate for skill in (best, *others)},
            "steps": list(steps),
            "added": [step for step in steps if step not in best.text.steps],
            "estimate": estimate,
        }
        winner = f"{label(best.row.key)} worked best ({best.rate:.2f})"
        reason = f"{winner} of {1 + len(others)} procedures that mean the same"
        ids = tuple(skill.row.id for skill in others)
        return PlannedItem("consolidate", ids, best.row.id, reason, evidence, tuple(changes))

    def _rewrite(
        self,
        best: ProcedureCandidate,
        others: Sequence[ProcedureCandidate],
        steps: tuple[str, ...],
        estimate: float,
    ) -> list[RowChange]:
        """Return the changes of the procedure that stays: a new version with added steps, or a new estimate only."""
        rows = self.versions(best.row.id)
        old = current_row(rows, best.record.version)
        metadata = {**old.metadata, ESTIMATE: estimate, ESTIMATED_FROM: best.rate}
        if steps == best.text.steps:
            return restate(rows, old, self.now, metadata=metadata)
        text, metadata = steps_as_text(old.content, steps, metadata)
        draft = Draft(text, old.heading, "procedure", None, old.session, old.speaker, old.occurred_at)
        trust = least([old.trust, *(other.record.trust for other in others)])
        return supersede_rows(
            rows,
            old,
            self.now,
            content=text,
            gist=gist_of(text, "procedure"),
            digest=draft.digest,
            metadata=metadata,
            trust=trust,
        )


def _groups(order: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the places in groups of which every two are a pair, in ``order``: each joins the first group it fits."""
    groups: list[list[int]] = []
    together = {frozenset(pair) for pair in pairs}
    for place in order:
        fitting = (group for group in groups if all(frozenset((place, other)) in together for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _apart(
    changes: Mapping[tuple[int, int], ProcedureChange], stands_for: Mapping[int, int]
) -> dict[tuple[int, int], ProcedureChange]:
    """Return the similar pairs that stay separate, by the positions of their representatives."""
    apart: dict[tuple[int, int], ProcedureChange] = {}
    for (a, b), change in changes.items():
        left, right = stands_for.get(a, a), stands_for.get(b, b)
        if left != right and change.likeness in ("alike", "hindered"):
            apart.setdefault((min(left, right), max(left, right)), change)
    return apart


def merge_steps(steps: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Add the steps of another procedure that have no equal, each before the step that follows it in both.

    >>> merge_steps(("stop it", "delete it", "start it"), ("Halt it", "delete it", "check it", "start it"))
    ('stop it', 'delete it', 'check it', 'start it')
    """
    pairs = align(steps, others)
    if any(i is not None and j is None for i, j, _ in pairs):
        return tuple(steps)  # it has all steps of the other, in other words or as part of its own
    return tuple(steps[i] if i is not None else others[j or 0] for i, j, _ in pairs)
