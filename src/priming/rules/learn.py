"""Learning: a correction becomes a rule, and takes its place among the rules of the namespace.

Steps: check the arguments (``Lesson``), draft the correction and the behaviour, place it, write a new or merge it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from priming.config.params.laws import PLASTICITY
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
from priming.rules.lesson import Lesson, check_lesson, described
from priming.rules.placement import BehaviorPlacement, place_behavior
from priming.rules.results import Learned
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.quotation import label, quote_text
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
            if placed.placement in ("widen", "supersede"):
                learned, rows = _plan_version(memory, plan, lesson, placed, drafts, vectors)
            elif placed.placement == "merge":
                learned, rows = _plan_merge(plan, lesson, placed, drafts[0], vectors[0])
            else:
                learned, rows = _plan_new(plan, lesson, placed, drafts, vectors)
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
        if placed.placement not in ("widen", "supersede"):
            memory.queue_operation(plan.working.head, logged, documents)
    return replace(learned, links=links, operation=logged.id)


def _plan_new(
    plan: RememberPlan,
    lesson: Lesson,
    placed: BehaviorPlacement,
    drafts: Sequence[Draft],
    vectors: Sequence[TextVectors],
) -> LearnPlan:
    """Plan a new behaviour, linked to its correction and to related behaviours."""
    status = {"status": "deprecated" if placed.placement == OVERTAKEN else "active"}
    new = {"confidence": _CONFIDENCE, "priority": lesson.priority, **status}
    stateful = [replace(drafts[0], state=status), replace(drafts[1], state=new)]
    plan.add_all(stateful, vectors, nearest=True, always=True)
    correction, behavior = plan.results
    rows = [change for change in plan.rows if not _is_cosine(plan, change)]
    rows += [RowChange(None, LinkRow(behavior.id, correction.id, LEARNED_FROM, PLASTICITY.start, plan.now))]
    rows += [RowChange(None, link) for link in _rule_links(placed, behavior.id, plan)]
    learned = Learned(
        id=behavior.id,
        key=behavior.key,
        correction=correction.key,
        placement=placed.placement,
        rule=lesson.rule,
        when=lesson.when,
        confidence=_CONFIDENCE,
        beside=placed.nearest.existing.key if placed.nearest else None,
        similarity=placed.nearest.similarity if placed.nearest else None,
        reasons=(
            *placed.reasons,
            *to_settle(placed, behavior.key),
            f"{lesson.rule}: {'read from its words' if lesson.inferred else 'as given'}",
        ),
        content=lesson.right,
        change=placed.nearest.change.kind if placed.nearest else None,
    )
    return learned, rows


def _plan_merge(
    plan: RememberPlan, lesson: Lesson, placed: BehaviorPlacement, draft: Draft, vectors: TextVectors
) -> LearnPlan:
    """Plan the correction as a further source of an existing behaviour, whose confidence it raises."""
    assert placed.nearest is not None, "a merge has a target"
    target = placed.nearest.existing
    (before,) = plan.memory.rows(MemoryRow, ids=[target.id])
    earlier = _earlier_correction(plan, target, lesson)
    after, reason = _strengthen(before, target, lesson, earlier)
    rows = [] if after == before else [RowChange(before, after)]
    if earlier is None:
        plan.add_all([draft], [vectors], nearest=True, always=True)
        (correction,) = plan.results
        rows += [change for change in plan.rows if not _is_cosine(plan, change)]
        link = LinkRow(target.id, correction.id, LEARNED_FROM, PLASTICITY.start, plan.now)
        rows.append(RowChange(None, link))
    learned = Learned(
        id=target.id,
        key=target.key,
        correction=earlier.key if earlier else correction.key,
        placement=placed.placement,
        rule=rule_kind(target) or lesson.rule,
        when=target.when,
        confidence=after.confidence,
        beside=target.key,
        similarity=placed.nearest.similarity,
        reasons=(*placed.reasons, reason, *_ignored(target, lesson)),
        content=target.content,
        change=placed.nearest.change.kind,
    )
    return learned, rows


def _plan_version(
    memory: Namespace,
    plan: RememberPlan,
    lesson: Lesson,
    placed: BehaviorPlacement,
    drafts: Sequence[Draft],
    vectors: Sequence[TextVectors],
) -> LearnPlan:
    """Plan a new version of an existing behaviour: with the text of the correction, or for more contexts."""
    assert placed.nearest is not None, "a new version has an earlier one"
    target, supersedes = placed.nearest.existing, placed.placement == "supersede"
    (before,) = plan.memory.rows(MemoryRow, ids=[target.id])
    plan.add_all(drafts[:1], vectors[:1], nearest=True, always=True)
    (correction,) = plan.results
    old = current_version(memory, target, plan.now)
    behavior = replace(drafts[1], when=placed.when)
    if not supersedes:
        behavior = replace(
            behavior, content=old.content, metadata=old.metadata, tags=old.tags, trust=old.trust
        )
    rows, version = succeeding_rows(memory, old, behavior, plan.now)
    if supersedes:
        rows += relink(plan, old, behavior)
        if placed.nearest.change.kind == "same":
            after, reason = _strengthen(before, target, lesson, None)
        else:
            after = _first_state(before, lesson)
            reason = (
                f"confidence {after.confidence:.2f}, as of a first correction; it was {before.confidence:.2f}"
            )
        plan.vectors[target.id, version.version] = vectors[1].packed()
    else:
        after, reason = _strengthen(before, target, lesson, None)
        stored = dict(memory.stored_vectors(memory.embedder.generation, [target.id]))
        if packed := stored.get((target.id, old.version)):
            plan.vectors[target.id, version.version] = packed
    learned_from = LinkRow(target.id, correction.id, LEARNED_FROM, PLASTICITY.start, plan.now)
    links = [RowChange(None, learned_from), *_refreshed_links(placed, target.id, plan, supersedes=supersedes)]
    rows = [change for change in plan.rows if not _is_cosine(plan, change)] + rows
    rows += [] if after == before else [RowChange(before, after)]
    rows += links
    earlier = (
        f"before: {quote_text(target.content)}"
        if supersedes
        else f"before, it applied {described(target.when)}"
    )
    learned = Learned(
        id=target.id,
        key=target.key,
        correction=correction.key,
        placement=placed.placement,
        rule=lesson.rule if supersedes else rule_kind(target) or lesson.rule,
        when=placed.when,
        confidence=after.confidence,
        beside=target.key,
        similarity=placed.nearest.similarity,
        reasons=(*placed.reasons, earlier, reason),
        content=behavior.content,
        previous=target.content if supersedes else None,
        change=placed.nearest.change.kind,
    )
    return learned, rows


def _rule_links(placed: BehaviorPlacement, behavior_id: str, plan: RememberPlan) -> list[LinkRow]:
    """The links of a behaviour to the others, as its placement says."""
    return [
        LinkRow(
            *((link.other.id, behavior_id) if link.inward else (behavior_id, link.other.id)),
            link.relation,
            link.weight,
            plan.now,
        )
        for link in placed.links
    ]


def _refreshed_links(
    placed: BehaviorPlacement, behavior_id: str, plan: RememberPlan, *, supersedes: bool
) -> list[RowChange]:
    """The links of a behaviour whose text or conditions changed: those of its placement, without others by rule."""
    present = plan.memory.rows(LinkRow, ids=[behavior_id])
    settled = set() if supersedes else {_ends(link) for link in present if link.relation == KEPT_BESIDE}
    links = {
        (link.relation, _ends(link)): link
        for link in _rule_links(placed, behavior_id, plan)
        if not (link.relation == CONFLICTS and _ends(link) in settled)
    }
    changes = []
    for link in present:
        other = link.target if link.source == behavior_id else link.source
        if link.relation not in _RULE_RELATIONS or other not in placed.compared:
            continue
        planned = links.get((link.relation, _ends(link)))
        if planned is not None and (link.relation != OVERRIDES or planned.source == link.source):
            del links[link.relation, _ends(link)]
        elif not link.given:
            changes.append(RowChange(link, None))
    return [*changes, *(RowChange(None, link) for link in links.values())]


def _ends(link: LinkRow) -> frozenset[str]:
    return frozenset((link.source, link.target))


def _first_state(before: MemoryRow, lesson: Lesson) -> MemoryRow:
    """The state of a behaviour whose text was superseded: without verdicts."""
    return replace(
        before,
        confidence=_CONFIDENCE,
        priority=max(before.priority, lesson.priority),
        confirmed=0,
        followed=0,
        overridden=0,
    )


def _earlier_correction(plan: RememberPlan, target: MemoryRecord, lesson: Lesson) -> MemoryRecord | None:
    """The same correction for the same context, if the behaviour was learned from it before."""
    links = plan.memory.rows(LinkRow, ids=[target.id], relation=LEARNED_FROM)
    records = plan.memory.records(plan.now, ids=[link.target for link in links])
    draft = lesson.correction()
    matches = (
        record
        for record in records.values()
        if (record.status, record.kind, record.content) == ("active", draft.kind, draft.content)
        and scope("when", record.when) == scope("when", lesson.when)
    )
    return next(matches, None)


def _strengthen(
    before: MemoryRow, target: MemoryRecord, lesson: Lesson, earlier: MemoryRecord | None
) -> tuple[MemoryRow, str]:
    """The state of a behaviour after one more correction, and the reason for it."""
    if not is_trusted_as(lesson.trust, target.trust):
        return before, f"a correction from {lesson.trust} does not change a rule from {target.trust}"
    after = replace(before, priority=max(before.priority, lesson.priority))
    if earlier is not None:
        return after, f"the same correction was learned before: {label(earlier.key)}"
    after = replace(after, confidence=float(increment(before.confidence)))
    return after, f"confidence {before.confidence:.2f} → {after.confidence:.2f}"


def _ignored(target: MemoryRecord, lesson: Lesson) -> list[str]:
    """The parts that a merge does not take over: the conditions and the kind of the new rule."""
    remarks, key = [], label(target.key)
    if scope("when", target.when) != scope("when", lesson.when):
        remarks.append(f"{key} applies {described(target.when)}, not {described(lesson.when)}")
    if rule_kind(target) != lesson.rule:
        remarks.append(f"{key} stays a {rule_kind(target)}, not a {lesson.rule}")
    return remarks


def _is_cosine(plan: RememberPlan, change: RowChange) -> bool:
    """Whether a change links two behaviours or corrections by cosine, which ``place_behavior`` decides instead."""
    link = change.after
    if not isinstance(link, LinkRow) or link.relation != "similar-to":
        return False
    row = plan.working.row_of.get(link.target)
    return row is None or int(plan.working.kind[row]) in _KINDS


def _links_of(rows: Sequence[RowChange], memory_id: str) -> list[LinkRow]:
    links = (change.after for change in rows if isinstance(change.after, LinkRow))
    return [link for link in links if memory_id in (link.source, link.target)]
