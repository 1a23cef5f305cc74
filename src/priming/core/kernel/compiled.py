"""The spreading kernel in machine code: the twin of ``spread`` for a ``Graph``, equal to it to 1e-6.

The same equation in the same order of summation, link by link where ``spread`` goes array by array. It needs
numba (the extra ``fast``). ``loops.py`` holds the loops as plain Python; the first call replaces them by their
compiled forms, which numba caches on disk.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import SpreadParams
from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import Graph
from priming.core.kernel import loops
from priming.core.kernel.flow import SMALLEST, Flow, Walk
from priming.core.spread import SCRATCH, Activation, Anchors, anchors_of, finite, marks_of, spread
from priming.errors import MissingExtra, ParamError


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

    The example of ``spread`` holds for it as well.
    """
    if not isinstance(graph, Graph):
        raise ParamError("graph", type(graph).__name__, "must be a Graph; spread takes any Adjacency")
    if params.max_links is not None:  # a bound over all nodes, which the loops see a block at a time
        return spread(graph, anchors, params, gate=gate, record_flow=record_flow)
    _compile()
    walk = Walk.over(graph, params, gate)
    anchor_rows, start = anchors_of(anchors, graph.n)
    links, law, work = _links(graph), _law(walk), _work(graph.n, anchor_rows)
    a, history = start, [start]
    for _ in range(params.steps):
        reached = loops.step(links, law, work, a, start)
        if work.refused[0] >= 0:
            raise ParamError("gate", float(law.gate[work.refused[0]]), "must be finite and ≥ 0")
        a = work.after[:reached].copy()
        if record_flow:
            history.append(a)
    flow = Flow(walk, work.rows[: a.size].copy(), tuple(history)) if record_flow else None
    slots = loops.ranked(work, finite(a, params), SMALLEST)
    return Activation.of(work.rows[slots], a[slots], work.marks[slots], flow)


def warm() -> None:
    """Compile, or load, the kernel ahead of the first spread."""
    spread_compiled(Graph.from_links(2, [0], [1], [1.0]), {0: 1.0}, SpreadParams())


def _links(graph: Graph) -> loops.LinkArrays:
    hours = np.empty(0) if graph.hours is None else graph.hours
    neighbour: Any = graph.neighbour
    return loops.LinkArrays(graph.start, graph.split, neighbour, graph.weight, graph.relation, hours)


def _law(walk: Walk) -> loops.LawArrays:
    params, mutual = walk.params, walk.mutual
    roles = walk.suppresses.astype(np.int64) + mutual
    return loops.LawArrays(
        gain=float(params.gain),
        hop_decay=float(params.hop_decay),
        retention=float(params.retention),
        restart=float(params.restart),
        rho=0.0 if isinstance(walk.graph, Graph) and walk.graph.hours is None else float(params.rho),
        least=max(float(params.epsilon), SMALLEST),
        norm={"none": loops.NONE, "fan": loops.FAN, "share": loops.SHARE}[params.normalise],
        leak=float(params.leak) if params.normalise == "share" else 0.0,
        greatest=params.combine == "max",
        both=params.direction == "both",
        enters=params.direction == "both" or bool(mutual.any()),
        roles=roles if roles.any() else roles[:0],
        nodes=loops.UNLIMITED if params.max_nodes is None else params.max_nodes,
        neighbours=loops.UNLIMITED if params.max_neighbours is None else params.max_neighbours,
        gate=np.empty(0) if walk.gate is None else walk.gate,
    )


class _ThreadArrays(threading.local):
    """The arrays of a ``loops.Work``; memory that a spread does not touch is never taken from the system."""

    whole: Ints = np.empty((2, 0), np.int64)
    real: Floats = np.empty((3, 0))


_arrays = _ThreadArrays()


def _work(n: int, anchors: Ints) -> loops.WorkArrays:
    if _arrays.whole.shape[1] < n:
        _arrays.whole, _arrays.real = np.empty((2, n), np.int64), np.empty((3, n))
    place, stamp = SCRATCH.renew(n)
    (rows, marks), (after, most, taken) = _arrays.whole, _arrays.real
    place[anchors] = np.arange(stamp, stamp + anchors.size)
    rows[: anchors.size], marks[: anchors.size] = anchors, marks_of(anchors)
    return loops.WorkArrays(place, stamp, rows, marks, after, most, taken, refused=np.full(1, -1))


_lock = threading.Lock()
_compiled = False


def _compile() -> None:
    """Put compiled forms in place of the functions of ``loops``."""
    global _compiled
    with _lock:
        if _compiled:
            return
        try:
            import numba
        except ImportError:
            raise MissingExtra("fast", "the compiled kernel") from None
        for name in loops.COMPILED:
            setattr(loops, name, _jit(numba, getattr(loops, name)))
        _compiled = True


def _jit(numba: Any, function: Any) -> Any:
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled form: this process alone has it
        return numba.njit(nogil=True)(function)
