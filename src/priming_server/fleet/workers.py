"""Workers carry out tasks: here the protocol, and the processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol

from priming.config.values import dataclass
from priming_server.fleet.task import LOST, FleetOutcome, FleetTask, carry_out

Finished = tuple[int, FleetOutcome]
"""The number of a task, and how it ended."""
_PATIENCE = 5.0
"""Seconds after which an idle process that does not end is killed."""


class Workers(Protocol):
    """What carries out tasks, several at once."""

    @property
    def free(self) -> int:
        """How many more tasks may be submitted now."""
        ...

    def submit(self, task: FleetTask) -> None:
        """Begin a task."""
        ...

    def finished(self) -> Sequence[Finished]:
        """Wait until a task has ended, and return those that have; a task whose worker ended is ``LOST``."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


@dataclass(eq=False)
class _WorkerProcess:
    """A process, our end of its pipe, and the number of its task."""

    process: BaseProcess
    pipe: Connection
    task: int | None = None


class LocalWorkers:
    """Processes of this machine, at most one a processor; one that ends is replaced, and only its task is lost."""

    def __init__(self, most: int | None = None) -> None:
        processors = len(os.sched_getaffinity(0))
        self._most = processors if most is None else min(most, processors)
        self._context = get_context("spawn")
        self._processes: list[_WorkerProcess] = []

    @property
    def free(self) -> int:
        """How many more tasks may be submitted now."""
        return self._most - sum(each.task is not None for each in self._processes)

    def submit(self, task: FleetTask) -> None:
        """Give a task to an idle process."""
        idle = next((each for each in self._processes if each.task is None), None) or self._start()
        idle.task = task.number
        with suppress(OSError):  # a process that has ended is noticed by the end of its pipe
            idle.pipe.send(task)

    def finished(self) -> Sequence[Finished]:
        """Wait until a task has ended, and return those that have."""
        busy = {each.pipe: each for each in self._processes if each.task is not None}
        return [self._finish(busy[pipe]) for pipe in wait(list(busy)) if isinstance(pipe, Connection)]

    def close(self) -> None:
        """End the processes; one at work is killed."""
        for each in self._processes:
            each.pipe.close()
            if each.task is not None:
                each.process.kill()
        for each in self._processes:
            each.process.join(_PATIENCE)
            each.process.kill()
            each.process.join()
        self._processes = []

    def _start(self) -> _WorkerProcess:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._processes.append(_WorkerProcess(process, ours))
        return self._processes[-1]

    def _finish(self, ended: _WorkerProcess) -> Finished:
        number, ended.task = ended.task, None
        assert number is not None, "only a process at work is waited for"
        try:
            return number, ended.pipe.recv()
        except (EOFError, OSError):
            self._processes.remove(ended)
            ended.pipe.close()
            ended.process.join()
            reason = f"process {ended.process.pid} ended before it answered, with {ended.process.exitcode}"
            return number, FleetOutcome(LOST, reason)


def _serve(pipe: Connection) -> None:
    """Carry out the tasks that come, until the pipe ends."""
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            pipe.send(carry_out(pipe.recv()))
