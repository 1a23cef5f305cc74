"""Answers about aliases and contradictions, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN
from priming.cli.screen import Part, line

if TYPE_CHECKING:
    from priming.reviewing import Alias

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
