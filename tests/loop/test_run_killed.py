"""A run that is killed with -9, at every step, goes on: no finished step is repeated, and nothing is learnt twice."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .killed import go_on, opened

SCRIPT = Path(__file__).with_name("killed.py")
KEPT = 21
"""How often a whole run keeps its session; ``test_a_run_keeps_so_many_steps`` holds it to that."""


def project(folder):
    made = folder / "project"
    made.mkdir()
    (made / "gate.sh").write_text('test "$(cat tried)" = 2\n')
    return made


def killed(folder, when, number):
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), when, str(number)], capture_output=True, timeout=60
    )


def told(folder):
    return Counter((folder / "done.log").read_text().splitlines()) if (folder / "done.log").exists() else {}


def learnt(folder):
    """What the memory holds of a session, without ids and times."""
    with opened(folder) as memory:
        records = memory.list(kinds=["failure", "pattern"])
        return sorted(
            (one.kind, one.content, one.use.helped, one.use.failed, len(memory.links(one.key)))
            for one in records
        )


def outcome(session):
    return (
        session.ended,
        [(one.status, len(one.attempts)) for one in session.tasks],
        [one.success for one in session.outcomes],
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run comes to that nobody kills."""
    folder = project(tmp_path_factory.mktemp("whole"))
    done = killed(folder, "never", 0)
    assert done.returncode == 0, done.stderr
    return int(done.stdout), told(folder), outcome(go_on(folder)), learnt(folder)


def test_a_run_keeps_so_many_steps(whole):
    assert whole[0] == KEPT


@pytest.mark.parametrize("number", range(1, KEPT + 1))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(tmp_path, whole, when, number):
    _, asked, came_to, taught = whole
    folder = project(tmp_path)
    assert killed(folder, when, number).returncode == -signal.SIGKILL
    before = told(folder)
    session = go_on(folder)
    assert outcome(session) == came_to
    assert learnt(folder) == taught
    repeated = Counter(told(folder)) - asked
    # Only the step that was not kept may be done again.
    assert sum(repeated.values()) == 0 if when == "after" else sum(repeated.values()) <= 1
    assert all(before[one] == 1 for one in repeated)
