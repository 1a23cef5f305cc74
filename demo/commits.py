"""The scenes that are played on a git history."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stage import Stage, counted, route

from priming import Memory, NotFound
from priming.recall.entities import file_key
from priming.transfer.git import open_repository
from priming.transfer.git_log import Commit, history, read_message
from priming_lab.metrics import recall_at

LATER = 120
"""Commits, merges aside, that are imported only after the memory has said what they touch."""
MOST_FILES = 8
"""Files of a commit that counts as a task: larger ones move or rename everything."""
FIRST = 5
MOVED = (
    ("Where are dates in a cue handled?", 1, "src/priming/text/dates.py"),
    ("Where are chat transcripts read?", 1, "src/priming/transfer/chat.py"),
)
"""Questions about this repository, how many files to show, and the best, which is right when read."""


@dataclass(frozen=True, slots=True)
class Split:
    """A point in a history, and the commits after it."""

    revision: str
    later: Sequence[Commit]


def split(path: Path) -> Split:
    """The point on the main line after which ``LATER`` commits come; in a short history, a fifth of all."""
    line = _git(path, "rev-list", "--first-parent", "HEAD").split()
    total = int(_git(path, "rev-list", "--count", "--no-merges", "HEAD"))
    few = min(LATER, total // 5)
    place = next(
        i
        for i, name in enumerate(line)
        if int(_git(path, "rev-list", "--count", "--no-merges", f"{name}..HEAD")) >= few
    )
    names = _git(path, "rev-list", "--no-merges", f"{line[place]}..HEAD").split()
    return Split(line[place], list(history(open_repository(path), names)))


def _git(path: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(path), *words], capture_output=True, check=True, text=True).stdout


@dataclass(frozen=True, slots=True)
class Task:
    """What a later commit did, in its own words, and the files that it touched and that existed before."""

    text: str
    gold: frozenset[str]
    ranked: Sequence[str]

    @property
    def share(self) -> float:
        """The share of these files among the first."""
        return recall_at(self.gold, self.ranked, FIRST)


def later(stage: Stage, memory: Memory, point: Split) -> None:
    """The files that a commit touched which the memory has not seen: of the best answer, and the mean of all."""
    tasks = [task for commit in point.later if (task := _task(memory, commit)) is not None]
    if not tasks:
        stage.say("The newest commits touch no file that was there before.")
        return
    best = max(tasks, key=lambda task: (task.share, len(task.gold)))
    answer = stage.command(
        f'priming files "{best.text}"', lambda: memory.files(best.text, limit=FIRST, reasons=1)
    )
    quoted = set[str]()
    for rank, file in enumerate(answer.files, 1):
        mark = "✓ touched" if file.path in best.gold else ""
        stage.say(f"{rank:2}  {file.path}  {mark}", "cyan")
        for reason in file.reasons:
            text = "" if reason.key in quoted else f" “{reason.gist}”"
            quoted.add(reason.key)
            stage.inside(f"{reason.key}{text} ─touches→ it", "green")
    often = _often(memory)
    ours = 100.0 * sum(task.share for task in tasks) / len(tasks)
    theirs = 100.0 * sum(recall_at(task.gold, often, FIRST) for task in tasks) / len(tasks)
    tried = counted(len(tasks), "such task")
    stage.say(
        "The task is the subject of a commit that the memory has not seen; ✓ marks what that commit touched. It is"
        f" the best of {tried}: on average, {ours:.0f} % of what a commit touched is among the first {FIRST}. Naming"
        f" the {FIRST} files that change most often would give {theirs:.0f} %."
    )


def _task(memory: Memory, commit: Commit) -> Task | None:
    """A later commit as a task, if it is of usual size and touches files that the memory has."""
    text = read_message(commit.message).text.partition("\n")[0]
    gold = frozenset(change.path for change in commit.changes if _has_file(memory, change.path))
    if not (gold and text.strip() and len(commit.changes) <= MOST_FILES):
        return None
    hits = memory.recall(text, kinds=["file"], limit=FIRST).hits
    return Task(text, gold, [hit.memory.content for hit in hits])


def _has_file(memory: Memory, path: str) -> bool:
    try:
        memory.get(file_key(path))
    except NotFound:
        return False
    return True


def _often(memory: Memory) -> list[str]:
    """The files that most commits touch."""
    counts = Counter(link.target for link in memory.links(relation="touches"))
    return [key.removeprefix(file_key("")) for key, _ in counts.most_common(FIRST)]


def questions(memory: Memory) -> list[tuple[str, int]]:
    """The questions about files that the history has, and how many files to show; none in another repository."""
    return [(question, limit) for question, limit, path in MOVED if _has_file(memory, path)]


def moved(stage: Stage, memory: Memory, sought: Sequence[tuple[str, int]]) -> None:
    """Answers that are files, reached from a commit over an earlier name."""
    for question, limit in sought:
        ask = partial(memory.recall, question, kinds=["file"], limit=limit)
        recall = stage.command(f'priming files "{question}" --limit {limit}', ask)
        for rank, hit in enumerate(recall.hits, 1):
            stage.say(f"{rank:2}  {hit.memory.content}", "cyan")
            if hit.path:
                commit = memory.get(hit.path[0].source)
                stage.inside(f"“{commit.content.splitlines()[0]}”")
                stage.inside(route(hit.path), "green")
    if sought:
        stage.say(
            "The commits touched files that have other names today; the answer is the file as it is now."
        )
