"""Links by hand: make one, set its strength, list them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.checks import check_fraction, check_name, check_text, check_time
from priming.config.params.laws import PLASTICITY
from priming.engine.opened import Opened
from priming.engine.strengths import MANUAL, past
from priming.errors import NotFound, ParamError
from priming.store.rows import LinkRow, RowChange
from priming.types import Link, Operation


def link(opened: Opened, source: str, target: str, relation: str, weight: float) -> Link:
    """Make a link, or set the weight of the one that is there."""
    item = {"source": source, "target": target, "relation": relation, "weight": weight}
    return link_many(opened, [item], by=MANUAL)[0]


def link_many(opened: Opened, items: Iterable[Mapping[str, Any]], *, by: str | None = None) -> list[Link]:
    """Make many links in one operation, whose source is ``by``: importers load links too."""
    items = [_checked(item) for item in items]
    with opened.writing() as now:
        ends: dict[str, str] = {}
        wanted = {}
        for item in items:
            row = _row(opened, item, now, ends)
            wanted[row.source, row.target, row.relation] = row
        there = {
            (one.source, one.target, one.relation): one
            for one in opened.store.links(opened.namespace, {row.source for row in wanted.values()})
        }
        made = [_change(there.get(identity), row) for identity, row in wanted.items()]
        changes = [one for one in made if one.before != one.after]
        if changes:
            opened.write("link", now, changes, source=by)
        return list(opened.links([one.after for one in made if isinstance(one.after, LinkRow)]))


def _checked(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of one link, with the defaults of those that are not given."""
    if not isinstance(item, Mapping):
        raise ParamError("item", item, f"must be a mapping of {', '.join(_FIELDS)}")
    for name in item:
        if name not in _FIELDS:
            raise ParamError("item", name, f"is not an argument of link: {', '.join(_FIELDS)}")
    return {
        "source": check_text("source", item.get("source")),
        "target": check_text("target", item.get("target")),
        "relation": check_name("relation", check_text("relation", item.get("relation", "similar-to"))),
        "weight": check_fraction("weight", item.get("weight", PLASTICITY.start)),
    }


_FIELDS = ("source", "target", "relation", "weight")


def _row(opened: Opened, item: Mapping[str, Any], now: datetime, ends: dict[str, str]) -> LinkRow:
    for key in (item["source"], item["target"]):
        if key not in ends:
            ends[key] = opened.find(key, now).id
    source, target = ends[item["source"]], ends[item["target"]]
    if source == target:
        raise ParamError("target", item["target"], "must be another memory than the source")
    return LinkRow(source, target, item["relation"], item["weight"], now, given=True)


def _change(before: LinkRow | None, wanted: LinkRow) -> RowChange:
    if before is None:
        return RowChange(None, wanted)
    return RowChange(before, replace(before, weight=wanted.weight, given=True))


def set_strength(opened: Opened, source: str, target: str, weight: float, relation: str | None) -> Operation:
    """Set all links between two memories, in either direction; clamped, and reported where it was."""
    wanted = check_fraction("weight", weight)
    clamped = min(max(wanted, PLASTICITY.low), PLASTICITY.high)
    with opened.writing() as now:
        a, b = opened.find(source, now), opened.find(target, now)
        between = [
            one
            for one in opened.store.links(opened.namespace, [a.id])
            if {one.source, one.target} == {a.id, b.id} and relation in (None, one.relation)
        ]
        if not between and relation is not None:
            raise NotFound(
                f"there is no link {relation!r} between {a.key!r} and {b.key!r}: make it with link"
            )
        moved = [RowChange(one, replace(one, weight=clamped)) for one in between if one.weight != clamped]
        message = f"{len(between)} {'link' if len(between) == 1 else 'links'} set to {clamped:g}"
        if clamped != wanted:
            message += f"; {wanted:g} was clamped to [{PLASTICITY.low:g}, {PLASTICITY.high:g}]"
        return opened.operation(opened.write("set-strength", now, moved, source=MANUAL, message=message))


def links(
    opened: Opened, key: str | None, relation: str | None, known_at: datetime | None = None
) -> list[Link]:
    """The links of one memory, or of all, now or as they were."""
    opened.readable()
    at = None if known_at is None else check_time("known_at", known_at)
    ids = None if key is None else [opened.find(key).id]
    relation = check_name("relation", relation)
    if at is None:
        return list(opened.links(opened.store.links(opened.namespace, ids, relation)))
    then = past(opened, at)
    some = [
        one
        for one in then.links
        if relation in (None, one.relation) and (ids is None or not {one.source, one.target}.isdisjoint(ids))
    ]
    return [
        replace(
            one, source=then.gone.get(one.source, one.source), target=then.gone.get(one.target, one.target)
        )
        for one in opened.links(some)
    ]
