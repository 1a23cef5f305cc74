"""Who makes a link? Here users do, with ``link`` and ``set_strength``; ``similar.py`` links by similarity.

``planner.py`` makes the links of sessions, names and contradictions; learning and sleep make theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import BRINGS, BUILT_IN, TAKES, sign_of_name
from priming.core.arguments.checks import (
    PAGE_LIMIT,
    check_choice,
    check_count,
    check_fraction,
    check_name,
    check_text,
    check_time,
)
from priming.core.plasticity import manual
from priming.errors import NotFound, ParamError
from priming.history.log import newest_first
from priming.history.movements import WeightMove, bound_text, change_text, set_text
from priming.history.weights_over_time import MANUAL, past
from priming.namespace import Namespace
from priming.storage.rows import LinkRow, RelationRow, RowChange
from priming.text.quotation import label
from priming.types import Link, Operation

_EFFECTS = {BRINGS: "brings activation to its target", TAKES: "takes activation away from its target"}
_OPTIONS = {BRINGS: "--exciting (sign = 1)", TAKES: "--suppressing (sign = -1)"}


_LISTED = 10
"""Number of links up to which the message of their operation names each."""


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The checked arguments of ``link``; in a pack, a link between two of its behaviours by their keys there."""

    source: str
    target: str
    relation: str
    weight: float
    sign: int | None = None
    created_at: datetime | None = None
    """When an imported link was made; None, with no time of use: now, or when the link that is there was made."""
    last_activated: datetime | None = None


def link(
    memory: Namespace,
    source: str,
    target: str,
    relation: str = "similar-to",
    weight: float = PLASTICITY.start,
    sign: int | None = None,
    *,
    reason: str | None = None,
) -> Link:
    """Link two memories; linking them again sets the weight of the same link.

    ``sign`` is that of the relation, for all its links: 1 brings activation to the target, −1 takes it away. By
    default a relation keeps its sign; the name of a new one decides, and the answer's ``message`` says how.
    ``reason`` is for the log.
    """
    why = check_name("reason", reason)
    return _link_all(memory, [link_request(source, target, relation, weight, sign)], MANUAL, why)[0]


def link_many(memory: Namespace, items: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Link many pairs in one operation; each item is a mapping of the arguments of ``link``."""
    return link_requested(memory, [_parsed(item) for item in items])


def link_requested(memory: Namespace, requests: Sequence[LinkRequest]) -> list[Link]:
    """Make checked links in one operation, as importers and programs do."""
    return _link_all(memory, requests, None, "an importer or a program linked memories")


def _link_all(
    memory: Namespace, requests: Sequence[LinkRequest], source: str | None, reason: str | None
) -> list[Link]:
    """Make links as one operation with this source; the operations of importers have none."""
    signs = _requested_signs(requests)
    with memory.changing() as now:
        ends = _ids_of_ends(memory, requests)
        rows = {}
        for request in requests:
            row = _row(memory, request, now, ends)
            rows[row.source, row.target, row.relation] = request, row
        stored = {
            (row.source, row.target, row.relation): row
            for row in memory.rows(LinkRow, ids={source for source, _, _ in rows})
        }
        results = [_change(stored.get(identity), *each) for identity, each in rows.items()]
        signed, messages = _signed(memory, signs, now)
        changes = [*signed, *(change for change in results if change.before != change.after)]
        if changes:
            message = "\n".join((_links_message(memory, changes), *messages.values()))
            memory.write("link", now, changes, source=source, reason=reason, message=message.strip() or None)
        links = memory.to_links([row.after for row in results if isinstance(row.after, LinkRow)])
        return [replace(link, message=messages.pop(link.relation, None)) for link in links]


def _requested_signs(requests: Sequence[LinkRequest]) -> dict[str, int | None]:
    """Return the sign requested for each relation that is not built in; None for its own."""
    signs: dict[str, int | None] = {}
    for request in requests:
        relation, sign = request.relation, request.sign
        if relation in BUILT_IN:
            own = sign_of_name(relation)
            if sign not in (None, own):
                rule = (
                    f"must be {own}: {relation!r} is built in and {_EFFECTS[own]}; choose a name of your own"
                )
                raise ParamError("sign", sign, rule)
        elif sign is not None and signs.get(relation) not in (None, sign):
            raise ParamError("sign", sign, f"must be the same for every link of {relation!r}")
        else:
            signs[relation] = signs.get(relation) if sign is None else sign
    return signs


def _signed(
    memory: Namespace, requested: Mapping[str, int | None], now: datetime
) -> tuple[list[RowChange], dict[str, str]]:
    """Return the changes of the stored signs of relations, and by relation what to say about it."""
    stored = {row.relation: row for row in memory.rows(RelationRow)}
    changes, messages = list[RowChange](), dict[str, str]()
    for relation, sign in requested.items():
        before = stored.get(relation)
        own = sign_of_name(relation) if before is None else before.sign
        after = own if sign is None else sign
        is_new = before is None and not _in_use(memory, relation, now)
        if after != own:
            changes.append(
                RowChange(before, RelationRow(relation, after, before.introduced if before else is_new))
            )
        if is_new:
            messages[relation] = f"the relation {relation!r} is new: it {_EFFECTS[after]}"
            if sign is None:
                by_name = ", by its name" if own == TAKES else ""
                messages[relation] += f"{by_name}; {_OPTIONS[-own]} makes it the reverse"
        elif after != own:
            messages[relation] = f"from now on the relation {relation!r} {_EFFECTS[after]}, in all its links"
    return changes, messages


def _in_use(memory: Namespace, relation: str, now: datetime) -> bool:
    """Tell whether there is a link of a relation between memories that recall can reach."""
    topology = memory.working(now).topology
    if not topology.has_relation(relation):
        return False
    return bool((topology.alive.values & (topology.relation.values == topology.code(relation))).any())


def _links_message(memory: Namespace, changes: Sequence[RowChange]) -> str:
    """Return the weight of each link, a line each where there are few."""
    if len(changes) > _LISTED:
        return f"{len(changes):,} links"
    names = memory.names(ids={end for change in changes for end in change.ends})
    lines = []
    for change in changes:
        link = change.row
        if isinstance(link, LinkRow):
            source, target = label(names[link.source]), label(names[link.target])
            lines.append(f"{source} ─{label(link.relation)}→ {target}: {change_text(change)}")
    return "\n".join(lines)


def _parsed(item: Mapping[str, Any]) -> LinkRequest:
    """Return a mapping of the arguments of ``link``, checked."""
    if not isinstance(item, Mapping):
        raise ParamError("item", item, f"must be a mapping of {', '.join(_FIELDS)}")
    for name in item:
        if name not in _FIELDS:
            raise ParamError("item", name, f"is not an argument of link: {', '.join(_FIELDS)}")
    return link_request(**{"source": None, "target": None, **item})


def link_request(
    source: Any, target: Any, relation: Any = "similar-to", weight: Any = PLASTICITY.start, sign: Any = None
) -> LinkRequest:
    """Return the arguments of ``link``, checked."""
    if sign is not None and (isinstance(sign, bool) or sign not in (BRINGS, TAKES)):
        raise ParamError("sign", sign, "must be 1, to bring activation, or -1, to take it away")
    return LinkRequest(
        source=check_text("source", source),
        target=check_text("target", target),
        relation=check_name("relation", check_text("relation", relation)) or "",
        weight=check_fraction("weight", weight),
        sign=sign,
    )


_FIELDS = ("source", "target", "relation", "weight", "sign")


def _ids_of_ends(memory: Namespace, requests: Iterable[LinkRequest]) -> dict[str, str]:
    """Return ids of the memories that requests name by key or id, of those there are; an id counts before a key."""
    names = {end for request in requests for end in (request.source, request.target)}
    ids = memory.names(ids=names)
    return memory.ids_of(names) | dict(zip(ids, ids, strict=True))


def _row(memory: Namespace, request: LinkRequest, now: datetime, ends: dict[str, str]) -> LinkRow:
    for key in (request.source, request.target):
        if key not in ends:
            ends[key] = memory.find(key, now).id
    source, target = ends[request.source], ends[request.target]
    if source == target:
        raise ParamError("target", request.target, "must differ from the source")
    return LinkRow(source, target, request.relation, request.weight, now, given=True)


def _change(before: LinkRow | None, request: LinkRequest, new: LinkRow) -> RowChange:
    after = new if before is None else replace(_set(before, new.weight, new.created_at), given=True)
    if request.created_at or request.last_activated:
        created, active = request.created_at or after.created_at, request.last_activated
        after = replace(after, created_at=created, last_activated=active)
    return RowChange(before, after)


def _set(link: LinkRow, weight: float, now: datetime) -> LinkRow:
    """Return a link with a weight that is set by hand, from which its decay counts anew."""
    return link if link.weight == weight else replace(link, weight=weight, last_activated=now)


def set_strength(
    memory: Namespace,
    source: str,
    target: str,
    weight: float,
    relation: str | None = None,
    create: bool = False,
    *,
    reason: str | None = None,
) -> Operation:
    """Set the weight of all links between two memories, in either direction.

    A link that it makes goes from ``source`` to ``target`` and is of ``relation``, or else ``similar-to``.

    Args:
        weight: in [0, 1], clamped to [0.05, 0.95].
        relation: only links of this relation.
        create: make the link if there is none.
        reason: why, for the log.

    Raises:
        NotFound: there is no link between the two, and ``create`` is not set.

    """
    requested = check_fraction("weight", weight)
    relation, reason = check_name("relation", relation), check_name("reason", reason)
    p = memory.profile.plasticity
    clamped, _ = manual(requested, p.low, p.high)
    with memory.changing() as now:
        a, b = memory.find(source, now), memory.find(target, now)
        between = [
            row
            for row in memory.rows(LinkRow, ids=[a.id])
            if {row.source, row.target} == {a.id, b.id} and relation in (None, row.relation)
        ]
        changes = [RowChange(row, _set(row, clamped, now)) for row in between if row.weight != clamped]
        message = set_text([WeightMove(row.weight, clamped, p.low, p.high) for row in between], requested)
        if not between:
            if not create:
                which = "no link" if relation is None else f"no link {relation!r}"
                remedy = "make it with --create (create = true), or with link"
                raise NotFound(f"there is {which} between {a.key!r} and {b.key!r}: {remedy}")
            new_link = link_request(a.key, b.key, relation or "similar-to", clamped)
            changes, messages = _signed(memory, _requested_signs([new_link]), now)
            changes.append(RowChange(None, _row(memory, new_link, now, {})))
            new = f"1 link made, {new_link.relation}, at {clamped:g}{bound_text(requested, clamped)}"
            message = "\n".join((new, *messages.values()))
        return memory.to_operation(
            memory.write("set-strength", now, changes, source=MANUAL, reason=reason, message=message)
        )


ORDERS = ("weight", "changed", "learned")
"""The orders of links other than by name."""


def links(
    memory: Namespace,
    key: str | None = None,
    *,
    relation: str | None = None,
    by: str | None = None,
    limit: int | None = None,
    known_at: datetime | None = None,
) -> list[Link]:
    """List the links of a memory in both directions, or all links.

    Args:
        key: the key of a memory; None: all links.
        relation: only links of this relation.
        by: ``weight``, the strongest first; ``changed``, those that were made or strengthened last first;
            ``learned``, only those that use strengthened, the strongest first; None: by source, relation, target.
        limit: the maximum number of links.
        known_at: the links as they were at that time, changes recorded at that very instant included.

    Raises:
        NotFound: no such memory.
        ParamError: an argument outside its range.

    """
    order = None if by is None else check_choice("by", by, ORDERS)
    most = None if limit is None else check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.lock:
        rows = _read_links(memory, key, relation, known_at)
        if order == "learned":
            rows = _strengthened_by_use(memory, rows)
        return memory.listed(_ordered(rows, order)[:most])


def _ordered(rows: list[Link], order: str | None) -> list[Link]:
    """Return the links in an order; equal ones stay in that of their names."""
    if order == "changed":
        return sorted(rows, key=lambda row: row.last_activated or row.created_at, reverse=True)
    return rows if order is None else sorted(rows, key=lambda row: -row.weight)


def _strengthened_by_use(memory: Namespace, links: Iterable[Link]) -> list[Link]:
    """Return the links that were active since they were made, without those whose weight was last set by hand."""
    used = [link for link in links if link.last_activated is not None]
    times = [link.last_activated for link in used if link.given and link.last_activated is not None]
    by_hand = set()
    for logged in newest_first(memory, source=MANUAL, since=min(times)) if times else ():
        rows = [change.after for change in logged.rows if isinstance(change.after, LinkRow)]
        names = memory.names(ids={end for row in rows for end in (row.source, row.target)})
        by_hand |= {
            (names.get(row.source), row.relation, names.get(row.target), logged.at)
            for row in rows
            if row.last_activated == logged.at
        }
    return [
        link for link in used if (link.source, link.relation, link.target, link.last_activated) not in by_hand
    ]


def _read_links(
    memory: Namespace, key: str | None, relation: str | None, known_at: datetime | None
) -> list[Link]:
    at = None if known_at is None else check_time("known_at", known_at)
    ids = None if key is None else [memory.find(key).id]
    relation = check_name("relation", relation)
    if at is None:
        return list(memory.to_links(memory.rows(LinkRow, ids=ids, relation=relation)))
    then = past(memory, at)
    rows = [
        row
        for row in then.links
        if relation in (None, row.relation) and (ids is None or not {row.source, row.target}.isdisjoint(ids))
    ]
    return [
        replace(
            link,
            source=then.gone.get(link.source, link.source),
            target=then.gone.get(link.target, link.target),
        )
        for link in memory.to_links(rows)
    ]
