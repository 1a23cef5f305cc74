"""learn: a correction → the behaviour that follows from it → its place beside the behaviours that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from priming.behaviors import Learned
from priming.checks import check_choice, check_name, check_predicates, check_tags, check_text
from priming.config.params.laws import PLASTICITY, SCORE, SIMILARITY
from priming.config.params.store import STORE
from priming.core.plasticity import increment
from priming.core.rules import contradicts, forbids, rule_of
from priming.core.similarity import Saying, is_similar, likeness, placement
from priming.core.trust import instructs, is_trusted_as, least
from priming.core.when import is_more_specific, scope
from priming.embed.protocol import Vectors
from priming.engine.draft import Draft
from priming.engine.opened import Opened
from priming.engine.plan import Plan, embed_drafts
from priming.engine.present import rule_kind
from priming.errors import ParamError
from priming.store.rows import LinkRow, MemoryRow, RowChange
from priming.types import Cue, MemoryRecord
from priming.words import KINDS, RULES, TRUST

CONSCIOUS = "conscious"
"""The source of operations that somebody meant."""

LEARNED_FROM = "learned-from"
_OWN = [KINDS.index(kind) for kind in ("behavior", "correction")]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The arguments of ``learn``, checked; ``inferred`` says that the rule was read from the words."""

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
        """What was said, as a memory."""
        said = {"right": self.right} if self.wrong is None else {"right": self.right, "wrong": self.wrong}
        return self._draft("correction", _told(self.right, self.wrong), said, self.trust)

    def behavior(self) -> Draft:
        """What follows from it, as a memory; it is derived from the correction alone."""
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


def lesson(right: str, arguments: Mapping[str, Any]) -> Lesson:
    """Check the arguments of ``learn``; the first that is wrong raises ``ParamError``."""
    said = _said("right", right)
    wrong = None if arguments["wrong"] is None else _said("wrong", arguments["wrong"])
    if wrong is not None and " ".join(wrong.split()) == " ".join(said.split()):
        raise ParamError("wrong", wrong, "must be something else than what is right, or be left out")
    if len(_told(said, wrong)) > STORE.content_limit:
        rule = f"must be at most {STORE.content_limit:,} characters together with what is wrong"
        raise ParamError("right", said, rule)
    cue = arguments["cue"]
    if cue is not None and not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    rule = arguments["rule"]
    return Lesson(
        right=said,
        wrong=wrong,
        when={} if cue is None else _when(cue),
        tags=check_tags(arguments["tags"]),
        priority=_priority(arguments["priority"]),
        source=check_name("source", arguments["source"]),
        trust=check_choice("trust", arguments["trust"], TRUST),
        rule=rule_of(said) if rule is None else check_choice("rule", rule, RULES),
        inferred=rule is None,
    )


def _said(name: str, value: Any) -> str:
    said = check_text(name, value).strip()
    if not said:
        raise ParamError(name, value, "must not be blank")
    return said


def _told(right: str, wrong: str | None) -> str:
    """The text of a correction; what is right comes first, since that is what its gist shows."""
    return f"Correction: {right}" if wrong is None else f"Correction: {right}\nNot: {wrong}"


def _when(cue: Cue) -> Mapping[str, Any]:
    """The context of a cue as conditions, less those that ask for nothing."""
    checked = check_predicates(cue.context())
    return {name: checked[name] for name in scope("when", checked)}


def _priority(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= SCORE.priority_max:
        raise ParamError("priority", value, f"must be in [0, {SCORE.priority_max:g}]")
    return float(value)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A behaviour that is there, and what the new one is beside it.

    ``opposed`` says that one of two that are alike forbids, and the other does not.
    """

    there: MemoryRecord
    similarity: float
    same_scope: bool
    placement: str
    opposed: bool
    contradicts: bool
    silenced: bool
    """Whether the new one is too little trusted to be held against it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a new behaviour belongs: ``beside`` decided it, ``ties`` are its links (relation, weight, to)."""

    placement: str
    beside: Neighbour | None
    ties: tuple[tuple[str, float, MemoryRecord], ...]
    reasons: tuple[str, ...]


def place(new: Lesson, known: Sequence[MemoryRecord]) -> Placed:
    """Decide what becomes of a behaviour beside those that are there (LAWS §7)."""
    here = Saying.of(new.right, new.when)
    around = sorted((_neighbour(new, here, one) for one in known), key=_nearness)
    for wanted in ("merge", "specialise"):
        beside = next((one for one in around if one.placement == wanted), None)
        if beside is not None:
            break
    else:
        beside = around[0] if around else None
    decided = beside.placement if beside else "create"
    ties = () if decided == "merge" else tuple(tie for one in around for tie in _ties(one))
    said = () if decided == "merge" else tuple(reason for one in around for reason in _remarks(one, beside))
    return Placed(decided, beside, ties, (_why(decided, beside), *said))


def _neighbour(new: Lesson, here: Saying, there: MemoryRecord) -> Neighbour:
    other = Saying.of(there.content, there.when)
    similarity, same_scope = likeness(here, other), here.scope == other.scope
    silenced = instructs(there.trust) and not instructs(new.trust)
    contrary = (
        (here.scope.items() <= other.scope.items() or other.scope.items() <= here.scope.items())
        and not here.words.isdisjoint(other.words)
        and contradicts(new.right, there.content, new.when, there.when)
    )
    if similarity <= SIMILARITY.specialise:
        return Neighbour(there, similarity, same_scope, "create", contrary, contrary, silenced)
    specific = is_more_specific(new.when, there.when)
    opposed = forbids(new.right) != forbids(there.content)
    # What may instruct is not poured into what may not, and two that say the opposite are never one.
    apart = opposed or (instructs(new.trust) and not instructs(there.trust))
    decided = str(placement(similarity, more_specific=specific))
    if decided == "merge" and apart:
        decided = "specialise" if specific else "create"
    if decided == "specialise" and silenced:
        decided = "create"
    return Neighbour(there, similarity, same_scope, decided, opposed, contrary, silenced)


def _nearness(one: Neighbour) -> tuple[float, bool]:
    """The nearest sorts first; of equals one of the same scope, then the older, which the store gives first."""
    return -one.similarity, not one.same_scope


def _ties(one: Neighbour) -> list[tuple[str, float, MemoryRecord]]:
    """The links from the new behaviour to one that is there."""
    found = []
    if one.placement == "specialise":
        found.append(("overrides", PLASTICITY.start, one.there))
    if one.contradicts and not one.silenced:
        found.append(("conflicts", PLASTICITY.start, one.there))
    if is_similar(one.similarity) and not one.contradicts:
        found.append(("similar-to", one.similarity, one.there))
    return found


def _why(decided: str, beside: Neighbour | None) -> str:
    if beside is None:
        return "created: it is the first behaviour here"
    key, alike = beside.there.key, f"{beside.similarity:.2f} alike"
    if decided == "merge":
        return f"merged into {key}: {alike}, more than {SIMILARITY.merge:g}"
    if decided == "specialise":
        return f"specialises {key}: {alike}, and it applies more narrowly"
    if beside.opposed and beside.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike} but says the opposite"
    if beside.similarity > SIMILARITY.merge:
        return f"created: {key} is {alike} but from {beside.there.trust}, which may not instruct"
    if beside.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike}, and this one does not narrow it"
    if is_similar(beside.similarity):
        return f"created: the nearest, {key}, is {alike}"
    return f"created: nothing here is much like it (the nearest, {key}: {beside.similarity:.2f})"


def _remarks(one: Neighbour, beside: Neighbour | None) -> list[str]:
    """What else is to be said about a behaviour that is there; of ``beside`` its likeness has been told."""
    if one.contradicts and one.silenced:
        return [f"contradicts {one.there.key}, which is trusted more: that one stands"]
    if one.contradicts:
        return [f"conflicts with {one.there.key}: it says the opposite where both apply"]
    if is_similar(one.similarity) and one is not beside:
        return [f"similar to {one.there.key} ({one.similarity:.2f})"]
    return []


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be written, and the answer to it before it has an operation."""

    learned: Learned
    rows: Sequence[RowChange]
    links: Sequence[LinkRow]


def learn(opened: Opened, new: Lesson) -> Learned:
    """Store a correction and what follows from it, as one operation."""
    drafts = (new.correction(), new.behavior())
    vectors = embed_drafts(drafts, opened.embedder)
    with opened.lock:
        with opened.writing() as now:
            known = opened.store.page(opened.namespace, now, kinds=["behavior"], limit=None)
            placed = place(new, known)
            plan = Plan(opened.store, opened.working(now), opened.embedder, now, opened.echo)
            decided = _merged if placed.placement == "merge" else _created
            outcome = decided(plan, new, placed, drafts, vectors)
            if not outcome.rows:
                return outcome.learned
            documents = plan.documents()
            logged = opened.write(
                "learn",
                now,
                outcome.rows,
                vectors=plan.vectors,
                source=CONSCIOUS,
                reason=outcome.learned.reasons[0],
            )
            links = opened.links(outcome.links)
        opened.took(plan.working.head, logged, documents)
    return replace(outcome.learned, links=links, operation=logged.id)


def _created(plan: Plan, new: Lesson, placed: Placed, drafts: Sequence[Draft], vectors: Vectors) -> Outcome:
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
    return Outcome(learned, rows, _links_of(rows, behavior.id))


def _merged(plan: Plan, new: Lesson, placed: Placed, drafts: Sequence[Draft], vectors: Vectors) -> Outcome:
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
    return Outcome(learned, rows, _links_of(rows, there.id))


def _told_before(plan: Plan, there: MemoryRecord, new: Lesson) -> MemoryRecord | None:
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


def _is_own_likeness(plan: Plan, change: RowChange) -> bool:
    """Whether a change links two behaviours or corrections by cosine: how alike these are is their own law."""
    link = change.after
    if not isinstance(link, LinkRow) or link.relation != "similar-to":
        return False
    row = plan.working.row_of.get(link.target)
    return row is None or int(plan.working.kind[row]) in _OWN


def _links_of(rows: Sequence[RowChange], memory_id: str) -> list[LinkRow]:
    links = [one.after for one in rows if isinstance(one.after, LinkRow)]
    return [one for one in links if memory_id in (one.source, one.target)]
