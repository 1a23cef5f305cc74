"""The activation that links carry in one step, e(u→v), and the record from which a flow is computed later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import SpreadParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Codes, Floats, Ints, floats, numbers
from priming.core.graph import Adjacency, Edges, among, in_order, rows_of
from priming.errors import ParamError

MUTUAL = frozenset({"conflicts"})
"""Suppressing relations that act both ways; all others act from source to target."""

CAP = 1.0
"""Under ``fan`` and ``sum``, parallel links add up to this weight, or to that of the strongest if it is more."""

SMALLEST = float(np.nextafter(0.0, 1.0))

GATE_CHECKED = 65_536
"""A gate of up to this many rows is checked completely; of a longer one only the entries that activation
reaches, because checking all of it would cost more than the spread."""


@dataclass(frozen=True, slots=True, eq=False)
class Emission:
    """The links that carried activation from some rows in one step, and the amounts."""

    edges: Edges
    amount: Floats
    """Energy on each link, > 0."""

    @property
    def owner(self) -> Ints:
        """Position of the emitter of each link, in the rows that emitted."""
        return self.edges.owner

    @property
    def target(self) -> Ints:
        """Row that each link's energy moved to."""
        return self.edges.neighbour

    def only(self, keep: Bools) -> Emission:
        """Return the links that ``keep`` marks, in the same order."""
        return self if keep.all() else Emission(self.edges.only(keep), self.amount[keep])


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """How a spread walks links: the graph, the constants, the gate, and the suppressing relations."""

    graph: Adjacency
    params: SpreadParams
    gate: Floats | None
    suppresses: Bools
    """By relation code: takes activation away."""
    mutual: Bools
    """By relation code: does so both ways."""

    @classmethod
    def over(cls, graph: Adjacency, params: SpreadParams, gate: ArrayLike | None) -> Walk:
        """Check the gate, and look up which of the graph's relations suppress."""
        suppresses = [name in params.suppressing for name in graph.relations]
        mutual = [name in MUTUAL and name in params.suppressing for name in graph.relations]
        return cls(
            graph,
            params,
            None if gate is None else _gate(gate, graph.n),
            np.array(suppresses, np.bool_),
            np.array(mutual, np.bool_),
        )

    def emitters(self, rows: Ints, a: Floats) -> Ints:
        """Return the positions of the nodes that emit, in order of row: the order of meeting moves no sum."""
        emitting = np.flatnonzero(a >= max(self.params.epsilon, SMALLEST))
        return emitting[in_order(rows[emitting])]

    def emit(self, rows: Ints, a: Floats) -> tuple[Emission, Emission | None]:
        """Return e and s: the activation that ``rows``, at activations ``a``, give to others and take from them."""
        out, limit = self.params.direction == "out", self.params.max_links
        edges = self.graph.edges(rows, both=not out or bool(self.mutual.any()) or limit is not None)
        if limit is not None:
            edges = edges.only(strongest_links(edges, rows, limit))
        against = self.suppresses[edges.relation] if self.suppresses.any() else np.zeros(0, np.bool_)
        if not against.any():
            positive = edges.only(edges.forward) if out else edges
            return self._stream(positive, a, self.gate, joint=self.adds), None
        acts = edges.forward | self.mutual[edges.relation]
        gives = ~against & edges.forward if out else ~against
        return (
            self._stream(edges.only(gives), a, self.gate, joint=self.adds),
            self._stream(edges.only(against & acts), a, None, joint=True),
        )

    @property
    def adds(self) -> bool:
        """Whether the arrivals at a node add up, so that parallel links do."""
        return self.params.combine == "sum"

    def _stream(self, edges: Edges, a: Floats, gate: Floats | None, *, joint: bool) -> Emission:
        """Return e(u→v) = a(u) · gain · hop_decay · w · exp(−rho · hours) / norm(u) over ``edges``.

        ``joint``: under ``fan``, the weights of parallel links add up to ``CAP`` at most.
        """
        params = self.params
        weight = edges.weight if gate is None else edges.weight * _factors_of(gate, edges.neighbour)
        fan = params.normalise == "fan"
        parallel = _Parallel.of(edges, weight, self.graph.n) if fan else None
        if joint and parallel is not None:
            weight = parallel.capped(weight)
        amount = (a * params.gain * params.hop_decay).take(edges.owner) * weight
        if params.rho:
            amount *= np.exp(-params.rho * np.fmax(edges.hours, 0.0))
        if params.normalise != "none":
            counted = weight if not fan else (weight > 0).astype(np.float64)
            if parallel is not None:
                counted[parallel.extra] = 0.0
            leak = 0.0 if fan else params.leak
            amount /= _norms(counted, edges.owner, a.size, leak).take(edges.owner)
        stream = Emission(edges, amount)
        if params.max_neighbours is not None:
            stream = stream.only(foremost(edges, weight, params.max_neighbours))
        return stream.only(stream.amount > 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Parallel:
    """The links of each emitter that share their other end with another of its links."""

    at: Ints
    """Positions of these links."""
    pair: Ints
    """Number of the pair of nodes that each of them connects."""
    extra: Ints
    """Positions of all but the first link of each pair."""

    @classmethod
    def of(cls, edges: Edges, weight: Floats, n: int) -> _Parallel | None:
        """Find the parallel links that carry; None if there are none."""
        live = np.flatnonzero(weight > 0)
        keys = edges.owner[live] * n + edges.neighbour[live]
        order = np.argsort(keys, kind="stable")
        keys, live = keys[order], live[order]
        repeats = np.concatenate((np.zeros(1, np.bool_), keys[1:] == keys[:-1]))[: keys.size]
        if not repeats.any():
            return None
        shared = repeats.copy()
        shared[:-1] |= repeats[1:]
        return cls(live[shared], np.cumsum(~repeats)[shared] - 1, live[repeats])

    def capped(self, weight: Floats) -> Floats:
        """Return ``weight`` with parallel links scaled down where they exceed ``CAP`` and the strongest of them."""
        own = weight[self.at]
        total = np.bincount(self.pair, weights=own)
        most = np.zeros(total.size)
        np.maximum.at(most, self.pair, own)
        bound = np.maximum(most, CAP)
        scale = np.where(total > bound, bound / np.where(total > 0, total, 1.0), 1.0)
        scaled = weight.copy()
        scaled[self.at] = own * scale[self.pair]
        return scaled


def _norms(counted: Floats, owner: Ints, emitters: int, leak: float) -> Floats:
    """Return norm(u) of each emitter: the sum of neighbours (``fan``) or weights (``share``), + leak."""
    norms = np.bincount(owner, weights=counted, minlength=emitters).astype(np.float64, copy=False)
    norms += leak
    norms[norms == 0] = 1.0
    return norms


def foremost(edges: Edges, weight: Floats, limit: int) -> Bools:
    """Mark each emitter's ``limit`` strongest links; of equals those to lower rows, and then the earlier ones."""
    order = np.lexsort((edges.neighbour, -weight, edges.owner))
    owner = edges.owner[order]
    rank = np.arange(owner.size) - np.searchsorted(owner, owner)
    keep = np.zeros(owner.size, np.bool_)
    keep[order[rank < limit]] = True
    return keep


def strongest_links(edges: Edges, rows: Ints, limit: int) -> Bools:
    """Mark the ``limit`` strongest of the links that touch ``rows``, which ascend; ``edges`` are those of both ways.

    A link is one, whether it is listed at one end or, where both ends are among ``rows``, at both. Of equal weights
    the links of lower rows come first. This is what the query of Ethos reads for its active nodes:
    ``WHERE from_id = ANY(…) OR to_id = ANY(…) ORDER BY weight DESC LIMIT …``.
    """
    near, far = rows[edges.owner], edges.neighbour
    order = np.lexsort(
        (edges.hours, edges.relation, np.maximum(near, far), np.minimum(near, far), -edges.weight)
    )
    counts = np.where(among(far, rows), 0.5, 1.0) * (edges.weight > 0)
    marked = np.zeros(far.size, np.bool_)
    marked[order] = np.cumsum(counts[order]) <= limit
    return marked


def _gate(gate: ArrayLike, n: int) -> Floats:
    array = numbers("gate", gate, "an array of numbers")
    if array.shape != (n,):
        raise ParamError("gate", array.shape, f"must have one factor a row, shape ({n},)")
    return _factors(array) if n <= GATE_CHECKED else array


def _factors_of(gate: Floats, rows: Ints) -> Floats:
    """Return the factors of some rows; those of a long gate are checked only here."""
    factors: Floats = gate.take(rows)
    return factors if gate.size <= GATE_CHECKED else _factors(factors)


def _factors(factors: Floats) -> Floats:
    """Return ``factors``, if they are finite and ≥ 0."""
    if factors.size and not (factors.min() >= 0 and factors.max() < np.inf):
        floats("gate", factors, low=0.0)
    return factors


class _ArrivalFields(NamedTuple):
    source: int
    target: int
    relation: str
    step: int
    amount: float


class Arrival(_ArrivalFields):
    """What one link carried in one step: (source, target, relation, step, amount), as the energy moved.

    ``forward`` tells whether the link is stored in that direction; ``key`` is the link as it is stored.
    """

    forward: bool

    def __new__(
        cls, source: int, target: int, relation: str, step: int, amount: float, forward: bool = True
    ) -> Arrival:
        """Keep ``forward`` beside the five, so that they unpack and compare as they are."""
        self = super().__new__(cls, source, target, relation, step, amount)
        self.forward = forward
        return self

    @property
    def key(self) -> tuple[int, int, str]:
        """(source, target, relation) of the link as it is stored."""
        ends = (self.source, self.target) if self.forward else (self.target, self.source)
        return (*ends, self.relation)


def arrivals_of(
    step: int, names: Sequence[str], columns: tuple[Ints, Ints, Ints | Codes, Floats, Bools]
) -> list[Arrival]:
    """Return the arrivals of links, sorted: columns of source, target, code of relation, amount, direction."""
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(
        Arrival(source, target, names[code], step, amount, forward)
        for source, target, code, amount, forward in rows
    )


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """What each link carried, computed on demand from the activations at the start of each step.

    It reads the graph again, so it is valid only while the graph does not change.
    """

    walk: Walk
    rows: Ints
    """Every row that activation reached, in the order in which it did."""
    history: tuple[Floats, ...]
    """Activation of the first of ``rows`` after 0, 1, … steps; those beyond had none yet."""

    @property
    def n(self) -> int:
        """Number of rows of the graph."""
        return self.walk.graph.n

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.history) - 1

    @property
    def params(self) -> SpreadParams:
        """The constants of the spread."""
        return self.walk.params

    def by_row(self) -> tuple[Ints, Floats]:
        """Return the rows met, ascending, and their activations after 0, 1, … steps, shape (steps + 1, rows)."""
        rows, slot = np.unique(self.rows, return_inverse=True)
        history = [np.bincount(slot[: a.size], weights=a, minlength=rows.size) for a in self.history]
        return rows, np.array(history, np.float64)

    def values(self, step: int, rows: Ints | None = None) -> dict[int, float]:
        """Return row → activation > 0 after ``step`` steps, of all rows or of ``rows``; 0 = the anchors."""
        a = self.history[step]
        live = a > 0
        if rows is not None:
            live &= np.isin(self.rows[: a.size], rows)
        return dict(zip(self.rows[: a.size][live].tolist(), a[live].tolist(), strict=True))

    def into(self, row: int) -> tuple[Arrival, ...]:
        """Return one ``Arrival`` per link and step that brought ``row`` activation, step by step."""
        rows = rows_of("row", [row], self.walk.graph.n)
        return tuple(entry for step in range(1, self.steps + 1) for entry in self.arrivals(step, rows))

    def arrivals(self, step: int, rows: Ints) -> list[Arrival]:
        """Return the arrivals at any of ``rows`` in ``step``, sorted."""
        sources, stream = self.stream(step, rows)
        edges = stream.edges
        return arrivals_of(
            step,
            self.walk.graph.relations,
            (sources, stream.target, edges.relation, stream.amount, edges.forward),
        )

    def stream(self, step: int, rows: Ints) -> tuple[Ints, Emission]:
        """Return the emitters and the stream of what came to any of ``rows`` in ``step``."""
        a = self.history[step - 1]
        near = self.walk.graph.edges(rows, both=True).neighbour
        emitters = self.walk.emitters(self.rows[: a.size], a)
        if self.params.max_links is None:  # which links a step reads depends on all that emit
            emitters = emitters[np.isin(self.rows[emitters], near)]
        gives, _ = self.walk.emit(self.rows[emitters], a[emitters])
        gives = gives.only(np.isin(gives.target, rows))
        return self.rows[emitters[gives.owner]], gives
