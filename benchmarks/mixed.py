"""What does it cost to keep unlike material in one namespace? Each set alone, and all of them together.

    python benchmarks/mixed.py --data FOLDER --genres FOLDER [FOLDER ...]

Dialogues (LoCoMo, all of them in one namespace), encyclopaedia passages (HotpotQA and MuSiQue together) and each
folder in the genre format is a set: first with a namespace to itself, then beside all others. The same questions are
asked both times, at the same time of the clock. ``--without TERM`` also asks the mixed store without that term.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from common import RESULTS, given, machine, of_sets, versions
from priming.embedding.registry import named
from priming.learning.replay import reciprocal_rank
from priming.memory import Memory
from priming.transfer.reading import label as key_of
from priming.types import FixedClock
from priming_lab import sets
from priming_lab.genre import load_genre
from priming_lab.metrics import paired_difference, recall_at
from priming_lab.sets import BenchItem, BenchQuery, BenchSet

HITS, K = 20, 10
QUESTIONS = 250
"""So many questions of a set are asked, evenly spaced."""
FEW = 20
MOST_LOST = 0.02
"""What a set may lose of R@10."""
_STILL = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Material:
    """A set whose parts share a namespace: keys, labels and sessions name their part."""

    name: str
    items: Sequence[BenchItem]
    queries: Sequence[BenchQuery]


@dataclass(frozen=True, slots=True)
class Places:
    """What one question found."""

    recall: float
    first: float
    precision: float
    """The share of its first hits that are gold."""
    foreign: float
    """The share of them that are of another set."""


def material(name: str, of: Sequence[BenchSet], count: int) -> Material:
    """Sets as one material, with so many questions; questions that have no answer are left out."""
    items, queries = list[BenchItem](), list[BenchQuery]()
    for one in of:
        parts = [
            replace(part, queries=tuple(q for q in part.queries if q.category != one.unanswerable))
            for part in one.parts
        ]
        for part in replace(one, parts=tuple(parts)).first(count // len(of)).parts:
            queries += [
                replace(q, gold=frozenset(f"{name}:{part.name}:{g}" for g in q.gold)) for q in part.queries
            ]
        items += [_of_part(name, part.name, item) for part in parts for item in part.items]
    return Material(name, items, queries)


def _of_part(name: str, part: str, item: BenchItem) -> BenchItem:
    session = None if item.session is None else f"{name} {part} {item.session}"
    place = f"{name}:{part}:"
    return replace(item, key=key_of(f"{place}{item.key}"), label=f"{place}{item.label}", session=session)


def materials(options: argparse.Namespace) -> list[Material]:
    """Dialogue, passages, and each genre."""
    count = FEW if options.quick else options.questions
    passages = [sets.load(name, options.data) for name in ("hotpot", "musique")]
    genres = [load_genre(folder) for folder in options.genres]
    return [
        material("dialogues", [sets.load("locomo", options.data)], count),
        material("passages", passages, count),
        *(material(genre.name, [genre], count) for genre in genres),
    ]


def asked(memory: Memory, one: Material, ablate: Sequence[str] = ()) -> list[Places]:
    """What each question of a material finds in a store."""
    labels = {item.key: item.label for item in one.items}
    found = []
    for query in one.queries:
        keys = [hit.memory.key for hit in memory.recall(query.text, limit=HITS, ablate=ablate).hits]
        ranked = [labels.get(key, "") for key in keys]
        foreign = sum(not label for label in ranked[:K]) / max(1, len(ranked[:K]))
        right = sum(label in query.gold for label in ranked[:K]) / max(1, len(ranked[:K]))
        places = recall_at(query.gold, ranked, K), reciprocal_rank(query.gold, ranked), right, foreign
        found.append(Places(*places))
    return found


def stored(of: Sequence[Material], at: datetime, embedder: Any) -> Memory:
    """A namespace with these materials."""
    memory = Memory.open("sqlite://", profile="priming", embedder=embedder, clock=FixedClock(at))
    for one in of:
        memory.remember_many([item.arguments() for item in one.items])
    return memory


def compared(of: Sequence[Material], without: Sequence[str]) -> Iterator[dict[str, Any]]:
    """For each material: its figures alone, and what changes beside the others."""
    embedder = named("wordllama")
    times = [item.occurred_at for item in chain.from_iterable(one.items for one in of) if item.occurred_at]
    at = max(times, default=_STILL) + timedelta(days=1)
    alone = {}
    for one in track(of, "alone"):
        with stored([one], at, embedder) as memory:
            alone[one.name] = asked(memory, one)
    with stored(of, at, embedder) as memory:
        for one in track(of, "together"):
            yield figures(one, alone[one.name], asked(memory, one))
            for term in without:
                changed = figures(one, alone[one.name], asked(memory, one, [term]))
                yield changed | {"set": f"{one.name}, without {term}"}


def figures(one: Material, alone: Sequence[Places], beside: Sequence[Places]) -> dict[str, Any]:
    """R@10, MRR and precision of a set alone, and their paired differences beside the others."""
    row: dict[str, Any] = {"set": one.name, "memories": len(one.items), "questions": len(one.queries)}
    for name, field in (("recall_at_10", "recall"), ("mrr", "first"), ("precision", "precision")):
        before, after = ([getattr(places, field) for places in some] for some in (alone, beside))
        change = paired_difference(after, before, np.random.default_rng(len(before)))
        row |= {name: float(np.mean(before)), f"{name}_change": [change.mean, change.low, change.high]}
    return row | {"foreign": float(np.mean([places.foreign for places in beside]))}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one table, in points."""
    table = Table(title="each set beside the others in one namespace")
    for name in (
        "set",
        "memories",
        "questions",
        "R@10 alone",
        "change",
        "95 %",
        "MRR change",
        "precision",
        "change",
        "foreign in 10",
    ):
        table.add_column(name)
    for row in rows:
        change, first = row["recall_at_10_change"], row["mrr_change"]
        colour = "green" if change[0] >= -MOST_LOST else "red"
        table.add_row(
            row["set"],
            f"{row['memories']:,}",
            str(row["questions"]),
            f"{100 * row['recall_at_10']:.1f}",
            f"[{colour}]{100 * change[0]:+.1f}[/]",
            f"{100 * change[1]:+.1f} … {100 * change[2]:+.1f}",
            f"{100 * first[0]:+.1f}",
            f"{100 * row['precision']:.1f}",
            f"{100 * row['precision_change'][0]:+.1f}",
            f"{K * row['foreign']:.1f}",
        )
    Console().print(table)


def main() -> None:
    parser = of_sets((__doc__ or "").splitlines()[0])
    parser.add_argument("--genres", type=Path, nargs="*", default=(), help="folders in the genre format")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="questions of each set")
    parser.add_argument("--without", nargs="*", default=(), help="terms of recall to leave out in turn")
    options = given(parser)
    rows = list(compared(materials(options), options.without))
    show(rows)
    if not options.quick and not options.without:
        RESULTS.mkdir(exist_ok=True)
        content = {"benchmark": "mixed", "sets": rows, "versions": versions(), "machine": machine()}
        (RESULTS / "mixed.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
