"""A flow without its graph: the links that carried activation to some rows, and the activations after each step.

A ``Flow`` reads the graph again, so it is valid only while the graph does not change; ``Routes`` needs no graph.
What a link carries is linear in the activation of its source, so one rate for each link and the activations after
each step determine the flow:

    e(u→v) in step t = rate(u→v) · a(u) after t − 1 steps, where that is at least epsilon
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from priming.config.params.laws import PLASTICITY, SpreadParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Floats, Ints, distinct
from priming.core.arguments.checks import check_number
from priming.core.graph import among, rows_of
from priming.core.kernel.flow import SMALLEST, Arrival, Emission, Flow, arrivals_of


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """The links by which activation moved among some rows; answers ``credit`` and ``strongest_paths`` as a flow does.

    Its own rows are numbered 0 … n − 1; ``rows`` maps them to rows of the graph.
    """

    rows: Ints
    history: Floats
    """Activation after 0, 1, … steps; shape (steps + 1, n)."""
    source: Ints
    target: Ints
    relation: Ints
    """Code of each link's relation, a position in ``relations``."""
    rate: Floats
    """Energy that each link carried in a step for each unit of its source's activation."""
    forward: Bools
    """Whether the link is stored in the direction in which the energy moved."""
    relations: tuple[str, ...]
    params: SpreadParams

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.size)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.history) - 1

    def locals(self) -> dict[int, int]:
        """Return the own numbers of all rows that the routes hold, by row of the graph."""
        return {row: at for at, row in enumerate(self.rows.tolist())}

    def values(self, step: int, rows: Ints | None = None) -> dict[int, float]:
        """Return row → activation > 0 after ``step`` steps, of all rows or of ``rows``; 0 = the anchors."""
        a = self.history[step]
        live = np.flatnonzero(a > 0) if rows is None else distinct(rows[a[rows] > 0])
        return dict(zip(live.tolist(), a[live].tolist(), strict=True))

    def amounts(self, step: int) -> Floats:
        """Return what each link carried in ``step``, from 1 on."""
        before = self.history[step - 1]
        emitting = np.where(before >= max(self.params.epsilon, SMALLEST), before, 0.0)
        return self.rate * emitting[self.source]

    def arrivals(self, step: int, rows: Ints) -> list[Arrival]:
        """Return the arrivals at any of ``rows`` in ``step``, sorted."""
        near, amount = self._into(step, rows)
        columns = self.source[near], self.target[near], self.relation[near], amount, self.forward[near]
        return arrivals_of(step, self.relations, columns)

    def largest(self, step: int, rows: Ints) -> dict[int, Arrival]:
        """Return the fullest arrival at each of ``rows`` in ``step``, where the row itself retained less.

        Of equals that of the lowest source, and of links from there that of the first relation by name.
        """
        near, amount = self._into(step, rows)
        target = self.target[near]
        most = self.params.retention * self.history[step - 1]
        if self.params.combine != "max":
            most = np.maximum(most, self.params.restart * self.history[0])
        own = most[target]
        np.maximum.at(most, target, amount)
        largest: dict[int, Arrival] = {}
        full = (amount == most[target]) & (amount > own)
        links = near[full]
        columns = (
            self.source[links],
            target[full],
            self.relation[links],
            amount[full],
            self.forward[links],
        )
        for arrival in arrivals_of(step, self.relations, columns):
            largest.setdefault(arrival.target, arrival)
        return largest

    def _into(self, step: int, rows: Ints) -> tuple[Ints, Floats]:
        """Return the links that carried activation to any of ``rows`` in ``step``, and the amounts."""
        targeted = np.zeros(self.n, np.bool_)
        targeted[rows] = True
        near = np.flatnonzero(targeted[self.target])
        amount = self.amounts(step)[near]
        positive = amount > 0
        return near[positive], amount[positive]


def routes(flow: Flow, targets: Iterable[int], by_row: tuple[Ints, Floats] | None = None) -> Routes:
    """Return the routes of a flow among the rows that emitted, and from them to ``targets``.

    Parameters
    ----------
    flow : what a spread recorded.
    targets : rows of the graph whose activation is to be explained later.
    by_row : ``flow.by_row()``, where the caller has it already.

    Returns
    -------
    Routes
        From which ``credit`` and ``strongest_paths`` give for every target what they give for ``flow``.

    Raises
    ------
    ParamError
        A target is no row of the graph.

    Examples
    --------
    >>> from priming.core.credit import credit
    >>> from priming.core.graph import Graph
    >>> from priming.core.spread import spread
    >>> graph = Graph.from_links(3, [0, 1], [1, 2], [0.5, 0.5])
    >>> kept = routes(spread(graph, {0: 1.0}, SpreadParams(steps=2)).flow, [2])
    >>> sorted(credit(kept, kept.locals()[2]))
    [(0, 1, 'similar-to'), (1, 2, 'similar-to')]

    """
    target_rows = rows_of("targets", list(targets), flow.n)
    rows, history = flow.by_row() if by_row is None else by_row
    emitting = (history[:-1] >= max(flow.params.epsilon, SMALLEST)).any(axis=0)
    emitters, stays = rows[emitting], emitting | among(rows, distinct(target_rows))
    kept_rows = rows[stays]
    gives = _links_walked(flow, emitters, rows, history)
    gives = gives.only(among(gives.target, kept_rows))
    return Routes(
        rows=kept_rows,
        history=history[:, stays],
        source=np.searchsorted(kept_rows, emitters[gives.owner]),
        target=np.searchsorted(kept_rows, gives.target),
        relation=gives.edges.relation.astype(np.int64),
        rate=gives.amount,
        forward=gives.edges.forward,
        relations=flow.walk.graph.relations,
        params=flow.params,
    )


def _links_walked(flow: Flow, emitters: Ints, rows: Ints, history: Floats) -> Emission:
    """Return the links of ``emitters`` that a step walked, each with what it carries for an activation of 1."""
    limit, walk = flow.params.max_links, flow.walk
    if limit is None:
        return walk.emit(emitters, np.ones(emitters.size))[0]
    every, _ = replace(walk, params=replace(flow.params, max_links=None)).emit(
        emitters, np.ones(emitters.size)
    )
    walked = np.zeros(every.amount.size, np.bool_)
    keys = _keys(every, emitters, flow)
    for before in history[:-1]:
        active = rows[before >= max(flow.params.epsilon, SMALLEST)]
        gives, _ = walk.emit(active, np.ones(active.size))
        walked |= np.isin(keys, _keys(gives, active, flow))
    return every.only(walked)


def _keys(gives: Emission, emitters: Ints, flow: Flow) -> Ints:
    """Return a number for each link: its ends and its relation."""
    ends = emitters[gives.owner] * flow.n + gives.target
    keys: Ints = ends * max(len(flow.walk.graph.relations), 1) + gives.edges.relation
    return keys


def trimmed(
    whole: Routes,
    targets: Collection[int],
    *,
    least: float = PLASTICITY.kept_share,
    also: Collection[tuple[int, int]] = (),
) -> Routes:
    """Return ``whole`` without the links that carried hardly any activation to ``targets``.

    Parameters
    ----------
    whole : the routes of a spread.
    targets : own rows of ``whole`` that are to be explained.
    least : a link stays whose shares in all targets together are at least so much, ≥ 0.
    also : pairs (source, target) of own rows whose links stay in any case.

    Notes
    -----
    The shares of all targets are walked back at once, so each alone is at most what is measured here: with
    ``least`` well under the floor of ``credit`` no link that would be credited goes.

    """
    shares = _joint_shares(whole, np.array(sorted(targets), np.int64))
    stays = shares >= check_number("least", least, low=0.0)
    stays &= shares > 0
    if also:
        ends = np.array(sorted(also), np.int64)
        stays |= np.isin(whole.source * whole.n + whole.target, ends[:, 0] * whole.n + ends[:, 1])
    links = np.flatnonzero(stays)
    rows = distinct(np.concatenate([whole.source[links], whole.target[links], sorted(targets)])).astype(
        np.int64
    )
    return replace(
        whole,
        rows=whole.rows[rows],
        history=whole.history[:, rows],
        source=np.searchsorted(rows, whole.source[links]),
        target=np.searchsorted(rows, whole.target[links]),
        relation=whole.relation[links],
        rate=whole.rate[links],
        forward=whole.forward[links],
    )


def _joint_shares(whole: Routes, targets: Ints) -> Floats:
    """Walk back from all ``targets`` at once; the sum over them of each link's share (see ``credit``)."""
    responsibility = np.zeros(whole.n)
    responsibility[targets[whole.history[-1][targets] > 0]] = 1.0
    shares = np.zeros(whole.rate.size)
    for step in range(whole.steps, 0, -1):
        before, amount = whole.history[step - 1], whole.amounts(step)
        retained = whole.params.retention * before
        restart = whole.params.restart * whole.history[0]
        if whole.params.combine == "max":
            amount = np.where(_winners(whole, amount, retained), amount, 0.0)
            brought = np.bincount(whole.target, weights=amount, minlength=whole.n)
            retained, restart = np.where(brought > 0, 0.0, retained), np.zeros(whole.n)
        total = retained + restart + np.bincount(whole.target, weights=amount, minlength=whole.n)
        per_unit = np.divide(responsibility, total, out=np.zeros(whole.n), where=total > 0)
        moved = amount * per_unit[whole.target]
        shares += moved
        responsibility = retained * per_unit + np.bincount(whole.source, weights=moved, minlength=whole.n)
    return shares


def _winners(whole: Routes, amount: Floats, retained: Floats) -> Bools:
    """Mark the links that carried most to their target and more than it retained; ties are all marked."""
    most = np.zeros(whole.n)
    np.maximum.at(most, whole.target, amount)
    wins: Bools = (amount == most[whole.target]) & (amount > retained[whole.target])
    return wins
