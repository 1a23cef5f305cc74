"""The designs of ranking, from anchors to ranked rows: one function for each profile's ``score``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import SquashParams
from priming.config.profiles import Profile
from priming.config.words import KINDS
from priming.core import score
from priming.core.arguments.arrays import Floats, Ints, best_rows, distinct
from priming.core.base_level import (
    associative_strength,
    recency_frequency,
    total_activation,
)
from priming.core.forgetting import power_retrievability, recency_exponential, recency_half_life
from priming.core.kernel.flow import foremost, strongest_links
from priming.core.lexical import scaled
from priming.core.spread import Activation, inhibit, spread, squash
from priming.index.columns import NONE
from priming.index.document import success_estimate
from priming.recall.ranking import Ranked, RankingQuery, best_hits, rank_by_probability
from priming.recall.relevance import counts_of, cue_relevance, fits_of
from priming.types import MemoryRecord, days_between

EPISODE = KINDS.index("episode")
_HOURS = 24.0
"""Hours in a day."""
_ABOVE = 2.0
"""Added to a cosine, it makes even the opposite of the cue a positive number."""


def rank(query: RankingQuery) -> Ranked:
    """Rank by the profile's own design."""
    return _DESIGNS[query.profile.score](query)


def _best(query: RankingQuery, values: Floats, count: int) -> Ints:
    """Return the documents of the largest positive values; of equal values the older memory comes first."""
    return best_rows(values, count, query.working.row.values)


def _anchors(query: RankingQuery) -> dict[int, float]:
    """Return the best episodes and the best of the other kinds, each with its evidence as activation."""
    chosen = query.profile.anchors
    assert chosen is not None, "a profile other than ``priming`` names its anchors"
    values = query.evidence.cosine
    if chosen.evidence == "fused":
        values = np.maximum(values, 0.5 * (values + np.asarray(scaled(query.evidence.literal))))
        for document, activation in query.evidence.context.items():
            values[document] = max(values[document], activation)
    values = np.where(query.pool, values, 0.0)
    episodes = query.working.kind[query.working.row.values] == EPISODE
    fewest = query.limit if chosen.widen else 1
    # Zero of a kind means none of it, however many hits are wanted.
    most = [count and max(count, fewest) for count in (chosen.episodes, chosen.facts)]
    chosen_documents = np.concatenate(
        [
            _best(query, np.where(episodes, values, 0.0), most[0]),
            _best(query, np.where(episodes, 0.0, values), most[1]),
        ]
    )
    rows = query.working.row[chosen_documents]
    return dict(zip(rows.tolist(), values[chosen_documents].tolist(), strict=True))


def _spread(query: RankingQuery, anchors: dict[int, float]) -> tuple[Activation, Ints, bool]:
    """Return the activation, the number of links into each active row, and whether any link leaves one."""
    graph = query.graph()
    steps = query.spread_params()
    if not query.spreading or "spread" in query.ablate:
        steps = replace(steps, steps=0)
    activation = spread(graph, anchors, steps)
    active = np.sort(activation.rows)
    edges = graph.edges(active, both=steps.max_links is not None)
    if steps.max_links is not None:
        edges = edges.only(strongest_links(edges, active, steps.max_links) & edges.forward)
    if steps.max_neighbours is not None:
        edges = edges.only(foremost(edges, edges.weight, steps.max_neighbours))
    # Of the links that suppress, only the built-in ones are structure that counts.
    opposing = set(steps.suppressing).difference(query.profile.spread.suppressing)
    counted = np.array([name not in opposing for name in graph.relations], np.bool_)
    walked = edges.weight > 0
    into = edges.neighbour[walked & counted[edges.relation]]
    rows, inverse = np.unique(np.concatenate([activation.rows, into]), return_inverse=True)
    counts = np.bincount(inverse[len(activation.rows) :], minlength=len(rows))
    return activation, counts[np.searchsorted(rows, activation.rows)], bool(walked.any())


def final_activation(profile: Profile, activation: Activation) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the activation after the profile's inhibition, cut and squash, and the rows that pass the cut."""
    values = activation.values
    if profile.inhibit is not None:
        i = profile.inhibit
        values = np.asarray(inhibit(values, beta=i.beta, winners=i.winners, pool=i.pool))
    passing = values >= profile.spread.epsilon if profile.cut else np.ones(len(values), np.bool_)
    if profile.squash is not None:
        values = np.asarray(squash(values, gain=profile.squash.gain, centre=profile.squash.centre))
    return values, passing


def _ethos(query: RankingQuery) -> Ranked:
    """Spread from anchors by cosine, then rank by cosine, activation and in-degree; by cosine if nothing spreads."""
    steps = query.profile.spread
    if not query.spreading or not steps.gain or not steps.steps or "spread" in query.ablate:
        return _nearest(query)
    activation, in_degree, any_links = _spread(query, _anchors(query))
    if not any_links:
        return _nearest(query)
    rows = activation.rows
    near, blend = _cosines(query, rows), query.profile.scoring.ethos
    scored = score.ethos(near, activation.values, in_degree, int(in_degree.max()), weights=blend)
    return best_hits(query, rows, np.asarray(scored.total), _arrays(scored), activation)


def _nearest(query: RankingQuery) -> Ranked:
    """Return as many memories as the limit, nearest by cosine first, as a table of vectors does: without a floor."""
    may_answer = query.pool & query.eligible[query.working.row.values]
    cosine = query.evidence.signed_cosine
    best = _best(query, np.where(may_answer, cosine + _ABOVE, 0.0), query.limit)
    return best_hits(query, query.working.row[best], cosine[best], {"cosine": cosine[best]})


def _cosines(query: RankingQuery, rows: Ints) -> Floats:
    """Return the cosine of each row, 0 for rows without a text."""
    documents, cosine = query.working.document.values[rows], query.evidence.cosine
    if not len(cosine):
        return np.zeros(len(rows))
    return np.where(documents == NONE, 0.0, cosine[np.maximum(documents, 0)])


def _synapse(query: RankingQuery) -> Ranked:
    activation, in_degree, _ = _spread(query, _anchors(query))
    values, passing = final_activation(query.profile, activation)
    rows = activation.rows[passing]
    centrality = in_degree[passing] / max(int(in_degree.max(initial=0)), 1)
    scored = score.synapse(
        _cosines(query, rows),
        values[passing],
        centrality,
        weights=query.profile.scoring.synapse,
    )
    return best_hits(query, rows, np.asarray(scored.total), _arrays(scored), activation)


def _poc(query: RankingQuery) -> Ranked:
    activation, _, _ = _spread(query, _anchors(query))
    records = query.records(activation.rows)
    weight = np.array([records[row].weight if row in records else 0.0 for row in activation.rows.tolist()])
    scored = score.poc(activation.values, weight)
    return best_hits(query, activation.rows, np.asarray(scored.total), _arrays(scored), activation)


def _floop(query: RankingQuery) -> Ranked:
    """Return the relevance of active memories, rules by the share of conditions that hold, as ``active`` has it.

    What is no rule and has no condition is as relevant as it is active.
    """
    activation, _, _ = _spread(query, _anchors(query))
    values, passing = final_activation(query.profile, activation)
    rows, values = activation.rows[passing], values[passing]
    by_row = query.records(rows)
    present = np.array([row in by_row for row in rows.tolist()], np.bool_)
    rows, values = rows[present], values[present]
    records = [by_row[row] for row in rows.tolist()]
    fits = fits_of((record.when for record in records), query.context)
    shares = [
        fit.share if fit and (fit.total or record.kind == "behavior") else np.nan
        for fit, record in zip(fits, records, strict=True)
    ]
    holding = np.array([len(fit.confirmed) if fit else 0 for fit in fits], np.float64)
    active = query.activations(records)
    scored = cue_relevance(records, values, np.array(shares, np.float64), active, query.now, query.profile)
    components = {**_arrays(scored), "activation": values}
    return best_hits(query, rows, np.asarray(scored.total), components, activation, (values, holding))


def _arc(query: RankingQuery) -> Ranked:
    rows, records = _pool(query)
    recency = recency_half_life(_ages(query.now, records), query.profile.forgetting_params.half_life)
    helped = score.effectiveness(counts_of(records, "helped"), counts_of(records, "failed"))
    scored = score.arc(_cosines(query, rows), helped, recency, weights=query.profile.scoring.arc)
    return best_hits(query, rows, np.asarray(scored.total), _arrays(scored))


def _world_weaver(query: RankingQuery) -> Ranked:
    """Return each kind of memory by its own score: episodes, procedures, and all other kinds as facts."""
    rows, records = _pool(query)
    semantic = _cosines(query, rows)
    days, rate = _ages(query.now, records), query.profile.forgetting_params.recency_rate
    recency = np.asarray(recency_exponential(_event_ages(query.now, records), rate))
    facts = _fact_scores(query, rows, records, semantic, days)
    totals, parts, blends = np.zeros(len(rows)), [], query.profile.scoring
    for i, record in enumerate(records):
        if record.kind == "episode":
            outcome = score.outcome_value(record.outcome or "neutral", blends.outcomes)
            values = semantic[i], recency[i], outcome, record.importance
            scored = score.episode(*values, weights=blends.episode)
        elif record.kind == "procedure":
            scored = score.procedure(
                semantic[i], success_estimate(record), recency[i], weights=blends.procedure
            )
        else:
            scored = facts[i]
        totals[i] = float(scored.total)
        parts.append(scored.components)
    names = dict.fromkeys(name for part in parts for name in part)
    components = {name: np.array([float(part.get(name, np.nan)) for part in parts]) for name in names}
    return best_hits(query, rows, totals, components)


def _fact_scores(
    query: RankingQuery, rows: Ints, records: list[MemoryRecord], semantic: Floats, days: Floats
) -> list[score.Score]:
    law, fading = query.profile.base_level_params, query.profile.forgetting_params
    curve, blend = query.profile.squash or SquashParams(gain=1.0, centre=0.0), query.profile.scoring.fact
    base = np.asarray(recency_frequency(counts_of(records, "uses"), days * _HOURS, law.d))
    strengths = _association(query, rows)
    count = max(strengths.shape[1], 1)
    seed = hashlib.blake2b(f"{query.evidence.text}\0{query.now.isoformat()}".encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    total = total_activation(base, np.full(count, 1.0 / count), strengths, sigma=law.noise, rng=rng)
    active = np.asarray(score.fact_activation(np.asarray(total), curve.gain, curve.centre))
    endurance = np.array([record.retention.endurance for record in records])
    retained = np.asarray(power_retrievability(days, endurance, fading.factor, fading.exponent))
    return [score.fact(semantic[i], active[i], retained[i], weights=blend) for i in range(len(rows))]


def _association(query: RankingQuery, rows: Ints) -> Floats:
    """Return S: the associative strength from each entity that the cue names to each row; shape (rows, entities).

    The fan of an entity is the number of its associations, whichever way they are stored.
    """
    entities = np.array(query.named(), np.int64)
    if not len(entities):
        return np.zeros((len(rows), 1))
    graph = query.graph()
    edges = graph.edges(entities, both=True)
    carrying = np.array([not query.working.signs.suppresses(name) for name in graph.relations], np.bool_)
    positive = (edges.weight > 0) & carrying[edges.relation]
    associated = distinct(edges.owner[positive] * graph.n + edges.neighbour[positive])
    fan = np.bincount(associated // graph.n, minlength=len(entities))
    weights = np.zeros((len(rows), len(entities)))
    place = {row: i for i, row in enumerate(rows.tolist())}
    links = (edges.owner[positive], edges.neighbour[positive], edges.weight[positive])
    for owner, neighbour, weight in zip(*links, strict=True):
        i = place.get(int(neighbour))
        if i is not None:
            weights[i, owner] = max(weights[i, owner], weight)
    linked, s_base = weights > 0, query.profile.base_level_params.s_base
    return np.where(linked, np.asarray(associative_strength(weights, fan, s_base)), 0.0)


def _pool(query: RankingQuery) -> tuple[Ints, list[MemoryRecord]]:
    """Return the memories nearest in meaning, from which a design without spreading chooses."""
    pool = query.profile.anchors.pool if query.profile.anchors else query.limit
    documents = _best(query, np.where(query.pool, query.evidence.cosine, 0.0), max(pool, query.limit))
    by_row = query.records(query.working.row[documents])
    rows = np.array([row for row in query.working.row[documents].tolist() if row in by_row], np.int64)
    return rows, [by_row[row] for row in rows.tolist()]


def _ages(now: datetime, records: list[MemoryRecord]) -> Floats:
    """Return the days since each memory was last used, or recorded; never negative."""
    since = [record.use.last_used_at or record.recorded_at or now for record in records]
    return np.array([days_between(at, now) for at in since])


def _event_ages(now: datetime, records: list[MemoryRecord]) -> Floats:
    """Return days since each episode happened, and each other memory was last used, happened or was recorded."""
    since = [
        (None if record.kind == "episode" else record.use.last_used_at)
        or record.occurred_at
        or record.recorded_at
        or now
        for record in records
    ]
    return np.array([days_between(at, now) for at in since])


def _arrays(scored: score.Score) -> dict[str, Floats]:
    return {name: np.atleast_1d(np.asarray(values)) for name, values in scored.components.items()}


_DESIGNS: dict[str, Callable[[RankingQuery], Ranked]] = {
    "priming": rank_by_probability,
    "floop": _floop,
    "synapse": _synapse,
    "ethos": _ethos,
    "poc": _poc,
    "arc": _arc,
    "world-weaver": _world_weaver,
}
