"""What sleep proposes and does, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN
from priming.cli.screen import Part, line

if TYPE_CHECKING:
    from priming.sleeping import Item, Proposal

_SHOWN = 20
"""Items of a stage that are shown; a program gets all."""


def proposal(one: Proposal, *, dry_run: bool) -> Iterator[Part]:
    """What a night did, or would do: by stage, with the reasons."""
    for stage in one.stages:
        items = [item for item in one.items if item.stage == stage]
        if items:
            yield line((stage, "bold"), f"  {len(items):,} {'item' if len(items) == 1 else 'items'}")
        for each in items[:_SHOWN]:
            yield from item(each, indent=2)
        if len(items) > _SHOWN:
            yield line((f"… and {len(items) - _SHOWN:,} more: --json lists all", DIM), indent=2)
        for check in one.checks:
            if check.stage == stage:
                for why in check.dropped:
                    yield line((f"left out ({check.rule}): {why}", WARN), indent=2)
    yield _end(one, dry_run)


def _end(one: Proposal, dry_run: bool) -> Part:
    if not one.items:
        return line(("nothing to do", DIM))
    if dry_run:
        said = "nothing was changed: that was a dry run, with every stage planned against the present"
        return line((said, WARN))
    return line((f"to take the night back: priming undo {one.operation}", DIM))


def item(one: Item, *, indent: int = 0) -> Iterator[Part]:
    """One item: what becomes of which memories, and why."""
    into = () if one.into is None else (" → ", (one.into, KEY))
    yield line((one.action, "green"), "  ", (", ".join(one.keys), KEY), *into, indent=indent)
    yield line((one.reason, DIM), indent=indent + 2)
    text = one.evidence.get("text")
    if one.action in ("make", "update") and isinstance(text, str):
        yield line(f"“{text}”", indent=indent + 2)
    degraded = one.evidence.get("degraded")
    if degraded is not None:
        yield line((f"without the agent: {degraded}", WARN), indent=indent + 2)
    added = one.evidence.get("added")
    if isinstance(added, list) and added:
        yield line(f"steps added: {'; '.join(map(str, added))}", indent=indent + 2)
