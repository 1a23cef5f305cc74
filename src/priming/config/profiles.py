"""The profiles: five designs and our own, each a frozen choice of laws and parameters for one engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from priming.config.params.laws import (
    BaseLevelParams,
    ClusterParams,
    ForgettingParams,
    InhibitParams,
    PlasticityParams,
    ScoreParams,
    SpreadParams,
    SquashParams,
    TierParams,
)
from priming.config.params.recall import (
    AnchorParams,
    LearningParams,
    LinkFactors,
    LinkParams,
    RecallParams,
    RelevanceParams,
)
from priming.config.values import dataclass
from priming.errors import ParamError

FILES = (("removed-in", 0.0),)
"""Factor of links that only say that a file is gone."""
NO_STRUCTURE = (
    *(("next", 0.0), ("next-but-one", 0.0), ("part-of", 0.0), ("mentions", 0.0), ("touches", 0.0)),
    *FILES,
)
"""Factors of profiles whose designs have neither sessions nor names."""
FOREIGN = (("co-activated", 0.0),)
"""Factor of links that another profile learned in the same store: they carry nothing here."""
DESIGNED = SpreadParams(steps=3, restart=0.0)
"""What the designs other than our own have in common: three steps from anchors that are fed in once."""
NO_LEARNING = LearningParams(verdicts="none", runs=False, coactivation=False, fading="none")
VERDICTS_ONLY = replace(NO_LEARNING, verdicts="path")
PLAIN_CUE = RecallParams(idf=False, passages=False, kind=False, date=0.0)
"""The cosine and words of the cue as it stands: only ``priming`` weights tokens, reads passages, dates and kinds."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One complete choice. ``score`` names the function of ``core.score``, or is ``priming`` (``docs/recall.md``).

    ``base_level`` and ``forgetting`` name the laws (``docs/laws.md``, 3 and 4) that the score uses, with their
    parameters beside them. ``inhibit`` and ``squash`` are None where the design has no such step; ``cut`` drops
    what is below epsilon in between. ``relevance`` is None where the design has no probabilities.
    ``linking`` decides which links a new memory gets, ``learning`` which laws move links later and let them fade.
    """

    name: str
    source: str
    score: str
    spread: SpreadParams
    anchors: AnchorParams | None = None
    links: LinkFactors = field(default_factory=LinkFactors)
    inhibit: InhibitParams | None = None
    cut: bool = False
    squash: SquashParams | None = None
    base_level: str = "hybrid"
    base_level_params: BaseLevelParams = field(default_factory=BaseLevelParams)
    forgetting: str = "fsrs"
    forgetting_params: ForgettingParams = field(default_factory=ForgettingParams)
    plasticity: PlasticityParams = field(default_factory=PlasticityParams)
    recall: RecallParams = field(default_factory=RecallParams)
    scoring: ScoreParams = field(default_factory=ScoreParams)
    linking: LinkParams = field(default_factory=LinkParams)
    learning: LearningParams = field(default_factory=LearningParams)
    tiers: TierParams | None = None
    relevance: RelevanceParams | None = None
    clustering: ClusterParams = field(default_factory=ClusterParams)

    @property
    def spreads(self) -> bool:
        """Whether its score has an activation: otherwise nothing spreads, whatever a recall asks for."""
        return self.score not in _WITHOUT_ACTIVATION

    def __post_init__(self) -> None:
        """Check rules that concern several parameters."""
        s = self.spread
        if s.steps and s.combine == "sum" and s.normalise == "none" and s.gain >= 1.0:
            rule = f"must be < 1 in {self.name}, which adds up arrivals: activation would grow with every hop"
            raise ParamError("gain", self.spread.gain, rule)


_WITHOUT_ACTIVATION = ("arc", "world-weaver")
"""Scores that rank by likeness, use and time alone."""
PRIMING = Profile(
    name="priming",
    source="our own recipe, found by measurement",
    score="priming",
    spread=SpreadParams(leak=0.5),
    links=LinkFactors(
        by_relation=(
            *(
                ("part-of", 0.0),
                ("next", 0.3),
                ("next-but-one", 0.15),
                ("mentions", 0.25),
                ("touches", 0.15),
            ),
            *FILES,
        ),
        similar=0.003,
        terms=0.0,
        no_turn=0.1,
        fan_out_names=True,
    ),
    relevance=RelevanceParams(),
)
FLOOP = Profile(
    name="floop",
    source="floop: behaviours learned from corrections",
    score="floop",
    spread=replace(
        DESIGNED, hop_decay=0.5, retention=1.0, combine="max", normalise="fan", rho=0.01, epsilon=0.01
    ),
    anchors=AnchorParams(evidence="fused"),
    links=LinkFactors(by_relation=NO_STRUCTURE),
    inhibit=InhibitParams(),
    cut=True,
    squash=SquashParams(),
    base_level="optimized",
    base_level_params=BaseLevelParams(min_age=1.0 / 60.0),
    forgetting="none",
    recall=PLAIN_CUE,
    learning=LearningParams(runs=False, sessions=True),
    tiers=TierParams(),
)
SYNAPSE = Profile(
    name="synapse",
    source="SYNAPSE (arXiv 2601.02744)",
    score="synapse",
    spread=replace(DESIGNED, retention=0.5, direction="out", normalise="fan", rho=0.01, epsilon=0.01),
    anchors=AnchorParams(evidence="fused"),
    links=LinkFactors(by_relation=(("part-of", 0.0), ("next-but-one", 0.0), *FOREIGN), mirror=True),
    inhibit=InhibitParams(),
    cut=True,
    squash=SquashParams(gain=5.0, centre=0.5),
    forgetting="none",
    recall=PLAIN_CUE,
    learning=VERDICTS_ONLY,
)
ETHOS = Profile(
    name="ethos",
    source="Ethos: anchors, then spreading",
    score="ethos",
    spread=replace(
        DESIGNED, gain=0.85, retention=1.0, direction="out", normalise="none", epsilon=0.0, max_links=500
    ),
    anchors=AnchorParams(widen=False),
    links=LinkFactors(by_relation=(*NO_STRUCTURE, *FOREIGN), mirror=True),
    forgetting="none",
    recall=PLAIN_CUE,
    linking=LinkParams(strengthen=True),
    learning=VERDICTS_ONLY,
)
ARC = Profile(
    name="arc",
    source="Arc: relevance, effectiveness, recency",
    score="arc",
    spread=SpreadParams(steps=0, gain=1.0, restart=0.0),
    anchors=AnchorParams(),
    forgetting="half-life",
    recall=PLAIN_CUE,
    learning=NO_LEARNING,
)
POC = Profile(
    name="poc",
    source="poc-memory: activation times node weight (the gain is our choice)",
    score="poc",
    spread=replace(DESIGNED, gain=0.85, retention=1.0, normalise="none"),
    anchors=AnchorParams(evidence="fused"),
    links=LinkFactors(by_relation=(*NO_STRUCTURE, *FOREIGN)),
    forgetting="none",
    recall=PLAIN_CUE,
    learning=LearningParams(coactivation=False, fading="none"),
)
WORLD_WEAVER = Profile(
    name="world-weaver",
    source="World Weaver: episodes, facts and procedures",
    score="world-weaver",
    spread=SpreadParams(steps=0, gain=1.0, restart=0.0),
    anchors=AnchorParams(),
    squash=SquashParams(gain=1.0, centre=0.0),
    base_level="recency_frequency",
    base_level_params=BaseLevelParams(noise=0.1),
    forgetting="power",
    recall=PLAIN_CUE,
    learning=LearningParams(verdicts="together", runs=False, coactivation=False, fading="linear"),
)

ALL = {profile.name: profile for profile in (PRIMING, FLOOP, SYNAPSE, ETHOS, ARC, POC, WORLD_WEAVER)}


def get(name: str, among: Mapping[str, Profile] = ALL) -> Profile:
    """Return the profile of that name; ``ParamError`` lists the names."""
    if not isinstance(name, str) or name not in among:
        raise ParamError("profile", name, f"must be one of {', '.join(among)}")
    return among[name]


def laws(profile: Profile) -> dict[str, str]:
    """Return the laws that move the links of a profile, in words: learning, fading and linking."""
    p, law, linking = profile.plasticity, profile.learning, profile.linking
    fading, links = profile.forgetting_params, dict(profile.links.by_relation)
    verdicts = {
        "path": f"`used` and `not_relevant` move the links of the path by {p.conscious:g}, automatic ones by"
        f" {p.automatic:g}; used and not useful the weight of the memory",
        "together": f"memories of a recall that proved useful together: w + {p.hebb_eta:g} · (1 − w) on their links",
        "none": "no link moves; they are counted",
    }
    rho = profile.spread.rho if profile.spread.steps else 0.0
    read = f"links are read as w · e^(−{rho:g} · hours)"
    fades = {
        "exponential": f"sleep removes co-activated links of w · e^(−{fading.rho:g} · hours) below {p.prune_below:g}",
        "linear": f"in sleep, all but structural links lose {fading.linear_rate:g} of their weight a day since"
        " their last use",
        "none": "",
    }
    decay = "; ".join(part for part in (read * (rho > 0), fades[law.fading]) if part)
    again = f"; remembering it again adds {p.increment:g} to each, up to 1" if linking.strengthen else ""
    walked = links.get("co-activated", profile.links.others) > 0 and profile.spread.steps > 0
    together = "useful recalls or sessions" if law.sessions else "useful recalls"
    pairs = (
        f"two memories active together for different reasons in {p.needed} {together} within {p.window_days:g} days"
        " are linked, rules with rules only; the link then follows Oja's rule"
    )
    return {
        "verdicts": verdicts[law.verdicts],
        "runs": f"used: + {p.automatic:g} on the links that its actions followed, without any on all among what was"
        f" shown; unused: − {p.automatic:g} on all"
        if law.runs
        else "nothing moves",
        "co-activation": pairs if law.coactivation else "nothing is linked",
        "decay": decay or "nothing",
        "links": f"the {linking.nearest} nearest from a cosine of {linking.similarity:g} on{again}",
        "co-activated links carry": "activation" if walked else "nothing",
    }
