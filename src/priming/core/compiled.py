"""The spreading kernel in machine code: the twin of ``spread`` for a ``Graph``, equal to it to 1e-6.

The same equation in the same order of summation, link by link where ``spread`` goes array by array. It needs
numba (the extra ``fast``). The functions that walk links stand below as plain Python; the first call puts
their compiled forms in their place, which an earlier process may have left on disk.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from priming.core.check import Floats
from priming.core.flow import LEAST_NORM, SMALLEST, Flow, Walk
from priming.core.graph import Codes, Graph, Ints
from priming.core.spread import (
    SCRATCH,
    Activation,
    Anchors,
    anchors_of,
    by_value,
    finite,
    marks_of,
    strongest,
)
from priming.errors import MissingExtra, ParamError
from priming.params import SpreadParams

GIVES, TAKES, TAKES_BOTH_WAYS = 0, 1, 2
NONE, FAN, SHARE = 0, 1, 2

UNLIMITED = 2**62
RADIX = 4096
"""Results of so many rows are sorted by radix."""

DENSE = 16
"""From one emitter in so many rows on, passing over all rows orders emitters sooner than sorting them."""


def spread_compiled(
    graph: Graph,
    anchors: Anchors,
    params: SpreadParams,
    *,
    gate: ArrayLike | None = None,
    record_flow: bool = False,
) -> Activation:
    """Spread activation as ``spread`` does: same arguments, result and errors, several times as fast.

    Raises
    ------
    MissingExtra
        numba is not installed.
    ParamError
        As in ``spread``, and for a graph that is not a ``Graph``.

    Examples
    --------
    >>> graph = Graph.from_links(3, [0, 1], [1, 2], [0.5, 0.5])
    >>> params = SpreadParams(steps=2, restart=0.0, normalise="none", gain=1.0)
    >>> spread_compiled(graph, {0: 1.0}, params).to_dict()
    {0: 0.25, 2: 0.25}

    """
    if not isinstance(graph, Graph):
        raise ParamError("graph", type(graph).__name__, "must be a Graph; spread takes any Adjacency")
    _compile()
    walk = Walk.over(graph, params, gate)
    anchor_rows, start = anchors_of(anchors, graph.n)
    links, law, work = _links(graph), _law(walk), _work(graph.n, anchor_rows)
    a, history = start, [start]
    for _ in range(params.steps):
        met = _step(links, law, work, _emitters(work, a, law.least), a, start)
        if work.refused[0] >= 0:
            raise ParamError("gate", float(law.gate[work.refused[0]]), "must be finite and ≥ 0")
        a = strongest(work.after[:met].copy(), work.rows[:met], params.max_nodes)
        history.append(a)
    flow = Flow(walk, work.rows[: a.size].copy(), tuple(history)) if record_flow else None
    return _found(work, finite(a, params), flow)


def warm() -> None:
    """Compile, or load, the kernel ahead of the first spread."""
    spread_compiled(Graph.from_links(2, [0], [1], [1.0]), {0: 1.0}, SpreadParams())


class _Links(NamedTuple):
    start: Ints
    split: Ints
    neighbour: Ints
    weight: Floats
    relation: Codes
    hours: Floats


class _Law(NamedTuple):
    drive: float
    """gain · hop_decay"""
    retention: float
    restart: float
    rho: float
    least: float
    """Activation from which a node emits."""
    norm: int
    greatest: bool
    """combine is max"""
    both: bool
    enters: bool
    """Whether the links that enter an emitter are to be looked at."""
    roles: Ints
    """By relation code; empty if no relation suppresses."""
    neighbours: int
    gate: Floats
    """Empty if there is none."""


class _Work(NamedTuple):
    """Arrays by slot (see ``spread``); those of a thread serve all its spreads."""

    place: Ints
    stamp: int
    rows: Ints
    marks: Ints
    after: Floats
    most: Floats
    """The fullest arrival at a slot that is new in this step; infinite at all others."""
    taken: Floats
    refused: Ints
    """Row whose gate is out of range, or −1."""


def _links(graph: Graph) -> _Links:
    hours = np.empty(0) if graph.hours is None else graph.hours
    neighbour: Any = graph.neighbour
    return _Links(graph.start, graph.split, neighbour, graph.weight, graph.relation, hours)


def _law(walk: Walk) -> _Law:
    params, mutual = walk.params, walk.mutual
    roles = walk.suppresses.astype(np.int64) + mutual
    return _Law(
        drive=params.gain * params.hop_decay,
        retention=float(params.retention),
        restart=float(params.restart),
        rho=0.0 if isinstance(walk.graph, Graph) and walk.graph.hours is None else float(params.rho),
        least=max(float(params.epsilon), SMALLEST),
        norm={"none": NONE, "fan": FAN, "share": SHARE}[params.normalise],
        greatest=params.combine == "max",
        both=params.direction == "both",
        enters=params.direction == "both" or bool(mutual.any()),
        roles=roles if roles.any() else roles[:0],
        neighbours=UNLIMITED if params.max_neighbours is None else params.max_neighbours,
        gate=np.empty(0) if walk.gate is None else walk.gate,
    )


class _Arrays(threading.local):
    """The arrays of a ``_Work``; memory that a spread does not touch is never taken from the system."""

    n = -1
    kept: tuple[Ints, Ints, Floats, Floats, Floats]

    def of(self, n: int) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        if self.n < n:
            self.kept = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n))
            self.n = n
        return self.kept


_arrays = _Arrays()


def _work(n: int, anchors: Ints) -> _Work:
    place, stamp = SCRATCH.renew(n)
    rows, marks, after, most, taken = _arrays.of(n)
    work = _Work(place, stamp, rows, marks, after, most, taken, refused=np.full(1, -1))
    place[anchors] = np.arange(stamp, stamp + anchors.size)
    rows[: anchors.size] = anchors
    marks[: anchors.size] = marks_of(anchors)
    return work


def _emitters(work: _Work, a: Floats, least: float) -> Ints:
    """Return the slots of a ≥ ``least`` in order of row, so that sums run as in ``spread``."""
    loud = np.flatnonzero(a >= least)
    if loud.size * DENSE < work.place.size:
        return loud[np.argsort(work.rows[loud])]
    _by_row(work.place, work.stamp, a, least, loud)
    return loud


def _found(work: _Work, a: Floats, flow: Flow | None) -> Activation:
    slots = _emitters(work, a, SMALLEST)
    values = a[slots]
    order = by_value(values) if values.size < RADIX else _descending(values.view(np.int64))
    slots = slots[order]
    return Activation.of(work.rows[slots], values[order], work.marks[slots], flow)


def _by_row(place: Ints, stamp: int, a: Floats, least: float, out: Ints) -> None:
    """Fill ``out`` with the slots of a ≥ ``least``, in order of row."""
    found = 0
    for row in range(place.size):
        slot = place[row] - stamp
        if 0 <= slot < a.size and a[slot] >= least:
            out[found] = slot
            found += 1


def _descending(bits: Ints) -> Ints:
    """Return the stable order of positive floats, largest first, from their bits.

    Three passes over 11 bits each leave only what differs by less than 2^−21 of its size to the insertion.
    """
    order, spare = np.arange(bits.size), np.empty(bits.size, np.int64)
    keys, other = bits.copy(), np.empty(bits.size, np.int64)
    for shift in (30, 41, 52):
        first = np.zeros(2049, np.int64)
        for key in keys:
            first[2048 - ((key >> shift) & 2047)] += 1
        for digit in range(2048):
            first[digit + 1] += first[digit]
        for i in range(keys.size):
            digit = 2047 - ((keys[i] >> shift) & 2047)
            spare[first[digit]], other[first[digit]] = order[i], keys[i]
            first[digit] += 1
        order, spare, keys, other = spare, order, other, keys
    for i in range(1, keys.size):
        key, at, k = keys[i], order[i], i
        while k > 0 and keys[k - 1] < key:
            keys[k], order[k] = keys[k - 1], order[k - 1]
            k -= 1
        keys[k], order[k] = key, at
    return order


def _step(links: _Links, law: _Law, work: _Work, emitters: Ints, a: Floats, start: Floats) -> int:
    """Leave a' in ``work.after``, and return the number of slots that it takes."""
    met = _give(links, law, work, emitters, a)
    after, taken = work.after, work.taken
    for slot in range(a.size):
        held = law.retention * a[slot]
        if law.greatest:
            after[slot] = max(held, after[slot])
        else:
            after[slot] += held + (law.restart * start[slot] if slot < start.size else 0.0)
    if law.roles.size:
        taken[:met] = 0.0
        _take(links, law, work, emitters, a)
        for slot in range(met):
            after[slot] = max(0.0, after[slot] - taken[slot])
    return met


def _give(links: _Links, law: _Law, work: _Work, emitters: Ints, a: Floats) -> int:
    """Gather in ``work.after`` what arrives, and return the number of slots; those past a are new.

    A new slot is marked by the fullest arrival; of equals, by the one with the lowest mark. Arrays stand in
    names of their own, since to reach into a tuple costs more than to follow a link.
    """
    place, stamp, rows, marks = work.place, work.stamp, work.rows, work.marks
    after, most, greatest = work.after, work.most, law.greatest
    neighbour, met, carried = links.neighbour, a.size, 0
    after[:met], most[:met] = 0.0, math.inf
    amount = _emit(links, law, rows[emitters], a[emitters], GIVES, work.refused)
    for emitter in emitters:
        u, mark = rows[emitter], marks[emitter] + 1
        for link in range(links.start[u], _end(links, law, u)):
            v, e = neighbour[link], amount[carried]
            carried += 1
            slot = place[v] - stamp
            if slot < 0:
                if e > 0.0:
                    place[v] = stamp + met
                    rows[met], marks[met], most[met], after[met] = v, mark, e, e
                    met += 1
                continue
            after[slot] = max(after[slot], e) if greatest else after[slot] + e
            if e >= most[slot] and (e > most[slot] or mark < marks[slot]):
                marks[slot], most[slot] = mark, e
    return met


def _take(links: _Links, law: _Law, work: _Work, emitters: Ints, a: Floats) -> None:
    """Add up in ``work.taken`` what is taken from the rows that are active or reached."""
    place, stamp, taken, carried = work.place, work.stamp, work.taken, 0
    amount = _emit(links, law, work.rows[emitters], a[emitters], TAKES, work.refused)
    for emitter in emitters:
        u = work.rows[emitter]
        for link in range(links.start[u], _end(links, law, u)):
            slot = place[links.neighbour[link]] - stamp
            if slot >= 0:
                taken[slot] += amount[carried]
            carried += 1


def _end(links: _Links, law: _Law, u: int) -> int:
    end: int = links.start[u + 1] if law.enters else links.split[u]
    return end


def _emit(links: _Links, law: _Law, rows: Ints, a: Floats, wanted: int, refused: Ints) -> Floats:
    """Return what each link in the stretches of ``rows`` carries: e, or s; 0 where it does not act."""
    start, split, weights, neighbour = links.start, links.split, links.weight, links.neighbour
    roles, gate = law.roles, law.gate
    total = 0
    for u in rows:
        total += _end(links, law, u) - start[u]
    amount, filled = np.empty(total), 0
    for i in range(rows.size):
        u, first, norm = rows[i], filled, 0.0
        for link in range(start[u], _end(links, law, u)):
            weight = weights[link]
            if roles.size and not _acts(roles[links.relation[link]], wanted, link < split[u], law.both):
                weight = 0.0
            if gate.size and wanted == GIVES and weight > 0.0:
                factor = gate[neighbour[link]]
                if not 0.0 <= factor < math.inf:
                    refused[0] = neighbour[link]
                weight *= factor
            amount[filled] = weight
            norm += weight if law.norm == SHARE else (1.0 if weight > 0.0 else 0.0)
            filled += 1
        scale = a[i] * law.drive / (1.0 if law.norm == NONE else max(norm, LEAST_NORM))
        _scale(links, law, start[u], amount[first:filled], scale)
    return amount


def _scale(links: _Links, law: _Law, low: int, weight: Floats, scale: float) -> None:
    """Turn the weights of one stretch into amounts, those of its strongest links only."""
    if weight.size > law.neighbours:
        _cut(links, law, low, weight)
    for k in range(weight.size):
        weight[k] *= scale
        if law.rho > 0.0 and links.hours[low + k] > 0.0:
            weight[k] *= math.exp(-law.rho * links.hours[low + k])


def _cut(links: _Links, law: _Law, low: int, weight: Floats) -> None:
    """Leave their weight to a stretch's strongest links only.

    Sorted by the least of several keys first, since each sort keeps the order of equals; links to one row
    that are equally strong differ by age alone.
    """
    high = low + weight.size
    order = np.argsort(links.relation[low:high], kind="mergesort")
    if law.rho > 0.0:
        order = order[np.argsort(np.fmax(links.hours[low:high][order], 0.0), kind="mergesort")]
    order = order[np.argsort(links.neighbour[low:high][order], kind="mergesort")]
    order = order[np.argsort(-weight[order], kind="mergesort")]
    weight[order[law.neighbours :]] = 0.0


def _acts(role: int, wanted: int, forward: bool, both: bool) -> bool:
    """Tell whether a link of this role does, for the row whose stretch it is in, what is wanted."""
    if wanted == GIVES:
        return role == GIVES and (both or forward)
    return role == TAKES_BOTH_WAYS or (role == TAKES and forward)


_KERNEL = (_acts, _cut, _scale, _end, _emit, _take, _give, _step, _descending, _by_row)
_lock = threading.Lock()
_compiled = False


def _compile() -> None:
    """Put compiled forms in place of the functions of ``_KERNEL``; they find each other by name when run."""
    global _compiled
    with _lock:
        if _compiled:
            return
        try:
            import numba
        except ImportError:
            raise MissingExtra("fast", "the compiled kernel") from None
        for function in _KERNEL:
            globals()[function.__name__] = _jit(numba, function)
        _compiled = True


def _jit(numba: Any, function: Any) -> Any:
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled form: this process alone has it
        return numba.njit(nogil=True)(function)
