"""remember, remember_many, recall as the store grows, and a cold shell: each against the least that it could be."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import corpus
from common import Row, arguments, median_of, medians, show, write
from priming import Memory
from priming.embedding.wordllama import StaticEmbedder
from priming.operations.client import reach

SHELL = Path(sys.executable).with_name("priming")


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sizes = (1_000, 10_000) if options.quick else (10_000, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = [remember_one(place, 300), remember_bulk(place, sizes[-1])]
        by_size = {size: recall_at(place, size, 200) for size in sizes}
        rows.append(
            Row(
                f"recall, {sizes[0]:,} → {sizes[-1]:,} memories",
                by_size[sizes[-1]],
                by_size[sizes[0]],
                4,
                f"{sizes[0]:,} memories",
                growth=True,
            )
        )
        rows.extend(cold_shell(place / f"{sizes[0]}.db"))
    show("Remember and recall", rows)
    path = write("memory", rows, packages=("wordllama",), quick=options.quick, recall_milliseconds=by_size)
    print(path)


class Bare:
    """The least that remembering could be: a row, a vector and a full-text row, committed in WAL mode."""

    def __init__(self, path: Path) -> None:
        self.sqlite = sqlite3.connect(path, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = NORMAL",
            "CREATE TABLE memory (number INTEGER PRIMARY KEY, id TEXT, content TEXT, at TEXT)",
            "CREATE TABLE vector (number INTEGER PRIMARY KEY, vector BLOB)",
            "CREATE VIRTUAL TABLE words USING fts5 (content)",
        ):
            self.sqlite.execute(statement)

    def insert(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        """Three rows a text, in one transaction."""
        self.sqlite.execute("BEGIN IMMEDIATE")
        first = self.sqlite.execute("SELECT coalesce(max(number), 0) + 1 FROM memory").fetchone()[0]
        numbered = list(enumerate(texts, first))
        at = "2026-01-01T00:00:00+00:00"
        self.sqlite.executemany(
            "INSERT INTO memory VALUES (?, ?, ?, ?)",
            [(n, str(uuid.uuid4()), text, at) for n, text in numbered],
        )
        self.sqlite.executemany(
            "INSERT INTO vector VALUES (?, ?)",
            [(n, vector.tobytes()) for (n, _), vector in zip(numbered, vectors, strict=True)],
        )
        self.sqlite.executemany("INSERT INTO words (rowid, content) VALUES (?, ?)", numbered)
        self.sqlite.execute("COMMIT")


def remember_one(place: Path, count: int) -> Row:
    """One memory at a time into a store of a thousand, in turns with the bare insert of the same texts."""
    embedder = StaticEmbedder()
    bare = Bare(place / "bare-one.db")
    items = corpus.memories(1_000 + count)
    with Memory.open(f"sqlite:///{place}/one.db", embedder=embedder) as memory:
        memory.remember_many(items[:1_000])
        bare.insert([item["content"] for item in items[:1_000]], np.zeros((1_000, 256), np.float32))
        taken = medians(
            {
                "ours": lambda item: memory.remember(**item),
                "bare": lambda item: bare.insert([item["content"]], embedder.embed([item["content"]])),
            },
            items[1_000:],
            warm_up=0,
        )
    return Row(
        "remember, one at a time", taken["ours"], taken["bare"], 10, "embedding + bare insert", growth=True
    )


def remember_bulk(place: Path, count: int) -> Row:
    """Many memories at once, one run each, after the embedder is warm."""
    embedder = StaticEmbedder()
    embedder.embed(["warm"])
    items = corpus.memories(count)
    bare = Bare(place / "bare-many.db")
    began = time.perf_counter()
    for first in range(0, count, 500):
        texts = [item["content"] for item in items[first : first + 500]]
        bare.insert(texts, embedder.embed(texts))
    least = time.perf_counter() - began
    began = time.perf_counter()
    with Memory.open(f"sqlite:///{place}/{count}.db", embedder=embedder) as memory:
        memory.remember_many(items)
        ours = time.perf_counter() - began
    what = f"remember_many, {count:,} memories"
    return Row(what, ours, least, 3, "embedding + bare batched inserts", growth=True, unit="s")


def recall_at(place: Path, count: int, questions: int) -> float:
    """Median milliseconds of a recall, warm, with trace and packed text."""
    path = place / f"{count}.db"
    with Memory.open(f"sqlite:///{path}") as memory:
        if not memory.stats().operations:
            memory.remember_many(corpus.memories(count))
        cues = corpus.questions(questions)
        return medians({"": lambda cue: memory.recall(cue, tokens=2_000)}, cues, warm_up=10)[""]


def cold_shell(path: Path) -> list[Row]:
    """The command line from nothing, on the file and by a running server, against importing numpy from nothing."""
    environment = {**os.environ, "PRIMING_URL": f"sqlite:///{path}"}

    def run(*command: str, **more: str) -> None:
        subprocess.run(command, env={**environment, **more}, check=True, stdout=subprocess.DEVNULL)

    def milliseconds(*command: str, **more: str) -> float:
        return median_of(lambda: run(*command, **more), times=11, warm_up=2)

    command, numpy = (str(SHELL), "recall", "how is a file closed"), (sys.executable, "-c", "import numpy")
    alone = milliseconds(*command, PRIMING_SERVER="off")
    with subprocess.Popen(
        [SHELL, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        while (client := reach(environment["PRIMING_URL"])) is None:
            time.sleep(0.05)
        client.close()
        served = milliseconds(*command)
        peer = milliseconds(*numpy)
        server.terminate()
    return [
        Row("priming recall from a cold shell", alone, peer, 4, "python -c 'import numpy'", growth=True),
        Row("… by a running server", served, peer, 1, "python -c 'import numpy'", growth=True),
    ]


if __name__ == "__main__":
    main()
