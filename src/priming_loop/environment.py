"""What a run needs: a memory, an agent, a person who may be present, a verifier, and the time that is left.

The agent is asked again until its answer makes sense, and gets no more time than is left. The gate of a task is its
command, which we run ourselves by ``/bin/sh -c``, with the user's environment and no input, in the folder of the
project: it decides whether the task is done; a report does not.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import IO, Any, Protocol, TypeVar

from priming.config.params.services import AGENT
from priming.config.values import dataclass
from priming.errors import AgentError, ParamError
from priming.llm.agents import CommandAgent, EndpointAgent, waited_for
from priming.llm.protocol import Agent, Answer, Schema, with_problem
from priming.namespace import Namespace
from priming_loop.codebase import CONTEXT
from priming_loop.session import Session, Task, Verification, Wait
from priming_loop.session_store import Sessions, check_folder

NOT_EXECUTABLE = 126
"""The exit status of a shell for a command that cannot be run."""

_CHUNK = 1 << 14
Verify = Callable[..., Verification]
"""How a task is verified: as ``verify`` does, or by a function of the same arguments."""


def verify(command: str | None, folder: Path | str, *, timeout: float, most_output: int) -> Verification:
    """Run a task's command and return the result; a task without a command is unverified.

    Args:
        command: the command, as typed in a terminal.
        folder: the folder in which it runs.
        timeout: seconds after which it is late, and killed.
        most_output: bytes of its output that are returned: half of them from the beginning, half from the end.

    The rest of its process group is killed when it has ended, or was stopped.

    Raises:
        ParamError: a folder that does not exist.

    """
    if command is None or not command.strip():
        return Verification(None, "unverified")
    check_folder(str(folder))
    began = monotonic()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # it is too long, or contains the NUL character
        return Verification(command, "failed", NOT_EXECUTABLE, f"it cannot be run: {error}")
    output = _Output(process, most_output)
    exit_status = waited_for(process, timeout)
    status = "late" if exit_status is None else "failed" if exit_status else "passed"
    text = output.text(AGENT.drain)
    if exit_status is None:
        text = f"{text}\n" * bool(text) + f"It did not end within {timeout:g} s, and was killed."
    return Verification(command, status, exit_status, text, monotonic() - began)


class _Output:
    """The output of a process, read as it arrives: the beginning and the end of a long output."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        assert process.stdout is not None, "requested when the process started"
        self._bytes, self._left_out, self._lock = bytearray(), 0, Lock()
        self._most, self._head = most, (most + 1) // 2
        self._reader = Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def text(self, patience: float) -> str:
        """Return the output, with a line that states how much of it was left out.

        It waits for the rest, but not for a process that left the group and holds the pipe open.
        """
        self._reader.join(patience)
        with self._lock:
            cut = f"\n… {self._left_out:,} bytes left out …\n".encode() if self._left_out else b""
            text = self._bytes[: self._head] + cut + self._bytes[self._head :]
            return text.decode("utf-8", "replace").strip()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                with self._lock:
                    self._bytes += part
                    excess = max(0, len(self._bytes) - self._most)
                    del self._bytes[self._head : self._head + excess]
                    self._left_out += excess


SECONDS = 60.0
"""Seconds in a minute."""


T = TypeVar("T")


def check_present(agent: Agent | None) -> Agent:
    """Return an agent, which must be named."""
    if agent is None:
        rule = "must be given: --agent 'claude -p', --model URL,NAME, PRIMING_AGENT, or agent.command in the settings"
        raise ParamError("agent", None, rule)
    return agent


def with_timeout(agent: Agent, seconds: float) -> Agent:
    """Return the agent with a timeout for each answer; an agent of another class keeps its own."""
    if not isinstance(agent, (CommandAgent, EndpointAgent)):
        return agent
    return replace(agent, params=replace(agent.params, timeout=seconds))


class Stopped(Exception):
    """Work may not go on: the reason, as ``Session.stopped`` names it."""


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties, and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def validated_answer(agent: Agent, prompt: str, schema: Schema, parse: Callable[[Answer], T]) -> T:
    """Return an agent's parsed answer; if ``parse`` raises ``ParamError``, the agent is asked again with the reason.

    Raises:
        AgentError: the agent gives no answer, or none that makes sense.

    """
    question, problem = prompt, ""
    for _ in range(1 + AGENT.repairs):
        try:
            return parse(_plain("", agent.answer(question, schema)))
        except ParamError as error:
            problem = str(error)
            question = with_problem(prompt, problem)
    raise AgentError(
        f"the agent's answer makes no sense, asked {1 + AGENT.repairs} times: {problem};"
        " see what it answers, or take another agent"
    )


def _plain(name: str, value: Any) -> Any:
    """Return a value of an answer without white space around its texts, None for a blank text.

    Raises:
        ParamError: a text that is too long or contains NUL.

    """
    if isinstance(value, Mapping):
        return {key: _plain(f"{name}.{key}".lstrip("."), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(f"{name}[{number}]", item) for number, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    if "\x00" in value:
        raise ParamError(name, value, "must not contain the NUL character")
    most = CONTEXT.answer_length
    if len(value) > most:
        raise ParamError(name, value, f"has {len(value):,} characters, at most {most:,}: shorten the text")
    return value.strip() or None


class Person(Protocol):
    """A person who is present and can be asked."""

    def answer(self, session: Session, question: str) -> str | None:
        """Return their answer to a question; None if they give none now."""
        ...

    def allow(self, session: Session, wait: Wait) -> bool:
        """Tell whether they allow the next step."""
        ...


@dataclass(frozen=True, slots=True)
class LoopEnvironment:
    """What a run works with. ``yes``: plans are approved without asking, but not what the guard asks.

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
    verify: Verify = verify


@dataclass(frozen=True, slots=True)
class Turn:
    """One process's work on a session, which stood as ``session`` when the work ``began``."""

    environment: LoopEnvironment
    session: Session
    parent: Session | None
    """The session of which this session is a subgoal."""
    seq: int | None
    """The task on which another program reports; None: an agent carries out all tasks, in their order."""
    began: float

    @property
    def sessions(self) -> Sessions:
        """The sessions of the memory."""
        return Sessions(self.environment.memory)

    def seconds(self) -> float:
        """Return the time worked on the session, in all."""
        return self.session.seconds + max(0.0, self.environment.monotonic() - self.began)

    def seconds_left(self) -> float:
        """Return the seconds left of the session's minutes; infinite without a limit."""
        minutes = self.session.limits.minutes
        return inf if minutes is None else minutes * SECONDS - self.seconds()

    def task(self, session: Session) -> Task | None:
        """Return the pending task in work; None if there is none, or none to report on."""
        if self.seq is None:
            return session.next_task
        task = session.task(self.seq)
        return task if task is not None and task.status == "pending" else None

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the agent, which gets no more time than the session has left, repairs included.

        Raises:
            Stopped: that time is over; an agent that was cut short by it is not at fault.

        """
        monotonic, most = self.environment.monotonic, self.session.limits.timeout
        seconds = min(most, self.seconds_left() / (1 + AGENT.repairs))
        if seconds <= 0:
            raise Stopped("minutes")
        began = monotonic()
        try:
            return with_timeout(check_present(self.environment.agent), seconds).answer(prompt, schema)
        except AgentError:
            if seconds < most and monotonic() - began >= seconds:
                raise Stopped("minutes") from None
            raise

    def allows(self, session: Session, wait: Wait) -> bool:
        """Tell whether a person is present and says yes."""
        person = self.environment.person
        return person is not None and person.allow(session, wait)

    def check(self) -> None:
        """Raise ``Stopped`` if no further step may begin."""
        if self.environment.should_stop():
            raise Stopped("interrupt")
        if self.seconds_left() <= 0:
            raise Stopped("minutes")

    def save(self, session: Session) -> Session:
        """Save a session after a step, and announce the step."""
        session = self.sessions.save(replace(session, seconds=self.seconds()))
        self.environment.on_step(session)
        return session

    def lineage(self, session: Session) -> tuple[str, ...]:
        """Return the tasks that are closed, in words, those of the session above first."""
        tasks = (*(self.parent.tasks if self.parent is not None else ()), *session.tasks)
        return tuple(task.summary for task in tasks if task.status != "pending")
