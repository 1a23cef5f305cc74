"""Hebbian learning: memories that were active together in useful recalls are linked, and their links strengthened.

A pair is counted at each useful recall, linked when it has been counted often enough within the window (three
times in a week by default), and its link then follows Oja's rule. ``feedback`` and ``runs`` call this module and
write its changes with their own.

Two seeds are a pair unless the conditions that matched one are among those that matched the other: two rules
for Go show only that the work was in Go. Rules are paired with rules, and once a session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

from priming.config.params.laws import PlasticityParams
from priming.config.values import dataclass
from priming.core.plasticity import birth_weight, co_activation_pairs, edge_is_due, edge_is_spent, oja
from priming.history.inverse import last_use
from priming.history.movements import link_identity
from priming.namespace import Namespace
from priming.recall import traces
from priming.serialization import stamp
from priming.storage.protocol import Trace
from priming.storage.rows import LinkIdentity, LinkRow, MemoryPair, MemoryRow, PairRow, RowChange, VerdictRow
from priming.types import days_between

RELATION = "co-activated"
POSITIVE = ("used", "confirmed")
"""Verdicts that report that a memory was useful."""

_HOURS_A_DAY = 24.0


def proved_useful(memory: Namespace, trace: Trace, ids: Collection[str] | None = None) -> set[str]:
    """Return the hits of a recall, or those of ``ids``, that earlier verdicts on it found useful."""
    hits = [hit for hit, _ in trace.hits] if ids is None else ids
    verdicts = memory.rows(VerdictRow, ids=hits, recall=trace.recall_id)
    return {row.id for row in verdicts if row.verdict in POSITIVE}


def idle_hours(link: LinkRow, now: datetime) -> float:
    """Return the hours since a link was last active."""
    return days_between(last_use(link), now) * _HOURS_A_DAY


def has_faded(link: LinkRow, now: datetime, params: PlasticityParams, rho: float) -> bool:
    """Tell whether a co-activation link that nobody made by hand has faded below what stays."""
    return not link.given and edge_is_spent(link.weight, idle_hours(link, now), rho, params.prune_below)


def learn_coactivation(
    memory: Namespace,
    now: datetime,
    useful: Iterable[tuple[Trace, Collection[str] | None]],
    moved: Iterable[RowChange] = (),
) -> list[RowChange]:
    """Return the changes of links and of counted pairs that useful recalls cause, ``moved`` included.

    ``useful`` are recalls, each with the ids of the memories whose pairs count; None: every pair. A recall by
    a profile that does not learn so teaches nothing. ``moved`` are link changes of the same operation; the result
    continues from them.
    """
    links = {link_identity(change.row): change for change in moved if isinstance(change.row, LinkRow)}
    own = memory.profile
    learning = _CoactivationUpdate(memory, now, own.plasticity, own.forgetting_params.rho, links)
    sessions: dict[tuple[str, str], list[_UsefulRecall]] = {}
    for trace, about in useful:
        profile = memory.profiles.get(trace.profile, memory.profile)
        flow = traces.flow_of(trace) if profile.learning.coactivation else None
        if flow is not None:
            learning.params, learning.rho = profile.plasticity, profile.forgetting_params.rho
            learning.count_recall(trace, flow, about)
            if profile.learning.sessions and trace.session is not None and about:
                recalls = sessions.setdefault((trace.session, profile.name), [])
                recalls.append(_UsefulRecall(trace, flow, frozenset(about)))
    for (session, _), recalls in sessions.items():
        learning.count_session(session, recalls)
    return learning.rows()


@dataclass(frozen=True, slots=True)
class _UsefulRecall:
    """A recall with the memories that proved useful in it."""

    trace: Trace
    flow: traces.StoredTrace
    useful: Collection[str]

    def seeds(self) -> Iterator[tuple[str, float, tuple[str, ...]]]:
        """Yield the useful memories that conditions matched, each with its level and those conditions."""
        for row, level, _ in self.flow.active:
            memory_id, reasons = self.flow.nodes[row], self.flow.reasons.get(row)
            if reasons and memory_id in self.useful:
                yield memory_id, level, reasons

    @property
    def active(self) -> set[str]:
        """All memories that were active in the recall."""
        return {self.flow.nodes[row] for row, _, _ in self.flow.active}


@dataclass(slots=True)
class _CoactivationUpdate:
    """The changes that several recalls cause, gathered for one operation."""

    memory: Namespace
    now: datetime
    params: PlasticityParams
    rho: float
    links: dict[LinkIdentity, RowChange]
    pairs: dict[MemoryPair, tuple[PairRow | None, PairRow | None]] = field(default_factory=dict)

    def count_recall(
        self, trace: Trace, flow: traces.StoredTrace, about: Collection[str] | None = None
    ) -> None:
        """Count the pairs that were active in a recall, or only those with a memory of ``about``.

        Two that the cue matched for the same reason are never a pair, rules pair with rules only, and memories that
        have left recall since do not count.
        """
        levels = {flow.nodes[row]: level for row, level, _ in flow.active}
        seeds = {flow.nodes[row]: flow.reasons.get(row, ()) for row, _, seed in flow.active if seed}
        rows = self.memory.rows(MemoryRow, ids=levels)
        living = {row.id: levels[row.id] for row in rows if row.status == "active"}
        kinds = {row.id: row.kind for row in rows}
        pairs = [
            pair
            for pair in co_activation_pairs(living, seeds, self.params.threshold)
            if _may_pair(*(kinds[end] for end in pair))
        ]
        counted = proved_useful(self.memory, trace, living)
        chosen = [
            pair
            for pair in pairs
            if counted.isdisjoint(pair) and (about is None or not set(about).isdisjoint(pair))
        ]
        self._read_links({end for pair in chosen for end in pair}.union(about or ()))
        for a, b in chosen:
            self._count_pair((a, b), living[a], living[b], trace.at)

    def count_session(self, session: str, recalls: Sequence[_UsefulRecall]) -> None:
        """Count the pairs of rules that different recalls of a session returned and that both proved useful in it.

        A pair is counted once a session, when the second of the two proves useful.
        """
        earlier = self._useful_before(session)
        fresh = {end for recall in recalls for end in recall.useful}.difference(
            *(recall.useful for recall in earlier)
        )
        levels: dict[str, float] = {}
        reasons: dict[str, tuple[str, ...]] = {}
        shown: dict[str, set[str]] = {}
        for recall in (*earlier, *recalls):
            for memory_id, level, names in recall.seeds():
                levels[memory_id], reasons[memory_id] = level, names
                shown[memory_id] = shown.get(memory_id, set()) | recall.active
        rows = self.memory.rows(MemoryRow, ids=levels) if fresh and levels else []
        living = {row.id: levels[row.id] for row in rows if row.status == "active" and row.kind == "behavior"}
        pairs = [
            (a, b)
            for a, b in co_activation_pairs(living, reasons, self.params.threshold)
            if not fresh.isdisjoint((a, b)) and a not in shown[b] and b not in shown[a]
        ]
        self._read_links({end for pair in pairs for end in pair})
        at = max(recall.trace.at for recall in recalls)
        for a, b in pairs:
            self._count_pair((a, b), living[a], living[b], at)

    def _useful_before(self, session: str) -> list[_UsefulRecall]:
        """Return the recalls of a session with the memories that earlier verdicts found useful in them."""
        before = []
        for latest in self.memory.rows(Trace, session=session, limit=self.params.session_recalls):
            useful = proved_useful(self.memory, latest)
            trace = self.memory.recall_of(latest.recall_id) if useful else None
            flow = None if trace is None else traces.flow_of(trace)
            if trace is not None and flow is not None:
                before.append(_UsefulRecall(trace, flow, useful))
        return before

    def rows(self) -> list[RowChange]:
        """Return all row changes, each row once."""
        pairs = [RowChange(before, after) for before, after in self.pairs.values()]
        return [change for change in (*self.links.values(), *pairs) if change.before != change.after]

    def _read_links(self, ids: Collection[str]) -> None:
        """Read the links and counted pairs of memories; a link that has faded away is removed."""
        for link in self.memory.rows(LinkRow, ids=ids, relation=RELATION):
            after = None if has_faded(link, self.now, self.params, self.rho) else link
            self.links.setdefault(link_identity(link), RowChange(link, after))
        for pair in self.memory.rows(PairRow, ids=ids, both=True):
            self.pairs.setdefault((pair.source, pair.target), (pair, pair))

    def _count_pair(self, pair: MemoryPair, a: float, b: float, at: datetime) -> None:
        """Count one co-activation of a pair: move its link by Oja's rule, or link it when the count suffices."""
        p = self.params
        for ends, levels in ((pair, (a, b)), (pair[::-1], (b, a))):
            change = self.links.get((*ends, RELATION))
            existing = change.after if change else None
            if isinstance(existing, LinkRow):
                weight = float(oja(existing.weight, *levels, p.oja_eta, p.oja_low, p.oja_high))
                self._set_link(replace(existing, weight=weight, last_activated=self.now))
                return
        before, row = self.pairs.get(pair, (None, None))
        times = self._recent_times({*(row.times if row else ()), stamp(at)})
        moments = [datetime.fromisoformat(time) for time in times]
        if edge_is_due(moments, self.now, window_days=p.window_days, needed=p.needed):
            self.pairs[pair] = (before, None)
            link = LinkRow(*pair, RELATION, float(birth_weight(a, b, p)), self.now, last_activated=self.now)
            self._set_link(link)
        else:
            self.pairs[pair] = (before, PairRow(*pair, times) if times else None)

    def _set_link(self, link: LinkRow) -> None:
        """Set the new state of a link; a link that has just been removed keeps its old row."""
        change = self.links.get(link_identity(link))
        self.links[link_identity(link)] = RowChange(change.before if change else None, link)

    def _recent_times(self, times: Collection[str]) -> tuple[str, ...]:
        """Return the times within the window, oldest first."""
        oldest = stamp(self.now - timedelta(days=self.params.window_days))
        return tuple(sorted(time for time in times if time >= oldest))


def _may_pair(a: str, b: str) -> bool:
    """Tell whether memories of two kinds may be linked: rules with rules only, and corrections with nothing."""
    return (a == "behavior") == (b == "behavior") and "correction" not in (a, b)
