"""Priming on real input: this repository's history imported, three questions answered, every step timed."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import questions
import stdlib_docs
from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.rule import Rule
from rich.text import Text

from priming import Memory, ParamError
from priming.results import Hit, Recall
from priming.text.tokens import terms
from priming.transfer.git import Repository, open_repository
from priming.transfer.importers import run

FEWEST = 20
"""Commits that make a history worth asking."""

SHOWN = 4
INDENT = 4
LEAST = 0.005
"""Hits listed for a question, their indentation, and the smallest component worth a mention."""

HERE = Path(__file__).resolve().parent.parent


def main() -> None:
    """Import, ask, and say how long each step took."""
    arguments = _arguments()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    began = time.perf_counter()
    with _store(arguments.store) as store, Memory.open(f"sqlite:///{quote(str(store))}") as memory:
        console.print(Rule("Priming: remember, then recall by association"))
        asked = _remember(console, memory, arguments.repository)
        answers = [(question, _ask(console, memory, question)) for question in asked]
        _closing(console, answers)
    console.print(f"\nThe whole demo took {time.perf_counter() - began:.1f} s.", end=" ")
    console.print(
        f"The store is kept: {store}" if arguments.store else "Its store was temporary and is gone."
    )
    if arguments.store:
        console.print(f'Ask it more: priming recall "..." --url sqlite:///{quote(str(store))}')


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=HERE, help="a git repository (this one)")
    parser.add_argument("--store", type=Path, help="a database to keep (else a temporary one)")
    return parser.parse_args()


@contextmanager
def _store(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="priming-demo-") as folder:
        yield Path(folder, "memory.db")


def _remember(console: Console, memory: Memory, path: Path) -> Sequence[str]:
    """Import the history, or what stands in for it; the questions to ask of it."""
    repository, lack = _history(path)
    if repository is not None:
        console.print(f"\nThe git history of {repository.name}: {repository.commits():,} commits.")
        _import_history(console, memory, path)
        asked = questions.about_history(memory)
        if asked:
            return asked
        lack = "the history says too little to ask about"
    console.print(f"\nNo history to use: {lack}.")
    console.print("The demo uses the standard library's documentation strings instead.")
    _import_library(console, memory)
    return questions.ABOUT_PYTHON


def _history(path: Path) -> tuple[Repository | None, str]:
    """The repository if its history can be used, else what it lacks."""
    try:
        repository = open_repository(path)
    except ParamError as error:
        return None, str(error)
    count = repository.commits()
    if repository.shallow:
        return None, f"it is shallow, cut off after {_counted(count, 'commit')}"
    if count < FEWEST:
        return None, f"it has {_counted(count, 'commit')}, fewer than {FEWEST}"
    return repository, ""


def _import_history(console: Console, memory: Memory, path: Path) -> None:
    began = time.perf_counter()
    with _progress(console) as bar:
        task = bar.add_task("importing", total=None)
        report = run(memory, "git", path, lambda done, _: bar.update(task, completed=done))
    told = f"{_counted(report.stored, 'new memory', 'new memories')}, {_counted(report.links, 'given link')}"
    if report.duplicates:
        told += f", {report.duplicates:,} there already"
    _imported(console, memory, began, told)
    for reason in report.skipped[:SHOWN]:
        console.print(Text(f"  skipped: {reason}"))


def _import_library(console: Console, memory: Memory) -> None:
    began = time.perf_counter()
    with _progress(console) as bar:
        task = bar.add_task("importing", total=None)
        items = stdlib_docs.memories()
        done = memory.remember_many(items, progress=lambda count, _: bar.update(task, completed=count))
    stored = sum(one.status == "stored" for one in done)
    _imported(console, memory, began, _counted(stored, "new memory", "new memories"))


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(), TextColumn("{task.completed:,.0f} memories read"), console=console, transient=True
    )


def _imported(console: Console, memory: Memory, began: float, told: str) -> None:
    took = time.perf_counter() - began
    stats = memory.stats()
    kinds = ", ".join(_counted(sum(by.values()), *_plural(kind)) for kind, by in stats.memories.items())
    console.print(f"Imported in {took:.2f} s: {told}.")
    console.print(f"Remembered: {kinds}; {sum(stats.links.values()):,} links:")
    _inside(console, ", ".join(f"{count:,} {relation}" for relation, count in stats.links.items()))


def _ask(console: Console, memory: Memory, question: str) -> Recall:
    began = time.perf_counter()
    recall = memory.recall(question)
    took = (time.perf_counter() - began) * 1000.0
    laps = " · ".join(f"{name} {lap:.1f}" for name, lap in recall.timings.items())
    console.print()
    console.print(Rule(style="dim"))
    console.print(Text(question, "bold"))
    console.print(Text(f"recalled in {took:.1f} ms: {laps}", style="dim"))
    if not recall.hits:
        console.print(Text(f"nothing: {recall.reason}"))
    for rank, hit in enumerate(recall.hits[:SHOWN], 1):
        _show(console, question, rank, hit)
    silent = _surprise(question, recall)
    if silent is not None and silent > SHOWN:
        console.print(Text("further down, without a word in common with the question:", style="dim"))
        _show(console, question, silent, recall.hits[silent - 1])
    return recall


def _show(console: Console, question: str, rank: int, hit: Hit) -> None:
    """A hit: score and name, its gist, what its score is made of, how it was reached."""
    record = hit.memory
    about = [record.key, f"{record.occurred_at:%Y-%m-%d}" if record.occurred_at else "", record.title or ""]
    named = " · ".join(one for one in about if one and one not in about[0][1:])
    console.print(Text.assemble((f"{rank:2}. {hit.score:+.3f}  ", "bold"), (named, "cyan")))
    parts = sorted(hit.components.items(), key=lambda part: (part[0] != "activation", -part[1]))
    scored = " · ".join(f"{name} {value:.2f}" for name, value in parts if value >= LEAST)
    _inside(console, record.gist)
    _inside(console, scored, "dim")
    _inside(console, _route(question, hit), "green")


def _inside(console: Console, text: str, style: str = "") -> None:
    console.print(Padding(Text(text, style), (0, 0, 0, INDENT), expand=False))


def _route(question: str, hit: Hit) -> str:
    """The path from the anchor on, in the direction that activation moved."""
    if not hit.path:
        how = "in words" if _shared(question, hit) else "in meaning and surroundings, in no word"
        return f"an anchor: matched by the question itself, {how}"
    steps = "".join(f" ─{step.relation}→ {step.target}" for step in hit.path)
    return f"reached by {hit.path[0].source}{steps} ({hit.path[-1].amount:.4f})"


def _shared(question: str, hit: Hit) -> set[str]:
    """The words that a memory, its title and speaker included, has in common with a question, as stems."""
    record = hit.memory
    said = (record.content, record.heading or "", record.speaker or "")
    return set(terms(question)) & {term for text in said for term in terms(text)}


def _surprise(question: str, recall: Recall) -> int | None:
    """Rank of the best hit that shares no word with the question and was reached by a path."""
    ranks = (rank for rank, hit in enumerate(recall.hits, 1) if hit.path and not _shared(question, hit))
    return next(ranks, None)


def _closing(console: Console, answers: Sequence[tuple[str, Recall]]) -> None:
    """Point out what association found and no search for words could."""
    console.print()
    console.print(Rule("Found without a word in common"))
    found = [(question, told, rank) for question, told in answers if (rank := _surprise(question, told))]
    if not found:
        console.print("None this time: every hit that was reached by a path shares a word with its question.")
    for question, told, rank in found:
        hit = told.hits[rank - 1]
        console.print(Text(f"“{question}” brought up, at rank {rank},"))
        _inside(console, f"“{hit.memory.gist}” ({hit.memory.key}),")
        _inside(console, f"{_route(question, hit)}.", "green")


def _plural(kind: str) -> tuple[str, str]:
    return kind, f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


if __name__ == "__main__":
    main()
