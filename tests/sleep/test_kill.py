"""Nights that end with the process: killed in the middle of a stage, and declined while another process sleeps."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from priming import Busy, FixedClock, Memory
from priming.config.words import STAGES

from .making import DAY, NOW

pytestmark = pytest.mark.extra  # HDBSCAN's

HOUR = DAY / 24
TOLD = [
    ("episode", "The release of Kestrel failed, the disk of Kestrel is full"),
    ("episode", "The release of Kestrel failed again, the disk of Kestrel is full"),
    ("episode", "Kestrel failed, the disk is full, the release waits"),
    ("episode", "The full disk of Kestrel stopped the release"),
    ("episode", "nobody bought green tea"),
    ("episode", "nobody bought more green tea"),
    ("episode", "nobody ever bought green tea"),
    ("episode", "Lunch was late today."),
    ("episode", "Lunch was late today."),
    ("procedure", "1. Stop the server. 2. Delete old builds. 3. Start the server."),
    ("procedure", "1. Stop the server. 2. Delete old builds. 3. Check the disk. 4. Start the server."),
    ("failure", "The deploy broke because the disk of the build host was full."),
    ("failure", "The deploy broke because the disk of the build host was full!"),
    ("pattern", "Turning it off and on helps."),
]

SLEEP = """
    import os, signal, sys
    from datetime import datetime
    from priming import FixedClock, HashedEmbedder, Memory

    url, at, stages = sys.argv[1], datetime.fromisoformat(sys.argv[2]), int(sys.argv[3])
    memory = Memory.open(url, embedder=HashedEmbedder(256), clock=FixedClock(at))
    memory.recall("anything?")
    written = 0

    def look(statement):
        global written
        written += statement.startswith("INSERT INTO changes")
        if written > stages:
            os.kill(os.getpid(), signal.SIGKILL)

    memory.store._db._sqlite.set_trace_callback(look)
    memory.sleep()
"""

HOLD = """
    import sys
    from priming import HashedEmbedder, Memory

    def hold(done, total):
        print("asleep", flush=True)
        sys.stdin.readline()

    Memory.open(sys.argv[1], embedder=HashedEmbedder(256)).sleep(["decay"], progress=hold)
"""


def live(memory, clock):
    """Something to do for every stage."""
    memory.remember("Kestrel signs the nightly builds.", key="hub")
    memory.remember("Gulls nest upon tall cliffs.", key="leaf")
    memory.link("hub", "leaf", "requires")
    for _ in range(3):
        clock.at += HOUR
        memory.feedback(memory.recall("who signs the nightly builds", floor=0).recall_id, used=["leaf"])
    for number, (kind, text) in enumerate(TOLD):
        memory.remember(text, kind=kind, session=f"s{number}", key=f"m{number}")
    for _ in range(3):
        memory.feedback(memory.recall("turning it off and on").recall_id, not_useful=["m13"])
    clock.at += 30 * DAY
    return memory


@pytest.fixture
def lived(open_memory, url, clock):
    """It all in a file."""
    return live(open_memory(url), clock)


@pytest.fixture(scope="module")
def night(tmp_path_factory, embedder):
    """A folder with what lies on the disk where a stage begins to write, one folder each; and the time."""
    folder, clock = tmp_path_factory.mktemp("night"), FixedClock(NOW)
    path = folder / "memory.db"
    with Memory.open(f"sqlite:///{path}", embedder=embedder, clock=clock) as memory:
        live(memory, clock)
        shutil.copytree(folder, folder / "before", ignore=shutil.ignore_patterns("before", "*-shm"))
    begun = []

    def look(statement):
        if statement.startswith("INSERT INTO changes"):
            copy = folder / str(len(begun))
            copy.mkdir()
            begun.append(copy)
            for file in folder.glob("memory.db*"):
                if file.is_file() and not file.name.endswith("-shm"):
                    shutil.copyfile(file, copy / file.name)

    connect = sqlite3.connect

    def watched(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(look)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", watched)
        with Memory.open(f"sqlite:///{path}", embedder=embedder, clock=clock) as memory:
            memory.recall("anything?")
            memory.sleep()
    assert len(begun) == len(STAGES)
    return folder, clock.at


def state(memory, folder):
    """The export without its operations: what the namespace holds."""
    memory.export(folder / "state.jsonl")
    return [line for line in (folder / "state.jsonl").read_text().splitlines() if '{"operation"' not in line]


def stages(memory, night):
    """What a night did, in order."""
    return tuple(entry.reason for entry in reversed(memory.log(source=f"sleep:{night}")))


@pytest.mark.parametrize("done", range(len(STAGES)), ids=STAGES)
def test_what_lies_on_the_disk_in_a_stage_are_the_stages_before_it_and_the_rest_is_left_to_others(
    night, open_memory, clock, tmp_path, done
):
    folder, clock.at = night
    with open_memory(f"sqlite:///{folder}/before/memory.db") as memory:
        before = state(memory, tmp_path)
    check_the_rest(open_memory(f"sqlite:///{folder}/{done}/memory.db"), done, before, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("done", [0, len(STAGES) // 2])
def test_a_process_killed_in_a_stage_leaves_the_stages_before_it_and_the_rest_to_others(
    lived, open_memory, url, clock, tmp_path, done
):
    before = state(lived, tmp_path)
    lived.close()
    arguments = [textwrap.dedent(SLEEP), url, clock.at.isoformat(), str(done)]
    killed = subprocess.run([sys.executable, "-c", *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    check_the_rest(open_memory(url), done, before, tmp_path)


def check_the_rest(again, done, before, tmp_path):
    """Some stages are done, the others are done by the next night, and both can be undone."""
    assert again.validate() == []
    night = [entry for entry in again.log() if entry.kind == "sleep"]
    assert tuple(item.reason for item in reversed(night)) == STAGES[:done]
    rest = again.sleep()
    assert stages(again, rest.id) == STAGES[done:]
    again.undo(rest.operation)
    if night:
        again.undo(night[0].id)
    assert state(again, tmp_path) == before


@pytest.mark.slow
def test_while_another_process_sleeps_it_declines_and_once_that_is_killed_it_sleeps(lived, url):
    code = textwrap.dedent(HOLD)
    with subprocess.Popen(
        [sys.executable, "-c", code, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "asleep\n"
        with pytest.raises(Busy, match=rf"^process {other.pid}, since .* is running sleep on this namespace"):
            lived.sleep()
        assert lived.log(limit=1)[0].kind != "sleep"
        os.kill(other.pid, signal.SIGKILL)
    assert [item.stage for item in lived.sleep(["light"]).items] == ["light"]
