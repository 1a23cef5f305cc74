"""The behaviours that apply in a context: seeds → spread → inhibit → score → resolve → pack → trace. No weight moves.

Where several stores are read together, activation spreads in each separately; then all behaviours compete.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import ACTIVE
from priming.config.profiles import FLOOP
from priming.config.words import KINDS
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import check_count, check_name, check_text
from priming.core.pack import estimate_tokens, pack
from priming.core.score import context_score, partial_activation
from priming.core.spread import Activation, spread
from priming.core.when import findings
from priming.errors import ParamError
from priming.index.columns import NONE
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.designs import cue_relevance, final_activation
from priming.recall.formatting import RULES_HEADER, format_rules, rule_full
from priming.recall.ranking import Ranked, signed, weighted_graph
from priming.remember.drafts import words
from priming.results import Hit, Omitted, Recall, Step
from priming.rules.conflicts import (
    RuleCandidate,
    duplicates_across_stores,
    resolve_candidates,
    resolve_conflicts,
    rule_claim,
)
from priming.storage.rows import MemoryPair
from priming.text.languages import language_of, languages_in
from priming.types import EMPTY, Cue, MemoryRecord

BEHAVIOR = KINDS.index("behavior")
_MOST_TOKENS = 10_000_000
_DECIMALS = 12  # of a score: the order in which links are summed does not change these


@dataclass(frozen=True, slots=True)
class ActiveQuery:
    """The checked arguments of ``active``; the predicates of behaviours are evaluated against ``context``."""

    cue: Cue
    context: Mapping[str, Any]
    tokens: int
    session: str | None
    others: Mapping[str, Namespace]


@dataclass(frozen=True, slots=True)
class StoreActivation:
    """The activation of one store, and its behaviours.

    ``records`` are behaviours by row, ``fits`` their context scores, ``seeds`` the activation they start with.
    ``overrides`` and ``conflicts`` are pairs of ids, as is ``losses``: the loser and the winner of a conflict decided
    before activation spread. ``behaviors`` and ``excluded`` are counts.
    """

    memory: Namespace
    name: str | None
    activation: Activation
    records: Mapping[int, MemoryRecord]
    fits: Mapping[int, float]
    overrides: Sequence[MemoryPair]
    conflicts: Sequence[MemoryPair]
    losses: Sequence[MemoryPair]
    seeds: Mapping[int, float]
    behaviors: int
    excluded: int
    trace: traces.StoredTrace
    paths: Mapping[str, tuple[Step, ...]]


def active(
    memory: Namespace,
    cue: Cue,
    *,
    tokens: int = ACTIVE.tokens,
    session: str | None = None,
    beside: Mapping[str, Namespace] = EMPTY,
) -> Recall:
    """Return the behaviours that apply in a context, without those that others override or contradict.

    Args:
        cue: the context; its text confirms ``text`` and ``task`` predicates.
        tokens: budget of ``Recall.text``, never exceeded.
        session: the session that the recall belongs to.
        beside: other memories by name, read together with this one, such as ``{"global": memory}``.

    Raises:
        ParamError: no cue, or an argument outside its range.
        NotFound: a namespace that does not exist.

    """
    if not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    query = ActiveQuery(
        cue,
        _context(cue),
        check_count("tokens", tokens, 0, _MOST_TOKENS),
        check_name("session", session),
        _check_others(memory, beside),
    )
    return _active(memory, query)


def _context(cue: Cue) -> Mapping[str, Any]:
    """The context of a cue, its text included."""
    context = cue.context()
    for name, value in context.items():
        check_text(f"cue.{name}", words(value))
    if cue.text is not None and check_text("cue.text", cue.text).strip():
        context["text"] = cue.text
    return _with_language(context)


def _with_language(context: dict[str, Any]) -> dict[str, Any]:
    """The context with the language that its file or, without a file, its text names, if it gives none."""
    if context.get("language"):
        return context
    files = context.get("file") or ()
    named = [language_of(file) for file in ([files] if isinstance(files, str) else files)]
    languages = [language for language in named if language] or languages_in(context.get("text", ""))
    return {**context, "language": languages} if languages else context


def _check_others(memory: Namespace, beside: Any) -> Mapping[str, Namespace]:
    """The other memories to read, checked."""
    if not isinstance(beside, Mapping):
        raise ParamError("beside", beside, "must be a mapping of name to open memory")
    for name, other in beside.items():
        check_name("beside", name)
        if not isinstance(other, Namespace) or other is memory:
            raise ParamError("beside", name, "must name another open memory, not this one")
    return dict(beside)


def _active(memory: Namespace, query: ActiveQuery) -> Recall:
    """Answer a checked query."""
    now = memory.now()
    # One lock at a time: two memories that read each other must not wait for each other.
    others = [_activate_other(other, name, query, now) for name, other in query.others.items()]
    with memory.lock:
        memory.require_exists()
        stores = [_activate(memory, None, query, now), *others]
        hits, losses = _hits(stores, now)
        packed = pack(
            format_rules(hits), query.tokens, tiers=memory.profiles[FLOOP.name].tiers, header=RULES_HEADER
        )
        recall_id, untraced = _store_trace(stores[0], query, hits)
    for other in others:
        if any(hit.origin == other.name for hit in hits):
            with other.memory.lock:
                untraced += _store_trace(other, query, hits, recall_id)[1]
    unpacked = tuple(Omitted(entry.key, entry.reason, entry.tokens) for entry in packed.omitted)
    return Recall(
        recall_id=recall_id,
        hits=tuple(hits),
        reason=None if hits else _no_result_reason(stores),
        degraded=tuple(dict.fromkeys(untraced)),
        text=packed.text,
        omitted=(*losses, *unpacked),
        profile=FLOOP.name,
    )


def _activate_other(memory: Namespace, name: str, query: ActiveQuery, now: datetime) -> StoreActivation:
    """The activation of another store, under its lock; a store without a namespace has no behaviours."""
    with memory.lock:
        return _activate(memory, name, query, now)


def _activate(memory: Namespace, name: str | None, query: ActiveQuery, now: datetime) -> StoreActivation:
    """Spread activation from the behaviours that the context confirms, in one state of the store."""
    with memory.store.transaction(write=False):
        working = memory.working(now)
        behaviors = working.alive.values & (working.kind.values == BEHAVIOR)
        fits, seeds, barred = _evaluate(working, behaviors, query.context)
        excluded = int(np.count_nonzero(behaviors & barred))
        losses = _seed_losses(memory, {working.ids[row]: row for row in sorted(seeds)}, now)
        for loser, _ in losses:
            row = working.row_of[loser]
            barred[row] = True
            del seeds[row]
        activation = spread(
            weighted_graph(working, memory.profiles[FLOOP.name], now),
            seeds,
            signed(memory.profiles[FLOOP.name].spread, working),
            gate=np.where(barred, 0.0, 1.0),
            record_flow=True,
        )
        eligible = behaviors & ~barred
        rows = np.array([row for row in activation.rows.tolist() if eligible[row]], np.int64)
        ids = {working.ids[row]: row for row in (*rows.tolist(), *seeds)}
        involved = [*ids, *(memory_id for pair in losses for memory_id in pair)]
        records = memory.store.records(memory.namespace, involved, now)
        traced = rows[: ACTIVE.most]
        trace = traces.stored_trace(
            working, memory.profiles[FLOOP.name], Ranked(traced, np.zeros(len(traced)), activation=activation)
        )
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
            int(np.count_nonzero(behaviors)),
            excluded,
            trace,
            traces.steps_of(memory, trace, [working.ids[row] for row in traced.tolist()]),
        )


def _evaluate(
    working: WorkingSet, behaviors: NDArray[np.bool_], context: Mapping[str, Any]
) -> tuple[dict[int, float], dict[int, float], NDArray[np.bool_]]:
    """The context score of each behaviour, the activation of the seeds, and the rows that the context contradicts."""
    barred = np.zeros(working.rows, np.bool_)
    rows, confirmed, totals = [], [], []
    evaluated: dict[str, list[str]] = {}  # many behaviours have the same conditions
    for row in np.flatnonzero(behaviors).tolist():
        when = working.predicates.get(int(working.document[row]), {}) if working.document[row] != NONE else {}
        if (text := repr(when)) not in evaluated:
            evaluated[text] = list(_findings(when, context).values())
        results = evaluated[text]
        if "contradicted" in results:
            barred[row] = True
        else:
            rows.append(row)
            confirmed.append(results.count("confirmed"))
            totals.append(len(results))
    fits = dict(zip(rows, np.atleast_1d(context_score(confirmed, totals)).tolist(), strict=True))
    starts = np.atleast_1d(partial_activation(confirmed, totals)).tolist()
    evaluations = zip(rows, starts, confirmed, totals, strict=True)
    return fits, {row: start for row, start, number, total in evaluations if number or not total}, barred


def _findings(when: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, str]:
    """The finding for each predicate. The text of a context may confirm a task, but never contradicts one."""
    results: dict[str, str] = dict(findings(when, context))
    if results.get("task") == "absent" and "text" in context:
        finding = findings({"task": when["task"]}, {"task": context["text"]})["task"]
        results["task"] = "confirmed" if finding == "confirmed" else "absent"
    return results


def _seed_losses(memory: Namespace, seeds: Mapping[str, int], now: datetime) -> list[MemoryPair]:
    """Of seeds that contradict each other, the weaker ones, each with the seed that it loses against.

    They are removed before activation spreads, so that a loser does not inhibit its winner.
    """
    pairs = _linked(memory, seeds, "conflicts")
    if not pairs:
        return []
    ids = sorted({memory_id for pair in pairs for memory_id in pair}, key=lambda memory_id: seeds[memory_id])
    records = memory.store.records(memory.namespace, ids, now)
    ids = [memory_id for memory_id in ids if memory_id in records]
    index = {memory_id: i for i, memory_id in enumerate(ids)}
    losses = resolve_conflicts(
        [rule_claim(records[memory_id]) for memory_id in ids],
        [],
        [(index[a], index[b]) for a, b in pairs if a in index and b in index],
    )
    return [(ids[i], ids[loss.by]) for i, loss in losses.items()]


def _linked(memory: Namespace, ids: Collection[str], relation: str) -> list[MemoryPair]:
    """The pairs among ``ids`` that a relation links."""
    links = memory.store.links(memory.namespace, ids, relation) if ids else []
    return [(link.source, link.target) for link in links if link.source in ids and link.target in ids]


def _hits(stores: Sequence[StoreActivation], now: datetime) -> tuple[list[Hit], list[Omitted]]:
    """The behaviours to return, best first, and those left out, with reasons."""
    candidates = _candidates(stores, now)
    duplicates = duplicates_across_stores(candidates)
    losses = resolve_candidates(
        [store.overrides for store in stores], [store.conflicts for store in stores], candidates, duplicates
    )
    reasons = {i: f"also in {candidates[by].hit.origin or 'this store'}" for i, by in duplicates.items()}
    for i, loss in losses.items():
        relation = "overridden by" if loss.how == "overridden" else "conflicts with"
        reasons[i] = f"{relation} {candidates[loss.by].hit.memory.key}"
    hits = [candidate.hit for i, candidate in enumerate(candidates) if i not in reasons]
    omitted = [_omit(candidates[i].hit, reason) for i, reason in sorted(reasons.items())]
    omitted += _omitted_before_scoring(stores, candidates)
    hits.sort(key=lambda hit: (-hit.score, -hit.components["activation"]))
    omitted += [_omit(hit, f"beyond the best {ACTIVE.most}") for hit in hits[ACTIVE.most :]]
    return hits[: ACTIVE.most], omitted


def _omitted_before_scoring(
    stores: Sequence[StoreActivation], candidates: Sequence[RuleCandidate]
) -> list[Omitted]:
    """The behaviours that the context confirms but that were left out before the scoring, with reasons."""
    scored = {(candidate.store, candidate.hit.memory.id) for candidate in candidates}
    omitted = []
    for i, store in enumerate(stores):
        by_id = {record.id: record for record in store.records.values()}
        for loser, winner in store.losses:
            hit = Hit(by_id[loser], 0.0, {}, origin=store.name)
            omitted.append(_omit(hit, f"conflicts with {by_id[winner].key}"))
        for row in store.seeds:
            record = store.records.get(row)
            if record is not None and (i, record.id) not in scored:
                hit = Hit(record, 0.0, {}, origin=store.name)
                omitted.append(_omit(hit, "too little activation was left"))
    return omitted


def _omit(hit: Hit, reason: str) -> Omitted:
    return Omitted(hit.memory.key, reason, estimate_tokens(rule_full(hit.memory, hit.origin)))


def _candidates(stores: Sequence[StoreActivation], now: datetime) -> list[RuleCandidate]:
    """The behaviours of all stores that stay active, scored; in the order of the stores, the oldest first."""
    positions = np.concatenate([np.full(len(store.activation.rows), i) for i, store in enumerate(stores)])
    rows = np.concatenate([store.activation.rows for store in stores])
    floop = stores[0].memory.profiles[FLOOP.name]
    values, stays = final_activation(floop, _joint([store.activation for store in stores]))
    selected = [
        (i, stores[positions[i]], int(rows[i]))
        for i in np.lexsort((rows, positions)).tolist()
        if stays[i] and int(rows[i]) in stores[positions[i]].records
    ]
    records = [store.records[row] for _, store, row in selected]
    fits = np.array([store.fits[row] for _, store, row in selected])
    scored = cue_relevance(records, values[[i for i, _, _ in selected]], fits, now, floop)
    columns = {name: np.atleast_1d(np.asarray(column)) for name, column in scored.components.items()}
    totals = np.round(np.atleast_1d(np.asarray(scored.total)), _DECIMALS)
    candidates = []
    for n, (i, store, _) in enumerate(selected):
        components = {name: float(column[n]) for name, column in columns.items()}
        path = store.paths.get(records[n].id, ())
        hit = Hit(
            records[n],
            float(totals[n]),
            MappingProxyType({**components, "activation": float(values[i])}),
            path,
            len(path),
            store.name,
        )
        candidates.append(RuleCandidate(int(positions[i]), hit))
    return candidates


def _joint(activations: Sequence[Activation]) -> Activation:
    """The activations of several stores as a single one, so that all behaviours compete."""
    values: Floats = np.concatenate([activation.values for activation in activations])
    zeros = np.zeros(len(values), np.int64)
    return Activation(np.arange(len(values)), values, zeros, zeros)


def _no_result_reason(stores: Sequence[StoreActivation]) -> str:
    behaviors, excluded = (
        sum(getattr(store, name) for store in stores) for name in ("behaviors", "excluded")
    )
    if not behaviors:
        return "there is no active behaviour: learn one, or restore one"
    if excluded == behaviors:
        return f"no behaviour applies: the context contradicts all {behaviors:,}"
    contradicted = f"contradicts {excluded:,} of {behaviors:,}"
    return f"no behaviour applies: the context {contradicted} and confirms none of the others"


def _store_trace(
    store: StoreActivation, query: ActiveQuery, hits: Sequence[Hit], recall_id: str | None = None
) -> tuple[str, list[str]]:
    """Store the trace of a store's hits in that store, where verdicts on them look for it."""
    values = [words(value) for name, value in query.context.items() if name != "text"]
    return traces.store_trace(
        store.memory,
        text=query.context.get("text", " ".join(values)),
        cue=query.cue,
        profile=FLOOP.name,
        session=query.session,
        hits=[(hit.memory.id, hit.score) for hit in hits if hit.origin == store.name],
        flow=store.trace,
        recall_id=recall_id,
    )
