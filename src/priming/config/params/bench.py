"""The parameters of benchmarks: intervals, the depth of searches, and patience with rivals."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class MetricParams(Checked):
    """How intervals are made."""

    resamples: int = param(1_000, low=1, unit="draws", doc="bootstrap samples of an interval")
    level: float = param(0.95, low=0.0, high=1.0, doc="share of the samples that the interval holds")


@dataclass(frozen=True, slots=True)
class BenchParams(Checked):
    """How a benchmark asks, and how patient it is with rivals."""

    hits: int = param(20, low=1, unit="memories", doc="how many memories each question asks for")
    deep: int = param(200, low=1, unit="memories", doc="how many where tokens are measured")
    budgets: tuple[int, ...] = param(
        (100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800),
        unit="tokens",
        doc="budgets at which the curve of quality by tokens is read",
    )
    fusion_k: int = param(60, low=1, doc="k of rank fusion, 1/(k + rank)")
    hybrid: float = param(0.5, low=0.0, high=1.0, doc="share of BM25 in the min-max hybrid")
    seed: int = param(7, low=0, doc="seed of intervals and of shuffled gold")
    install_seconds: float = param(1800.0, low=0.0, unit="seconds", doc="longest installation of a rival")
    rival_seconds: float = param(
        120.0,
        low=0.0,
        unit="seconds",
        doc="how long a rival may load and answer a set; then its figures are those of the questions so far",
    )
    hello_seconds: float = param(300.0, low=0.0, unit="seconds", doc="longest start of a rival")
    load_seconds: float = param(1200.0, low=0.0, unit="seconds", doc="longest load of one part into a rival")
    search_seconds: float = param(120.0, low=0.0, unit="seconds", doc="longest search of a rival")
    close_seconds: float = param(5.0, low=0.0, unit="seconds", doc="how long a rival may take to end")
    shown_bytes: int = param(120, low=1, unit="bytes", doc="of a line that is no answer, how much is quoted")
    tail_lines: int = param(12, low=1, unit="lines", doc="lines of a rival's stderr that its error quotes")


METRICS = MetricParams()
BENCH = BenchParams()
