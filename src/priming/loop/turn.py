"""One go at a session, by one process: its time, and what every step needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from priming.agents.protocol import Agent
from priming.loop.session import Sessions
from priming.loop.work import Hurried, Work
from priming.looping import Acted, Session, Task

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One go at a session. ``before`` are the seconds that were worked on it by then."""

    work: Work
    sessions: Sessions
    began: float
    before: float
    above: Session | None = None
    """The session that this one is a step of."""
    minutes: float | None = field(default=None)

    def seconds(self) -> float:
        """How long the session was worked on, in all."""
        return self.before + max(0.0, self.work.monotonic() - self.began)

    def left(self) -> float | None:
        """How many seconds are left of its minutes; None: as many as it takes."""
        return None if self.minutes is None else self.minutes * SECONDS - self.seconds()

    def agent(self) -> Agent:
        """The agent, which has no more time than the session."""
        left = self.left()
        if left is None:
            return self.work.agent
        return Hurried(self.work.agent, self.work.monotonic() + left, self.work.monotonic)

    def must_stop(self) -> str | None:
        """Why nothing more may be begun, as one of ``words.STOPS``."""
        if self.work.stop():
            return "interrupt"
        left = self.left()
        return "minutes" if left is not None and left <= 0 else None

    def kept(self, session: Session) -> Session:
        """Keep a session as it is after a step, and tell of it."""
        told = self.sessions.keep(replace(session, seconds=self.seconds()))
        self.work.tell(told)
        return told

    def lineage(self, session: Session) -> tuple[str, ...]:
        """What was delivered before, in words, and what was not; that of the session above first."""
        above = () if self.above is None else self.above.tasks
        return tuple(in_words(one) for one in (*above, *session.tasks) if one.status != "pending")


def in_words(task: Task) -> str:
    """What became of a task."""
    acted = last_said(task)
    said = "" if acted is None else (acted.obstacle if task.status == "blocked" else None) or acted.details
    return f"{task.status}: {task.plan.objective}" + (f": {said}" if said else "")


def last_said(task: Task) -> Acted | None:
    """The latest answer of the agent to a task."""
    said: Sequence[Acted] = [one.acted for one in task.attempts if one.acted is not None]
    return said[-1] if said else None
