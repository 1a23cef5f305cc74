"""Is the default ever behind? Recall on sets of many kinds of material, beside the plain methods.

    python benchmarks/genres.py --data FOLDER --genres FOLDER... [--questions N] [--embedder NAME] [--terms]

``--data`` has the three sets of ``quality.py``; ``--genres`` folders that ``priming bench`` reads.
Folders whose gold are files are left to ``files.py``. Each set is alone in its stores, and everybody has the same
texts and vectors. The default is measured as programs call it, its floor included. Results go to
``results/genres.json``, those of another embedder to ``results/genres-NAME.json``.

``--terms`` measures the default without each of its terms instead; results go to ``results/terms.json``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from common import RESULTS, given, machine, of_sets, versions
from priming.cli.output import Table, draw
from priming.embedding.registry import named
from priming.errors import ParamError
from priming.recall.candidates import TERMS
from priming_lab import report, sets
from priming_lab.genre import is_genre, load_genre
from priming_lab.run import BenchPlan, ProgressCallback, run
from priming_lab.sets import BenchSet

PLAN = BenchPlan(ablate=("spread",), baselines=("bm25", "cosine", "hybrid"))
UNTOUCHED = ("context", "feedback", "retention", "base")
"""Terms that change nothing here: no memory has a predicate, a verdict or a use."""
MEASURE = "nDCG@10"
FIGURES = (MEASURE, "R@5", "R@10")


def measured(of: BenchSet, embedder: Any, plan: BenchPlan) -> dict[str, Any]:
    """The figures of every contestant on a set, and how far the default is ahead of each."""
    document = report.report_document(run(of, embedder, plan, watch), datetime.now(UTC), questions=False)
    return {
        "memories": document["data"]["memories"],
        "questions": document["data"]["questions"],
        "sha256": document["data"]["sha256"],
        "contestants": {
            one["name"]: {
                **{name: one["headline"][name] for name in FIGURES},
                "silent": one["headline"]["silent"],
                "over_first": one["over_first"],
            }
            for one in document["contestants"]
        },
    }


def every_set(options: argparse.Namespace) -> Iterator[tuple[str, BenchSet]]:
    """The three sets, and those of the genres whose gold are documents, each with its kind of material.

    Sets of the first folder are of one kind if their names begin alike, those of another folder all.
    """
    for name in sets.NAMES:
        yield name, sets.load(name, options.data)
    for at, genres in enumerate(options.genres):
        for folder in sorted(filter(is_genre, genres.iterdir())):
            try:
                yield genres.name if at else folder.name.partition("-")[0], load_genre(folder)
            except ParamError as error:
                print(f"{folder.name} is left out: {error}", file=sys.stderr)


def of_kinds(description: str) -> argparse.ArgumentParser:
    """The options of a benchmark on every kind of material."""
    parser = of_sets(description)
    parser.add_argument(
        "--genres",
        type=Path,
        nargs="*",
        default=(),
        help="folders of sets with documents.jsonl and questions.jsonl",
    )
    return parser


@contextmanager
def watch(_: str) -> Iterator[ProgressCallback]:
    """Nothing: a line a set is enough."""
    yield lambda _done, _total: None


def main() -> None:
    options = given(_parser())
    embedder = named(options.embedder)
    plan = BenchPlan(ablate=[term for term in TERMS if term not in UNTOUCHED]) if options.terms else PLAN
    results = {}
    for _, of in every_set(options):
        if options.only and of.name not in options.only:
            continue
        results[of.name] = measured(of.first(options.questions), embedder, plan)
        print(
            of.name, {name: one[MEASURE] for name, one in results[of.name]["contestants"].items()}, flush=True
        )
    names = list(next(iter(results.values()))["contestants"])
    rows = [
        (of, *(f"{100 * one['contestants'][name][MEASURE]:.1f}" for name in names))
        for of, one in results.items()
    ]
    means = {name: np.mean([one["contestants"][name][MEASURE] for one in results.values()]) for name in names}
    rows.append(("mean", *(f"{100 * means[name]:.1f}" for name in names)))
    draw([Table(("set", *names), tuple(rows))])
    content = {
        "benchmark": "terms" if options.terms else "genres",
        "generation": embedder.generation,
        "measure": MEASURE,
        "questions": options.questions,
        "sets": results,
        "means": {name: float(mean) for name, mean in means.items()},
        "versions": versions([]),
        "machine": machine(),
    }
    RESULTS.mkdir(exist_ok=True)
    other = (
        "" if options.embedder == "wordllama" else f"-{re.sub(r'[^a-z0-9]+', '-', options.embedder.lower())}"
    )
    path = (
        RESULTS / f"{'quick-' if options.quick else ''}{'terms' if options.terms else 'genres'}{other}.json"
    )
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(path)


def _parser() -> argparse.ArgumentParser:
    parser = of_kinds((__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--questions", type=int, default=500, help="at most so many of each set, evenly spaced"
    )
    parser.add_argument("--embedder", default="wordllama", help="what makes the vectors")
    parser.add_argument("--terms", action="store_true", help="measure what each term is worth")
    parser.add_argument("--only", action="append", metavar="SET", help="only this set (repeatable)")
    return parser


if __name__ == "__main__":
    main()
