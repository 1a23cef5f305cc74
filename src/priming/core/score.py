"""Scores: how the evidence for a hit becomes a number; one function for each design.

Every blend is Σ weight · component, with weights that sum to 1 and components in [0, 1]. The default
weights are the designs' own (``params.ScoreParams``); ``weights`` replaces them, by the same names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import SCORE
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, floats, like
from priming.core.spread import squash
from priming.errors import ParamError

_SPECIFICITY = (0.3, 0.4, 0.6, 0.8, 0.9, 1.0)
"""The activation of a seed by its number of predicates (floop)."""
_UNCONFIRMED = 0.15
"""The activation of a seed of which no predicate is confirmed (floop)."""
_SIGNALS = 3
"""The least number of verdicts for a feedback ratio (floop)."""
_COSINE_SLACK = 1e-6
"""The rounding error by which a cosine may exceed 1."""

BlendWeights = Mapping[str, float] | tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A score and its components: ``components`` maps names to unweighted values, in order."""

    total: Any
    components: Mapping[str, Any]


def floop(
    context: ArrayLike,
    base: ArrayLike,
    feedback: ArrayLike,
    priority: ArrayLike,
    *,
    boost: ArrayLike = 1.0,
    weights: BlendWeights = SCORE.floop,
) -> Score:
    """Score a behaviour: (.35 · context + .30 · base + .15 · feedback + .20 · priority) · boost.

    All four are in [0, 1], from ``context_score``, ``base_level_score``, ``feedback_ratio`` and
    ``priority_score``; ``boost`` ≥ 0 from ``rule_boost``. With a boost the total may exceed 1. Anything
    outside its range raises ``ParamError``.

    >>> round(floop(1.0, 0.5, 0.5, 0.3, boost=2.0).total, 4)
    1.27
    """
    parts = {"context": context, "base": base, "feedback": feedback, "priority": priority}
    score = _blend({name: _share(name, value) for name, value in parts.items()}, weights)
    return Score(like(score.total * floats("boost", boost, low=0.0)), score.components)


def ethos(
    cosine: ArrayLike,
    spread: ArrayLike,
    in_degree: ArrayLike,
    max_in_degree: ArrayLike,
    *,
    weights: BlendWeights = SCORE.ethos,
) -> Score:
    """Score by Ethos: .5 · cosine + .3 · spread + .2 · in_degree / max_in_degree.

    ``cosine`` is in [−1, 1] and clamped at 0; ``spread`` ≥ 0 is raw and uncapped, as in the seed; degrees
    count the links loaded for this recall, and the ratio, component ``in_degree``, is 0 where there are
    none. An ``in_degree`` above ``max_in_degree``, or anything outside its range, raises ``ParamError``.

    >>> round(ethos(0.8, 1.275, 1, 2).total, 4)
    0.8825
    """
    parts = {
        "cosine": _cosine("cosine", cosine),
        "spread": floats("spread", spread, low=0.0),
        "in_degree": _ratio(("in_degree", in_degree), ("max_in_degree", max_in_degree), otherwise=0.0),
    }
    return _blend(parts, weights)


def synapse(
    semantic: ArrayLike,
    activation: ArrayLike,
    centrality: ArrayLike,
    *,
    weights: BlendWeights = SCORE.synapse,
) -> Score:
    """Score by SYNAPSE (arXiv 2601.02744): .5 · semantic + .3 · activation + .2 · centrality.

    ``semantic`` is a cosine, clamped at 0; the others are in [0, 1]. Else ``ParamError``.

    >>> round(synapse(0.8, 0.5, 0.25).total, 4)
    0.6
    """
    parts = {"activation": activation, "centrality": centrality}
    return _semantic(semantic, parts, weights)


def poc(activation: ArrayLike, node_weight: ArrayLike) -> Score:
    """Score by poc-memory: activation · node_weight.

    ``activation`` ≥ 0 is raw and uncapped, as in the seed; ``node_weight`` is in [0, 1]. Else
    ``ParamError``.

    >>> poc(1.5, 0.5).total
    0.75
    """
    raw, weight = floats("activation", activation, low=0.0), _share("node_weight", node_weight)
    return Score(like(raw * weight), _frozen({"activation": raw, "node_weight": weight}))


def arc(
    relevance: ArrayLike, effectiveness: ArrayLike, recency: ArrayLike, *, weights: BlendWeights = SCORE.arc
) -> Score:
    """Score by Arc: .5 · relevance + .3 · effectiveness + .2 · recency.

    ``relevance`` is a cosine, clamped at 0; the others are in [0, 1]. Else ``ParamError``. The seed also
    prints a product of the three; its sum is what it calls the score.

    >>> round(arc(0.8, 0.5, 0.25).total, 4)
    0.6
    """
    parts = {
        "relevance": _cosine("relevance", relevance),
        "effectiveness": _share("effectiveness", effectiveness),
        "recency": _share("recency", recency),
    }
    return _blend(parts, weights)


def episode(
    semantic: ArrayLike,
    recency: ArrayLike,
    outcome: ArrayLike,
    importance: ArrayLike,
    *,
    weights: BlendWeights = SCORE.episode,
) -> Score:
    """Score an episode by World Weaver: .4 · semantic + .25 · recency + .2 · outcome + .15 · importance.

    ``semantic`` is a cosine, clamped at 0; ``outcome`` comes from ``outcome_value``; all but the cosine
    are in [0, 1]. Else ``ParamError``.

    >>> round(episode(0.8, 1.0, 0.83, 0.5).total, 4)
    0.811
    """
    return _semantic(semantic, {"recency": recency, "outcome": outcome, "importance": importance}, weights)


def fact(
    semantic: ArrayLike,
    activation: ArrayLike,
    retrievability: ArrayLike,
    *,
    weights: BlendWeights = SCORE.fact,
) -> Score:
    """Score a fact by World Weaver: .4 · semantic + .35 · activation + .25 · retrievability.

    ``semantic`` is a cosine, clamped at 0; ``activation`` is the total activation after
    ``fact_activation``; all but the cosine are in [0, 1]. Else ``ParamError``.

    >>> round(fact(0.8, fact_activation(0.0), 0.9).total, 4)
    0.72
    """
    return _semantic(semantic, {"activation": activation, "retrievability": retrievability}, weights)


def fact_activation(A: ArrayLike, gain: float = 1.0, centre: float = 0.0) -> Any:  # noqa: N803 (the paper's name)
    """Map a total activation A to (0, 1) for ``fact``: 1 / (1 + e^(−gain · (A − centre))).

    >>> fact_activation(0.0)
    0.5
    """
    return squash(floats("A", A), gain=gain, centre=centre)


def procedure(
    semantic: ArrayLike,
    success_rate: ArrayLike,
    recency: ArrayLike,
    *,
    weights: BlendWeights = SCORE.procedure,
) -> Score:
    """Score a procedure by World Weaver: .5 · semantic + .3 · success_rate + .2 · recency.

    ``semantic`` is a cosine, clamped at 0; the others are in [0, 1]. Else ``ParamError``.

    >>> round(procedure(0.8, 0.5, 0.25).total, 4)
    0.6
    """
    return _semantic(semantic, {"success_rate": success_rate, "recency": recency}, weights)


def priming(components: Mapping[str, ArrayLike], weights: BlendWeights) -> Score:
    """Blend the fused part of the default profile: Σ weight · component, by name.

    Components are in [0, 1]; ``weights`` has the same names, each ≥ 0, and sums to 1. Else
    ``ParamError``: a term that is ablated leaves both, and the rest is scaled up by the caller.

    >>> score = priming({"bm25": 1.0, "cosine": 0.5}, {"bm25": 0.4, "cosine": 0.6})
    >>> round(score.total, 4), dict(score.components)
    (0.7, {'bm25': 1.0, 'cosine': 0.5})
    """
    if not isinstance(components, Mapping):
        raise ParamError("components", components, "must be a mapping of name to values")
    return _blend({name: _share(name, value) for name, value in components.items()}, weights)


def rule_boost(rule: str | None, boosts: BlendWeights = SCORE.boosts) -> float:
    """Give floop's boost of a kind of rule: constraint 2, directive 1.5, procedure 1.2, else 1.

    >>> rule_boost("constraint"), rule_boost("preference")
    (2.0, 1.0)
    """
    return dict(boosts).get(rule or "", 1.0)


def effectiveness(helped: ArrayLike, failed: ArrayLike) -> Any:
    """Give the share of uses that helped: helped / (helped + failed), and .5 without any. Both ≥ 0.

    >>> effectiveness(3, 1), effectiveness(0, 0)
    (0.75, 0.5)
    """
    good = floats("helped", helped, low=0.0)
    return like(_divided(good, good + floats("failed", failed, low=0.0), otherwise=SCORE.neutral))


def outcome_value(name: str, outcomes: BlendWeights = SCORE.outcomes) -> float:
    """Give an outcome's value: success 1, partial .83, neutral .83, failure .67; else ``ParamError``.

    >>> outcome_value("failure")
    0.67
    """
    values = dict(outcomes)
    if not isinstance(name, str) or name not in values:
        raise ParamError("name", name, f"must be one of {', '.join(values)}")
    return values[name]


def success_rate(successes: ArrayLike, executions: ArrayLike) -> Any:
    """Give successes / executions, and .5 without executions. More successes raise ``ParamError``.

    >>> success_rate(3, 4), success_rate(0, 0)
    (0.75, 0.5)
    """
    return like(_ratio(("successes", successes), ("executions", executions), otherwise=SCORE.neutral))


def feedback_ratio(confirmed: ArrayLike, followed: ArrayLike, overridden: ArrayLike) -> Any:
    """Give (confirmed + followed) / (confirmed + followed + overridden), and .5 below 3. All ≥ 0.

    >>> feedback_ratio(2, 1, 1), feedback_ratio(2, 0, 0)
    (0.75, 0.5)
    """
    good = floats("confirmed", confirmed, low=0.0) + floats("followed", followed, low=0.0)
    signals = good + floats("overridden", overridden, low=0.0)
    ratio = _divided(good, signals, otherwise=SCORE.neutral)
    return like(np.where(signals < _SIGNALS, SCORE.neutral, ratio))


def priority_score(p: ArrayLike) -> Any:
    """Map a priority to [0, 1]: clamp(p, 0, 10) / 10.

    >>> priority_score(3), priority_score(12)
    (0.3, 1.0)
    """
    return like(np.clip(floats("p", p), 0.0, SCORE.priority_max) / SCORE.priority_max)


def context_score(confirmed: ArrayLike, total: ArrayLike) -> Any:
    """Return the share of predicates confirmed, and .5 if there are none. More raise ``ParamError``.

    >>> context_score(1, 2), context_score(0, 0)
    (0.5, 0.5)
    """
    return like(_ratio(("confirmed", confirmed), ("total", total), otherwise=SCORE.neutral))


def specificity_activation(n: ArrayLike) -> Any:
    """Give a seed's activation by its number of predicates: .3, .4, .6, .8, .9, and 1 from 5 on.

    >>> specificity_activation(2), specificity_activation(9)
    (0.6, 1.0)
    """
    count = floats("n", n, low=0.0)
    if np.any(count != np.floor(count)):
        raise ParamError("n", count.tolist(), "must be whole numbers ≥ 0")
    table = np.array(_SPECIFICITY)
    return like(table[np.minimum(count, len(table) - 1).astype(np.intp)])


def partial_activation(confirmed: ArrayLike, total: ArrayLike) -> Any:
    """Give a seed's activation when only some of its predicates are confirmed.

        .15 + (confirmed / total) · (specificity_activation(total) − .15), and .3 where total is 0

    More ``confirmed`` than ``total`` raises ``ParamError``.

    >>> partial_activation(2, 2), partial_activation(0, 2), partial_activation(0, 0)
    (0.6, 0.15, 0.3)
    """
    share = _ratio(("confirmed", confirmed), ("total", total), otherwise=1.0)
    # lo · (1 − s) + hi · s, not lo + s · (hi − lo): the ends come out exact.
    return like(_UNCONFIRMED * (1.0 - share) + specificity_activation(total) * share)


def _blend(components: Mapping[str, Floats], weights: BlendWeights) -> Score:
    """Blend checked components; the weights are checked here."""
    shares = {name: float(floats(f"weights[{name!r}]", w, low=0.0)) for name, w in dict(weights).items()}
    if shares.keys() != components.keys():
        raise ParamError("weights", sorted(shares), f"must name {', '.join(components) or 'components'}")
    if not abs(math.fsum(shares.values()) - 1.0) <= SCORE.tolerance:
        raise ParamError("weights", shares, f"must sum to 1, not {math.fsum(shares.values()):g}")
    total = sum((shares[name] * value for name, value in components.items()), np.zeros(()))
    return Score(like(total), _frozen(components))


def _semantic(semantic: ArrayLike, others: Mapping[str, ArrayLike], weights: BlendWeights) -> Score:
    shares = {name: _share(name, value) for name, value in others.items()}
    return _blend({"semantic": _cosine("semantic", semantic), **shares}, weights)


def _frozen(components: Mapping[str, Floats]) -> Mapping[str, Any]:
    return MappingProxyType({name: like(value) for name, value in components.items()})


def _share(name: str, value: ArrayLike) -> Floats:
    return floats(name, value, low=0.0, high=1.0)


def _cosine(name: str, value: ArrayLike) -> Floats:
    bound = 1.0 + _COSINE_SLACK
    clamped: Floats = np.clip(floats(name, value, low=-bound, high=bound), 0.0, 1.0)
    return clamped


def _ratio(part: tuple[str, ArrayLike], whole: tuple[str, ArrayLike], *, otherwise: float) -> Floats:
    share, every = floats(*part, low=0.0), floats(*whole, low=0.0)
    over = share > every
    if np.any(over):
        worst = float(np.broadcast_to(share, np.shape(over))[over].flat[0])
        raise ParamError(part[0], worst, f"must be ≤ {whole[0]}")
    return _divided(share, every, otherwise=otherwise)


def _divided(part: Floats, whole: Floats, *, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), otherwise)
