"""What the benchmarks share: fair timing, one table, and results on disk with versions and machine."""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

T = TypeVar("T")
DATA = "PRIMING_BENCH_DATA"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what we take, what a peer takes in the same run, and what the ratio should be.

    A speed-up is peer over ours and should be at least its target; a growth is ours over peer and at most.
    """

    what: str
    ours: float
    peer: float
    target: float | None = None
    against: str = ""
    growth: bool = False
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """How many times the peer takes of ours, or we of the peer if this is a growth."""
        return self.ours / self.peer if self.growth else self.peer / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        if self.target is None:
            return None
        return self.ratio <= self.target if self.growth else self.ratio >= self.target


def medians(
    cases: Mapping[str, Callable[[T], Any]],
    inputs: Sequence[T],
    *,
    warm_up: int = 3,
    block: int = 10,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median milliseconds of each case over ``inputs``, warm, by a ``clock`` in seconds.

    The cases take turns, in changing order and a block of inputs at a time: so a busy moment of the machine
    slows all of them, yet each runs in caches of its own, as it would in a process of its own. Each turn
    begins with ``warm_up`` inputs that do not count, and no two cases are at the same inputs at one time.
    """
    taken: dict[str, list[float]] = {name: [] for name in cases}
    shift = {name: i * len(inputs) // len(cases) for i, name in enumerate(cases)}
    order = random.Random(len(inputs))
    gc.collect()
    gc.disable()
    try:
        for first in range(0, len(inputs), block):
            for name in order.sample(list(cases), len(cases)):
                for turn in range(first - warm_up, min(first + block, len(inputs))):
                    value = inputs[(turn + shift[name]) % len(inputs)]
                    began = clock()
                    cases[name](value)
                    if turn >= first:
                        taken[name].append(clock() - began)
    finally:
        gc.enable()
    return {name: statistics.median(times) * 1000 for name, times in taken.items()}


def median_of(run: Callable[[], Any], *, times: int = 5, warm_up: int = 1) -> float:
    """Median milliseconds of ``run``."""
    return medians({"": lambda _: run()}, [None] * times, warm_up=warm_up, block=times)[""]


def show(title: str, rows: Sequence[Row]) -> None:
    """Print one table: ours, peer, ratio, target."""
    table = Table(title=title)
    table.add_column("what")
    table.add_column("against")
    for column in ("ours", "peer", "ratio", "target"):
        table.add_column(column, justify="right")
    for row in rows:
        sign = "≤" if row.growth else "≥"
        colour = {True: "green", False: "red", None: "default"}[row.met]
        table.add_row(
            row.what,
            row.against,
            f"{row.ours:.4g} {row.unit}",
            f"{row.peer:.4g} {row.unit}",
            f"[{colour}]{row.ratio:.3g}×[/]",
            "" if row.target is None else f"{sign} {row.target:g}×",
        )
    Console().print(table)


def write(name: str, rows: Sequence[Row], *, packages: Sequence[str] = (), **more: Any) -> Path:
    """Write ``results/<name>.json``: the rows, what else is given, versions and machine."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {
        "benchmark": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rows": [asdict(row) | {"ratio": row.ratio, "met": row.met} for row in rows],
        "versions": versions(packages),
        "machine": machine(),
        **more,
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def versions(packages: Sequence[str] = ()) -> dict[str, str]:
    """Version of Python, Priming, numpy and ``packages``."""
    named = {name: metadata.version(name) for name in ("priming", "numpy", *packages)}
    return {"python": platform.python_version(), **named}


def machine() -> dict[str, Any]:
    """What the figures were measured on, without names that would identify it."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if "model name" in line] if info.exists() else []
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def digest(path: Path) -> str:
    """SHA-256 of a data file, first 16 hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with ``--quick``, for smaller sizes and fewer runs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer runs")
    return parser


def of_sets(description: str) -> argparse.ArgumentParser:
    """That, and where the sets are that quality is measured on."""
    parser = arguments(description)
    where = f"folder of locomo, hotpot and musique; {DATA} if not given"
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=where)
    return parser


def given(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments of who measures on the sets; where they are not named there is nothing to do."""
    options = parser.parse_args()
    if options.data is None:
        print(
            f"{parser.prog}: name the folder of locomo, hotpot and musique, as --data FOLDER or {DATA}=FOLDER"
        )
        raise SystemExit(0)
    return options
