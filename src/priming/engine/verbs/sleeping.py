"""Sleep: what a night does, proposed before it is done."""

from __future__ import annotations

from collections.abc import Callable, Collection

from priming.engine.sleep import night
from priming.engine.verbs.base import Verbs
from priming.llm.protocol import Agent
from priming.sleeping import Proposal
from priming.types import Operation


class Sleeping(Verbs):
    """Sleep: what a night does, proposed before it is done."""

    def sleep(
        self,
        stages: Collection[str] | None = None,
        *,
        dry_run: bool = False,
        window: int | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        agent: Agent | None = None,
    ) -> Proposal:
        """Let links fade, mark duplicates, gather episodes and procedures, archive what is no good, link the rest.

        Args:
            stages: some of decay, light, deep, skill, prune, link; they are gone through in this order. None: all.
            dry_run: only propose: ``apply`` does it, or some of it. All stages are then planned against the present,
                where a night plans each one after the one before it is done.
            window: how many of the latest episodes ``deep`` looks at, by default ``SleepParams.window``.
            progress: called with (done, total or None); a new stage begins at 0.
            agent: asked by ``deep`` for the gist of each cluster that is new or changed, while nothing is locked.
                Where it fails, and without one, the gist is a sentence of the cluster's own.

        Each stage is one operation, or none where there is nothing to do. An interrupt leaves the stages that are
        done. To undo ``Proposal.operation``, the last one, takes the whole night back; another one, its stage.

        Raises:
            ParamError: an argument outside its range.
            Busy: another process sleeps over this namespace.

        """
        return night.sleep(
            self._opened, stages, dry_run=dry_run, window=window, progress=progress, agent=agent
        )

    def apply(self, proposal: Proposal | str, *, only: Collection[str] | None = None) -> Operation:
        """Do what a proposal says, or ``only`` the items of these ids, as one operation. Nothing is planned anew.

        ``proposal`` may be the id of one of the latest that this object made.

        Raises:
            ParamError: an id that is none of the proposal's items, or a proposal of another namespace.
            NotFound: no proposal of that id is kept.
            Conflict: something that it would change has changed since, it is applied already, or it is empty.

        """
        return night.apply(self._opened, proposal, only)
