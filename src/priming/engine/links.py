"""Links by hand: make one, set its strength, list them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from priming.checks import check_fraction, check_name, check_text, check_time
from priming.config.params.laws import PLASTICITY
from priming.engine.strengths import MANUAL, past
from priming.errors import NotFound, ParamError
from priming.namespace import Namespace
from priming.store.rows import LinkRow, RowChange
from priming.types import Link, Operation


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The checked arguments of ``link``."""

    source: str
    target: str
    relation: str
    weight: float


def link(
    memory: Namespace,
    source: str,
    target: str,
    relation: str = "similar-to",
    weight: float = PLASTICITY.start,
) -> Link:
    """Link two memories; made twice, it is the same link with the weight set anew."""
    return _link_all(memory, [_request(source, target, relation, weight)], MANUAL)[0]


def link_many(memory: Namespace, items: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Link many pairs in one operation: mappings of the arguments of ``link``."""
    return _link_all(memory, [_parsed(item) for item in items], None)


def _link_all(memory: Namespace, requests: Sequence[LinkRequest], source: str | None) -> list[Link]:
    """Make links as one operation of a source; importers' operations have none."""
    with memory.writing() as now:
        ends: dict[str, str] = {}
        rows = {}
        for request in requests:
            row = _row(memory, request, now, ends)
            rows[row.source, row.target, row.relation] = row
        stored = {
            (row.source, row.target, row.relation): row
            for row in memory.store.links(memory.namespace, {row.source for row in rows.values()})
        }
        results = [_change(stored.get(identity), row) for identity, row in rows.items()]
        changes = [change for change in results if change.before != change.after]
        if changes:
            memory.write("link", now, changes, source=source)
        return list(memory.to_links([row.after for row in results if isinstance(row.after, LinkRow)]))


def _parsed(item: Mapping[str, Any]) -> LinkRequest:
    """The link that a mapping asks for."""
    if not isinstance(item, Mapping):
        raise ParamError("item", item, f"must be a mapping of {', '.join(_FIELDS)}")
    for name in item:
        if name not in _FIELDS:
            raise ParamError("item", name, f"is not an argument of link: {', '.join(_FIELDS)}")
    return _request(
        item.get("source"),
        item.get("target"),
        item.get("relation", "similar-to"),
        item.get("weight", PLASTICITY.start),
    )


def _request(source: Any, target: Any, relation: Any, weight: Any) -> LinkRequest:
    return LinkRequest(
        source=check_text("source", source),
        target=check_text("target", target),
        relation=check_name("relation", check_text("relation", relation)) or "",
        weight=check_fraction("weight", weight),
    )


_FIELDS = tuple(field.name for field in fields(LinkRequest))


def _row(memory: Namespace, request: LinkRequest, now: datetime, ends: dict[str, str]) -> LinkRow:
    for key in (request.source, request.target):
        if key not in ends:
            ends[key] = memory.find(key, now).id
    source, target = ends[request.source], ends[request.target]
    if source == target:
        raise ParamError("target", request.target, "must be another memory than the source")
    return LinkRow(source, target, request.relation, request.weight, now, given=True)


def _change(before: LinkRow | None, after: LinkRow) -> RowChange:
    if before is None:
        return RowChange(None, after)
    return RowChange(before, replace(before, weight=after.weight, given=True))


def set_strength(
    memory: Namespace, source: str, target: str, weight: float, relation: str | None = None
) -> Operation:
    """Set the weight of all links between two memories, in either direction, clamped to [.05, .95].

    None between them: nothing moves, and the operation's message says so.
    """
    requested = check_fraction("weight", weight)
    clamped = min(max(requested, PLASTICITY.low), PLASTICITY.high)
    with memory.writing() as now:
        a, b = memory.find(source, now), memory.find(target, now)
        between = [
            row
            for row in memory.store.links(memory.namespace, [a.id])
            if {row.source, row.target} == {a.id, b.id} and relation in (None, row.relation)
        ]
        if not between and relation is not None:
            raise NotFound(
                f"there is no link {relation!r} between {a.key!r} and {b.key!r}: make it with link"
            )
        moved = [RowChange(row, replace(row, weight=clamped)) for row in between if row.weight != clamped]
        message = f"{len(between)} {'link' if len(between) == 1 else 'links'} set to {clamped:g}"
        if clamped != requested:
            message += f"; {requested:g} was clamped to [{PLASTICITY.low:g}, {PLASTICITY.high:g}]"
        return memory.to_operation(memory.write("set-strength", now, moved, source=MANUAL, message=message))


def links(
    memory: Namespace,
    key: str | None = None,
    *,
    relation: str | None = None,
    known_at: datetime | None = None,
) -> list[Link]:
    """The links of a memory in both directions, or all links of the namespace.

    ``known_at`` asks for them as they were then, what was recorded at that very instant included.
    """
    with memory.lock:
        return _links(memory, key, relation, known_at)


def _links(memory: Namespace, key: str | None, relation: str | None, known_at: datetime | None) -> list[Link]:
    memory.require_exists()
    at = None if known_at is None else check_time("known_at", known_at)
    ids = None if key is None else [memory.find(key).id]
    relation = check_name("relation", relation)
    if at is None:
        return list(memory.to_links(memory.store.links(memory.namespace, ids, relation)))
    then = past(memory, at)
    rows = [
        row
        for row in then.links
        if relation in (None, row.relation) and (ids is None or not {row.source, row.target}.isdisjoint(ids))
    ]
    return [
        replace(
            link_then,
            source=then.gone.get(link_then.source, link_then.source),
            target=then.gone.get(link_then.target, link_then.target),
        )
        for link_then in memory.to_links(rows)
    ]
