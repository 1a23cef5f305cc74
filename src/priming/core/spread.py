"""The one spreading kernel: activation flows along links in synchronous steps; then the spread nodes compete.

One step reads only the activations a at its start; a node u emits only if a(u) ≥ epsilon:

    e(u→v) = a(u) · gain · hop_decay · w(u,v) · exp(−rho · hours(u,v)) / norm(u)
    sum:  a'(v) = restart · anchor(v) + retention · a(v) + Σ_u e(u→v) − Σ_u s(u→v)
    max:  a'(v) = max(retention · a(v), max_u e(u→v)) − Σ_u s(u→v)
    a'(v) = max(0, a'(v))

s is e over suppressing links, and norm(u) is 1 (``none``), the number of u's neighbours (``fan``) or the sum of
its weights and ``leak`` (``share``, which conserves energy if nothing leaks). Under ``fan`` the links between
the same two nodes are one neighbour: the strongest of them counts under ``max``, their sum up to 1, or up to
the strongest, under ``sum`` and in s. A second link between two nodes thus never lowers what either gets from
the other. With restart 1−α, gain α, no retention, no leak and ``share``, the limit is personalised PageRank. A
step costs what the links it walks cost, whatever the size of the graph.

References
----------
[1] Collins, A. M. & Loftus, E. F. (1975). A spreading-activation theory of semantic processing.
    Psychological Review 82(6), 407–428.
[2] SYNAPSE: spreading activation over the episodic memory of language agents. arXiv:2601.02744.
[3] Briggs, P. & Torczon, L. (1993). An efficient representation for sparse sets. ACM Letters on
    Programming Languages and Systems 2, 59–69.

"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import INHIBIT, SQUASH, SpreadParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Floats, Ints, floats, like
from priming.core.arguments.checks import check_number, check_whole
from priming.core.graph import Adjacency, in_order, rows_of
from priming.core.kernel.flow import Arrival, Emission, Flow, Walk
from priming.errors import ParamError

__all__ = ["Activation", "Arrival", "Flow", "SpreadParams", "inhibit", "spread", "squash"]

Anchors = Mapping[int, float] | tuple[ArrayLike, ArrayLike]

BEATEN = np.iinfo(np.int64).max
STAMP = 1 << 32
LAST_STAMP = 1 << 62

HOPS = 32
"""Bits of a mark that hold the distance; the bits above hold the anchor, so that marks compare by anchor."""


def spread(
    graph: Adjacency,
    anchors: Anchors,
    params: SpreadParams,
    *,
    gate: ArrayLike | None = None,
    apart: Ints | None = None,
) -> Activation:
    """Spread activation from ``anchors`` over ``graph`` (the equation is in the docstring of this module).

    Parameters
    ----------
    graph : a ``Graph``, or anything that answers as ``Adjacency``.
    anchors : row → activation ≥ 0, or the pair of arrays (rows, activations). Zeros anchor nothing.
    params : every constant of the equation, with its range.
    gate : factor ≥ 0 of each row, shape (n,), on the weight of every positive link into that row, in e and
        in the norms.
    apart : rows of anchors whose activation is also told apart from that of all others (``Activation.apart``);
        only where arrivals add up. What is taken from a node is taken from all that came to it in proportion.

    Returns
    -------
    Activation
        The rows that end above 0, strongest first.

    Raises
    ------
    ParamError
        An anchor or a gate of the wrong length, range or type, or activation beyond the largest float.

    Notes
    -----
    Departures from [1] and [2]: links may suppress, and the norms of suppressing and of other links are
    apart. ``max_links`` bounds the links that a step reads, those that enter an active node included, all together
    and before the gate. ``max_neighbours`` counts suppressing and other links apart, and compares weights after the
    gate; a link whose gate is 0 counts in no norm. Each thread keeps one array of 8 bytes a row for its spreads.

    Examples
    --------
    >>> from priming.core.graph import Graph
    >>> graph = Graph.from_links(3, [0, 1], [1, 2], [0.5, 0.5])
    >>> activation = spread(graph, {0: 1.0}, SpreadParams(steps=2, restart=0.0, normalise="none", gain=1.0))
    >>> activation.rows.tolist(), activation.values.tolist(), activation.distance.tolist()
    ([0, 2], [0.25, 0.25], [0, 2])

    """
    walk = Walk.over(graph, params, gate)
    rows, start = anchors_of(anchors, graph.n)
    reached = _ReachedRows(graph.n, rows)
    a, history = start, [start]
    own = None if apart is None else (rows[:, None] == apart) * start[:, None]
    columns = own
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(params.steps):
            a, columns = _step(walk, reached, a, start, columns, own)
            history.append(a)
    flow = Flow(walk, reached.rows, tuple(history))
    return _activation(reached, finite(a, params), flow, columns)


@dataclass(frozen=True, slots=True, eq=False)
class Activation:
    """The final activations: equal-length arrays, strongest row first, ties by row."""

    rows: Ints
    values: Floats
    """Activation of each row, > 0, neither inhibited nor squashed."""
    distance: Ints
    """Hops from the anchor that reached the row first; 0 = it is one."""
    origin: Ints
    """Row of that anchor; of several in one step, the one whose link contributed most, then the lowest row."""
    flow: Flow
    """What each link carried."""
    apart: Floats | None = None
    """The part of each value that came from each anchor told apart, shape (rows, anchors told apart)."""


def finite(a: Floats, params: SpreadParams) -> Floats:
    """Return a, or raise ``ParamError`` where a value is infinite."""
    if np.isfinite(a).all():
        return a
    raise ParamError("gain", params.gain, "must be smaller: activation grew beyond the largest float")


def _activation(reached: _ReachedRows, a: Floats, flow: Flow, columns: Floats | None) -> Activation:
    live = np.flatnonzero(a > 0)
    live = live[in_order(reached.rows[live])]
    # The bits of positive floats compare as they do; equals stay in order.
    live = live[in_order(~a[live].view(np.int64), digits=4)]
    apart, marks = None if columns is None else columns[live], reached.marks[live]
    return Activation(reached.rows[live], a[live], marks & ((1 << HOPS) - 1), marks >> HOPS, flow, apart)


def _step(
    walk: Walk, reached: _ReachedRows, a: Floats, start: Floats, columns: Floats | None, own: Floats | None
) -> tuple[Floats, Floats | None]:
    """Return a' from a, both by slot (see ``_ReachedRows``), a' over the slots that this step added too.

    ``columns`` are the parts of a by anchor, and ``own`` those of the start; the parts of a' come with it.
    """
    params = walk.params
    emitters = walk.emitters(reached.rows, a)
    gives, takes = walk.emit(reached.rows[emitters], a[emitters])
    slots = reached.admit(gives, emitters)
    after = np.zeros(reached.rows.size)
    after[: a.size] = params.retention * a
    if params.combine == "max":
        np.maximum.at(after, slots, gives.amount)
    else:
        after[: start.size] += params.restart * start
        after += np.bincount(slots, weights=gives.amount, minlength=after.size)
    unreduced = after.copy() if takes is not None else after
    if takes is not None:
        slots_taken, present = reached.present(takes.target)
        after -= np.bincount(slots_taken, weights=takes.amount[present], minlength=after.size)
        np.maximum(after, 0.0, out=after)
    strongest = _strongest(after, reached.rows, params.max_nodes)
    if columns is None or own is None:
        return strongest, None
    parts = np.zeros((after.size, own.shape[1]))
    parts[: a.size] = params.retention * columns
    parts[: start.size] += params.restart * own
    share = columns[emitters] / a[emitters, None]
    for at, carried in enumerate((share[gives.owner] * gives.amount[:, None]).T):
        parts[:, at] += np.bincount(slots, weights=carried, minlength=after.size)
    if strongest is not unreduced:
        parts *= np.divide(strongest, unreduced, out=np.zeros(unreduced.size), where=unreduced > 0)[:, None]
    return strongest, parts


def _strongest(a: Floats, rows: Ints, limit: int | None) -> Floats:
    """Return a with all but its ``limit`` strongest nodes at 0; of equals the lower rows stay."""
    if limit is None or a.size <= limit:
        return a
    live = a[a > 0]
    if live.size <= limit:
        return a
    least = np.partition(live, live.size - limit)[live.size - limit]
    strongest = np.where(a > least, a, 0.0)
    equal = np.flatnonzero(a == least)
    spare = limit - np.count_nonzero(live > least)
    strongest[equal[np.argsort(rows[equal])][:spare]] = least
    return strongest


class _Scratch(threading.local):
    """One array of places a thread, for all its spreads: stamped, so never cleared."""

    stamp = LAST_STAMP
    place: Ints = np.zeros(0, np.int64)

    def renew(self, n: int) -> tuple[Ints, int]:
        """Return places for ``n`` rows, and a stamp above every one that they hold."""
        if self.place.size < n or self.stamp >= LAST_STAMP:
            self.place, self.stamp = np.zeros(max(n, self.place.size), np.int64), 0
        self.stamp += STAMP
        return self.place, self.stamp


SCRATCH = _Scratch()


class _ReachedRows:
    """The rows that activation has met during one spread, each with a slot, an origin and a distance.

    ``place[row]`` is the row's slot if it bears this spread's stamp, else left from another spread [3]:
    the array is shared by all spreads of a thread, and none pays for rows that it does not meet. A slot may
    stay empty: of the links that reach a row first, together, each brings a slot, and one of these is used.
    """

    __slots__ = ("marks", "place", "rows", "stamp")

    def __init__(self, n: int, anchors: Ints) -> None:
        self.place, self.stamp = SCRATCH.renew(n)
        self.place[anchors] = np.arange(self.stamp, self.stamp + anchors.size)
        self.rows = anchors
        self.marks = anchors << HOPS  # each came from itself, over no hop

    def admit(self, stream: Emission, emitters: Ints) -> Ints:
        """Return the slot of each target of ``stream``, whose emitters have the slots ``emitters``."""
        places = self.place.take(stream.target)
        fresh = np.flatnonzero(places < self.stamp)
        if fresh.size:
            rows, first = stream.target[fresh], self.stamp + self.rows.size
            turn = np.arange(fresh.size)
            self.place[rows] = turn + first
            places[fresh] = slots = self.place.take(rows)
            marks = (self.marks[emitters] + 1).take(stream.owner[fresh])
            slots -= first
            others = np.flatnonzero(slots != turn)
            if others.size:
                _resolve_marks(marks, stream.amount[fresh], others, slots[others])
            self.rows = np.concatenate((self.rows, rows))
            self.marks = np.concatenate((self.marks, marks))
        places -= self.stamp
        return places

    def present(self, rows: Ints) -> tuple[Ints, Bools]:
        """Return the slots of those of ``rows`` that have one, and which do."""
        places = self.place.take(rows)
        present = places >= self.stamp
        return places[present] - self.stamp, present


def _resolve_marks(marks: Ints, amount: Floats, others: Ints, holders: Ints) -> None:
    """Give each holder of a slot the mark of the fullest arrival at its row; of equals, the lowest mark.

    ``others`` are the arrivals whose row's slot is held by another one, ``holders``.
    """
    most = amount.copy()
    np.maximum.at(most, holders, amount[others])
    marks[holders[amount[holders] < most[holders]]] = BEATEN
    full = amount[others] == most[holders]
    np.minimum.at(marks, holders[full], marks[others[full]])


def anchors_of(anchors: Anchors, n: int) -> tuple[Ints, Floats]:
    """Return anchors by row, without zeros; each row may occur once."""
    keys, amounts = (
        (list(anchors), list(anchors.values())) if isinstance(anchors, Mapping) else tuple(anchors)
    )
    rows, values = rows_of("anchors", keys, n), floats("anchors", amounts, low=0.0)
    if values.shape != rows.shape:
        raise ParamError("anchors", values.size, f"must be one activation a row, {rows.size}")
    order = np.argsort(rows)
    rows, values = rows[order], values[order]
    twice = np.flatnonzero(rows[1:] == rows[:-1])
    if twice.size:
        raise ParamError("anchors", int(rows[twice[0]]), "must name each row once")
    live = values > 0
    return (rows, values) if live.all() else (rows[live], values[live])


POOLS = ("mean", "sum")


def inhibit(
    values: ArrayLike,
    *,
    beta: float = INHIBIT.beta,
    winners: int = INHIBIT.winners,
    pool: str = INHIBIT.pool,
) -> Any:
    """Suppress all but the strongest activations.

    The M = ``winners`` largest values stay as they are; every other value a becomes

        mean:  max(0, a − β · (mean(winners) − a))
        sum:   max(0, a − β · Σ_k max(0, a_k − a))        over the winners k

    Parameters
    ----------
    values : activations ≥ 0, shape (n,).
    beta : strength of the suppression, ≥ 0.
    winners : how many values win, ≥ 1. Ties are broken by position, the earlier one wins.
    pool : ``"mean"`` or ``"sum"``.

    Returns
    -------
    A new array of shape (n,); a copy of ``values`` where n ≤ ``winners``.

    Raises
    ------
    ParamError : a value, ``beta``, ``winners`` or ``pool`` outside its range.

    Notes
    -----
    ``sum`` is the paper's rule [1]_. ``mean`` divides it by M, so that β means the same whatever M is.
    Winners do not suppress each other, as they do in the paper. The seed's "inhibition threshold" is
    the M-th largest value: there is no other one.

    References
    ----------
    .. [1] SYNAPSE: episodic-semantic memory by spreading activation (2026), arXiv 2601.02744.

    Examples
    --------
    >>> inhibit([0.8, 0.6, 0.4, 0.2], winners=2).round(3).tolist()
    [0.8, 0.6, 0.355, 0.125]
    """
    values = floats("values", values, low=0.0)
    beta = check_number("beta", beta, low=0.0)
    winners = check_whole("winners", winners, low=1)
    if pool not in POOLS:
        raise ParamError("pool", pool, f"must be one of {', '.join(POOLS)}")
    if values.ndim > 1:
        raise ParamError("values", values.shape, "must have one dimension")
    result = values.copy()
    if values.size <= winners:
        return like(result)
    order = np.argsort(-values, kind="stable")
    top, losers = values[order[:winners]], order[winners:]
    # No winner is below a loser, so Σ_k max(0, a_k − a) = M · (mean − a); max() only catches rounding.
    gap = np.maximum(0.0, top.mean() - values[losers])
    pressure = gap if pool == "mean" else gap * winners
    result[losers] = np.maximum(0.0, values[losers] - beta * pressure)
    return result


def squash(x: ArrayLike, *, gain: ArrayLike = SQUASH.gain, centre: ArrayLike = SQUASH.centre) -> Any:
    """Map activations to (0, 1) by a logistic curve.

        σ(x) = 1 / (1 + e^(−gain · (x − centre)))

    Parameters
    ----------
    x : any finite numbers.
    gain : steepness, ≥ 0. floop 10, SYNAPSE 5, World Weaver 1.
    centre : the x that maps to one half. floop .3, SYNAPSE .5, World Weaver 0.

    Returns
    -------
    Values in [0, 1] of the broadcast shape; the ends are reached only by rounding.

    Raises
    ------
    ParamError : an argument that is not finite, or a negative ``gain``.

    Examples
    --------
    >>> squash(0.3)
    0.5
    >>> round(squash(0.0), 3)
    0.047
    """
    x = floats("x", x)
    gain = floats("gain", gain, low=0.0)
    centre = floats("centre", centre)
    with np.errstate(over="ignore"):
        return like(np.exp(-np.logaddexp(0.0, -gain * (x - centre))))
