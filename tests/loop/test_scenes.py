"""What the loop's parts do together: an agent that knows only its prompt, on several subjects, from day to day."""

import re
from datetime import timedelta

import pytest

from priming import Memory
from priming.llm.protocol import ScriptedAgent
from priming_loop.environment import LoopEnvironment
from priming_loop.run import run
from priming_loop.session_store import limits

from .scripted_runs import delivered, phase, planned, verifier

SUBJECTS = {
    ("Release version 3.4", "Ship version 3.4", "Get release 3.4 out"): (
        "Publish the wheel",
        "HTTPError: 401 Unauthorized",
        "renew the upload token",
    ),
    ("Translate the handbook into Dutch", "Put the handbook into Dutch"): (
        "Translate the chapters",
        "UnicodeDecodeError: invalid start byte",
        "read the files as latin one",
    ),
    ("Compile the sound driver", "Build the sound driver"): (
        "Run make in the driver",
        "No rule to make target headers",
        "install headers of this kernel",
    ),
    ("Back up the customer database", "Make a backup of the customer database"): (
        "Dump the tables",
        "disk quota exceeded",
        "compress the dump on its way",
    ),
}


class Heeding:
    """An agent that does what a memory in its prompt says, else what the gate says, else what fails."""

    def __init__(self, task, obstacle, way):
        self.task, self.obstacle, self.way = task, obstacle, way
        self.done, self.shown, self.applying = False, [], []

    def __call__(self, prompt, _schema):
        self.shown += re.findall(r"^\[([^]]+)\] ", prompt, re.MULTILINE)
        self.applying += re.findall(r"^\[([^]]+)\] applies here", prompt, re.MULTILINE)
        if phase(prompt) == "reason":
            return planned((self.task, "make check"))
        answer = re.search(rf"^\[([^]]+)\] .*{self.way}", prompt, re.MULTILINE)
        self.done = answer is not None or f"hint: {self.way}" in prompt
        if not self.done:
            return delivered("Did as always.")
        return delivered(f"Now: {self.way}.", utilized=[answer[1]] if answer else [], learning=self.way)

    def gate(self, _command, _folder):
        return None if self.done else f"E   {self.obstacle}\nhint: {self.way}"


@pytest.fixture
def memory(clock):
    with Memory.open("sqlite://", clock=clock) as opened:
        yield opened


def pursue(memory, folder, objective, subject):
    agent = Heeding(*subject)
    work = LoopEnvironment(memory, ScriptedAgent(agent), yes=True, verify=verifier(agent.gate))
    return run(work, objective, folder, limits()), agent


def test_what_failed_once_takes_fewer_attempts_in_other_words_and_nobody_else_hears_of_it(
    memory, clock, tmp_path
):
    own = {}
    for turn in range(3):
        for objectives, subject in SUBJECTS.items():
            clock.at += timedelta(hours=9)
            session, agent = pursue(memory, tmp_path, objectives[turn % len(objectives)], subject)
            (task,) = session.tasks
            assert session.ended == "delivered"
            assert len(task.attempts) == (2 if turn == 0 else 1), session.objective
            own.setdefault(subject, set()).update(task.learnt.stored)
            assert set(agent.shown) <= own[subject], session.objective
            assert bool(agent.applying) is (turn > 0)
    lessons = memory.list(kinds=["failure", "pattern"], limit=100)
    assert {record.use.failed for record in lessons} == {0}
    assert [record.use.helped for record in lessons if record.kind == "pattern"] == [2] * len(SUBJECTS)
    assert memory.loop_health().status == "HEALTHY"


def test_good_runs_of_one_task_leave_its_neighbours_in_time_alone(memory, clock, tmp_path):
    for (objective, *_), subject in SUBJECTS.items():
        pursue(memory, tmp_path, objective, subject)
    (again, *_), subject = next(iter(SUBJECTS.items()))
    for _ in range(3):
        clock.at += timedelta(minutes=1)
        pursue(memory, tmp_path, again, subject)
    lessons = memory.list(kinds=["failure", "pattern"], limit=100)
    assert {record.key: record.use.failed for record in lessons if record.use.failed} == {}
