"""Credit: the value of a result, traced back over the links that carried it.

A node's value after a step is made of its retained part, its restart and what each link carried. From the
result backwards, with r(target) = 1 after the last step:

    credit(u→v) += r(v) · e(u→v) / Σ parts(v),    r(u) before the step += the same

The retained part stays with the node for the step before, the restart ends there. Under ``max`` the largest
part takes all.

References
----------
[1] Overstreet, K. (2026). Link strength feedback, a design note of poc-memory: where search arrived at the
    wrong memory, the links that carried activation to it answer for it.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.core.arguments.checks import check_number
from priming.core.graph import rows_of
from priming.core.kernel.flow import Arrival, Flow
from priming.core.kernel.routes import Routes

Link = tuple[int, int, str]
"""Source, target and relation of a link as it is stored."""

_FAINT = 0.001
"""Paths that carried a smaller fraction of a value are not followed."""


def credit(flow: Flow | Routes, target: int, *, floor: float = PLASTICITY.credit_floor) -> dict[Link, float]:
    """Return the share of each link in the value that ``target`` ended with.

    Parameters
    ----------
    flow : what a spread recorded, or its ``Routes``.
    target : the row to explain.
    floor : links with a smaller share, in [0, 1], are left out.

    Returns
    -------
    dict
        (source, target, relation), as the link is stored, → share, largest first. Parallel links of one
        relation share an entry. Several passes over one link add up, so a share may exceed 1. Empty if
        ``target`` ended at 0, or as an anchor to which no link carried anything.

    Raises
    ------
    ParamError
        ``target`` is no row of the graph, or ``floor`` is outside [0, 1].

    Notes
    -----
    Departure: links get no blame for what they suppressed; the parts are those before suppression.

    Examples
    --------
    >>> from priming.core.graph import Graph
    >>> from priming.config.params.laws import SpreadParams
    >>> from priming.core.spread import spread
    >>> graph = Graph.from_links(4, [0, 1, 2], [1, 3, 3], [0.5, 0.5, 0.25])
    >>> params = SpreadParams(
    ...     steps=2, gain=1.0, retention=1.0, restart=0.0, normalise="none", direction="out"
    ... )
    >>> flow = spread(graph, {0: 1.0, 2: 1.0}, params).flow
    >>> {(u, v): round(share, 3) for (u, v, _), share in credit(flow, 3).items()}
    {(2, 3): 0.667, (0, 1): 0.333, (1, 3): 0.333}

    """
    floor = check_number("floor", floor, low=0.0, high=1.0)
    (row,) = rows_of("target", [target], flow.n).tolist()
    responsibility = {row: 1.0} if row in flow.values(flow.steps, np.array([row])) else {}
    shares: dict[Link, float] = {}
    for step in range(flow.steps, 0, -1):
        before: dict[int, float] = {}
        for parts_of_row in _value_parts(flow, step, responsibility):
            for part, fraction in parts_of_row.split(flow.params.combine):
                r = responsibility[parts_of_row.row] * fraction
                giver = parts_of_row.row if part is None else part.source
                before[giver] = before.get(giver, 0.0) + r
                if part is not None:
                    shares[part.key] = shares.get(part.key, 0.0) + r
        responsibility = before
    above_floor = ((link, share) for link, share in shares.items() if share >= floor)
    return dict(sorted(above_floor, key=lambda entry: (-entry[1], entry[0])))


def path_credit(
    flow: Flow | Routes, target: int, *, floor: float = PLASTICITY.credit_floor
) -> dict[Link, float]:
    """Return the share of each link in what paths carried to ``target``: credit without the round trips.

    Where links are walked both ways, energy goes to a neighbour and comes back, and ``credit`` gives the way
    there a part in what followed. A verdict is on the way that led to the target, so here only paths count
    that meet no row twice.

    Parameters
    ----------
    flow, target, floor : as in ``credit``.

    Returns
    -------
    dict
        As ``credit`` returns; the shares are of all that came to ``target`` over such paths, or that it held as
        an anchor. Where no path comes back to where it was, that is what ``credit`` returns.

    Raises
    ------
    ParamError
        As in ``credit``.

    Notes
    -----
    Departure: paths that carried less than a thousandth of what came are not followed.

    Examples
    --------
    >>> from priming.core.graph import Graph
    >>> from priming.config.params.laws import SpreadParams
    >>> from priming.core.spread import spread
    >>> graph = Graph.from_links(3, [0, 0], [1, 2], [0.5, 0.5])
    >>> flow = spread(graph, {0: 1.0}, SpreadParams(steps=3)).flow
    >>> list(credit(flow, 1)), list(path_credit(flow, 1))
    ([(0, 1, 'similar-to'), (0, 2, 'similar-to')], [(0, 1, 'similar-to')])

    """
    floor = check_number("floor", floor, low=0.0, high=1.0)
    (row,) = rows_of("target", [target], flow.n).tolist()
    if row not in flow.values(flow.steps, np.array([row])):
        return {}
    shares: dict[Link, float] = {}
    total = 0.0
    for mass, links in _simple_paths(flow, row):
        total += mass
        for link in links:
            shares[link] = shares.get(link, 0.0) + mass
    above_floor = ((link, share / total) for link, share in shares.items() if share >= floor * total)
    return dict(sorted(above_floor, key=lambda entry: (-entry[1], entry[0])))


def _simple_paths(flow: Flow | Routes, target: int) -> Iterator[tuple[float, tuple[Link, ...]]]:
    """Walk back from ``target`` along every path that meets no row twice: its amount and its links."""
    parts_by_row: dict[tuple[int, int], _ValueParts] = {}
    under_way: list[tuple[int, float, tuple[int, ...], tuple[Link, ...]]] = [(flow.steps, 1.0, (target,), ())]
    while under_way:
        step, mass, rows, links = under_way.pop()
        here = rows[-1]
        if step == 0:
            yield mass, links
            continue
        if (here, step) not in parts_by_row:
            parts_by_row[here, step] = next(_value_parts(flow, step, [here]))
        parts_of_row = parts_by_row[here, step]
        yield mass * parts_of_row.fresh(flow.params.combine), links
        for part, fraction in parts_of_row.split(flow.params.combine):
            if mass * fraction < _FAINT:
                continue
            if part is None:
                under_way.append((step - 1, mass * fraction, rows, links))
            elif part.source not in rows:
                under_way.append((step - 1, mass * fraction, (*rows, part.source), (*links, part.key)))


def strongest_paths(flow: Flow | Routes, targets: Iterable[int]) -> dict[int, tuple[Arrival, ...]]:
    """Return, for each target, a path from an anchor: back along the largest part of each value.

    The walk back ends at the first anchor that is stronger than the target (any anchor, if the target is
    none); one with less than a thousandth of the strongest is none. Rounds on the way are cut out, so no row
    stands twice. A target that is itself the strongest anchor on its way, or that held more of its own than any
    link carried, has an empty path, and so has a row that ended at 0. Many targets at once cost little more than
    one.
    """
    rows = rows_of("targets", list(targets), flow.n)
    ended, seeds = flow.values(flow.steps, rows), flow.values(0)
    least = _FAINT * max(seeds.values(), default=0.0)
    anchors = {row: own for row, own in seeds.items() if own >= least}
    trails = [_Trail(row, anchors.get(row, 0.0), row, []) for row in ended]
    for step in range(flow.steps, 0, -1):
        under_way = [trail for trail in trails if not trail.begins(anchors)]
        largest = _largest(flow, step, {trail.head for trail in under_way})
        for trail in under_way:
            trail.follow(largest.get(trail.head))
    paths = {trail.row: tuple(reversed(trail.hops)) for trail in trails if trail.begins(anchors)}
    return {row: paths.get(row, ()) for row in rows.tolist()}


def _largest(flow: Flow | Routes, step: int, rows: Iterable[int]) -> Mapping[int, Arrival | None]:
    """Return the fullest arrival at each of ``rows`` in ``step``, as far as the row itself did not hold more."""
    if isinstance(flow, Routes):
        return flow.largest(step, np.array(sorted(rows), np.int64))
    return {parts_of_row.row: parts_of_row.largest() for parts_of_row in _value_parts(flow, step, rows)}


@dataclass(slots=True)
class _Trail:
    """A path under way, from its end backwards."""

    row: int
    own: float
    """Activation of the end as an anchor; 0 if it is not an anchor."""
    head: int
    hops: list[Arrival]

    def begins(self, anchors: Mapping[int, float]) -> bool:
        """Tell whether the head is an anchor from which the path can begin."""
        return anchors.get(self.head, 0.0) > self.own

    def follow(self, hop: Arrival | None) -> None:
        """Step back over ``hop``; where that comes upon an earlier row of the path, drop the round."""
        if hop is None:
            return
        self.hops.append(hop)
        self.head = hop.source
        repeat = next((i for i, earlier in enumerate(self.hops) if earlier.target == hop.source), None)
        if repeat is not None:
            del self.hops[repeat:]


@dataclass(frozen=True, slots=True)
class _ValueParts:
    """The parts of a row's value after one step."""

    row: int
    retained: float
    restart: float
    arrivals: list[Arrival]

    def fresh(self, combine: str) -> float:
        """Return the fraction of the value that its restart as an anchor is."""
        if combine == "max" or not self.restart:
            return 0.0
        return self.restart / (
            self.retained + self.restart + sum(arrival.amount for arrival in self.arrivals)
        )

    def split(self, combine: str) -> Iterator[tuple[Arrival | None, float]]:
        """Yield what is passed on: arrivals, or None for the retained part, and the fraction of the value."""
        if combine == "max":
            yield self.largest(), 1.0
            return
        total = self.retained + self.restart + sum(arrival.amount for arrival in self.arrivals)
        if self.retained > 0:
            yield None, self.retained / total
        for arrival in self.arrivals:
            yield arrival, arrival.amount / total

    def largest(self) -> Arrival | None:
        """Return the fullest arrival, or None where the row itself held more; of equals the lowest source."""
        best = max(self.arrivals, key=lambda arrival: arrival.amount, default=None)
        return best if best and best.amount > max(self.retained, self.restart) else None


def _value_parts(flow: Flow | Routes, step: int, rows: Iterable[int]) -> Iterator[_ValueParts]:
    """Yield the parts of the value of each of ``rows`` after ``step``."""
    params, targets = flow.params, np.array(sorted(rows), np.int64)
    if not targets.size:
        return
    restart = 0.0 if params.combine == "max" else params.restart
    before, anchors = flow.values(step - 1, targets), flow.values(0, targets)
    arrivals: dict[int, list[Arrival]] = {row: [] for row in targets.tolist()}
    for arrival in flow.arrivals(step, targets):
        arrivals[arrival.target].append(arrival)
    for row, row_arrivals in arrivals.items():
        retained = params.retention * before.get(row, 0.0)
        yield _ValueParts(row, retained, restart * anchors.get(row, 0.0), row_arrivals)
