"""The parameters of what is linked and learned, and of replaying judged recalls."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class LinkParams(Checked):
    """What is linked when a memory is remembered."""

    nearest: int = param(3, low=0, unit="memories", source="Ethos", doc="`similar-to` links made at once")
    similarity: float = param(0.6, low=0.0, high=1.0, unit="cosine", source="Ethos", doc="alike from here on")
    bulk_nearest: int = param(
        20_000, low=0, unit="memories", doc="largest namespace in which a bulk load links the nearest at once"
    )
    rare_from: int = param(50, low=0, unit="memories", doc="smallest namespace in which words can be rare")
    rare_max: int = param(3, low=2, unit="memories", doc="a word in up to so many memories is rare")
    rare_letters: int = param(5, low=1, unit="letters", doc="shortest rare word")
    names: int = param(64, low=0, unit="names", doc="most names linked from one memory")
    strengthen: bool = param(
        False, doc="whether remembering a memory again strengthens its `similar-to` links"
    )
    rivals: int = param(
        8, low=0, unit="facts", doc="most facts, the latest first, that a new one is compared with"
    )


@dataclass(frozen=True, slots=True)
class LearningParams(Checked):
    """Which laws move the links of a profile (``docs/profiles.md``). Nothing else moves a link that nobody sets.

    Counts, uses and reviews of memories are records rather than laws: every profile makes them, for all to read.
    """

    verdicts: str = param(
        "path",
        choices=("path", "together", "none"),
        doc="what verdicts move: the links of the path and the weight of the memory, by the tier's step; the links"
        " between memories that a recall returned together and that proved useful, by Hebb's rule; or nothing",
    )
    runs: bool = param(True, doc="whether the output of a run moves the links that the run followed")
    coactivation: bool = param(
        True, doc="whether memories that are active together are linked, and such links follow Oja's rule"
    )
    fading: str = param(
        "exponential",
        choices=("exponential", "linear", "none"),
        doc="what unused links lose: co-activated ones e^(−rho · hours) when they are read, until sleep removes them;"
        " every learned one rate · days of its weight, in sleep; or nothing",
    )


@dataclass(frozen=True, slots=True)
class AblationParams(Checked):
    """How recalls are replayed without a term, and when other weights are proposed."""

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
        25_000_000, low=0, unit="numbers", doc="most evidence cached between replays; more is computed again"
    )


LINKING = LinkParams()
ABLATION = AblationParams()
