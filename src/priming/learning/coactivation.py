"""Hebbian learning from recalls that proved useful: pairs are counted, linked at the third time, then follow Oja."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from priming.config.params.laws import PlasticityParams
from priming.config.profiles import get
from priming.core.plasticity import birth_weight, co_activation_pairs, edge_is_due, edge_is_spent, oja
from priming.namespace import Namespace
from priming.recall import traces
from priming.serialization import stamp
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow, PairRow, RowChange

RELATION = "co-activated"
POSITIVE = ("used", "confirmed")
"""Verdicts that say that a recall was worth it."""

Pair = tuple[str, str]
_HOUR = 3600.0


def learn_coactivation(
    memory: Namespace,
    now: datetime,
    useful: Iterable[tuple[Trace, Collection[str] | None]],
    moved: Iterable[RowChange] = (),
) -> list[RowChange]:
    """What recalls that proved useful teach: the ``moved`` links, and what becomes of the pairs that were active.

    ``useful`` are recalls with the ids of the memories whose pairs count; None: every pair. ``moved`` are changes
    of links in the same operation, on which this builds.
    """
    links = {_identity(one.row): one for one in moved if isinstance(one.row, LinkRow)}
    learning: _CoactivationUpdate | None = None
    for trace, about in useful:
        flow = traces.flow_of(trace)
        if flow is not None:
            learning = learning or _CoactivationUpdate(memory, now, get(trace.profile).plasticity, links)
            learning.take(trace, flow, about)
    return [*links.values()] if learning is None else learning.rows()


@dataclass(slots=True)
class _CoactivationUpdate:
    """What some recalls teach about who is active together, gathered for one operation."""

    memory: Namespace
    now: datetime
    params: PlasticityParams
    links: dict[tuple[str, str, str], RowChange]
    pairs: dict[Pair, tuple[PairRow | None, PairRow | None]] = field(default_factory=dict)

    def take(self, trace: Trace, flow: traces.StoredTrace, about: Collection[str] | None = None) -> None:
        """Count one recall: every pair that was active in it, or those with one of ``about``; never two anchors.

        What was taken out of recall since counts with nothing.
        """
        levels = {flow.nodes[row]: level for row, level, _ in flow.active}
        anchors = {flow.nodes[row] for row, _, seed in flow.active if seed}
        there = self.memory.store.memories(self.memory.namespace, levels) if levels else []
        living = {one.id: levels[one.id] for one in there if one.status == "active"}
        pairs = co_activation_pairs(living, anchors, self.params.threshold)
        counted = self._judged(trace, living)
        chosen = [
            pair
            for pair in pairs
            if counted.isdisjoint(pair) and (about is None or not set(about).isdisjoint(pair))
        ]
        self._look_up({end for pair in chosen for end in pair}.union(about or ()))
        for a, b in chosen:
            self._learn((a, b), living[a], living[b], trace.at)

    def rows(self) -> list[RowChange]:
        """The changes that this comes to."""
        pairs = [RowChange(before, after) for before, after in self.pairs.values()]
        return [one for one in (*self.links.values(), *pairs) if one.before != one.after]

    def _judged(self, trace: Trace, ids: Collection[str]) -> set[str]:
        """The memories whose pairs an earlier verdict on the same recall counted."""
        told = self.memory.store.verdicts(self.memory.namespace, ids, recall=trace.recall_id)
        return {row.id for row in told if row.verdict in POSITIVE}

    def _look_up(self, ids: Collection[str]) -> None:
        """Read the links and pairs of some memories; a link that has faded away is pruned."""
        store, namespace = self.memory.store, self.memory.namespace
        for link in store.links(namespace, ids, RELATION):
            hours = (self.now - (link.last_activated or link.created_at)).total_seconds() / _HOUR
            spent = edge_is_spent(link.weight, max(hours, 0.0), below=self.params.prune_below)
            after = None if spent and not link.given else link
            self.links.setdefault(_identity(link), RowChange(link, after))
        for pair in store.pairs(namespace, ids):
            self.pairs.setdefault((pair.source, pair.target), (pair, pair))

    def _learn(self, pair: Pair, a: float, b: float, at: datetime) -> None:
        """One more co-activation of a pair: Oja where it is linked, else a mark that may be the one that links it."""
        p = self.params
        for ends, levels in ((pair, (a, b)), (pair[::-1], (b, a))):
            change = self.links.get((*ends, RELATION))
            link = change.after if change else None
            if isinstance(link, LinkRow):
                weight = float(oja(link.weight, *levels, p.oja_eta, p.oja_low, p.oja_high))
                self._put(replace(link, weight=weight, last_activated=self.now))
                return
        before, row = self.pairs.get(pair, (None, None))
        times = self._lately({*(row.times if row else ()), stamp(at)})
        moments = [datetime.fromisoformat(time) for time in times]
        if edge_is_due(moments, self.now, window_days=p.window_days, needed=p.needed):
            self.pairs[pair] = (before, None)
            born = LinkRow(*pair, RELATION, float(birth_weight(a, b)), self.now, last_activated=self.now)
            self._put(born)
        else:
            self.pairs[pair] = (before, PairRow(*pair, times) if times else None)

    def _put(self, link: LinkRow) -> None:
        """A link as it is to be; one that was pruned a moment ago begins anew in its old row."""
        change = self.links.get(_identity(link))
        self.links[_identity(link)] = RowChange(change.before if change else None, link)

    def _lately(self, times: Collection[str]) -> tuple[str, ...]:
        """Those of some times that still count."""
        oldest = stamp(self.now - timedelta(days=self.params.window_days))
        return tuple(sorted(time for time in times if time >= oldest))


def _identity(link: LinkRow) -> tuple[str, str, str]:
    return link.source, link.target, link.relation
