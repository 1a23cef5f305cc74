"""Why a memory is what it is and comes up as it does: the evidence, and what it means in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.params.store import STORE
from priming.core.when import findings, is_more_specific
from priming.errors import ParamError
from priming.learning.results import Verdict
from priming.maintenance.merge import REPLACED
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.term_weights import NAMES, in_force
from priming.rules.pack_file import pack_of
from priming.rules.results import LinkHistory, Predicate, Why
from priming.rules.trust import instructs
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow
from priming.types import Cue, MemoryRecord

WEIGHING = ("used", "not-useful")
"""Verdicts that move the weight of the memory itself."""


def why(memory: Namespace, key: str, *, recall_id: str | None = None, cue: Cue | None = None) -> Why:
    """Why a memory is what it is and comes up as it does, with the evidence.

    Args:
        key: the memory.
        recall_id: the recall to explain; None: the latest that brought it up.
        cue: the context to hold its conditions against; None: that of the recall.

    Raises:
        NotFound: no such memory, or no such recall.
        ParamError: ``cue`` is no Cue.

    """
    if cue is not None and not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    with memory.lock, memory.store.transaction(write=False):
        now = memory.now()
        there = memory.find(key, now)
        trace = (
            traces.latest_trace(memory, there.id)
            if recall_id is None
            else traces.find_trace(memory, recall_id)
        )
        case = Explanation(
            memory=there,
            trace=trace,
            route=None if trace is None else _route(memory, trace, there.id),
            predicates=_predicates(there, _context(cue, trace)),
            neighbours=_neighbours(memory, there.id, now),
            verdicts=_verdicts(memory, there),
            weights=_weights(memory, trace),
        )
        told = memory.store.operations(memory.namespace, memory_id=there.id, limit=STORE.why_operations)
        return Why(
            memory=there,
            route=case.route,
            reasons=tuple(case.reasons()),
            predicates=case.predicates,
            learned_from=case.others("learned-from"),
            overrides=case.others("overrides"),
            overridden_by=case.others("overrides", inward=True),
            conflicts=(*case.others("conflicts"), *case.others("conflicts", inward=True)),
            verdicts=case.verdicts,
            operations=tuple(memory.to_operation(one) for one in told),
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one memory; ``neighbours`` are its links, each with the memory at the other end."""

    memory: MemoryRecord
    trace: Trace | None
    route: LinkHistory | None
    predicates: tuple[Predicate, ...]
    neighbours: Sequence[tuple[LinkRow, MemoryRecord]]
    verdicts: tuple[Verdict, ...]
    weights: Mapping[str, tuple[float, float]]
    """Of the profile of the recall: what this namespace weighs otherwise, here and in the profile itself."""

    def others(self, relation: str, *, inward: bool = False) -> tuple[str, ...]:
        """The keys that links of a relation lead to, or come from."""
        return tuple(one.key for one in self._at(relation, inward=inward))

    def reasons(self) -> Iterator[str]:
        """The evidence in plain sentences, what decides most first."""
        yield from self._standing()
        yield from self._coming()
        yield from self._conditions()
        yield from self._rivals()
        yield from self._record()
        yield from self._origin()
        yield from self._weighing()

    def _at(self, relation: str, *, inward: bool = False) -> list[MemoryRecord]:
        end = "source" if inward else "target"
        found = (
            (link, one)
            for link, one in self.neighbours
            if link.relation == relation and getattr(link, end) == one.id
        )
        return [one for _, one in found]

    def _standing(self) -> Iterator[str]:
        """What keeps it out of every recall."""
        memory = self.memory
        if memory.status != "active":
            instead = [one.key for relation in REPLACED for one in self._at(relation)]
            stands = f", {_listed(instead)} stands for it" if instead else ""
            yield f"it is {memory.status}{stands}: no recall brings it up until it is restored"

    def _coming(self) -> Iterator[str]:
        """How it came up in the recall."""
        if self.trace is None:
            yield "has never come up: no recall that is kept has it among its hits"
            return
        asked = self.trace.cue.get("text", "")
        which = f"the recall of {_day(self.trace.at)} for {str(asked)!r}"
        if self.route is None:
            yield f"{which} did not bring it up"
            return
        yield f"came up as number {self.route.rank} of {len(self.trace.hits)} in {which}"
        if self.trace.flow is None:
            yield "what links carried in that recall is no longer kept"
        elif self.route.path:
            number = len(self.route.path)
            links = "1 link" if number == 1 else f"{number} links"
            yield f"came over {links} from {self.route.path[0].source}"
        else:
            yield "anchored directly: the cue's own words matched it"

    def _conditions(self) -> Iterator[str]:
        """What the cue says of its predicates."""
        contradicted = [one for one in self.predicates if one.finding == "contradicted"]
        for one in contradicted:
            yield f"the cue contradicts its condition {one.name} = {one.wanted!r}: there it cannot come up"
        if self.predicates and not contradicted:
            confirmed = sum(one.finding == "confirmed" for one in self.predicates)
            yield f"the cue confirms {confirmed} of {len(self.predicates)} conditions"

    def _rivals(self) -> Iterator[str]:
        """What stands against it, and what it stands against."""
        for one in self._at("overrides"):
            narrower = is_more_specific(self.memory.when, one.when)
            yield f"overrides {one.key} {'because it is more specific' if narrower else 'by a link'}"
        for one in self._at("overrides", inward=True):
            if one.status == "active":
                yield f"is overridden by {one.key} wherever both apply"
        for one in (*self._at("conflicts"), *self._at("conflicts", inward=True)):
            if one.status == "active":
                yield f"conflicts with {one.key}: of the two the more specific comes up"

    def _record(self) -> Iterator[str]:
        """What became of it so far."""
        use = self.memory.use
        if use.uses:
            last = f", last on {_day(use.last_used_at)}" if use.last_used_at else ""
            yield f"used {_counted(use.uses, 'time')}{last}"
        else:
            yield "was never used"
        if use.confirmed or use.overridden:
            yield f"confirmed {_counted(use.confirmed, 'time')}, overridden {_counted(use.overridden, 'time')}"
        weight, start = self.memory.weight, PLASTICITY.start
        if weight != start:
            moved = "raised" if weight > start else "lowered"
            number = sum(one.verdict in WEIGHING for one in self.verdicts)
            by = f" by {_counted(number, 'verdict')}" if number else ""
            yield f"weight {moved} from {start:g} to {weight:g}{by}"

    def _weighing(self) -> Iterator[str]:
        """What is weighed here otherwise than by the profile."""
        if self.weights:
            said = [f"{name} {here:g} instead of {there:g}" for name, (here, there) in self.weights.items()]
            yield f"recalls of this namespace weigh {', '.join(said)}, as ablate set it"

    def _origin(self) -> Iterator[str]:
        """Where it is from, and what that means."""
        for one in self._at("learned-from"):
            yield f"learned from {one.key}"
        pack = pack_of(self.memory.source)
        if pack is not None:
            yield f"came with the pack {pack.name}, version {pack.version}"
        if self.memory.kind == "behavior" and not instructs(self.memory.trust):
            yield f"its trust is {self.memory.trust!r}: it is shown as quoted data, never as a rule"


def _weights(memory: Namespace, trace: Trace | None) -> Mapping[str, tuple[float, float]]:
    """What this namespace weighs otherwise than the profile of a recall, the memory's own where there is none."""
    profile = memory.profile if trace is None else memory.profiles.get(trace.profile, memory.profile)
    own = in_force(memory, profile).recall
    pairs = {name: (getattr(own, name), getattr(profile.recall, name)) for name in NAMES}
    return {name: (here, there) for name, (here, there) in pairs.items() if here != there}


def _route(memory: Namespace, trace: Trace, memory_id: str) -> LinkHistory | None:
    """How a recall came upon a memory; None if it did not."""
    ids = [one for one, _ in trace.hits]
    if memory_id not in ids:
        return None
    rank = ids.index(memory_id)
    path, shares = traces.credited_links(memory, trace, memory_id)
    return LinkHistory(
        recall_id=trace.recall_id,
        at=trace.at,
        session=trace.session,
        profile=trace.profile,
        cue=trace.cue,
        rank=rank + 1,
        score=trace.hits[rank][1],
        path=path,
        shares=shares,
    )


def _context(cue: Cue | None, trace: Trace | None) -> Mapping[str, Any]:
    """The context to hold the predicates against: what is given, else what the recall was asked in."""
    if cue is not None:
        return cue.context()
    return {} if trace is None else {name: value for name, value in trace.cue.items() if name != "text"}


def _predicates(memory: MemoryRecord, context: Mapping[str, Any]) -> tuple[Predicate, ...]:
    found = findings(memory.when, context)
    return tuple(
        Predicate(name, memory.when[name], context.get(name), finding) for name, finding in found.items()
    )


def _neighbours(memory: Namespace, memory_id: str, now: datetime) -> list[tuple[LinkRow, MemoryRecord]]:
    """The links that say where a memory stands, each with the memory at its other end."""
    telling = ("learned-from", "overrides", "conflicts", *REPLACED)
    links = [one for one in memory.store.links(memory.namespace, [memory_id]) if one.relation in telling]
    ends = [one.target if one.source == memory_id else one.source for one in links]
    there = memory.store.records(memory.namespace, ends, now)
    return [(link, there[end]) for link, end in zip(links, ends, strict=True) if end in there]


def _verdicts(memory: Namespace, record: MemoryRecord) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(
            key=record.key,
            verdict=one.verdict,
            at=one.at,
            tier=one.tier,
            operation=one.operation,
            recall_id=one.recall or None,
            session=one.session,
            cue=one.cue,
        )
        for one in memory.store.verdicts(memory.namespace, [record.id])
    )


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(keys: Sequence[str]) -> str:
    return " and ".join(keys)
