"""What a small store answers to questions in other words, by the kind of question.

    python benchmarks/words.py FOLDER [FOLDER ...] [--embedder NAME]

Each folder is in the genre format; its questions may have a ``type`` and a time at which they are asked
(``asked_at``), else they are asked when the last text has been remembered. Recall is measured as programs call it. A
question without gold is well answered by nothing, or by nothing that is said to be needed with more than 20 %.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from priming import FixedClock, Memory
from priming.cli.output import Table, draw
from priming_lab.genre import QUESTIONS, WHOLE, load_genre

UNSURE = 0.2
"""The most that may be said of a hit where nothing answers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--embedder", default="semantic", help="what makes the vectors")
    options = parser.parse_args()
    figures: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for folder in options.folders:
        for kind, measured in _answers(folder, options.embedder):
            figures[kind].append(measured)
    heads = ("first", "returned", "hits", "nothing sure")
    rows = [(kind, str(len(each)), *(_mean(each, name) for name in heads)) for kind, each in figures.items()]
    draw([Table(("questions about", "number", *heads), tuple(rows))])
    print("first, returned and nothing sure in percent, hits a question")


def _answers(folder: Path, embedder: str) -> Iterator[tuple[str, Mapping[str, float]]]:
    """The kind of each question, and the figures of its answer."""
    items = [item for part in load_genre(folder).parts for item in part.items]
    last = max((item.occurred_at for item in items if item.occurred_at), default=datetime.now(UTC))
    clock = FixedClock(last)
    with Memory.open("sqlite://", embedder=embedder, clock=clock) as memory:
        memory.remember_many([item.arguments() for item in items])
        labels = {item.key: item.label for item in items}
        for line in (folder / QUESTIONS).read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            asked = question.get("asked_at")
            clock.at = datetime.fromisoformat(asked) if asked else last
            hits = memory.recall(question["text"]).hits
            kind = question.get("type", WHOLE)
            yield kind, _figures(hits, [labels[hit.memory.key] for hit in hits], set(question["gold"]))


def _figures(hits: Any, labels: list[str], gold: set[str]) -> Mapping[str, float]:
    if not gold:
        return {"hits": len(hits), "nothing sure": not hits or hits[0].score <= UNSURE}
    return {
        "first": bool(labels) and labels[0] in gold,
        "returned": len(gold.intersection(labels)) / len(gold),
        "hits": len(hits),
    }


def _mean(each: list[Mapping[str, float]], name: str) -> str:
    """The mean of a figure over the questions that have it, in percent but for the number of hits."""
    values = [measured[name] for measured in each if name in measured]
    if not values:
        return ""
    return f"{np.mean(values):.1f}" if name == "hits" else f"{100 * np.mean(values):.1f}"


if __name__ == "__main__":
    main()
