"""What wants a second look: names that mean the same, facts that contradict each other."""

from __future__ import annotations

from priming.engine.aliases import aliases
from priming.engine.verbs.base import Verbs
from priming.reviewing import Alias


class Reviewing(Verbs):
    """What wants a second look: names that mean the same, facts that contradict each other."""

    def aliases(self, *, dry_run: bool = False, limit: int = 100) -> list[Alias]:
        """Merge names that stand for one thing, where the texts say so, all in one operation.

        Args:
            dry_run: only say what would be merged.
            limit: the most names to merge.

        Raises:
            ParamError: ``limit`` outside its range.

        """
        return aliases(self._opened, dry_run=dry_run, limit=limit)
