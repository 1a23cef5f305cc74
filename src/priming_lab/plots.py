"""The figures of a benchmark as SVG, for light and dark backgrounds; equal results give equal bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.errors import MissingExtra, StoreError
from priming_lab.metrics import PairedDifference, recall_at
from priming_lab.run import Benchmark, Row
from priming_lab.scoring import headline

_COLOURS = ("#2f7ed8", "#d9822b", "#3f9c57", "#b05fc4", "#c9504f", "#8a7350", "#3ba3a8", "#7d7f86")
"""Each can be told from white and from black."""
_INK = "#7a828e"
"""Axes and words: readable on both grounds."""
_PERCENT = 100.0
_DASHES = ("-", "--", ":", "-.")
_FAINT = 0.6
_LABELLED = "25"
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_WIDTH, _HEIGHT = 7.2, 4.2
"""The size of a figure, in inches."""
_BAR, _MARGIN = 0.32, 0.6
"""The height of each bar of the ablations, in inches; the room above the first and below the last, in bars."""
_LINE, _MARK, _LETTERS = 1.6, 4.5, 9.0
"""The width of a line, the diameter of a mark and the size of the letters, in points."""
_NAMED, _ROOM = 8, 2.3
"""So many curves that end highest are named, the others stand grey; the width that such names take, in inches."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line: points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def write_figures(benchmark: Benchmark, folder: Path) -> list[Path]:
    """Draw every figure for which a run has results; returns the files written."""
    figures = {
        f"{benchmark.of.name}-quality-by-k.svg": by_k(benchmark),
        f"{benchmark.of.name}-quality-by-tokens.svg": by_tokens(benchmark),
        f"{benchmark.of.name}-ablations.svg": ablations(benchmark),
    }
    return save_figures({name: data for name, data in figures.items() if data}, folder)


def save_figures(figures: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write figures into a folder, which is created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in figures.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise StoreError(f"{folder} could not be written: {error.strerror}") from error
    return [folder / name for name in figures]


def by_k(benchmark: Benchmark) -> bytes:
    """Recall at each k, with a line for each contestant."""
    deep = range(1, benchmark.plan.params.hits + 1)
    curves = []
    for row in _whole(benchmark.rows):
        answers = headline(row.outcome.answers, benchmark.of)
        if answers:
            at = [
                math.fsum(recall_at(answer.gold, answer.labels, k) for answer in answers) / len(answers)
                for k in deep
            ]
            curves.append(Curve(row.outcome.name, [(float(k), y) for k, y in zip(deep, at, strict=True)]))
    title = f"{benchmark.of.name}: evidence among the first k"
    return lines(curves, title, "k, hits", "share of the evidence", share=True) if curves else b""


def by_tokens(benchmark: Benchmark) -> bytes:
    """Draw the evidence within each budget of tokens, a line for each contestant; nothing if it was not measured."""
    curves = [
        Curve(row.outcome.name, [(float(budget), y) for budget, y in row.curve])
        for row in _whole(benchmark.rows)
        if row.curve
    ]
    title = f"{benchmark.of.name}: evidence within a budget"
    if not curves:
        return b""
    return lines(curves, title, "tokens", "share of the evidence", share=True, logarithmic=True)


def ablations(benchmark: Benchmark) -> bytes:
    """Return the loss without each term, with intervals; None if no term was switched off."""
    name = f"R@{benchmark.of.ks[1]}"
    bars = [
        (f"without {', '.join(row.ablated)}", difference)
        for row in benchmark.rows
        if row.ablated and (difference := row.over_first.get(name)) is not None
    ]
    title = f"{benchmark.of.name}: what each term is worth"
    return differences(bars, title, f"change of {name}, points, with its interval") if bars else b""


def latency(curves: Sequence[Curve], title: str) -> bytes:
    """Draw milliseconds by number of memories, on logarithmic axes."""
    return lines(curves, title, "memories", "median ms a search", logarithmic=True, both=True)


def lines(
    curves: Sequence[Curve],
    title: str,
    x: str,
    y: str,
    *,
    share: bool = False,
    logarithmic: bool = False,
    both: bool = False,
) -> bytes:
    """Draw curves over one axis, distinguished by colour, dash and marker."""
    many = len(curves) > _NAMED
    ranked = sorted(curves, key=lambda curve: -curve.points[-1][1]) if many else list(curves)
    named, others = ranked[:_NAMED], ranked[_NAMED:]

    def draw(axes: Any) -> None:
        for i, curve in enumerate(named):
            axes.plot(
                *zip(*curve.points, strict=True),
                label=curve.name,
                color=_COLOURS[i % len(_COLOURS)],
                linestyle=_DASHES[i // len(_COLOURS) % len(_DASHES)],
                marker=_MARKS[i % len(_MARKS)],
                linewidth=_LINE,
                markersize=_MARK,
            )
        for i, curve in enumerate(others):
            label = f"{len(others)} others" if i == 0 else None
            thin = {"linewidth": _LINE / 2, "alpha": _FAINT, "zorder": 1}
            axes.plot(*zip(*curve.points, strict=True), label=label, color=_INK, **thin)
        if logarithmic:
            _by_tens(axes.xaxis, axes.set_xscale)
        else:
            axes.locator_params(axis="x", integer=True)
        if both:
            _by_tens(axes.yaxis, axes.set_yscale)
        if share:
            axes.set_ylim(0.0, 1.0)
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if many else {}
        axes.legend(frameon=False, labelcolor=_INK, fontsize=_LETTERS, **place)

    return _drawn(draw, title, x, y, _WIDTH + many * _ROOM, _HEIGHT)


def _by_tens(axis: Any, scale: Callable[[str], None]) -> None:
    """Make an axis logarithmic, with labels in full at 1, 2 and 5 of each power of ten."""
    scale("log")
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(lambda value, _: f"{value:,.10g}" if f"{value:e}"[0] in _LABELLED else "")


def differences(bars: Sequence[tuple[str, PairedDifference]], title: str, x: str) -> bytes:
    """Draw bars from zero, each with its interval, in the given order from the top."""

    def draw(axes: Any) -> None:
        places = range(len(bars))
        means = [_PERCENT * each.mean for _, each in bars]
        around = [
            [max(0.0, _PERCENT * (each.mean - each.low)) for _, each in bars],
            [max(0.0, _PERCENT * (each.high - each.mean)) for _, each in bars],
        ]
        axes.barh(places, means, xerr=around, color=_COLOURS[0], ecolor=_INK, capsize=_MARK / 2)
        axes.set_yticks(places, [name for name, _ in bars])
        axes.set_ylim(len(bars) - 1 + _MARGIN, -_MARGIN)
        axes.axvline(0.0, color=_INK, linewidth=_LINE / 2)

    return _drawn(draw, title, x, "", _WIDTH, _HEIGHT / 2 + _BAR * len(bars))


def _whole(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have figures and no term switched off."""
    return [row for row in rows if row.summary is not None and not row.ablated]


def _drawn(draw: Callable[[Any], None], title: str, x: str, y: str, width: float, height: float) -> bytes:
    """Return a figure with a transparent background."""
    with MissingExtra("lab", "figures of a benchmark"):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "priming",
        "font.family": ["DejaVu Sans"],
        "font.size": _LETTERS,
        "axes.unicode_minus": False,
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK
        ),
    }
    buffer = BytesIO()
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(title)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(True, color=_INK, alpha=0.25, linewidth=_LINE / 3)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()
