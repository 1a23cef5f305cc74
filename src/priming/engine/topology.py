"""The links of a namespace as a graph that grows, and how each profile weighs them.

A link's effective weight is its learned weight × the profile's factor for its relation, computed only for the
links that a spread touches. A name that a single memory mentions leads nowhere, and one that everything
mentions leads everywhere: such names carry nothing, and the others less the more memories share them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import LinkFactors, RecallParams
from priming.core.check import Floats
from priming.core.graph import Edges
from priming.engine.adjacency import Held, Links, Met, Whole
from priming.engine.columns import Column, Ints

MENTIONS = "mentions"
SIMILAR = "similar-to"
_REBUILD_AT = 4096


class Topology:
    """Growing links between rows: a base in compressed rows both ways, and a tail of additions."""

    def __init__(self) -> None:
        self.relations: list[str] = []
        self._codes: dict[str, int] = {}
        self.source = Column(np.int64)
        self.target = Column(np.int64)
        self.relation = Column(np.int64)
        self.weight = Column(np.float64)
        self.given = Column(np.bool_)
        self.alive = Column(np.bool_)
        self.activated = Column(np.float64)
        self.mentioned = Column(np.int64)
        self.words = Column(np.bool_)
        self._rows = 0
        self._base_links = 0
        self._out = self._in = (np.zeros(1, np.int64), np.zeros(0, np.int64))
        self._tail_out: dict[int, list[int]] = {}
        self._tail_in: dict[int, list[int]] = {}
        self.held = Held()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    def add_row(self, *, word: bool = False) -> None:
        """One more row, without links; ``word`` says that it is a rare word rather than a name."""
        self.held.forget()
        self._rows += 1
        self.mentioned.append(0)
        self.words.append(word)

    def code(self, relation: str) -> int:
        """The code of a relation, made at need."""
        if relation not in self._codes:
            self._codes[relation] = len(self.relations)
            self.relations.append(relation)
        return self._codes[relation]

    def put(
        self, source: int, target: int, relation: str, weight: float, *, given: bool, activated: float
    ) -> None:
        """Add a link, or move the one that is there."""
        self.held.forget()
        link = self.find(source, target, relation)
        if link is None:
            link = self.source.size
            for column, value in (
                (self.source, source),
                (self.target, target),
                (self.relation, self.code(relation)),
                (self.weight, weight),
                (self.given, given),
                (self.alive, True),
                (self.activated, activated),
            ):
                column.append(value)
            self._tail_out.setdefault(source, []).append(link)
            self._tail_in.setdefault(target, []).append(link)
            self._count(link, 1)
            if self.source.size - self._base_links > max(_REBUILD_AT, self._base_links // 4):
                self.compact()
        else:
            self.weight[link], self.given[link], self.activated[link] = weight, given, activated

    def extend(self, links: Sequence[tuple[int, int, str, float, bool, float]]) -> None:
        """Add links that are known to be new: (source, target, relation, weight, given, activated)."""
        self.held.forget()
        first = self.source.size
        columns = (self.source, self.target, self.relation, self.weight, self.given, self.activated)
        for column, values in zip(columns, zip(*links, strict=True), strict=True):
            coded = [self.code(name) for name in values] if column is self.relation else values
            column.extend(coded)
        self.alive.extend([True] * len(links))
        for link, (source, target, relation, *_) in enumerate(links, first):
            self._tail_out.setdefault(source, []).append(link)
            self._tail_in.setdefault(target, []).append(link)
            if relation == MENTIONS:
                self.mentioned[target] += 1
        if self.source.size - self._base_links > max(_REBUILD_AT, self._base_links // 4):
            self.compact()

    def drop(self, source: int, target: int, relation: str) -> None:
        """Remove a link; nothing happens if it is not there."""
        link = self.find(source, target, relation)
        if link is not None:
            self._kill(link)

    def drop_row(self, row: int) -> None:
        """Remove all links of a row."""
        for link in (*self._of(row, self._out, self._tail_out), *self._of(row, self._in, self._tail_in)):
            if self.alive[link]:
                self._kill(int(link))

    def find(self, source: int, target: int, relation: str) -> int | None:
        """The number of a living link, None if there is none."""
        code = self._codes.get(relation)
        if code is None:
            return None
        for link in self._of(source, self._out, self._tail_out):
            if self.target[link] == target and self.relation[link] == code and self.alive[link]:
                return int(link)
        return None

    def _kill(self, link: int) -> None:
        self.held.forget()
        self.alive[link] = False
        self._count(link, -1)

    def _count(self, link: int, by: int) -> None:
        if self.relations[self.relation[link]] == MENTIONS:
            self.mentioned[self.target[link]] += by

    def _of(self, row: int, base: tuple[Ints, Ints], tail: Mapping[int, list[int]]) -> Ints:
        start, links = base
        of_base = links[start[row] : start[row + 1]] if row < len(start) - 1 else links[:0]
        return np.concatenate([of_base, np.array(tail.get(row, ()), np.int64)])

    def compact(self) -> None:
        """Build the base anew from all living links, in the order of their numbers."""
        self.held.forget()
        keep = np.flatnonzero(self.alive.values)
        columns = (
            self.source,
            self.target,
            self.relation,
            self.weight,
            self.given,
            self.activated,
            self.alive,
        )
        for column in columns:
            column.keep(keep)
        self._base_links = len(keep)
        self._out = _compressed(self.source.values, self._rows)
        self._in = _compressed(self.target.values, self._rows)
        self._tail_out, self._tail_in = {}, {}

    def load(
        self,
        source: Ints,
        target: Ints,
        relation: Sequence[str],
        weight: Floats,
        given: NDArray[np.bool_],
        activated: Floats,
    ) -> None:
        """Take links that were read whole; ``add_row`` must have been called for each row."""
        self.source, self.target = Column(np.int64, source), Column(np.int64, target)
        self.relation = Column(np.int64, [self.code(name) for name in relation])
        self.weight, self.given = Column(np.float64, weight), Column(np.bool_, given)
        self.activated = Column(np.float64, activated)
        self.alive = Column(np.bool_, np.ones(len(source), np.bool_))
        mentions = self.relation.values == self.code(MENTIONS)
        self.mentioned = Column(np.int64, np.bincount(target[mentions], minlength=self._rows))
        self.compact()

    @property
    def base(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """The compressed rows outwards and inwards: offsets by row, and link numbers."""
        return self._out, self._in

    def restore(
        self,
        relations: Sequence[str],
        columns: Mapping[str, NDArray[Any]],
        base: tuple[tuple[Ints, Ints], tuple[Ints, Ints]],
    ) -> None:
        """Take columns and a base that were compacted before."""
        self.held.forget()
        for name in relations:
            self.code(name)
        for name, values in columns.items():
            setattr(self, name, Column(values.dtype, values))
        self.alive = Column(np.bool_, np.ones(self.source.size, np.bool_))
        self._rows = self.mentioned.size
        self._base_links = self.source.size
        self._out, self._in = base

    def gather(self, rows: Ints, *, inward: bool) -> tuple[Ints, Ints]:
        """Living links that leave (or enter) ``rows``: positions in ``rows``, and link numbers."""
        (start, links), tail = (self._in, self._tail_in) if inward else (self._out, self._tail_out)
        known = np.flatnonzero(rows < len(start) - 1)
        first = start[rows[known]]
        count = start[rows[known] + 1] - first
        owner = np.repeat(known, count)
        at = np.arange(len(owner)) + np.repeat(first - (np.cumsum(count) - count), count)
        found = links[at]
        if tail:
            more = [(i, link) for i, row in enumerate(rows.tolist()) for link in tail.get(row, ())]
            if more:
                extra = np.array(more, np.int64)
                owner, found = np.concatenate([owner, extra[:, 0]]), np.concatenate([found, extra[:, 1]])
        living = self.alive[found]
        return owner[living], found[living]


class Weighed:
    """The links of a namespace with the effective weights of one profile: what the kernel spreads over.

    It is for one recall: what it met once it does not look at again, whatever becomes of the links. Where no
    link changes from recall to recall, they are weighed once for all.
    ``heading_entity`` gives, for some rows, the entities that their own headings name (−1: none), and
    ``titled`` says which rows the heading of any memory names.
    """

    def __init__(
        self,
        topology: Topology,
        factors: LinkFactors,
        recall: RecallParams,
        heading_entity: Callable[[Ints], Ints],
        titled: Callable[[Ints], NDArray[np.bool_]],
        documents: int,
        now: float,
    ) -> None:
        self._topology = topology
        self._factors = factors
        self._heading_entity = heading_entity
        self._titled = titled
        self._now = now
        self.n = topology.rows
        self.relations = tuple(topology.relations)
        self._recall = recall
        by_relation = dict(factors.by_relation)
        self._by_code = np.array([by_relation.get(name, factors.others) for name in self.relations])
        self._documents = documents
        self._met: dict[bool, Met] = {}
        self._whole: dict[bool, Whole | None] = {}
        self._mention_bounds = recall.mention_min, max(recall.mention_max, recall.mention_share * documents)

    def edges(self, rows: NDArray[np.int64], *, both: bool) -> Edges:
        """The links that leave ``rows`` and, if ``both``, those that enter them, grouped by row."""
        constants = (self._factors, self._recall, self._documents, self._heading_entity, self._titled, both)
        if both not in self._whole:
            everything = np.arange(self.n)
            self._whole[both] = self._topology.held.whole(
                constants, lambda: Whole.of(self.n, self._links(everything, both=both))
            )
            self._met[both] = Met(self.n)
        whole = self._whole[both]
        if whole is not None:
            return self._aged(whole.met(rows))
        return self._met[both].edges(rows, lambda fresh: self._aged(self._links(fresh, both=both)))

    def _aged(self, met: Links) -> Edges:
        return Edges(met.owner, met.neighbour, met.weight, met.relation, self._hours(met.link), met.forward)

    def _links(self, rows: NDArray[np.int64], *, both: bool) -> Links:
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
        source, target = self._topology.source[link], self._topology.target[link]
        neighbour = np.where(source == rows[owner], target, source)
        return Links(owner, link, neighbour, self.weights(link), self._topology.relation[link], forward)

    def _mirrored(self, link: Ints) -> NDArray[np.bool_]:
        """Which links count as leaving the row that they enter."""
        if not self._factors.mirror:
            return np.zeros(len(link), np.bool_)
        return np.asarray(self._topology.relation[link] == self._topology.code(SIMILAR))

    def weights(self, link: Ints) -> Floats:
        """The effective weights of some links."""
        topology, factors = self._topology, self._factors
        code = topology.relation[link]
        weight: Floats = topology.weight[link] * self._by_code[code] if len(link) else np.zeros(0)
        if SIMILAR in topology._codes and factors.similar != 1.0:
            by_rule = (code == topology.code(SIMILAR)) & ~topology.given[link]
            weight[by_rule] *= factors.similar
        if factors.terms != 1.0:
            weight[topology.words[topology.target[link]]] *= factors.terms
        if MENTIONS in topology._codes and factors.fan_out_names:
            named = np.flatnonzero((code == topology.code(MENTIONS)) & ~topology.given[link])
            weight[named] *= self._name_factor(link[named])
        return weight

    def _name_factor(self, link: Ints) -> Floats:
        source, target = self._topology.source[link], self._topology.target[link]
        df = self._topology.mentioned[target]
        low, high = self._mention_bounds
        own = np.where(self._heading_entity(source) == target, self._recall.heading_mention, 1.0)
        anyones = np.where(self._titled(target), self._recall.titled_mention, 1.0)
        worth = own * anyones / np.log1p(np.maximum(df, 1))
        return np.asarray(np.where((df >= low) & (df <= high), worth, 0.0))

    def _hours(self, link: Ints) -> Floats:
        return np.asarray(np.maximum(0.0, (self._now - self._topology.activated[link]) / 3600.0))


def _compressed(ends: Ints, rows: int) -> tuple[Ints, Ints]:
    order = np.argsort(ends, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=rows))])
    return start.astype(np.int64), order.astype(np.int64)
