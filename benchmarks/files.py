"""Which files does a task touch? Recall of files and plain methods, on histories in the genre format.

    python benchmarks/files.py FOLDER [FOLDER ...] [--validate] [--json FILE]

A folder is a set, or holds sets: ``documents.jsonl`` (id, text, time, author, files: the commits up to a point),
``questions.jsonl`` (text, gold: subjects of later commits, and the files that they changed) and, if only some files
count, ``files.json``: answers are cut to them. R@k is the share of the gold files among the first k.
``--validate`` chooses constants for each repository by the others (leave one out), and shows what that gives.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from priming import Memory
from priming.config.params.limits import FILES, FileParams
from priming.recall import files as release
from priming.recall.entities import file_key
from priming.text.tokens import terms
from priming.transfer.git import ChangeCounts
from priming.transfer.git_log import read_message

CUTS = (5, 10)
VOTERS = 50
HALF_LIFE = 200
OURS = "Priming, kinds=file"
ALL_FILES = "Priming, files as they come"
STEPS = {
    "sharpness": (2.0, 4.0),
    "fan": (0.25, 0.75),
    "half": (0.1, 0.4, 1000.0),
    "decay": (0.1, 0.3),
    "stem": (0.1, 0.5),
    "together": (0.0, 0.1),
}
"""Other values of the constants, tried one at a time."""
Ranking = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class History:
    """A repository up to a point, and the tasks that came after it."""

    name: str
    commits: Sequence[Mapping[str, Any]]
    tasks: Sequence[Mapping[str, Any]]
    files: frozenset[str]

    @classmethod
    def read(cls, folder: Path) -> History:
        """Read a set."""
        commits = list(_lines(folder / "documents.jsonl"))
        listed = folder / "files.json"
        every = {file for commit in commits for file in commit["files"]}
        files = frozenset(json.loads(listed.read_text("utf-8"))) if listed.is_file() else frozenset(every)
        tasks = [task for task in _lines(folder / "questions.jsonl") if files.intersection(task["gold"])]
        return cls(folder.name, commits, tasks, files)


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def sets(folders: Sequence[Path]) -> list[History]:
    """The sets in some folders."""
    below = [path for folder in folders for path in (folder, *sorted(folder.iterdir()))]
    return [History.read(path) for path in below if (path / "questions.jsonl").is_file()]


@dataclass(slots=True)
class Bm25:
    """BM25 over texts, with the stems and function words of recall."""

    texts: Sequence[str]
    postings: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        counted = [Counter(terms(text, "english")) for text in self.texts]
        mean = sum(map(Counter.total, counted)) / max(len(counted), 1) or 1.0
        for i, counts in enumerate(counted):
            norm = 1.2 * (0.25 + 0.75 * counts.total() / mean)
            for term, count in counts.items():
                self.postings[term].append((i, count / (count + norm)))

    def scores(self, text: str) -> dict[int, float]:
        """The texts that share a term with this one, and their scores."""
        scores: dict[int, float] = defaultdict(float)
        for term in set(terms(text, "english")):
            held = self.postings.get(term, ())
            rarity = math.log(1 + (len(self.texts) - len(held) + 0.5) / (len(held) + 0.5))
            for i, worth in held:
                scores[i] += rarity * worth
        return scores


def plain_methods(history: History) -> dict[str, Ranking]:
    """What needs no memory: counts, and BM25 whose best commits vote for their files."""
    often, recently = Counter[str](), Counter[str]()
    for age, commit in enumerate(reversed(history.commits)):
        for file in commit["files"]:
            often[file] += 1
            recently[file] += 0.5 ** (age / HALF_LIFE)
    paths = sorted(history.files)
    messages = Bm25([commit["text"] for commit in history.commits])
    whole = Bm25(["\n".join([commit["text"], *commit["files"]]) for commit in history.commits])
    names = Bm25([path.replace("_", " ") for path in paths])

    def votes(index: Bm25, task: str) -> dict[str, float]:
        totals: dict[str, float] = defaultdict(float)
        scores = index.scores(task)
        for commit in sorted(scores, key=lambda i: -scores[i])[:VOTERS]:
            for file in history.commits[commit]["files"]:
                totals[file] += scores[commit]
        return totals

    def by_path(task: str) -> dict[str, float]:
        return {paths[i]: score for i, score in names.scores(task).items()}

    def together(task: str) -> dict[str, float]:
        total: dict[str, float] = defaultdict(float)
        for part, weight in ((votes(messages, task), 1.0), (by_path(task), 1.0), (recently, 0.5)):
            best = max((part[file] for file in history.files if file in part), default=0.0)
            for file in history.files.intersection(part):
                total[file] += weight * part[file] / best if best else 0.0
        return total

    return {
        "frequency": lambda _: _ranked(often),
        f"recent frequency (half-life {HALF_LIFE})": lambda _: _ranked(recently),
        "BM25 of paths": lambda task: _ranked(by_path(task)),
        "BM25 of commits, votes": lambda task: _ranked(votes(messages, task)),
        "BM25 of commits and paths, votes": lambda task: _ranked(votes(whole, task)),
        "votes + paths + ½ recent frequency": lambda task: _ranked(together(task)),
    }


def _ranked(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda file: (-scores[file], file))


def remembered(history: History) -> Memory:
    """A memory with the commits, and the links among files that change together, as the importer stores them."""
    memory = Memory.open("sqlite://")
    memory.remember_many(
        {
            "content": read_message(commit["text"]).text or "(no message)",
            "key": f"commit:{commit['id'][:12]}",
            "speaker": commit["author"],
            "occurred_at": datetime.fromisoformat(commit["time"]),
            "files": commit["files"],
            "trust": "tool",
        }
        for commit in history.commits
    )
    counts = ChangeCounts(len(history.commits))
    for commit in history.commits:
        counts.add(file_key(path) for path in commit["files"])
    memory.link_many(
        {"source": tie.source, "target": tie.target, "relation": tie.relation, "weight": tie.weight}
        for tie in counts.ties()
    )
    return memory


def of_memory(memory: Memory) -> Ranking:
    """The files that a memory recalls."""
    return lambda task: [hit.memory.content for hit in memory.recall(task, kinds=["file"], limit=10_000).hits]


def measure(history: History, ranking: Ranking, *, cut: bool = True) -> dict[str, float]:
    """R@k, MRR and milliseconds, the mean of the tasks."""
    totals = Counter[str]()
    for task in history.tasks:
        gold = history.files.intersection(task["gold"])
        begun = time.perf_counter()
        answer = ranking(task["text"])
        totals["ms"] += (time.perf_counter() - begun) * 1000.0
        answer = [file for file in answer if file in history.files] if cut else answer
        for k in CUTS:
            totals[f"R@{k}"] += len(gold.intersection(answer[:k])) / len(gold)
        first = next((rank for rank, file in enumerate(answer, 1) if file in gold), None)
        totals["MRR"] += 1.0 / first if first else 0.0
    percent = {name: 100.0 * total / len(history.tasks) for name, total in totals.items()}
    return percent | {"ms": totals["ms"] / len(history.tasks)}


def validate(memories: Mapping[str, tuple[History, Memory]], console: Console) -> dict[str, float]:
    """R@5 of each repository with the one moved constant, or none, that is best for the others."""
    moves: list[Mapping[str, float]] = [{}, *({name: value} for name in STEPS for value in STEPS[name])]
    choices = [replace(FILES, **move) for move in moves]
    table: dict[str, list[float]] = {}
    for name, (history, memory) in memories.items():
        table[name] = [_with(params, history, memory) for params in choices]
    for i, move in enumerate(moves):
        shown = ", ".join(f"{values[i]:.1f}" for values in table.values())
        mean = sum(values[i] for values in table.values()) / len(table)
        console.print(f"{dict(move) or 'as shipped'}: {shown}; mean {mean:.1f}")
    chosen: dict[str, float] = {}
    for name in table:
        others = [values for other, values in table.items() if other != name]
        sums = [sum(values[i] for values in others) for i in range(len(choices))]
        best = sums.index(max(sums))
        chosen[name] = table[name][best]
        console.print(
            f"{name}: {chosen[name]:.1f}, as the others choose {dict(moves[best]) or 'nothing else'}"
        )
    return chosen


def _with(params: FileParams, history: History, memory: Memory) -> float:
    """R@5 with other constants."""
    shipped, release.CONSTANTS = release.CONSTANTS, params
    try:
        return measure(history, of_memory(memory))["R@5"]
    finally:
        release.CONSTANTS = shipped


def main() -> None:
    """Measure the sets, print a table, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    console = Console(width=140)
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    memories: dict[str, tuple[History, Memory]] = {}
    for history in sets(options.folders):
        console.print(
            f"{history.name}: {len(history.commits):,} commits, {len(history.files)} files,"
            f" {len(history.tasks)} tasks"
        )
        for method, ranking in plain_methods(history).items():
            figures[method][history.name] = measure(history, ranking)
        memory = remembered(history)
        memories[history.name] = history, memory
        figures[ALL_FILES][history.name] = measure(history, of_memory(memory), cut=False)
        figures[OURS][history.name] = measure(history, of_memory(memory))
    names = list(memories)
    table = Table("method", *names, *(f"mean {name}" for name in ("R@5", "R@10", "MRR", "ms")))
    for method, values in figures.items():
        means = {name: sum(values[s][name] for s in names) / len(names) for name in values[names[0]]}
        shown = [f"{values[name]['R@5']:.1f}" for name in names]
        table.add_row(method, *shown, *(f"{means[name]:.1f}" for name in ("R@5", "R@10", "MRR", "ms")))
    console.print(table)
    result: dict[str, Any] = {"figures": figures}
    if options.validate:
        result["validated"] = validate(memories, console)
        console.print(f"mean R@5: {sum(result['validated'].values()) / len(names):.1f}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
