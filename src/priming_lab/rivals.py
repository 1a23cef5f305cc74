"""A rival system as a contestant: a process in its own environment that reads and writes JSON lines.

A rival is a folder with ``adapter.py``, ``requirements.txt`` and ``about.json``. What goes over the pipe stands in
``benchmarks/rivals/README.md``. Whatever goes wrong with one is a ``BenchError`` that names it and quotes what it
last said.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from priming.config.values import dataclass
from priming.embedding.protocol import Vectors
from priming.errors import BenchError, ParamError
from priming_lab.contestants import BENCH, BenchParams, SearchResult
from priming_lab.sets import BenchItem, BenchPart

_ADAPTER, _REQUIREMENTS, _ABOUT = "adapter.py", "requirements.txt", "about.json"
_READY = ".ready"
_DIGEST = 12
_QUIETLY = ("--disable-pip-version-check", "--quiet", "install", "--no-compile")
"""What is never imported need not be compiled: some rivals bring thousands of modules."""


@dataclass(frozen=True, slots=True)
class About:
    """The description of a rival, from its ``about.json``."""

    name: str
    what: str
    url: str
    vectors: bool


def rivals(folders: list[Path], parents: list[Path]) -> list[Path]:
    """Return the folders of rivals: those given and those inside given folders, sorted by name."""
    rivals = list(folders)
    for parent in parents:
        if not parent.is_dir():
            raise ParamError("rivals", str(parent), "must be a folder that holds folders of rivals")
        inside = sorted(folder for folder in parent.iterdir() if (folder / _ADAPTER).is_file())
        if not inside:
            raise ParamError("rivals", str(parent), f"holds no folder with {_ADAPTER}")
        rivals += inside
    for folder in folders:
        if not (folder / _ADAPTER).is_file():
            raise ParamError("rival", str(folder), f"must be a folder with {_ADAPTER}")
    return rivals


def about(folder: Path) -> About:
    """Read ``about.json``."""
    path = folder / _ABOUT
    try:
        manifest = json.loads(path.read_text("utf-8"))
        return About(
            str(manifest["name"]), str(manifest["what"]), str(manifest["url"]), bool(manifest["vectors"])
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{path} must be JSON with name, what, url and vectors: {error!r}") from error


def environment(folder: Path, cache: Path, params: BenchParams = BENCH) -> Path:
    """Return the Python of a rival's environment, which is created in ``cache`` at first use."""
    try:
        requirements = (folder / _REQUIREMENTS).read_bytes()
    except OSError as error:
        raise BenchError(f"{folder.name} needs a {_REQUIREMENTS}: {error.strerror}") from error
    digest = hashlib.sha256(requirements + sys.version.encode()).hexdigest()[:_DIGEST]
    home = cache.absolute() / f"{folder.name}-{digest}"
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if (home / _READY).is_file():
        return python
    shutil.rmtree(home, ignore_errors=True)
    lines = [
        line for line in requirements.decode("utf-8").splitlines() if line.strip() and line.strip()[0] != "#"
    ]
    pip = find_spec("pip") is not None
    bare = ["--without-pip"] if pip or not lines else []
    _install(folder.name, [sys.executable, "-m", "venv", *bare, str(home)], params)
    if lines:
        with_pip = (
            [sys.executable, "-m", "pip", "--python", str(python)] if pip else [str(python), "-m", "pip"]
        )
        _install(folder.name, [*with_pip, *_QUIETLY, "-r", str(folder / _REQUIREMENTS)], params)
    (home / _READY).touch()
    return python


def _install(name: str, command: list[str], params: BenchParams) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=params.install_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchError(f"{name} could not be installed within {params.install_seconds:g} seconds") from None
    if done.returncode:
        raise BenchError(
            f"{name} could not be installed: {tail(done.stderr or done.stdout, params.tail_lines)}"
        )


class Rival:
    """A rival behind a pipe, started by ``begin``. It may time its own searches."""

    def __init__(self, folder: Path, cache: Path, params: BenchParams = BENCH) -> None:
        self.folder, self.cache, self.params = folder, cache, params
        manifest = about(folder)
        self.name, self.what, self.vectors = manifest.name, manifest.what, manifest.vectors
        self.versions: Mapping[str, str] = {}
        self._process: Process | None = None

    def begin(self) -> None:
        """Create the environment, start the process and ask for its versions."""
        python = environment(self.folder, self.cache, self.params)
        self._process = Process(
            [str(python), str((self.folder / _ADAPTER).absolute())], self.name, self.params
        )
        versions = self._process.ask({"op": "hello"}, self.params.hello_seconds).get("versions")
        self.versions = {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {}

    def load(self, part: BenchPart, vectors: Vectors) -> None:
        """Send a part, with the vectors as a file."""
        process = self._running()
        path = None
        if self.vectors:
            path = str(process.folder / "vectors.npy")
            np.save(path, np.asarray(vectors, np.float32))
        memories = [_handed(item) for item in part.items]
        process.ask({"op": "load", "memories": memories, "vectors": path}, self.params.load_seconds)

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:
        """Ask the rival for keys."""
        request = {
            "op": "search",
            "text": text,
            "vector": [float(item) for item in vector] if self.vectors else None,
            "limit": limit,
        }
        began = time.perf_counter()
        reply = self._running().ask(request, self.params.search_seconds)
        outside = (time.perf_counter() - began) * 1000.0
        keys, scores, own = reply.get("keys"), reply.get("scores"), reply.get("ms")
        if not isinstance(keys, list) or not all(isinstance(item, str) for item in keys):
            raise BenchError(f"{self.name} answered a search without a list of keys")
        return SearchResult(
            keys, _number(own, outside), scores if isinstance(scores, list) and _numbers(scores) else None
        )

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _running(self) -> Process:
        assert self._process is not None, "begin comes first"
        return self._process


def _numbers(values: list[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _number(value: Any, otherwise: float) -> float:
    return float(value) if value is not None and _numbers([value]) else otherwise


def _handed(item: BenchItem) -> dict[str, str | None]:
    at = item.occurred_at
    return {
        "key": item.key,
        "text": item.text,
        "heading": item.title,
        "session": item.session,
        "occurred_at": None if at is None else at.isoformat(),
    }


_CHUNK = 1 << 16
_LOOK = 1.0
"""Seconds between two looks at whether a process has ended."""
_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[^\s/'\"]+/)+")
"""The folders of a path that begins at the root: they are of one machine."""
_OUR_PACKAGES = ("PYTHONPATH", "PYTHONHOME")
"""Variables that would lead another environment to the packages of this one."""


def tail(text: str, lines: int) -> str:
    """Return the end of an output as one line, with file names but without their folders.

    >>> tail(chr(10).join(["Traceback", "  File /home/ada/x.py, line 3", "KeyError: 7"]), 2)
    'File …/x.py, line 3 | KeyError: 7'
    """
    written = [_FOLDERS.sub("…/", line.strip()) for line in text.splitlines() if line.strip()]
    return " | ".join(written[-lines:]) or "nothing"


class Process:
    """A running adapter in a temporary working folder."""

    def __init__(self, command: Sequence[str], name: str, params: BenchParams) -> None:
        self.name, self.params = name, params
        self._home = tempfile.TemporaryDirectory(prefix="priming-bench-", ignore_cleanup_errors=True)
        self.folder = Path(self._home.name)
        self._stderr = self.folder / ".stderr"
        self._end, theirs = socket.socketpair()
        with theirs, self._stderr.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={name: value for name, value in os.environ.items() if name not in _OUR_PACKAGES},
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=errors,
                start_new_session=True,
            )
        self._end.setblocking(False)
        self._unread = b""

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a line and read the answer; ``BenchError`` if none comes."""
        op = message["op"]
        if unasked := self._exchange(b"", 0.0):
            raise self._failed(f"spoke before {op} was asked: {self._quoted(unasked)}")
        line = self._exchange(json.dumps(message).encode() + b"\n", seconds)
        if line is None:
            raise self._failed(f"gave no answer to {op} within {seconds:g} seconds")
        if not line:
            raise self._failed(f"ended at {op} with status {self._status()}")
        return self._read(line, op)

    def _exchange(self, message: bytes, seconds: float) -> bytes | None:
        """Send a message and return the next line: empty if the process has ended, None if none comes in time.

        A process that never reads is noticed, and so is the end of one that left a child with its output behind.
        """
        left, deadline = memoryview(message), time.monotonic() + seconds
        with suppress(OSError):  # it ended
            while b"\n" not in self._unread:
                has_ended = self._process.poll() is not None
                patience = max(0.0, min(_LOOK, deadline - time.monotonic()))
                writing = [self._end] if left else []
                readable, writable, _ = select.select([self._end], writing, [], patience)
                if readable:
                    if not (data := self._end.recv(_CHUNK)):
                        return b""
                    self._unread += data
                elif writable:
                    left = left[self._end.send(left[:_CHUNK]) :]
                elif has_ended:
                    return b""
                elif time.monotonic() >= deadline:
                    return None
            line, _, self._unread = self._unread.partition(b"\n")
            return line + b"\n"
        return b""

    def end(self) -> None:
        """Ask the process to close, then end it and its children, by the id of its process group."""
        with suppress(OSError):
            self._end.send(b'{"op": "close"}\n')
        self._status()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._end.close()
        self._home.cleanup()

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
