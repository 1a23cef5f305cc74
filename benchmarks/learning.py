"""Does learning pay? Judge half of the questions of each store, then ask all of them again.

Each half is judged once, in a store of its own, so that every question is measured as judged and as unjudged. Ways to
judge dialogues: by the gold turns (used: gold among the hits; not relevant: what is wrong among the first five); by
plain reads (the first five count as used, whatever they are: what a memory does that learns from being read); and
wrongly (a hundred hits drawn by lot, whatever they are, in turn used and not relevant).

Chats in the genre format (``--chats``) are judged by gold as well.

Release notes (``--histories``, folders with ``documents.jsonl`` and ``questions.jsonl``) seldom ask twice for a
commit. So each note is asked in other words: half of its words, drawn by lot, are judged by gold; then another draw
of half of them is asked (about half of which were judged), and the half that was left out.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
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
from priming.results import Recall
from priming_lab import sets
from priming_lab.contestants import Shelf
from priming_lab.genre import load_genre
from priming_lab.metrics import PairedDifference, paired_difference, recall_at
from priming_lab.sets import BenchItem, BenchPart, BenchQuery

HITS = 20
JUDGED = 5
"""So many of the first hits are told to be wrong, or count as read."""
WRONG = 100
"""So many wrong verdicts a store gets."""
K = 10
NOTES = 100
"""So many notes of a history are asked."""
SELF, SAME, REST, OTHER = "judged itself", "same memories", "same memories, no word judged", "other memories"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question before and after a half was judged, and how it stands to that half."""

    group: str
    before: float
    after: float
    first_before: float
    first_after: float


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is judged, and as it is measured."""

    text: str
    gold: frozenset[str]
    group: str


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


def wrongly(memory: Memory, queries: Sequence[BenchQuery]) -> None:
    """Give a store a hundred verdicts that nobody thought about."""
    lot = random.Random(1)
    for number in range(WRONG):
        found = memory.recall(lot.choice(queries).text, limit=HITS)
        if found.hits:
            key = lot.choice(found.hits).memory.key
            verdict = {"used": [key]} if number % 2 else {"not_relevant": [key]}
            memory.feedback(found.recall_id, **verdict)  # type: ignore[arg-type]


def replay(part: BenchPart, way: str, half: int, shelf: Shelf) -> list[Asked]:
    """Judge every other question of a part, and measure all of them before and after."""
    queries = [query for query in part.queries if query.category != "5"]
    taught = queries[half::2]
    touched = frozenset(label for query in taught for label in query.gold)
    measured = [
        Question(query.text, query.gold, _group(i % 2 == half, bool(query.gold & touched)))
        for i, query in enumerate(queries)
    ]
    if way == "wrong":
        measured = [Question(query.text, query.gold, "all") for query in queries]

    def judge(memory: Memory) -> None:
        if way == "wrong":
            wrongly(memory, queries)
            return
        for query in taught:
            WAYS[way](memory, memory.recall(query.text, limit=HITS), query)

    return changed(part, measured, judge, shelf)


def changed(
    part: BenchPart, measured: Sequence[Question], judge: Callable[[Memory], None], shelf: Shelf
) -> list[Asked]:
    """Measure questions in a new store of a part before it is judged, and after."""
    memory = shelf.memory(part)
    before = [_places(memory, question) for question in measured]
    judge(memory)
    after = [_places(memory, question) for question in measured]
    shelf.close()
    return [
        Asked(question.group, *was[:1], *now[:1], was[1], now[1])
        for question, was, now in zip(measured, before, after, strict=True)
    ]


def replay_notes(part: BenchPart, half: int, shelf: Shelf) -> list[Asked]:
    """Judge every other note by half of its words, and measure it in other words, and the other notes."""
    taught = part.queries[half::2]
    touched = frozenset(label for query in taught for label in query.gold)
    measured = []
    for query in taught:
        first, rest = _halves(query.text, "judged")
        again, _ = _halves(query.text, "again")
        groups = {SELF: first, SAME: again, REST: rest}
        measured += [Question(text, query.gold, group) for group, text in groups.items() if text]
    for query in part.queries[1 - half :: 2]:
        if not query.gold & touched:
            measured.append(Question(query.text, query.gold, OTHER))

    def judge(memory: Memory) -> None:
        for query in taught:
            by_gold(memory, memory.recall(_halves(query.text, "judged")[0], limit=HITS), query)

    return changed(part, measured, judge, shelf)


def _halves(text: str, draw: str) -> tuple[str, str]:
    """Half of the words of a text, drawn by lot, in their order; and the other half."""
    words = text.split()
    chosen = set(random.Random(f"{draw} {text}").sample(range(len(words)), (len(words) + 1) // 2))
    first = [word for i, word in enumerate(words) if i in chosen]
    return " ".join(first), " ".join(word for i, word in enumerate(words) if i not in chosen)


def history(folder: Path) -> BenchPart:
    """The commits of a repository, and its release notes with the commits of each."""
    documents, notes = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("documents.jsonl", "questions.jsonl")
    )
    items = tuple(
        BenchItem(
            key=f"c-{commit['id']}",
            text=commit["text"],
            label=f"c-{commit['id']}",
            speaker=commit["author"],
            occurred_at=datetime.fromisoformat(commit["time"]),
        )
        for commit in documents
    )
    queries = [
        BenchQuery(note["text"], frozenset(f"c-{commit}" for commit in note["gold"]), "note")
        for note in notes
    ]
    step = max(1, len(queries) // NOTES)
    return BenchPart(folder.name, items, tuple(queries[::step][:NOTES]))


def by_key(part: BenchPart) -> BenchPart:
    """A part whose gold names the keys of memories."""
    keys = {item.label: item.key for item in part.items}
    named = [replace(query, gold=frozenset(keys[label] for label in query.gold)) for query in part.queries]
    return replace(part, queries=tuple(named))


def _group(judged: bool, touched: bool) -> str:
    if judged:
        return SELF
    return SAME if touched else OTHER


def _places(memory: Memory, question: Question) -> tuple[float, float]:
    keys = [hit.memory.key for hit in memory.recall(question.text, limit=HITS).hits]
    return recall_at(question.gold, keys, K), reciprocal_rank(question.gold, keys)


def figures(asked: list[Asked]) -> Iterator[tuple[str, int, float, PairedDifference, PairedDifference]]:
    """For each group: how many, R@10 before, and what changed."""
    for group in dict.fromkeys(one.group for one in sorted(asked, key=lambda one: _ORDER.index(one.group))):
        some = [one for one in asked if one.group == group]
        rng = np.random.default_rng(len(some))
        gained = paired_difference([one.after for one in some], [one.before for one in some], rng)
        earlier = paired_difference(
            [one.first_after for one in some], [one.first_before for one in some], rng
        )
        yield group, len(some), float(np.mean([one.before for one in some])), gained, earlier


_ORDER = (SELF, SAME, REST, OTHER, "all")


def main() -> None:
    parser = of_sets(__doc__.splitlines()[0])
    parser.add_argument("--chats", type=Path, nargs="*", default=(), help="folders of dialogues")
    parser.add_argument("--histories", type=Path, nargs="*", default=(), help="folders of release notes")
    options: argparse.Namespace = given(parser)
    loaded = sets.load("locomo", options.data)
    parts = loaded.parts[:1] if options.quick else loaded.parts
    shelf, results = Shelf("priming", named("wordllama")), {}
    for way in (*WAYS, "wrong"):
        halves = (0,) if way == "wrong" else (0, 1)
        turns = [(part, half) for part in parts for half in halves]
        asked = [one for part, half in track(turns, way) for one in replay(part, way, half, shelf)]
        results[way] = {group: _plain(*rest) for group, *rest in figures(asked)}
    if options.chats:
        chats = [part for folder in options.chats for part in map(by_key, load_genre(folder).parts)]
        turns = [(part, half) for part in chats for half in (0, 1)]
        asked = [one for part, half in track(turns, "chats") for one in replay(part, "gold", half, shelf)]
        results["chats"] = {group: _plain(*rest) for group, *rest in figures(asked)}
    if options.histories:
        turns = [(history(folder), half) for folder in options.histories for half in (0, 1)]
        asked = [one for part, half in track(turns, "notes") for one in replay_notes(part, half, shelf)]
        results["notes"] = {group: _plain(*rest) for group, *rest in figures(asked)}
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
