"""The weights that a namespace gives to the terms of a profile: read with each recall, written as one operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from priming.config.params.learning import ABLATION
from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Floats, Ints
from priming.errors import ParamError
from priming.learning.metrics import paired_difference
from priming.learning.results import Reweighing
from priming.recall.term_weights import NAMES, TERMS, with_weights

Weights = Mapping[str, float]
Score = Callable[[RecallParams], Floats]
"""The quality of each cue with some weights."""

WEIGHTS: Mapping[str, tuple[str, ...]] = {term: (term,) for term in TERMS if term in NAMES}
"""The weights of each term that has one, in the order of the terms."""


class WeightSearch:
    """A search for weights: one term after the other, each by factors of the profile's own weight."""

    def __init__(self, own: RecallParams, now: RecallParams, score: Score) -> None:
        """``own`` is the profile's recipe, ``now`` the one in force."""
        self._own, self.now = own, now
        self._score = score
        self._known: dict[tuple[tuple[str, float], ...], Floats] = {}
        self.base = self.quality({})
        self._terms = self._telling()

    def _telling(self) -> Sequence[str]:
        """The terms whose least or greatest weight makes any difference, those with the greatest first."""
        ends = min(ABLATION.factors), max(ABLATION.factors)
        made = {
            term: max(
                (float(np.abs(self.quality(one) - self.base).mean()) for one in self._tried(term, {}, ends)),
                default=0.0,
            )
            for term in WEIGHTS
        }
        return sorted((term for term in WEIGHTS if made[term]), key=lambda term: -made[term])

    def quality(self, weights: Weights) -> Floats:
        """The quality of each cue with some weights in the place of those in force."""
        name = tuple(sorted(weights.items()))
        if name not in self._known:
            self._known[name] = self._score(with_weights(self.now, weights))
        return self._known[name]

    def best(self, cues: Ints) -> Weights:
        """The weights that serve some cues best, of those by which none of them loses more than the margin."""
        best: Weights = {}
        reached = float(self.base[cues].mean())
        for term in self._terms:
            for weights in self._tried(term, best, ABLATION.factors):
                found = self.quality(weights)[cues]
                held = float((self.base[cues] - found).max()) <= ABLATION.margin
                if held and float(found.mean()) > reached + ABLATION.step:
                    best, reached = weights, float(found.mean())
        return best

    def _tried(self, term: str, best: Weights, factors: Sequence[float]) -> list[Weights]:
        """The weights found so far with other ones for a term, as far as they are in range."""
        tried = list[Weights]()
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
    """The weights that serve all cues best, if such weights also serve cues that they were not fitted to.

    Each part of the cues is held out once, and asked with the weights that serve the others best.
    """
    rng = np.random.default_rng(ABLATION.seed)
    order = rng.permutation(len(search.base))
    held = search.base.copy()
    for fold in (order[i :: ABLATION.folds] for i in range(ABLATION.folds)):
        held[fold] = search.quality(search.best(np.setdiff1d(order, fold)))[fold]
    weights = search.best(np.sort(order))
    if not weights:
        return None
    apart = paired_difference(held, search.base, rng)
    stands = apart.mean > 0.0 and apart.low > 0.0
    return Reweighing(
        weights=dict(sorted(weights.items())),
        before={name: getattr(search.now, name) for name in sorted(weights)},
        gain=apart.mean,
        low=apart.low,
        high=apart.high,
        worst=max(0.0, float((search.base - search.quality(weights)).max())),
        worse=int(np.count_nonzero(held < search.base)),
        stands=stands,
        reason=_STANDS if stands else _NO_GAIN if apart.mean <= 0.0 else _UNSURE,
    )


_STANDS = "cues that were held out came out better, and the interval excludes a loss"
_NO_GAIN = "cues that were held out came out no better"
_UNSURE = "cues that were held out came out better, but the interval does not exclude a loss"
