"""Traces: the record of a recall's flow, and what is later read from it: paths, credit and co-activation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from priming.config.ids import uuid7
from priming.config.params.laws import PLASTICITY, SpreadParams
from priming.config.params.limits import STORE
from priming.config.profiles import Profile
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.arguments.checks import check_text
from priming.core.credit import path_credit, strongest_paths
from priming.core.kernel.flow import Arrival
from priming.core.kernel.routes import Routes, routes, trimmed
from priming.core.spread import Activation
from priming.errors import Corrupt, StoreError
from priming.index.arrays import ENTITY
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.designs import final_activation
from priming.recall.ranking import Ranked
from priming.results import Step
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow
from priming.types import Cue

Matched = Callable[[Ints], Floats]
Ends = tuple[str, str, str]
"""The source, target and relation of a link, the ends by their ids."""
PENDING: ContextVar[dict[str, Trace] | None] = ContextVar("pending", default=None)
"""Where recalls wait, by their ids, until what of them was shown is ``record``ed; None: each is recorded at once."""

_ARRAYS = (
    ("history", "<f8"),
    ("rate", "<f8"),
    ("source", "<i4"),
    ("target", "<i4"),
    ("relation", "<i2"),
    ("forward", "|u1"),
)
_COMPRESSION = 1
"""A fast level of compression: recalls are many, and few traces are read again."""


@dataclass(frozen=True)
class StoredTrace:
    """The routes by which activation reached a recall's hits, and the memories that were active with them.

    ``nodes`` are the ids of the routes' rows; ``active`` are (row, level, is a seed) of the memories that were active
    enough to be linked: the level is in [0, 1], and a seed was matched by the cue itself. ``reasons`` are the
    conditions that made each seed one, where the trace is of rules.
    """

    nodes: tuple[str, ...]
    routes: Routes
    active: tuple[tuple[int, float, bool], ...] = ()
    reasons: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    hit_paths: Mapping[int, tuple[Arrival, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The paths to the hits, where they were computed already."""

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {memory_id: row for row, memory_id in enumerate(self.nodes)}

    def row(self, memory_id: str) -> int | None:
        """Return the row of a memory; None if the trace does not contain it."""
        return self._rows.get(memory_id)

    def is_anchor(self, row: int) -> bool:
        """Tell whether the cue itself matched a memory."""
        return bool(self.routes.history[0][row] > 0)

    def paths(self, rows: Collection[int]) -> dict[int, tuple[Arrival, ...]]:
        """Return the path of largest arrivals to each row; empty for a row whose largest source is the cue itself."""
        if all(row in self.hit_paths for row in rows):
            return {row: self.hit_paths[row] for row in rows}
        return strongest_paths(self.routes, rows)

    def shares(self, row: int, floor: float = PLASTICITY.credit_floor) -> dict[Ends, float]:
        """Return the share of each link in the activation that reached a row; those below ``floor`` are left out."""
        credit = path_credit(self.routes, row, floor=floor)
        return {(self.nodes[u], self.nodes[v], name): share for (u, v, name), share in credit.items()}


def stored_trace(
    working: WorkingSet,
    profile: Profile,
    ranked: Ranked,
    matched: Matched | None = None,
    reasons: Mapping[int, tuple[str, ...]] | None = None,
) -> StoredTrace:
    """Return the trace of a ranking: the routes of its hits and of the other active memories.

    ``matched`` returns how well the cue itself matched rows; without it, their activation as anchors is used.
    ``reasons`` are the conditions that matched, by row: then those rows are the seeds, and no others.
    """
    hits, activation = ranked.rows.tolist(), ranked.activation
    if activation is None:
        return StoredTrace(tuple(working.ids[row] for row in hits), _no_routes(len(hits)))
    history = activation.flow.by_row()
    levels = {
        row: level
        for row, level in _levels(profile, activation, history, matched).items()
        if working.kind[row] != ENTITY
    }
    if reasons is not None:
        levels = {row: (level, row in reasons) for row, (level, _) in levels.items()}
    whole = routes(activation.flow, [*hits, *levels], history)
    local = whole.locals()
    own = {row: local[row] for row in dict.fromkeys([*hits, *levels]) if row in local}
    paths = strongest_paths(whole, [own[row] for row in hits if row in own])
    ways = {(hop.source, hop.target) for path in paths.values() for hop in path}
    small = trimmed(whole, set(own.values()), least=profile.plasticity.kept_share, also=ways)
    local = small.locals()
    active = tuple((local[row], *levels[row]) for row in levels if row in local)
    place = {at: local[row] for row, at in whole.locals().items() if row in local}
    hit_paths = {place[at]: tuple(_renumbered(hop, place) for hop in path) for at, path in paths.items()}
    matches = {local[row]: names for row, names in (reasons or {}).items() if row in levels and row in local}
    nodes = tuple(working.ids[row] for row in small.rows.tolist())
    return StoredTrace(nodes, small, active, matches, hit_paths)


def _renumbered(hop: Arrival, place: Mapping[int, int]) -> Arrival:
    """Return a hop with other numbers for its rows."""
    ends = place[hop.source], place[hop.target]
    return Arrival(*ends, hop.relation, hop.step, hop.amount, hop.forward)


def _no_routes(n: int) -> Routes:
    """Return routes without links: every row is an anchor."""
    empty = np.zeros(0, np.int64)
    return Routes(
        np.arange(n),
        np.ones((1, n)),
        empty,
        empty,
        empty,
        np.zeros(0),
        np.zeros(0, np.bool_),
        (),
        SpreadParams(),
    )


def _levels(
    profile: Profile, activation: Activation, history: tuple[Ints, Floats], matched: Matched | None
) -> dict[int, tuple[float, bool]]:
    """Return the level of each row that was active enough to be linked, and whether the row is a seed.

    ``history`` is ``by_row`` of the flow. The level is the activation as the design squashes it; in a design without
    squashing, the row's peak over the steps as a share of the highest peak. In a small store every memory is an
    anchor, if a weak one, so a seed must match the cue well enough: by ``matched`` if there is one, since the priors
    of an anchor are no match.
    """
    rows, values_by_step = history
    if profile.squash is not None:
        level = np.zeros(rows.size)
        values, passing = final_activation(profile, activation)
        level[np.searchsorted(rows, activation.rows[passing])] = values[passing]
    else:
        level = values_by_step.max(axis=0)
        level /= max(float(level.max(initial=0.0)), np.finfo(float).tiny)
    own = values_by_step[0] if matched is None else matched(rows)
    seeds = own / max(float(own.max(initial=0.0)), np.finfo(float).tiny)
    high = np.flatnonzero(level >= profile.plasticity.threshold)
    levels = zip(level[high].tolist(), (seeds[high] >= profile.plasticity.matched).tolist(), strict=True)
    return dict(zip(rows[high].tolist(), levels, strict=True))


def encode_flow(flow: StoredTrace) -> bytes:
    """Return a trace's flow as bytes: a header of JSON, then the arrays."""
    r = flow.routes
    header = {
        "steps": r.steps,
        "rows": r.n,
        "links": int(r.rate.size),
        "relations": r.relations,
        "params": asdict(r.params),
        "active": flow.active,
        "reasons": [*flow.reasons.items()],
    }
    arrays = b"".join(np.ascontiguousarray(getattr(r, name), kind).tobytes() for name, kind in _ARRAYS)
    return zlib.compress(json.dumps(header).encode() + b"\n" + arrays, _COMPRESSION)


def decode_flow(nodes: Sequence[str], packed: bytes) -> StoredTrace:
    """Return the inverse of ``encode_flow``; raises ``Corrupt`` for other bytes."""
    try:
        text, _, data = zlib.decompress(packed).partition(b"\n")
        header = json.loads(text)
        rows, links, steps = header["rows"], header["links"], header["steps"]
        arrays: dict[str, Any] = {}
        at = 0
        for name, kind in _ARRAYS:
            count = (steps + 1) * rows if name == "history" else links
            arrays[name] = np.frombuffer(data, kind, count, at)
            at += arrays[name].nbytes
        params: dict[str, Any] = {
            n: tuple(v) if isinstance(v, list) else v for n, v in header["params"].items()
        }
        decoded = Routes(
            rows=np.arange(rows),
            history=arrays["history"].reshape(steps + 1, rows),
            source=arrays["source"].astype(np.int64),
            target=arrays["target"].astype(np.int64),
            relation=arrays["relation"].astype(np.int64),
            rate=arrays["rate"],
            forward=arrays["forward"].astype(np.bool_),
            relations=tuple(header["relations"]),
            params=SpreadParams(**params),
        )
        active = tuple((row, level, seed) for row, level, seed in header["active"])
        reasons = {row: tuple(names) for row, names in header.get("reasons", ())}
        return StoredTrace(tuple(nodes), decoded, active, reasons)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"the flow of a recall cannot be read ({error}): judge its hits without it") from error


def store_trace(
    memory: Namespace,
    *,
    text: str,
    cue: Cue,
    profile: str,
    session: str | None,
    hits: Sequence[tuple[str, float]],
    flow: StoredTrace | None,
    recall_id: str | None = None,
    counted: bool = False,
) -> tuple[str, list[str]]:
    """Record a recall, with its hits as activated if ``counted``; its id, and ["trace"] if that failed.

    A store that does not exist yet is not created for it.
    """
    now = memory.now()
    recall_id = recall_id or uuid7(now)
    if not memory.store.place.exists:
        return recall_id, []
    trace = Trace(
        recall_id,
        now,
        session,
        profile,
        {name: _plain(value) for name, value in {"text": text, **cue.context()}.items()},
        tuple(hits),
        flow.nodes if flow else (),
        encode_flow(flow) if flow else None,
        counted,
    )
    if (pending := PENDING.get()) is not None:
        pending[recall_id] = trace
        return recall_id, []
    return recall_id, record(memory, trace)


def record(memory: Namespace, trace: Trace) -> list[str]:
    """Record a recall; ["trace"] if that failed."""
    limits = {"keep": STORE.trace_count, "keep_flows": STORE.flow_count}
    try:
        memory.store.add_trace(memory.namespace, trace, **limits, not_before=_oldest(memory.now()))
    except StoreError:
        return ["trace"]
    return []


def _plain(value: Any) -> Any:
    """Return a value of a cue as JSON can hold it; a collection becomes a list."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def find_trace(memory: Namespace, recall_id: str) -> Trace:
    """Return the trace of a recall by its id, or ``NotFound``."""
    trace = memory.recall_of(check_text("recall_id", recall_id))
    if trace is None or trace.at < _oldest(memory.now()):
        raise memory.not_found(
            f"there is no recall {recall_id!r} in {memory.namespace!r}: the latest {STORE.trace_count:,} are kept,"
            f" for {STORE.trace_days:g} days, but none that asked about another time or for superseded versions;"
            " leave it out to judge the latest that returned the memory"
            f"{_latest_recalls(memory)}"
        )
    return trace


def _latest_recalls(memory: Namespace) -> str:
    """Return the latest recalls in words, for a message."""
    recent = memory.rows(Trace, since=_oldest(memory.now()), limit=5)
    return f"; the latest: {', '.join(trace.recall_id for trace in recent)}" if recent else ""


def latest_trace(memory: Namespace, memory_id: str, session: str | None = None) -> Trace | None:
    """Return the latest recall that returned a memory, in a session or in any."""
    since = _oldest(memory.now())
    latest = memory.rows(Trace, since=since, session=session, hit=memory_id, limit=1)
    return memory.recall_of(latest[0].recall_id) if latest else None


def _oldest(now: datetime) -> datetime:
    """Return the time from which recalls count: older ones cannot be judged, and are deleted with the next trace."""
    return now - timedelta(days=STORE.trace_days)


def flow_of(trace: Trace) -> StoredTrace | None:
    """Return the flow of a trace; None where it is no longer stored."""
    return None if trace.flow is None else decode_flow(trace.nodes, trace.flow)


def _present_links(memory: Namespace, shares: Mapping[Ends, float]) -> dict[Ends, tuple[LinkRow, float]]:
    """Return the present links of credit shares, with their shares; the ends of a link are as stored."""
    rows = memory.rows(LinkRow, ids={end for ends in shares for end in ends[:2]})
    present = {(link.source, link.target, link.relation): link for link in rows}
    links: dict[Ends, tuple[LinkRow, float]] = {}
    for (source, target, relation), share in shares.items():
        link = present.get((source, target, relation)) or present.get((target, source, relation))
        if link is not None:
            identity = (link.source, link.target, link.relation)
            links[identity] = (link, share + (links[identity][1] if identity in links else 0.0))
    return links


def steps_of(memory: Namespace, flow: StoredTrace, ids: Collection[str]) -> dict[str, tuple[Step, ...]]:
    """Return the path to each of some memories, its ends by key."""
    rows = {memory_id: row for memory_id in ids if (row := flow.row(memory_id)) is not None}
    paths = flow.paths(rows.values())
    ends = {flow.nodes[end] for path in paths.values() for hop in path for end in (hop.source, hop.target)}
    names = memory.names(ids=ends)
    return {
        memory_id: tuple(
            Step(
                names.get(flow.nodes[hop.source], "?"),
                hop.relation,
                names.get(flow.nodes[hop.target], "?"),
                float(hop.amount),
            )
            for hop in paths[row]
        )
        for memory_id, row in rows.items()
    }


def link_activations(memory: Namespace, flow: StoredTrace, ids: Collection[str]) -> tuple[Step, ...]:
    """Return the activation that each link on the way to some memories carried, over all steps; the largest first."""
    r = flow.routes
    amount = np.sum([r.amounts(step) for step in range(1, r.steps + 1)], axis=0) if r.steps else np.zeros(0)
    leads = np.zeros(r.n, np.bool_)
    leads[[row for memory_id in ids if (row := flow.row(memory_id)) is not None]] = True
    for _ in range(r.steps):
        leads[r.source[leads[r.target]]] = True
    links = [i for i in np.argsort(-amount, kind="stable").tolist() if amount[i] > 0 and leads[r.target[i]]]
    ends = {flow.nodes[row] for i in links for row in (r.source[i], r.target[i])}
    names = memory.names(ids=ends)
    return tuple(
        Step(
            names.get(flow.nodes[r.source[i]], "?"),
            r.relations[r.relation[i]],
            names.get(flow.nodes[r.target[i]], "?"),
            float(amount[i]),
        )
        for i in links
    )


def path_and_credit(
    memory: Namespace, trace: Trace, memory_id: str
) -> tuple[tuple[Step, ...], tuple[tuple[str, str, str, float, float | None], ...]]:
    """Return the path of a recall to a memory, and each link's share of the credit with its present weight."""
    flow = flow_of(trace)
    row = None if flow is None else flow.row(memory_id)
    if flow is None or row is None:
        return (), ()
    shares = flow.shares(row)
    names = memory.names(ids=flow.nodes)
    name = {record: names.get(record, "?") for record in flow.nodes}
    path = steps_of(memory, flow, [memory_id])[memory_id]
    present = {ends: link.weight for ends, (link, _) in _present_links(memory, shares).items()}
    credit = tuple(
        (
            name[source],
            relation,
            name[target],
            share,
            present.get((source, target, relation), present.get((target, source, relation))),
        )
        for (source, target, relation), share in shares.items()
    )
    return path, credit
