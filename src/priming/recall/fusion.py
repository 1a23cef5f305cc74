"""The arithmetic of the default recall: evidence fused, anchors chosen, routes scored, and where an answer ends.

Each function is one line of the recipe. Arrays have one element a memory; ``s(x)`` is ``scaled``:
``max(x, 0) / max x``. The constants are those of ``RecallParams``
and ``RelevanceParams``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from priming.config.params.recall import RELEVANCE, RelevanceParams
from priming.core.arguments.arrays import Bools, Floats, Ints
from priming.core.lexical import scaled

_RISE = 2.0
"""How fast a cue's breadth rises with the number of memories that match it about as well as the best."""


def combined_evidence(fused: Floats, priors: Floats) -> Floats:
    """The evidence for each memory, relative to the best: h = s(r + p).

    Args:
        fused: r, the weighted sum of scaled matches, shape (n,).
        priors: p, what speaks for a memory beside its match, shape (n,).

    Returns:
        h in [0, 1], shape (n,); all zeros where nothing speaks for anything.

    >>> combined_evidence(np.array([0.5, 0.25, 0.0]), np.array([0.0, 0.0, -0.1])).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.asarray(scaled(fused + priors), dtype=np.float64)


def raised(h: Floats, gain: Floats, below: float) -> Floats:
    """Evidence with what earlier use adds to it, up to just below the best: max(h, min(h + gain, 1 − below)).

    What was useful for other cues may bring a memory among the best, but what this cue matches best stays first.

    Args:
        h: evidence relative to the best, in [0, 1], shape (n,).
        gain: what is added to each, ≥ 0, shape (n,).
        below: how far below the best a memory is raised at the most, in [0, 1].

    Returns:
        The evidence, in [0, 1], shape (n,).

    >>> raised(np.array([1.0, 0.5, 0.4]), np.array([0.2, 0.0, 0.8]), 0.125).tolist()
    [1.0, 0.5, 0.875]
    """
    return np.asarray(np.maximum(h, np.minimum(h + gain, 1.0 - below)), dtype=np.float64)


def fuse(parts: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """The weighted sum of matches: r = Σ w·s(x), over the parts that have a weight.

    Args:
        parts: name → scaled match, each of shape (n,) in [0, 1].
        weights: name → weight.

    Returns:
        r, shape (n,).

    >>> fuse({"bm25": np.array([1.0, 0.0]), "cosine": np.array([0.5, 1.0])}, {"bm25": 0.3, "cosine": 0.6})
    array([0.6, 0.6])
    """
    total: Floats = np.zeros(len(next(iter(parts.values()))))
    for name, part in parts.items():
        if weights.get(name):
            total = total + weights[name] * part
    return total


def best_rows(values: Floats, count: int) -> Ints:
    """The positions of the ``count`` largest positive values, descending, ties by position.

    >>> best_rows(np.array([0.2, 0.9, 0.0, 0.9]), 3).tolist()
    [1, 3, 0]
    """
    positive = np.flatnonzero(values > 0)
    if not count:
        return positive[:0]
    if len(positive) > count:
        bar = np.partition(values[positive], len(positive) - count)[len(positive) - count]
        positive = positive[values[positive] >= bar]
    order = np.lexsort((positive, -values[positive]))
    return positive[order][:count]


def softmax_anchors(h: Floats, count: int, temperature: float) -> tuple[Ints, Floats]:
    """The best memories as anchors: a ∝ exp((h − max h)/τ), Σ a = 1.

    Args:
        h: evidence, shape (n,).
        count: how many anchors at the most.
        temperature: τ > 0.

    Returns:
        rows, descending in h, and their activations; both empty where h is 0 everywhere.

    >>> rows, a = softmax_anchors(np.array([0.0, 1.0, 0.92]), 20, 0.08)
    >>> rows.tolist(), a.round(3).tolist()
    ([1, 2], [0.731, 0.269])
    """
    rows = best_rows(h, count)
    if not len(rows):
        return rows, np.zeros(0)
    a = np.exp((h[rows] - h[rows[0]]) / temperature)
    return rows, a / a.sum()


def blend_anchors(
    first: tuple[Ints, Floats], second: tuple[Ints, Floats], share: float
) -> tuple[Ints, Floats]:
    """Two sets of anchors as one: a ← (1 − ω)·a + ω·b, rows ascending.

    >>> blend_anchors((np.array([3, 1]), np.array([0.6, 0.4])), (np.array([1]), np.array([1.0])), 0.5)
    (array([1, 3]), array([0.7, 0.3]))
    """
    rows, inverse = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    amounts = np.concatenate([(1.0 - share) * first[1], share * second[1]])
    summed = np.bincount(inverse, weights=amounts, minlength=len(rows))
    return rows.astype(np.int64), summed.astype(np.float64)


def route_score(activation: Floats, priors: Floats, temperature: float, floor: float) -> Floats:
    """The score that ranks a hit: τ·ln(x + floor) + p, a soft maximum over the routes that reached it.

    With no links x is the anchor's softmax, so that the logarithm gives the anchors' order back.

    >>> route_score(np.array([1.0, 0.0]), np.array([0.0, 0.1]), 0.08, 1e-5).round(3).tolist()
    [0.0, -0.821]
    """
    return np.asarray(temperature * np.log(activation + floor) + priors, dtype=np.float64)


def bridge(named: Floats, rarest: float, rest: Floats, whole: float) -> Floats:
    """How well a memory continues from the best hit: b = min(1, named/rarest · rest/whole).

    The best hit seldom holds all that a question over two hops asks. The memory of the next hop shares a name
    with it and meets what it leaves open; to do one of the two is nothing.

    Args:
        named: BM25 of the name of the best hit that tells most in each memory, ≥ 0, shape (n,).
        rarest: the idf of a name that only one memory holds, > 0.
        rest: BM25 of what the best hit leaves open of the cue, ≥ 0, shape (n,).
        whole: Σ idf of the cue's terms, > 0.

    Returns:
        b in [0, 1], shape (n,).

    >>> bridge(np.array([2.0, 2.0, 0.0]), 4.0, np.array([3.0, 0.0, 3.0]), 6.0).tolist()
    [0.25, 0.0, 0.0]
    """
    return np.asarray(np.minimum(1.0, (named / rarest) * (rest / whole)), dtype=np.float64)


def give_way(
    scores: Floats,
    holds: Bools,
    worth: Floats,
    group: Ints,
    alone: Bools,
    words: float | Floats,
    weight: float,
    count: int,
) -> tuple[Ints, Floats, Floats]:
    """The scores of hits, less a penalty for what better hits already contain: s − λ·(words·share + 1 − ½^m)/2.

    share = Σ worth of the hit's terms that better hits hold / Σ worth of its terms; m = better hits of its
    group. The best keeps its score; a hit without any term of the cue adds none, and counts as covered. One
    after the other the best of what is left is chosen, so scores never rise.

    Args:
        scores: descending, shape (n,).
        holds: which terms of the cue each hit holds, shape (n, t).
        worth: what each term is worth, > 0, shape (t,).
        group: hits of one group repeat each other, shape (n,); −1 is none.
        alone: which hits give way for their terms, shape (n,); the share of the others stays 0.
        words: how much the share counts, in [0, 1], for all hits or for each.
        weight: λ ≥ 0.
        count: how many are chosen one by one; the rest follow by what is left of their scores.

    Returns:
        The new order as positions; by old position the scores, and how far each repeats better hits, in [0, 1].

    >>> holds = np.array([[True, False], [True, False], [False, True]])
    >>> scores, worth = np.array([0.9, 0.8, 0.7]), np.array([1.0, 1.0])
    >>> order, _, _ = give_way(scores, holds, worth, np.full(3, -1), np.full(3, True), 1.0, 0.3, 3)
    >>> order.tolist()
    [0, 2, 1]
    """
    now, share, again = scores.copy(), np.zeros(len(scores)), np.zeros(len(scores))
    left, chosen = np.ones(len(scores), np.bool_), []
    weighed, covered_terms = holds * worth, np.zeros(len(worth), np.bool_)
    total = weighed.sum(axis=1)
    for turn in range(min(count, len(scores))):
        at = int(np.argmax(np.where(left, now, -np.inf)))
        chosen.append(at)
        left[at] = False
        news, grouped = bool((holds[at] & ~covered_terms).any()), group[at] >= 0
        if len(worth) and (news or turn == 0):
            covered_terms |= holds[at]
            shares = np.divide(weighed @ covered_terms, total, out=np.ones(len(scores)), where=total > 0)
            share[left & alone] = np.minimum(1.0, shares[left & alone])
        if grouped:
            same = left & (group == group[at])
            again[same] = (1.0 + again[same]) / 2.0
        if news or grouped or turn == 0:
            now = np.where(left, scores - weight * (words * share + again) / 2.0, now)
    rest = np.flatnonzero(left)
    rest = rest[np.argsort(-now[rest], kind="stable")]
    order = np.concatenate([np.array(chosen, np.int64), rest]).astype(np.int64)
    return order, now, np.asarray((words * share + again) / 2.0)


def breadth(match: Floats, spoken: int = 0, params: RelevanceParams = RELEVANCE) -> float:
    """How broad a cue is, by the number of memories that match it about as well as the best one does.

    breadth = max(1, m / broad)², m the memories whose match is at least ``params.alike`` times the best; for a
    conversation of n memories at least 1 + (``params.spoken`` − 1) · min(1, n / ``params.few``). Where many answer a
    part of a cue, none is likely. What has but a common word of the cue, of which a large store has more, is below
    that.

    Parameters
    ----------
    match : BM25 of each memory.
    spoken : n if the best hit is a turn of a conversation, else 0: what is said once comes up again in other turns,
        the more there are.

    Examples
    --------
    >>> law = RelevanceParams(alike=0.3, broad=40.0, spoken=1.5, few=200)
    >>> breadth(np.full(100, 6.0), params=law), breadth(np.array([20.0, *[5.0] * 99]), params=law)
    (6.25, 1.0)
    >>> breadth(np.zeros(300), spoken=300, params=law), breadth(np.zeros(100), spoken=100, params=law)
    (1.5, 1.25)
    """
    least = 1.0 + (params.spoken - 1.0) * min(1.0, spoken / params.few)
    best = float(match.max(initial=0.0))
    if not best:
        return least
    alike = np.count_nonzero(match >= params.alike * best)
    return max(least, math.pow(alike / params.broad, _RISE))


def recall_weight(broad: float, memories: int, params: RelevanceParams = RELEVANCE) -> float:
    """How many times as much recall counts as precision, β²; more for a broad cue, and in a small store.

    β² = params.recall_weight · broad · √max(1, params.few / n). Where there is little to read,
    a poor hit costs little.

    Parameters
    ----------
    broad, memories : the breadth of the cue, and n, the number of memories of the namespace.

    Examples
    --------
    >>> law = RelevanceParams(recall_weight=8.0, few=200)
    >>> recall_weight(1.0, 5000, law), recall_weight(2.0, 50, law)
    (8.0, 32.0)
    """
    return params.recall_weight * broad * math.sqrt(max(1.0, params.few / max(1, memories)))


def least_worth(relevance: Floats, weight: float, floor: float) -> float:
    """The relevance from which a hit is worth returning: it raises the expected F-measure of the answer.

    F_β = (1 + β²)·right / (β²·relevant + returned) weighs precision and recall, recall β² times as much. With
    probabilities p₁ ≥ p₂ ≥ … in place of what is right and what is relevant, a hit raises it if its probability is
    above max over k of (p₁ + … + p_k) / (β²·Σp + k). So a sure answer among improbable hits stands alone, and where
    all are alike all are returned.

    Parameters
    ----------
    relevance : the probability of each hit, in any order.
    weight : β² (``recall_weight``).
    floor : the relevance below which no hit is returned.

    Examples
    --------
    >>> least_worth(np.array([0.9, 0.05, 0.05]), 9.0, 0.03)
    0.09
    """
    ordered = np.sort(relevance)[::-1]
    returned = np.arange(1, len(ordered) + 1)
    measure = np.cumsum(ordered) / (weight * ordered.sum() + returned)
    return max(floor, float(measure.max(initial=0.0)))
