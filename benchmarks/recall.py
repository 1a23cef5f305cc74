"""Recall against plain hybrid search in the same process, and where each millisecond of it goes.

Recall is the default profile, from the cue to ten packed hits with the trace kept. It has two peers, and the three
take turns; all split the cue into the same terms and embed it with the same model.

* Plain hybrid search in this library: the same recall with every term off but BM25 and cosine, and nothing spread.
  It serves the same: whole records out of the same file, filters, a packed text, a trace. What recall takes beyond
  it is what association costs.
* The bare arithmetic of hybrid search: BM25 whose weights were worked out when the index was made, the cosine of
  all vectors in one product of single precision, the two brought to [0, 1] and added by halves, the ten best, and
  their texts read by key from SQLite. Nothing else is served.

What is counted is processor time: on a busy machine the longer of two is stopped more often, and would look
longer still.
"""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import corpus
from common import Row, arguments, show, write
from priming import Memory
from priming.core import lexical
from priming.embedding.wordllama import StaticEmbedder
from priming.recall import ranking, recall, traces
from priming.recall.candidates import TERMS
from priming.recall.evidence import Evidence
from priming.recall.ranking import RankingQuery
from priming.recall.recall import Stopwatch
from priming.storage.sqlite.store import SqliteStore
from priming.text import tokens
from priming_lab import plots

HITS = 10
PLAIN = ("words", "meaning")
"""The terms of plain hybrid search."""
MOST = 3.0
"""How many times as long as plain hybrid search recall may take at 10,000 memories."""
GROWTH = 4.0
"""How many times as long it may take for ten times as many memories."""
Times = dict[str, list[float]]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--plots", type=Path, help="draw the figure into this folder, as SVG")
    options = parser.parse_args()
    sizes, cues = ((1_000, 10_000), 60) if options.quick else ((1_000, 10_000, 100_000), 300)
    taken = {size: measured(size, cues) for size in sizes}
    rows = [row for size, times in taken.items() for row in against(size, times)]
    for small, large in pairwise(sizes):
        ours, peer = (statistics.median(taken[size]["recall"]) for size in (large, small))
        rows.append(
            Row(f"recall, {small:,} → {large:,} memories", ours, peer, GROWTH, f"{small:,}", growth=True)
        )
    show("Recall and plain hybrid search", rows)
    for size, times in taken.items():
        rows += parts(size, times)
    show("Where it goes", rows[3 * len(sizes) - 1 :])
    milliseconds = {str(size): summary(times) for size, times in taken.items()}
    print(write("recall", rows, packages=("wordllama",), quick=options.quick, milliseconds=milliseconds))
    if options.plots is not None:
        print(*plots.save_figures({"latency-by-size.svg": drawn(taken)}, options.plots))


def drawn(taken: Mapping[int, Times]) -> bytes:
    """Recall and its peers as the store grows."""
    titles = {"recall": "priming", "plain": "plain hybrid", "bare": "its bare arithmetic"}
    curves = [
        plots.Curve(title, [(float(size), statistics.median(times[name])) for size, times in taken.items()])
        for name, title in titles.items()
    ]
    return plots.latency(curves, "a search as the store grows")


def against(size: int, times: Times) -> list[Row]:
    """Recall and its two peers, by their medians."""
    ours, plain, bare = (statistics.median(times[name]) for name in ("recall", "plain", "bare"))
    target = MOST if size == 10_000 else None
    what = f"recall of {size:,} memories"
    return [
        Row(what, ours, plain, target, "plain hybrid search in this library", growth=True),
        Row(what, ours, bare, None, "the bare arithmetic of hybrid search", growth=True),
    ]


def parts(size: int, times: Times) -> list[Row]:
    """Each step by its median, and its 99th percentile beside it in place of a peer."""
    return [
        Row(f"{size:,}: {name}", one["median"], one["p99"], None, "99th percentile")
        for name, one in summary(times).items()
    ]


def summary(times: Times) -> dict[str, dict[str, float]]:
    """Median and 99th percentile of each, in milliseconds."""
    return {
        name: {"median": float(np.median(values)), "p99": float(np.quantile(values, 0.99))}
        for name, values in times.items()
    }


def measured(size: int, count: int) -> Times:
    """Milliseconds of each cue: recall, hybrid search, and the steps of a recall that is watched."""
    items, asked = corpus.memories(size), corpus.questions(count + HITS)
    with tempfile.TemporaryDirectory() as folder:
        bare = Bare([item["content"] for item in items], Path(folder) / "bare.db")
        url = f"sqlite:///{folder}/memory.db"
        with Memory.open(url) as memory:
            memory.remember_many(items)
        with Memory.open(url) as memory:
            for cue in asked[:HITS]:
                memory.recall(cue, limit=HITS), bare.search(cue)
            return _turns(memory, bare, asked[HITS:])


def _turns(memory: Memory, bare: Bare, cues: Sequence[str]) -> Times:
    ask = partial(memory.recall, limit=HITS)
    peers = {
        "recall": ask,
        "plain": partial(ask, spread=False, ablate=[term for term in TERMS if term not in PLAIN]),
        "bare": bare.search,
    }
    times: Times = {name: [] for name in peers}
    for cue in cues:
        for name, run in peers.items():
            times[name].append(_taken(run, cue))
    for cue in cues:
        laps: dict[str, float] = defaultdict(float)
        with watched(laps):
            answer = memory.recall(cue, limit=HITS)
        for name, value in {**answer.timings, **laps}.items():
            times.setdefault(name, []).append(value)
    return times


def _taken(run: Callable[[str], Any], cue: str) -> float:
    began = time.process_time()
    run(cue)
    return (time.process_time() - began) * 1000


@dataclass(slots=True)
class Spent(Stopwatch):
    """A stopwatch of processor time."""

    _began: float = field(default_factory=time.process_time)

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.process_time()
        self.laps[name] = (now - self._began) * 1000
        self._began = now


INSIDE: Mapping[str, tuple[Any, str]] = {
    "rank: spread": (ranking, "spread"),
    "trace: pack routes": (traces, "encode_flow"),
    "trace: write": (SqliteStore, "add_trace"),
}
"""The steps inside a lap, and where each is looked up."""
EVIDENCE = (
    *("terms", "query", "near", "postings", "words", "background", "meaning"),
    *("candidates", "figures", "covered", "covered_by_session", "outdated"),
)


@contextmanager
def watched(laps: dict[str, float]) -> Iterator[None]:
    """Time the steps inside the laps of a recall. What a step asks of another counts for that other one alone."""
    under_way = [0.0]

    def timed(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*args: Any, **more: Any) -> Any:
            began = time.process_time()
            under_way.append(0.0)
            try:
                return run(*args, **more)
            finally:
                whole = (time.process_time() - began) * 1000
                laps[name] += whole - under_way.pop()
                under_way[-1] += whole

        return watching

    places: list[tuple[Any, str, str]] = [(_owner(name), name, f"evidence: {name}") for name in EVIDENCE]
    places.append((RankingQuery, "graph", "rank: graph"))
    places += [(place, name, shown) for shown, (place, name) in INSIDE.items()]
    kept: list[tuple[Any, str, Any]] = [(place, name, vars(place)[name]) for place, name, _ in places]
    kept.append((recall, "Stopwatch", Stopwatch))
    recall.Stopwatch = Spent  # type: ignore[misc]
    for place, name, shown in places:
        before = vars(place)[name]
        if isinstance(before, cached_property):
            after: Any = cached_property(timed(shown, before.func))
            after.__set_name__(place, name)
        else:
            after = timed(shown, before)
        setattr(place, name, after)
    try:
        yield
    finally:
        for place, name, before in kept:
            setattr(place, name, before)


def _owner(name: str) -> type:
    """The class that computes a part of the evidence."""
    return next(one for one in Evidence.__mro__ if name in vars(one))


@dataclass(frozen=True, slots=True)
class Listed:
    """Where a term stands, and what it is worth there."""

    rows: NDArray[np.int64]
    worth: NDArray[np.float64]


class Bare:
    """The arithmetic of hybrid search: everything that does not depend on the cue is worked out beforehand."""

    def __init__(self, texts: Sequence[str], path: Path) -> None:
        self.embedder = StaticEmbedder()
        self.vectors = np.concatenate(
            [self.embedder.embed(texts[i : i + 500]) for i in range(0, len(texts), 500)]
        )
        self.index = _index([tokens.terms(text) for text in texts])
        self.sqlite = sqlite3.connect(path, isolation_level=None)
        self.sqlite.execute("CREATE TABLE texts (number INTEGER PRIMARY KEY, content TEXT)")
        self.sqlite.execute("BEGIN")
        self.sqlite.executemany("INSERT INTO texts VALUES (?, ?)", enumerate(texts))
        self.sqlite.execute("COMMIT")

    def search(self, cue: str) -> list[str]:
        """The texts of the ten best."""
        words = np.zeros(len(self.vectors))
        for term in dict.fromkeys(tokens.terms(cue)):
            if (found := self.index.get(term)) is not None:
                words[found.rows] += found.worth
        near = self.vectors @ self.embedder.embed([cue])[0]
        score = lexical.minmax(words) / 2 + lexical.minmax(near) / 2
        best = np.argpartition(-score, HITS)[:HITS]
        best = best[np.argsort(-score[best], kind="stable")]
        marks = ",".join("?" * HITS)
        sql = f"SELECT number, content FROM texts WHERE number IN ({marks})"
        read = dict(self.sqlite.execute(sql, best.tolist()).fetchall())
        return [read[row] for row in best.tolist()]


def _index(texts: Sequence[Sequence[str]]) -> dict[str, Listed]:
    held: dict[str, list[tuple[int, int]]] = {}
    for row, words in enumerate(texts):
        for term, count in Counter(words).items():
            held.setdefault(term, []).append((row, count))
    length = np.array([len(words) for words in texts], np.float64)
    mean = max(float(length.mean()), 1.0)
    made = {}
    for term, found in held.items():
        rows, tf = np.array(found, np.int64).T
        worth = lexical.bm25(tf.astype(np.float64), len(rows), len(texts), length[rows], mean)
        made[term] = Listed(rows, np.asarray(worth))
    return made


if __name__ == "__main__":
    main()
