"""Retrieval quality on the three sets, beside baselines and rivals.

The sets are read where ``--data`` or ``PRIMING_BENCH_DATA`` says. Summaries go to ``results/quality-SET.json``,
each question's answers to ``results/questions/SET.json``; with ``--quick`` to files whose names begin so. Another
embedder, and gold that is shuffled, are measured without the others, and their names end in it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common import RESULTS, given, of_sets
from priming.cli.output import Table, draw, line
from priming.embedding.protocol import Embedder
from priming.embedding.registry import named
from priming.recall.candidates import TERMS
from priming_lab import plots, report, sets
from priming_lab.contestants import BASELINES, BENCH
from priming_lab.rivals import rivals
from priming_lab.run import Benchmark, BenchPlan, ProgressCallback, run
from served import served

RIVALS = Path(__file__).parent / "rivals"
FEW = 40
"""Questions of each set where it is to be quick."""
_FOLDERS = re.compile(r"(?:/[\w.@+-]+){2,}/")


def main() -> None:
    options = _options()
    embedder = named(options.embedder)
    with served(embedder) if options.served else nullcontext(embedder) as asked:
        for name in options.set or sets.NAMES:
            measure(name, options.data, asked, options)


def measure(name: str, data: Path, embedder: Embedder, options: argparse.Namespace) -> None:
    """One set: everybody, the tables, the files and the figures."""
    of = sets.load(name, data).first(FEW if options.quick else None)
    plan = BenchPlan(
        ablate=TERMS if options.ablations else (),
        baselines=() if _apart(options) else BASELINES,
        rivals=rivals([RIVALS / name for name in options.rival], [RIVALS] if options.rivals else []),
        cache=Path(".bench"),
        token_costs=not options.shuffled,
        shuffled=options.shuffled,
        params=replace(BENCH, rival_seconds=options.rival_seconds),
    )
    found = run(of, embedder, plan, watch)
    tell(found)
    now, quick = datetime.now(UTC), _quick(options)
    for folder, whole in ((RESULTS, False), (RESULTS / "questions", True)):
        folder.mkdir(parents=True, exist_ok=True)
        called = f"{name}{_apart(options)}.json"
        path = folder / (f"{quick}{called}" if whole else f"{quick}quality-{called}")
        indent = None if whole else 1
        content = _impersonal(report.report_document(found, now, questions=whole))
        if options.again and (path.exists() or not whole):
            content["contestants"] += _others(path, content)
        said = json.dumps(content, ensure_ascii=False, indent=indent)
        report.write_report(path, f"{said}\n")
        print(path)
    if options.plots is not None:
        print(*plots.write_figures(found, options.plots), sep="\n")


def _others(path: Path, content: dict[str, Any]) -> list[dict[str, Any]]:
    """Who was measured before, on the same data, and is not now; what they have over the first is of another run."""
    before = json.loads(path.read_text("utf-8"))
    if before["data"] != content["data"]:
        sys.exit(f"{path} was measured on other data: leave --again out")
    present = {one["name"] for one in content["contestants"]}
    return [{**one, "over_first": None} for one in before["contestants"] if one["name"] not in present]


def _impersonal(content: dict[str, Any]) -> dict[str, Any]:
    """A document whose errors name no folder of this machine: its summary is published."""
    for one in content["contestants"]:
        if one["error"] is not None:
            one["error"] = _FOLDERS.sub("…/", one["error"])
    return content


def tell(found: Benchmark) -> None:
    """The tables, as ``priming bench`` prints them."""
    draw([line((found.of.name, "bold"), f"  {found.of.questions:,} questions, {found.generation}")])
    tables = (report.results, report.categories, report.differences, report.costs)
    for columns, rows in (one(found) for one in tables):
        if rows:
            draw([Table(columns, tuple(rows)), line()])
    draw([line((f"{name} could not run", "red"), f": {error}") for name, error in report.failures(found)])


@contextmanager
def watch(what: str) -> Iterator[ProgressCallback]:
    """A line on stderr for each contestant: this may run for an hour."""
    print(what, end=" ", file=sys.stderr, flush=True)
    yield lambda _done, _total: None
    print("done", file=sys.stderr)


def _quick(options: argparse.Namespace) -> str:
    """What the names of files begin with: quick figures never stand where whole ones do."""
    return "quick-" if options.quick else ""


def _apart(options: argparse.Namespace) -> str:
    """What the names of files end in where it is not the default that is measured."""
    other = (
        "" if options.embedder == "wordllama" else f"-{re.sub(r'[^a-z0-9]+', '-', options.embedder.lower())}"
    )
    return f"{other}{'-served' * options.served}{'-shuffled' * options.shuffled}"


def _options() -> argparse.Namespace:
    parser = of_sets((__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", action="append", choices=sets.NAMES, help="only this set (repeatable)")
    parser.add_argument("--rivals", action="store_true", help="also every rival of benchmarks/rivals")
    parser.add_argument(
        "--rival", action="append", default=[], metavar="NAME", help="also this one of them (repeatable)"
    )
    parser.add_argument(
        "--rival-seconds", type=float, default=BENCH.rival_seconds, help="how long each may take for a set"
    )
    parser.add_argument("--again", action="store_true", help="keep the rows of who is not measured now")
    parser.add_argument("--ablations", action="store_true", help="also without each term of recall")
    parser.add_argument("--embedder", default="wordllama", help="what makes the vectors")
    parser.add_argument(
        "--served", action="store_true", help="ask for them over a socket, as a remote model's"
    )
    parser.add_argument("--shuffled", action="store_true", help="deal the gold out anew: only chance is left")
    parser.add_argument("--plots", type=Path, help="draw the figures into this folder, as SVG")
    return given(parser)


if __name__ == "__main__":
    main()
