"""Tables of what was measured, each made from the summaries that ``benchmarks/`` leaves in ``benchmarks/results``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tables import table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results"
COMMANDS = {
    "genres": "python benchmarks/genres.py --data FOLDER --genres FOLDER …",
    "embedders": "python benchmarks/embedders.py --genre FOLDER",
    "scaling": "python benchmarks/scaling.py",
    "migration": "python benchmarks/migration.py",
}
"""What makes each file."""
KINDS_OF_SETS = {
    "locomo": "dialogues",
    "hotpot": "passages, two hops",
    "musique": "passages, two to four hops",
    "realtalk": "chats",
    "qmsum": "meetings",
    "cosqa": "web query to function",
    "nl2bash": "task to shell command",
    "cran": "abstracts",
    "git": "release note to commit",
    "bugs": "bug report to commit",
    "xquad": "passages, other languages",
    **dict.fromkeys(
        ("allotment", "assistantchat", "coopminutes", "devnotes", "expenses", "readingnotes", "tenancylog"),
        "a small store, in other words",
    ),
}
"""What the memories and questions of a set are, by the beginning of its name."""


class Missing(Exception):
    """A result that a page shows is not there."""


def read(name: str, made_by: str) -> Any:
    """A file of results."""
    path = RESULTS / f"{name}.json"
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise Missing(f"benchmarks/results/{path.name} is missing: run {COMMANDS[made_by]}") from None
    except ValueError as error:
        raise Missing(f"benchmarks/results/{path.name} is no JSON: run {COMMANDS[made_by]}") from error


def genres(vectors: str = "") -> str:
    """The default on each kind of material, and how far the plain methods are from it."""
    found = read(f"genres-{vectors}" if vectors else "genres", "genres")
    measure, ours = found["measure"], "priming"
    others = [name for name in next(iter(found["sets"].values()))["contestants"] if name != ours]
    rows = []
    for name, one in found["sets"].items():
        kind = next((kind for start, kind in KINDS_OF_SETS.items() if name.startswith(start)), "")
        values = {who: each[measure] for who, each in one["contestants"].items()}
        differences = []
        for who in others:
            over = one["contestants"][who]["over_first"][measure]
            differences.append(
                f"{100 * values[who]:.1f} ({_interval(over['mean'], over['low'], over['high'])})"
            )
        rows.append((f"{name}: {kind}", str(one["questions"]), _percent(values[ours]), *differences))
    rows.append(("**mean**", "", *(f"**{_percent(found['means'][who])}**" for who in (ours, *others))))
    return table(("set", "questions", ours, *(who.removeprefix("priming ") for who in others)), rows)


def costs() -> str:
    """What each embedder adds to an installation, a command and a text, and what it finds on sets of other genres."""
    found = read("embedders", "embedders")
    few = sum(one["few"] for one in found["sets"].values())
    rows = []
    for name, cost in found["costs"].items():
        low = sum(one["few"] * (one[name]["few_r10"] or 0.0) for one in found["sets"].values()) / few
        figures = (f"{one[name]['ndcg']:.1f} / {one[name]['r10']:.1f}" for one in found["sets"].values())
        own = (f"{cost['mib']:.0f}", f"{cost['command_ms']:.0f}", f"{cost['text_us']:,.0f}")
        rows.append((f"`{name}`", *own, *figures, f"{low:.1f}"))
    heads = ("MiB beside the base", "ms a recall as a command", "µs a text", *found["sets"])
    return table(("embedder", *heads, f"R@10 of {few} questions with few words in common"), rows)


def scaling() -> str:
    """What processes and a server carry on each backend."""
    found = read("scaling", "scaling")
    rows = []
    for each in found["figures"]:
        cost = "" if each["processor_ms"] is None else f"{each['processor_ms']:.1f}"
        times = (f"{each['a_second']:,.0f}", f"{each['median_ms']:.1f}", f"{each['p99_ms']:.0f}", cost)
        rows.append((each["what"], each["backend"], str(each["by"]), *times))
    heads = ("processes or clients", "calls a second", "median ms", "p99 ms", "processor ms a call")
    return table(("what", "database", *heads), rows)


def opening() -> str:
    """What one process needs before it can answer."""
    found = read("scaling", "scaling")
    rows = [
        (backend, *(f"{value:g}" for value in values.values()))
        for backend, values in found["opening"].items()
    ]
    heads = next(iter(found["opening"].values()))
    machine = f"{found['machine']['cores']} cores; {found['memories']:,} memories in the namespace"
    return f"Measured on {machine}.\n\n{table(('database', *heads), rows)}"


def migration() -> str:
    """What calls take before and during a migration of a large store."""
    found = read("migration", "migration")
    rows = [
        (
            each["what"],
            each["when"],
            f"{each['calls']:,}",
            *(f"{each[name]:,.0f}" for name in ("median_ms", "p99_ms", "slowest_ms")),
        )
        for each in found["calls"]
    ]
    heads = ("what", "when", "calls", "median ms", "p99 ms", "slowest ms")
    whole, *steps = found["seconds"].items()
    took = ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in steps)
    size = f"{found['memories']:,} memories in {found['namespaces']:,} namespaces"
    return f"{size}, on {found['machine']['cores']} cores; {whole[1]:,.0f} s: {took}.\n\n{table(heads, rows)}"


def _interval(mean: float, low: float, high: float) -> str:
    return f"{100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}"


KINDS: dict[str, Callable[..., str]] = {
    one.__name__: one for one in (genres, costs, scaling, opening, migration)
}
