"""A run that ends at any step can be resumed: no finished step is repeated, and nothing is learnt twice.

Every step ends by an exception in this process; two runs are killed with -9.
"""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .killed import go_on, open_memory, run_until, url_of

SCRIPT = Path(__file__).with_name("killed.py")
SAVES = 21
"""How often a whole run saves its session; ``test_a_run_saves_so_many_steps`` checks it."""
NUMBERS = [
    number if number % 3 == 1 else pytest.param(number, marks=pytest.mark.slow)
    for number in range(1, SAVES + 1)
]
"""Each save; every third in ``make test``."""


class Died(BaseException):
    """The end of a process: nothing after it runs."""


def die():
    raise Died


def steps(folder):
    """What the agent was asked, with the number of times."""
    log = folder / "done.log"
    return Counter(log.read_text().splitlines() if log.exists() else ())


def learnt(memory):
    """What the memory has learnt, without ids and times."""
    records = memory.list(kinds=["failure", "pattern"])
    return sorted(
        (record.kind, record.content, record.use.helped, record.use.failed, len(memory.links(record.key)))
        for record in records
    )


def outcome(session):
    return (
        session.ended,
        [(task.status, len(task.attempts)) for task in session.tasks],
        [outcome.success for outcome in session.outcomes],
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The saves, the steps, the outcome and the lessons of a run that nothing ends."""
    folder = tmp_path_factory.mktemp("whole")
    with open_memory("sqlite://") as memory:
        saves = run_until(memory, folder, "never", 0, die)
        return saves, steps(folder), outcome(go_on(memory, folder)), learnt(memory)


def check(memory, folder, when, whole):
    """Resume a run that ended, and compare it with the whole one."""
    _, whole_steps, whole_outcome, whole_lessons = whole
    before = steps(folder)
    assert outcome(go_on(memory, folder)) == whole_outcome
    assert learnt(memory) == whole_lessons
    repeated = steps(folder) - whole_steps
    # Only the step that was not saved may be done again.
    assert sum(repeated.values()) <= (0 if when == "after" else 1)
    assert all(before[step] == 1 for step in repeated)


def test_a_run_saves_so_many_steps(whole):
    assert whole[0] == SAVES


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_ends_at_any_save_is_resumed(tmp_path, whole, when, number):
    with open_memory("sqlite://") as memory:
        with pytest.raises(Died):
            run_until(memory, tmp_path, when, number, die)
        check(memory, tmp_path, when, whole)


@pytest.mark.slow
@pytest.mark.parametrize(("when", "number"), [("before", 8), ("after", 14)])
def test_a_run_that_is_killed_is_resumed(tmp_path, whole, when, number):
    folder = tmp_path / "project"
    folder.mkdir()
    command = [sys.executable, str(SCRIPT), str(folder), when, str(number)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    with open_memory(url_of(folder)) as memory:
        check(memory, folder, when, whole)
