"""The parameters of what is linked and learned, and of replaying judged recalls."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class LinkParams(Checked):
    """What is linked when a memory is remembered."""

    nearest: int = param(
        3,
        low=0,
        unit="memories",
        source="Ethos",
        doc="number of `similar-to` links made when a memory is stored",
    )
    similarity: float = param(
        0.6, low=0.0, high=1.0, unit="cosine", source="Ethos", doc="minimum similarity of such a link"
    )
    bulk_nearest: int = param(
        20_000,
        low=0,
        unit="memories",
        doc="maximum size of a namespace in which a bulk load makes `similar-to` links",
    )
    rare_from: int = param(
        50, low=0, unit="memories", doc="minimum size of a namespace in which words can be rare"
    )
    rare_max: int = param(3, low=2, unit="memories", doc="maximum number of memories with a rare word")
    rare_letters: int = param(5, low=1, unit="letters", doc="minimum length of a rare word")
    names: int = param(64, low=0, unit="names", doc="maximum number of names linked from one memory")
    strengthen: bool = param(
        False, doc="whether remembering a memory again strengthens its `similar-to` links"
    )
    rivals: int = param(
        8,
        low=0,
        unit="facts",
        doc="maximum number of facts with which a new one is compared, the latest first",
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
    sessions: bool = param(
        False,
        doc="whether memories that different recalls of a session returned, and that proved useful, count as"
        " active together",
    )
    fading: str = param(
        "exponential",
        choices=("exponential", "linear", "none"),
        doc="what unused links lose: co-activated ones e^(−rho · hours) when they are read, until sleep removes them;"
        " every learned one rate · days of its weight, in sleep; or nothing",
    )


LINKING = LinkParams()
