"""Does learning pay? Judge half of the questions of each dialogue, then ask all of them again.

Each half is judged once, in a store of its own, so that every question is measured as judged and as unjudged. Two
ways to judge: by the gold turns (used: gold among the hits; not relevant: what is wrong among the first five), and by
plain reads (the first five count as used, whatever they are: what a memory does that learns from being read).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from common import RESULTS, given, machine, of_sets, versions
from priming.bench import sets
from priming.bench.contestants import Shelf
from priming.bench.sets import BenchPart, BenchQuery
from priming.embedding.registry import named
from priming.learning.metrics import PairedDifference, paired_difference, recall_at, reciprocal_rank
from priming.memory import Memory
from priming.results import Recall

HITS = 20
JUDGED = 5
"""So many of the first hits are told to be wrong, or count as read."""
K = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """One question before and after a half was judged, and how it stands to that half."""

    group: str
    before: float
    after: float
    first_before: float
    first_after: float


def by_gold(memory: Memory, found: Recall, query: BenchQuery) -> None:
    """What an agent that knows the answer says of a recall."""
    keys = [hit.memory.key for hit in found.hits]
    used = [key for key in keys if key in query.gold]
    wrong = [key for key in keys[:JUDGED] if key not in query.gold]
    if used or wrong:
        memory.feedback(found.recall_id, used=used, not_relevant=wrong)


def by_reading(memory: Memory, found: Recall, query: BenchQuery) -> None:  # noqa: ARG001
    """What a memory learns that takes every read for use."""
    if found.hits:
        memory.feedback(found.recall_id, used=[hit.memory.key for hit in found.hits[:JUDGED]])


WAYS: Mapping[str, Callable[[Memory, Recall, BenchQuery], None]] = {"gold": by_gold, "reads": by_reading}


def replay(
    part: BenchPart, judge: Callable[[Memory, Recall, BenchQuery], None], half: int, shelf: Shelf
) -> list[Asked]:
    """Judge every other question of a part, and measure all of them before and after."""
    queries = [query for query in part.queries if query.category != "5"]
    taught = queries[half::2]
    touched = frozenset(label for query in taught for label in query.gold)
    memory = shelf.memory(part)
    before = [_places(memory, query) for query in queries]
    for query in taught:
        judge(memory, memory.recall(query.text, limit=HITS), query)
    after = [_places(memory, query) for query in queries]
    shelf.close()
    return [
        Asked(_group(i % 2 == half, bool(query.gold & touched)), *was[:1], *now[:1], was[1], now[1])
        for i, (query, was, now) in enumerate(zip(queries, before, after, strict=True))
    ]


def _group(judged: bool, touched: bool) -> str:
    if judged:
        return "judged itself"
    return "not judged, same memories" if touched else "not judged, other memories"


def _places(memory: Memory, query: BenchQuery) -> tuple[float, float]:
    keys = [hit.memory.key for hit in memory.recall(query.text, limit=HITS).hits]
    return recall_at(query.gold, keys, K), reciprocal_rank(query.gold, keys)


def figures(asked: list[Asked]) -> Iterator[tuple[str, int, float, PairedDifference, PairedDifference]]:
    """For each group and for all that were not judged: how many, R@10 before, and what changed."""
    groups = ["judged itself", "not judged, same memories", "not judged, other memories", "not judged"]
    for group in groups:
        some = [one for one in asked if one.group.startswith(group)]
        if some:
            rng = np.random.default_rng(len(some))
            gained = paired_difference([one.after for one in some], [one.before for one in some], rng)
            earlier = paired_difference(
                [one.first_after for one in some], [one.first_before for one in some], rng
            )
            yield group, len(some), float(np.mean([one.before for one in some])), gained, earlier


def main() -> None:
    options = given(of_sets(__doc__.splitlines()[0]))
    loaded = sets.load("locomo", options.data)
    parts = loaded.parts[:1] if options.quick else loaded.parts
    shelf, results = Shelf("priming", named("wordllama")), {}
    for way, judge in WAYS.items():
        turns = [(part, half) for part in parts for half in (0, 1)]
        asked = [one for part, half in track(turns, way) for one in replay(part, judge, half, shelf)]
        results[way] = {group: _plain(*rest) for group, *rest in figures(asked)}
    show(results)
    _write(results, loaded.digest)


def _plain(n: int, before: float, gained: PairedDifference, earlier: PairedDifference) -> dict[str, Any]:
    return {
        "questions": n,
        "recall_at_10": before,
        "gained": [gained.mean, gained.low, gained.high],
        "mrr_gained": [earlier.mean, earlier.low, earlier.high],
    }


def show(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Print one table, in points."""
    table = Table(title="what judging half of the questions changes")
    for name in ("judged by", "questions", "n", "R@10 before", "change", "95 %", "MRR change", "95 % "):
        table.add_column(name)
    for way, groups in results.items():
        for group, one in groups.items():
            cells = [way, group, str(one["questions"]), f"{100 * one['recall_at_10']:.1f}"]
            for mean, low, high in (one["gained"], one["mrr_gained"]):
                cells += [f"{100 * mean:+.1f}", f"{100 * low:+.1f} … {100 * high:+.1f}"]
            table.add_row(*cells)
    Console().print(table)


def _write(results: Mapping[str, Any], digest: str) -> None:
    import json

    RESULTS.mkdir(exist_ok=True)
    content = {
        "benchmark": "learning",
        "ways": results,
        "data": digest,
        "versions": versions(),
        "machine": machine(),
    }
    (RESULTS / "learning.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
