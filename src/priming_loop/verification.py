"""The gate: the command of a task, which we run ourselves, decides whether the task is done; a report does not.

A command runs without a shell, or by ``/bin/sh -c`` if it needs a shell: if it has an operator, a variable, a pattern
or a substitution outside of quotes, sets a variable, or begins with a shell builtin such as ``cd``. It has the user's
environment and no input, and runs in the folder of the project.
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
from typing import IO, Protocol

from priming.errors import ParamError
from priming_loop.codebase import CONTEXT, ContextParams
from priming_loop.knowledge.texts import symptom as symptom
from priming_loop.session import Verification

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses of a shell for such commands."""

_SHELL = "/bin/sh"
_CHUNK = 1 << 14
_ACTS = frozenset("|&;<>()$`*?[#~!\n")
"""Characters with a meaning to a shell outside of quotes."""
_ACTS_QUOTED = frozenset("$`")
_SETS = re.compile(r"\w+=")
_BUILTINS = frozenset(
    ("cd", "exit", "export", "eval", "exec", "set", "unset", "source", ".", ":", "ulimit", "umask", "command")
)


class Verifier(Protocol):
    """Verifies a task: ``verify`` runs its command, ``ScriptedVerifier`` calls a function in this process."""

    def __call__(
        self, command: str | None, folder: Path | str, *, timeout: float, most_output: int
    ) -> Verification:
        """The result of a task's gate."""
        ...


class ScriptedVerifier:
    """Verifies tasks without running their commands: for tests, and for programs that check their tasks themselves.

    ``check`` gets the command and the folder, and returns None if the task is done, or the output of its failure.
    """

    def __init__(self, check: Callable[[str, Path], str | None]) -> None:
        self._check = check

    def __call__(
        self, command: str | None, folder: Path | str, *, timeout: float, most_output: int
    ) -> Verification:
        """Call the function.

        >>> verify = ScriptedVerifier(lambda command, folder: None if command == "make" else "no such target")
        >>> verify("make all", ".", timeout=1.0, most_output=7)
        Verification(command='make all', status='failed', exit_status=1, output='no such', seconds=0.0)
        """
        if command is None or not command.strip():
            return Verification(None, "unverified")
        _check(folder, timeout, most_output)
        output = self._check(command, Path(folder))
        if output is None:
            return Verification(command, "passed", 0)
        return Verification(command, "failed", 1, output[:most_output])


def verify(
    command: str | None,
    folder: Path | str,
    *,
    timeout: float,
    most_output: int,
    stop: Callable[[], bool] | None = None,
    params: ContextParams = CONTEXT,
) -> Verification:
    """Run a task's command and return the result; a task without a command is unverified.

    Args:
        command: the command, as typed in a terminal.
        folder: the folder in which it runs.
        timeout: seconds after which it is late, and killed.
        most_output: bytes of its output that are returned: half of them from the beginning, half from the end.
        stop: called now and then; if it returns true, the command is killed and ``KeyboardInterrupt`` raised.
        params: how often ``stop`` is called, and how long to wait for the last output.

    The rest of its process group is killed when it has ended, or was stopped.

    Raises:
        ParamError: a folder that does not exist, or a limit outside its range.

    """
    if command is None or not command.strip():
        return Verification(None, "unverified")
    _check(folder, timeout, most_output)
    began = monotonic()
    try:
        process = _started(command, folder)
    except _Unstartable as error:
        return Verification(command, "failed", error.status, error.message, monotonic() - began)
    output = _Output(process, most_output)
    late = not _ended(process, output, began + timeout, stop, params)
    status = "late" if late else "passed" if process.returncode == 0 else "failed"
    text = output.text()
    if late:
        text = f"{text}\n" * bool(text) + f"It did not end within {timeout:g} s, and was killed."
    return Verification(command, status, None if late else process.returncode, text, monotonic() - began)


def needs_shell(command: str) -> bool:
    """Whether a command needs a shell.

    >>> needs_shell("pytest -q 'tests/a b.py'"), needs_shell("cd app && make"), needs_shell("grep '|' x")
    (False, True, False)
    """
    words = command.split(maxsplit=1)
    if words and (words[0] in _BUILTINS or _SETS.match(words[0])):
        return True
    quote, escaped = "", False
    for char in command:
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif quote:
            if char == quote:
                quote = ""
            elif quote == '"' and char in _ACTS_QUOTED:
                return True
        elif char in "'\"":
            quote = char
        elif char in _ACTS:
            return True
    return bool(quote) or escaped


def _check(folder: Path | str, timeout: float, most_output: int) -> None:
    if not Path(folder).is_dir():
        raise ParamError("folder", str(folder), "must be an existing folder")
    if not timeout > 0:
        raise ParamError("timeout", timeout, "must be more than 0 seconds")
    if most_output < 1:
        raise ParamError("most_output", most_output, "must be at least 1 byte")


class _Unstartable(Exception):
    """A command that cannot be run, with the status and message of a shell."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


def _started(command: str, folder: Path | str) -> subprocess.Popen[bytes]:
    if "\x00" in command:
        raise _Unstartable(NOT_EXECUTABLE, f"{command!r} cannot be run: it contains the NUL character")
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
    """Whether the process ended in time; its group is killed when this returns or raises."""
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
    """Kill a process group, which may have ended."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


class _Output:
    """The output of a process, read as it arrives: the beginning and the end of a long output."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        assert process.stdout is not None, "requested when the process started"
        self._head, self._tail = bytearray(), deque[bytes]()
        self._most_head = (most + 1) // 2
        self._most_tail = most - self._most_head
        self._tail_size, self._read_in_all = 0, 0
        self._lock = Lock()
        self._reader = Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def close(self, patience: float) -> None:
        """Wait for the rest, but not for a process that left the group and holds the pipe open."""
        self._reader.join(patience)

    def text(self) -> str:
        """The output, with a line that states how much of it was left out."""
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
