"""Agents from settings, agents with limited time, and the agent that is a command."""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import field, replace
from threading import Thread
from time import monotonic
from typing import IO, Any

from priming.config import environment
from priming.config.environment import AgentSettings
from priming.config.params.services import AGENT, AgentParams
from priming.config.values import dataclass
from priming.errors import AgentError, ParamError, shown
from priming.llm.endpoint import EndpointAgent, parse_model
from priming.llm.protocol import Agent, Answer, Schema, request_answer

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """Asks a command, such as ``claude -p``: split as a shell would, but run without one.

    It runs in a session of its own. Its process group is killed when it ends, when it is late or prints too much, and
    when we are interrupted.
    """

    command: str
    params: AgentParams = AGENT
    arguments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", _split(self.command))

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Run the command, again if its answer is malformed; ``AgentError`` says why there is no answer."""
        return request_answer(self._output, prompt, schema, f"the agent {self.command!r}", self.params)

    def _output(self, prompt: str) -> str:
        with tempfile.TemporaryFile() as file:
            # A file, not a pipe: a command that does not read its input cannot block us.
            file.write(prompt.encode("utf-8", "replace"))
            file.seek(0)
            run = _CommandRun(self._started(file), self.params)
        status = run.status()
        if run.too_much:
            raise self._error(
                f"said more than {self.params.output:,} bytes and was stopped: it must print its answer only"
            )
        if status is None:
            raise self._error(
                f"gave no answer within {self.params.timeout:g} s and was stopped: try it, or take a faster one"
            )
        if status != 0:
            complaint = shown(run.complaint.decode("utf-8", "replace").strip(), self.params.repeated)
            raise self._error(
                f"ended with status {status}, must be 0: try it by hand; it complained {complaint}"
            )
        return run.output.decode("utf-8-sig", "replace")

    def _started(self, prompt: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.arguments,
                stdin=prompt,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment.unattended(),
                start_new_session=True,
            )
        except OSError as error:
            raise self._error(
                f"cannot be run ({error.strerror}): name a program that is on the PATH, or its whole path"
            ) from None

    def _error(self, what: str) -> AgentError:
        return AgentError(f"the agent {self.command!r} {what}")


def _split(command: str) -> tuple[str, ...]:
    try:
        arguments = tuple(shlex.split(command)) if isinstance(command, str) else ()
    except ValueError:  # a quote that is not closed
        arguments = ()
    if not arguments or not arguments[0] or "\x00" in command:
        raise ParamError("agent", command, "must be a command, quoted as for a shell, such as 'claude -p'")
    return arguments


class _CommandRun:
    """One run of a command: its output is read as it arrives, up to a limit."""

    def __init__(self, process: subprocess.Popen[bytes], params: AgentParams) -> None:
        self.output, self.complaint = bytearray(), bytearray()
        self.too_much = False
        self._process, self._params = process, params
        self._deadline = monotonic() + params.timeout
        assert process.stdout is not None, "requested when the process started"
        assert process.stderr is not None, "requested when the process started"
        self._readers = [
            Thread(target=self._read, args=(process.stdout, self.output, True), daemon=True),
            Thread(target=self._read, args=(process.stderr, self.complaint, False), daemon=True),
        ]

    def status(self) -> int | None:
        """Its exit status once it has ended, None if it was late; its process group is killed."""
        for reader in self._readers:
            reader.start()
        try:
            return self._process.wait(max(0.0, self._deadline - monotonic()))
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end()

    def _end(self) -> None:
        """Kill the rest of its process group, and read its output so far."""
        _kill(self._process.pid)
        self._process.wait()
        deadline = monotonic() + self._params.drain
        for reader in self._readers:
            # A process that left the group may hold the pipe for ever: its output is not part of the answer.
            reader.join(max(0.0, deadline - monotonic()))

    def _read(self, pipe: IO[bytes], into: bytearray, counts: bool) -> None:
        """Read to the end; output beyond the limit ends the command if it counts, and is dropped otherwise."""
        with pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                room = self._params.output - len(into)
                into += part[:room]
                if len(part) > room and counts:
                    self.too_much = True
                    _kill(self._process.pid)
                    return


def _kill(group: int) -> None:
    """Kill a process group, which may have ended."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def open_agent(settings: AgentSettings) -> Agent | None:
    """The agent that settings name; None if they name none."""
    if settings.model is not None:
        return EndpointAgent(*parse_model(settings.model), settings.key)
    return None if settings.command is None else CommandAgent(settings.command)


def check_agent(value: Any) -> Agent | None:
    """An argument that must be an agent or None."""
    if value is not None and (isinstance(value, type) or not isinstance(value, Agent)):
        raise ParamError("agent", value, "must have a method answer, such as CommandAgent('claude -p')")
    agent: Agent | None = value
    return agent


def with_timeout(agent: Agent, seconds: float) -> Agent:
    """The agent with a timeout for each answer; an agent of another class keeps its own."""
    if not isinstance(agent, (CommandAgent, EndpointAgent)):
        return agent
    return replace(agent, params=replace(agent.params, timeout=seconds))


class DeadlineExceeded(Exception):
    """The time for a piece of work is over."""


@dataclass(frozen=True, slots=True)
class DeadlineAgent:
    """An agent with a deadline: each answer, repairs included, gets no more time than is left."""

    agent: Agent
    deadline: float
    monotonic: Callable[[], float]

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the agent; ``DeadlineExceeded`` if it has not answered in the time that is left."""
        left = self.deadline - self.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        (agent, timeout), began = self._limited(left), self.monotonic()
        try:
            return agent.answer(prompt, schema)
        except AgentError:
            # An agent that was cut short is not at fault.
            if self.monotonic() - began >= timeout:
                raise DeadlineExceeded from None
            raise

    def _limited(self, left: float) -> tuple[Agent, float]:
        """The agent with its timeout reduced to the time left if that is less, and that timeout."""
        agent = self.agent
        if not isinstance(agent, (CommandAgent, EndpointAgent)):
            return agent, math.inf
        share = left / (1 + agent.params.repairs)
        if agent.params.timeout <= share:
            return agent, math.inf
        return with_timeout(agent, share), share
