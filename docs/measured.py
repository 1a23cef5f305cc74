"""Tables of what was measured, each made from the summaries that ``benchmarks/`` leaves in ``benchmarks/results``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tables import table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results"
SETS = {"locomo": "LoCoMo", "hotpot": "HotpotQA", "musique": "MuSiQue"}
FLOORS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "locomo": {"R@5": (73, 80), "R@10": (81, 86), "R@20": (86, 91), "MRR": (62, 68)},
    "hotpot": {"R@2": (78, 88), "R@5": (95, 98)},
    "musique": {"R@2": (55, 68), "R@5": (74, 85)},
}
"""What was set before the work began, in percent: the least for each figure, and the goal."""
FIGURES = {"locomo": ("R@5", "R@10", "MRR"), "hotpot": ("R@2", "R@5"), "musique": ("R@2", "R@5")}
"""The figures of a comparison that has no room for all."""
SHORT = {"locomo": "R@10", "hotpot": "R@5", "musique": "R@5"}
"""The one figure of each set where there is room for one."""
UNANSWERABLE = "5"
CATEGORIES = {
    "1": "1, several turns",
    "2": "2, times",
    "3": "3, knowledge of the world",
    "4": "4, one turn",
    UNANSWERABLE: "5, never said",
    "bridge": "one leads to the other",
    "comparison": "two are compared",
    "2hop": "two steps",
    "3hop": "three steps",
    "4hop": "four steps",
}
COMMANDS = {
    "quality": "python benchmarks/quality.py --data FOLDER --rivals",
    "shuffled": "python benchmarks/quality.py --data FOLDER --shuffled",
    "fit": "python benchmarks/fit.py --data FOLDER",
    "learning": "python benchmarks/learning.py --data FOLDER --chats FOLDER … --histories FOLDER …",
    "mixed": "python benchmarks/mixed.py --data FOLDER --genres FOLDER …",
    "genres": "python benchmarks/genres.py --data FOLDER --genres FOLDER",
    "recall": "python benchmarks/recall.py",
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
}
"""What the memories and questions of a set are, by the beginning of its name."""
OTHERS = 5
"""How many others the short table of the README shows."""
LONGEST = 200
"""Characters of an error that are shown."""
_FOLDERS = re.compile(r"(?:/[\w.@+-]+){2,}/")


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


def quality(of: str) -> str:
    """Everybody on one set: the best first, below what was aimed at."""
    rows = list(_whole(of))
    names = [name for name in _names(rows[0]) if all(name in row["headline"] for row in rows)]
    aims = [
        (f"*{aim}*", "", *(f"*{FLOORS[of][n][i]:g}*" if n in FLOORS[of] else "" for n in names), "", "")
        for i, aim in enumerate(("floor", "goal"))
    ]
    ranked = sorted(rows, key=lambda one: -sum(one["headline"][name] for name in names))
    cells = [
        _marked(
            one["name"],
            f"{one['headline']['questions']:,}",
            *(_percent(one["headline"][name]) for name in names),
            f"{one['median_ms']:.1f}",
            f"{one['p99_ms']:.1f}",
        )
        for one in ranked
    ]
    return table(("contestant", "n", *names, "median ms", "p99 ms"), [*aims, *cells])


def failed(of: str) -> str:
    """Who could not run, and why."""
    found = read(f"quality-{of}", "quality")
    rows = [(one["name"], _error(one["error"])) for one in found["contestants"] if one["error"] is not None]
    return table(("contestant", "error"), rows) if rows else "Everybody could run."


def _error(text: str) -> str:
    """The end of an error, where its cause stands, on one line and without the folders of a machine."""
    said = " ".join(_FOLDERS.sub("…/", text).split())
    return said if len(said) <= LONGEST else f"… {said[-LONGEST:]}"


def aims() -> str:
    """Each figure beside its floor and its goal."""
    rows = []
    for of, title in SETS.items():
        ours = _first(of)["headline"]
        for name, (floor, goal) in FLOORS[of].items():
            value = 100.0 * ours[name]
            told = "goal reached" if value >= goal else f"{value - goal:+.1f}"
            rows.append((title, name, f"{floor:g}", f"{goal:g}", f"**{value:.1f}**", told))
    return table(("set", "figure", "floor", "goal", "reached", "to the goal"), rows)


def categories(of: str) -> str:
    """What the default recall gets in each category."""
    found = _first(of)
    names = _names(found)
    rows = [
        (
            CATEGORIES.get(name, name),
            str(each["questions"]),
            *("" if each.get(one) is None else _percent(each[one]) for one in names),
        )
        for name, each in found["by_category"].items()
        if not (of == "locomo" and name == UNANSWERABLE)
    ]
    return table(("category", "questions", *names), rows)


def summary() -> str:
    """The default recall beside the best of those that were asked everything, a figure a set."""
    found = {of: {one["name"]: one for one in _whole(of) if _asked_all(of, one)} for of in SETS}
    shared = set.intersection(*(set(rows) for rows in found.values()))
    ours = next(iter(found["locomo"]))

    def total(name: str) -> float:
        return sum(found[of][name]["headline"][SHORT[of]] for of in SETS)

    best = sorted(shared - {ours}, key=lambda name: (-total(name), name))[:OTHERS]
    rows = [
        _marked(
            name,
            *(_percent(found[of][name]["headline"][SHORT[of]]) for of in SETS),
            f"{found['locomo'][name]['median_ms']:.1f}",
        )
        for name in (ours, *best)
    ]
    heads = (f"{title} {SHORT[of]}" for of, title in SETS.items())
    return table(("contestant", *heads, "ms, LoCoMo"), rows)


def genres() -> str:
    """The default on each kind of material, and how far the plain methods are from it."""
    found = read("genres", "genres")
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


def abstention() -> str:
    """How well confidence tells the answerable from the rest, and what is met with silence."""
    rows = []
    for one in _whole("locomo"):
        never = one["by_category"].get(UNANSWERABLE)
        if one["auc"] is not None and never is not None:
            asked = (one["headline"], never)
            silent = [f"{each['silent']} of {each['questions']}" for each in asked]
            rows.append(_marked(one["name"], f"{one['auc']:.3f}", *silent))
    return table(("contestant", "AUC", "silent, answerable", "silent, never said"), rows)


def tokens(of: str) -> str:
    """What it takes to hold most of the evidence."""
    rows = []
    for one in _whole(of):
        for cost in one["costs"]:
            share = f"{100 * cost['share']:.0f} %"
            if cost["budget"] is None:
                rows.append(_marked(one["name"], share, "not reached", "", "", ""))
            else:
                less = f"{100 * cost['saved']:.1f} %"
                hits = (str(cost["k"]), f"{cost['tokens']:,.0f}")
                rows.append(_marked(one["name"], share, f"{cost['budget']:,}", less, *hits))
    whole = next(cost["whole"] for one in _whole(of) for cost in one["costs"])
    heads = ("contestant", "evidence held", "tokens", "less than all", "plain top-k: k", "its tokens")
    return f"All memories that a question could be about: {whole:,.0f} tokens.\n\n{table(heads, rows)}"


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


def embedders() -> str:
    """The default recall with each embedder that was measured."""
    rows = []
    for of, title in SETS.items():
        _first(of)
        for path in sorted(RESULTS.glob(f"quality-{of}*.json")):
            found = json.loads(path.read_text("utf-8"))
            if not found["settings"]["shuffled"]:
                ours = found["contestants"][0]
                figures = " / ".join(_percent(ours["headline"][name]) for name in _names(ours))
                names = " / ".join(_names(ours))
                times = (f"{ours['median_ms']:.1f}", f"{ours['load_seconds']:.1f}")
                rows.append((title, found["settings"]["embedder"], f"{names}: {figures}", *times))
    return table(("set", "vectors", "percent", "median ms", "seconds to load"), rows)


def shuffled() -> str:
    """What is found where the gold was dealt out anew."""
    rows = []
    for of, title in SETS.items():
        chance = read(f"quality-{of}-shuffled", "shuffled")["contestants"][0]["headline"]
        ours = _first(of)["headline"]
        rows += [(title, name, _percent(ours[name]), _percent(chance[name])) for name in FIGURES[of]]
    return table(("set", "figure", "gold as it is", "gold shuffled"), rows)


def fit() -> str:
    """What fitting gains on what it saw, and on what it did not."""
    found = read("fit", "fit")
    kinds = ("present", "in_sample", "held_out")
    rows = [(SETS[of], *(_percent(each[kind], 2) for kind in kinds)) for of, each in found["figures"].items()]
    gains = [f"{100 * mean:+.2f} ± {100 * error:.2f}" for mean, error in found["gain"].values()]
    rows.append(("gain, percent", *gains))
    return table(("set", "present constants", "fitted on all", "fitted on the others"), rows)


def moves() -> str:
    """What each fit would move."""
    found = read("fit", "fit")["moves"]
    rows = [
        (
            fold if fold == "on all" else f"without {fold}",
            ", ".join(f"`{name}` {value:g}" for name, value in moved.items()) or "nothing",
        )
        for fold, moved in found.items()
    ]
    return table(("fitted", "moves"), rows)


def flatness() -> str:
    """How far each constant can go alone."""
    rows = [
        (f"`{one['name']}`", *(f"{one[part]:g}" for part in ("value", "low", "high")))
        for one in read("fit", "fit")["flatness"]
    ]
    return table(("constant", "value", "no worse from", "to"), rows)


def learning() -> str:
    """What verdicts on half of the questions change for each group of questions."""
    told = {
        "gold": "verdicts on what was right",
        "reads": "plain reads",
        "wrong": "100 wrong verdicts",
        "chats": "verdicts on what was right, real chats",
        "notes": "verdicts on commits for release notes",
    }
    rows = []
    for way, groups in read("learning", "learning")["ways"].items():
        for group, one in groups.items():
            changes = [_interval(*one[name]) for name in ("gained", "mrr_gained")]
            n, before = f"{one['questions']:,}", _percent(one["recall_at_10"])
            rows.append((told.get(way, way), group, n, before, *changes))
    heads = ("learns from", "questions", "n", "R@10 before", "change of R@10", "change of MRR")
    return table(heads, rows)


def mixed() -> str:
    """What each set loses beside the others in one namespace."""
    rows = [
        (
            one["set"],
            f"{one['memories']:,}",
            str(one["questions"]),
            _percent(one["recall_at_10"]),
            _interval(*one["recall_at_10_change"]),
            _interval(*one["mrr_change"]),
            _percent(one["precision"]),
            _interval(*one["precision_change"]),
            f"{10 * one['foreign']:.1f}",
        )
        for one in read("mixed", "mixed")["sets"]
    ]
    heads = ("set", "memories", "questions", "R@10 alone", "change of R@10", "change of MRR")
    precision = ("precision alone", "change of precision")
    return table((*heads, *precision, "of ten hits, of other sets"), rows)


def _interval(mean: float, low: float, high: float) -> str:
    return f"{100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def latency() -> str:
    """A recall beside its two peers in the same process, by the number of memories."""
    found = read("recall", "recall")["milliseconds"]
    rows = []
    for size, one in found.items():
        ours = one["recall"]["median"]
        row = [f"{int(size):,}", f"{ours:.1f}", f"{one['recall']['p99']:.1f}"]
        for peer in _PEERS:
            row += [f"{one[peer][part]:.1f}" for part in ("median", "p99")]
            row.append(f"{ours / one[peer]['median']:.1f}×")
        rows.append(row)
    peers = [head for title in _PEERS.values() for head in (f"{title}, median ms", "p99", "recall takes")]
    return table(("memories", "recall, median ms", "p99", *peers), rows)


_PEERS = {"plain": "plain hybrid search", "bare": "its bare arithmetic"}
"""What a recall is timed beside."""


def steps() -> str:
    """Where the time of a recall goes."""
    found = read("recall", "recall")["milliseconds"]
    largest = list(found.values())[-1]
    laps = [name for name in largest if ":" not in name and name not in ("recall", *_PEERS)]
    names = sorted(
        (name for name in largest if name.partition(":")[0] in laps),
        key=lambda name: (laps.index(name.partition(":")[0]), ":" in name, -largest[name]["median"]),
    )
    rows = [
        (
            name if ":" not in name else f"… {name.partition(': ')[2]}",
            *(f"{each[name]['median']:.2f}" if name in each else "" for each in found.values()),
        )
        for name in names
    ]
    return table(("step, median ms", *(f"{int(size):,} memories" for size in found)), rows)


def conditions() -> str:
    """What the figures were measured on."""
    rows = []
    for of, title in SETS.items():
        found = read(f"quality-{of}", "quality")
        data, machine = found["data"], found["machine"]
        names = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
        counts = (f"{data['questions']:,}", f"{data['memories']:,}", f"`{data['sha256'][:16]}`")
        on = f"{found['at'][:10]}; {machine['system']}, {machine['cores']} cores; {names}"
        rows.append((title, *counts, on))
    return table(("set", "questions", "memories", "SHA-256 of its files begins", "measured"), rows)


def _whole(of: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a set that have figures and go without no term; ours is the first."""
    for one in read(f"quality-{of}", "quality")["contestants"]:
        if not one["ablated"] and one["error"] is None and one["headline"]["questions"]:
            yield one


def _first(of: str) -> Mapping[str, Any]:
    return next(iter(_whole(of)))


def _asked_all(of: str, one: Mapping[str, Any]) -> bool:
    return bool(one["headline"]["questions"] == _first(of)["headline"]["questions"])


def _same(one: Mapping[str, Any], of: str) -> bool:
    """Whether a row is of as many questions as ours: who takes too long is asked fewer."""
    return bool(one["headline"]["questions"] == _first(of)["headline"]["questions"])


def _names(one: Mapping[str, Any]) -> list[str]:
    """The figures of a row."""
    return [name for name in one["headline"] if name not in ("questions", "silent")]


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}"


def _marked(name: str, *cells: str) -> Sequence[str]:
    """A row; ours in bold."""
    return _bold(name == "priming", name, *cells)


def _bold(whether: bool, *cells: str) -> Sequence[str]:
    return [f"**{one}**" if one and whether else one for one in cells]


KINDS: dict[str, Callable[..., str]] = {
    one.__name__: one
    for one in (
        *(
            quality,
            failed,
            aims,
            categories,
            summary,
            genres,
            abstention,
            tokens,
            costs,
            embedders,
            scaling,
            opening,
            migration,
            shuffled,
        ),
        *(fit, moves, flatness, learning, mixed, latency, steps, conditions),
    )
}
