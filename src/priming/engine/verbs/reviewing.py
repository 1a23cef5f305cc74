"""What wants a second look: names that mean the same, facts that contradict each other."""

from __future__ import annotations

from priming.engine.aliases import aliases
from priming.engine.review import keep_both, review
from priming.engine.verbs.base import Verbs
from priming.reviewing import Alias, Review
from priming.types import Operation


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

    def review(self, *, limit: int = 50) -> list[Review]:
        """Facts that give one subject different values in one slot, the latest first, and what settles it.

        Args:
            limit: the most to list.

        Raises:
            ParamError: ``limit`` outside its range.

        """
        return review(self._opened, limit=limit)

    def keep_both(self, id: str) -> Operation:
        """Say of two facts that ``review`` lists that both may hold; it does not list them again.

        Raises:
            NotFound: nothing of this id is under review.

        """
        return keep_both(self._opened, id)
