"""feedback: trace + verdict → credit → links and nodes, as one operation (see docs/laws.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from priming.config.params.laws import SUPPRESSING
from priming.config.words import VERDICTS
from priming.core.arguments.checks import check_choice, check_name, check_text
from priming.core.plasticity import TIERS, nudge
from priming.errors import ParamError
from priming.learning.coactivation import POSITIVE, learn_coactivation
from priming.learning.retention import REVIEW_RATINGS, is_due, review, with_retention, with_use
from priming.namespace import Namespace
from priming.recall import traces
from priming.remember.drafts import gist_of
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VerdictRow
from priming.types import MemoryRecord, Operation

_OPPOSED = (("used", "not-relevant"), ("used", "not-useful"), ("confirmed", "overridden"))
_SIGN = {"used": 1.0, "not-relevant": -1.0}
_NODE = {"used": 1.0, "not-useful": -1.0}

Pair = tuple[str, str]
Identity = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class VerdictBatch:
    """The checked arguments of ``feedback``: verdicts, the recall that they judge, their tier, and why."""

    verdicts: Mapping[str, tuple[str, ...]]
    """Verdict → keys, as given."""
    recall_id: str | None = None
    tier: str = "conscious"
    session: str | None = None
    reason: str | None = None


@dataclass(slots=True)
class VerdictEffect:
    """What a judgement is going to change, gathered verdict by verdict."""

    now: datetime
    operation: str
    links: dict[Identity, LinkRow] = field(default_factory=dict)
    moves: dict[Identity, float] = field(default_factory=dict)
    memories: dict[str, MemoryRow] = field(default_factory=dict)
    before: dict[str, MemoryRow] = field(default_factory=dict)
    reviews: dict[str, tuple[bool, datetime]] = field(default_factory=dict)
    """By memory whether it was recalled with success, and when it was recorded."""
    verdicts: list[VerdictRow] = field(default_factory=list)
    replaced: list[VerdictRow] = field(default_factory=list)
    """Automatic verdicts that somebody now means."""
    useful: dict[str, tuple[Trace, list[str]]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def state(self, memory: Namespace, memory_id: str) -> MemoryRow:
        """A memory as it is going to be so far."""
        if memory_id not in self.memories:
            (row,) = memory.store.memories(memory.namespace, [memory_id])
            self.before[memory_id] = self.memories[memory_id] = row
        return self.memories[memory_id]

    def rows(self, memory: Namespace) -> list[RowChange]:
        """The changes of rows, each row once."""
        moved = [self._moved(self.links[identity], delta) for identity, delta in self.moves.items()]
        known = [RowChange(self.before[one], self._reviewed(after)) for one, after in self.memories.items()]
        judged = [RowChange(row, None) for row in self.replaced]
        judged += [RowChange(None, row) for row in self.verdicts]
        changes = learn_coactivation(memory, self.now, self.useful.values(), moved) + known + judged
        return [one for one in changes if one.before != one.after]

    def _reviewed(self, after: MemoryRow) -> MemoryRow:
        if after.id not in self.reviews:
            return after
        recalled, recorded_at = self.reviews[after.id]
        return with_retention(after, review(self.before[after.id], recorded_at, self.now, recalled=recalled))

    def review(self, memory: MemoryRecord, tier: str, *, recalled: bool) -> None:
        """Let a memory have been recalled: one review however often it is said, a failed one if any failed."""
        if is_due(self.before[memory.id].reviewed_at, self.now, tier):
            before, _ = self.reviews.get(memory.id, (True, None))
            self.reviews[memory.id] = before and recalled, memory.recorded_at or self.now

    def _moved(self, link: LinkRow, delta: float) -> RowChange:
        active = self.now if delta > 0 else link.last_activated
        return RowChange(link, replace(link, weight=float(nudge(link.weight, delta)), last_activated=active))

    def push(self, links: Iterable[LinkRow], delta: float) -> None:
        """Move links by ``delta`` in the end, all pushes on one link together."""
        for link in links:
            identity = (link.source, link.target, link.relation)
            self.links[identity] = link
            self.moves[identity] = self.moves.get(identity, 0.0) + delta


def feedback(
    memory: Namespace,
    recall_id: str | None = None,
    *,
    used: Collection[str] = (),
    not_relevant: Collection[str] = (),
    not_useful: Collection[str] = (),
    confirmed: Collection[str] = (),
    overridden: Collection[str] = (),
    tier: str = "conscious",
    session: str | None = None,
    reason: str | None = None,
) -> Operation:
    """Say what came of recalled memories; links and nodes that are to credit or blame move, nothing else.

    Args:
        recall_id: the recall that brought them up; None: for each memory the latest that did.
        used: keys of what helped: the links of its path and its weight rise.
        not_relevant: what the cue was not about: the links of its path sink.
        not_useful: what was found rightly and was no good: its weight sinks.
        confirmed: rules that held; counted.
        overridden: rules that did not; counted.
        tier: ``conscious`` (.01 a step) or ``automatic`` (.00001).
        session: without ``recall_id``, only recalls of this session.
        reason: why, for the log.

    A verdict counts once for each recall and memory; given again it changes nothing, and the answer is the
    operation that recorded it. A direct match that is not relevant moves nothing: its cue is recorded.

    Raises:
        NotFound: a memory that is not there, or a recall that is not, of another namespace, or expired.
        ParamError: no verdict at all, two that contradict, or a memory that the recall did not bring up.

    """
    verdicts = {
        "used": _keys("used", used),
        "not-relevant": _keys("not_relevant", not_relevant),
        "not-useful": _keys("not_useful", not_useful),
        "confirmed": _keys("confirmed", confirmed),
        "overridden": _keys("overridden", overridden),
    }
    if not any(verdicts.values()):
        names = ", ".join(verdict.replace("-", "_") for verdict in VERDICTS)
        raise ParamError("feedback", None, f"must have at least one key under one of {names}")
    judgement = VerdictBatch(
        verdicts,
        None if recall_id is None else check_text("recall_id", recall_id),
        tier=check_choice("tier", tier, [name for name, step in TIERS.items() if step is not None]),
        session=check_name("session", session),
        reason=check_name("reason", reason),
    )
    return _record(memory, judgement)


def _keys(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Collection):
        raise ParamError(name, value, "must be a list of keys")
    return tuple(dict.fromkeys(check_text(name, key) for key in value))


def _record(memory: Namespace, judgement: VerdictBatch) -> Operation:
    """Record verdicts and move what they credit or blame, as one operation.

    A verdict that was given before on the same recall and memory moves nothing again; if all were, the answer
    is the operation that recorded the first of them.
    """
    with memory.writing() as now:
        memory.require_exists()
        trace = None if judgement.recall_id is None else traces.find_trace(memory, judgement.recall_id)
        judged = _judged(memory, judgement, now)
        effect = VerdictEffect(now, memory.next_operation_id(now))
        repeated: list[VerdictRow] = []
        for verdict, record in judged:
            earlier = _judge(memory, judgement, effect, verdict, record, trace)
            if earlier is not None:
                repeated.append(earlier)
                effect.messages.append(f"{record.key}: {verdict} already, by operation {earlier.operation}")
        if not effect.verdicts:
            return _again(memory, repeated[0], effect.messages)
        logged = memory.write(
            "feedback",
            now,
            effect.rows(memory),
            source=judgement.tier,
            reason=judgement.reason or _on(effect),
            message="; ".join(effect.messages) or None,
            operation_id=effect.operation,
        )
        return memory.to_operation(logged)


def _judged(memory: Namespace, judgement: VerdictBatch, now: datetime) -> list[tuple[str, MemoryRecord]]:
    """Each verdict with its memory; refused where two of them contradict each other."""
    records = {key: memory.find(key, now) for keys in judgement.verdicts.values() for key in keys}
    ids = {
        verdict: {records[key].id: records[key] for key in keys}
        for verdict, keys in judgement.verdicts.items()
    }
    for one, other in _OPPOSED:
        if both := ids[one].keys() & ids[other].keys():
            record = ids[one][min(both)]
            raise ParamError(
                one.replace("-", "_"), record.key, f"must not be among {other.replace('-', '_')} too"
            )
    return [(verdict, record) for verdict, memories in ids.items() for record in memories.values()]


def _judge(
    memory: Namespace,
    judgement: VerdictBatch,
    effect: VerdictEffect,
    verdict: str,
    record: MemoryRecord,
    given: Trace | None,
) -> VerdictRow | None:
    """Gather what one verdict changes; the row of the same verdict where it was given before."""
    trace = given or traces.latest_trace(memory, record.id, judgement.session)
    if given is not None:
        recalled_in(given, record, verdict.replace("-", "_"), record.key)
    before = memory.store.verdicts(memory.namespace, [record.id], recall=trace.recall_id) if trace else []
    same = next((row for row in before if row.verdict == verdict), None)
    if same is not None and not (same.tier == "automatic" and judgement.tier == "conscious"):
        return same
    once = _once_a_session(memory, judgement, verdict, record, trace)
    if once is not None:
        return once
    if same is not None:
        effect.replaced.append(same)
    effect.verdicts.append(
        VerdictRow(
            record.id,
            verdict,
            effect.operation,
            trace.recall_id if trace else "",
            effect.now,
            judgement.tier,
            trace.session if trace else judgement.session,
            trace.cue if trace else {},
        )
    )
    delta, told = TIERS[judgement.tier] or 0.0, len(effect.messages)
    if verdict in _SIGN:
        followed_path(memory, effect, record, trace, _SIGN[verdict] * delta)
    else:
        effect.messages.append(f"{record.key}: {'weight lowered' if verdict in _NODE else 'counted'}")
    effect.messages[told:] = [f"{verdict} {one}" for one in effect.messages[told:]]
    weigh = _NODE.get(verdict, 0.0) * delta
    _count(memory, effect, verdict, record, judgement.tier, weigh, again=same is not None)
    if verdict in POSITIVE and trace is not None:
        effect.useful.setdefault(trace.recall_id, (trace, []))[1].append(record.id)
    return None


def recalled_in(trace: Trace, memory: MemoryRecord, name: str, value: str) -> None:
    """``ParamError`` on an argument that names a recall that did not bring a memory up."""
    if memory.id not in {one for one, _ in trace.hits}:
        rule = f"must be a memory that recall {trace.recall_id} brought up: leave the recall out to judge it at large"
        raise ParamError(name, value, rule)


def _once_a_session(
    memory: Namespace, judgement: VerdictBatch, verdict: str, record: MemoryRecord, trace: Trace | None
) -> VerdictRow | None:
    """An automatic confirmation of the same session, if there was one: it counts once (F8)."""
    session = trace.session if trace else judgement.session
    if judgement.tier != "automatic" or verdict != "confirmed" or session is None:
        return None
    for row in memory.store.verdicts(memory.namespace, [record.id]):
        if (row.verdict, row.tier, row.session) == (verdict, judgement.tier, session):
            return row
    return None


def followed_path(
    memory: Namespace, effect: VerdictEffect, record: MemoryRecord, trace: Trace | None, delta: float
) -> None:
    """Move the links that brought a memory up, the strongest route by the whole ``delta``."""
    flow = None if trace is None else traces.flow_of(trace)
    row = None if flow is None else flow.row(record.id)
    if flow is None or row is None:
        incident = _carrying(memory.store.links(memory.namespace, [record.id]))
        effect.push(incident, delta)
        kept = (
            "no kept recall brought it up" if trace is None else "the flow of that recall is no longer kept"
        )
        effect.messages.append(
            f"{record.key}: {kept}, so its own {_links(len(incident))} moved instead of a path"
        )
        return
    if flow.is_anchor(row) and not flow.paths([row])[row]:
        effect.messages.append(
            f"{record.key}: the cue itself matched it, so no link moved; the cue is recorded"
        )
        return
    shares = _by_pair(flow.shares(row))
    between = _between(memory, shares)
    most = max(shares.values(), default=0.0)
    for pair, links in between.items():
        effect.push(links, delta * shares[pair] / most)
    moved = sum(map(len, between.values()))
    if not moved:
        why = "are gone" if shares else "brought too little each to answer for it"
        effect.messages.append(f"{record.key}: the links that led to it {why}, so none moved")
        return
    how = "strengthened" if delta > 0 else "weakened"
    effect.messages.append(f"{record.key}: {_links(moved)} {how}")


def _links(count: int) -> str:
    return "1 link" if count == 1 else f"{count:,} links"


def _by_pair(shares: Mapping[Identity, float]) -> dict[Pair, float]:
    """What went between two memories, whatever the relation and direction of the links: they move together."""
    found: dict[Pair, float] = {}
    for (source, target, _), share in shares.items():
        pair = (min(source, target), max(source, target))
        found[pair] = found.get(pair, 0.0) + share
    return found


def _between(memory: Namespace, pairs: Collection[Pair]) -> dict[Pair, list[LinkRow]]:
    """All links between the memories of each pair."""
    ends = {end for pair in pairs for end in pair}
    found: dict[Pair, list[LinkRow]] = {pair: [] for pair in pairs}
    for link in _carrying(memory.store.links(memory.namespace, ends)):
        pair = (min(link.source, link.target), max(link.source, link.target))
        if pair in found:
            found[pair].append(link)
    return found


def _carrying(links: Iterable[LinkRow]) -> list[LinkRow]:
    """The links that carry activation: praise must not strengthen what suppresses."""
    return [link for link in links if link.relation not in SUPPRESSING and link.source != link.target]


_COUNTS: Mapping[str, Mapping[str, int]] = {
    "used": {"helped": 1, "followed": 1},
    "not-relevant": {},
    "not-useful": {"failed": 1},
    "confirmed": {"confirmed": 1},
    "overridden": {"overridden": 1},
}
_MEANT: Mapping[str, Mapping[str, int]] = {"confirmed": {"confirmed": 1, "followed": -1}}
"""What changes in the counts where somebody means what was counted automatically before."""


def _count(
    memory: Namespace,
    effect: VerdictEffect,
    verdict: str,
    record: MemoryRecord,
    tier: str,
    delta: float,
    *,
    again: bool,
) -> None:
    """Move a memory's weight, and count what became of it: once, also where it is said ``again`` and meant."""
    row = effect.state(memory, record.id)
    counts = _MEANT.get(verdict, {}) if again else _COUNTS[verdict]
    if verdict == "confirmed" and tier == "automatic":
        counts = {"followed": 1}
    changed: dict[str, Any] = {name: getattr(row, name) + step for name, step in counts.items()}
    weight = float(nudge(row.weight, delta)) if delta else row.weight
    after = replace(row, weight=weight, **changed)
    effect.memories[record.id] = with_use(after, effect.now) if verdict in POSITIVE and not again else after
    if verdict in REVIEW_RATINGS and not again:
        effect.review(record, tier, recalled=REVIEW_RATINGS[verdict])


def _on(effect: VerdictEffect) -> str | None:
    """Which recalls were judged, for the log."""
    recalls = {row.recall: str(row.cue.get("text", "")) for row in effect.verdicts if row.recall}
    return "; ".join(f"recall {one} of {gist_of(cue)!r}" for one, cue in recalls.items()) or None


def _again(memory: Namespace, earlier: VerdictRow, said: Sequence[str]) -> Operation:
    """The operation that recorded a verdict before, or brought it here, saying that nothing was done now."""
    logged = memory.store.operation(memory.namespace, earlier.operation)
    if logged is None:  # it was imported: that operation stands in the log of another store
        told = memory.store.operations(memory.namespace, memory_id=earlier.id, limit=None)
        logged = next(one for one in told if any(change.after == earlier for change in one.rows))
    return replace(memory.to_operation(logged), message=f"nothing changed; {'; '.join(said)}")


def count_as_used(memory: Namespace, ids: Collection[str]) -> Operation:
    """Count the text of memories that a recall put out, and that came back, as use."""
    return feedback(memory, used=ids, tier="automatic", reason="its text came back")
