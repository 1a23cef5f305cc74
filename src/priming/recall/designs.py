"""From anchors to ranked rows: one function a design, over the one kernel and the one set of evidence."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import SUPPRESSING
from priming.config.profiles import Profile
from priming.config.words import KINDS
from priming.core import score
from priming.core.arguments.arrays import Floats, Ints
from priming.core.base_level import (
    associative_strength,
    base_level_score,
    optimized,
    recency_frequency,
    total_activation,
)
from priming.core.forgetting import power_retrievability, recency_exponential, recency_half_life
from priming.core.inhibit import inhibit, squash
from priming.core.kernel.flow import foremost
from priming.core.lexical import scaled
from priming.core.spread import Activation, spread
from priming.index.columns import NONE
from priming.learning.retention import days_between, executions
from priming.recall.diversify import diversify
from priming.recall.formatting import rule_kind
from priming.recall.fusion import best_rows, blend_anchors, route_score, softmax_anchors
from priming.recall.multi_hop import multi_hop
from priming.recall.ranking import EXACT, Ranked, RankingQuery, ordered
from priming.text.tokens import terms
from priming.types import MemoryRecord

EPISODE = KINDS.index("episode")
_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w*|\b\d{3,4}\b")
_HOURS = 24.0
"""Hours in a day."""


def rank(query: RankingQuery) -> Ranked:
    """Rank by the profile's own design."""
    return _DESIGNS[query.profile.score](query)


def _priming(query: RankingQuery) -> Ranked:
    """RECALL.md, per cue 4–9."""
    p, evidence = query.profile.recall, query.evidence
    anchors = _covering_anchors(query)
    activation, graph = None, None
    rows, x = anchors
    if query.spreading and "spread" not in query.ablate and len(rows):
        graph = query.graph()
        activation = spread(graph, anchors, query.profile.spread, record_flow=True)
        rows, x = activation.rows, activation.values
    prior = np.zeros(len(rows)) if "prior" in query.ablate else query.working.at(evidence.prior, rows)
    scores = route_score(x, prior, p.temperature, p.log_floor)
    parts = {"activation": x}
    if graph is not None and p.bridge and "bridge" not in query.ablate:
        parts["bridge"] = multi_hop(query, graph, rows, scores)
        scores = scores + p.bridge * parts["bridge"]
    more = replace(query, limit=max(query.limit, p.anchors) + p.anchors)
    ranked = _yielding(query, ordered(more, rows, scores, parts, activation))
    return replace(ranked, components={**ranked.components, **_shown(query, ranked.rows)})


def _shown(query: RankingQuery, rows: Ints) -> dict[str, Floats]:
    """What spoke for each row, in [0, 1]; nothing for those without a text."""
    documents = query.working.document[rows]
    told, at = documents != NONE, np.maximum(documents, 0)
    parts = {**query.evidence.matches, **query.evidence.priors}
    return {name: np.minimum(1.0, np.where(told, values[at], 0.0)) for name, values in parts.items()}


def _yielding(query: RankingQuery, ranked: Ranked) -> Ranked:
    """What only repeats better hits gives way (RECALL.md, per cue 9)."""
    order, scores, parts = diversify(
        query.evidence, query.working.document[ranked.rows], ranked.scores, query.limit
    )
    best = order[: query.limit]
    components = {name: values[best] for name, values in {**ranked.components, **parts}.items()}
    return Ranked(ranked.rows[best], np.round(scores[best], EXACT), components, ranked.activation)


def _covering_anchors(query: RankingQuery) -> tuple[Ints, Floats]:
    """The best memories, and those that cover the names which the very best leaves open."""
    p, evidence = query.profile.recall, query.evidence
    count = p.anchors if query.limit <= p.anchors else max(p.anchors_many, query.limit)
    first = _softmax(query, np.where(query.pool, evidence.h, 0.0), count)
    if len(first[0]) and "coverage" not in query.ablate:
        names = {term for word in _CAPITALISED.findall(evidence.text) for term in terms(word)}
        reach, share = evidence.lacking(int(first[0][0]), names)
        reach = np.where(query.pool, reach, 0.0)
        if share and reach.any():
            second = _softmax(query, np.asarray(scaled(reach)), count)
            first = blend_anchors(first, second, share)
    return query.working.row[first[0]], first[1]


def _softmax(query: RankingQuery, values: Floats, count: int) -> tuple[Ints, Floats]:
    """The best documents as anchors; of equals the older memories."""
    order, temperature = query.working.order, query.profile.recall.temperature
    if order is None:
        return softmax_anchors(values, count, temperature)
    found, activation = softmax_anchors(values[order], count, temperature)
    return order[found], activation


def _best(query: RankingQuery, values: Floats, count: int) -> Ints:
    """The documents of the largest positive values; of equals the older memories."""
    order = query.working.order
    return best_rows(values, count) if order is None else order[best_rows(values[order], count)]


def _anchors(query: RankingQuery) -> dict[int, float]:
    """The best episodes and the best of the other kinds, each with its evidence as activation."""
    chosen = query.profile.anchors
    assert chosen is not None, "a profile without RECALL.md's anchors names its own"
    values = query.evidence.cosine
    if chosen.evidence == "fused":
        values = np.maximum(values, 0.5 * (values + np.asarray(scaled(query.evidence.literal))))
        values = np.maximum(values, _context(query))
    values = np.where(query.pool, values, 0.0)
    episodes = query.working.kind[query.working.row.values] == EPISODE
    fewest = query.limit if chosen.widen else 0
    chosen_documents = np.concatenate(
        [
            _best(query, np.where(episodes, values, 0.0), max(chosen.episodes, fewest)),
            _best(query, np.where(episodes, 0.0, values), max(chosen.facts, fewest)),
        ]
    )
    rows = query.working.row[chosen_documents]
    return dict(zip(rows.tolist(), values[chosen_documents].tolist(), strict=True))


def _context(query: RankingQuery) -> Floats:
    values = np.zeros(query.working.documents)
    for document, activation in query.evidence.context.items():
        values[document] = activation
    return values


def _spread(query: RankingQuery, anchors: dict[int, float]) -> tuple[Activation, Ints]:
    """Activation, and how many of the links around it lead into each of its rows."""
    graph = query.graph()
    steps = query.profile.spread
    if not query.spreading or "spread" in query.ablate:
        steps = replace(steps, steps=0)
    activation = spread(graph, anchors, steps, record_flow=True)
    edges = graph.edges(np.sort(activation.rows), both=False)
    if steps.max_neighbours is not None:
        edges = edges.only(foremost(edges, edges.weight, steps.max_neighbours))
    into = edges.neighbour[edges.weight > 0]
    rows, inverse = np.unique(np.concatenate([activation.rows, into]), return_inverse=True)
    counts = np.bincount(inverse[len(activation.rows) :], minlength=len(rows))
    return activation, counts[np.searchsorted(rows, activation.rows)]


def settled_activation(profile: Profile, activation: Activation) -> tuple[Floats, NDArray[np.bool_]]:
    """Inhibit → cut → squash, as far as the profile has these steps; and which rows the cut left."""
    values = activation.values
    if profile.inhibit is not None:
        i = profile.inhibit
        values = np.asarray(inhibit(values, beta=i.beta, winners=i.winners, pool=i.pool))
    kept = values >= profile.spread.epsilon if profile.cut else np.ones(len(values), np.bool_)
    if profile.squash is not None:
        values = np.asarray(squash(values, gain=profile.squash.gain, centre=profile.squash.centre))
    return values, kept


def _ethos(query: RankingQuery) -> Ranked:
    """Anchors by cosine, spread, then cosine, activation and in-degree; plain cosine where nothing spreads."""
    cosine = np.where(query.pool, query.evidence.cosine, 0.0)
    steps = query.profile.spread
    if not query.spreading or not steps.gain or not steps.steps or "spread" in query.ablate:
        return _plain(query, cosine)
    activation, in_degree = _spread(query, _anchors(query))
    if not in_degree.any():
        return _plain(query, cosine)
    rows = activation.rows
    near, blend = query.working.at(query.evidence.cosine, rows), query.profile.scoring.ethos
    scored = score.ethos(near, activation.values, in_degree, int(in_degree.max()), weights=blend)
    return ordered(query, rows, np.asarray(scored.total), _arrays(scored), activation)


def _plain(query: RankingQuery, cosine: Floats) -> Ranked:
    found = _best(query, cosine, query.limit)
    return ordered(query, query.working.row[found], cosine[found], {"cosine": cosine[found]})


def _synapse(query: RankingQuery) -> Ranked:
    activation, in_degree = _spread(query, _anchors(query))
    values, kept = settled_activation(query.profile, activation)
    rows = activation.rows[kept]
    centrality = in_degree[kept] / max(int(in_degree.max(initial=0)), 1)
    scored = score.synapse(query.working.at(query.evidence.cosine, rows), values[kept], centrality)
    return ordered(query, rows, np.asarray(scored.total), _arrays(scored), activation)


def _poc(query: RankingQuery) -> Ranked:
    activation, _ = _spread(query, _anchors(query))
    known = query.records(activation.rows)
    weight = np.array([known[row].weight if row in known else 0.0 for row in activation.rows.tolist()])
    scored = score.poc(activation.values, weight)
    return ordered(query, activation.rows, np.asarray(scored.total), _arrays(scored), activation)


def _floop(query: RankingQuery) -> Ranked:
    """Relevance of what stays active; where a memory has no predicates its activation is its context."""
    activation, _ = _spread(query, _anchors(query))
    values, kept = settled_activation(query.profile, activation)
    rows, values = activation.rows[kept], values[kept]
    known = query.records(rows)
    keep = np.array([row in known for row in rows.tolist()], np.bool_)
    rows, values = rows[keep], values[keep]
    records = [known[row] for row in rows.tolist()]
    fits = query.evidence.context
    fit = np.array([fits.get(one, np.nan) for one in query.working.document[rows].tolist()])
    scored = cue_relevance(records, values, fit, query.now)
    components = {**_arrays(scored), "activation": values}
    return ordered(query, rows, np.asarray(scored.total), components, activation)


def cue_relevance(records: list[MemoryRecord], values: Floats, fit: Floats, now: datetime) -> score.Score:
    """The score of floop for memories of some activation; one whose ``fit`` is NaN has its activation for context."""
    uses = _counts(records, "uses")
    return score.floop(
        np.where(np.isnan(fit), values, fit),
        base_level_score(np.asarray(optimized(uses, _lives(now, records))), uses),
        score.feedback_ratio(*(_counts(records, name) for name in ("confirmed", "followed", "overridden"))),
        score.priority_score(np.array([one.priority for one in records], np.float64)),
        boost=np.array([score.rule_boost(rule_kind(one)) for one in records], np.float64),
    )


def _arc(query: RankingQuery) -> Ranked:
    rows, records = _pool(query)
    recency = recency_half_life(_ages(query.now, records), query.profile.forgetting_params.half_life)
    helped = score.effectiveness(_counts(records, "helped"), _counts(records, "failed"))
    scored = score.arc(query.working.at(query.evidence.cosine, rows), helped, recency)
    return ordered(query, rows, np.asarray(scored.total), _arrays(scored))


def _world_weaver(query: RankingQuery) -> Ranked:
    """Each kind of memory by its own score: episodes, procedures, and everything else as facts."""
    rows, records = _pool(query)
    semantic = query.working.at(query.evidence.cosine, rows)
    days = _ages(query.now, records)
    recency = np.asarray(recency_exponential(days, query.profile.forgetting_params.recency_rate))
    facts = _fact_scores(query, rows, records, semantic, days)
    totals, parts = np.zeros(len(rows)), []
    for i, one in enumerate(records):
        if one.kind == "episode":
            outcome = score.outcome_value(one.outcome or "neutral")
            scored = score.episode(semantic[i], recency[i], outcome, one.importance)
        elif one.kind == "procedure":
            rate = score.success_rate(one.use.helped, executions(one.use))
            scored = score.procedure(semantic[i], rate, recency[i])
        else:
            scored = facts[i]
        totals[i] = float(scored.total)
        parts.append(scored.components)
    names = dict.fromkeys(name for part in parts for name in part)
    components = {name: np.array([float(part.get(name, np.nan)) for part in parts]) for name in names}
    return ordered(query, rows, totals, components)


def _fact_scores(
    query: RankingQuery, rows: Ints, records: list[MemoryRecord], semantic: Floats, days: Floats
) -> list[score.Score]:
    law, fading = query.profile.base_level_params, query.profile.forgetting_params
    base = np.asarray(recency_frequency(_counts(records, "uses"), days * _HOURS, law.d))
    strengths = _association(query, rows)
    count = max(strengths.shape[1], 1)
    seed = hashlib.blake2b(f"{query.evidence.text}\0{query.now.isoformat()}".encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    total = total_activation(base, np.full(count, 1.0 / count), strengths, sigma=law.noise, rng=rng)
    active = np.asarray(score.fact_activation(np.asarray(total)))
    endurance = np.array([one.retention.endurance for one in records])
    kept = np.asarray(power_retrievability(days, endurance, fading.factor, fading.exponent))
    return [score.fact(semantic[i], active[i], kept[i]) for i in range(len(rows))]


def _association(query: RankingQuery, rows: Ints) -> Floats:
    """S: associative strength from each entity that the cue names to each row; shape (rows, entities)."""
    entities = np.array(query.named(), np.int64)
    if not len(entities):
        return np.zeros((len(rows), 1))
    graph = query.graph()
    edges = graph.edges(entities, both=True)
    carrying = np.array([name not in SUPPRESSING for name in graph.relations], np.bool_)
    positive = (edges.weight > 0) & carrying[edges.relation]
    fan = np.bincount(edges.owner[edges.forward & positive], minlength=len(entities))
    made = np.zeros((len(rows), len(entities)))
    place = {row: i for i, row in enumerate(rows.tolist())}
    found = (edges.owner[positive], edges.neighbour[positive], edges.weight[positive])
    for owner, other, weight in zip(*found, strict=True):
        i = place.get(int(other))
        if i is not None:
            made[i, owner] = max(made[i, owner], weight)
    linked, s_base = made > 0, query.profile.base_level_params.s_base
    return np.where(linked, np.asarray(associative_strength(made, fan, s_base)), 0.0)


def _pool(query: RankingQuery) -> tuple[Ints, list[MemoryRecord]]:
    """The memories nearest in meaning, which a design without spreading chooses from."""
    pool = query.profile.anchors.pool if query.profile.anchors else query.limit
    found = _best(query, np.where(query.pool, query.evidence.cosine, 0.0), max(pool, query.limit))
    rows = query.working.row[found]
    known = query.records(rows)
    rows = np.array([row for row in rows.tolist() if row in known], np.int64)
    return rows, [known[row] for row in rows.tolist()]


def _ages(now: datetime, records: list[MemoryRecord]) -> Floats:
    """Days since each memory was last used, or recorded; never negative, whatever the clock did."""
    return np.array([days_between(one.use.last_used_at or one.recorded_at or now, now) for one in records])


def _lives(now: datetime, records: list[MemoryRecord]) -> Floats:
    """Hours since each memory was first used, as far as that is known; of one never used, since it was recorded."""
    first = [one.use.first_used_at or one.use.last_used_at or one.recorded_at or now for one in records]
    return np.array([days_between(at, now) * _HOURS for at in first])


def _counts(records: list[MemoryRecord], name: str) -> Floats:
    return np.array([getattr(one.use, name) for one in records], np.float64)


def _arrays(scored: score.Score) -> dict[str, Floats]:
    return {name: np.atleast_1d(np.asarray(values)) for name, values in scored.components.items()}


_DESIGNS: dict[str, Callable[[RankingQuery], Ranked]] = {
    "priming": _priming,
    "floop": _floop,
    "synapse": _synapse,
    "ethos": _ethos,
    "poc": _poc,
    "arc": _arc,
    "world-weaver": _world_weaver,
}
