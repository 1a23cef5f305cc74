"""What practice comes to, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY
from priming.cli.screen import Part, line

if TYPE_CHECKING:
    from priming.types import Fading


def fading(found: Sequence[Fading]) -> Iterator[Part]:
    """What is about to be forgotten, each with what would be lost and why it matters."""
    for one in found:
        yield line((one.key, KEY), f"  {one.retrievability:.2f} now, {one.later:.2f} in a week")
        yield line(one.gist, indent=2)
        yield line((one.reason, DIM), indent=2)
    if not found:
        yield line(("nothing that matters is about to be forgotten", DIM))
