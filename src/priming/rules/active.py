"""active: context → seeds → spread → inhibit → score → resolve → pack → trace. A read: no weight moves.

Several stores are read together: activation spreads in each on its own, and from there on all compete.
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
from priming.recall.designs import cue_relevance, settled_activation
from priming.recall.formatting import RULES_HEADER, format_rules, rule_full
from priming.recall.ranking import Ranked, weighed
from priming.remember.drafts import words
from priming.results import Hit, Omitted, Recall, Step
from priming.rules.conflicts import (
    RuleCandidate,
    near_duplicates_of,
    resolve_candidates,
    resolve_conflicts,
    rule_claim,
)
from priming.types import EMPTY, Cue, MemoryRecord

BEHAVIOR = KINDS.index("behavior")
_MOST_TOKENS = 10_000_000
_EXACT = 12  # decimals of a score that the order in which links are summed does not touch


@dataclass(frozen=True, slots=True)
class ActiveQuery:
    """The checked arguments of ``active``; ``context`` is what the predicates of behaviours are compared with."""

    cue: Cue
    context: Mapping[str, Any]
    tokens: int
    session: str | None
    beside: Mapping[str, Namespace]


@dataclass(frozen=True, slots=True)
class Activated:
    """What one store brings: where activation came to rest, and which behaviours are there.

    ``records`` are behaviours by row, ``fits`` their context scores; ``overrides`` and ``conflicts`` are pairs of
    ids, ``lost`` pairs too: who gave way before activation spread, and to whom. ``known`` and ``excluded`` count
    behaviours, ``kept`` is for the trace.
    """

    memory: Namespace
    name: str | None
    activation: Activation
    records: Mapping[int, MemoryRecord]
    fits: Mapping[int, float]
    overrides: Sequence[tuple[str, str]]
    conflicts: Sequence[tuple[str, str]]
    lost: Sequence[tuple[str, str]]
    seeds: Mapping[int, float]
    known: int
    excluded: int
    kept: traces.StoredTrace
    paths: Mapping[str, tuple[Step, ...]]


def active(
    memory: Namespace,
    cue: Cue,
    *,
    tokens: int = ACTIVE.tokens,
    session: str | None = None,
    beside: Mapping[str, Namespace] = EMPTY,
) -> Recall:
    """Bring up the behaviours that apply in a context, those that others override or contradict left out.

    Args:
        cue: the context; its text confirms ``text`` and ``task`` predicates.
        tokens: budget of ``Recall.text``, never exceeded.
        session: the session that the recall is kept under.
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
        _others(memory, beside),
    )
    return _active(memory, query)


def _context(cue: Cue) -> Mapping[str, Any]:
    """The context of a cue, and its text."""
    context = cue.context()
    for name, value in context.items():
        check_text(f"cue.{name}", words(value))
    if cue.text is not None and check_text("cue.text", cue.text).strip():
        context["text"] = cue.text
    return context


def _others(memory: Namespace, beside: Any) -> Mapping[str, Namespace]:
    """The open memories to read beside one."""
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
    # One lock at a time: two memories that are read beside each other must not wait for each other.
    others = [_of_another(other, name, query, now) for name, other in query.beside.items()]
    with memory.lock:
        memory.require_exists()
        activated = [_activated(memory, None, query, now), *others]
        hits, losses = _hits(activated, now)
        packed = pack(format_rules(hits), query.tokens, tiers=FLOOP.tiers, header=RULES_HEADER)
        recall_id, untraced = _keep(activated[0], query, hits)
    for other in others:
        if any(hit.origin == other.name for hit in hits):
            with other.memory.lock:
                untraced += _keep(other, query, hits, recall_id)[1]
    left_out = tuple(Omitted(entry.key, entry.reason, entry.tokens) for entry in packed.omitted)
    return Recall(
        recall_id=recall_id,
        hits=tuple(hits),
        reason=None if hits else _no_result_reason(activated),
        degraded=tuple(dict.fromkeys(untraced)),
        text=packed.text,
        omitted=(*losses, *left_out),
        profile=FLOOP.name,
    )


def _of_another(memory: Namespace, name: str, query: ActiveQuery, now: datetime) -> Activated:
    """What another store brings; one that was never written to brings nothing."""
    with memory.lock:
        return _activated(memory, name, query, now)


def _activated(memory: Namespace, name: str | None, query: ActiveQuery, now: datetime) -> Activated:
    """Spread from the behaviours that the context confirms, in one state of the store."""
    with memory.store.transaction(write=False):
        working = memory.working(now)
        behaviors = working.alive.values & (working.kind.values == BEHAVIOR)
        fits, seeds, barred = _evaluated(working, behaviors, query.context)
        excluded = int(np.count_nonzero(behaviors & barred))
        lost = _gave_way(memory, {working.ids[row]: row for row in sorted(seeds)}, now)
        for memory_id, _ in lost:
            row = working.row_of[memory_id]
            barred[row] = True
            del seeds[row]
        activation = spread(
            weighed(working, FLOOP, now),
            seeds,
            FLOOP.spread,
            gate=np.where(barred, 0.0, 1.0),
            record_flow=True,
        )
        may = behaviors & ~barred
        rows = np.array([row for row in activation.rows.tolist() if may[row]], np.int64)
        ids = {working.ids[row]: row for row in (*rows.tolist(), *seeds)}
        found = memory.store.records(memory.namespace, [*ids, *(one for pair in lost for one in pair)], now)
        shown = rows[: ACTIVE.most]
        kept = traces.stored_trace(working, FLOOP, Ranked(shown, np.zeros(len(shown)), activation=activation))
        return Activated(
            memory,
            name,
            activation,
            {working.row_of[one]: record for one, record in found.items()},
            fits,
            _linked(memory, ids, "overrides"),
            _linked(memory, ids, "conflicts"),
            [(loser, winner) for loser, winner in lost if loser in found and winner in found],
            seeds,
            int(np.count_nonzero(behaviors)),
            excluded,
            kept,
            traces.steps_of(memory, kept, [working.ids[row] for row in shown.tolist()]),
        )


def _evaluated(
    working: WorkingSet, behaviors: NDArray[np.bool_], context: Mapping[str, Any]
) -> tuple[dict[int, float], dict[int, float], NDArray[np.bool_]]:
    """How well each behaviour fits the context, which are seeds, and which the context contradicts."""
    barred = np.zeros(working.rows, np.bool_)
    rows, confirmed, asked = [], [], []
    told: dict[str, list[str]] = {}  # many behaviours have the same conditions
    for row in np.flatnonzero(behaviors).tolist():
        when = working.predicates.get(int(working.document[row]), {}) if working.document[row] != NONE else {}
        if (text := repr(when)) not in told:
            told[text] = list(_findings(when, context).values())
        found = told[text]
        if "contradicted" in found:
            barred[row] = True
        else:
            rows.append(row)
            confirmed.append(found.count("confirmed"))
            asked.append(len(found))
    fits = dict(zip(rows, np.atleast_1d(context_score(confirmed, asked)).tolist(), strict=True))
    starts = np.atleast_1d(partial_activation(confirmed, asked)).tolist()
    chosen = zip(rows, starts, confirmed, asked, strict=True)
    return fits, {row: start for row, start, held, wanted in chosen if held or not wanted}, barred


def _findings(when: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, str]:
    """What a context says of each predicate. Its text may also confirm a task, but never contradicts one."""
    found: dict[str, str] = dict(findings(when, context))
    if found.get("task") == "absent" and "text" in context:
        told = findings({"task": when["task"]}, {"task": context["text"]})["task"]
        found["task"] = "confirmed" if told == "confirmed" else "absent"
    return found


def _gave_way(memory: Namespace, seeds: Mapping[str, int], now: datetime) -> list[tuple[str, str]]:
    """Of seeds that contradict each other the weaker ones, each with the one it gives way to.

    They go before activation spreads: who loses should not hold down who wins.
    """
    pairs = _linked(memory, seeds, "conflicts")
    if not pairs:
        return []
    rivals = sorted({one for pair in pairs for one in pair}, key=lambda one: seeds[one])
    records = memory.store.records(memory.namespace, rivals, now)
    rivals = [one for one in rivals if one in records]
    at = {one: i for i, one in enumerate(rivals)}
    fallen = resolve_conflicts(
        [rule_claim(records[one]) for one in rivals],
        [],
        [(at[a], at[b]) for a, b in pairs if a in at and b in at],
    )
    return [(rivals[i], rivals[loss.by]) for i, loss in fallen.items()]


def _linked(memory: Namespace, ids: Collection[str], relation: str) -> list[tuple[str, str]]:
    """The pairs among some memories that a relation links."""
    links = memory.store.links(memory.namespace, ids, relation) if ids else []
    return [(one.source, one.target) for one in links if one.source in ids and one.target in ids]


def _hits(activated: Sequence[Activated], now: datetime) -> tuple[list[Hit], list[Omitted]]:
    """The behaviours that stand, best first, and those that do not, with reasons."""
    candidates = _candidates(activated, now)
    twins = near_duplicates_of(candidates)
    overriding, contradicting = (
        [getattr(one, name) for one in activated] for name in ("overrides", "conflicts")
    )
    fallen = resolve_candidates(overriding, contradicting, candidates, twins)
    reasons = {i: f"also in {candidates[by].hit.origin or 'this store'}" for i, by in twins.items()}
    for i, loss in fallen.items():
        how = "overridden by" if loss.how == "overridden" else "conflicts with"
        reasons[i] = f"{how} {candidates[loss.by].hit.memory.key}"
    standing = [one.hit for i, one in enumerate(candidates) if i not in reasons]
    losses = [_left_out(candidates[i].hit, reason) for i, reason in sorted(reasons.items())]
    losses += _quiet(activated, candidates)
    standing.sort(key=lambda hit: (-hit.score, -hit.components["activation"]))
    losses += [_left_out(hit, f"beyond the best {ACTIVE.most}") for hit in standing[ACTIVE.most :]]
    return standing[: ACTIVE.most], losses


def _quiet(activated: Sequence[Activated], candidates: Sequence[RuleCandidate]) -> list[Omitted]:
    """Behaviours that the context brings up and that fell before they were scored, with reasons."""
    there = {(one.store, one.hit.memory.id) for one in candidates}
    found = []
    for i, one in enumerate(activated):
        by_id = {record.id: record for record in one.records.values()}
        for loser, winner in one.lost:
            found.append(
                _left_out(Hit(by_id[loser], 0.0, {}, origin=one.name), f"conflicts with {by_id[winner].key}")
            )
        for row in one.seeds:
            record = one.records.get(row)
            if record is not None and (i, record.id) not in there:
                found.append(
                    _left_out(Hit(record, 0.0, {}, origin=one.name), "too little activation was left")
                )
    return found


def _left_out(hit: Hit, reason: str) -> Omitted:
    return Omitted(hit.memory.key, reason, estimate_tokens(rule_full(hit.memory, hit.origin)))


def _candidates(activated: Sequence[Activated], now: datetime) -> list[RuleCandidate]:
    """What stays active of all stores together, scored; in the order of the stores, the oldest first."""
    at = np.concatenate([np.full(len(one.activation.rows), i) for i, one in enumerate(activated)])
    rows = np.concatenate([one.activation.rows for one in activated])
    values, stays = settled_activation(FLOOP, _joint([one.activation for one in activated]))
    chosen = [
        i for i in np.lexsort((rows, at)).tolist() if stays[i] and int(rows[i]) in activated[at[i]].records
    ]
    records = [activated[at[i]].records[int(rows[i])] for i in chosen]
    fit = np.array([activated[at[i]].fits[int(rows[i])] for i in chosen])
    scored = cue_relevance(records, values[chosen], fit, now)
    columns = {name: np.atleast_1d(np.asarray(one)) for name, one in scored.components.items()}
    totals = np.round(np.atleast_1d(np.asarray(scored.total)), _EXACT)
    found = []
    for n, i in enumerate(chosen):
        components = {name: float(column[n]) for name, column in columns.items()}
        path = activated[at[i]].paths.get(records[n].id, ())
        hit = Hit(
            records[n],
            float(totals[n]),
            MappingProxyType({**components, "activation": float(values[i])}),
            path,
            len(path),
            activated[at[i]].name,
        )
        found.append(RuleCandidate(int(at[i]), hit))
    return found


def _joint(parts: Sequence[Activation]) -> Activation:
    """The activations of several stores as one, so that all compete with all."""
    values: Floats = np.concatenate([one.values for one in parts])
    nothing = np.zeros(len(values), np.int64)
    return Activation(np.arange(len(values)), values, nothing, nothing)


def _no_result_reason(activated: Sequence[Activated]) -> str:
    """Why nothing is active."""
    known, excluded = (sum(getattr(one, name) for one in activated) for name in ("known", "excluded"))
    if not known:
        return "there is no active behaviour: learn one, or restore one"
    if excluded == known:
        return f"no behaviour applies: the context contradicts all {known:,}"
    return f"no behaviour applies: the context contradicts {excluded:,} of {known:,} and confirms none of the others"


def _keep(
    one: Activated, query: ActiveQuery, hits: Sequence[Hit], recall_id: str | None = None
) -> tuple[str, list[str]]:
    """Keep what came up of one store, in that store, so that verdicts on it find their way."""
    said = [words(value) for name, value in query.context.items() if name != "text"]
    return traces.store_trace(
        one.memory,
        text=query.context.get("text", " ".join(said)),
        cue=query.cue,
        profile=FLOOP.name,
        session=query.session,
        hits=[(hit.memory.id, hit.score) for hit in hits if hit.origin == one.name],
        flow=one.kept,
        recall_id=recall_id,
    )
