"""The life itself: objective after objective, each with the loop and real gates, and what came of each."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from objectives import Objective
from project import commit, make, passes

from priming import FixedClock, Memory
from priming.llm.agents import CommandAgent
from priming.llm.protocol import Answer, Schema
from priming_loop.environment import LoopEnvironment
from priming_loop.run import run
from priming_loop.session_store import Sessions, limits
from priming_loop.steps.report import report
from priming_loop.steps.results import SessionReport

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
APART = timedelta(hours=7)
"""Time between two objectives."""
_SHOWN = re.compile(r"^\[(.+?)\] (applies here, )?", re.MULTILINE)


@dataclass
class Watched:
    """The agent's program, and every prompt that it got."""

    agent: CommandAgent
    prompts: list[str] = field(default_factory=list)

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the program."""
        self.prompts.append(prompt)
        return self.agent.answer(prompt, schema)


@dataclass(frozen=True, slots=True)
class Pursued:
    """What came of an objective; ``told`` are the lessons in its prompts, and whether they were said to apply."""

    objective: Objective
    report: SessionReport
    calls: int
    acts: int
    told: dict[str, bool]
    passed: bool
    """Whether the gate passes when it is run apart from the loop."""


@dataclass(frozen=True, slots=True)
class Life:
    """All that was pursued, the kind of work that taught each lesson, and the lessons that were blamed."""

    pursued: list[Pursued]
    taught: dict[str, str]
    failed: dict[str, int]


def live(
    objectives: Sequence[Objective],
    folder: Path,
    *,
    memory: bool,
    step: Callable[[int], None] = lambda _: None,
) -> Life:
    """Pursue the objectives one after the other; without ``memory`` each finds an empty store."""
    project, clock = folder / "project", FixedClock(BEGIN)
    make(project)
    pursued, taught, failed = list[Pursued](), dict[str, str](), dict[str, int]()
    for number, objective in enumerate(objectives):
        clock.at += APART
        store = folder / (f"memory{'' if memory else number}.db")
        with Memory.open(f"sqlite:///{store}", clock=clock) as opened:
            pursued.append(_pursue(opened, objective, project))
            lessons = opened.list(kinds=["failure", "pattern"], limit=1000)
            for lesson in lessons:
                taught.setdefault(lesson.key, objective.kind)
            failed |= {lesson.key: lesson.use.failed for lesson in lessons if lesson.use.failed}
        commit(project, objective.text)
        step(number + 1)
    return Life(pursued, taught, failed)


def _pursue(memory: Memory, objective: Objective, project: Path) -> Pursued:
    worker = Path(__file__).resolve().parent / "worker.py"
    agent = Watched(CommandAgent(shlex.join([sys.executable, "-B", str(worker)])))
    with ExitStack() as exits:
        exits.enter_context(chdir(project))
        work = LoopEnvironment(memory, agent, yes=True)
        session = run(work, objective.text, project, limits())
    told: dict[str, bool] = {}
    for prompt in agent.prompts:
        for key, applies in _SHOWN.findall(prompt):
            told[key] = told.get(key, False) or bool(applies)
    acts = sum(prompt.startswith("PRIMING-PHASE: act") for prompt in agent.prompts)
    ended = report(Sessions(memory), session)
    return Pursued(objective, ended, len(agent.prompts), acts, told, passes(project, objective.kind))
