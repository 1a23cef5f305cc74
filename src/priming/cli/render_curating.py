"""Answers about the standing of memories, and about packs, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from priming.cli.render import DIM, KEY, WARN, at, operation, path
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.behaviors import Pack, Predicate, Route, Twins, Why

_FINDINGS = {"confirmed": "green", "contradicted": "red", "absent": DIM}


def why(one: Why) -> Iterator[Part]:
    """Why a memory comes up as it does: the reasons first, then the evidence."""
    yield line((one.memory.key, KEY), f"  {one.memory.gist}")
    for reason in one.reasons:
        yield line(f"- {reason}", indent=2)
    if one.route is not None:
        yield from _route(one.route)
    for predicate in one.predicates:
        yield from _predicate(predicate)
    if one.verdicts:
        yield line(("verdicts", "bold"))
        rows = [(at(v.at), v.verdict, v.tier, str(v.cue.get("text", ""))) for v in one.verdicts]
        yield Table(("", "", "", ""), tuple(rows), cut=True)
    if one.operations:
        yield line(("latest operations", "bold"))
    for told in one.operations:
        yield from operation(told)


def _route(one: Route) -> Iterator[Part]:
    yield line(("recall", "bold"), f"  {one.recall_id}", (f"  {one.profile}  {at(one.at)}", DIM))
    yield line(f"number {one.rank}, score {one.score:.3f}", indent=2)
    if one.path:
        yield line((path(one.path), "green"), indent=2)
    for source, relation, target, share, weight in one.shares:
        today = "gone" if weight is None else f"{weight:.2f} today"
        yield line((f"{share:.0%} over {source} ─{relation}→ {target} ({today})", DIM), indent=2)


def _predicate(one: Predicate) -> Iterator[Part]:
    present = "" if one.present is None else f", the cue has {_value(one.present)}"
    yield line(
        ("condition", "bold"),
        f"  {one.name} = {_value(one.wanted)}{present}: ",
        (one.finding, _FINDINGS[one.finding]),
    )


def _value(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def twins(found: Sequence[Twins], *, dry_run: bool) -> Iterator[Part]:
    """What was merged, or would be."""
    if not found:
        yield line(("no two say the same", DIM))
        return
    for one in found:
        yield line((one.merged, KEY), " → ", (one.kept, KEY), f"  {one.similarity:.2f} alike")
    if dry_run:
        yield line(("nothing was merged: that was a dry run", WARN))
    else:
        yield line((f"to take it back: priming undo {found[0].operation}", DIM))


def pack_written(one: Pack, file: str) -> Iterator[Part]:
    """A pack that was made."""
    yield line(("packed", "green"), "  ", (f"{one.name} {one.version}", KEY), f"  {_held(one)} to {file}")


def pack_installed(one: Pack) -> Iterator[Part]:
    """A pack that was installed, or was there already."""
    if one.operation is None:
        yield line(("already installed", WARN), "  ", (f"{one.name} {one.version}", KEY), f"  {_held(one)}")
        return
    yield line(("installed", "green"), "  ", (f"{one.name} {one.version}", KEY), f"  {_held(one)}")
    done = [f"{number} {what}" for what, number in one.metadata.items()]
    if done:
        yield line((", ".join(done), DIM), indent=2)
    yield line((f"to take it back: priming undo {one.operation}", DIM), indent=2)


def packs(found: Sequence[Pack]) -> Iterator[Part]:
    """The packs that are installed."""
    if not found:
        yield line(("no packs", DIM))
        return
    rows = [
        (
            one.name,
            one.version,
            str(one.behaviors),
            str(one.links),
            at(one.installed_at)[:10],
            one.description,
        )
        for one in found
    ]
    yield Table(("pack", "version", "behaviours", "links", "installed", "description"), tuple(rows), cut=True)


def _held(one: Pack) -> str:
    behaviors = "1 behaviour" if one.behaviors == 1 else f"{one.behaviors} behaviours"
    return behaviors if not one.links else f"{behaviors}, {one.links} {'link' if one.links == 1 else 'links'}"
