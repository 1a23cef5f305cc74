"""The parameters of the laws, whose equations are in ``docs/laws.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from priming.config.params.checked import Checked, param
from priming.errors import ParamError

SUPPRESSING = ("conflicts", "overrides", "deprecated-to", "merged-into")


@dataclass(frozen=True, slots=True)
class SpreadParams(Checked):
    """How activation spreads (``docs/laws.md``, 1). The defaults are the ``priming`` profile's."""

    steps: int = param(4, low=0, unit="steps", source="docs/recall.md", doc="synchronous steps of spreading")
    gain: float = param(
        0.8, low=0.0, source="docs/recall.md", doc="share of a node's activation that it emits"
    )
    hop_decay: float = param(1.0, low=0.0, high=1.0, source="docs/recall.md", doc="factor on each hop")
    retention: float = param(
        0.0, low=0.0, high=1.0, source="docs/recall.md", doc="share that a node keeps a step"
    )
    restart: float = param(
        0.2,
        low=0.0,
        high=1.0,
        source="docs/recall.md",
        doc="share of the anchors fed in again each step (sum only)",
    )
    combine: str = param("sum", choices=("sum", "max"), doc="how arrivals at a node combine")
    direction: str = param("both", choices=("out", "both"), doc="ways that a link is walked")
    normalise: str = param(
        "share", choices=("none", "fan", "share"), doc="what a node's emission is divided by"
    )
    rho: float = param(0.0, low=0.0, unit="1/hour", doc="temporal decay of links")
    epsilon: float = param(
        0.001, low=0.0, source="docs/recall.md", doc="activation below which a node is silent"
    )
    suppressing: tuple[str, ...] = param(SUPPRESSING, doc="relations that take activation away")
    max_nodes: int | None = param(None, low=1, optional=True, unit="nodes", doc="strongest nodes kept a step")
    max_neighbours: int | None = param(
        None, low=1, optional=True, unit="links", doc="strongest links that a node emits over"
    )
    max_links: int | None = param(
        None,
        low=1,
        optional=True,
        unit="links",
        doc="strongest links that a step reads, of all that leave or enter an active node",
    )


@dataclass(frozen=True, slots=True)
class InhibitParams(Checked):
    """Lateral inhibition (``docs/laws.md``, 2)."""

    beta: float = param(0.15, low=0.0, source="SYNAPSE", doc="strength of inhibition")
    winners: int = param(7, low=1, unit="nodes", source="SYNAPSE", doc="strongest nodes left untouched")
    pool: str = param("mean", choices=("mean", "sum"), doc="what losers are compared with")


@dataclass(frozen=True, slots=True)
class SquashParams(Checked):
    """The logistic that follows inhibition (``docs/laws.md``, 2)."""

    gain: float = param(10.0, low=0.0, source="floop", doc="steepness")
    centre: float = param(0.3, source="floop", doc="activation that maps to one half")


@dataclass(frozen=True, slots=True)
class BaseLevelParams(Checked):
    """Base-level activation (``docs/laws.md``, 3)."""

    d: float = param(0.5, low=0.0, high=1.0, source="Anderson 2004", doc="decay of a trace; below 1")
    min_age: float = param(0.001, low=0.0, unit="hours", doc="ages are floored here")
    silent: float = param(-10.0, doc="activation of what was never used")
    s_base: float = param(1.6, source="World Weaver", doc="S_base of associative strength")
    noise: float = param(0.0, low=0.0, doc="sigma of activation noise")
    recent: int = param(
        10,
        low=1,
        unit="uses",
        source="Petrov 2006",
        doc="latest uses whose times are kept; older ones are counted",
    )


@dataclass(frozen=True, slots=True)
class ForgettingParams(Checked):
    """Forgetting (``docs/laws.md``, 4)."""

    factor: float = param(0.9, low=0.1, high=1.0, source="World Weaver", doc="factor of the power law")
    exponent: float = param(0.5, low=0.0, source="World Weaver", doc="exponent of the power law")
    fsrs_decay: float = param(0.1542, low=0.0, source="FSRS-6", doc="w20, the exponent of FSRS-6")
    initial_stability: float = param(
        1.0, low=0.5, high=10.0, unit="days", source="World Weaver", doc="stability of a new memory"
    )
    growth: float = param(0.1, low=0.0, source="World Weaver", doc="growth of stability when recalled")
    shrink: float = param(
        0.8, low=0.0, high=1.0, source="World Weaver", doc="factor on stability when failed"
    )
    recency_rate: float = param(
        0.1, low=0.0, unit="1/day", source="World Weaver", doc="exponential decay of recency"
    )
    half_life: float = param(7.0, low=0.0, unit="days", source="Arc", doc="time in which recency halves")
    automatic_days: float = param(
        1.0, low=0.0, unit="days", doc="an automatic verdict is a review only so long after the last one"
    )
    rho: float = param(0.01, low=0.0, unit="1/hour", source="SYNAPSE", doc="exponential decay of links")
    linear_rate: float = param(
        0.01, low=0.0, unit="1/day", source="World Weaver", doc="linear decay of links"
    )


@dataclass(frozen=True, slots=True)
class PlasticityParams(Checked):
    """How weights move (``docs/laws.md``, 5)."""

    oja_eta: float = param(0.05, low=0.0, high=1.0, source="floop", doc="learning rate of Oja's rule")
    oja_low: float = param(0.01, low=0.0, high=1.0, source="floop", doc="floor of Oja's rule")
    oja_high: float = param(0.95, low=0.0, high=1.0, source="floop", doc="ceiling of Oja's rule")
    hebb_eta: float = param(0.1, low=0.0, high=1.0, source="World Weaver", doc="learning rate of Hebb's rule")
    increment: float = param(0.1, low=0.0, high=1.0, source="Ethos", doc="step of a link found again")
    low: float = param(0.05, low=0.0, high=1.0, source="poc-memory", doc="floor of a nudged weight")
    high: float = param(0.95, low=0.0, high=1.0, source="poc-memory", doc="ceiling of a nudged weight")
    automatic: float = param(0.00001, low=0.0, high=1.0, source="poc-memory", doc="automatic tier")
    conscious: float = param(0.01, low=0.0, high=1.0, source="poc-memory", doc="conscious tier")
    threshold: float = param(
        0.15, low=0.0, high=1.0, source="floop (later code)", doc="co-activation from here"
    )
    matched: float = param(
        0.25, low=0.0, high=1.0, doc="share of the best match from which the cue itself counts as the reason"
    )
    window_days: float = param(
        7.0, low=0.0, unit="days", source="floop", doc="how far back co-occurrences count"
    )
    needed: int = param(3, low=1, unit="times", source="floop", doc="co-occurrences that make a link")
    session_recalls: int = param(
        32, low=1, unit="recalls", doc="latest recalls of a session that can have been active together"
    )
    born: float = param(0.1, low=0.0, high=1.0, source="floop", doc="weight that a new link learns from")
    prune_below: float = param(0.01, low=0.0, high=1.0, source="floop", doc="decayed weight of a spent link")
    start: float = param(0.5, low=0.0, high=1.0, doc="weight of a new link or node")
    jaccard_factor: float = param(
        3.0, low=0.0, source="poc-memory", doc="weight for each unit of Jaccard index"
    )
    jaccard_low: float = param(0.1, low=0.0, high=1.0, source="poc-memory", doc="floor of such a weight")
    credit_floor: float = param(0.05, low=0.0, high=1.0, doc="smallest share that is credited (section 6)")
    kept_share: float = param(0.005, low=0.0, high=1.0, doc="smallest share of all hits that a trace keeps")
    run_days: float = param(
        7.0, low=0.0, unit="days", doc="a run whose output was not used for so long counts as unused"
    )

    def step(self, tier: str) -> float:
        """The step by which a verdict of a tier moves weights; 0 for the manual tier, which sets them."""
        return {"automatic": self.automatic, "conscious": self.conscious}.get(tier, 0.0)


FSRS_WEIGHTS = (
    *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194),
    *(0.001, 1.8722, 0.1666, 0.796, 1.4835, 0.0614, 0.2629),
    *(1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542),
)


@dataclass(frozen=True, slots=True)
class FsrsParams(Checked):
    """FSRS-6 (``docs/laws.md``, 4). Weights: Open Spaced Repetition, "The Algorithm", fsrs4anki wiki."""

    weights: tuple[float, ...] = param(FSRS_WEIGHTS, source="FSRS-6", doc="w0 … w20")
    stability_min: float = param(0.001, low=1e-9, unit="days", source="FSRS-6", doc="floor of stability")
    difficulty_min: float = param(1.0, low=1.0, high=10.0, source="FSRS-6", doc="floor of difficulty")
    difficulty_max: float = param(10.0, low=1.0, high=10.0, source="FSRS-6", doc="ceiling of difficulty")
    retention: float = param(0.9, low=0.01, high=0.99, source="FSRS-6", doc="R after one stability")
    decay_min: float = param(0.001, low=0.001, doc="smallest exponent; below it the curve overflows")

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        if len(self.weights) != len(FSRS_WEIGHTS) or not all(math.isfinite(w) for w in self.weights):
            raise ParamError("weights", self.weights, f"must be {len(FSRS_WEIGHTS)} finite numbers")


@dataclass(frozen=True, slots=True)
class ScoreParams(Checked):
    """Scores and what goes into them (``docs/laws.md``, 7). The weights of each blend sum to 1."""

    floop: tuple[tuple[str, float], ...] = param(
        (("context", 0.35), ("base", 0.30), ("feedback", 0.15), ("priority", 0.20)),
        source="floop",
        doc="blend of `score.floop`",
    )
    ethos: tuple[tuple[str, float], ...] = param(
        (("cosine", 0.5), ("spread", 0.3), ("in_degree", 0.2)), source="Ethos", doc="blend of `score.ethos`"
    )
    synapse: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.5), ("activation", 0.3), ("centrality", 0.2)),
        source="SYNAPSE",
        doc="blend of `score.synapse`",
    )
    arc: tuple[tuple[str, float], ...] = param(
        (("relevance", 0.5), ("effectiveness", 0.3), ("recency", 0.2)),
        source="Arc",
        doc="blend of `score.arc`",
    )
    episode: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.4), ("recency", 0.25), ("outcome", 0.2), ("importance", 0.15)),
        source="World Weaver",
        doc="blend of `score.episode`",
    )
    fact: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.4), ("activation", 0.35), ("retrievability", 0.25)),
        source="World Weaver",
        doc="blend of `score.fact`",
    )
    procedure: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.5), ("success_rate", 0.3), ("recency", 0.2)),
        source="World Weaver",
        doc="blend of `score.procedure`",
    )
    outcomes: tuple[tuple[str, float], ...] = param(
        (("success", 1.0), ("partial", 0.83), ("neutral", 0.83), ("failure", 0.67)),
        source="World Weaver",
        doc="value of each outcome",
    )
    boosts: tuple[tuple[str, float], ...] = param(
        (("constraint", 2.0), ("directive", 1.5), ("procedure", 1.2)), source="floop", doc="others: 1"
    )
    specificity: tuple[float, ...] = param(
        (0.3, 0.4, 0.6, 0.8, 0.9, 1.0), source="floop", doc="activation by number of predicates"
    )
    unconfirmed: float = param(0.15, low=0.0, high=1.0, source="floop", doc="activation with none confirmed")
    neutral: float = param(0.5, low=0.0, high=1.0, source="floop", doc="value of what has no evidence yet")
    signals: int = param(3, low=1, unit="verdicts", source="floop", doc="fewest that make a feedback ratio")
    base_centre: float = param(-1.0, source="floop", doc="base level that scores one half")
    priority_max: float = param(10.0, low=1.0, source="floop", doc="highest priority")
    tolerance: float = param(1e-9, low=0.0, high=1e-3, doc="how far the sum of a blend may be from 1")
    cosine_slack: float = param(1e-6, low=0.0, high=1e-3, doc="rounding that may take a cosine above 1")

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        for name in ("floop", "ethos", "synapse", "arc", "episode", "fact", "procedure"):
            total = math.fsum(weight for _, weight in getattr(self, name))
            if not abs(total - 1.0) <= self.tolerance:
                raise ParamError(name, getattr(self, name), f"weights must sum to 1, not {total:g}")


@dataclass(frozen=True, slots=True)
class WhenParams(Checked):
    """How `when` predicates are compared with a cue (``docs/laws.md``, 7)."""

    paths: tuple[str, ...] = param(("file",), source="floop", doc="predicates that are glob patterns")
    partial: tuple[str, ...] = param(("task", "environment", "text"), doc="predicates matched word by word")
    alternatives: int = param(64, low=1, unit="patterns", doc="most patterns that braces stand for")


@dataclass(frozen=True, slots=True)
class SimilarityParams(Checked):
    """How alike two behaviours are, and what follows (``docs/laws.md``, 7)."""

    when: float = param(0.4, low=0.0, high=1.0, source="floop", doc="weight of `when`; content has the rest")
    merge: float = param(0.9, low=0.0, high=1.0, source="floop", doc="above this, merge")
    specialise: float = param(0.7, low=0.0, high=1.0, source="floop", doc="above this, specialise or create")
    link: float = param(0.5, low=0.0, high=1.0, source="floop", doc="`similar-to` from this up to `merge`")
    conflict: float = param(0.6, low=0.0, high=1.0, doc="opposite rules conflict from this overlap of words")
    confidence: float = param(0.6, low=0.0, high=1.0, source="floop", doc="confidence of a rule just learned")
    reviewed: int = param(
        50_000,
        low=0,
        unit="pairs",
        doc="pairs of rules that `review` compares, those with the rarest words first",
    )


@dataclass(frozen=True, slots=True)
class MetacognitionParams(Checked):
    """When an approach is not working (``docs/laws.md``, 9)."""

    pivot_failures: int = param(3, low=1, unit="tasks", source="Arc", doc="failures in a row: pivot now")
    low_rate: float = param(
        0.4, low=0.0, high=1.0, source="Arc", doc="success rate to consider a pivot below"
    )
    low_rate_tasks: int = param(2, low=1, unit="tasks", source="Arc", doc="fewest tasks that make a rate")
    digits: int = param(3, low=0, doc="decimals of the reported rate")


@dataclass(frozen=True, slots=True)
class Bm25Params(Checked):
    """Okapi BM25 (``docs/laws.md``, 10)."""

    k1: float = param(1.2, low=0.0, source="Robertson 1994", doc="saturation of term frequency")
    b: float = param(0.75, low=0.0, high=1.0, source="Robertson 1994", doc="length normalisation")


@dataclass(frozen=True, slots=True)
class TierParams(Checked):
    """How much of a memory is packed, by its activation (``docs/laws.md``, 10)."""

    full: float = param(
        0.7, low=0.0, high=1.0, source="floop", doc="activation from which all of it is shown"
    )
    gist: float = param(0.4, low=0.0, high=1.0, source="floop", doc="activation from which its gist is shown")
    name: float = param(0.1, low=0.0, high=1.0, source="floop", doc="activation from which its name is shown")


@dataclass(frozen=True, slots=True)
class QuietParams(Checked):
    """When a rule that is mostly overridden goes quiet."""

    window: int = param(5, low=1, unit="judgements", doc="latest judgements that somebody gave")
    overridden: int = param(
        4, low=1, unit="judgements", doc="so many of them say that the rule was overridden"
    )


BASE_LEVEL = BaseLevelParams()
FORGETTING = ForgettingParams()
PLASTICITY = PlasticityParams()
FSRS = FsrsParams()
SCORE = ScoreParams()
WHEN = WhenParams()
SIMILARITY = SimilarityParams()
METACOGNITION = MetacognitionParams()
BM25 = Bm25Params()
INHIBIT = InhibitParams()
SQUASH = SquashParams()
TIERS = TierParams()
QUIET = QuietParams()
