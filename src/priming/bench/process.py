"""A process that answers JSON lines: one line there, one line back, each within its time."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from priming.config.params.bench import BenchParams
from priming.errors import BenchError

_UNREAD = 100
"""Most lines that wait to be read: who says more is held up."""
_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[^\s/'\"]+/)+")
"""The folders of a path that begins at the root: they are of one machine."""
_OUR_PACKAGES = ("PYTHONPATH", "PYTHONHOME")
"""Variables that would lead another environment to the packages of this one."""


def tail(text: str, lines: int) -> str:
    """The end of what was said, as one line, with files but not the folders that they are in.

    >>> tail(chr(10).join(["Traceback", "  File /home/ada/x.py, line 3", "KeyError: 7"]), 2)
    'File …/x.py, line 3 | KeyError: 7'
    """
    written = [_FOLDERS.sub("…/", line.strip()) for line in text.splitlines() if line.strip()]
    return " | ".join(written[-lines:]) or "nothing"


class Process:
    """A running adapter, in a working folder of its own that goes with it."""

    def __init__(self, command: Sequence[str], name: str, params: BenchParams) -> None:
        self.name, self.params = name, params
        self._home = tempfile.TemporaryDirectory(prefix="priming-bench-", ignore_cleanup_errors=True)
        self.folder = Path(self._home.name)
        self._stderr = self.folder / ".stderr"
        with self._stderr.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={name: value for name, value in os.environ.items() if name not in _OUR_PACKAGES},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._answers: queue.Queue[bytes] = queue.Queue(_UNREAD)
        self._messages: queue.Queue[bytes | None] = queue.Queue()
        # Both in threads: one that never reads or never speaks is to be noticed, not waited for.
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._listen, self._speak)]
        for thread in self._threads:
            thread.start()

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a line and read the answer, or ``BenchError``."""
        op = message["op"]
        if not self._answers.empty() and (unasked := self._answers.get()):
            raise self._failed(f"spoke before {op} was asked: {self._quoted(unasked)}")
        self._messages.put(json.dumps(message).encode() + b"\n")
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            raise self._failed(f"gave no answer to {op} within {seconds:g} seconds") from None
        if not line:
            raise self._failed(f"ended at {op} with status {self._status()}")
        return self._read(line, op)

    def end(self) -> None:
        """Ask it to close; then end it, by its own id, with all that it started and left behind."""
        self._messages.put(b'{"op": "close"}\n')
        self._messages.put(None)
        self._status()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        while self._threads[0].is_alive():
            self._drain()
        self._threads[1].join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):  # what could not be told to a process that ended
                stream.close()
        self._home.cleanup()

    def _drain(self) -> None:
        """Let a listener that is held up come to its end."""
        with suppress(queue.Empty):
            self._answers.get(timeout=self.params.close_seconds / _UNREAD)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")

    def _speak(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        while (line := self._messages.get()) is not None:
            try:
                stdin.write(line)
                stdin.flush()
            except OSError:
                return

    def _read(self, line: bytes, op: str) -> dict[str, Any]:
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise self._failed(f"answered {op} with {self._quoted(line)}, which is no JSON object")
        if reply.get("ok") is not True:
            raise self._failed(f"failed at {op}: {reply.get('error', 'it did not say why')}")
        return reply

    def _quoted(self, line: bytes) -> str:
        return repr(line[: self.params.shown_bytes].decode("utf-8", "replace"))

    def _status(self) -> int | str:
        try:
            return self._process.wait(self.params.close_seconds)
        except subprocess.TimeoutExpired:
            return "unknown"

    def _failed(self, what: str) -> BenchError:
        stderr = tail(self._stderr.read_text("utf-8", errors="replace"), self.params.tail_lines)
        return BenchError(f"{self.name} {what}; on stderr it said: {stderr}")
