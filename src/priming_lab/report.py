"""The results of a benchmark as a JSON document and as tables, without any text of a question or memory."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from priming.errors import StoreError
from priming_lab.run import Benchmark, Row
from priming_lab.scoring import NDCG, Figures, ScoredAnswer
from priming_lab.sets import BenchSet

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Names of columns, and rows of cells."""

_PERCENT = 100.0
_DIGITS = 6
"""Digits of what is written: more would be noise."""


def report_document(of: Benchmark, at: datetime, *, questions: bool = True) -> dict[str, Any]:
    """Return all results; the answers to each question only if ``questions`` is true."""
    return {
        "benchmark": of.of.name,
        "at": at.isoformat(timespec="seconds"),
        "data": {
            "files": list(of.of.files),
            "sha256": of.of.digest,
            "memories": of.of.memories,
            "questions": of.of.questions,
            "skipped": of.of.skipped,
        },
        "settings": {
            "profile": of.plan.profile,
            "embedder": of.generation,
            "shuffled": of.plan.shuffled,
            "params": asdict(of.plan.params),
        },
        "versions": versions(),
        "machine": machine(),
        "contestants": [_contestant(row, of.of, questions=questions) for row in of.rows],
    }


def _contestant(row: Row, of: BenchSet, *, questions: bool) -> dict[str, Any]:
    outcome, summary = row.outcome, row.summary
    report: dict[str, Any] = {
        "name": outcome.name,
        "what": outcome.what,
        "ablated": list(row.ablated),
        "versions": outcome.versions,
        "error": outcome.error,
        "asked": len(outcome.answers),
    }
    if summary is None:
        return report
    figures = {
        "headline": _figures(summary.headline),
        "by_category": {name: _figures(each) for name, each in summary.by_category.items()},
        "by_part": {name: _figures(each) for name, each in summary.by_part.items()},
        "median_ms": summary.median_ms,
        "p99_ms": summary.p99_ms,
        "load_seconds": outcome.load_seconds,
        "auc": summary.auc,
        "over_first": {name: asdict(each) for name, each in row.over_first.items()},
    }
    report |= {
        **_short(figures),
        "costs": [{**asdict(each), "saved": each.saved} for each in row.costs],
        "curve": [list(point) for point in row.curve],
    }
    return {**report, "questions": _short(_questions(outcome.answers, of))} if questions else report


def _figures(figures: Figures) -> dict[str, Any]:
    return {"questions": figures.questions, "silent": figures.silent, **figures.values}


def _questions(answers: Sequence[ScoredAnswer], of: BenchSet) -> list[dict[str, Any]]:
    """Return the answers to each question: numbers and keys only."""
    keys: dict[tuple[str, str], list[str]] = {}
    for part in of.parts:
        for item in part.items:
            keys.setdefault((part.name, item.label), []).append(item.key)
    return [
        {
            "part": answer.part,
            "number": answer.number,
            "category": answer.category,
            "gold": sorted(key for label in answer.gold for key in keys.get((answer.part, label), ())),
            "keys": list(answer.keys),
            "scores": answer.scores,
            "confidence": answer.confidence,
            "ms": answer.ms,
        }
        for answer in answers
    ]


def _short(value: Any) -> Any:
    """Return a value with its numbers as they are written."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_short, value))
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def results(of: Benchmark) -> Table:
    """Return a row for each contestant: number of questions, quality in percent, and milliseconds."""
    names = list(next(row.summary.headline.values for row in of.rows if row.summary is not None))
    separates = any(row.summary is not None and row.summary.auc is not None for row in of.rows)
    columns = ("contestant", "n", *names, *(("AUC",) if separates else ()), "median ms", "p99 ms")
    return columns, [_result(row, names, separates) for row in of.rows]


def _result(row: Row, names: Sequence[str], separates: bool) -> tuple[str, ...]:
    summary = row.summary
    if summary is None:
        return (row.outcome.name, "", *["failed"] * len(names), *(("",) if separates else ()), "", "")
    cells = [_percent(summary.headline.values.get(name)) for name in names]
    area = ("" if summary.auc is None else f"{summary.auc:.3f}",) if separates else ()
    questions = f"{summary.headline.questions:,}"
    return (row.outcome.name, questions, *cells, *area, f"{summary.median_ms:.1f}", f"{summary.p99_ms:.1f}")


def categories(of: Benchmark) -> Table:
    """Return the figures of the first contestant in each category."""
    summary = of.rows[0].summary
    assert summary is not None, "our own row has figures, or the run ended"
    names = list(summary.headline.values)
    rows = [
        (name, str(each.questions), str(each.silent), *(_percent(each.values[label]) for label in names))
        for name, each in summary.by_category.items()
    ]
    return ("category", "questions", "no hits", *names), rows


def parts(of: Benchmark) -> Table:
    """Return the nDCG of all contestants in each part, in percent; no rows for a set of one part."""
    summaries = [(row.outcome.name, row.summary) for row in of.rows if row.summary is not None]
    columns = (f"{NDCG} by part", "questions", *(name for name, _ in summaries))
    first = summaries[0][1].by_part
    rows = [
        (
            name,
            f"{figures.questions:,}",
            *(
                _percent(summary.by_part[name].values.get(NDCG) if name in summary.by_part else None)
                for _, summary in summaries
            ),
        )
        for name, figures in first.items()
        if len(first) > 1
    ]
    return columns, rows


def differences(of: Benchmark) -> Table:
    """Return the difference between each other contestant and the first, in points, with its interval."""
    rows = [row for row in of.rows if row.over_first]
    names = list(rows[0].over_first) if rows else []
    cells = [
        (row.outcome.name, *(_interval(row.over_first[name]) for name in names if name in row.over_first))
        for row in rows
    ]
    return (f"points over {of.rows[0].outcome.name}", *names), cells


def costs(of: Benchmark) -> Table:
    """Return the tokens needed to include most of the evidence."""
    columns = ("contestant", "evidence", "budget", "of all", "hits", "tokens of so many")
    cells: list[tuple[str, ...]] = []
    for row in of.rows:
        for cost in row.costs:
            cell = (
                ("", "not reached", "", "")
                if cost.saved is None
                else (
                    f"{cost.budget:,}",
                    f"{_PERCENT * (1.0 - cost.saved):.1f} %",
                    str(cost.k),
                    f"{cost.tokens:,.0f}",
                )
            )
            cells.append((row.outcome.name, f"{_PERCENT * cost.share:.0f} %", *cell))
    return columns, cells


def failures(of: Benchmark) -> list[tuple[str, str]]:
    """Return the contestants that could not run, with their errors."""
    return [(row.outcome.name, row.outcome.error) for row in of.rows if row.outcome.error is not None]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{_PERCENT * value:.1f}"


def _interval(difference: Any) -> str:
    mean, low, high = (_PERCENT * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that recall uses."""
    versions = {name: metadata.version(name) for name in ("priming", "numpy", "wordllama", "tokenizers")}
    return {"python": platform.python_version(), **versions}


def machine() -> dict[str, Any]:
    """Return the machine, without names that would identify it."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "load": None if load is None else round(load, 2),
    }


def write_report(path: Path, text: str) -> None:
    """Write a report; ``StoreError`` if that fails."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
