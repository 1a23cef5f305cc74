"""The parameters of sleep: what a night does, and when it is due."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class SleepParams(Checked):
    """What a night does, and when it is due."""

    light_window: int = param(
        1_000,
        low=1,
        unit="episodes",
        source="World Weaver",
        doc="number of episodes that `light` compares, the latest first",
    )
    window: int = param(
        500,
        low=1,
        unit="episodes",
        source="World Weaver",
        doc="number of episodes that `deep` clusters, the latest first",
    )
    batch: int = param(8_000, low=2, unit="memories", doc="maximum number of episodes clustered at once")
    cluster: int = param(3, low=2, unit="episodes", source="World Weaver", doc="minimum size of a cluster")
    samples: int = param(1, low=1, unit="memories", source="World Weaver", doc="HDBSCAN's `min_samples`")
    epsilon: float = param(
        0.15,
        low=0.0,
        unit="cosine distance",
        doc="epsilon of the second attempt, if everything counted as noise",
    )
    tight: float = param(
        0.8,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="minimum cosine to the centroid for members of a single theme, and for clusters that are merged",
    )
    coherent: float = param(
        0.2,
        low=-1.0,
        high=1.0,
        unit="cosine",
        doc="mean cosine to the other members below which a member is noise",
    )
    alike: float = param(
        0.4,
        low=-1.0,
        high=1.0,
        unit="cosine",
        doc="minimum cosine of procedures that are compared word by word",
    )
    compared: int = param(
        50,
        low=1,
        unit="procedures",
        doc="maximum number of procedures with which one is compared, the nearest first",
    )
    listed: int = param(
        200, low=0, unit="pairs", doc="maximum number of similar items reported as left alone by a stage"
    )
    steps: int = param(
        60, low=1, unit="steps", doc="most steps of a procedure that is compared with others, pair by pair"
    )
    shared: float = param(
        0.5, low=0.0, high=1.0, doc="minimum share of a cluster's episodes that must name its heading"
    )
    central: int = param(
        32, low=1, unit="episodes", doc="number of central members from which a gist is taken"
    )
    gist_shown: int = param(
        8_000,
        low=1,
        unit="characters",
        doc="maximum length of a cluster's texts shown to an agent, shared evenly",
    )
    gist_length: int = param(400, low=1, unit="characters", doc="maximum length of an agent's gist")
    gist_failures: int = param(
        2,
        low=1,
        unit="failures",
        doc="number of failures in a row after which a night stops asking the agent",
    )
    skill_gain: float = param(
        0.05,
        low=0.0,
        high=1.0,
        source="World Weaver",
        doc="increase of the success estimate for each procedure merged in",
    )
    uses: int = param(
        3, low=1, unit="verdicts", source="Arc", doc="minimum number of verdicts on a memory that is pruned"
    )
    effectiveness: float = param(
        0.25, low=0.0, high=1.0, source="Arc", doc="effectiveness below which a memory is pruned"
    )
    days: float = param(1.0, low=0.0, unit="days", doc="minimum age of a memory that is pruned")
    duplicate_days: float = param(
        30.0, low=0.0, unit="days", doc="time after which a marked duplicate is pruned"
    )
    merge: float = param(
        0.9,
        low=0.0,
        high=1.0,
        unit="cosine",
        source="Arc",
        doc="minimum cosine at which failures, and patterns, are merged",
    )
    linked: int = param(
        1_000,
        low=0,
        unit="memories",
        doc="maximum number of memories that a night examines for missing links",
    )
    fresh: int = param(100, low=1, unit="memories", doc="number of new memories at which sleep is due early")


SLEEP = SleepParams()
