"""learn: a correction → the behaviour that follows from it → its place beside the behaviours that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from priming.config.params.laws import PLASTICITY, SCORE, SIMILARITY
from priming.config.params.store import STORE
from priming.config.words import KINDS, RULES, TRUST
from priming.core.arguments.checks import check_choice, check_name, check_predicates, check_text
from priming.core.arguments.checks import check_tags as tags_
from priming.core.plasticity import increment
from priming.core.when import scope
from priming.embedding.protocol import Vectors
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.recall.formatting import rule_kind
from priming.remember.drafts import Draft
from priming.remember.planner import RememberPlan, embed_drafts
from priming.rules.lesson import Lesson, Placed, correction_text, place
from priming.rules.results import Learned
from priming.rules.trust import is_trusted_as
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.text.rule_kinds import rule_kind_of
from priming.types import Cue, MemoryRecord

CONSCIOUS = "conscious"
"""The source of operations that somebody meant."""

LEARNED_FROM = "learned-from"
_OWN = [KINDS.index(kind) for kind in ("behavior", "correction")]


def _lesson_text(name: str, value: Any) -> str:
    text = check_text(name, value).strip()
    if not text:
        raise ParamError(name, value, "must not be blank")
    return text


def _texts(right: Any, wrong: Any) -> tuple[str, str | None]:
    """What is right, and what is wrong, checked."""
    do = _lesson_text("right", right)
    instead = None if wrong is None else _lesson_text("wrong", wrong)
    if instead is not None and " ".join(instead.split()) == " ".join(do.split()):
        raise ParamError("wrong", instead, "must be something else than what is right, or be left out")
    if len(correction_text(do, instead)) > STORE.content_limit:
        rule = f"must be at most {STORE.content_limit:,} characters together with what is wrong"
        raise ParamError("right", do, rule)
    return do, instead


def _when(cue: Cue) -> Mapping[str, Any]:
    """The context of a cue as conditions, less those that ask for nothing."""
    checked = check_predicates(cue.context())
    return {name: checked[name] for name in scope("when", checked)}


def _priority(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= SCORE.priority_max:
        raise ParamError("priority", value, f"must be in [0, {SCORE.priority_max:g}]")
    return float(value)


@dataclass(frozen=True, slots=True)
class LearnPlan:
    """What is to be written, and the answer to it before it has an operation."""

    learned: Learned
    rows: Sequence[RowChange]
    links: Sequence[LinkRow]


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
    """Learn from a correction: a behaviour that applies in the context of ``cue``, placed beside its like.

    Args:
        right: what to do; the text of the behaviour.
        wrong: what was done instead.
        cue: the context in which it applies, its text and time aside; None: everywhere.
        tags: short texts to filter by.
        priority: in [0, 10].
        source: where the correction comes from.
        trust: who vouches for it: untrusted, tool, agent or user.
        rule: constraint, directive, procedure or preference; None: read from the words of ``right``.

    Raises:
        ParamError: a blank text, the same text right and wrong, or an argument outside its range.

    """
    do, instead = _texts(right, wrong)
    if cue is not None and not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    lesson = Lesson(
        right=do,
        wrong=instead,
        when={} if cue is None else _when(cue),
        tags=tags_(tags),
        priority=_priority(priority),
        source=check_name("source", source),
        trust=check_choice("trust", trust, TRUST),
        rule=rule_kind_of(do) if rule is None else check_choice("rule", rule, RULES),
        inferred=rule is None,
    )
    return _learn(memory, lesson)


def _learn(memory: Namespace, new: Lesson) -> Learned:
    """Store a correction and what follows from it, as one operation."""
    drafts = (new.correction(), new.behavior())
    vectors = embed_drafts(drafts, memory.embedder)
    with memory.lock:
        with memory.writing() as now:
            known = memory.store.page(memory.namespace, now, kinds=["behavior"], limit=None)
            placed = place(new, known)
            plan = RememberPlan(memory.store, memory.working(now), memory.embedder, now, memory.echo)
            decided = _merged if placed.placement == "merge" else _created
            outcome = decided(plan, new, placed, drafts, vectors)
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


def _created(
    plan: RememberPlan, new: Lesson, placed: Placed, drafts: Sequence[Draft], vectors: Vectors
) -> LearnPlan:
    """The correction and a behaviour of its own, linked to it and to its like."""
    plan.add_all(drafts, vectors, nearest=True, always=True)
    correction, behavior = plan.results
    rows = [_as_learned(one, behavior.id, new) for one in plan.rows if not _is_own_likeness(plan, one)]
    ties = [(correction.id, LEARNED_FROM, PLASTICITY.start)]
    ties += [(to.id, relation, weight) for relation, weight, to in placed.ties]
    rows += [RowChange(None, LinkRow(behavior.id, to, how, weight, plan.now)) for to, how, weight in ties]
    learned = Learned(
        behavior.id,
        behavior.key,
        correction.key,
        placed.placement,
        new.rule,
        new.when,
        SIMILARITY.confidence,
        placed.beside.there.key if placed.beside else None,
        placed.beside.similarity if placed.beside else None,
        (*placed.reasons, _whence(new)),
    )
    return LearnPlan(learned, rows, _links_of(rows, behavior.id))


def _merged(
    plan: RememberPlan, new: Lesson, placed: Placed, drafts: Sequence[Draft], vectors: Vectors
) -> LearnPlan:
    """The correction as one more source of a behaviour that is there, which it makes surer."""
    assert placed.beside is not None, "a merge is with something"
    there = placed.beside.there
    (before,) = plan.store.memories(plan.working.namespace, [there.id])
    told = _told_before(plan, there, new)
    after, reason = _surer(before, there, new, told)
    rows = [] if after == before else [RowChange(before, after)]
    if told is None:
        plan.add_all(drafts[:1], vectors[:1], nearest=True, always=True)
        (correction,) = plan.results
        rows += [one for one in plan.rows if not _is_own_likeness(plan, one)]
        link = LinkRow(there.id, correction.id, LEARNED_FROM, PLASTICITY.start, plan.now)
        rows.append(RowChange(None, link))
    learned = Learned(
        there.id,
        there.key,
        told.key if told else correction.key,
        placed.placement,
        rule_kind(there) or new.rule,
        there.when,
        after.confidence,
        there.key,
        placed.beside.similarity,
        (*placed.reasons, reason, *_left_out(there, new)),
    )
    return LearnPlan(learned, rows, _links_of(rows, there.id))


def _told_before(plan: RememberPlan, there: MemoryRecord, new: Lesson) -> MemoryRecord | None:
    """The correction that said the same for the same context, if the behaviour was learned from one."""
    namespace = plan.working.namespace
    links = plan.store.links(namespace, [there.id], LEARNED_FROM)
    found = plan.store.records(namespace, [one.target for one in links], plan.now)
    said = new.correction()
    same = (
        one
        for one in found.values()
        if (one.status, one.kind, one.content) == ("active", said.kind, said.content)
        and scope("when", one.when) == scope("when", new.when)
    )
    return next(same, None)


def _surer(
    before: MemoryRow, there: MemoryRecord, new: Lesson, told: MemoryRecord | None
) -> tuple[MemoryRow, str]:
    """The behaviour's state after one more correction, and what is to be said of it."""
    if not is_trusted_as(new.trust, there.trust):
        return before, f"a correction from {new.trust} does not move a rule from {there.trust}"
    after = replace(before, priority=max(before.priority, new.priority))
    if told is not None:
        return after, f"the same correction was told before: {told.key}"
    after = replace(after, confidence=float(increment(before.confidence)))
    return after, f"confidence {before.confidence:.2f} → {after.confidence:.2f}"


def _left_out(there: MemoryRecord, new: Lesson) -> list[str]:
    """What the behaviour that stays does not take over from the new one."""
    found = []
    if scope("when", there.when) != scope("when", new.when):
        found.append(f"{there.key} applies {_words(there.when)}, not {_words(new.when)}")
    if rule_kind(there) != new.rule:
        found.append(f"{there.key} stays a {rule_kind(there)}, not a {new.rule}")
    return found


def _words(when: Mapping[str, Any]) -> str:
    """Conditions in words."""
    said = (
        f"{name} = {' or '.join(map(str, one)) if isinstance(one, list) else one}"
        for name, one in when.items()
    )
    return f"where {', '.join(said)}" if when else "everywhere"


def _whence(new: Lesson) -> str:
    return f"{new.rule}: {'read from its words' if new.inferred else 'as given'}"


def _as_learned(change: RowChange, memory_id: str, new: Lesson) -> RowChange:
    """The change that makes a behaviour, with the state of one that was learned."""
    row = change.after
    if isinstance(row, MemoryRow) and row.id == memory_id:
        return RowChange(None, replace(row, confidence=SIMILARITY.confidence, priority=new.priority))
    return change


def _is_own_likeness(plan: RememberPlan, change: RowChange) -> bool:
    """Whether a change links two behaviours or corrections by cosine: how alike these are is their own law."""
    link = change.after
    if not isinstance(link, LinkRow) or link.relation != "similar-to":
        return False
    row = plan.working.row_of.get(link.target)
    return row is None or int(plan.working.kind[row]) in _OWN


def _links_of(rows: Sequence[RowChange], memory_id: str) -> list[LinkRow]:
    links = [one.after for one in rows if isinstance(one.after, LinkRow)]
    return [one for one in links if memory_id in (one.source, one.target)]
