"""The links of a namespace as a profile weighs them: the graph that activation spreads over.

A link's effective weight is its learned weight × the profile's factor for its relation; it is computed only for links
that a spread reaches. The name of a single memory connects nothing, and a name that most memories mention connects
everything: links to such names weigh 0, and links to other names weigh less the more memories share the name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import SpreadParams
from priming.config.profiles import Profile
from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import Edges
from priming.index.topology import FOLLOWING, NAMING, SIMILAR, CompressedLinks, WeightedLinks, stretches
from priming.index.working_set import WorkingSet

SHARED = 2
"""The fewest memories that mention a name which connects any: that of one memory connects nothing."""


def signed(params: SpreadParams, working: WorkingSet) -> SpreadParams:
    """Return ``params``, in which the relations of a namespace suppress that are not built in and have this sign."""
    names = working.signs.suppressing(working.topology.relations, params.suppressing)
    return params if names == params.suppressing else replace(params, suppressing=names)


class WeightedGraph:
    """The links of a namespace with the effective weights of one profile.

    ``silent`` are factors of relations that replace those of the profile.

    A graph serves one recall: no row is read twice, even if its links change. Links that are the same in every recall
    are weighed once for all recalls.
    """

    def __init__(
        self,
        working: WorkingSet,
        profile: Profile,
        now: datetime,
        silent: tuple[tuple[str, float], ...] = (),
    ) -> None:
        factors, recall = profile.links, profile.recall
        factors = replace(factors, by_relation=(*factors.by_relation, *silent))
        self._working, self._factors, self._recall, self._now = working, factors, recall, now.timestamp()
        self._topology = topology = working.topology
        self.n = topology.rows
        self.relations = tuple(topology.relations)
        by_relation = dict(factors.by_relation)
        self._by_code = np.array([by_relation.get(name, factors.others) for name in self.relations])
        self._visited: dict[bool, VisitedLinks] = {}
        self._all_links: dict[bool, CompressedLinks | None] = {}
        self._most_mentions = max(recall.mention_max, recall.mention_share * working.memories)

    def edges(self, rows: NDArray[np.int64], *, both: bool) -> Edges:
        """Return the links that leave ``rows`` and, if ``both``, those that enter them, grouped by row."""
        if both not in self._all_links:
            constants = (self._factors, self._recall, self._working.memories, both)
            self._all_links[both] = self._topology.weight_cache.get(
                constants, lambda: CompressedLinks.of(self.n, self._links(np.arange(self.n), both=both))
            )
        compressed = self._all_links[both]
        if compressed is not None:
            links = compressed.take(rows)
        else:
            visited = self._visited.setdefault(both, VisitedLinks(self.n))
            links = visited.take(rows, lambda fresh: self._links(fresh, both=both))
        hours = np.maximum(0.0, (self._now - self._topology.activated.values[links.link]) / 3600.0)
        return Edges(links.owner, links.neighbour, links.weight, links.relation, hours, links.forward)

    def _links(self, rows: NDArray[np.int64], *, both: bool) -> WeightedLinks:
        owner, link = self._topology.gather(rows, inward=False)
        forward = np.ones(len(link), np.bool_)
        if both or self._factors.mirror:
            other, inward = self._topology.gather(rows, inward=True)
            mirrored = self._mirrored(inward)
            if not both:
                other, inward, mirrored = other[mirrored], inward[mirrored], mirrored[mirrored]
            owner, link = np.concatenate([owner, other]), np.concatenate([link, inward])
            forward = np.concatenate([forward, mirrored])
        order = np.argsort(owner, kind="stable")
        owner, link, forward = owner[order], link[order], forward[order]
        source, target = self._topology.source.values[link], self._topology.target.values[link]
        neighbour = np.where(source == rows[owner], target, source)
        relation = self._topology.relation.values[link]
        return WeightedLinks(owner, link, neighbour, self.weights(link), relation, forward)

    def _mirrored(self, link: Ints) -> NDArray[np.bool_]:
        """Return the links that count as leaving the row that they enter."""
        if not self._factors.mirror:
            return np.zeros(len(link), np.bool_)
        return np.asarray(self._topology.relation.values[link] == self._topology.code(SIMILAR))

    def weights(self, link: Ints) -> Floats:
        """Return the effective weights of links, by number."""
        topology, factors = self._topology, self._factors
        code = topology.relation.values[link]
        weight: Floats = topology.weight.values[link] * self._by_code[code] if len(link) else np.zeros(0)
        if topology.has_relation(SIMILAR) and factors.similar != 1.0:
            by_rule = np.flatnonzero((code == topology.code(SIMILAR)) & ~topology.explicit.values[link])
            turns = self._working.is_turn(topology.source.values[link[by_rule]])
            weight[by_rule] *= np.where(turns, 0.0, factors.similar)
        if factors.no_turn != 1.0:
            by_rule = np.flatnonzero(topology.has_any(code, FOLLOWING) & ~topology.explicit.values[link])
            turns = self._working.is_turn(topology.source.values[link[by_rule]])
            weight[by_rule] *= np.where(turns, 1.0, factors.no_turn)
        if factors.terms != 1.0:
            weight[topology.words.values[topology.target.values[link]]] *= factors.terms
        if factors.fan_out_names:
            named = np.flatnonzero(topology.has_any(code, NAMING) & ~topology.explicit.values[link])
            weight[named] *= self._name_factor(link[named])
        return weight

    def _name_factor(self, link: Ints) -> Floats:
        source, target = self._topology.source.values[link], self._topology.target.values[link]
        df = self._topology.mentioned.values[target]
        most = self._most_mentions
        # Who said it is not what it is about: else whatever else a speaker said would follow each answer.
        own = np.where(self._working.title_entity_of(source) == target, self._recall.heading_mention, 1.0)
        own[self._working.is_own_speaker(source, target)] = 0.0
        any_heading = np.where(self._working.titled(target), self._recall.heading_mention, 1.0)
        factor = own * any_heading / np.log1p(np.maximum(df, 1))
        carries = (df >= SHARED) & (df <= most) & ~self._working.is_common_compound(target, most)
        return np.asarray(np.where(carries, factor, 0.0))


class VisitedLinks:
    """The links that were read so far, by row: the steps of a spread visit the same rows again and again."""

    def __init__(self, n: int) -> None:
        self._place = np.zeros(n, np.int64)
        """One more than a row's position among the visited rows; 0 for other rows."""
        self._first = self._count = np.zeros(0, np.int64)
        self._links: WeightedLinks | None = None

    def take(self, rows: Ints, read: Callable[[Ints], WeightedLinks]) -> WeightedLinks:
        """Return the links of ``rows``; ``read`` returns those of rows that were not visited before."""
        fresh = rows[self._place[rows] == 0]
        if self._links is None or fresh.size:
            links = self._add(fresh, read(fresh))
            if fresh.size == rows.size:
                return links
        assert self._links is not None, "links were added"
        at = self._place[rows] - 1
        owner, numbers = stretches(self._first[at], self._count[at])
        return WeightedLinks._make((owner, *(column[numbers] for column in self._links[1:])))

    def _add(self, rows: Ints, links: WeightedLinks) -> WeightedLinks:
        visited = self._links
        count = np.bincount(links.owner, minlength=rows.size)
        first = 0 if visited is None else visited.link.size
        self._place[rows] = np.arange(1, rows.size + 1) + self._count.size
        self._first = np.concatenate([self._first, first + np.cumsum(count) - count])
        self._count = np.concatenate([self._count, count])
        pairs = None if visited is None else zip(visited, links, strict=True)
        self._links = links if pairs is None else WeightedLinks._make(map(np.concatenate, pairs))
        return links
