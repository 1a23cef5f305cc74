"""Real processes for tests: forked from this one, which must have no store open that they open too."""

import ctypes
import gc
import os
import pickle
import signal
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass
class Gate:
    """Holds processes until another one opens it."""

    entrance: int
    exit: int

    @classmethod
    def closed(cls) -> Self:
        return cls(*reversed(os.pipe()))

    def open(self, count: int = 1) -> None:
        os.write(self.entrance, b"." * count)

    def wait(self) -> None:
        assert os.read(self.exit, 1), "the process that opens the gate is gone"


@dataclass
class Child:
    """A process that runs a function; its result, or what it raised, comes back with ``result``."""

    pid: int
    answer: int

    def result(self) -> Any:
        holder, code = self._end()
        assert holder, f"the process ended without an answer ({code})"
        kind, value = pickle.loads(holder)
        assert kind == "returned", value
        return value

    def killed(self) -> bool:
        """Wait for the end; whether SIGKILL was the cause, or it came to its own."""
        holder, code = self._end()
        if code == -signal.SIGKILL:
            return True
        assert holder, f"the process ended with {code}"
        kind, value = pickle.loads(holder)
        assert kind == "returned", value
        return False

    def _end(self) -> tuple[bytes, int]:
        with os.fdopen(self.answer, "rb") as pipe:
            holder = pipe.read()
        _, status = os.waitpid(self.pid, 0)
        return holder, os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        assert self.killed()


def start(run: Callable[[], Any]) -> Child:
    """Run a function in a process of its own."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # for forking while other threads exist
        pid = os.fork()
    if pid:
        os.close(write)
        return Child(pid, read)
    status = 1
    gc.disable()  # it would touch, and so copy, all of the memory that is shared with the parent
    try:
        status = _answer(run, write)
    finally:
        os._exit(status)


def _answer(run: Callable[[], Any], write: int) -> int:
    try:
        answer = pickle.dumps(("returned", run()))
    except BaseException:  # noqa: BLE001 - the last handler of this process
        answer = pickle.dumps(("raised", traceback.format_exc()))
    with os.fdopen(write, "wb") as pipe:
        pipe.write(answer)
    return 0


def in_child(run: Callable[[], Any]) -> Any:
    """The result of a function that ran in a process of its own."""
    return start(run).result()


OVERRIDES = 1, 2
"""The capabilities by which root reads and writes what modes forbid."""


def without_rights() -> None:
    """Let the program that is started next read and write only what modes permit, as root too."""
    if os.geteuid() == 0:
        for capability in OVERRIDES:
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, at the next exec
