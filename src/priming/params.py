"""Every tunable of Priming, with its default, range, unit and source.

The tables of ``docs/laws.md`` are generated from this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from priming.checked import Checked, param
from priming.errors import ParamError

SUPPRESSING = ("conflicts", "overrides", "deprecated-to", "merged-into")


@dataclass(frozen=True, slots=True)
class SpreadParams(Checked):
    """How activation spreads (LAWS §1). The defaults are the ``priming`` profile's."""

    steps: int = param(4, low=0, unit="steps", source="RECALL.md", doc="synchronous steps of spreading")
    gain: float = param(0.8, low=0.0, source="RECALL.md", doc="share of a node's activation that it emits")
    hop_decay: float = param(1.0, low=0.0, high=1.0, source="RECALL.md", doc="factor on each hop")
    retention: float = param(0.0, low=0.0, high=1.0, source="RECALL.md", doc="share that a node keeps a step")
    restart: float = param(
        0.2,
        low=0.0,
        high=1.0,
        source="RECALL.md",
        doc="share of the anchors fed in again each step (sum only)",
    )
    combine: str = param("sum", choices=("sum", "max"), doc="how arrivals at a node combine")
    direction: str = param("both", choices=("out", "both"), doc="ways that a link is walked")
    normalise: str = param(
        "share", choices=("none", "fan", "share"), doc="what a node's emission is divided by"
    )
    rho: float = param(0.0, low=0.0, unit="1/hour", doc="temporal decay of links")
    epsilon: float = param(0.001, low=0.0, source="RECALL.md", doc="activation below which a node is silent")
    suppressing: tuple[str, ...] = param(SUPPRESSING, doc="relations that take activation away")
    max_nodes: int | None = param(None, low=1, optional=True, unit="nodes", doc="strongest nodes kept a step")
    max_neighbours: int | None = param(
        None, low=1, optional=True, unit="links", doc="strongest links that a node emits over"
    )


@dataclass(frozen=True, slots=True)
class InhibitParams(Checked):
    """Lateral inhibition (LAWS §2)."""

    beta: float = param(0.15, low=0.0, source="SYNAPSE", doc="strength of inhibition")
    winners: int = param(7, low=1, unit="nodes", source="SYNAPSE", doc="strongest nodes left untouched")
    pool: str = param("mean", choices=("mean", "sum"), doc="what losers are compared with")


@dataclass(frozen=True, slots=True)
class SquashParams(Checked):
    """The logistic that follows inhibition (LAWS §2)."""

    gain: float = param(10.0, low=0.0, source="floop", doc="steepness")
    centre: float = param(0.3, source="floop", doc="activation that maps to one half")


@dataclass(frozen=True, slots=True)
class BaseLevelParams(Checked):
    """Base-level activation (LAWS §3)."""

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
    """Forgetting (LAWS §4)."""

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
class FadingParams(Checked):
    """What counts as about to be forgotten."""

    days: float = param(7.0, low=0.0, unit="days", doc="how far ahead is looked")
    below: float = param(0.75, low=0.0, high=1.0, doc="retrievability then from which it fades")
    worth: float = param(0.5, low=0.0, high=1.0, doc="only what matters more than this")
    young_days: float = param(1.0, low=0.0, unit="days", doc="what was told later than this is not looked at")


@dataclass(frozen=True, slots=True)
class PlasticityParams(Checked):
    """How weights move (LAWS §5)."""

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
    born: float = param(0.1, low=0.0, high=1.0, source="floop", doc="weight that a new link learns from")
    prune_below: float = param(0.01, low=0.0, high=1.0, source="floop", doc="decayed weight of a spent link")
    start: float = param(0.5, low=0.0, high=1.0, doc="weight of a new link or node")
    jaccard_factor: float = param(
        3.0, low=0.0, source="poc-memory", doc="weight for each unit of Jaccard index"
    )
    jaccard_low: float = param(0.1, low=0.0, high=1.0, source="poc-memory", doc="floor of such a weight")
    credit_floor: float = param(0.05, low=0.0, high=1.0, doc="smallest share that is credited (LAWS §6)")
    kept_share: float = param(0.005, low=0.0, high=1.0, doc="smallest share of all hits that a trace keeps")
    run_days: float = param(
        7.0, low=0.0, unit="days", doc="a run whose output was not used for so long counts as unused"
    )


FSRS_WEIGHTS = (
    *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194),
    *(0.001, 1.8722, 0.1666, 0.796, 1.4835, 0.0614, 0.2629),
    *(1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542),
)


@dataclass(frozen=True, slots=True)
class FsrsParams(Checked):
    """FSRS-6 (LAWS §4). Weights: Open Spaced Repetition, "The Algorithm", fsrs4anki wiki."""

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
    """Scores and what goes into them (LAWS §7). The weights of each blend sum to 1."""

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
    """How `when` predicates are compared with a cue (LAWS §7)."""

    paths: tuple[str, ...] = param(("file",), source="floop", doc="predicates that are glob patterns")
    partial: tuple[str, ...] = param(("task", "environment", "text"), doc="predicates matched word by word")
    stem: int = param(3, low=1, unit="letters", doc="shortest word that matches the longer ones it begins")


@dataclass(frozen=True, slots=True)
class SimilarityParams(Checked):
    """How alike two behaviours are, and what follows (LAWS §7)."""

    when: float = param(0.4, low=0.0, high=1.0, source="floop", doc="weight of `when`; content has the rest")
    merge: float = param(0.9, low=0.0, high=1.0, source="floop", doc="above this, merge")
    specialise: float = param(0.7, low=0.0, high=1.0, source="floop", doc="above this, specialise or create")
    link: float = param(0.5, low=0.0, high=1.0, source="floop", doc="`similar-to` from this up to `merge`")
    conflict: float = param(0.6, low=0.0, high=1.0, doc="opposite rules conflict from this overlap of words")
    confidence: float = param(0.6, low=0.0, high=1.0, source="floop", doc="confidence of a rule just learned")


@dataclass(frozen=True, slots=True)
class MetacognitionParams(Checked):
    """When an approach is not working (LAWS §9)."""

    pivot_failures: int = param(3, low=1, unit="tasks", source="Arc", doc="failures in a row: pivot now")
    low_rate: float = param(
        0.4, low=0.0, high=1.0, source="Arc", doc="success rate to consider a pivot below"
    )
    low_rate_tasks: int = param(2, low=1, unit="tasks", source="Arc", doc="fewest tasks that make a rate")
    digits: int = param(3, low=0, doc="decimals of the reported rate")


@dataclass(frozen=True, slots=True)
class Bm25Params(Checked):
    """Okapi BM25 (LAWS §10)."""

    k1: float = param(1.2, low=0.0, source="Robertson 1994", doc="saturation of term frequency")
    b: float = param(0.75, low=0.0, high=1.0, source="Robertson 1994", doc="length normalisation")


@dataclass(frozen=True, slots=True)
class TierParams(Checked):
    """How much of a memory is packed, by its activation (LAWS §10)."""

    full: float = param(
        0.7, low=0.0, high=1.0, source="floop", doc="activation from which all of it is shown"
    )
    gist: float = param(0.4, low=0.0, high=1.0, source="floop", doc="activation from which its gist is shown")
    name: float = param(0.1, low=0.0, high=1.0, source="floop", doc="activation from which its name is shown")


@dataclass(frozen=True, slots=True)
class ActiveParams(Checked):
    """How much of what is active is brought before an agent."""

    tokens: int = param(2_000, low=0, unit="tokens", source="floop", doc="budget of `active`")
    most: int = param(200, low=1, unit="behaviours", doc="best behaviours that `active` returns")


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (RECALL.md). Each term can be ablated by name."""

    bm25: float = param(0.3, low=0.0, high=1.0, doc="weight of BM25")
    cosine: float = param(0.3, low=0.0, high=1.0, doc="weight of the memory's cosine")
    sentence: float = param(0.3, low=0.0, high=1.0, doc="weight of the best sentence's cosine")
    pairs: float = param(0.1, low=0.0, high=1.0, doc="weight of adjacent stem pairs")
    named: float = param(0.2, low=0.0, doc="prior of a memory whose heading the cue names")
    date: float = param(0.25, low=0.0, doc="prior of a memory of the date that the cue names")
    time: float = param(0.05, low=0.0, doc="prior of a time expression when the cue asks for a time")
    length: float = param(0.1, low=0.0, doc="prior of longer memories")
    question: float = param(0.1, low=0.0, doc="taken from memories that only ask")
    window: float = param(0.1, low=0.0, doc="weight of BM25 over the neighbouring memories")
    session: float = param(0.1, low=0.0, doc="weight of BM25 over the session")
    context: float = param(0.3, low=0.0, doc="prior of confirmed `when` predicates")
    proved: float = param(0.25, low=0.0, doc="prior of a memory that verdicts on such a cue spoke for")
    refused: float = param(0.25, low=0.0, doc="taken from memories that verdicts on such a cue spoke against")
    retention: float = param(0.05, low=0.0, doc="taken from reviewed memories as they are forgotten")
    base: float = param(0.05, low=0.0, doc="prior of memories that were used, by how often and how lately")
    same_cue: float = param(
        0.5, low=0.0, high=1.0, doc="Jaccard index of terms from which two cues are alike for that"
    )
    length_terms: int = param(
        25, low=1, unit="terms", doc="memories of this length get the whole length prior"
    )
    speaker_share: float = param(
        0.05, low=0.0, high=1.0, doc="share of memories that makes a heading a speaker"
    )
    date_day: float = param(1.3, low=0.0, doc="match of month and day")
    date_month: float = param(1.0, low=0.0, doc="match of the month")
    date_after: float = param(0.3, low=0.0, doc="match of the month after")
    date_year: float = param(0.5, low=0.0, doc="match of the year alone")
    anchors: int = param(20, low=1, unit="memories", doc="anchors of a recall of up to 20 hits")
    anchors_many: int = param(50, low=1, unit="memories", doc="anchors of a larger recall")
    temperature: float = param(0.08, low=0.001, doc="tau of the softmax over anchors")
    coverage_gain: float = param(2.2, low=0.0, doc="factor on the tf part of BM25 in name coverage")
    coverage_base: float = param(0.3, low=0.0, doc="share of lacking names that needs no other evidence")
    coverage_cap: float = param(0.5, low=0.0, high=1.0, doc="most of the activation that coverage moves")
    gate_base: float = param(0.1, low=0.0, doc="what a link into an unrelated memory counts")
    log_floor: float = param(0.00001, low=1e-12, doc="added to activation before the logarithm")
    floor: float = param(
        0.2,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="with no shared term, nothing is returned below this cosine",
    )
    heading_mention: float = param(
        8.0, low=0.0, doc="factor of a link to the name that is a memory's heading"
    )
    mention_min: int = param(2, low=1, unit="memories", doc="fewest memories of a name that carries")
    mention_max: int = param(10, low=1, unit="memories", doc="a name in more memories than this …")
    mention_share: float = param(0.02, low=0.0, high=1.0, doc="… and in more than this share carries nothing")


@dataclass(frozen=True, slots=True)
class LinkFactors(Checked):
    """How a profile weighs links: effective weight = learned weight × the factor of its relation (LAWS §5)."""

    by_relation: tuple[tuple[str, float], ...] = param((), doc="factor of each relation named here")
    others: float = param(1.0, low=0.0, doc="factor of every other relation")
    similar: float = param(
        1.0, low=0.0, doc="factor of `similar-to` links made by rule; given ones count whole"
    )
    fan_out_names: bool = param(
        False, doc="whether a mention counts m/ln(1 + df) within the bounds of RECALL.md"
    )
    terms: float = param(1.0, low=0.0, doc="factor of mentions of rare words (beside that of names)")
    mirror: bool = param(
        False, doc="whether `similar-to` is walked both ways where others are walked outwards"
    )


@dataclass(frozen=True, slots=True)
class AnchorParams(Checked):
    """Where recall starts in the profiles that do not follow RECALL.md."""

    evidence: str = param("cosine", choices=("cosine", "fused"), doc="what anchors are chosen by")
    episodes: int = param(10, low=0, unit="memories", source="Ethos", doc="best episodes")
    pool: int = param(50, low=1, unit="memories", doc="memories scored by a design that does not spread")
    facts: int = param(10, low=0, unit="memories", source="Ethos", doc="best memories of the other kinds")


@dataclass(frozen=True, slots=True)
class LinkParams(Checked):
    """What is linked when a memory is remembered (ARCHITECTURE, RECALL)."""

    nearest: int = param(3, low=0, unit="memories", source="Ethos", doc="`similar-to` links made at once")
    similarity: float = param(0.6, low=0.0, high=1.0, unit="cosine", source="Ethos", doc="alike from here on")
    bulk_nearest: int = param(
        20_000, low=0, unit="memories", doc="largest namespace in which a bulk load links the nearest at once"
    )
    rare_from: int = param(50, low=0, unit="memories", doc="smallest namespace in which words can be rare")
    rare_max: int = param(3, low=2, unit="memories", doc="a word in up to so many memories is rare")
    rare_letters: int = param(5, low=1, unit="letters", doc="shortest rare word")
    names: int = param(64, low=0, unit="names", doc="most names linked from one memory")
    rivals: int = param(
        8, low=0, unit="facts", doc="most facts, the latest first, that a new one is compared with"
    )


@dataclass(frozen=True, slots=True)
class SleepParams(Checked):
    """What a night does, and when it is due (SYSTEMS W5–W7, A7)."""

    light_window: int = param(
        1_000, low=1, unit="episodes", source="World Weaver", doc="latest that `light` compares"
    )
    window: int = param(500, low=1, unit="episodes", source="World Weaver", doc="latest that `deep` clusters")
    batch: int = param(8_000, low=2, unit="memories", doc="most that are clustered at once")
    cluster: int = param(3, low=2, unit="episodes", source="World Weaver", doc="fewest that make a cluster")
    skills: int = param(2, low=2, unit="procedures", source="World Weaver", doc="fewest that make a cluster")
    samples: int = param(1, low=1, unit="memories", source="World Weaver", doc="HDBSCAN's `min_samples`")
    epsilon: float = param(
        0.15, low=0.0, unit="cosine distance", doc="of the second attempt, where all seemed noise"
    )
    tight: float = param(
        0.8,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="to the centroid: of every member of a single theme, and of clusters that are one",
    )
    coherent: float = param(
        0.2, low=-1.0, high=1.0, unit="cosine", doc="mean to the other members; below it a member is noise"
    )
    shared: float = param(0.5, low=0.0, high=1.0, doc="least share of a cluster that names it")
    central: int = param(32, low=1, unit="episodes", doc="most central members that a gist is taken from")
    skill_gain: float = param(
        0.05, low=0.0, high=1.0, source="World Weaver", doc="estimate gained by each procedure merged in"
    )
    uses: int = param(3, low=1, unit="verdicts", source="Arc", doc="fewest on a memory that is pruned")
    effectiveness: float = param(0.25, low=0.0, high=1.0, source="Arc", doc="pruned below this")
    days: float = param(1.0, low=0.0, unit="days", doc="what is younger is never pruned")
    duplicate_days: float = param(
        30.0, low=0.0, unit="days", doc="a duplicate is pruned so long after its mark"
    )
    merge: float = param(
        0.9, low=0.0, high=1.0, unit="cosine", source="Arc", doc="failures and patterns merge"
    )
    linked: int = param(1_000, low=0, unit="memories", doc="most that one night looks at to link them")
    fresh: int = param(100, low=1, unit="memories", doc="so many new ones call for sleep before it is time")


@dataclass(frozen=True, slots=True)
class StoreParams(Checked):
    """Limits and patience of a store."""

    busy_timeout: float = param(30.0, low=0.0, unit="seconds", doc="patience with another writer")
    content_limit: int = param(1_048_576, low=1, unit="characters", doc="longest memory")
    batch: int = param(500, low=1, unit="memories", doc="memories in one transaction of a bulk load")
    trace_days: float = param(30.0, low=0.0, unit="days", doc="traces are kept this long")
    trace_count: int = param(10_000, low=0, unit="traces", doc="and at most so many")
    flow_count: int = param(1_000, low=0, unit="traces", doc="latest traces that keep their flow")
    echo_hours: float = param(24.0, low=0.0, unit="hours", doc="how long recalled text counts as an echo")
    echo_traces: int = param(500, low=0, unit="recalls", doc="latest recalls whose text can come back")
    echo_words: int = param(4, low=1, unit="words", doc="shortest text that can be an echo")
    pack_bytes: int = param(8_388_608, low=1, unit="bytes", doc="largest pack that is read")
    why_operations: int = param(10, low=1, unit="operations", doc="latest operations that `why` shows")


BASE_LEVEL = BaseLevelParams()
FORGETTING = ForgettingParams()
FADING = FadingParams()
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
ACTIVE = ActiveParams()
LINKING = LinkParams()
SLEEP = SleepParams()
STORE = StoreParams()
