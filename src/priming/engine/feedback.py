"""feedback: trace + verdict → credit → links and nodes, as one operation (LAWS §6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from priming.checks import check_choice, check_name, check_text
from priming.config.params.laws import SUPPRESSING
from priming.core.plasticity import TIERS, nudge
from priming.engine import traces
from priming.engine.coactivation import POSITIVE, learn
from priming.engine.ids import gist_of
from priming.engine.opened import Opened
from priming.engine.retention import RECALLED, is_due, review, used, with_retention
from priming.errors import ParamError
from priming.store.protocol import Trace
from priming.store.rows import LinkRow, MemoryRow, RowChange, VerdictRow
from priming.types import MemoryRecord, Operation
from priming.words import VERDICTS

_OPPOSED = (("used", "not-relevant"), ("used", "not-useful"), ("confirmed", "overridden"))
_SIGN = {"used": 1.0, "not-relevant": -1.0}
_NODE = {"used": 1.0, "not-useful": -1.0}

Pair = tuple[str, str]
Identity = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a caller says: verdicts by memory, on which recall, with how much weight, and why."""

    verdicts: Mapping[str, tuple[str, ...]]
    """Verdict → keys, as given."""
    recall_id: str | None
    session: str | None
    tier: str
    reason: str | None = None


@dataclass(slots=True)
class Effect:
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
    said: list[str] = field(default_factory=list)

    def state(self, opened: Opened, memory_id: str) -> MemoryRow:
        """A memory as it is going to be so far."""
        if memory_id not in self.memories:
            (row,) = opened.store.memories(opened.namespace, [memory_id])
            self.before[memory_id] = self.memories[memory_id] = row
        return self.memories[memory_id]

    def rows(self, opened: Opened) -> list[RowChange]:
        """The changes of rows, each row once."""
        moved = [self._moved(self.links[identity], delta) for identity, delta in self.moves.items()]
        known = [RowChange(self.before[one], self._reviewed(after)) for one, after in self.memories.items()]
        judged = [RowChange(row, None) for row in self.replaced]
        judged += [RowChange(None, row) for row in self.verdicts]
        changes = learn(opened, self.now, self.useful.values(), moved) + known + judged
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


def judgement(arguments: Mapping[str, Any]) -> Judgement:
    """Check the arguments of ``feedback``."""
    verdicts = {verdict: _keys(verdict, arguments[verdict.replace("-", "_")]) for verdict in VERDICTS}
    if not any(verdicts.values()):
        names = ", ".join(verdict.replace("-", "_") for verdict in VERDICTS)
        raise ParamError("feedback", None, f"must have at least one key under one of {names}")
    tier = check_choice("tier", arguments["tier"], [name for name, step in TIERS.items() if step is not None])
    recall_id = arguments["recall_id"]
    return Judgement(
        verdicts,
        None if recall_id is None else check_text("recall_id", recall_id),
        check_name("session", arguments["session"]),
        tier,
        check_name("reason", arguments["reason"]),
    )


def _keys(verdict: str, value: Any) -> tuple[str, ...]:
    name = verdict.replace("-", "_")
    if isinstance(value, (str, Mapping)) or not isinstance(value, Collection):
        raise ParamError(name, value, "must be a list of keys")
    return tuple(dict.fromkeys(check_text(name, one) for one in value))


def feedback(opened: Opened, asked: Judgement) -> Operation:
    """Record verdicts and move what they credit or blame, as one operation.

    A verdict that was given before on the same recall and memory moves nothing again; if all were, the answer
    is the operation that recorded the first of them.
    """
    with opened.writing() as now:
        opened.readable()
        trace = None if asked.recall_id is None else traces.find(opened, asked.recall_id)
        judged = _judged(opened, asked, now)
        effect = Effect(now, opened.operation_id(now))
        repeated: list[VerdictRow] = []
        for verdict, memory in judged:
            earlier = _judge(opened, asked, effect, verdict, memory, trace)
            if earlier is not None:
                repeated.append(earlier)
                effect.said.append(f"{memory.key}: {verdict} already, by operation {earlier.operation}")
        if not effect.verdicts:
            return _again(opened, repeated[0], effect.said)
        logged = opened.write(
            "feedback",
            now,
            effect.rows(opened),
            source=asked.tier,
            reason=asked.reason or _on(effect),
            message="; ".join(effect.said) or None,
            operation_id=effect.operation,
        )
        return opened.operation(logged)


def _judged(opened: Opened, asked: Judgement, now: datetime) -> list[tuple[str, MemoryRecord]]:
    """Each verdict with its memory; refused where two of them contradict each other."""
    known = {key: opened.find(key, now) for keys in asked.verdicts.values() for key in keys}
    ids = {verdict: {known[key].id: known[key] for key in keys} for verdict, keys in asked.verdicts.items()}
    for one, other in _OPPOSED:
        if both := ids[one].keys() & ids[other].keys():
            memory = ids[one][min(both)]
            raise ParamError(
                one.replace("-", "_"), memory.key, f"must not be among {other.replace('-', '_')} too"
            )
    return [(verdict, memory) for verdict, memories in ids.items() for memory in memories.values()]


def _judge(
    opened: Opened,
    asked: Judgement,
    effect: Effect,
    verdict: str,
    memory: MemoryRecord,
    given: Trace | None,
) -> VerdictRow | None:
    """Gather what one verdict changes; the row of the same verdict where it was given before."""
    trace = given or traces.latest(opened, memory.id, asked.session)
    if given is not None:
        brought_up(given, memory, verdict.replace("-", "_"), memory.key)
    before = opened.store.verdicts(opened.namespace, [memory.id], recall=trace.recall_id) if trace else []
    same = next((row for row in before if row.verdict == verdict), None)
    if same is not None and not (same.tier == "automatic" and asked.tier == "conscious"):
        return same
    once = _once_a_session(opened, asked, verdict, memory, trace)
    if once is not None:
        return once
    if same is not None:
        effect.replaced.append(same)
    effect.verdicts.append(
        VerdictRow(
            memory.id,
            verdict,
            effect.operation,
            trace.recall_id if trace else "",
            effect.now,
            asked.tier,
            trace.session if trace else asked.session,
            trace.cue if trace else {},
        )
    )
    delta, told = TIERS[asked.tier] or 0.0, len(effect.said)
    if verdict in _SIGN:
        route(opened, effect, memory, trace, _SIGN[verdict] * delta)
    else:
        effect.said.append(f"{memory.key}: {'weight lowered' if verdict in _NODE else 'counted'}")
    effect.said[told:] = [f"{verdict} {one}" for one in effect.said[told:]]
    weigh = _NODE.get(verdict, 0.0) * delta
    _count(opened, effect, verdict, memory, asked.tier, weigh, again=same is not None)
    if verdict in POSITIVE and trace is not None:
        effect.useful.setdefault(trace.recall_id, (trace, []))[1].append(memory.id)
    return None


def brought_up(trace: Trace, memory: MemoryRecord, name: str, value: str) -> None:
    """``ParamError`` on an argument that names a recall that did not bring a memory up."""
    if memory.id not in {one for one, _ in trace.hits}:
        rule = f"must be a memory that recall {trace.recall_id} brought up: leave the recall out to judge it at large"
        raise ParamError(name, value, rule)


def _once_a_session(
    opened: Opened, asked: Judgement, verdict: str, memory: MemoryRecord, trace: Trace | None
) -> VerdictRow | None:
    """An automatic confirmation of the same session, if there was one: it counts once (F8)."""
    session = trace.session if trace else asked.session
    if asked.tier != "automatic" or verdict != "confirmed" or session is None:
        return None
    for row in opened.store.verdicts(opened.namespace, [memory.id]):
        if (row.verdict, row.tier, row.session) == (verdict, asked.tier, session):
            return row
    return None


def route(opened: Opened, effect: Effect, memory: MemoryRecord, trace: Trace | None, delta: float) -> None:
    """Move the links that brought a memory up, the strongest route by the whole ``delta``."""
    flow = None if trace is None else traces.flow_of(trace)
    row = None if flow is None else flow.row(memory.id)
    if flow is None or row is None:
        incident = _carrying(opened.store.links(opened.namespace, [memory.id]))
        effect.push(incident, delta)
        kept = (
            "no kept recall brought it up" if trace is None else "the flow of that recall is no longer kept"
        )
        effect.said.append(
            f"{memory.key}: {kept}, so its own {_links(len(incident))} moved instead of a path"
        )
        return
    if flow.is_anchor(row) and not flow.paths([row])[row]:
        effect.said.append(f"{memory.key}: the cue itself matched it, so no link moved; the cue is recorded")
        return
    shares = _by_pair(flow.shares(row))
    between = _between(opened, shares)
    most = max(shares.values(), default=0.0)
    for pair, links in between.items():
        effect.push(links, delta * shares[pair] / most)
    moved = sum(map(len, between.values()))
    if not moved:
        why = "are gone" if shares else "brought too little each to answer for it"
        effect.said.append(f"{memory.key}: the links that led to it {why}, so none moved")
        return
    how = "strengthened" if delta > 0 else "weakened"
    effect.said.append(f"{memory.key}: {_links(moved)} {how}")


def _links(count: int) -> str:
    return "1 link" if count == 1 else f"{count:,} links"


def _by_pair(shares: Mapping[Identity, float]) -> dict[Pair, float]:
    """What went between two memories, whatever the relation and direction of the links: they move together."""
    found: dict[Pair, float] = {}
    for (source, target, _), share in shares.items():
        pair = (min(source, target), max(source, target))
        found[pair] = found.get(pair, 0.0) + share
    return found


def _between(opened: Opened, pairs: Collection[Pair]) -> dict[Pair, list[LinkRow]]:
    """All links between the memories of each pair."""
    ends = {end for pair in pairs for end in pair}
    found: dict[Pair, list[LinkRow]] = {pair: [] for pair in pairs}
    for link in _carrying(opened.store.links(opened.namespace, ends)):
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
    opened: Opened,
    effect: Effect,
    verdict: str,
    memory: MemoryRecord,
    tier: str,
    delta: float,
    *,
    again: bool,
) -> None:
    """Move a memory's weight, and count what became of it: once, also where it is said ``again`` and meant."""
    row = effect.state(opened, memory.id)
    counts = _MEANT.get(verdict, {}) if again else _COUNTS[verdict]
    if verdict == "confirmed" and tier == "automatic":
        counts = {"followed": 1}
    changed: dict[str, Any] = {name: getattr(row, name) + step for name, step in counts.items()}
    weight = float(nudge(row.weight, delta)) if delta else row.weight
    after = replace(row, weight=weight, **changed)
    effect.memories[memory.id] = used(after, effect.now) if verdict in POSITIVE and not again else after
    if verdict in RECALLED and not again:
        effect.review(memory, tier, recalled=RECALLED[verdict])


def _on(effect: Effect) -> str | None:
    """Which recalls were judged, for the log."""
    recalls = {row.recall: str(row.cue.get("text", "")) for row in effect.verdicts if row.recall}
    return "; ".join(f"recall {one} of {gist_of(cue)!r}" for one, cue in recalls.items()) or None


def _again(opened: Opened, earlier: VerdictRow, said: Sequence[str]) -> Operation:
    """The operation that recorded a verdict before, or brought it here, saying that nothing was done now."""
    logged = opened.store.operation(opened.namespace, earlier.operation)
    if logged is None:  # it was imported: that operation stands in the log of another store
        told = opened.store.operations(opened.namespace, memory_id=earlier.id, limit=None)
        logged = next(one for one in told if any(change.after == earlier for change in one.rows))
    return replace(opened.operation(logged), message=f"nothing changed; {'; '.join(said)}")


def came_back(opened: Opened, ids: Collection[str]) -> Operation:
    """Count the text of memories that a recall put out, and that came back, as use (X6)."""
    said = {**dict.fromkeys(VERDICTS, ()), "used": tuple(ids)}
    return feedback(opened, Judgement(said, None, None, "automatic", "its text came back"))
