"""What is kept by practice: procedures that are carried out, and what fades without."""

from __future__ import annotations

from priming.engine import fading, procedures
from priming.engine.verbs.base import Verbs
from priming.types import Fading, Operation


class Practising(Verbs):
    """What is kept by practice: procedures that are carried out, and what fades without."""

    def done(
        self, key: str, *, success: bool = True, recall_id: str | None = None, reason: str | None = None
    ) -> Operation:
        """Say that a procedure was carried out, and whether it worked: that counts, and is a review of it.

        Args:
            key: the procedure.
            success: whether it worked.
            recall_id: the recall that brought it up: it is judged too, as used or not useful.
            reason: why, for the log.

        Raises:
            NotFound: no such memory, or no such recall.
            ParamError: the memory is no procedure, or the recall did not bring it up.

        """
        return procedures.done(self._opened, key, success=success, recall_id=recall_id, reason=reason)

    def fading(self, *, limit: int = 20, below: float | None = None) -> list[Fading]:
        """What matters and is about to be forgotten, by the law of forgetting of the profile.

        Args:
            limit: at most so many, those first of which most would be lost.
            below: only what will be less retrievable than this a week from now; None: ``FadingParams.below``.

        Raises:
            ParamError: an argument outside its range.
            NotFound: a namespace that does not exist.

        """
        with self._opened.lock:
            return fading.fading(self._opened, limit=limit, below=below)
