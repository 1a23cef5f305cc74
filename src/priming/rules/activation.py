"""The activation of behaviours in a context: each store spreads on its own, then all behaviours compete.

What is no rule neither wins nor inhibits. Only rules that conditions matched inhibit each other: what spreading
reached is weak already. A constraint that applies is not inhibited.

An activation is counted beside the recalls, not in the log: nothing is learned by it. Only ``active`` counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.profiles import FLOOP, Profile
from priming.config.values import dataclass
from priming.config.words import KINDS, instructs
from priming.core.arguments.arrays import Floats
from priming.core.spread import Activation, inhibit, spread, squash
from priming.index.columns import NONE
from priming.index.weighted_graph import WeightedGraph, signed
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.formatting import rule_kind
from priming.recall.ranking import Ranked
from priming.recall.relevance import Fit, fit_of, quiet_rules, read_context
from priming.results import Step
from priming.rules.conflicts import resolve_conflicts, rule_claim
from priming.storage.rows import LinkRow, MemoryPair
from priming.types import MemoryRecord

MOST = 200
"""The most behaviours that ``active`` returns."""

BEHAVIOR = KINDS.index("behavior")


@dataclass(frozen=True, slots=True)
class StoreActivation:
    """The activation of one store, and its behaviours.

    ``records`` are behaviours by row, ``fits`` how their conditions fit, ``seeds`` the activation they start with,
    ``counts`` how often each was active before, by id, ``quiet`` the ids of those mostly overridden of late.
    ``overrides`` and ``conflicts`` are pairs of ids, as is ``losses``: the loser and the winner of a conflict decided
    before activation spread. ``behaviors`` is the number of all.
    """

    memory: Namespace
    name: str | None
    activation: Activation
    records: Mapping[int, MemoryRecord]
    fits: Mapping[int, Fit]
    overrides: Sequence[MemoryPair]
    conflicts: Sequence[MemoryPair]
    losses: Sequence[MemoryPair]
    seeds: Mapping[int, float]
    counts: Mapping[str, int]
    quiet: Collection[str]
    behaviors: int
    trace: traces.StoredTrace
    paths: Mapping[str, tuple[Step, ...]]


def activate(
    memory: Namespace, name: str | None, context: Mapping[str, Any], now: datetime
) -> StoreActivation:
    """Spread activation from the behaviours that a context confirms, in one state of the store.

    The caller holds the lock; a store without a namespace has no behaviours.
    """
    with memory.store.transaction(write=False):
        working = memory.working(now)
        behaviors = working.alive.values & (working.kind.values == BEHAVIOR)
        fits, barred = _evaluate(working, behaviors, context)
        seeds = {row: fit.start for row, fit in fits.items() if fit.is_seed}
        rows_of_seeds = {working.ids[row]: row for row in sorted(seeds)}
        applying = {working.ids[row] for row in seeds if fits[row].is_whole}
        losses = _seed_losses(memory, rows_of_seeds, applying, now)
        for loser, _ in losses:
            row = working.row_of[loser]
            barred[row] = True
            del seeds[row]
        activation = spread(
            WeightedGraph(working, memory.profiles[FLOOP.name], now),
            seeds,
            signed(memory.profiles[FLOOP.name].spread, working),
            gate=np.where(barred, 0.0, 1.0),
        )
        eligible = behaviors & ~barred
        rows = np.array([row for row in activation.rows.tolist() if eligible[row]], np.int64)
        ids = {working.ids[row]: row for row in (*rows.tolist(), *seeds)}
        involved = [*ids, *(memory_id for pair in losses for memory_id in pair)]
        records = memory.records(now, ids=involved)
        traced = rows[:MOST]
        ranked = Ranked(traced, np.zeros(len(traced)), activation=activation)
        reasons = {row: fits[row].confirmed for row in seeds}
        trace = traces.stored_trace(working, memory.profiles[FLOOP.name], ranked, reasons=reasons)
        return StoreActivation(
            memory,
            name,
            activation,
            {working.row_of[memory_id]: record for memory_id, record in records.items()},
            fits,
            _linked(memory, ids, "overrides"),
            _linked(memory, ids, "conflicts"),
            [(loser, winner) for loser, winner in losses if loser in records and winner in records],
            seeds,
            memory.activations(FLOOP.name, list(records)),
            quiet_rules(memory, records.values()).keys(),
            int(np.count_nonzero(behaviors)),
            trace,
            traces.steps_of(memory, trace, [working.ids[row] for row in traced.tolist()]),
        )


def _evaluate(
    working: WorkingSet, behaviors: NDArray[np.bool_], context: Mapping[str, Any]
) -> tuple[dict[int, Fit], NDArray[np.bool_]]:
    """Return how the conditions of each behaviour fit the context, and the rows that it contradicts."""
    barred = np.zeros(working.rows, np.bool_)
    fits, reading = dict[int, Fit](), read_context(context)
    evaluated: dict[str, Fit | None] = {}  # many behaviours have the same conditions
    for row in np.flatnonzero(behaviors).tolist():
        when = working.predicates.get(int(working.document[row]), {}) if working.document[row] != NONE else {}
        if (text := repr(when)) not in evaluated:
            evaluated[text] = fit_of(when, reading)
        fit = evaluated[text]
        if fit is None:
            barred[row] = True
        else:
            fits[row] = fit
    return fits, barred


def _seed_losses(
    memory: Namespace, seeds: Mapping[str, int], applying: Collection[str], now: datetime
) -> list[MemoryPair]:
    """Return the weaker of seeds that contradict each other, each with the seed that it loses against.

    They are removed before activation spreads, so that a loser does not inhibit its winner.
    """
    pairs = _linked(memory, seeds, "conflicts")
    if not pairs:
        return []
    ids = sorted({memory_id for pair in pairs for memory_id in pair}, key=lambda memory_id: seeds[memory_id])
    records = memory.records(now, ids=ids)
    ids = [memory_id for memory_id in ids if memory_id in records]
    index = {memory_id: i for i, memory_id in enumerate(ids)}
    over = _linked(memory, ids, "overrides")
    losses = resolve_conflicts(
        [rule_claim(records[memory_id], applies=memory_id in applying) for memory_id in ids],
        [(index[a], index[b]) for a, b in over if a in applying and a in index and b in index],
        [(index[a], index[b]) for a, b in pairs if a in index and b in index],
    )
    return [(ids[i], ids[loss.by]) for i, loss in losses.items()]


def _linked(memory: Namespace, ids: Collection[str], relation: str) -> list[MemoryPair]:
    """Return the pairs among ``ids`` that a relation links."""
    links = memory.rows(LinkRow, ids=ids, relation=relation, both=True)
    return [(link.source, link.target) for link in links]


@dataclass(frozen=True, slots=True)
class Contender:
    """An active rule: the position of its store, its row, and its activation after the competition."""

    store: int
    row: int
    level: float
    is_protected: bool
    is_general: bool


def compete(profile: Profile, stores: Sequence[StoreActivation]) -> list[Contender]:
    """Return the rules of all stores that stay active, in the order of the stores, the oldest first."""
    rules = [
        (i, row, value)
        for i, store in enumerate(stores)
        for row, value in sorted(
            zip(store.activation.rows.tolist(), store.activation.values.tolist(), strict=True)
        )
        if row in store.records and row in store.fits
    ]
    raw: Floats = np.array([value for _, _, value in rules], np.float64)
    seeds = np.array([row in stores[i].seeds for i, row, _ in rules], np.bool_)
    protected = seeds & np.array([_is_constraint(stores[i], row) for i, row, _ in rules], np.bool_)
    values = raw.copy()
    general = np.zeros(len(raw), np.bool_)
    if profile.inhibit is not None and seeds.any():
        p = profile.inhibit
        values[seeds] = np.asarray(inhibit(raw[seeds], beta=p.beta, winners=p.winners, pool=p.pool))
        values[protected] = raw[protected]
        general = _general(raw, seeds, p.winners) & ~protected
    stays = values >= profile.spread.epsilon if profile.cut else np.ones(len(values), np.bool_)
    if profile.squash is not None and len(values):
        values = np.asarray(squash(values, gain=profile.squash.gain, centre=profile.squash.centre))
    return [
        Contender(i, row, float(values[n]), bool(protected[n]), bool(general[n]))
        for n, (i, row, _) in enumerate(rules)
        if stays[n]
    ]


def _general(raw: Floats, seeds: NDArray[np.bool_], winners: int) -> NDArray[np.bool_]:
    """Tell which are less active than the winners are on average, in a crowd of more rules than win."""
    rivals = np.sort(raw[seeds])[::-1]
    if len(rivals) <= winners:
        return np.zeros(len(raw), np.bool_)
    # Rounded: the mean of equal values may differ from them in the last place.
    bar = round(float(rivals[:winners].mean()), 12)
    return np.round(raw, 12) < bar


def _is_constraint(store: StoreActivation, row: int) -> bool:
    record = store.records[row]
    return rule_kind(record) == "constraint" and instructs(record.trust)
