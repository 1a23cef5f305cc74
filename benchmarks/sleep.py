"""A night: its deep stage against the clustering alone, and what each stage takes as the store grows.

Deep over all episodes is proposed, applied and undone, in turns with scikit-learn's HDBSCAN over the same vectors,
in the same batches, with the same settings; the undoing is not counted, and one turn before is not either. Then whole
nights with the default settings, stage after stage: what planning took and what writing took, each night undone.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.cluster import HDBSCAN

import corpus
from common import Row, arguments, show, write
from priming import FixedClock, Memory
from priming.config.params.laws import ClusterParams
from priming.config.params.limits import SLEEP
from priming.config.words import STAGES
from priming.embedding.wordllama import StaticEmbedder

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
NIGHT = BEGAN + timedelta(days=90)
PROCEDURES, TWICE = 100, 50
"""One procedure to so many episodes, and one episode in so many that is there twice."""
CUES, JUDGED, TIMES = 20, 30, 3
"""Questions of which the first two hits were used, memories that were no good, and how often each."""
TARGETS = {5_000: 2.0}
"""Where the whole stage is held against the clustering; of a few hundred episodes that is nothing to the rest."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage of a night took, in milliseconds, and how many items it had."""

    stage: str
    plan: float
    apply: float
    items: int

    @property
    def whole(self) -> float:
        """Planning and writing."""
        return self.plan + self.apply


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sizes = (500, 5_000) if options.quick else (500, 5_000, 50_000)
    rows: list[Row] = []
    nights: dict[int, list[Stage]] = {}
    for size in sizes:
        turns = turns_at(size, options)
        rows.append(deep(size, turns))
        nights[size] = night(size, turns)
    rows += growth(nights)
    show("Sleep", rows)
    show_nights(nights)
    stages = {str(size): [asdict(one) for one in some] for size, some in nights.items()}
    print(write("sleep", rows, packages=("scikit-learn", "wordllama"), quick=options.quick, stages=stages))


def turns_at(size: int, options: argparse.Namespace) -> int:
    """How often each is measured: less where once takes long."""
    return 3 if options.quick or size > 5_000 else 5


# ── deep against the clustering ──────────────────────────────────────────────────────────────────────────────


def deep(size: int, turns: int) -> Row:
    """The stage as it is slept, over a window of all episodes."""
    items = corpus.memories(size)
    embedder = StaticEmbedder()
    vectors = embedder.embed([item["content"] for item in items])
    ours, peer = [], []
    with Memory.open("sqlite://", embedder=embedder) as memory:
        memory.remember_many(items)
        for turn in range(turns + 1):
            taken = timed(lambda: clustering(vectors))
            one, operation = stage(memory, "deep", window=size)
            undo(memory, [operation])
            if turn:
                peer.append(taken)
                ours.append(one.whole)
    return Row(
        f"sleep, deep, {size:,} episodes",
        statistics.median(ours),
        statistics.median(peer),
        TARGETS.get(size),
        f"HDBSCAN alone, batches of ≤ {SLEEP.batch:,}",
        growth=True,
    )


def clustering(vectors: NDArray[Any]) -> None:
    """HDBSCAN over unit vectors, in as many equal batches as keep each within the limit."""
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    for batch in np.array_split(units, -(-len(units) // SLEEP.batch)):
        HDBSCAN(
            min_cluster_size=ClusterParams().min_cluster_size,
            min_samples=ClusterParams().min_samples,
            metric="cosine",
            algorithm="brute",
            cluster_selection_method="eom",
            copy=True,
        ).fit(batch)


# ── whole nights ────────────────────────────────────────────────────────────────────────────────────────────


def night(size: int, turns: int) -> list[Stage]:
    """Each stage after the one before it, with the default settings; medians over the same night again and again."""
    measured: list[list[Stage]] = []
    with lived(size) as memory:
        for _ in range(turns + 1):
            stages, operations = zip(*(stage(memory, name) for name in STAGES), strict=True)
            undo(memory, operations)
            measured.append(list(stages))
    return [
        Stage(
            some[0].stage,
            statistics.median(one.plan for one in some),
            statistics.median(one.apply for one in some),
            some[0].items,
        )
        for some in zip(*measured[1:], strict=True)
    ]


@contextmanager
def lived(size: int) -> Iterator[Memory]:
    """A memory with something to do for every stage: a bulk load, duplicates, procedures, verdicts, three months."""
    clock = FixedClock(BEGAN)
    items = corpus.memories(size)
    for i in range(TWICE, size, TWICE):
        items[i]["content"] = items[i - 1]["content"]
    with Memory.open("sqlite://", embedder=StaticEmbedder(), clock=clock) as memory:
        memory.remember_many(items)
        memory.remember_many(procedures(size // PROCEDURES))
        for cue in corpus.questions(CUES) * TIMES:
            recall = memory.recall(cue)
            memory.feedback(recall.recall_id, used=[hit.memory.key for hit in recall.hits[:2]])
        for i in range(JUDGED * TIMES):
            memory.feedback(not_useful=[f"m{i % JUDGED}"])
        clock.at = NIGHT
        yield memory


def procedures(count: int) -> list[dict[str, Any]]:
    """Each of three steps, which it shares with the one before it but for the last."""
    texts = [item["content"] for item in corpus.memories(3 * count, seed=13)]
    made = []
    for i in range(count):
        first = 3 * (i // 2)
        steps = (*texts[first : first + 2], texts[3 * (count - 1 - i)])
        text = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
        made.append({"content": text, "kind": "procedure", "key": f"p{i}"})
    return made


def stage(memory: Memory, name: str, *, window: int | None = None) -> tuple[Stage, str | None]:
    """Propose a stage and apply it, each timed; and the operation, if there was anything to do."""
    began = time.perf_counter()
    proposal = memory.sleep([name], dry_run=True, window=window)
    planned = time.perf_counter()
    operation = memory.apply(proposal).id if proposal.items else None
    written = time.perf_counter() if proposal.items else planned
    taken = Stage(name, (planned - began) * 1000, (written - planned) * 1000, len(proposal.items))
    return taken, operation


def undo(memory: Memory, operations: Sequence[str | None]) -> None:
    """Take operations back, the last first, and bring the working set up to that."""
    for one in reversed(operations):
        if one is not None:
            memory.undo(one)
    memory.recall(corpus.questions(1)[0])
    gc.collect()


def timed(run: Callable[[], None]) -> float:
    """Milliseconds of one run."""
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) * 1000


def growth(nights: dict[int, list[Stage]]) -> list[Row]:
    """Each stage, and the night, from the size before the last to the last: at most in proportion."""
    small, large = sorted(nights)[-2:]
    pairs = [(a.stage, b.whole, a.whole) for a, b in zip(nights[small], nights[large], strict=True)]
    pairs.append(("all stages", sum(b for _, b, _ in pairs), sum(a for _, _, a in pairs)))
    return [
        Row(
            f"a night, {name}, {small:,} → {large:,} episodes",
            ours,
            peer,
            large / small,
            f"{small:,} episodes",
            growth=True,
        )
        for name, ours, peer in pairs
    ]


def show_nights(nights: dict[int, list[Stage]]) -> None:
    """Where the time of a night goes: planning + writing, in milliseconds, and how many items."""
    table = Table(title="A night with the default settings: planning + writing in ms (items)")
    table.add_column("stage")
    for size in nights:
        table.add_column(f"{size:,} episodes", justify="right")
    for some in zip(*nights.values(), strict=True):
        cells = (f"{one.plan:,.1f} + {one.apply:,.1f} ({one.items:,})" for one in some)
        table.add_row(some[0].stage, *cells)
    table.add_row("all", *(f"{sum(one.whole for one in some):,.1f}" for some in nights.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
