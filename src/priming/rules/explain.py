"""Why recalls return or omit a memory: the evidence, and its meaning in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.config.words import REPLACED, instructs
from priming.core.when import findings, is_more_specific
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.candidates import NAMES, weighted_profile
from priming.rules.pack_file import pack_of
from priming.rules.results import LinkHistory, Predicate, Verdict, Why
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow, VerdictRow
from priming.text.quotation import count_text, label
from priming.types import Cue, MemoryRecord

WEIGHING = ("used", "not-useful")
"""Verdicts that move the weight of the memory itself."""


def why(memory: Namespace, key: str, *, recall_id: str | None = None, cue: Cue | None = None) -> Why:
    """Explain why recalls return or omit a memory, with the evidence.

    Args:
        key: the memory.
        recall_id: the recall to explain; None: the latest that returned the memory.
        cue: the context in which its conditions are evaluated; None: that of the recall.

    Raises:
        NotFound: no such memory, or no such recall.
        ParamError: ``cue`` is no Cue.

    """
    with memory.lock, memory.store.transaction(write=False):
        now = memory.now()
        record = memory.find(key, now)
        trace = (
            traces.latest_trace(memory, record.id)
            if recall_id is None
            else traces.find_trace(memory, recall_id)
        )
        case = Explanation(
            memory=record,
            now=now,
            trace=trace,
            route=None if trace is None else _route(memory, trace, record.id),
            predicates=_predicates(record, _context(cue, trace)),
            neighbours=_neighbours(memory, record.id, now),
            verdicts=_verdicts(memory, record),
            weights=_weights(memory, trace),
        )
        operations = memory.operations(memory_id=record.id, limit=STORE.why_operations)
        return Why(
            memory=record,
            route=case.route,
            reasons=tuple(case.reasons()),
            predicates=case.predicates,
            learned_from=case.others("learned-from"),
            overrides=case.others("overrides"),
            overridden_by=case.others("overrides", inward=True),
            conflicts=(*case.others("conflicts"), *case.others("conflicts", inward=True)),
            verdicts=case.verdicts,
            operations=tuple(memory.to_operation(operation) for operation in operations),
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """The evidence about one memory; ``neighbours`` are its links, each with the memory at the other end."""

    memory: MemoryRecord
    now: datetime
    trace: Trace | None
    route: LinkHistory | None
    predicates: tuple[Predicate, ...]
    neighbours: Sequence[tuple[LinkRow, MemoryRecord]]
    verdicts: tuple[Verdict, ...]
    weights: Mapping[str, tuple[float, float]]
    """The weights of the recall's profile that this namespace changed: the value here, and the profile's own."""

    def others(self, relation: str, *, inward: bool = False) -> tuple[str, ...]:
        """Return the keys of the targets of links of a relation; ``inward``, of the sources."""
        return tuple(record.key for record in self._at(relation, inward=inward))

    def reasons(self) -> Iterator[str]:
        """Yield the evidence in plain sentences, the most decisive first."""
        yield from self._status()
        yield from self._latest_recall()
        yield from self._conditions()
        yield from self._competitors()
        yield from self._use()
        yield from self._origin()
        yield from self._changed_weights()

    def _at(self, relation: str, *, inward: bool = False) -> list[MemoryRecord]:
        end = "source" if inward else "target"
        return [
            record
            for link, record in self.neighbours
            if link.relation == relation and getattr(link, end) == record.id
        ]

    def _status(self) -> Iterator[str]:
        """Yield the status that keeps the memory out of every recall."""
        memory = self.memory
        if memory.status != "active":
            replacements = [record.key for relation in REPLACED for record in self._at(relation)]
            replaced = f", replaced by {' and '.join(replacements)}" if replacements else ""
            yield f"it is {memory.status}{replaced}: no recall returns it until it is restored"
        elif memory.valid_from is not None and memory.valid_from > self.now:
            yield f"it holds from {_day(memory.valid_from)} on: no recall of the present returns it before"

    def _latest_recall(self) -> Iterator[str]:
        """Yield the rank and the path of the memory in the recall."""
        if self.trace is None:
            yield "was never returned: it is not a hit of any stored recall"
            return
        text = self.trace.cue.get("text", "")
        which = f"the recall of {_day(self.trace.at)} for {str(text)!r}"
        if self.route is None:
            yield f"{which} did not return it"
            return
        yield f"ranked {self.route.rank} of {len(self.trace.hits)} in {which}"
        if self.trace.flow is None:
            yield "the flow of that recall is no longer stored"
        elif self.route.path:
            links = count_text(len(self.route.path), "link")
            yield f"was reached over {links} from {self.route.path[0].source}"
        else:
            yield "anchored directly: the cue itself matched it"

    def _conditions(self) -> Iterator[str]:
        """Yield the predicates that the cue confirms or contradicts."""
        contradicted = [condition for condition in self.predicates if condition.finding == "contradicted"]
        for condition in contradicted:
            name, value = condition.name, condition.wanted
            yield f"the cue contradicts its condition {name} = {value!r}: it cannot be a hit there"
        if self.predicates and not contradicted:
            confirmed = sum(condition.finding == "confirmed" for condition in self.predicates)
            yield f"the cue confirms {confirmed} of {len(self.predicates)} conditions"

    def _competitors(self) -> Iterator[str]:
        """Yield the behaviours that override or conflict with the memory, and those that it overrides."""
        for other in self._at("overrides"):
            narrower = is_more_specific(self.memory.when, other.when)
            yield f"overrides {label(other.key)} {'because it is more specific' if narrower else 'by a link'}"
        for other in self._at("overrides", inward=True):
            if other.status == "active":
                yield f"is overridden by {label(other.key)} wherever both apply"
        for other in (*self._at("conflicts"), *self._at("conflicts", inward=True)):
            if other.status == "active":
                is_rule = self.memory.kind == "behavior"
                first = (
                    "only the more specific of the two is returned" if is_rule else "the later comes first"
                )
                yield f"conflicts with {label(other.key)}: {first}"

    def _use(self) -> Iterator[str]:
        """Yield the uses and verdicts of the memory, and its weight."""
        use = self.memory.use
        if use.uses:
            last = f", last on {_day(use.last_used_at)}" if use.last_used_at else ""
            yield f"used {count_text(use.uses, 'time')}{last}"
        else:
            yield "was never used"
        if use.confirmed or use.overridden:
            yield f"confirmed {count_text(use.confirmed, 'time')}, overridden {count_text(use.overridden, 'time')}"
        weight, start = self.memory.weight, PLASTICITY.start
        if weight != start:
            moved = "raised" if weight > start else "lowered"
            number = sum(verdict.verdict in WEIGHING for verdict in self.verdicts)
            by = f" by {count_text(number, 'verdict')}" if number else ""
            yield f"weight {moved} from {start:g} to {weight:g}{by}"

    def _changed_weights(self) -> Iterator[str]:
        """Yield the weights that this namespace changed."""
        if self.weights:
            changes = [f"{name} {here:g} instead of {own:g}" for name, (here, own) in self.weights.items()]
            yield f"recalls of this namespace weigh {', '.join(changes)}, as ablate set it"

    def _origin(self) -> Iterator[str]:
        """Yield the source of the memory, and its trust."""
        for source in self._at("learned-from"):
            yield f"learned from {label(source.key)}"
        pack = pack_of(self.memory.source)
        if pack is not None:
            yield f"came with the pack {pack.name}, version {pack.version}"
        if self.memory.kind == "behavior" and not instructs(self.memory.trust):
            yield f"its trust is {self.memory.trust!r}: it is shown as quoted data, never as a rule"


def _weights(memory: Namespace, trace: Trace | None) -> Mapping[str, tuple[float, float]]:
    """Return the weights that this namespace changed in a recall's profile; without a recall, in its own profile."""
    profile = memory.profile if trace is None else memory.profiles.get(trace.profile, memory.profile)
    own = weighted_profile(memory, profile).recall
    pairs = {name: (getattr(own, name), getattr(profile.recall, name)) for name in NAMES}
    return {name: (here, default) for name, (here, default) in pairs.items() if here != default}


def _route(memory: Namespace, trace: Trace, memory_id: str) -> LinkHistory | None:
    """Return the rank and path of a memory in a recall; None if it is not a hit."""
    ids = [hit for hit, _ in trace.hits]
    if memory_id not in ids:
        return None
    rank = ids.index(memory_id)
    path, shares = traces.path_and_credit(memory, trace, memory_id)
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
    """Return the context in which predicates are evaluated: that of the cue, else that of the recall."""
    if cue is not None:
        return cue.context()
    return {} if trace is None else {name: value for name, value in trace.cue.items() if name != "text"}


def _predicates(memory: MemoryRecord, context: Mapping[str, Any]) -> tuple[Predicate, ...]:
    return tuple(
        Predicate(name, memory.when[name], context.get(name), finding)
        for name, finding in findings(memory.when, context).items()
    )


def _neighbours(memory: Namespace, memory_id: str, now: datetime) -> list[tuple[LinkRow, MemoryRecord]]:
    """Return the links that explain a memory, each with the memory at its other end."""
    relations = ("learned-from", "overrides", "conflicts", *REPLACED)
    links = [link for link in memory.rows(LinkRow, ids=[memory_id]) if link.relation in relations]
    ends = [link.target if link.source == memory_id else link.source for link in links]
    records = memory.records(now, ids=ends)
    return [(link, records[end]) for link, end in zip(links, ends, strict=True) if end in records]


def _verdicts(memory: Namespace, record: MemoryRecord) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(
            key=record.key,
            verdict=row.verdict,
            at=row.at,
            tier=row.tier,
            operation=row.operation,
            recall_id=row.recall or None,
            session=row.session,
            cue=row.cue,
        )
        for row in memory.rows(VerdictRow, ids=[record.id])
    )


def _day(at: datetime) -> str:
    return at.date().isoformat()
