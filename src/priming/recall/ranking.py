"""The query that every design of ranking takes, and the ranked rows that it returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.profiles import Profile
from priming.core.arguments.arrays import Floats, Ints
from priming.core.spread import Activation
from priming.index.working_set import WorkingSet
from priming.recall.priors import Priors
from priming.recall.weighted_graph import WeightedGraph
from priming.types import MemoryRecord

EXACT = 12
"""Decimals of a score that the order in which links are summed does not touch."""


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """One query to a working set: the candidates, the evidence for each, and how to rank them.

    ``eligible`` says which rows may be hits, ``pool`` which documents may be anchors, and ``named``
    which rows are the names in the cue.
    """

    working: WorkingSet
    evidence: Priors
    profile: Profile
    eligible: NDArray[np.bool_]
    pool: NDArray[np.bool_]
    limit: int
    now: datetime
    records: Callable[[Ints], Mapping[int, MemoryRecord]]
    named: Callable[[], Sequence[int]]
    spreading: bool = True
    ablate: Collection[str] = ()

    def graph(self) -> WeightedGraph:
        """The links as the profile weighs them, less those that are ablated."""
        off = {"next": ("next", "next-but-one"), "names": ("mentions",)}
        silent = tuple((relation, 0.0) for name in off if name in self.ablate for relation in off[name])
        profile = self.profile
        if "titled" in self.ablate:
            profile = replace(profile, recall=replace(profile.recall, titled_mention=1.0))
        return weighed(self.working, profile, self.now, silent)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows from best to worst, with what made up each score."""

    rows: Ints
    scores: Floats
    components: Mapping[str, Floats] = field(default_factory=dict)
    activation: Activation | None = None


def weighed(
    working: WorkingSet, profile: Profile, now: datetime, silent: tuple[tuple[str, float], ...] = ()
) -> WeightedGraph:
    """The links of a namespace as a profile weighs them, with other factors for some relations."""
    factors = replace(profile.links, by_relation=(*profile.links.by_relation, *silent))
    titles = working.heading_entity, working.titled
    return WeightedGraph(
        working.topology, factors, profile.recall, *titles, working.memories, now.timestamp()
    )


def ordered(
    query: RankingQuery,
    rows: Ints,
    scores: Floats,
    components: Mapping[str, Floats],
    activation: Activation | None = None,
) -> Ranked:
    """The rows that may be hits, best first, and of equals the older memories."""
    keep = query.eligible[rows]
    rows, scores = rows[keep], np.round(scores[keep], EXACT)
    order = np.lexsort((rows, -scores))[: query.limit]
    chosen = {name: np.asarray(values)[keep][order] for name, values in components.items()}
    return Ranked(rows[order], scores[order], chosen, activation)
