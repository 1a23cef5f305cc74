"""What the doctor found, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from priming.cli.checks import FAIL, OK, WARN, Check
from priming.cli.screen import Part, line

_STYLES = {OK: "green", WARN: "yellow", FAIL: "red"}


def checks(found: Iterable[Check]) -> Iterator[Part]:
    """Each check; of what is not well the remedy, too."""
    for one in found:
        yield line((f"{one.status:<4}", _STYLES[one.status]), f"  {one.name}  {one.detail}")
        if one.remedy:
            yield line((f"→ {one.remedy}", "dim"), indent=6)
