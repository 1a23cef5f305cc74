"""Tables of what was measured, each made from the summaries that ``benchmarks/`` leaves in ``benchmarks/results``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tables import table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results"
COMMANDS = {
    "dropins": "python benchmarks/dropins.py --genres FOLDER … --install",
    "genres": "python benchmarks/genres.py --data FOLDER --genres FOLDER …",
    "scaling": "python benchmarks/scaling.py",
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

DROPINS = {
    "in_memory_store": "LangGraph, `InMemoryStore`",
    "priming_store": "`PrimingStore`",
    "mem0": "mem0, `infer=False`",
    "priming_mem0": "the same of `priming_adapters`",
    "chroma": "Chroma",
    "priming_memory": "`Memory`",
    "server_memory": "server-memory",
    "priming_server": "`priming mcp --compat`",
}
"""The contestants of ``benchmarks/dropins.py``: each original, and ours below it."""


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
    """The default on each kind of material, the mean of its sets, beside the plain methods."""
    found = read(f"genres-{vectors}" if vectors else "genres", "genres")
    measure, names = found["measure"], list(next(iter(found["sets"].values()))["contestants"])
    rows = []
    for kind, sets in by_kind(found["sets"]).items():
        figures = ([one["contestants"][who][measure] for one in sets] for who in names)
        rows.append((kind, *(_percent(sum(values) / len(values)) for values in figures)))
    rows.append(("**mean of all sets**", *(f"**{_percent(found['means'][who])}**" for who in names)))
    return table(("material", *(who.removeprefix("priming ").removeprefix("plain ") for who in names)), rows)


def by_kind(sets: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The sets of each kind of material."""
    kinds: dict[str, list[Any]] = {}
    for name, one in sets.items():
        kind = next((kind for start, kind in KINDS_OF_SETS.items() if name.startswith(start)), name)
        kinds.setdefault(kind, []).append(one)
    return kinds


def dropins() -> str:
    """What the shapes of other libraries and these find, and what each costs in the largest set."""
    found = read("dropins", "dropins")
    largest, quality, cost = found["sets"][found["largest"]], [], []
    kinds = by_kind(found["sets"])
    for name, figures in largest["contestants"].items():
        shares = []
        for sets in kinds.values():
            each = [one["contestants"][name]["quality"] for one in sets]
            means = (sum(one[measure] for one in each) / len(each) for measure in figures["quality"])
            shares.append(" / ".join(map(_percent, means)))
        quality.append((DROPINS[name], *shares))
        times = (
            f"{figures['load_s']:.1f}",
            f"{figures['search_ms']:.1f}",
            str(found["start_ms"].get(name, "")),
        )
        size = found["installed"].get(name, {})
        cost.append((DROPINS[name], *times, *map(str, size.values())))
    heads = (
        "seconds to load",
        "ms a search",
        "ms to start",
        *(["MB", "packages"] if found["installed"] else []),
    )
    setting = f"{largest['memories']:,} memories, {found['machine']['cores']} cores"
    return f"{table(('', *kinds), quality)}\n\n{table((setting, *heads), cost)}"


def scaling() -> str:
    """What one process or client, and the most of them, get from each backend."""
    found = read("scaling", "scaling")
    most: dict[tuple[str, str], int] = {}
    for each in found["figures"]:
        most[each["what"], each["backend"]] = each["by"]
    rows = []
    for each in found["figures"]:
        if each["by"] not in (1, most[each["what"], each["backend"]]):
            continue
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


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}"


KINDS: dict[str, Callable[..., str]] = {one.__name__: one for one in (genres, dropins, scaling, opening)}
