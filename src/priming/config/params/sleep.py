"""The parameters of sleep: what a night does, and when it is due."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class SleepParams(Checked):
    """What a night does, and when it is due."""

    light_window: int = param(
        1_000, low=1, unit="episodes", source="World Weaver", doc="latest that `light` compares"
    )
    window: int = param(500, low=1, unit="episodes", source="World Weaver", doc="latest that `deep` clusters")
    batch: int = param(8_000, low=2, unit="memories", doc="most that are clustered at once")
    cluster: int = param(3, low=2, unit="episodes", source="World Weaver", doc="fewest that make a cluster")
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
    alike: float = param(
        0.4, low=-1.0, high=1.0, unit="cosine", doc="least between procedures that are compared word by word"
    )
    compared: int = param(
        50, low=1, unit="procedures", doc="most that a procedure is compared with, the nearest"
    )
    listed: int = param(200, low=0, unit="pairs", doc="most that a stage reports as alike and left alone")
    shared: float = param(0.5, low=0.0, high=1.0, doc="least share of a cluster that names it")
    central: int = param(32, low=1, unit="episodes", doc="most central members that a gist is taken from")
    gist_shown: int = param(
        8_000, low=1, unit="characters", doc="most of a cluster's texts that an agent is shown, shared evenly"
    )
    gist_length: int = param(400, low=1, unit="characters", doc="longest gist that an agent may give")
    gist_failures: int = param(
        2, low=1, unit="failures", doc="so many of an agent in a row, and the night asks it no more"
    )
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


SLEEP = SleepParams()
