"""Learning: a correction becomes a rule, and takes its place among the rules of the namespace.

The steps are: check the arguments (``Lesson``), draft the correction and the behaviour that follows from it, place
the behaviour (``place_behavior``), then write a new behaviour or merge it into an existing one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from priming.config.params.laws import PLASTICITY, SCORE, SIMILARITY
from priming.config.params.store import STORE
from priming.config.words import KINDS, RULES, TRUST
from priming.core.arguments.checks import check_choice, check_name, check_predicates, check_tags, check_text
from priming.core.plasticity import increment
from priming.core.when import scope
from priming.embedding.protocol import Vectors
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.recall.formatting import rule_kind
from priming.remember.drafts import Draft
from priming.remember.planner import RememberPlan, embed_drafts
from priming.rules.placement import BehaviorPlacement, place_behavior
from priming.rules.results import Learned
from priming.rules.trust import is_trusted_as, least
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.rule_kinds import rule_kind_of
from priming.types import Cue, MemoryRecord

CONSCIOUS = "conscious"
"""The source of deliberate operations."""

LEARNED_FROM = "learned-from"
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
        cue: the context in which the behaviour applies, without the text and time of the cue; None: everywhere.
        tags: short texts to filter by.
        priority: in [0, 10].
        source: where the correction comes from.
        trust: who vouches for it: untrusted, tool, agent or user.
        rule: constraint, directive, procedure or preference; None: read from the words of ``right``.

    Raises:
        ParamError: a blank text, the same text right and wrong, or an argument outside its range.

    """
    right, wrong = _check_texts(right, wrong)
    if cue is not None and not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    lesson = Lesson(
        right=right,
        wrong=wrong,
        when={} if cue is None else _conditions(cue),
        tags=check_tags(tags),
        priority=_check_priority(priority),
        source=check_name("source", source),
        trust=check_choice("trust", trust, TRUST),
        rule=rule_kind_of(right) if rule is None else check_choice("rule", rule, RULES),
        inferred=rule is None,
    )
    return _learn(memory, lesson)


def _check_texts(right: Any, wrong: Any) -> tuple[str, str | None]:
    """The texts of a correction, checked."""
    right = _check_lesson_text("right", right)
    wrong = None if wrong is None else _check_lesson_text("wrong", wrong)
    if wrong is not None and wrong.split() == right.split():
        raise ParamError("wrong", wrong, "must be something else than what is right, or be left out")
    if len(_correction_text(right, wrong)) > STORE.content_limit:
        rule = f"must be at most {STORE.content_limit:,} characters together with what is wrong"
        raise ParamError("right", right, rule)
    return right, wrong


def _check_lesson_text(name: str, value: Any) -> str:
    text = check_text(name, value).strip()
    if not text:
        raise ParamError(name, value, "must not be blank")
    return text


def _correction_text(right: str, wrong: str | None) -> str:
    """The text of a correction; its gist shows the beginning, which is what is right."""
    return f"Correction: {right}" if wrong is None else f"Correction: {right}\nNot: {wrong}"


def _conditions(cue: Cue) -> Mapping[str, Any]:
    """The context of a cue as ``when`` predicates, without empty ones."""
    checked = check_predicates(cue.context())
    return {name: checked[name] for name in scope("when", checked)}


def _check_priority(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= SCORE.priority_max:
        raise ParamError("priority", value, f"must be in [0, {SCORE.priority_max:g}]")
    return float(value)


@dataclass(frozen=True, slots=True)
class Lesson:
    """The checked arguments of ``learn``; ``inferred``: the kind of rule was read from the words."""

    right: str
    wrong: str | None
    when: Mapping[str, Any]
    tags: tuple[str, ...]
    priority: float
    source: str | None
    trust: str
    rule: str
    inferred: bool

    def correction(self) -> Draft:
        """The correction as a memory."""
        texts = {"right": self.right} if self.wrong is None else {"right": self.right, "wrong": self.wrong}
        return self._draft("correction", _correction_text(self.right, self.wrong), texts, self.trust)

    def behavior(self) -> Draft:
        """The behaviour that follows from the correction, as a memory derived from it."""
        return self._draft("behavior", self.right, {"rule": self.rule}, least([self.trust]))

    def _draft(self, kind: str, content: str, metadata: Mapping[str, Any], trust: str) -> Draft:
        return Draft(
            content,
            kind=kind,
            tags=self.tags,
            metadata=metadata,
            when=self.when,
            source=self.source,
            trust=trust,
        )


@dataclass(frozen=True, slots=True)
class LearnPlan:
    """The rows to write, and the answer without its operation and links."""

    learned: Learned
    rows: Sequence[RowChange]
    links: Sequence[LinkRow]


def _learn(memory: Namespace, lesson: Lesson) -> Learned:
    """Store a correction and its behaviour as one operation."""
    drafts = (lesson.correction(), lesson.behavior())
    vectors = embed_drafts(drafts, memory.embedder)
    with memory.lock:
        with memory.writing() as now:
            existing = memory.store.page(memory.namespace, now, kinds=["behavior"], limit=None)
            placed = place_behavior(drafts[1], existing)
            plan = RememberPlan(memory.store, memory.working(now), memory.embedder, now, memory.echo)
            plan_rows = _plan_merge if placed.placement == "merge" else _plan_new
            outcome = plan_rows(plan, lesson, placed, drafts, vectors)
            if not outcome.rows:
                return outcome.learned
            documents = plan.documents()
            logged = memory.write(
                "learn",
                now,
                outcome.rows,
                vectors=plan.vectors,
                source=CONSCIOUS,
                reason=outcome.learned.reasons[0],
            )
            links = memory.to_links(outcome.links)
        memory.queue_operation(plan.working.head, logged, documents)
    return replace(outcome.learned, links=links, operation=logged.id)


def _plan_new(
    plan: RememberPlan, lesson: Lesson, placed: BehaviorPlacement, drafts: Sequence[Draft], vectors: Vectors
) -> LearnPlan:
    """Plan a new behaviour, linked to its correction and to related behaviours."""
    plan.add_all(drafts, vectors, nearest=True, always=True)
    correction, behavior = plan.results
    rows = [_with_state(change, behavior.id, lesson) for change in plan.rows if not _is_cosine(plan, change)]
    links = [(correction.id, LEARNED_FROM, PLASTICITY.start)]
    links += [(target.id, relation, weight) for relation, weight, target in placed.links]
    rows += [
        RowChange(None, LinkRow(behavior.id, target_id, relation, weight, plan.now))
        for target_id, relation, weight in links
    ]
    learned = Learned(
        id=behavior.id,
        key=behavior.key,
        correction=correction.key,
        placement=placed.placement,
        rule=lesson.rule,
        when=lesson.when,
        confidence=SIMILARITY.confidence,
        beside=placed.nearest.existing.key if placed.nearest else None,
        similarity=placed.nearest.similarity if placed.nearest else None,
        reasons=(
            *placed.reasons,
            f"{lesson.rule}: {'read from its words' if lesson.inferred else 'as given'}",
        ),
    )
    return LearnPlan(learned, rows, _links_of(rows, behavior.id))


def _plan_merge(
    plan: RememberPlan, lesson: Lesson, placed: BehaviorPlacement, drafts: Sequence[Draft], vectors: Vectors
) -> LearnPlan:
    """Plan the correction as a further source of an existing behaviour, whose confidence it raises."""
    assert placed.nearest is not None, "a merge has a target"
    target = placed.nearest.existing
    (before,) = plan.store.memories(plan.working.namespace, [target.id])
    earlier = _earlier_correction(plan, target, lesson)
    after, reason = _strengthen(before, target, lesson, earlier)
    rows = [] if after == before else [RowChange(before, after)]
    if earlier is None:
        plan.add_all(drafts[:1], vectors[:1], nearest=True, always=True)
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
    )
    return LearnPlan(learned, rows, _links_of(rows, target.id))


def _earlier_correction(plan: RememberPlan, target: MemoryRecord, lesson: Lesson) -> MemoryRecord | None:
    """The same correction for the same context, if the behaviour was learned from it before."""
    namespace = plan.working.namespace
    links = plan.store.links(namespace, [target.id], LEARNED_FROM)
    records = plan.store.records(namespace, [link.target for link in links], plan.now)
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
        return before, f"a correction from {lesson.trust} does not move a rule from {target.trust}"
    after = replace(before, priority=max(before.priority, lesson.priority))
    if earlier is not None:
        return after, f"the same correction was learned before: {earlier.key}"
    after = replace(after, confidence=float(increment(before.confidence)))
    return after, f"confidence {before.confidence:.2f} → {after.confidence:.2f}"


def _ignored(target: MemoryRecord, lesson: Lesson) -> list[str]:
    """What a merge does not take over: the conditions and the kind of the new rule."""
    remarks = []
    if scope("when", target.when) != scope("when", lesson.when):
        remarks.append(f"{target.key} applies {_describe(target.when)}, not {_describe(lesson.when)}")
    if rule_kind(target) != lesson.rule:
        remarks.append(f"{target.key} stays a {rule_kind(target)}, not a {lesson.rule}")
    return remarks


def _describe(when: Mapping[str, Any]) -> str:
    """Predicates in words."""
    parts = (
        f"{name} = {' or '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in when.items()
    )
    return f"where {', '.join(parts)}" if when else "everywhere"


def _with_state(change: RowChange, memory_id: str, lesson: Lesson) -> RowChange:
    """The change, with the confidence and priority of a learned behaviour if it creates that behaviour."""
    row = change.after
    if isinstance(row, MemoryRow) and row.id == memory_id:
        return RowChange(None, replace(row, confidence=SIMILARITY.confidence, priority=lesson.priority))
    return change


def _is_cosine(plan: RememberPlan, change: RowChange) -> bool:
    """Whether a change links two behaviours or corrections by cosine, which ``place_behavior`` decides instead."""
    link = change.after
    if not isinstance(link, LinkRow) or link.relation != "similar-to":
        return False
    row = plan.working.row_of.get(link.target)
    return row is None or int(plan.working.kind[row]) in _KINDS


def _links_of(rows: Sequence[RowChange], memory_id: str) -> list[LinkRow]:
    links = [change.after for change in rows if isinstance(change.after, LinkRow)]
    return [link for link in links if memory_id in (link.source, link.target)]
