"""Learning: a correction becomes a rule, and takes its place among the rules of the namespace.

Steps: check the arguments (``Lesson``), draft the correction and the behaviour, place it, write a new or change one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, KEPT_BESIDE, KINDS, LEARNED_FROM, is_trusted_as
from priming.core.arguments.arrays import TextVectors
from priming.core.plasticity import increment
from priming.core.when import scope
from priming.namespace import Namespace
from priming.recall.formatting import rule_kind
from priming.recall.relevance import confirmed_by_teaching
from priming.remember.drafts import Draft, current_version, embed_drafts, succeeding_rows
from priming.remember.planner import RememberPlan
from priming.remember.remember import relink
from priming.rules.disagreements import OVERTAKEN, in_order_of_time, replaced_rows, to_settle
from priming.rules.lesson import Lesson, check_lesson
from priming.rules.placement import BehaviorComparison, BehaviorPlacement, place_behavior
from priming.rules.results import Learned
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.quotation import conditions_text, label, quote_text
from priming.types import Cue, MemoryRecord

_CONFIDENCE = 0.6
"""The confidence of a newly learned rule (floop)."""
CONSCIOUS = "conscious"
"""The source of deliberate operations."""

OVERRIDES = "overrides"
_RULE_RELATIONS = (OVERRIDES, CONFLICTS, "similar-to")
"""The relations that placement decides."""
_KINDS = [KINDS.index(kind) for kind in ("behavior", "correction")]


def learn(
    memory: Namespace,
    right: str,
    *,
    wrong: str | None = None,
    cue: Cue | None = None,
    tags: Sequence[str] = (),
    priority: float = 0.0,
    source: str | None = None,
    trust: str = "user",
    rule: str | None = None,
) -> Learned:
    """Store a correction and the behaviour that follows from it, which applies in the context of ``cue``.

    Args:
        right: what to do; the text of the behaviour.
        wrong: what was done instead.
        cue: the context in which the behaviour applies, without the text of the cue; None: everywhere. Its time is
            when the correction was made: it reverses no rule that was learned after that.
        tags: short texts to filter by.
        priority: in [0, 10].
        source: where the correction comes from.
        trust: who vouches for it: untrusted, tool, agent or user.
        rule: constraint, directive, procedure or preference; None: read from the words of ``right``.

    Raises:
        ParamError: a blank text, the same text right and wrong, or an argument outside its range.

    """
    lesson = check_lesson(
        right=right, wrong=wrong, cue=cue, tags=tags, priority=priority, source=source, trust=trust, rule=rule
    )
    return _learn(memory, lesson)


_REPLACING = ("widen", "supersede")
"""The placements by which a rule gets a new version."""
LearnPlan = tuple[Learned, list[RowChange]]
"""The answer without its operation and links, and the rows to write."""


def _learn(memory: Namespace, lesson: Lesson) -> Learned:
    """Store a correction and its behaviour as one operation."""
    drafts = (lesson.correction(), lesson.behavior())
    vectors = embed_drafts(drafts, memory.embedder)
    with memory.lock:
        with memory.writing() as now:
            existing = memory.page_of(now, kinds=["behavior"])
            placed = place_behavior(drafts[1], existing, wrong=lesson.wrong)
            if lesson.at is not None:
                placed = in_order_of_time(memory, drafts[1], placed, lesson.at, wrong=lesson.wrong)
            plan = RememberPlan(memory, now)
            learned, rows = _Learning(plan, lesson, placed, drafts, vectors).planned()
            planned = _links_of(rows, learned.id)
            rows += replaced_rows(plan, placed, learned.id, rows)
            operation = memory.next_operation_id(now)
            if placed.placement == "merge" and placed.nearest is not None:
                rows += confirmed_by_teaching(memory, placed.nearest.existing, operation, now)
            if not rows:
                return learned
            documents = plan.documents()
            logged = memory.write(
                "learn",
                now,
                rows,
                vectors=plan.vectors,
                source=CONSCIOUS,
                reason=learned.reasons[0],
                operation_id=operation,
            )
            links = memory.to_links(planned)
        if placed.placement not in _REPLACING:
            memory.queue_operation(plan.working.head, logged, documents)
    return replace(learned, links=links, operation=logged.id)


@dataclass(frozen=True, slots=True)
class _Learning:
    """A correction and its behaviour on their way into the namespace, and where they belong there."""

    plan: RememberPlan
    lesson: Lesson
    placed: BehaviorPlacement
    drafts: Sequence[Draft]
    vectors: Sequence[TextVectors]

    def planned(self) -> LearnPlan:
        """Plan a new behaviour, or what the correction changes about the one that it is about."""
        placed, near = self.placed, self.placed.nearest
        if near is None:
            learned, rows = self._new()
            return replace(learned, reasons=(*placed.reasons, *learned.reasons)), rows
        is_change = placed.placement in ("merge", *_REPLACING)
        learned, rows = self._change(near) if is_change else self._new()
        answer = replace(
            learned,
            beside=near.existing.key,
            similarity=near.similarity,
            reasons=(*placed.reasons, *learned.reasons),
            change=near.change.kind,
        )
        return answer, rows

    def _new(self) -> LearnPlan:
        """Plan a new behaviour, linked to its correction and to related behaviours."""
        plan, lesson, placed = self.plan, self.lesson, self.placed
        status = {"status": "deprecated" if placed.placement == OVERTAKEN else "active"}
        new = {"confidence": _CONFIDENCE, "priority": lesson.priority, **status}
        stateful = [replace(self.drafts[0], state=status), replace(self.drafts[1], state=new)]
        plan.add_all(stateful, self.vectors, nearest=True, always=True)
        correction, behavior = plan.results
        learned = Learned(
            id=behavior.id,
            key=behavior.key,
            correction=correction.key,
            placement=placed.placement,
            rule=lesson.rule,
            when=lesson.when,
            confidence=_CONFIDENCE,
            reasons=(
                *to_settle(placed, behavior.key),
                f"{lesson.rule}: {'read from its words' if lesson.inferred else 'as given'}",
            ),
            content=lesson.right,
        )
        links = [self._learned_from(behavior.id, correction.id), *self._rule_links(behavior.id)]
        return learned, [*self._kept_rows(), *(RowChange(None, link) for link in links)]

    def _change(self, near: BehaviorComparison) -> LearnPlan:
        """Plan the correction as a further source of an existing behaviour, which may get a new version by it."""
        plan, lesson, placement, target = self.plan, self.lesson, self.placed.placement, near.existing
        replaces, supersedes = placement in _REPLACING, placement == "supersede"
        (before,) = plan.memory.rows(MemoryRow, ids=[target.id])
        earlier = None if replaces else self._earlier_correction(target)
        if earlier is None:
            plan.add_all(self.drafts[:1], self.vectors[:1], nearest=True, always=True)
        correction = earlier or plan.results[0]
        content, versions = self._version(target) if replaces else (target.content, [])
        if supersedes and near.change.kind != "same":
            after, reason = self._first_state(before)
        else:
            after, reason = self._strengthened(before, target, earlier)
        rows = [*self._kept_rows(), *versions]
        rows += [] if after == before else [RowChange(before, after)]
        rows += [] if earlier else [RowChange(None, self._learned_from(target.id, correction.id))]
        rows += self._refreshed_links(target.id) if replaces else []
        conditions = f"before, it applied {conditions_text(target.when, label)}"
        was = f"before: {quote_text(target.content)}" if supersedes else conditions
        learned = Learned(
            id=target.id,
            key=target.key,
            correction=correction.key,
            placement=placement,
            rule=lesson.rule if supersedes else rule_kind(target) or lesson.rule,
            when=self.placed.when if replaces else target.when,
            confidence=after.confidence,
            reasons=(was, reason) if replaces else (reason, *self._ignored(target)),
            content=content,
            previous=target.content if supersedes else None,
        )
        return learned, rows

    def _version(self, target: MemoryRecord) -> tuple[str, list[RowChange]]:
        """Plan a version of a behaviour with the text of the correction, or for more contexts; its text and rows."""
        memory, plan = self.plan.memory, self.plan
        old = current_version(memory, target, plan.now)
        new = replace(self.drafts[1], when=self.placed.when)
        if self.placed.placement == "supersede":
            rows, version = succeeding_rows(memory, old, new, plan.now)
            rows += relink(plan, old, new)
            plan.vectors[target.id, version.version] = self.vectors[1].packed()
            return new.content, rows
        new = replace(new, content=old.content, metadata=old.metadata, tags=old.tags, trust=old.trust)
        rows, version = succeeding_rows(memory, old, new, plan.now)
        stored = dict(memory.stored_vectors(memory.embedder.generation, [target.id]))
        if packed := stored.get((target.id, old.version)):
            plan.vectors[target.id, version.version] = packed
        return new.content, rows

    def _kept_rows(self) -> list[RowChange]:
        """Return planned rows, without links of rules and corrections by cosine: ``place_behavior`` decides these."""
        return [change for change in self.plan.rows if not self._is_cosine(change)]

    def _is_cosine(self, change: RowChange) -> bool:
        link = change.after
        if not isinstance(link, LinkRow) or link.relation != "similar-to":
            return False
        working = self.plan.working
        row = working.row_of.get(link.target)
        return row is None or int(working.kind[row]) in _KINDS

    def _learned_from(self, behavior: str, correction: str) -> LinkRow:
        return LinkRow(behavior, correction, LEARNED_FROM, PLASTICITY.start, self.plan.now)

    def _rule_links(self, behavior_id: str) -> list[LinkRow]:
        """Return the links of a behaviour to the others, as its placement says."""
        return [
            LinkRow(
                *((link.other.id, behavior_id) if link.inward else (behavior_id, link.other.id)),
                link.relation,
                link.weight,
                self.plan.now,
            )
            for link in self.placed.links
        ]

    def _refreshed_links(self, behavior_id: str) -> list[RowChange]:
        """Return the links of a behaviour that has a new version: those of its placement, without others by rule."""
        present = self.plan.memory.rows(LinkRow, ids=[behavior_id])
        is_restated = self.placed.placement == "supersede"
        settled = set() if is_restated else {_ends(link) for link in present if link.relation == KEPT_BESIDE}
        links = {
            (link.relation, _ends(link)): link
            for link in self._rule_links(behavior_id)
            if not (link.relation == CONFLICTS and _ends(link) in settled)
        }
        changes = []
        for link in present:
            other = link.target if link.source == behavior_id else link.source
            if link.relation not in _RULE_RELATIONS or other not in self.placed.compared:
                continue
            planned = links.get((link.relation, _ends(link)))
            if planned is not None and (link.relation != OVERRIDES or planned.source == link.source):
                del links[link.relation, _ends(link)]
            elif not link.given:
                changes.append(RowChange(link, None))
        return [*changes, *(RowChange(None, link) for link in links.values())]

    def _first_state(self, before: MemoryRow) -> tuple[MemoryRow, str]:
        """Return the state of a behaviour whose text is superseded, without verdicts, and the reason for it."""
        priority = max(before.priority, self.lesson.priority)
        after = replace(
            before, confidence=_CONFIDENCE, priority=priority, confirmed=0, followed=0, overridden=0
        )
        return (
            after,
            f"confidence {_CONFIDENCE:.2f}, as of a first correction; it was {before.confidence:.2f}",
        )

    def _strengthened(
        self, before: MemoryRow, target: MemoryRecord, earlier: MemoryRecord | None
    ) -> tuple[MemoryRow, str]:
        """Return the state of a behaviour after one more correction, and the reason for it."""
        trust = self.lesson.trust
        if not is_trusted_as(trust, target.trust):
            return before, f"a correction from {trust} does not change a rule from {target.trust}"
        after = replace(before, priority=max(before.priority, self.lesson.priority))
        if earlier is not None:
            return after, f"the same correction was learned before: {label(earlier.key)}"
        after = replace(after, confidence=float(increment(before.confidence)))
        return after, f"confidence {before.confidence:.2f} → {after.confidence:.2f}"

    def _earlier_correction(self, target: MemoryRecord) -> MemoryRecord | None:
        """Return the same correction for the same context, if the behaviour was learned from it before."""
        memory, draft = self.plan.memory, self.drafts[0]
        links = memory.rows(LinkRow, ids=[target.id], relation=LEARNED_FROM)
        records = memory.records(self.plan.now, ids=[link.target for link in links])
        matches = (
            record
            for record in records.values()
            if (record.status, record.kind, record.content) == ("active", draft.kind, draft.content)
            and scope("when", record.when) == scope("when", self.lesson.when)
        )
        return next(matches, None)

    def _ignored(self, target: MemoryRecord) -> list[str]:
        """Return the parts that a merge does not take over: the conditions and the kind of the new rule."""
        lesson, remarks, key = self.lesson, list[str](), label(target.key)
        if scope("when", target.when) != scope("when", lesson.when):
            remarks.append(
                f"{key} applies {conditions_text(target.when, label)}, not {conditions_text(lesson.when, label)}"
            )
        if rule_kind(target) != lesson.rule:
            remarks.append(f"{key} stays a {rule_kind(target)}, not a {lesson.rule}")
        return remarks


def _ends(link: LinkRow) -> frozenset[str]:
    return frozenset((link.source, link.target))


def _links_of(rows: Sequence[RowChange], memory_id: str) -> list[LinkRow]:
    links = (change.after for change in rows if isinstance(change.after, LinkRow))
    return [link for link in links if memory_id in (link.source, link.target)]
