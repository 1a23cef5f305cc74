"""Answers about aliases and contradictions, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN, at
from priming.cli.screen import Part, line

if TYPE_CHECKING:
    from priming.reviewing import Alias, Claim, Review

_REASONS = {"said": "a text says so", "part": "part of a full name, in its session"}


def aliases(found: Sequence[Alias], *, dry_run: bool) -> Iterator[Part]:
    """Which names were merged into which, or would be, and why."""
    if not found:
        yield line(("no two names are known to mean the same", DIM))
        return
    for one in found:
        yield line((one.alias, KEY), " → ", (one.name, KEY), (f"  {_REASONS[one.reason]}", DIM))
        for told in one.evidence:
            yield line((told.key, KEY), f"  {told.text}", indent=2)
    if dry_run:
        yield line(("nothing was merged: that was a dry run", WARN))
    else:
        yield line((f"to take it back: priming undo {found[0].operation}", DIM))


def reviews(found: Sequence[Review]) -> Iterator[Part]:
    """Facts that contradict each other, each with the commands that settle it."""
    if not found:
        yield line(("no facts contradict each other", DIM))
    for one in found:
        yield line((f"{one.subject}: {one.slot}", "bold"))
        yield _claim(one.older)
        yield _claim(one.newer)
        for command in one.commands:
            yield line((command, DIM), indent=4)


def _claim(one: Claim) -> Part:
    told = f"{at(one.told_at)[:10]}  " if one.told_at else ""
    return line((told, DIM), (one.key, KEY), f"  {one.content}", indent=2)
