"""Priming on real input: this repository's history, and the notes of a small team that sells ferry tickets.

Each scene asks the memory, prints what it answers and by what path, and says how long that took. Nothing is prepared:
what a scene says of an answer, it counts.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import commits
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn
from stage import Stage, counted, seconds

import notes
from priming import Memory, ParamError
from priming.results import Stats
from priming.transfer.git import Repository, open_repository
from priming.transfer.run import run

HERE = Path(__file__).resolve().parent.parent
FEWEST = 20
"""Commits that make a history worth asking."""


def main() -> None:
    """Remember, play the scenes, and say how long everything took."""
    arguments = _arguments()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    stage = Stage(Console(highlight=False, soft_wrap=False))
    began = time.perf_counter()
    with _store(arguments.store) as store:
        url = f"sqlite:///{quote(str(store))}"
        stage.title("Priming, an associative memory for agents")
        with _open(url, "notes") as memory:
            _remember_notes(stage, memory)
            notes.association(stage, memory)
        _history(stage, url, arguments.repository)
        with _open(url, "notes") as memory:
            notes.verdict(stage, memory)
            notes.correction(stage, memory)
        stage.title(f"The whole demo took {seconds(time.perf_counter() - began)}")
        _farewell(stage, url if arguments.store else None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=HERE, help="a git repository (this one)")
    parser.add_argument("--store", type=Path, help="a database to keep (else a temporary one)")
    return parser.parse_args()


@contextmanager
def _store(path: Path | None) -> Iterator[Path]:
    if path is not None:
        yield path.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="priming-demo-") as folder:
        yield Path(folder, "memory.db")


def _open(url: str, namespace: str) -> Memory:
    """A namespace of the store, with the embedder of the base install, whatever else is installed."""
    return Memory.open(url, namespace=namespace, embedder="wordllama")


def _remember_notes(stage: Stage, memory: Memory) -> None:
    began = time.perf_counter()
    stored = notes.remember(memory)
    took = seconds(time.perf_counter() - began)
    stage.say(
        f"Remembered in {took}: {counted(stored, 'note')} of a team of four that sells ferry tickets (demo/story)."
        " Nobody linked them: names, files and words did."
    )


def _history(stage: Stage, url: str, path: Path) -> None:
    """Import the history up to some commits ago, see what the later ones touched, and import the rest."""
    repository, lack = _usable(path)
    if repository is None:
        stage.scene("The files that a task will touch")
        stage.say(f"No git history to use: {lack}. The notes concern files, too.")
        with _open(url, "notes") as memory:
            notes.files(stage, memory)
        return
    split = commits.split(path)
    with _open(url, "history") as memory:
        stage.scene("The files that a task will touch")
        began = time.perf_counter()
        _import(stage, memory, path, split.revision)
        took, stats = seconds(time.perf_counter() - began), memory.stats()
        stage.say(
            f"Imported the git history of {repository.name} in {took}, but for the newest commits: {_size(stats)}."
        )
        commits.later(stage, memory, split)
        began = time.perf_counter()
        _import(stage, memory, path, None)
        rest = f"Imported the {len(split.later)} commits left, in {seconds(time.perf_counter() - began)}."
        questions = commits.questions(memory)
        if questions:
            stage.scene("Where something is, though its file has moved")
        stage.say(rest)
        commits.moved(stage, memory, questions)


def _usable(path: Path) -> tuple[Repository | None, str]:
    """The repository if its history can be used, else what it lacks."""
    try:
        repository = open_repository(path)
    except ParamError:
        return None, "the folder is no git repository with commits, or git is not installed"
    count = len(repository.hashes())
    if repository.shallow:
        return None, f"it is shallow, cut off after {counted(count, 'commit')}"
    if count < FEWEST:
        return None, f"it has {counted(count, 'commit')}, fewer than {FEWEST}"
    return repository, ""


def _import(stage: Stage, memory: Memory, path: Path, until: str | None) -> None:
    columns = SpinnerColumn(), TextColumn("{task.completed:,.0f} memories read")
    with Progress(
        *columns, console=stage.console, transient=True, disable=not stage.console.is_terminal
    ) as bar:
        task = bar.add_task("importing", total=None)
        run(memory, "git", path, lambda done, _: bar.update(task, completed=done), until=until)


def _size(stats: Stats) -> str:
    memories = sum(stats.memories.get("episode", {}).values())
    entities = sum(stats.memories.get("entity", {}).values())
    links = sum(stats.links.values())
    return f"{counted(memories, 'commit')}, {entities:,} files and names, {counted(links, 'link')}"


def _farewell(stage: Stage, url: str | None) -> None:
    if url is None:
        stage.say("Its store was temporary and is gone. Keep one with: python demo/demo.py --store demo.db")
        return
    stage.say(f"The store is kept. Ask it more: priming recall '...' --namespace notes --url {url}")


if __name__ == "__main__":
    main()
