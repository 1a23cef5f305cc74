"""The parameters of the laws, whose equations are in ``docs/laws.md``."""

from __future__ import annotations

import math

from priming.config.values import Checked, dataclass, param
from priming.config.words import SUPPRESSING
from priming.errors import ParamError


@dataclass(frozen=True, slots=True)
class SpreadParams(Checked):
    """How activation spreads (``docs/laws.md``, 1). The defaults are the ``priming`` profile's, but for its leak."""

    steps: int = param(4, low=0, unit="steps", source="docs/recall.md")
    """Synchronous steps of spreading."""
    gain: float = param(0.8, low=0.0, high=2.0, source="docs/recall.md")
    """Share of a node's activation that it emits."""
    hop_decay: float = param(1.0, low=0.0, high=1.0, source="docs/recall.md")
    """Factor for each hop."""
    retention: float = param(0.0, low=0.0, high=1.0, source="docs/recall.md")
    """Share that a node keeps in each step."""
    restart: float = param(0.2, low=0.0, high=1.0, source="docs/recall.md")
    """Share of the anchors fed in again each step (sum only)."""
    combine: str = param("sum", choices=("sum", "max"))
    """How arrivals at a node combine."""
    direction: str = param("both", choices=("out", "both"))
    """Directions in which links are walked."""
    normalise: str = param("share", choices=("none", "fan", "share"))
    """Divisor of a node's emission."""
    leak: float = param(0.0, low=0.0, high=10.0)
    """Weight of the leak beside a node's links (share)."""
    rho: float = param(0.0, low=0.0, unit="1/hour")
    """Temporal decay of links."""
    epsilon: float = param(0.001, low=0.0, high=1.0, source="docs/recall.md")
    """Activation below which a node is silent."""
    suppressing: tuple[str, ...] = param(SUPPRESSING)
    """Relations that take activation away."""
    max_nodes: int | None = param(None, low=1, optional=True, unit="nodes")
    """Maximum number of nodes kept after each step, the strongest first."""
    max_neighbours: int | None = param(None, low=1, optional=True, unit="links")
    """Maximum number of links over which a node emits, the strongest first."""
    max_links: int | None = param(None, low=1, optional=True, unit="links")
    """Maximum number of links read in a step, the strongest first, of all that leave or enter active nodes."""


@dataclass(frozen=True, slots=True)
class InhibitParams(Checked):
    """Lateral inhibition (``docs/laws.md``, 2)."""

    beta: float = param(0.15, low=0.0, source="SYNAPSE")
    """Strength of inhibition."""
    winners: int = param(7, low=1, unit="nodes", source="SYNAPSE")
    """Number of strongest nodes that are not inhibited."""
    pool: str = param("mean", choices=("mean", "sum"))
    """Statistic of the winners with which losers are compared."""


@dataclass(frozen=True, slots=True)
class SquashParams(Checked):
    """The logistic that follows inhibition (``docs/laws.md``, 2)."""

    gain: float = param(10.0, low=0.0, source="floop")
    """Steepness."""
    centre: float = param(0.3, source="floop")
    """Activation that maps to one half."""


@dataclass(frozen=True, slots=True)
class BaseLevelParams(Checked):
    """Base-level activation (``docs/laws.md``, 3)."""

    d: float = param(0.5, low=0.0, high=1.0, source="Anderson 2004")
    """Decay of a trace; below 1."""
    min_age: float = param(0.001, low=0.0, unit="hours")
    """Minimum age."""
    s_base: float = param(1.6, source="World Weaver")
    """S_base of associative strength."""
    noise: float = param(0.0, low=0.0)
    """Sigma of activation noise."""
    recent: int = param(10, low=1, unit="uses", source="Petrov 2006")
    """Number of latest uses whose times are kept; older ones are only counted."""


@dataclass(frozen=True, slots=True)
class ForgettingParams(Checked):
    """Forgetting (``docs/laws.md``, 4)."""

    factor: float = param(0.9, low=0.1, high=1.0, source="World Weaver")
    """Factor of the power law."""
    exponent: float = param(0.5, low=0.0, source="World Weaver")
    """Exponent of the power law."""
    fsrs_decay: float = param(0.1542, low=0.0, source="FSRS-6")
    """The exponent of FSRS-6, w20."""
    initial_stability: float = param(1.0, low=0.5, high=10.0, unit="days", source="World Weaver")
    """Stability of a new memory."""
    growth: float = param(0.1, low=0.0, source="World Weaver")
    """Growth of stability after a successful recall."""
    shrink: float = param(0.8, low=0.0, high=1.0, source="World Weaver")
    """Factor on stability after a failed recall."""
    recency_rate: float = param(0.1, low=0.0, unit="1/day", source="World Weaver")
    """Exponential decay of recency."""
    half_life: float = param(7.0, low=0.0, unit="days", source="Arc")
    """Time in which recency halves."""
    automatic_days: float = param(1.0, low=0.0, unit="days")
    """Minimum time since the last review for an automatic verdict to count as a review."""
    rho: float = param(0.01, low=0.0, unit="1/hour", source="SYNAPSE")
    """Exponential decay of links."""
    linear_rate: float = param(0.01, low=0.0, unit="1/day", source="World Weaver")
    """Linear decay of links."""


@dataclass(frozen=True, slots=True)
class ClusterParams(Checked):
    """The clusters of episodes from which sleep makes entities."""

    min_cluster_size: int = param(3, low=2, unit="episodes", source="World Weaver")
    """Minimum size of a cluster of HDBSCAN."""
    min_samples: int = param(1, low=1, unit="episodes", source="World Weaver")
    """Number of neighbours that make a place dense to HDBSCAN."""
    min_occurrences: int = param(3, low=2, unit="episodes", source="World Weaver")
    """Minimum number of episodes of which an entity is made."""


@dataclass(frozen=True, slots=True)
class PlasticityParams(Checked):
    """How weights move (``docs/laws.md``, 5)."""

    oja_eta: float = param(0.05, low=0.0, high=1.0, source="floop")
    """Learning rate of Oja's rule."""
    oja_low: float = param(0.01, low=0.0, high=1.0, source="floop")
    """Floor of Oja's rule."""
    oja_high: float = param(0.95, low=0.0, high=1.0, source="floop")
    """Ceiling of Oja's rule."""
    hebb_eta: float = param(0.1, low=0.0, high=1.0, source="World Weaver")
    """Learning rate of Hebb's rule."""
    increment: float = param(0.1, low=0.0, high=1.0, source="Ethos")
    """Increase of a link that is made again."""
    low: float = param(0.05, low=0.0, high=1.0, source="poc-memory")
    """Floor of a nudged weight."""
    high: float = param(0.95, low=0.0, high=1.0, source="poc-memory")
    """Ceiling of a nudged weight."""
    automatic: float = param(0.00001, low=0.0, high=1.0, source="poc-memory")
    """Automatic tier."""
    conscious: float = param(0.01, low=0.0, high=1.0, source="poc-memory")
    """Conscious tier."""
    threshold: float = param(0.15, low=0.0, high=1.0, source="floop (later code)")
    """Minimum activation that counts as co-activation."""
    matched: float = param(0.25, low=0.0, high=1.0)
    """Minimum share of the best match at which a memory counts as matched by the cue itself."""
    window_days: float = param(7.0, low=0.0, unit="days", source="floop")
    """Period in which co-occurrences count."""
    needed: int = param(3, low=1, unit="times", source="floop")
    """Number of co-occurrences that make a link."""
    session_recalls: int = param(32, low=1, unit="recalls")
    """Maximum number of recalls of a session, the latest first, whose memories can count as active together."""
    born: float = param(0.1, low=0.0, high=1.0, source="floop")
    """Weight from which a new link learns."""
    prune_below: float = param(0.01, low=0.0, high=1.0, source="floop")
    """Decayed weight below which a link is removed."""
    start: float = param(0.5, low=0.0, high=1.0)
    """Weight of a new link or node."""
    credit_floor: float = param(0.05, low=0.0, high=1.0)
    """Minimum share of a link to receive credit (section 6)."""
    kept_share: float = param(0.005, low=0.0, high=1.0)
    """Minimum share of all hits for a link to be kept in a trace."""
    run_days: float = param(7.0, low=0.0, unit="days")
    """Time after which a run whose output was not used counts as unused."""

    def step(self, tier: str) -> float:
        """Return the step by which a verdict of a tier moves weights; 0 for the manual tier, which sets them."""
        return {"automatic": self.automatic, "conscious": self.conscious}.get(tier, 0.0)


@dataclass(frozen=True, slots=True)
class ScoreParams(Checked):
    """Scores and what goes into them (``docs/laws.md``, 7). The weights of each blend sum to 1."""

    floop: tuple[tuple[str, float], ...] = param(
        (("context", 0.35), ("base", 0.30), ("feedback", 0.15), ("priority", 0.20)), source="floop"
    )
    """Blend of `score.floop`."""
    ethos: tuple[tuple[str, float], ...] = param(
        (("cosine", 0.5), ("spread", 0.3), ("in_degree", 0.2)), source="Ethos"
    )
    """Blend of `score.ethos`."""
    synapse: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.5), ("activation", 0.3), ("centrality", 0.2)), source="SYNAPSE"
    )
    """Blend of `score.synapse`."""
    arc: tuple[tuple[str, float], ...] = param(
        (("relevance", 0.5), ("effectiveness", 0.3), ("recency", 0.2)), source="Arc"
    )
    """Blend of `score.arc`."""
    episode: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.4), ("recency", 0.25), ("outcome", 0.2), ("importance", 0.15)), source="World Weaver"
    )
    """Blend of `score.episode`."""
    fact: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.4), ("activation", 0.35), ("retrievability", 0.25)), source="World Weaver"
    )
    """Blend of `score.fact`."""
    procedure: tuple[tuple[str, float], ...] = param(
        (("semantic", 0.5), ("success_rate", 0.3), ("recency", 0.2)), source="World Weaver"
    )
    """Blend of `score.procedure`."""
    outcomes: tuple[tuple[str, float], ...] = param(
        (("success", 1.0), ("partial", 0.83), ("neutral", 0.83), ("failure", 0.67)), source="World Weaver"
    )
    """Value of each outcome."""
    boosts: tuple[tuple[str, float], ...] = param(
        (("constraint", 2.0), ("directive", 1.5), ("procedure", 1.2)), source="floop"
    )
    """Others: 1."""
    neutral: float = param(0.5, low=0.0, high=1.0, source="floop")
    """Value without evidence."""
    priority_max: float = param(10.0, low=1.0, source="floop")
    """Highest priority."""
    tolerance: float = param(1e-9, low=0.0, high=1e-3)
    """Maximum deviation of a blend's sum from 1."""

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        for name in ("floop", "ethos", "synapse", "arc", "episode", "fact", "procedure"):
            total = math.fsum(weight for _, weight in getattr(self, name))
            if not abs(total - 1.0) <= self.tolerance:
                raise ParamError(name, getattr(self, name), f"weights must sum to 1, not {total:g}")


@dataclass(frozen=True, slots=True)
class TierParams(Checked):
    """How much of a memory is packed, by its activation (``docs/laws.md``, 10)."""

    full: float = param(0.7, low=0.0, high=1.0, source="floop")
    """Minimum activation for the full text."""
    gist: float = param(0.4, low=0.0, high=1.0, source="floop")
    """Minimum activation for the gist."""
    name: float = param(0.1, low=0.0, high=1.0, source="floop")
    """Minimum activation for the name."""


BASE_LEVEL = BaseLevelParams()
FORGETTING = ForgettingParams()
PLASTICITY = PlasticityParams()
SCORE = ScoreParams()
INHIBIT = InhibitParams()
SQUASH = SquashParams()
