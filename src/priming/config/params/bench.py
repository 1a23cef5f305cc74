"""The parameters of benchmarks: intervals, the depth of searches, and patience with rivals."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class MetricParams(Checked):
    """How intervals are made."""

    resamples: int = param(1_000, low=1, unit="draws", doc="bootstrap samples of an interval")
    level: float = param(0.95, low=0.0, high=1.0, doc="share of the samples that the interval holds")


@dataclass(frozen=True, slots=True)
class BenchParams(Checked):
    """How a benchmark asks, and how patient it is with rivals."""

    hits: int = param(20, low=1, unit="memories", doc="memories that each question asks for")
    deep: int = param(
        200, low=1, unit="memories", doc="memories that each question asks for if tokens are measured"
    )
    budgets: tuple[int, ...] = param(
        (100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800),
        unit="tokens",
        doc="budgets at which quality by tokens is measured",
    )
    fusion_k: int = param(60, low=1, doc="k of rank fusion, 1/(k + rank)")
    hybrid: float = param(0.5, low=0.0, high=1.0, doc="share of BM25 in the min-max hybrid")
    seed: int = param(7, low=0, doc="seed of intervals and of shuffled gold")
    install_seconds: float = param(1800.0, low=0.0, unit="seconds", doc="time limit for installing a rival")
    rival_seconds: float = param(
        120.0,
        low=0.0,
        unit="seconds",
        doc="time limit for a rival to load and answer a set; beyond it, only the questions so far count",
    )
    hello_seconds: float = param(300.0, low=0.0, unit="seconds", doc="time limit for starting a rival")
    load_seconds: float = param(
        1200.0, low=0.0, unit="seconds", doc="time limit for loading one part into a rival"
    )
    search_seconds: float = param(120.0, low=0.0, unit="seconds", doc="time limit for a rival's search")
    close_seconds: float = param(5.0, low=0.0, unit="seconds", doc="time limit for a rival to exit")
    shown_bytes: int = param(
        120, low=1, unit="bytes", doc="maximum length of the quotation from a line that is not an answer"
    )
    tail_lines: int = param(12, low=1, unit="lines", doc="lines of a rival's stderr that its error quotes")


METRICS = MetricParams()
BENCH = BenchParams()
