"""The gate: the command of a task, which we run ourselves, decides whether the task is done; a report does not.

A command runs by ``/bin/sh -c``, with the user's environment and no input, in the folder of the project.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import IO

from priming.errors import ParamError
from priming_loop.codebase import CONTEXT
from priming_loop.session import Verification

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
        ParamError: a folder that does not exist, or a limit outside its range.

    """
    if command is None or not command.strip():
        return Verification(None, "unverified")
    _check(folder, timeout, most_output)
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
        return Verification(
            command, "failed", NOT_EXECUTABLE, f"it cannot be run: {error}", monotonic() - began
        )
    output = _Output(process, most_output)
    late = not _ended(process, output, timeout)
    status = "late" if late else "passed" if process.returncode == 0 else "failed"
    text = output.text()
    if late:
        text = f"{text}\n" * bool(text) + f"It did not end within {timeout:g} s, and was killed."
    return Verification(command, status, None if late else process.returncode, text, monotonic() - began)


def _check(folder: Path | str, timeout: float, most_output: int) -> None:
    if not Path(folder).is_dir():
        raise ParamError("folder", str(folder), "must be an existing folder")
    if not timeout > 0:
        raise ParamError("timeout", timeout, "must be more than 0 seconds")
    if most_output < 1:
        raise ParamError("most_output", most_output, "must be at least 1 byte")


def _ended(process: subprocess.Popen[bytes], output: _Output, timeout: float) -> bool:
    """Whether the process ended in time; its group is killed when this returns or raises."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    else:
        return True
    finally:
        _kill(process.pid)
        process.wait()
        output.close(CONTEXT.drain)


def _kill(group: int) -> None:
    """Kill a process group, which may have ended."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


class _Output:
    """The output of a process, read as it arrives: the beginning and the end of a long output."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        assert process.stdout is not None, "requested when the process started"
        self._head, self._tail = b"", b""
        self._most_head = (most + 1) // 2
        self._most_tail = most - self._most_head
        self._read_in_all = 0
        self._lock = Lock()
        self._reader = Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def close(self, patience: float) -> None:
        """Wait for the rest, but not for a process that left the group and holds the pipe open."""
        self._reader.join(patience)

    def text(self) -> str:
        """The output, with a line that states how much of it was left out."""
        with self._lock:
            left_out = self._read_in_all - len(self._head) - len(self._tail)
            cut = f"\n… {left_out:,} bytes left out …\n".encode() if left_out else b""
            return (self._head + cut + self._tail).decode("utf-8", "replace").strip()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                with self._lock:
                    self._take(part)

    def _take(self, part: bytes) -> None:
        self._read_in_all += len(part)
        room = self._most_head - len(self._head)
        self._head += part[:room]
        tail = self._tail + part[room:]
        self._tail = tail[max(0, len(tail) - self._most_tail) :]
