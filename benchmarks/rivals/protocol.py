"""What every adapter of a rival shares: the loop that speaks JSON lines, and vectors by text.

An adapter imports this before the library that it drives::

    sys.path.insert(0, str(Path(__file__).parents[1]))
    import protocol

    protocol.isolate(SOME_TELEMETRY="false")
    import the_library

    def load(memories, vectors): ...            # a new store of these memories; returns it
    def search(store, text, vector, limit): ... # keys, best first

    protocol.serve(load, search, versions=["the-library"])

Standard library and numpy only, since it runs in the environment of each rival.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

# One thread each, before numpy is imported: rivals are compared on one core, whatever the machine has.
for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
):
    os.environ[_name] = "1"

import numpy as np


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing to remember, as the harness hands it over."""

    key: str
    text: str
    heading: str | None = None
    session: str | None = None
    occurred_at: str | None = None

    @property
    def indexed(self) -> str:
        """The text to index: with its heading in front, as the harness's vectors were made."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


class Known:
    """An embedding function for systems that take no vectors: it knows those of the harness, by text.

    A text that it was never told is an error, so that a system which embeds something else than was meant is noticed.
    With ``near``, for systems that embed names out of a text, it gets the mean of the known texts that contain it.
    """

    def __init__(self, texts: Sequence[str], vectors: np.ndarray | None, near: bool = False) -> None:
        if vectors is None:
            raise ValueError("vectors None must be rows: this rival needs an embedder in the harness")
        self._rows = {text.strip(): row for text, row in zip(texts, vectors, strict=True)}
        self._mean = unit(vectors.mean(axis=0))
        self._near = near
        self._lower = [(text.lower(), row) for text, row in self._rows.items()] if near else []

    @property
    def dimension(self) -> int:
        """The number of columns of a vector."""
        return len(self._mean)

    def tell(self, text: str, vector: np.ndarray) -> None:
        """Learn one more text: that of a cue."""
        self._rows[text.strip()] = vector

    def one(self, text: str) -> np.ndarray:
        """The vector of a text."""
        text = text.strip()  # some systems trim what they are given
        found = self._rows.get(text)
        if found is None:
            if not self._near:
                raise LookupError(f"no vector was handed over for {text!r}")
            found = self._rows[text] = self._around(text)
        return found

    def many(self, texts: Iterable[str]) -> np.ndarray:
        """The vectors of texts, as rows."""
        return np.stack([self.one(text) for text in texts]).astype(np.float32)

    def _around(self, text: str) -> np.ndarray:
        part = text.lower()
        rows = [row for whole, row in self._lower if part in whole]
        return unit(np.mean(rows, axis=0)) if rows else self._mean


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector at length one; a zero vector stays as it is."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def best(scores: np.ndarray, limit: int) -> np.ndarray:
    """The rows of the highest scores, ties in the order of insertion."""
    return np.argsort(-np.asarray(scores), kind="stable")[:limit]


def isolate(**settings: str) -> None:
    """Keep a library's files inside the working folder, keep it off the network, and switch telemetry off."""
    here = os.getcwd()
    for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        os.environ[name] = here
    os.environ.update({"DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
    os.environ.update(settings)


def sqlite_with_extensions() -> None:
    """Where Python's sqlite3 was built without loadable extensions, put pysqlite3 in its place."""
    import sqlite3

    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        import pysqlite3

        sys.modules["sqlite3"] = pysqlite3
        sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2


def folder() -> Path:
    """A new, empty folder for one store, inside the working folder."""
    return Path(tempfile.mkdtemp(prefix="store-", dir=Path.cwd()))


def serve(
    load: Callable[[list[Memory], np.ndarray | None], Any],
    search: Callable[[Any, str, np.ndarray | None, int], Sequence[str]],
    versions: Sequence[str],
) -> None:
    """Answer the harness until it says close. What the library prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    store = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["op"] == "close":
            break
        try:
            if asked["op"] == "load":
                store = None  # the former store goes before the next one comes
                store, answer = load(*_handed(asked)), {}
            else:
                answer = _answer(asked, store, search, versions)
            answer = {"ok": True, **answer}
        except Exception as error:  # noqa: BLE001 - the loop's top: every error is the rival's answer
            traceback.print_exc()
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
    out.flush()
    os._exit(0)  # threads that a library left behind keep nobody waiting


def _handed(asked: dict[str, Any]) -> tuple[list[Memory], np.ndarray | None]:
    memories = [Memory(**{name: row.get(name) for name in Memory.__slots__}) for row in asked["memories"]]
    return memories, np.load(asked["vectors"]) if asked.get("vectors") else None


def _answer(asked: dict[str, Any], store: Any, search: Callable, versions: Sequence[str]) -> dict[str, Any]:
    if asked["op"] == "hello":
        return {"versions": {name: metadata.version(name) for name in versions}}
    if asked["op"] != "search":
        raise ValueError(f"op {asked['op']!r} must be hello, load, search or close")
    vector = None if asked.get("vector") is None else np.asarray(asked["vector"], dtype=np.float32)
    limit = int(asked["limit"])
    began = time.perf_counter()
    keys = list(search(store, asked["text"], vector, limit))[:limit]
    return {"keys": keys, "ms": 1000 * (time.perf_counter() - began)}
