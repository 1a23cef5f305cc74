"""What a run needs: a memory, an agent, a person who may be present, a verifier, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Protocol

from priming.config.values import dataclass
from priming.llm.agents import DeadlineAgent
from priming.llm.protocol import Agent
from priming.namespace import Namespace
from priming_loop.session import Session, Wait
from priming_loop.session_store import LOOP, LoopParams, Sessions
from priming_loop.verification import Verifier, verify

SECONDS = 60.0
"""Seconds in a minute."""


class Person(Protocol):
    """A person who is present and can be asked."""

    def answer(self, session: Session, question: str) -> str | None:
        """Their answer to a question; None if they give none now."""
        ...

    def allow(self, session: Session, wait: Wait) -> bool:
        """Whether they allow the next step."""
        ...


@dataclass(frozen=True, slots=True)
class LoopEnvironment:
    """What a run works with. ``yes``: plans are approved without asking, destructive tasks are not.

    Without an agent a session can only be driven by another program, which reports what it did.
    """

    memory: Namespace
    agent: Agent | None = None
    person: Person | None = None
    yes: bool = False
    should_stop: Callable[[], bool] = lambda: False
    """Whether the run should stop after the current step."""
    on_step: Callable[[Session], None] = lambda _: None
    """Called after every step, once the session is saved."""
    monotonic: Callable[[], float] = monotonic
    params: LoopParams = LOOP
    verify: Verifier = verify


@dataclass(frozen=True, slots=True)
class Turn:
    """One process's work on a session. ``previous_seconds`` is the time worked on it before."""

    environment: LoopEnvironment
    sessions: Sessions
    began: float = 0.0
    previous_seconds: float = 0.0
    parent: Session | None = None
    """The session of which this session is a subgoal."""
    minutes: float | None = None

    @classmethod
    def of(cls, environment: LoopEnvironment, session: Session, parent: Session | None = None) -> Turn:
        """A turn that begins now."""
        return cls(
            environment,
            Sessions(environment.memory),
            environment.monotonic(),
            session.seconds,
            parent,
            session.limits.minutes,
        )

    def seconds(self) -> float:
        """The time worked on the session, in all."""
        return self.previous_seconds + max(0.0, self.environment.monotonic() - self.began)

    def seconds_left(self) -> float | None:
        """The seconds left of the session's minutes; None without a limit."""
        return None if self.minutes is None else self.minutes * SECONDS - self.seconds()

    def agent(self) -> Agent:
        """The agent, limited to the time that the session has left."""
        agent, left = self.environment.agent, self.seconds_left()
        assert agent is not None, "only the run of an agent plans and acts"
        if left is None:
            return agent
        monotonic = self.environment.monotonic
        return DeadlineAgent(agent, monotonic() + left, monotonic)

    def stop_reason(self) -> str | None:
        """Return why no further step may begin, as ``Session.stopped`` names it, or None."""
        if self.environment.should_stop():
            return "interrupt"
        left = self.seconds_left()
        return "minutes" if left is not None and left <= 0 else None

    def save(self, session: Session) -> Session:
        """Save a session after a step, and announce the step."""
        session = self.sessions.save(replace(session, seconds=self.seconds()))
        self.environment.on_step(session)
        return session

    def lineage(self, session: Session) -> tuple[str, ...]:
        """The tasks that are closed, in words, those of the session above first."""
        tasks = (*(self.parent.tasks if self.parent is not None else ()), *session.tasks)
        return tuple(task.summary for task in tasks if task.status != "pending")
