"""What was known and what was true at other times, and what became different since."""

from __future__ import annotations

from datetime import datetime

from priming.engine import diff, past
from priming.engine.verbs.base import Verbs
from priming.history import Diff
from priming.types import Version


class Timing(Verbs):
    """Questions about other times."""

    def as_of(
        self, key: str, *, valid_at: datetime | None = None, known_at: datetime | None = None
    ) -> Version:
        """The version of a memory that was true at ``valid_at``, as it was known at ``known_at``.

        Without ``valid_at`` the time is that of ``known_at``, without both it is now. What was recorded at that very
        instant was known.

        Raises:
            NotFound: no memory of that key was known then, or none of its versions was true.
            ParamError: a time without a time zone.

        """
        with self._opened.lock:
            return past.as_of(self._opened, key, valid_at=valid_at, known_at=known_at)

    def diff(self, d1: datetime, d2: datetime, *, question: str | None = None, limit: int = 10) -> Diff:
        """What became different after ``d1`` and up to ``d2``: memories, links, and the answer to a question.

        Args:
            d1: the earlier time.
            d2: the later time.
            question: what is asked as of both times; without one no answers are compared.
            limit: most hits of each answer.

        Raises:
            ParamError: a time without a time zone, ``d2`` before ``d1``, or an argument outside its range.

        """
        with self._opened.lock:
            return diff.diff(self._opened, d1, d2, question=question, limit=limit)
