"""A rival as a contestant: a process of its own, in an environment of its own, that speaks JSON lines.

A rival is a folder with ``adapter.py``, ``requirements.txt`` and ``about.json``. What goes over the pipe stands in
``docs/bench.md``. Whatever goes wrong with one is a ``BenchError`` that names it and quotes what it last said.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from priming.bench.contestants import Found
from priming.bench.process import Process, tail
from priming.bench.sets import Item, Part
from priming.config.params.bench import BENCH, BenchParams
from priming.embed.protocol import Vectors
from priming.errors import BenchError, ParamError

_ADAPTER, _REQUIREMENTS, _ABOUT = "adapter.py", "requirements.txt", "about.json"
_READY = ".ready"
_DIGEST = 12
_QUIETLY = ("--disable-pip-version-check", "--quiet", "install", "--no-compile")
"""What is never imported need not be compiled: some rivals bring thousands of modules."""


@dataclass(frozen=True, slots=True)
class About:
    """What a rival says of itself."""

    name: str
    what: str
    url: str
    vectors: bool


def rivals(folders: list[Path], parents: list[Path]) -> list[Path]:
    """The folders of rivals: those named, and those in folders of them, in the order of their names."""
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
    """The Python of a rival's own environment, made at first need and kept in ``cache``."""
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
    """A rival behind a pipe. ``begin`` starts it; each search is timed by itself where it says so, else from here."""

    def __init__(self, folder: Path, cache: Path, params: BenchParams = BENCH) -> None:
        self.folder, self.cache, self.params = folder, cache, params
        manifest = about(folder)
        self.name, self.what, self.vectors = manifest.name, manifest.what, manifest.vectors
        self.versions: Mapping[str, str] = {}
        self._process: Process | None = None

    def begin(self) -> None:
        """Make the environment, start the process and ask what it is made of."""
        python = environment(self.folder, self.cache, self.params)
        self._process = Process(
            [str(python), str((self.folder / _ADAPTER).absolute())], self.name, self.params
        )
        versions = self._process.ask({"op": "hello"}, self.params.hello_seconds).get("versions")
        self.versions = {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {}

    def load(self, part: Part, vectors: Vectors) -> None:
        """Hand over a part; the vectors as a file."""
        process = self._running()
        path = None
        if self.vectors:
            path = str(process.folder / "vectors.npy")
            np.save(path, np.asarray(vectors, np.float32))
        memories = [_handed(item) for item in part.items]
        process.ask({"op": "load", "memories": memories, "vectors": path}, self.params.load_seconds)

    def search(self, text: str, vector: Vectors, limit: int) -> Found:
        """Ask for keys."""
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
        return Found(
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


def _handed(item: Item) -> dict[str, str | None]:
    at = item.occurred_at
    return {
        "key": item.key,
        "text": item.text,
        "heading": item.title,
        "session": item.session,
        "occurred_at": None if at is None else at.isoformat(),
    }
