"""A run that kills itself: ``killed.py FOLDER before|after|never N``, at what it keeps for the Nth time.

Before: the step was done, and is not kept. After: it is kept, and the next one was not begun.
"""

import os
import signal
import sys
from pathlib import Path

from priming import HashedEmbedder, Memory
from priming.llm.scripted import ScriptedAgent
from priming.engine.loops import Loops
from priming.loop.run import Given, resume, run
from priming.loop.session import Sessions, limits
from priming.loop.work import Work

OBJECTIVE = "Mend the chair and the table"


def answers(folder):
    """An agent that needs two attempts at the first task, is blocked at the second, and tells what it was asked."""

    def answer(prompt, _schema):
        phase = prompt.split("\n")[0].removeprefix("PRIMING-PHASE: ")
        if phase == "reason":
            tell(folder, "reason")
            tasks = [
                {"objective": "Mend the chair", "delta": [], "verify": "sh gate.sh"},
                {"objective": "Polish a table", "delta": [], "verify": "true"},
            ]
            plain = {"assessment": "simple", "question": None, "impasse": None, "reasoning": ""}
            return {**plain, "tasks": tasks}
        which = "chair" if 'objective: "Mend the chair"' in prompt else "table"
        attempt = 1 if "This is attempt 1." in prompt else 2
        tell(folder, f"act {which} {attempt}")
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


def tell(folder, what):
    """Write down what was done."""
    with (folder / "done.log").open("a") as file:
        file.write(f"{what}\n")


def opened(folder):
    """The memory, which knows one thing about chairs and one about nothing that is used."""
    memory = Memory.open(f"sqlite:///{folder.parent}/memory.db", embedder=HashedEmbedder(256))
    if not memory.list(kinds=["pattern"]):
        for key, how in (("glue", "Use glue."), ("nail", "Use a nail.")):
            told = {"trigger": "Mend the chair", "resolution": how}
            memory.remember(f"Mend the chair\n{how}", kind="pattern", key=key, metadata=told)
    return memory


def work(memory, folder):
    """What the run works with."""
    return Work(memory, ScriptedAgent(answers(folder)), yes=True)


def go_on(folder):
    """Go on with the session, if there is something left of it."""
    with opened(folder) as memory:
        session = Sessions(memory).latest()
        if session.state == "SUMMARY":
            return session
        return resume(work(memory, folder), session.id, Given())


def main(folder, when, number):
    """Run, and be killed."""
    keep, count = Loops.keep, 0

    def counted(self, kept):
        nonlocal count
        count += 1
        if (when, count) == ("before", number):
            os.kill(os.getpid(), signal.SIGKILL)
        keep(self, kept)
        if (when, count) == ("after", number):
            os.kill(os.getpid(), signal.SIGKILL)

    Loops.keep = counted
    with opened(folder) as memory:
        run(work(memory, folder), OBJECTIVE, folder, limits())
    sys.stdout.write(str(count))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
