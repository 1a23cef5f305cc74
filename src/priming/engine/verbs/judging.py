"""What came of what was recalled."""

from __future__ import annotations

from collections.abc import Collection

from priming.engine import feedback, runs
from priming.engine.verbs.base import Verbs
from priming.types import Operation
from priming.verdicts import Run


class Judging(Verbs):
    """What came of what was recalled: verdicts, and runs that use the memories they were shown."""

    def feedback(
        self,
        recall_id: str | None = None,
        *,
        used: Collection[str] = (),
        not_relevant: Collection[str] = (),
        not_useful: Collection[str] = (),
        confirmed: Collection[str] = (),
        overridden: Collection[str] = (),
        tier: str = "conscious",
        session: str | None = None,
        reason: str | None = None,
    ) -> Operation:
        """Say what came of recalled memories; links and nodes that are to credit or blame move, nothing else.

        Args:
            recall_id: the recall that brought them up; None: for each memory the latest that did.
            used: keys of what helped: the links of its path and its weight rise.
            not_relevant: what the cue was not about: the links of its path sink.
            not_useful: what was found rightly and was no good: its weight sinks.
            confirmed: rules that held; counted.
            overridden: rules that did not; counted.
            tier: ``conscious`` (.01 a step) or ``automatic`` (.00001).
            session: without ``recall_id``, only recalls of this session.
            reason: why, for the log.

        A verdict counts once for each recall and memory; given again it changes nothing, and the answer is the
        operation that recorded it. A direct match that is not relevant moves nothing: its cue is recorded.

        Raises:
            NotFound: a memory that is not there, or a recall that is not, of another namespace, or expired.
            ParamError: no verdict at all, two that contradict, or a memory that the recall did not bring up.

        """
        given = {
            "used": used,
            "not_relevant": not_relevant,
            "not_useful": not_useful,
            "confirmed": confirmed,
            "overridden": overridden,
        }
        asked = {**given, "recall_id": recall_id, "tier": tier, "session": session, "reason": reason}
        return feedback.feedback(self._opened, feedback.judgement(asked))

    def run_start(self, session: str | None = None) -> Run:
        """Begin a piece of work: recalls under its session, by default one of its own, belong to it.

        Raises:
            Conflict: a run of that session is under way.

        """
        return runs.start(self._opened, session)

    def run_end(self, run_id: str, *, used: bool | None = None) -> Run:
        """End a run, and keep which memories it was shown.

        With ``used`` it is settled at once; else it waits for ``run_used``, and counts as unused after
        ``PlasticityParams.run_days``.

        Raises:
            NotFound: no such run.
            Conflict: it has ended.

        """
        return runs.end(self._opened, run_id, used)

    def run_list(self) -> list[Run]:
        """The runs of the namespace, oldest first."""
        with self._opened.lock:
            return runs.list_(self._opened)

    def run_used(self, run_id: str) -> Run:
        """Say that the output of a run was used: the links among what it was shown rise by the automatic step.

        Raises:
            NotFound: no such run.
            Conflict: it is settled.

        """
        return runs.used(self._opened, run_id)
