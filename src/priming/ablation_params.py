"""The tunables of ``ablate``. They are asked for as ``priming.params``."""

from __future__ import annotations

from dataclasses import dataclass

from priming.checked import Checked, param


@dataclass(frozen=True, slots=True)
class AblationParams(Checked):
    """How recalls are replayed without a term, and when other weights are proposed (SYSTEMS X3)."""

    recalls: int = param(200, low=1, unit="recalls", doc="latest judged recalls that are replayed")
    depth: int = param(10, low=1, unit="memories", doc="hits of a replay that are measured")
    least: int = param(30, low=2, unit="cues", doc="fewest judged cues, those alike taken as one, to propose")
    folds: int = param(5, low=2, unit="folds", doc="parts of the cues; each is held out once")
    factors: tuple[float, ...] = param(
        (0.75, 1.5, 0.5, 2.0, 0.0, 1.0), doc="of the profile's own weight, tried for each term in this order"
    )
    margin: float = param(0.25, low=0.0, high=1.0, doc="most average precision that a cue may lose")
    step: float = param(0.005, low=0.0, doc="least gain in the mean for which a weight is changed")
    seed: int = param(7, low=0, doc="seed of folds and intervals")
    carried: int = param(
        25_000_000, low=0, unit="numbers", doc="most evidence kept between replays; beyond it is made anew"
    )


ABLATION = AblationParams()
