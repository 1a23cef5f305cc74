"""A run that ends at a save: ``killed.py FOLDER before|after N`` kills itself there with -9.

Before: the step was done and is not saved. After: it is saved, and the next step has not begun.
"""

import os
import signal
import sys
from pathlib import Path
from unittest.mock import patch

from priming import HashedEmbedder, Memory
from priming.llm.protocol import ScriptedAgent
from priming_loop.environment import LoopEnvironment
from priming_loop.run import ResumeOptions, resume, run
from priming_loop.session import Verification
from priming_loop.session_store import Sessions, limits

OBJECTIVE = "Mend the chair and the table"


def answers(folder):
    """An agent that needs two attempts at the first task, is blocked at the second, and notes what it was asked."""

    def answer(prompt, _schema):
        phase = prompt.split("\n")[0].removeprefix("PRIMING-PHASE: ")
        if phase == "reason":
            note(folder, "reason")
            tasks = [
                {"objective": "Mend the chair", "delta": [], "verify": "grep -q 2 tried"},
                {"objective": "Polish a table", "delta": [], "verify": "true"},
            ]
            plain = {"assessment": "simple", "question": None, "impasse": None, "reasoning": ""}
            return {**plain, "tasks": tasks}
        which = "chair" if 'objective: "Mend the chair"' in prompt else "table"
        attempt = 1 if "This is attempt 1." in prompt else 2
        note(folder, f"act {which} {attempt}")
        (folder / "tried").write_text(str(attempt))
        is_blocked = which == "table"
        return {
            "status": "blocked" if is_blocked else "delivered",
            "details": "I put glue on it.",
            "utilized": ["glue"],
            "obstacle": "The polish is used up." if is_blocked else None,
            "learning": "Buy polish first." if is_blocked else None,
        }

    return answer


def note(folder, what):
    """Write down what was done."""
    with (folder / "done.log").open("a") as file:
        file.write(f"{what}\n")


def open_memory(url):
    """The memory, which has one pattern that is used, and another that is not."""
    memory = Memory.open(url, embedder=HashedEmbedder(256))
    if not memory.list(kinds=["pattern"]):
        for key, how in (("glue", "Use glue."), ("nail", "Use a nail.")):
            metadata = {"trigger": "Mend the chair", "resolution": how}
            memory.remember(f"Mend the chair\n{how}", kind="pattern", key=key, metadata=metadata)
    return memory


def verify(command, place, **_limits):
    """A gate that looks at the file that the agent writes."""
    if command == "true" or (Path(place) / "tried").read_text() == "2":
        return Verification(command, "passed", 0)
    return Verification(command, "failed", 1, "not yet")


def environment(memory, folder):
    """What the run works with."""
    return LoopEnvironment(memory, ScriptedAgent(answers(folder)), yes=True, verify=verify)


def go_on(memory, folder):
    """Resume the session, if there is something left of it."""
    session = Sessions(memory).latest()
    if session.state == "SUMMARY":
        return session
    return resume(environment(memory, folder), session.id, ResumeOptions())


def run_until(memory, folder, when, number, die):
    """Run, and ``die`` at a save; returns the number of saves."""
    save, count = Sessions.save, 0

    def counted(self, session):
        nonlocal count
        count += 1
        if (when, count) == ("before", number):
            die()
        session = save(self, session)
        if (when, count) == ("after", number):
            die()
        return session

    with patch.object(Sessions, "save", counted):
        run(environment(memory, folder), OBJECTIVE, folder, limits())
    return count


def url_of(folder):
    """The store beside a folder."""
    return f"sqlite:///{folder.parent}/memory.db"


if __name__ == "__main__":
    place = Path(sys.argv[1])
    with open_memory(url_of(place)) as opened:
        run_until(opened, place, sys.argv[2], int(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL))
