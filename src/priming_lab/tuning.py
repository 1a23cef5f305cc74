"""Tuning: a search for the weights of terms that rank judged recalls best, validated on held-out cues.

Weights are searched five times, each without a fifth of the cues, and no cue may lose more than the margin.
Factors apply to the profile's own weights, so that those which are set repeatedly do not run away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Floats, Ints
from priming.errors import ParamError
from priming.learning.replay import SEED
from priming.recall.candidates import NAMES, TERMS, with_weights
from priming_lab.metrics import paired_difference
from priming_lab.results import Reweighing

_FOLDS = 5
"""The parts of the cues; each is held out once."""
_FACTORS = (0.75, 1.5, 0.5, 2.0, 0.0, 1.0)
"""The factors of the profile's own weight, tried for each term in this order."""
MARGIN = 0.25
"""The most average precision that a cue may lose."""
_STEP = 0.005
"""The least gain in the mean for changing a weight."""

TermWeights = Mapping[str, float]
Score = Callable[[RecallParams], Floats]
"""The quality of each cue with the given weights."""

WEIGHTS: Mapping[str, tuple[str, ...]] = {term: (term,) for term in TERMS if term in NAMES}
"""The weights of each term that has one, in the order of the terms."""


class WeightSearch:
    """A coordinate search for weights: one term after the other, by factors of the profile's own weight."""

    def __init__(self, own: RecallParams, now: RecallParams, score: Score) -> None:
        """Take ``own``, the recipe of the profile, and ``now``, the recipe in force."""
        self._own, self.now = own, now
        self._score = score
        self._qualities: dict[tuple[tuple[str, float], ...], Floats] = {}
        self.base = self.quality({})
        self._terms = self._sensitive_terms()

    def _sensitive_terms(self) -> Sequence[str]:
        """Return the terms whose smallest or largest weight makes a difference, the largest difference first."""
        ends = min(_FACTORS), max(_FACTORS)
        difference = {
            term: max(
                (
                    float(np.abs(self.quality(weights) - self.base).mean())
                    for weights in self._candidates(term, {}, ends)
                ),
                default=0.0,
            )
            for term in WEIGHTS
        }
        return sorted((term for term in WEIGHTS if difference[term]), key=lambda term: -difference[term])

    def quality(self, weights: TermWeights) -> Floats:
        """Return the quality of each cue with ``weights`` in place of the weights in force."""
        name = tuple(sorted(weights.items()))
        if name not in self._qualities:
            self._qualities[name] = self._score(with_weights(self.now, weights))
        return self._qualities[name]

    def best(self, cues: Ints) -> TermWeights:
        """Return the weights with the best mean quality over ``cues`` by which no cue loses more than the margin."""
        best: TermWeights = {}
        reached = float(self.base[cues].mean())
        for term in self._terms:
            for weights in self._candidates(term, best, _FACTORS):
                quality = self.quality(weights)[cues]
                is_tolerable = float((self.base[cues] - quality).max()) <= MARGIN
                if is_tolerable and float(quality.mean()) > reached + _STEP:
                    best, reached = weights, float(quality.mean())
        return best

    def _candidates(self, term: str, best: TermWeights, factors: Sequence[float]) -> list[TermWeights]:
        """Return the best weights so far with other weights for one term, as far as they are in range."""
        tried = list[TermWeights]()
        for factor in factors:
            changed = {name: factor * getattr(self._own, name) for name in WEIGHTS[term]}
            weights = {
                name: value for name, value in {**best, **changed}.items() if value != getattr(self.now, name)
            }
            try:
                with_weights(self.now, weights)
            except ParamError:
                continue
            tried.append(weights)
        return tried


def propose_weights(search: WeightSearch) -> Reweighing | None:
    """Return the weights of best quality over all cues, and their gain by cross-validation; None if none are better.

    Each fold of the cues is held out once, and scored with the weights that are best for the other folds.
    """
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(search.base))
    held_out = search.base.copy()
    for fold in (order[i::_FOLDS] for i in range(_FOLDS)):
        held_out[fold] = search.quality(search.best(np.setdiff1d(order, fold)))[fold]
    weights = search.best(np.sort(order))
    if not weights:
        return None
    gain = paired_difference(held_out, search.base, rng)
    stands = gain.mean > 0.0 and gain.low > 0.0
    return Reweighing(
        weights=dict(sorted(weights.items())),
        before={name: getattr(search.now, name) for name in sorted(weights)},
        gain=gain.mean,
        low=gain.low,
        high=gain.high,
        worst=max(0.0, float((search.base - search.quality(weights)).max())),
        worse=int(np.count_nonzero(held_out < search.base)),
        stands=stands,
        reason=_STANDS if stands else _NO_GAIN if gain.mean <= 0.0 else _UNSURE,
    )


_STANDS = "held-out cues gained on average, and the interval excludes a loss"
_NO_GAIN = "held-out cues gained nothing on average"
_UNSURE = "held-out cues gained on average, but the interval does not exclude a loss"
