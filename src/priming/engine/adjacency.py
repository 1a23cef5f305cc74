"""Links as a spread asks for them: those that one recall met, or all of a namespace that stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.graph import Edges
from priming.engine.columns import Ints

SETTLED = 4
"""After so many recalls between which no link changed, all links are weighed at once, for those to come."""
_SETS = 4
"""Sets of constants whose links are held: profiles, and what is ablated."""


class Links(NamedTuple):
    """Links as met from some rows: an element a link and a row that it was met from, grouped by row."""

    owner: Ints
    """Position of that row in the rows that were asked for."""
    link: Ints
    neighbour: Ints
    weight: Floats
    relation: Ints
    forward: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Whole:
    """The weighed links of all rows, row by row."""

    start: Ints
    """Row u's stretch is ``start[u]`` … ``start[u + 1]``."""
    links: Links

    @classmethod
    def of(cls, n: int, links: Links) -> Whole:
        """Take the links met from the rows 0 … n − 1; the owner is told by where a link stands."""
        start = np.concatenate([[0], np.cumsum(np.bincount(links.owner, minlength=n))])
        none = np.zeros(0, np.int64)
        return cls(
            start.astype(np.int64),
            Links(none, links.link, links.neighbour, links.weight, links.relation, links.forward),
        )

    def met(self, rows: Ints) -> Links:
        """The links of some rows."""
        first = self.start[rows]
        count = self.start[rows + 1] - first
        owner, at = stretches(first, count)
        known = self.links
        return Links(
            owner,
            known.link.take(at),
            known.neighbour.take(at),
            known.weight.take(at),
            known.relation.take(at),
            known.forward.take(at),
        )


class Held:
    """For each set of constants: how often its links were asked for since any changed, and all of them at length."""

    def __init__(self) -> None:
        self._asked: dict[tuple[object, ...], int] = {}
        self._whole: dict[tuple[object, ...], Whole] = {}

    def forget(self) -> None:
        """A link changed, or what weighs them."""
        if self._asked:
            self._asked, self._whole = {}, {}

    def whole(self, constants: tuple[object, ...], read: Callable[[], Whole]) -> Whole | None:
        """All links, once they have been asked for often enough."""
        found = self._whole.get(constants)
        if found is None:
            asked = self._asked[constants] = self._asked.get(constants, 0) + 1
            if asked <= SETTLED:
                return None
            if len(self._whole) >= _SETS:
                self.forget()
            found = self._whole[constants] = read()
        return found


def stretches(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Places in stretches that begin at ``first`` and are ``count`` long: the stretch of each, and itself."""
    owner = np.repeat(np.arange(count.size), count)
    return owner, np.arange(owner.size) + (first - (np.cumsum(count) - count)).take(owner)


class Met:
    """The links that were met so far, row by row: the steps of a spread ask for the same rows again and again."""

    def __init__(self, n: int) -> None:
        self._place = np.zeros(n, np.int64)
        """One more than a row's position among those met; 0 of others."""
        self._first = self._count = np.zeros(0, np.int64)
        self._links: Edges | None = None

    def edges(self, rows: Ints, read: Callable[[Ints], Edges]) -> Edges:
        """The links of ``rows``, of which those met for the first time are read."""
        fresh = rows[self._place[rows] == 0]
        if self._links is None or fresh.size:
            found = self._add(fresh, read(fresh))
            if fresh.size == rows.size:
                return found
        assert self._links is not None, "they were added"
        at = self._place[rows] - 1
        count = self._count[at]
        owner, links = stretches(self._first[at], count)
        known = self._links
        return Edges(
            owner,
            known.neighbour[links],
            known.weight[links],
            known.relation[links],
            known.hours[links],
            known.forward[links],
        )

    def _add(self, rows: Ints, found: Edges) -> Edges:
        known = self._links
        count = np.bincount(found.owner, minlength=rows.size)
        before = 0 if known is None else known.owner.size
        self._place[rows] = np.arange(1, rows.size + 1) + self._count.size
        self._first = np.concatenate([self._first, before + np.cumsum(count) - count])
        self._count = np.concatenate([self._count, count])
        self._links = found if known is None else _joined(known, found)
        return found


def _joined(a: Edges, b: Edges) -> Edges:
    """The links of both; the owners, which mean nothing together, as they are."""
    return Edges(
        np.concatenate([a.owner, b.owner]),
        np.concatenate([a.neighbour, b.neighbour]),
        np.concatenate([a.weight, b.weight]),
        np.concatenate([a.relation, b.relation]),
        np.concatenate([a.hours, b.hours]),
        np.concatenate([a.forward, b.forward]),
    )
