"""feedback: trace + verdict → credit → links and nodes, as one operation (LAWS §6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from priming.core.plasticity import TIERS, nudge
from priming.engine import traces
from priming.engine.coactivation import learn
from priming.engine.draft import name_, one_of, text_
from priming.engine.ids import uuid7
from priming.engine.opened import Opened
from priming.errors import ParamError
from priming.params import SUPPRESSING
from priming.store.protocol import Trace
from priming.store.rows import LinkRow, MemoryRow, RowChange, VerdictRow
from priming.types import MemoryRecord, Operation
from priming.verdicts import VERDICTS

POSITIVE = ("used", "confirmed")
"""Verdicts that say that a recall was worth it."""

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
    verdicts: list[VerdictRow] = field(default_factory=list)
    useful: dict[str, tuple[Trace, list[str]]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def rows(self, opened: Opened) -> list[RowChange]:
        """The changes of rows, each row once."""
        moved = [self._moved(self.links[identity], delta) for identity, delta in self.moves.items()]
        known = [RowChange(self.before[one], after) for one, after in self.memories.items()]
        judged = [RowChange(None, row) for row in self.verdicts]
        changes = learn(opened, self.now, self.useful.values(), moved) + known + judged
        return [one for one in changes if one.before != one.after]

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
    tier = one_of("tier", arguments["tier"], [name for name, step in TIERS.items() if step is not None])
    recall_id = arguments["recall_id"]
    return Judgement(
        verdicts,
        None if recall_id is None else text_("recall_id", recall_id),
        name_("session", arguments["session"]),
        tier,
        name_("reason", arguments["reason"]),
    )


def _keys(verdict: str, value: Any) -> tuple[str, ...]:
    name = verdict.replace("-", "_")
    if isinstance(value, (str, Mapping)) or not isinstance(value, Collection):
        raise ParamError(name, value, "must be a list of keys")
    return tuple(dict.fromkeys(text_(name, one) for one in value))


def feedback(opened: Opened, asked: Judgement) -> Operation:
    """Record verdicts and move what they credit or blame, as one operation.

    A verdict that was given before on the same recall and memory moves nothing again; if all were, the answer
    is the operation that recorded the first of them.
    """
    with opened.writing() as now:
        opened.readable()
        trace = None if asked.recall_id is None else traces.find(opened, asked.recall_id)
        judged = _judged(opened, asked, now)
        effect = Effect(now, uuid7(now))
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
            reason=asked.reason or _summary(effect, {memory.id: memory.key for _, memory in judged}),
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
    if given is not None and memory.id not in {one for one, _ in given.hits}:
        rule = f"must be a memory that recall {given.recall_id} brought up: leave the recall out to judge it at large"
        raise ParamError(verdict.replace("-", "_"), memory.key, rule)
    before = opened.store.verdicts(opened.namespace, [memory.id], recall=trace.recall_id) if trace else []
    same = next((row for row in before if row.verdict == verdict), None)
    if same is not None:
        return same
    once = _once_a_session(opened, asked, verdict, memory, trace)
    if once is not None:
        return once
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
    delta = TIERS[asked.tier] or 0.0
    if verdict in _SIGN:
        _route(opened, effect, memory, trace, _SIGN[verdict] * delta)
    _count(opened, effect, verdict, memory, asked.tier, _NODE.get(verdict, 0.0) * delta)
    if verdict in POSITIVE and trace is not None and not any(row.verdict in POSITIVE for row in before):
        effect.useful.setdefault(trace.recall_id, (trace, []))[1].append(memory.id)
    return None


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


def _route(opened: Opened, effect: Effect, memory: MemoryRecord, trace: Trace | None, delta: float) -> None:
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


def _count(
    opened: Opened, effect: Effect, verdict: str, memory: MemoryRecord, tier: str, delta: float
) -> None:
    """Move a memory's weight, and count what became of it."""
    if memory.id not in effect.memories:
        (row,) = opened.store.memories(opened.namespace, [memory.id])
        effect.before[memory.id] = effect.memories[memory.id] = row
    row = effect.memories[memory.id]
    followed = "confirmed" if tier == "conscious" else "followed"
    counts = {
        "used": ("uses", "helped", "followed"),
        "not-relevant": (),
        "not-useful": ("failed",),
        "confirmed": ("uses", followed),
        "overridden": ("overridden",),
    }[verdict]
    changed: dict[str, Any] = {name: getattr(row, name) + 1 for name in counts}
    if "uses" in counts:
        changed["last_used_at"] = effect.now
    weight = float(nudge(row.weight, delta)) if delta else row.weight
    effect.memories[memory.id] = replace(row, weight=weight, **changed)


def _summary(effect: Effect, keys: Mapping[str, str]) -> str:
    """The verdicts in words, for the log."""
    by_verdict: dict[str, list[str]] = {}
    for row in effect.verdicts:
        by_verdict.setdefault(row.verdict, []).append(keys[row.id])
    recalls = {row.recall for row in effect.verdicts if row.recall}
    of = f" (recall {recalls.pop()})" if len(recalls) == 1 else ""
    return "; ".join(f"{verdict}: {', '.join(some)}" for verdict, some in by_verdict.items()) + of


def _again(opened: Opened, earlier: VerdictRow, said: Sequence[str]) -> Operation:
    """The operation that recorded a verdict before, saying that nothing was done now."""
    logged = opened.store.operation(opened.namespace, earlier.operation)
    assert logged is not None, "a verdict names the operation that recorded it"
    return replace(opened.operation(logged), message=f"nothing changed; {'; '.join(said)}")


def came_back(opened: Opened, ids: Collection[str]) -> Operation:
    """Count the text of memories that a recall put out, and that came back, as use (X6)."""
    said = {**dict.fromkeys(VERDICTS, ()), "used": tuple(ids)}
    return feedback(opened, Judgement(said, None, None, "automatic", "its text came back"))
