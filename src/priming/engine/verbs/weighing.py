"""What each term of recall is worth here, and other weights for it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from priming.ablation import Ablation
from priming.config.params.learning import ABLATION
from priming.engine.ablate import ablate, asked
from priming.engine.verbs.base import Verbs


class Weighing(Verbs):
    """What each term of recall is worth here, and other weights for it."""

    def ablate(
        self,
        terms: Collection[str] | None = None,
        *,
        profile: str | None = None,
        limit: int = ABLATION.recalls,
        propose: bool = True,
        apply: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Ablation:
        """Replay the recalls that were judged, without each term in turn: what it is worth, and better weights.

        Args:
            terms: names of terms (``priming.engine.recall.TERMS``); None: all.
            profile: whose recalls, and whose weights; one that follows ``docs/recall.md``. None: this memory's own.
            limit: the latest judged recalls, so many of them.
            propose: whether other weights are looked for: it takes longest.
            apply: whether weights that stand are set, as one operation. Without it, nothing changes.
            progress: called with (done, total or None) after each replay.

        Raises:
            ParamError: an argument outside its range, or a profile without such terms.
            Conflict: other weights were set meanwhile.

        """
        arguments = {
            "terms": terms,
            "profile": profile,
            "limit": limit,
            "propose": propose,
            "apply": apply,
            "progress": progress,
        }
        return ablate(self._opened, asked(self._opened, arguments))
