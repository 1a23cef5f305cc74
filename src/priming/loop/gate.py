"""The gate: whether a task is done is what its own command says, run by us; an agent's word counts for nothing.

A command is run as it stands, without a shell, unless it needs one: then by ``/bin/sh -c``. It needs one where it has
an operator, a variable, a pattern or a substitution outside of quotes, sets a variable, or begins with a word that
only a shell knows, such as ``cd``. It has the user's environment and no input, and works in the given folder.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import IO

from priming.config.params.loop import CONTEXT, ContextParams
from priming.errors import ParamError
from priming.looping import Verified

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses with which a shell says so."""

_SHELL = "/bin/sh"
_CHUNK = 1 << 14
_ACTS = frozenset("|&;<>()$`*?[#~!\n")
"""What means something to a shell where it is not quoted."""
_ACTS_QUOTED = frozenset("$`")
_SETS = re.compile(r"\w+=")
_BUILTINS = frozenset(
    ("cd", "exit", "export", "eval", "exec", "set", "unset", "source", ".", ":", "ulimit", "umask", "command")
)


def verify(
    command: str | None,
    folder: Path | str,
    *,
    timeout: float,
    most_output: int,
    stop: Callable[[], bool] | None = None,
    params: ContextParams = CONTEXT,
) -> Verified:
    """Run a task's command, and tell what came of it; without one, nothing is verified.

    Args:
        command: as one would type it.
        folder: where it runs.
        timeout: seconds after which it is late, and killed.
        most_output: bytes of its output that are kept: the first and the last half of them.
        stop: asked now and then; where it says so, the command is killed and ``KeyboardInterrupt`` raised.
        params: how often ``stop`` is asked, and the patience with output.

    Whatever is left of its process group when it has ended, or was stopped, is killed.

    Raises:
        ParamError: a folder that is none, or a limit outside its range.

    """
    if command is None or not command.strip():
        return Verified(None, "unverified")
    _check(folder, timeout, most_output)
    began = monotonic()
    try:
        process = _started(command, folder)
    except _Unstartable as error:
        return Verified(command, "failed", error.status, error.message, monotonic() - began)
    output = _Output(process, most_output)
    late = not _ended(process, output, began + timeout, stop, params)
    status = "late" if late else "passed" if process.returncode == 0 else "failed"
    said = output.text()
    if late:
        said = f"{said}\n" * bool(said) + f"It did not end within {timeout:g} s, and was killed."
    return Verified(command, status, None if late else process.returncode, said, monotonic() - began)


def needs_shell(command: str) -> bool:
    """Whether a command means something that only a shell does.

    >>> needs_shell("pytest -q 'tests/a b.py'"), needs_shell("cd app && make"), needs_shell("grep '|' x")
    (False, True, False)
    """
    words = command.split(maxsplit=1)
    if words and (words[0] in _BUILTINS or _SETS.match(words[0])):
        return True
    quote, escaped = "", False
    for one in command:
        if escaped:
            escaped = False
        elif one == "\\" and quote != "'":
            escaped = True
        elif quote:
            if one == quote:
                quote = ""
            elif quote == '"' and one in _ACTS_QUOTED:
                return True
        elif one in "'\"":
            quote = one
        elif one in _ACTS:
            return True
    return bool(quote) or escaped


def _check(folder: Path | str, timeout: float, most_output: int) -> None:
    if not Path(folder).is_dir():
        raise ParamError("folder", str(folder), "must be a folder that is there")
    if not timeout > 0:
        raise ParamError("timeout", timeout, "must be more than 0 seconds")
    if most_output < 1:
        raise ParamError("most_output", most_output, "must be at least 1 byte")


class _Unstartable(Exception):
    """A command that cannot be run, as a shell would say it."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


def _started(command: str, folder: Path | str) -> subprocess.Popen[bytes]:
    if "\x00" in command:
        raise _Unstartable(NOT_EXECUTABLE, f"{command!r} cannot be run: it has the NUL character in it")
    arguments = [_SHELL, "-c", command] if needs_shell(command) else shlex.split(command)
    try:
        return subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise _Unstartable(NOT_FOUND, f"{arguments[0]}: command not found") from None
    except OSError as error:
        raise _Unstartable(NOT_EXECUTABLE, f"{arguments[0]}: cannot be run: {error.strerror}") from None


def _ended(
    process: subprocess.Popen[bytes],
    output: _Output,
    deadline: float,
    stop: Callable[[], bool] | None,
    params: ContextParams,
) -> bool:
    """Whether it ended by itself in time; when this returns or raises, nothing of its group runs on."""
    try:
        while (left := deadline - monotonic()) > 0:
            try:
                process.wait(min(left, params.look) if stop else left)
            except subprocess.TimeoutExpired:
                if stop is not None and stop():
                    raise KeyboardInterrupt("the gate was stopped before it ended") from None
            else:
                return True
        return process.poll() is not None
    finally:
        _kill(process.pid)
        process.wait()
        output.close(params.drain)


def _kill(group: int) -> None:
    """Kill a process group, which may be gone already."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


class _Output:
    """What a process prints, read as it comes: of a long one the beginning and the end."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        assert process.stdout is not None, "asked for when it was started"
        self._head, self._tail = bytearray(), deque[bytes]()
        self._most_head = (most + 1) // 2
        self._most_tail = most - self._most_head
        self._tail_size, self._read_in_all = 0, 0
        self._lock = Lock()
        self._reader = Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def close(self, patience: float) -> None:
        """Wait for the rest; a process that left the group may hold the pipe for ever, and is not waited for."""
        self._reader.join(patience)

    def text(self) -> str:
        """What was printed, with a line that says how much of it was left out."""
        with self._lock:
            tail = b"".join(self._tail)
            tail = tail[max(0, len(tail) - self._most_tail) :]
            left_out = self._read_in_all - len(self._head) - len(tail)
            cut = f"\n… {left_out:,} bytes left out …\n".encode() if left_out else b""
            return (bytes(self._head) + cut + tail).decode("utf-8", "replace").strip()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                with self._lock:
                    self._take(part)

    def _take(self, part: bytes) -> None:
        self._read_in_all += len(part)
        room = self._most_head - len(self._head)
        self._head += part[:room]
        if rest := part[max(room, 0) :]:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._most_tail:
            self._tail_size -= len(self._tail.popleft())
