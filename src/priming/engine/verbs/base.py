"""What every group of verbs works with."""

from __future__ import annotations

from priming.engine.opened import Opened


class Verbs:
    """Verbs over one opened namespace; ``Memory`` brings the groups together."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
