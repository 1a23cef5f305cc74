"""Run the written search of designs again: every variant on the three sets, against the default recall.

Only evidence and ranking are computed, as in ``fit.py``: nothing is packed, and no floor silences an answer.
``results/designs.json`` holds the figures of the default, and of each variant its figures and what it has over the
default: the mean of the differences, question by question, and their standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from common import RESULTS, given, of_sets
from fit import ERRORS, FEW, Case, Progress, _cases, ranked
from priming.bench import plots, sets
from priming.bench.report import machine, versions
from priming.config.profiles import Profile, get
from priming.learning.metrics import recall_at, reciprocal_rank
from variants import TERM, Variant, tried

PLACES = {"locomo": (5, 10, 20), "hotpot": (2, 5, 10), "musique": (2, 5, 10)}
CHECKED = 97
"""One in so many questions is ranked again from nothing, to see that what was kept may be kept."""
DIGITS = 5
Figures = dict[str, dict[str, Any]]
"""By set and figure, the values of its questions, shape (n,)."""


def main() -> None:
    options = _options()
    if options.quick:
        options.questions = FEW
    profile, default = get("priming"), Variant("", "default", "")
    chosen = [one for one in tried(profile) if not options.group or one.group in options.group]
    with Progress() as say:
        cases = list(_cases(options, profile, say))
        base, found = _measured(default, cases, profile), []
        for i, one in enumerate(chosen, 1):
            found.append((one, _compared(_measured(one, cases, profile), base)))
            say(f"{i} of {len(chosen)}: {one.name}")
    show(base, found)
    path = RESULTS / f"{'quick-' if options.quick else ''}designs.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(_document(base, found, options), indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path)
    if options.plots is not None:
        print(*plots.save_figures(_ablations(found), options.plots), sep="\n")


def _ablations(found: Sequence[tuple[Variant, Mapping[str, Any]]]) -> dict[str, bytes]:
    """What each term is worth that moves anything, a figure a set, with two standard errors to each side."""
    made = {}
    for of, places in PLACES.items():
        name = f"R@{places[1]}"
        some = [
            (one.ablate, figures[of][name]) for one, figures in found if one.group == TERM and of in figures
        ]
        bars = [
            plots.Bar(f"without {', '.join(off)}", over, over - ERRORS * error, over + ERRORS * error)
            for off, one in some
            for over, error in [(one["over"], one["error"])]
            if over or error
        ]
        if bars:
            title, x = f"{of}: what each term is worth", f"change of {name} in points, ± two standard errors"
            made[f"{of}-ablations.svg"] = plots.differences(bars, title, x)
    return made


def _measured(variant: Variant, cases: Sequence[Case], profile: Profile) -> Figures:
    """Every figure of every question under a variant."""
    other, off = variant.of(profile), frozenset(variant.ablate)
    found: dict[str, list[list[float]]] = {name: [] for name in PLACES}
    for i, case in enumerate(cases):
        asked = replace(case, asked=replace(case.asked, ablate=off))
        labels = ranked(asked, other)
        if i % CHECKED == 0 and labels != ranked(asked, other, fresh=True):
            sys.exit(f"evidence that is kept depends on {variant.name}: mend KEPT in fit.py")
        at = [recall_at(case.gold, labels, k) for k in PLACES[case.of]]
        found[case.of].append([*at, reciprocal_rank(case.gold, labels)])
    return {
        name: dict(zip(_names(name), np.array(rows).T, strict=True)) for name, rows in found.items() if rows
    }


def _names(of: str) -> tuple[str, ...]:
    return (*(f"R@{k}" for k in PLACES[of]), "MRR")


def _compared(values: Figures, base: Figures) -> dict[str, dict[str, dict[str, float]]]:
    """Each figure, what it has over the default, and the standard error of that."""
    return {
        name: {one: _difference(each, base[name][one]) for one, each in figures.items()}
        for name, figures in values.items()
    }


def _difference(values: Any, base: Any) -> dict[str, float]:
    apart = values - base
    error = apart.std(ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else 0.0
    told = {"value": values.mean(), "over": apart.mean(), "error": error}
    return {name: round(float(value), DIGITS) for name, value in told.items()}


def show(base: Figures, found: Sequence[tuple[Variant, Mapping[str, Any]]]) -> None:
    """One table: the default in percent, and what each variant has over it in points."""
    table = Table(title="The search of designs: difference from the default in points ± its standard error")
    table.add_column("design")
    for name, figures in base.items():
        for one, values in figures.items():
            table.add_column(f"{name} {one}\n{100 * values.mean():.1f}", justify="right")
    for variant, figures in found:
        table.add_row(variant.name, *_cells(figures))
    Console(width=200).print(table)


def _cells(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    for each in figures.values():
        for one in each.values():
            yield (
                f"{100 * one['over']:+.1f} ± {100 * one['error']:.1f}" if one["over"] or one["error"] else "="
            )


def _document(
    base: Figures, found: Sequence[tuple[Variant, Mapping[str, Any]]], options: argparse.Namespace
) -> dict[str, Any]:
    return {
        "benchmark": "designs",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {name: sets.load(name, options.data).digest for name in base},
        "settings": {"questions": options.questions, "embedder": options.embedder, "quick": options.quick},
        "versions": versions(),
        "machine": machine(),
        "asked": {name: len(next(iter(figures.values()))) for name, figures in base.items()},
        "default": {
            name: {one: round(float(values.mean()), DIGITS) for one, values in figures.items()}
            for name, figures in base.items()
        },
        "variants": [{**asdict(one), "sets": figures} for one, figures in found],
    }


def _options() -> argparse.Namespace:
    parser = of_sets((__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, help="at most so many of each set, evenly spaced")
    parser.add_argument("--group", action="append", help="only the variants of this group (repeatable)")
    parser.add_argument("--plots", type=Path, help="draw the ablations into this folder, as SVG")
    parser.add_argument("--embedder", default="wordllama", help="what makes the vectors")
    return given(parser)


if __name__ == "__main__":
    main()
