"""Traces: what a recall leaves behind of its flow, and what that tells later."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from priming.config.params.laws import SpreadParams
from priming.config.params.store import STORE
from priming.config.profiles import Profile
from priming.core.arguments.arrays import Floats, Ints
from priming.core.arguments.checks import check_text
from priming.core.credit import path_credit, strongest_paths
from priming.core.kernel.flow import Arrival
from priming.core.kernel.routes import Routes, routes, trimmed
from priming.core.spread import Activation
from priming.errors import Corrupt, NotFound, StoreError
from priming.index.arrays import ENTITY
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.designs import settled_activation
from priming.recall.ranking import Ranked
from priming.results import Step
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow
from priming.types import Cue, uuid7

Matched = Callable[[Ints], Floats]
Ends = tuple[str, str, str]
"""Source, target and relation of a link, the ends by their ids."""

_ARRAYS = (
    ("history", "<f8"),
    ("rate", "<f8"),
    ("source", "<i4"),
    ("target", "<i4"),
    ("relation", "<i2"),
    ("forward", "|u1"),
)
_SWIFT = 1
"""Level of compression: recalls are many, and few are looked at again."""


@dataclass(frozen=True)
class StoredTrace:
    """The routes by which a recall's hits came up, and who was active with them.

    ``nodes`` are the ids of the routes' rows; ``active`` are (row, level, is a seed) of those that were active
    enough to be linked for it: the level in [0, 1], a seed if the cue alone made it so.
    """

    nodes: tuple[str, ...]
    routes: Routes
    active: tuple[tuple[int, float, bool], ...] = ()
    known: Mapping[int, tuple[Arrival, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The ways to the hits, as far as they were walked already."""

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {one: row for row, one in enumerate(self.nodes)}

    def row(self, memory_id: str) -> int | None:
        """The row of a memory; None if nothing is known of it."""
        return self._rows.get(memory_id)

    def is_anchor(self, row: int) -> bool:
        """Whether the cue itself matched a memory."""
        return bool(self.routes.history[0][row] > 0)

    def paths(self, rows: Collection[int]) -> dict[int, tuple[Arrival, ...]]:
        """The way by which most came to each row; empty for one that the cue itself matched best."""
        if all(row in self.known for row in rows):
            return {row: self.known[row] for row in rows}
        return strongest_paths(self.routes, rows)

    def shares(self, row: int) -> dict[Ends, float]:
        """The share of each link in what came to a row."""
        found = path_credit(self.routes, row)
        return {(self.nodes[u], self.nodes[v], name): share for (u, v, name), share in found.items()}


def stored_trace(
    working: WorkingSet, profile: Profile, ranked: Ranked, matched: Matched | None = None
) -> StoredTrace:
    """What is kept of a ranking: the routes of its hits, and of who else was active.

    ``matched`` says of some rows how well the cue itself matched them; without it their activation as anchors does.
    """
    hits = ranked.rows.tolist()
    activation = ranked.activation
    if activation is None or activation.flow is None:
        return StoredTrace(tuple(working.ids[row] for row in hits), _direct(len(hits)))
    met = activation.flow.by_row()
    levels = {
        row: level
        for row, level in _levels(profile, activation, met, matched).items()
        if working.kind[row] != ENTITY
    }
    whole = routes(activation.flow, [*hits, *levels], met)
    known = whole.locals()
    own = {row: known[row] for row in dict.fromkeys([*hits, *levels]) if row in known}
    paths = strongest_paths(whole, [own[row] for row in hits if row in own])
    ways = {(hop.source, hop.target) for path in paths.values() for hop in path}
    small = trimmed(whole, set(own.values()), also=ways)
    known = small.locals()
    active = tuple((known[row], *levels[row]) for row in levels if row in known)
    place = {at: known[row] for row, at in whole.locals().items() if row in known}
    walked = {place[at]: tuple(_moved(hop, place) for hop in path) for at, path in paths.items()}
    return StoredTrace(tuple(working.ids[row] for row in small.rows.tolist()), small, active, walked)


def _moved(hop: Arrival, place: Mapping[int, int]) -> Arrival:
    """A hop between rows that have other numbers now."""
    ends = place[hop.source], place[hop.target]
    return Arrival(*ends, hop.relation, hop.step, hop.amount, hop.forward)


def _direct(n: int) -> Routes:
    """No routes: every row is an anchor."""
    none = np.zeros(0, np.int64)
    return Routes(
        np.arange(n),
        np.ones((1, n)),
        none,
        none,
        none,
        np.zeros(0),
        np.zeros(0, np.bool_),
        (),
        SpreadParams(),
    )


def _levels(
    profile: Profile, activation: Activation, met: tuple[Ints, Floats], matched: Matched | None
) -> dict[int, tuple[float, bool]]:
    """How active each row was that was active enough to be linked for it, and whether the cue is the reason.

    ``met`` is ``by_row`` of the flow. The level is as the design squashes it; where it does not, the row's peak
    over the steps as a share of the highest. Of a small store every memory is an anchor, if a faint one: a seed
    is one that the cue matched well enough, by ``matched`` if that is given, since the priors that make an anchor
    are no match.
    """
    rows, history = met
    if profile.squash is not None:
        level = np.zeros(rows.size)
        values, stays = settled_activation(profile, activation)
        level[np.searchsorted(rows, activation.rows[stays])] = values[stays]
    else:
        level = history.max(axis=0)
        level /= max(float(level.max(initial=0.0)), np.finfo(float).tiny)
    own = history[0] if matched is None else matched(rows)
    seeds = own / max(float(own.max(initial=0.0)), np.finfo(float).tiny)
    high = np.flatnonzero(level >= profile.plasticity.threshold)
    known = zip(level[high].tolist(), (seeds[high] >= profile.plasticity.matched).tolist(), strict=True)
    return dict(zip(rows[high].tolist(), known, strict=True))


def encode_flow(one: StoredTrace) -> bytes:
    """What is kept as bytes: a header of JSON, then the arrays."""
    r = one.routes
    header = {
        "steps": r.steps,
        "rows": r.n,
        "links": int(r.rate.size),
        "relations": r.relations,
        "params": _constants(r.params),
        "active": one.active,
    }
    arrays = b"".join(np.ascontiguousarray(getattr(r, name), kind).tobytes() for name, kind in _ARRAYS)
    return zlib.compress(json.dumps(header).encode() + b"\n" + arrays, _SWIFT)


@lru_cache(maxsize=8)
def _constants(params: SpreadParams) -> Mapping[str, Any]:
    """The constants of a spread by name; a process uses few sets of them."""
    return asdict(params)


def decode_flow(nodes: Sequence[str], packed: bytes) -> StoredTrace:
    """The inverse of ``encode``; ``Corrupt`` where the bytes are something else."""
    try:
        text, _, held = zlib.decompress(packed).partition(b"\n")
        header = json.loads(text)
        rows, links, steps = header["rows"], header["links"], header["steps"]
        arrays: dict[str, Any] = {}
        at = 0
        for name, kind in _ARRAYS:
            count = (steps + 1) * rows if name == "history" else links
            arrays[name] = np.frombuffer(held, kind, count, at)
            at += arrays[name].nbytes
        params: dict[str, Any] = {
            n: tuple(v) if isinstance(v, list) else v for n, v in header["params"].items()
        }
        made = Routes(
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
        return StoredTrace(
            tuple(nodes), made, tuple((row, level, seed) for row, level, seed in header["active"])
        )
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
) -> tuple[str, list[str]]:
    """Keep a recall: its id, and ["trace"] where it could not be kept; it is answered all the same."""
    now = memory.now()
    recall_id = recall_id or uuid7(now)
    asked = {"text": text, **cue.context()}
    trace = Trace(
        recall_id,
        now,
        session,
        profile,
        {name: _plain(value) for name, value in asked.items()},
        tuple(hits),
        flow.nodes if flow else (),
        encode_flow(flow) if flow else None,
    )
    try:
        memory.store.add_trace(
            memory.namespace,
            trace,
            keep=STORE.trace_count,
            keep_flows=STORE.flow_count,
            not_before=_oldest(now),
        )
    except StoreError:
        return recall_id, ["trace"]
    return recall_id, []


def _plain(value: Any) -> Any:
    """A value of a cue as JSON holds it; of a list any will do, and so it stays one."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def find_trace(memory: Namespace, recall_id: str) -> Trace:
    """The recall of that id, or ``NotFound``."""
    trace = memory.store.trace(memory.namespace, check_text("recall_id", recall_id))
    if trace is None or trace.at < _oldest(memory.now()):
        raise NotFound(
            f"there is no recall {recall_id!r} in {memory.namespace!r}: the latest {STORE.trace_count:,} are kept,"
            f" for {STORE.trace_days:g} days, but none that asked about another time or for superseded versions;"
            " leave it out to judge the latest that brought the memory up"
        )
    return trace


def latest_trace(memory: Namespace, memory_id: str, session: str | None = None) -> Trace | None:
    """The latest recall, of a session or of any, that brought a memory up."""
    since = _oldest(memory.now())
    found = memory.store.traces(memory.namespace, since=since, memory_id=memory_id, session=session, limit=1)
    return memory.store.trace(memory.namespace, found[0].recall_id) if found else None


def _oldest(now: datetime) -> datetime:
    """Since when recalls count: those before go with the next that is kept, and are not judged till then."""
    return now - timedelta(days=STORE.trace_days)


def flow_of(trace: Trace) -> StoredTrace | None:
    """What a trace still knows of its flow."""
    return None if trace.flow is None else decode_flow(trace.nodes, trace.flow)


def stored_flow(memory: Namespace, shares: Mapping[Ends, float]) -> dict[Ends, tuple[LinkRow, float]]:
    """The links of some shares as they are now; a link that was walked backwards is found as it is stored."""
    ends = {end for source, target, _ in shares for end in (source, target)}
    there = {
        (one.source, one.target, one.relation): one for one in memory.store.links(memory.namespace, ends)
    }
    found: dict[Ends, tuple[LinkRow, float]] = {}
    for (source, target, relation), share in shares.items():
        link = there.get((source, target, relation)) or there.get((target, source, relation))
        if link is not None:
            identity = (link.source, link.target, link.relation)
            found[identity] = (link, share + (found[identity][1] if identity in found else 0.0))
    return found


def steps_of(memory: Namespace, flow: StoredTrace, ids: Collection[str]) -> dict[str, tuple[Step, ...]]:
    """The path by which each of some memories came up, in words."""
    there = {one: row for one in ids if (row := flow.row(one)) is not None}
    paths = flow.paths(there.values())
    ends = {flow.nodes[end] for path in paths.values() for hop in path for end in (hop.source, hop.target)}
    names = memory.store.names(memory.namespace, ends)
    return {
        one: tuple(
            Step(
                names.get(flow.nodes[hop.source], "?"),
                hop.relation,
                names.get(flow.nodes[hop.target], "?"),
                float(hop.amount),
            )
            for hop in paths[row]
        )
        for one, row in there.items()
    }


def carried_links(memory: Namespace, flow: StoredTrace, ids: Collection[str]) -> tuple[Step, ...]:
    """What each link on the way to some memories carried, over all steps; most first."""
    r = flow.routes
    amount = np.sum([r.amounts(step) for step in range(1, r.steps + 1)], axis=0) if r.steps else np.zeros(0)
    leads = np.zeros(r.n, np.bool_)
    leads[[row for one in ids if (row := flow.row(one)) is not None]] = True
    for _ in range(r.steps):
        leads[r.source[leads[r.target]]] = True
    links = [i for i in np.argsort(-amount, kind="stable").tolist() if amount[i] > 0 and leads[r.target[i]]]
    ends = {flow.nodes[row] for i in links for row in (r.source[i], r.target[i])}
    names = memory.store.names(memory.namespace, ends)
    return tuple(
        Step(
            names.get(flow.nodes[r.source[i]], "?"),
            r.relations[r.relation[i]],
            names.get(flow.nodes[r.target[i]], "?"),
            float(amount[i]),
        )
        for i in links
    )


def credited_links(
    memory: Namespace, trace: Trace, memory_id: str
) -> tuple[tuple[Step, ...], tuple[tuple[str, str, str, float, float | None], ...]]:
    """How a recall came upon a memory: its path, and each link's share with its weight today."""
    flow = flow_of(trace)
    row = None if flow is None else flow.row(memory_id)
    if flow is None or row is None:
        return (), ()
    shares = flow.shares(row)
    names = memory.store.names(memory.namespace, flow.nodes)
    name = {record: names.get(record, "?") for record in flow.nodes}
    path = steps_of(memory, flow, [memory_id])[memory_id]
    present = {ends: link.weight for ends, (link, _) in stored_flow(memory, shares).items()}
    told = tuple(
        (
            name[source],
            relation,
            name[target],
            share,
            present.get((source, target, relation), present.get((target, source, relation))),
        )
        for (source, target, relation), share in shares.items()
    )
    return path, told
